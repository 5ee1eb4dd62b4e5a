"""The brand voices page: guidelines and colors for thumbnails and descriptions."""

from typing import Any

from starlette.responses import Response

from cutroom.console.framework.editing import EditField, Editor, saved, show_editor, submit
from cutroom.console.framework.forms import Form
from cutroom.console.framework.page_context import PageContext, page, parse, redirect
from cutroom.library import branding, routes
from cutroom.library.rules import MAX_COLORS, MAX_GUIDELINES, MAX_NAME
from cutroom.library.schemas import BrandVoice, BrandVoiceInput, BrandVoicePatch
from cutroom.web.operation import operation_of


async def show_brand_voices(context: PageContext) -> Response:
    return context.page(
        "brand_voices_list.html" if context.is_fragment else "brand_voices.html",
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


async def _load_editor(context: PageContext) -> Editor:
    operation_of(routes.update_brand_voice).authorize(context.me.principal)
    brand_voice_id = context.request.path_params["brand_voice_id"]
    brand, revision = await context.call_revised(routes.get_brand_voice, brand_voice_id)
    fields = (
        EditField("name", "Name", brand.name, max_length=MAX_NAME),
        EditField("guidelines", "Guidelines", brand.guidelines, max_length=MAX_GUIDELINES, rows=6),
        EditField("colors", f"Colors, up to {MAX_COLORS}", " ".join(brand.colors or []), is_required=False),
    )
    return Editor("Edit brand voice", f"/brand-voices/{brand.id}", "/brand-voices", fields, revision)


async def show_editor_of_brand_voice(context: PageContext) -> Response:
    return show_editor(context, await _load_editor(context))


async def change(context: PageContext) -> Response:
    async def save(revision: str | None) -> BrandVoice:
        brand_voice_id, patch = context.request.path_params["brand_voice_id"], _fields(context.form)
        return await context.call_operation(
            routes.update_brand_voice, brand_voice_id, parse(BrandVoicePatch, patch), if_match=revision
        )

    rejected = await submit(context, lambda: _load_editor(context), save)
    return rejected or saved(context, "/brand-voices", notice="changed")


async def delete(context: PageContext) -> Response:
    await context.call_operation(routes.delete_brand_voice, context.request.path_params["brand_voice_id"])
    return redirect("/brand-voices", notice="deleted")


def _fields(form: Form) -> dict[str, Any]:
    colors = list(dict.fromkeys(form.text("colors").replace(",", " ").split()))
    guidelines = form.text("guidelines").replace("\r\n", "\n")
    return {"name": form.text("name"), "guidelines": guidelines, "colors": colors}


ROUTES = [
    page("/brand-voices", show_brand_voices),
    page("/brand-voices", create, method="POST"),
    page("/brand-voices/{brand_voice_id}", show_editor_of_brand_voice),
    page("/brand-voices/{brand_voice_id}", change, method="POST"),
    page("/brand-voices/{brand_voice_id}/delete", delete, method="POST"),
]
