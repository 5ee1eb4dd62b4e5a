"""Declares the playback product."""

from cutroom.products.declaration import Ownership, Product
from cutroom.products.playback import routes, worker
from cutroom.products.playback.workflow import PlaybackWorkflow
from cutroom.products.transcripts.product import PRODUCT as TRANSCRIPTS
from cutroom.web.products import CallerContext


def _refusal(context: CallerContext) -> str | None:
    return None if context.settings.playback == "on" else "disabled"


PRODUCT = Product(
    name="playback",
    worker=worker.register,
    workflows=(PlaybackWorkflow,),
    routers=(routes.router,),
    owns=Ownership(tables=("playbacks", "playback_tracks"), object_prefixes=("playback/",)),
    refusal=_refusal,
    depends_on=(TRANSCRIPTS,),
)
