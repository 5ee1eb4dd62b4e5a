"""Brand voices: how thumbnails and descriptions should look and sound. Not voices that one can hear."""

from starlette.responses import Response

from cutroom.console.framework.forms import Form
from cutroom.console.framework.page_context import PageContext, go, page, parse
from cutroom.library import branding, routes
from cutroom.library.rules import MAX_COLORS, MAX_GUIDELINES
from cutroom.web.operation import operation_of


async def show_brand_voices(visit: PageContext) -> Response:
    return visit.page(
        "brand_voices.html",
        brands=(await visit.perform(routes.list_brand_voices)).brand_voices,
        may_write=visit.me.principal.may_write,
        most_colors=MAX_COLORS,
        most_signs=MAX_GUIDELINES,
    )


async def create(visit: PageContext) -> Response:
    _let_in(visit)
    call = visit.call
    await branding.add_brand_voice(call.connection, call.principal.library_id, _brand(visit.form), now=call.now)
    return go("/brand-voices", said="made")


async def change(visit: PageContext) -> Response:
    _let_in(visit)
    await branding.update_brand_voice(
        visit.call.connection,
        visit.me.principal.library_id,
        visit.request.path_params["brand_voice_id"],
        brand=_brand(visit.form),
    )
    return go("/brand-voices", said="changed")


async def delete(visit: PageContext) -> Response:
    _let_in(visit)
    await branding.delete_brand_voice(
        visit.call.connection, visit.me.principal.library_id, visit.request.path_params["brand_voice_id"]
    )
    return go("/brand-voices", said="deleted")


def _brand(form: Form) -> branding.BrandVoiceInput:
    colors = list(dict.fromkeys(form.text("colors").replace(",", " ").split()))
    document = {"name": form.text("name"), "guidelines": form.text("guidelines"), "colors": colors}
    return parse(branding.BrandVoiceInput, document)


def _let_in(visit: PageContext) -> None:
    operation_of(routes.create_folder).authorize(visit.me.principal)


ROUTES = [
    page("/brand-voices", show_brand_voices),
    page("/brand-voices", create, method="POST"),
    page("/brand-voices/{brand_voice_id}", change, method="POST"),
    page("/brand-voices/{brand_voice_id}/delete", delete, method="POST"),
]
