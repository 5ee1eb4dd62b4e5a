"""The brand voices page: guidelines and colors for thumbnails and descriptions."""

from typing import Any

from starlette.responses import Response

from cutroom.console.framework.forms import Form
from cutroom.console.framework.page_context import PageContext, page, parse, redirect
from cutroom.errors import not_found
from cutroom.library import branding, routes
from cutroom.library.rules import MAX_COLORS, MAX_GUIDELINES
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
    _authorize(context)
    call = context.call
    brand = _brand(context.form)
    brand_voice_id = await branding.add_brand_voice(call.connection, call.principal.library_id, brand, now=call.now)
    context.record("brandVoice.create", targets={"brandVoiceId": brand_voice_id}, after=brand.model_dump())
    return redirect("/brand-voices", notice="created")


async def change(context: PageContext) -> Response:
    _authorize(context)
    brand_voice_id, brand = context.request.path_params["brand_voice_id"], _brand(context.form)
    before = await _settings(context, brand_voice_id)
    await branding.update_brand_voice(
        context.call.connection, context.me.principal.library_id, brand_voice_id, brand=brand
    )
    context.record(
        "brandVoice.change",
        targets={"brandVoiceId": brand_voice_id},
        before=before,
        after=brand.model_dump(),
    )
    return redirect("/brand-voices", notice="changed")


async def delete(context: PageContext) -> Response:
    _authorize(context)
    brand_voice_id = context.request.path_params["brand_voice_id"]
    before = await _settings(context, brand_voice_id)
    await branding.delete_brand_voice(context.call.connection, context.me.principal.library_id, brand_voice_id)
    context.record("brandVoice.delete", targets={"brandVoiceId": brand_voice_id}, before=before)
    return redirect("/brand-voices", notice="deleted")


async def _settings(context: PageContext, brand_voice_id: str) -> dict[str, Any]:
    """The settings of a brand voice, for the audit log."""
    listed = (await context.call_operation(routes.list_brand_voices)).brand_voices
    found = next((each for each in listed if each.id == brand_voice_id), None)
    if found is None:
        raise not_found()
    return {"name": found.name, "guidelines": found.guidelines, "colors": list(found.colors or [])}


def _brand(form: Form) -> branding.BrandVoiceInput:
    colors = list(dict.fromkeys(form.text("colors").replace(",", " ").split()))
    document = {"name": form.text("name"), "guidelines": form.text("guidelines"), "colors": colors}
    return parse(branding.BrandVoiceInput, document)


def _authorize(context: PageContext) -> None:
    operation_of(routes.create_folder).authorize(context.me.principal)


ROUTES = [
    page("/brand-voices", show_brand_voices),
    page("/brand-voices", create, method="POST"),
    page("/brand-voices/{brand_voice_id}", change, method="POST"),
    page("/brand-voices/{brand_voice_id}/delete", delete, method="POST"),
]
