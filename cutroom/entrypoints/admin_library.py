"""The operator's commands for what thumbnails and descriptions draw on: characters and brand voices."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from cutroom.entrypoints.operator import Email, library_id_of, run, show
from cutroom.library.rules import character_path, is_color
from cutroom.library.service import put_brand_voice, put_character
from cutroom.media.pictures import decode_picture, encode_png
from cutroom.media.process import MediaError
from cutroom.media.sandbox import Mode, Sandbox
from cutroom.platform.clock import system_clock
from cutroom.platform.db import Connection
from cutroom.platform.ids import new_id
from cutroom.platform.settings import Settings
from cutroom.platform.storage import Storage

characters = typer.Typer(no_args_is_help=True, help="Figures that thumbnails may show.")
brand_voices = typer.Typer(no_args_is_help=True, help="Guidelines for thumbnails and descriptions.")

MAX_IMAGES = 10
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
    if len(image) > MAX_IMAGES:
        raise typer.BadParameter(f"a character has at most {MAX_IMAGES} pictures")

    async def work(connection: Connection, settings: Settings) -> tuple[str, list[str]]:
        library_id = await library_id_of(connection, email, workspace)
        storage = Storage.connect(settings)
        sandbox = Sandbox(mode=Mode(settings.sandbox), ffmpeg=settings.ffmpeg, ffprobe=settings.ffprobe)
        stored = []
        for file in image:
            image_id = new_id()
            path = character_path(library_id, image_id)
            try:
                with TemporaryDirectory() as scratch:
                    picture = await decode_picture(file, scratch=Path(scratch), sandbox=sandbox)
            except MediaError as error:
                raise typer.BadParameter(f"{file}: {error.sentence}") from error
            await storage.put(path, encode_png(picture))
            stored.append((image_id, path))
        made = await put_character(connection, library_id, name=name, images=stored, now=system_clock())
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
    if wrong := [each for each in color or [] if not is_color(each)]:
        raise typer.BadParameter(f"{wrong[0]} is no colour such as #12ab9f")

    async def work(connection: Connection, _settings: Settings) -> str:
        library_id = await library_id_of(connection, email, workspace)
        return await put_brand_voice(
            connection, library_id, name=name, guidelines=guidelines, colors=color, now=system_clock()
        )

    show(brandVoiceId=run(work))
