"""Previews and shorter wordings of a line of a dub, as it stands or as it is being typed."""

from collections.abc import Mapping
from typing import Any

from starlette.responses import JSONResponse, Response

from cutroom.console.framework.page_context import PageContext, page, parse
from cutroom.console.pages.studio.bodies import read_document
from cutroom.console.pages.studio.loading import chosen
from cutroom.errors import invalid_field, not_found
from cutroom.jobs.ids import DubProduct
from cutroom.products.dubs.editing.rewording import routes as rewording
from cutroom.products.dubs.editing.schemas import WordingsRequest
from cutroom.products.dubs.editing.takes import routes as takes
from cutroom.products.dubs.editing.takes.schemas import NewLinePreview
from cutroom.reviews.rules import GuestRole


async def find_wordings(context: PageContext) -> Response:
    given = read_document(context)
    video_id, language, product = await _dub(context)
    body = parse(WordingsRequest, {"text": given.get("text")})
    line_id = _line_id(given)
    found = await context.call_operation(rewording.list_segment_wordings, video_id, language, line_id, body, product)
    return JSONResponse(found.model_dump(mode="json", by_alias=True))


async def get_wordings(context: PageContext) -> Response:
    query = context.request.query_params
    video_id, language, product = await _dub(context)
    line_id, wordings_id = query.get("line", ""), query.get("wordings", "")
    found = await context.call_operation(
        rewording.get_segment_wordings, video_id, language, line_id, wordings_id, product
    )
    return JSONResponse(found.model_dump(mode="json", by_alias=True))


async def start_preview(context: PageContext) -> Response:
    given = read_document(context)
    video_id, language, product = await _dub(context)
    body = parse(NewLinePreview, {"text": given.get("text")})
    line_id = _line_id(given)
    preview = await context.call_operation(takes.preview_segment, video_id, language, line_id, body, product)
    return JSONResponse(preview.model_dump(mode="json", by_alias=True))


async def get_preview(context: PageContext) -> Response:
    query = context.request.query_params
    video_id, language, product = await _dub(context)
    line_id, preview_id = query.get("line", ""), query.get("preview", "")
    preview = await context.call_operation(takes.get_segment_preview, video_id, language, line_id, preview_id, product)
    return JSONResponse(preview.model_dump(mode="json", by_alias=True))


async def _dub(context: PageContext) -> tuple[str, str, DubProduct]:
    video_id = context.request.path_params["video_id"]
    choice = await chosen(context, video_id)
    if choice is None or not choice.kind.is_dub:
        raise not_found()
    return video_id, choice.language, DubProduct(choice.kind.value)


def _line_id(given: Mapping[str, Any]) -> str:
    line_id = given.get("id")
    if not isinstance(line_id, str) or not line_id:
        raise invalid_field("id", "The id of a line is required.")
    return line_id


ROUTES = [
    page("/videos/{video_id}/studio/wordings", find_wordings, method="POST", guests=GuestRole.EDIT),
    page("/videos/{video_id}/studio/wordings", get_wordings, guests=GuestRole.EDIT),
    page("/videos/{video_id}/studio/preview", start_preview, method="POST"),
    page("/videos/{video_id}/studio/preview", get_preview),
]
