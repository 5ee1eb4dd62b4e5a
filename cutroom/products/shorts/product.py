"""Declares the shorts product."""

from cutroom.credits.pricing import MAX_CLIPS, MAX_SHORTS, Action
from cutroom.jobs.ids import JobType
from cutroom.products.declaration import ConsolePanel, JobSpec, Ownership, Product, StorageKind, VideoTab
from cutroom.products.shorts import export, routes, service, staleness, worker
from cutroom.products.shorts.rules import MAX_PROMPT, MAX_SECONDS, MIN_SECONDS
from cutroom.products.shorts.workflow import ShortsWorkflow
from cutroom.products.transcripts.product import PRODUCT as TRANSCRIPTS

PRODUCT = Product(
    name="shorts",
    worker=worker.register,
    jobs=(
        JobSpec(
            JobType.SHORTS,
            workflow=ShortsWorkflow,
            prices=frozenset({Action.SHORTS_CLIP, Action.PROMO, Action.LONGCLIP}),
            check=service.check_start,
            discard=service.discard,
            output_prefix=service.output_prefix,
        ),
    ),
    routers=(routes.router,),
    to_bundle=service.credit_bundle,
    check_bundle=service.check_bundle,
    delete_outputs=service.delete_outputs,
    owns=Ownership(tables=("shorts_outputs",), objects={"shorts/": StorageKind.OUTPUT}),
    find_stale=staleness.find_stale,
    export=export.export_files,
    limits={
        "shorts": MAX_SHORTS,
        "clips": MAX_CLIPS,
        "minSeconds": MIN_SECONDS,
        "maxSeconds": MAX_SECONDS,
        "promptCharacters": MAX_PROMPT,
    },
    depends_on=(TRANSCRIPTS,),
    panels=(
        ConsolePanel(
            "Shorts and clips",
            tab=VideoTab.SHORTS,
            template="products/shorts.html",
            order={"kind": "shorts", "shorts": "shorts", "clips": "3"},
            unit="for 3 shorts",
        ),
    ),
)
