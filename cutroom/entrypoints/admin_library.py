"""Admin commands for characters and brand voices."""

from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from pydantic import BaseModel, ValidationError

from cutroom.entrypoints.operator import Email, library_id_of, record, run, show
from cutroom.library.branding import CharacterImageStore, add_brand_voice, add_character
from cutroom.library.rules import MAX_CHARACTER_IMAGES
from cutroom.library.schemas import BrandVoiceInput, CharacterInput
from cutroom.media.process import MediaError
from cutroom.media.sandbox import Sandbox, SandboxMode
from cutroom.platform.clock import system_clock
from cutroom.platform.db import Connection
from cutroom.platform.ids import new_id
from cutroom.platform.settings import Settings
from cutroom.platform.storage.objects import Storage

characters = typer.Typer(no_args_is_help=True, help="Characters for thumbnails.")
brand_voices = typer.Typer(no_args_is_help=True, help="Guidelines for thumbnails and descriptions.")

Model = TypeVar("Model", bound=BaseModel)
Workspace = Annotated[
    str | None, typer.Option("--workspace", help="Use this workspace instead of the personal library.")
]
Name = Annotated[str, typer.Argument(help="Name.")]


@characters.command("create")
def create_character(
    email: Email,
    name: Name,
    *,
    image: Annotated[list[Path], typer.Option(help="Reference image; repeat for several.", exists=True)],
    workspace: Workspace = None,
) -> None:
    """Create a character with reference images."""
    if len(image) > MAX_CHARACTER_IMAGES:
        raise typer.BadParameter(f"a character has at most {MAX_CHARACTER_IMAGES} images")
    character = _validate(CharacterInput, name=name)

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
        character_id = await add_character(
            connection, library_id, name=character.name, images=stored, now=system_clock()
        )
        targets, after = {"characterId": character_id}, {"name": character.name, "images": len(stored)}
        await record(connection, settings, library_id, "character.create", targets=targets, after=after)
        return character_id, [image_id for image_id, _ in stored]

    character_id, image_ids = run(work)
    show(characterId=character_id, referenceImageIds=image_ids)


@brand_voices.command("create")
def create_brand_voice(
    email: Email,
    name: Name,
    *,
    guidelines: Annotated[str, typer.Option(help="Tone and style of the brand.")],
    color: Annotated[list[str] | None, typer.Option(help="A hex code such as #12ab9f; repeat for several.")] = None,
    workspace: Workspace = None,
) -> None:
    """Create a brand voice."""
    brand = _validate(BrandVoiceInput, name=name, guidelines=guidelines, colors=color or [])

    async def work(connection: Connection, settings: Settings) -> str:
        library_id = await library_id_of(connection, email, workspace)
        new = await add_brand_voice(connection, library_id, brand, now=system_clock())
        targets, after = {"brandVoiceId": new}, brand.model_dump()
        await record(connection, settings, library_id, "brandVoice.create", targets=targets, after=after)
        return new

    show(brandVoiceId=run(work))


def _validate(model: type[Model], **fields: Any) -> Model:  # noqa: ANN401 (unvalidated input)
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        first = error.errors()[0]
        raise typer.BadParameter(f"{first['loc'][0]}: {first['msg'].removeprefix('Value error, ')}") from error
