"""Characters: figures that thumbnails may show, with pictures of them."""

from collections import defaultdict
from typing import Any

from starlette.background import BackgroundTask
from starlette.responses import Response

from cutroom.console.framework.page_context import PageContext, go, page, parse
from cutroom.credits.pricing import load_prices
from cutroom.errors import invalid_field
from cutroom.library import branding, routes
from cutroom.library.rules import MAX_CHARACTER_IMAGES
from cutroom.platform.storage.objects import Storage
from cutroom.products.characters.service import CharacterUpload, PendingCharacterImage, pending_images, upload_images
from cutroom.web.operation import operation_of


async def show_characters(visit: PageContext) -> Response:
    figures = (await visit.perform(routes.list_characters)).characters
    pending: dict[str, list[PendingCharacterImage]] = defaultdict(list)
    for each in await pending_images(visit.call.connection, visit.me.principal.library_id):
        pending[each.character_id].append(each)
    shown: dict[str, Any] = {
        "characters": figures,
        "pending": pending,
        "busy": any(each.error is None for found in pending.values() for each in found),
        "may_write": visit.me.principal.may_write,
        "most": MAX_CHARACTER_IMAGES,
    }
    is_part = visit.request.headers.get("hx-request")
    return visit.page("characters_list.html" if is_part else "characters.html", **shown)


async def create(visit: PageContext) -> Response:
    """A picture that cannot be one refuses the whole form: nothing of it stays."""
    _let_in(visit)
    pictures, wanted = await _pictures(visit), parse(branding.CharacterInput, {"name": visit.form.text("name")})
    character_id = await branding.add_character(
        visit.call.connection, visit.me.principal.library_id, name=wanted.name, images=[], now=visit.call.now
    )
    await _send(visit, character_id, pictures)
    return go("/characters", said="made")


async def add_pictures(visit: PageContext) -> Response:
    _let_in(visit)
    await _send(visit, visit.request.path_params["character_id"], await _pictures(visit))
    return go("/characters", said="sent")


async def _pictures(visit: PageContext) -> list[CharacterUpload]:
    found = [CharacterUpload(file.filename or "", await file.read()) for file in visit.form.uploads("pictures")]
    if not found:
        raise invalid_field("pictures", "Choose at least one picture.")
    return found


async def _send(visit: PageContext, character_id: str, pictures: list[CharacterUpload]) -> None:
    await upload_images(
        visit.call.connection,
        visit.me.principal,
        character_id,
        images=pictures,
        storage=visit.runtime.storage,
        prices=load_prices(visit.runtime.settings.prices_file),
        now=visit.call.now,
    )


async def rename(visit: PageContext) -> Response:
    _let_in(visit)
    wanted = parse(branding.CharacterInput, {"name": visit.form.text("name")})
    await branding.rename_character(
        visit.call.connection,
        visit.me.principal.library_id,
        visit.request.path_params["character_id"],
        name=wanted.name,
    )
    return go("/characters", said="changed")


async def remove_picture(visit: PageContext) -> Response:
    _let_in(visit)
    places = visit.request.path_params
    path = await branding.remove_image(
        visit.call.connection,
        visit.me.principal.library_id,
        places["character_id"],
        image_id=places["image_id"],
    )
    return _and_forget(go("/characters", said="changed"), visit.runtime.storage, [path])


async def delete(visit: PageContext) -> Response:
    _let_in(visit)
    paths = await branding.delete_character(
        visit.call.connection, visit.me.principal.library_id, visit.request.path_params["character_id"]
    )
    return _and_forget(go("/characters", said="deleted"), visit.runtime.storage, paths)


def _and_forget(response: Response, storage: Storage, paths: list[str]) -> Response:
    """Files go after the answer is sent: by then it is certain that nothing shows them any more."""

    async def forget() -> None:
        for path in paths:
            await storage.delete(path)

    response.background = BackgroundTask(forget)
    return response


def _let_in(visit: PageContext) -> None:
    """Whoever may arrange the library may change its figures."""
    operation_of(routes.create_folder).authorize(visit.me.principal)


ROUTES = [
    page("/characters", show_characters),
    page("/characters", create, method="POST", takes_files=True),
    page("/characters/{character_id}/rename", rename, method="POST"),
    page("/characters/{character_id}/pictures", add_pictures, method="POST", takes_files=True),
    page("/characters/{character_id}/pictures/{image_id}/remove", remove_picture, method="POST"),
    page("/characters/{character_id}/delete", delete, method="POST"),
]
