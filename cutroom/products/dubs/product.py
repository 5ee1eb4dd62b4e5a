"""Declares the dubs product."""

from cutroom.credits.pricing import Action
from cutroom.jobs.ids import InternalJobType, JobType
from cutroom.products.captions.product import PRODUCT as CAPTIONS
from cutroom.products.declaration import ConsolePanel, JobSpec, Ownership, Product, VideoTab
from cutroom.products.dubs import routes, service, worker
from cutroom.products.dubs.workflow import DubWorkflow, RedubWorkflow
from cutroom.products.speech.product import PRODUCT as SPEECH
from cutroom.products.transcripts.product import PRODUCT as TRANSCRIPTS

PRODUCT = Product(
    name="dubs",
    worker=worker.register,
    jobs=(
        JobSpec(JobType.DUB, workflow=DubWorkflow, prices=frozenset({Action.DUB})),
        JobSpec(InternalJobType.REDUB, workflow=RedubWorkflow),
    ),
    routers=(routes.router,),
    to_bundle=service.credit_bundle,
    owns=Ownership(tables=("dubs",), object_prefixes=("dubs/",)),
    depends_on=(CAPTIONS, SPEECH, TRANSCRIPTS),
    panels=(
        ConsolePanel(
            "Dub", tab=VideoTab.DUBS, template="products/dubs.html", order={"kind": "dub"}, unit="per language"
        ),
    ),
)
