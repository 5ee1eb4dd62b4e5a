"""Declares the playback product."""

from cutroom.products.declaration import Ownership, Product
from cutroom.products.playback import routes, worker
from cutroom.products.playback.workflow import PlaybackWorkflow
from cutroom.products.transcripts.product import PRODUCT as TRANSCRIPTS

PRODUCT = Product(
    name="playback",
    worker=worker.register,
    workflows=(PlaybackWorkflow,),
    routers=(routes.router,),
    owns=Ownership(tables=("playbacks", "playback_tracks"), object_prefixes=("playback/",)),
    depends_on=(TRANSCRIPTS,),
)
