"""Lists what of a video is stale: every product is asked by its declaration."""

from datetime import datetime

from cutroom.accounts.principals import Principal
from cutroom.credits.pricing import PriceList
from cutroom.library.service import get_video
from cutroom.platform.db import Connection
from cutroom.platform.storage.objects import Storage
from cutroom.products.catalog import PRODUCTS
from cutroom.products.declaration import StaleProduct
from cutroom.products.transcripts.editing.revisions import find_state, read_document
from cutroom.products.transcripts.staleness.query import StaleQuery
from cutroom.staleness.schemas import StaleItem, StaleProductList


async def list_stale_products(
    connection: Connection,
    principal: Principal,
    storage: Storage,
    video_id: str,
    *,
    prices: PriceList,
    now: datetime,
) -> StaleProductList:
    """The products of a video that would be different if they were made now; none without a transcript."""
    video = await get_video(connection, principal, video_id)
    state = await find_state(connection, principal.library_id, video_id)
    if state is None:
        return StaleProductList(video_id=video_id, credits=0.0, products=[])
    document = await read_document(connection, principal.library_id, video_id, state)
    query = StaleQuery(connection, principal, storage, prices, now, video, state, document)
    hooks = [product.find_stale for product in PRODUCTS if product.find_stale is not None]
    found = [each for find_stale in hooks for each in await find_stale(query)]
    return StaleProductList(
        video_id=video_id,
        transcript_revision=state.revision,
        credits=round(sum(each.credits for each in found), 3),
        products=[_item(each) for each in found],
    )


def _item(product: StaleProduct) -> StaleItem:
    return StaleItem.model_validate(
        {
            "product": product.kind,
            "id": product.id,
            "language": product.language,
            "dub_product": product.product,
            "reasons": list(product.reasons),
            "segments": product.segments,
            "transcript_revision": product.transcript_revision,
            "credits": product.credits,
            "estimated_seconds": product.estimated_seconds,
        }
    )
