"""Deletes the hosted copy of a purged video at the provider."""

import logging

from cutroom.jobs.worker import WorkerContext
from cutroom.products.hosting.mux import Mux, is_configured
from cutroom.products.hosting.service import get_asset_id

_log = logging.getLogger(__name__)


async def delete_hosted_copy(context: WorkerContext, library_id: str, video_id: str) -> None:
    """Does nothing if the video was never hosted; without the provider's credentials, the copy stays there."""
    async with context.database.transaction(library_id) as connection:
        asset_id = await get_asset_id(connection, library_id, video_id)
    if asset_id is None:
        return
    if not is_configured(context.settings):
        _log.warning("hosted copy left at the provider", extra={"video_id": video_id, "asset_id": asset_id})
        return
    await Mux(context.settings).delete_asset(asset_id)
