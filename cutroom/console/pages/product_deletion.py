"""Deletes single products from the tabs of the video page."""

from starlette.responses import Response

from cutroom.console.framework.page_context import PageContext, page, redirect
from cutroom.errors import not_found
from cutroom.jobs.ids import DubProduct
from cutroom.products.captions import routes as captions
from cutroom.products.declaration import VideoTab
from cutroom.products.downloads import routes as downloads
from cutroom.products.dubs import routes as dubs
from cutroom.products.shorts import routes as shorts
from cutroom.products.thumbnails import routes as thumbnails


async def delete_dub(context: PageContext) -> Response:
    params = context.request.path_params
    if params["product"] not in set(DubProduct):
        raise not_found()
    product = DubProduct(params["product"])
    await context.call_operation(dubs.delete_dub, params["video_id"], params["language"], product)
    return _back(context, VideoTab.DUBS)


async def delete_captions(context: PageContext) -> Response:
    params = context.request.path_params
    await context.call_operation(captions.delete_captions, params["video_id"], params["language"])
    return _back(context, VideoTab.TRANSCRIPT)


async def delete_shorts(context: PageContext) -> Response:
    await context.call_operation(shorts.delete_shorts, context.request.path_params["request_id"])
    return _back(context, VideoTab.SHORTS)


async def delete_short(context: PageContext) -> Response:
    params = context.request.path_params
    await context.call_operation(shorts.delete_shorts_output, params["request_id"], params["output_id"])
    return _back(context, VideoTab.SHORTS)


async def delete_thumbnail(context: PageContext) -> Response:
    params = context.request.path_params
    await context.call_operation(thumbnails.delete_thumbnail_image, params["request_id"], params["thumbnail_id"])
    return _back(context, VideoTab.THUMBNAILS)


async def delete_download(context: PageContext) -> Response:
    await context.call_operation(downloads.delete_download, context.request.path_params["request_id"])
    return _back(context, VideoTab.PUBLISH)


def _back(context: PageContext, tab: VideoTab) -> Response:
    return redirect(f"/videos/{context.request.path_params['video_id']}", tab=tab, notice="deleted")


ROUTES = [
    page("/videos/{video_id}/dubs/{language}/{product}/delete", delete_dub, method="POST"),
    page("/videos/{video_id}/captions/{language}/delete", delete_captions, method="POST"),
    page("/videos/{video_id}/shorts/{request_id}/delete", delete_shorts, method="POST"),
    page("/videos/{video_id}/shorts/{request_id}/{output_id}/delete", delete_short, method="POST"),
    page("/videos/{video_id}/thumbnails/{request_id}/{thumbnail_id}/delete", delete_thumbnail, method="POST"),
    page("/videos/{video_id}/downloads/{request_id}/delete", delete_download, method="POST"),
]
