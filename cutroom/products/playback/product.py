"""Declares the playback product."""

from cutroom.products.declaration import Ownership, Product, StorageKind
from cutroom.products.dubs.product import PRODUCT as DUBS
from cutroom.products.playback import replaced, routes, service, staleness, worker
from cutroom.products.playback.workflow import PlaybackWorkflow
from cutroom.products.transcripts.product import PRODUCT as TRANSCRIPTS
from cutroom.web.products import CallerContext


def _refusal(context: CallerContext) -> str | None:
    return None if context.settings.playback == "on" else "disabled"


PRODUCT = Product(
    name="playback",
    worker=worker.register,
    workflows=(PlaybackWorkflow,),
    routers=(routes.router, routes.operations),
    delete_outputs=service.delete_outputs,
    delete_replaced=replaced.delete_replaced,
    find_stale=staleness.find_stale,
    owns=Ownership(
        tables=("playbacks", "playback_tracks"),
        objects={"playback/": StorageKind.OUTPUT, "playback/chunks/": StorageKind.INTERMEDIATE},
    ),
    refusal=_refusal,
    depends_on=(DUBS, TRANSCRIPTS),
)
