"""The brand voices page: guidelines and colors for thumbnails and descriptions."""

from starlette.responses import Response

from cutroom.console.framework.forms import Form
from cutroom.console.framework.page_context import PageContext, page, parse, redirect
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
    await branding.add_brand_voice(call.connection, call.principal.library_id, _brand(context.form), now=call.now)
    return redirect("/brand-voices", notice="created")


async def change(context: PageContext) -> Response:
    _authorize(context)
    await branding.update_brand_voice(
        context.call.connection,
        context.me.principal.library_id,
        context.request.path_params["brand_voice_id"],
        brand=_brand(context.form),
    )
    return redirect("/brand-voices", notice="changed")


async def delete(context: PageContext) -> Response:
    _authorize(context)
    await branding.delete_brand_voice(
        context.call.connection, context.me.principal.library_id, context.request.path_params["brand_voice_id"]
    )
    return redirect("/brand-voices", notice="deleted")


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
