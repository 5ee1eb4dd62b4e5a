"""The characters page: people for thumbnails, with reference images."""

from collections import defaultdict
from typing import Any

from starlette.responses import Response

from cutroom.console.framework.editing import EditField, Editor, saved, show_editor, submit
from cutroom.console.framework.page_context import PageContext, page, parse, redirect
from cutroom.credits.pricing import load_prices
from cutroom.errors import invalid_field
from cutroom.library import branding, routes
from cutroom.library.rules import MAX_CHARACTER_IMAGES, MAX_NAME
from cutroom.library.schemas import Character, CharacterInput, CharacterPatch
from cutroom.products.characters.routes import delete_character
from cutroom.products.characters.service import (
    CharacterUpload,
    PendingCharacterImage,
    delete_image,
    pending_images,
    upload_images,
)
from cutroom.web.operation import operation_of


async def show_characters(context: PageContext) -> Response:
    characters = (await context.call_operation(routes.list_characters)).characters
    pending: dict[str, list[PendingCharacterImage]] = defaultdict(list)
    for each in await pending_images(context.call.connection, context.me.principal.library_id):
        pending[each.character_id].append(each)
    shown: dict[str, Any] = {
        "characters": characters,
        "pending": pending,
        "may_write": context.me.principal.may_write,
        "max_images": MAX_CHARACTER_IMAGES,
    }
    return context.page("characters_list.html" if context.is_fragment else "characters.html", **shown)


async def create(context: PageContext) -> Response:
    """Creates a character with its images; one invalid image rejects the whole form."""
    _authorize(context)
    images, character = (
        await _uploaded_images(context),
        parse(CharacterInput, {"name": context.form.text("name")}),
    )
    character_id = await branding.add_character(
        context.call.connection, context.me.principal.library_id, name=character.name, images=[], now=context.call.now
    )
    await _upload(context, character_id, images)
    context.record(
        "character.create",
        targets={"characterId": character_id},
        after={"name": character.name, "images": len(images)},
    )
    return redirect("/characters", notice="created")


async def add_images(context: PageContext) -> Response:
    _authorize(context)
    character_id, images = context.request.path_params["character_id"], await _uploaded_images(context)
    await _upload(context, character_id, images)
    context.record("character.images.add", targets={"characterId": character_id}, after={"images": len(images)})
    return redirect("/characters", notice="uploaded")


async def _uploaded_images(context: PageContext) -> list[CharacterUpload]:
    images = [CharacterUpload(file.filename or "", await file.read()) for file in context.form.uploads("images")]
    if not images:
        raise invalid_field("images", "Choose at least one image.")
    return images


async def _upload(context: PageContext, character_id: str, images: list[CharacterUpload]) -> None:
    await context.count_free_work()
    await upload_images(
        context.call.connection,
        context.me.principal,
        character_id,
        images=images,
        storage=context.runtime.storage,
        prices=load_prices(context.runtime.settings.prices_file),
        now=context.call.now,
    )


async def _load_editor(context: PageContext) -> Editor:
    _authorize(context)
    character_id = context.request.path_params["character_id"]
    character, revision = await context.call_revised(routes.get_character, character_id)
    field = EditField("name", "Name", character.name, max_length=MAX_NAME)
    action = f"/characters/{character.id}/rename"
    return Editor("Rename character", action, "/characters", (field,), revision, button="Rename")


async def show_rename(context: PageContext) -> Response:
    return show_editor(context, await _load_editor(context))


async def rename(context: PageContext) -> Response:
    async def save(revision: str | None) -> Character:
        patch = parse(CharacterPatch, {"name": context.form.text("name")})
        character_id = context.request.path_params["character_id"]
        return await context.call_operation(routes.update_character, character_id, patch, if_match=revision)

    rejected = await submit(context, lambda: _load_editor(context), save)
    return rejected or saved(context, "/characters", notice="changed")


async def remove_image(context: PageContext) -> Response:
    _authorize(context)
    character_id, image_id = (context.request.path_params[name] for name in ("character_id", "image_id"))
    await delete_image(context.call.connection, context.me.principal, character_id, image_id=image_id)
    context.record("character.image.delete", targets={"characterId": character_id, "imageId": image_id})
    return redirect("/characters", notice="changed")


async def delete(context: PageContext) -> Response:
    await context.call_operation(delete_character, context.request.path_params["character_id"])
    return redirect("/characters", notice="deleted")


def _authorize(context: PageContext) -> None:
    """Requires the scope for editing characters."""
    operation_of(routes.update_character).authorize(context.me.principal)


ROUTES = [
    page("/characters", show_characters),
    page("/characters", create, method="POST", accepts_files=True),
    page("/characters/{character_id}/rename", show_rename),
    page("/characters/{character_id}/rename", rename, method="POST"),
    page("/characters/{character_id}/images", add_images, method="POST", accepts_files=True),
    page("/characters/{character_id}/images/{image_id}/remove", remove_image, method="POST"),
    page("/characters/{character_id}/delete", delete, method="POST"),
]
