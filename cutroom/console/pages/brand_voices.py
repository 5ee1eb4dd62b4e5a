"""The brand voices page: guidelines and colors for thumbnails and descriptions."""

from typing import Any

from starlette.responses import Response

from cutroom.console.framework.forms import Form
from cutroom.console.framework.page_context import PageContext, page, parse, redirect
from cutroom.library import branding, routes
from cutroom.library.rules import MAX_COLORS, MAX_GUIDELINES
from cutroom.library.schemas import BrandVoiceInput, BrandVoicePatch
from cutroom.web.operation import operation_of


async def show_brand_voices(context: PageContext) -> Response:
    return context.page(
        "brand_voices.html",
        brand_voices=(await context.call_operation(routes.list_brand_voices)).brand_voices,
        may_write=context.me.principal.may_write,
        max_colors=MAX_COLORS,
        max_guidelines=MAX_GUIDELINES,
    )


async def create(context: PageContext) -> Response:
    operation_of(routes.update_brand_voice).authorize(context.me.principal)
    call, brand = context.call, parse(BrandVoiceInput, _fields(context.form))
    brand_voice_id = await branding.add_brand_voice(call.connection, call.principal.library_id, brand, now=call.now)
    context.record("brandVoice.create", targets={"brandVoiceId": brand_voice_id}, after=brand.model_dump())
    return redirect("/brand-voices", notice="created")


async def change(context: PageContext) -> Response:
    patch = parse(BrandVoicePatch, _fields(context.form))
    await context.call_operation(routes.update_brand_voice, context.request.path_params["brand_voice_id"], patch)
    return redirect("/brand-voices", notice="changed")


async def delete(context: PageContext) -> Response:
    await context.call_operation(routes.delete_brand_voice, context.request.path_params["brand_voice_id"])
    return redirect("/brand-voices", notice="deleted")


def _fields(form: Form) -> dict[str, Any]:
    colors = list(dict.fromkeys(form.text("colors").replace(",", " ").split()))
    return {"name": form.text("name"), "guidelines": form.text("guidelines"), "colors": colors}


ROUTES = [
    page("/brand-voices", show_brand_voices),
    page("/brand-voices", create, method="POST"),
    page("/brand-voices/{brand_voice_id}", change, method="POST"),
    page("/brand-voices/{brand_voice_id}/delete", delete, method="POST"),
]
