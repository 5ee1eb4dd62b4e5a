"""The operator's commands for what thumbnails and descriptions draw on: characters and brand voices."""

from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from pydantic import BaseModel, ValidationError

from cutroom.entrypoints.operator import Email, library_id_of, run, show
from cutroom.library.branding import (
    BrandVoiceInput,
    CharacterImageStore,
    CharacterInput,
    add_brand_voice,
    add_character,
)
from cutroom.library.rules import MAX_CHARACTER_IMAGES
from cutroom.media.process import MediaError
from cutroom.media.sandbox import Sandbox, SandboxMode
from cutroom.platform.clock import system_clock
from cutroom.platform.db import Connection
from cutroom.platform.ids import new_id
from cutroom.platform.settings import Settings
from cutroom.platform.storage.objects import Storage

characters = typer.Typer(no_args_is_help=True, help="Figures that thumbnails may show.")
brand_voices = typer.Typer(no_args_is_help=True, help="Guidelines for thumbnails and descriptions.")

Model = TypeVar("Model", bound=BaseModel)
Workspace = Annotated[str | None, typer.Option("--workspace", help="This workspace, not the personal library.")]
Name = Annotated[str, typer.Argument(help="What it is called.")]


@characters.command("create")
def create_character(
    email: Email,
    name: Name,
    *,
    image: Annotated[list[Path], typer.Option(help="A picture of the figure; repeat for several.", exists=True)],
    workspace: Workspace = None,
) -> None:
    """Save a figure with pictures of it."""
    if len(image) > MAX_CHARACTER_IMAGES:
        raise typer.BadParameter(f"a character has at most {MAX_CHARACTER_IMAGES} pictures")
    called = _checked(CharacterInput, name=name)

    async def work(connection: Connection, settings: Settings) -> tuple[str, list[str]]:
        library_id = await library_id_of(connection, email, workspace)
        sandbox = Sandbox(mode=SandboxMode(settings.sandbox), ffmpeg=settings.ffmpeg, ffprobe=settings.ffprobe)
        image_store = CharacterImageStore(Storage.connect(settings), sandbox)
        stored = []
        for file in image:
            image_id = new_id()
            try:
                stored.append((image_id, await image_store.store(file, library_id, image_id)))
            except MediaError as error:
                raise typer.BadParameter(f"{file}: {error.message}") from error
        made = await add_character(connection, library_id, name=called.name, images=stored, now=system_clock())
        return made, [image_id for image_id, _ in stored]

    character_id, image_ids = run(work)
    show(characterId=character_id, referenceImageIds=image_ids)


@brand_voices.command("create")
def create_brand_voice(
    email: Email,
    name: Name,
    *,
    guidelines: Annotated[str, typer.Option(help="How the brand speaks and looks.")],
    color: Annotated[list[str] | None, typer.Option(help="A hex code such as #12ab9f; repeat for several.")] = None,
    workspace: Workspace = None,
) -> None:
    """Save branding guidelines."""
    brand = _checked(BrandVoiceInput, name=name, guidelines=guidelines, colors=color or [])

    async def work(connection: Connection, _settings: Settings) -> str:
        library_id = await library_id_of(connection, email, workspace)
        return await add_brand_voice(connection, library_id, brand, now=system_clock())

    show(brandVoiceId=run(work))


def _checked(model: type[Model], **fields: Any) -> Model:  # noqa: ANN401 (whatever was typed)
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        fault = error.errors()[0]
        raise typer.BadParameter(f"{fault['loc'][0]}: {fault['msg'].removeprefix('Value error, ')}") from error
