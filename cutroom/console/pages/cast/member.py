"""The page of one member of the cast: name, voices by language, and the videos in which the member speaks."""

from collections.abc import Mapping
from dataclasses import dataclass

from starlette.responses import Response

from cutroom.cast import routes as cast
from cutroom.cast.rules import MAX_NAME
from cutroom.cast.schemas import CastAppearance, CastMember, CastMemberPatch
from cutroom.console.framework.editing import EditField, Editor, saved, show_editor, submit
from cutroom.console.framework.page_context import PageContext, error_text, page, parse, redirect
from cutroom.console.framework.states import StateLabel
from cutroom.console.pages.cast.members import folder_names
from cutroom.errors import Code, CutroomError, invalid_field
from cutroom.library import routes as library
from cutroom.products.speech import routes as speech
from cutroom.products.transcripts.document import speaker_label
from cutroom.products.transcripts.speaker_recognition import routes as speakers
from cutroom.web.operation import operation_of

SHOWN_APPEARANCES = 20
MAX_VOICES = 100  # offered of each kind
_FAILURES = {
    "too_little_speech": "too little speech",
    "no_audio": "the video has no sound",
    "no_embedder": "this installation has no speaker embedder",
    "unusable": "the sound could not be read",
}


@dataclass(frozen=True, slots=True)
class OfferedVoice:
    """A voice to choose: a stock voice of one language, or a clone, which speaks all."""

    id: str
    name: str
    language: str | None


@dataclass(frozen=True, slots=True)
class ShownAppearance:
    """A speaker of a video who is the member, with the words for its state."""

    appearance: CastAppearance
    title: str
    speaker: str
    label: StateLabel
    next_step: str | None  # the button that confirms the speaker, or makes the voice print


async def show_member(context: PageContext) -> Response:
    return await _page(context)


async def _page(context: PageContext, *, error: str | None = None, status: int = 200) -> Response:
    member_id = context.request.path_params["member_id"]
    member = await context.call_operation(cast.get_cast_member, member_id)
    token = context.request.query_params.get("from")
    listed = await context.call_operation(
        cast.list_cast_appearances, member_id, limit=SHOWN_APPEARANCES, page_token=token
    )
    voices = await _voices(context)
    recognition = await context.call_operation(cast.get_cast_recognition)
    is_on = recognition.recognize_speakers or bool(recognition.folder_ids)
    return context.page(
        "cast/member.html",
        status=status,
        member=member,
        folder=(await folder_names(context)).get(member.folder_id or ""),
        voices=_named(member.voices, voices),
        offered=voices,
        languages=sorted({each.language for each in voices if each.language}),
        appearances=[await _shown(context, each, is_on=is_on) for each in listed.appearances],
        next_token=listed.next_page_token,
        may_write=context.me.principal.may_write,
        error=error,
    )


async def _voices(context: PageContext) -> list[OfferedVoice]:
    """Clones are listed only if the plan has them."""
    stock = await context.call_operation(speech.search_voices, page_size=MAX_VOICES, category="premade")
    found = [OfferedVoice(each.voice_id, each.name, each.labels.get("language")) for each in stock.voices]
    clones = (await context.call_operation(speech.list_voices)).voices if context.me.principal.plan.speech else []
    own = [OfferedVoice(each.voice_id, each.name, None) for each in clones if each.status == "ready"]
    return [*own, *sorted(found, key=lambda each: (each.language or "", each.name))]


def _named(voices: Mapping[str, str], known: list[OfferedVoice]) -> dict[str, str | None]:
    """The name of the voice by language; None if it is no longer available."""
    names = {each.id: each.name for each in known}
    return {language: names.get(voice) for language, voice in sorted(voices.items())}


async def _shown(context: PageContext, appearance: CastAppearance, *, is_on: bool) -> ShownAppearance:
    try:
        title = (await context.call_operation(library.get_video, appearance.video_id)).title or "Untitled"
    except CutroomError as error:
        if error.code is not Code.NOT_FOUND:
            raise
        title = "A video in the trash"
    speaker, step = speaker_label(appearance.speaker_id), _next_step(appearance, is_on=is_on)
    return ShownAppearance(appearance, title, speaker, _label(appearance), step)


def _next_step(appearance: CastAppearance, *, is_on: bool) -> str | None:
    """A speaker who was confirmed before recognition was turned on has no voice print."""
    if appearance.source == "recognized":
        return "Confirm"
    if appearance.embedding_status == "failed":
        return "Try again"
    return "Make voice print" if is_on and appearance.embedding_status == "none" else None


def _label(appearance: CastAppearance) -> StateLabel:
    if appearance.source == "recognized":
        return StateLabel("queued", f"Recognized, {appearance.similarity or 0:.2f} similar")
    match appearance.embedding_status:
        case "ready":
            return StateLabel("ready", "Confirmed, with a voice print")
        case "pending":
            return StateLabel("processing", "Confirmed, voice print in progress")
        case "failed":
            return StateLabel("failed", f"Confirmed, no voice print: {_FAILURES[appearance.failure or 'unusable']}")
        case _:
            return StateLabel("ready", "Confirmed")


async def _load_editor(context: PageContext) -> Editor:
    operation_of(cast.update_cast_member).authorize(context.me.principal)
    member_id = context.request.path_params["member_id"]
    member, revision = await context.call_revised(cast.get_cast_member, member_id)
    fields = (EditField("name", "Name", member.name, max_length=MAX_NAME),)
    return Editor("Rename", f"/cast/{member_id}/name", f"/cast/{member_id}", fields, revision, button="Rename")


async def show_name(context: PageContext) -> Response:
    return show_editor(context, await _load_editor(context))


async def rename(context: PageContext) -> Response:
    member_id = context.request.path_params["member_id"]

    async def save(revision: str | None) -> CastMember:
        patch = parse(CastMemberPatch, {"name": context.form.text("name")})
        return await context.call_operation(cast.update_cast_member, member_id, patch, if_match=revision)

    rejected = await submit(context, lambda: _load_editor(context), save)
    return rejected or saved(context, f"/cast/{member_id}", notice="changed")


async def set_voice(context: PageContext) -> Response:
    """A stock voice is of one language, which comes with it."""
    member_id, form = context.request.path_params["member_id"], context.form
    operation_of(cast.update_cast_member).authorize(context.me.principal)
    member, revision = await context.call_revised(cast.get_cast_member, member_id)
    language, _, voice = form.text("voice").partition(":")
    language = language or form.text("language")
    kept = {tag: known for tag, known in member.voices.items() if tag.lower() != language.lower()}
    changed = {**kept, **({language: voice} if voice else {})}
    try:
        if not language:
            raise invalid_field("language", "Choose a language.")
        async with context.call.connection.transaction():
            patch = parse(CastMemberPatch, {"voices": changed})
            await context.call_operation(cast.update_cast_member, member_id, patch, if_match=revision)
    except CutroomError as error:
        return await _page(context, error=error_text(error), status=error.status)
    return redirect(f"/cast/{member_id}", notice="changed")


async def delete(context: PageContext) -> Response:
    await context.call_operation(cast.delete_cast_member, context.request.path_params["member_id"])
    return redirect("/cast", notice="deleted")


async def confirm(context: PageContext) -> Response:
    """Confirms a speaker who was recognized, or makes a voice print again."""
    member_id, form = context.request.path_params["member_id"], context.form
    await context.call_operation(speakers.create_cast_appearance, member_id, form.text("video"), form.text("speaker"))
    return redirect(f"/cast/{member_id}", notice="confirmed")


async def remove(context: PageContext) -> Response:
    member_id, form = context.request.path_params["member_id"], context.form
    await context.call_operation(cast.delete_cast_appearance, member_id, form.text("video"), form.text("speaker"))
    return redirect(f"/cast/{member_id}", notice="removed")


ROUTES = [
    page("/cast/{member_id}", show_member),
    page("/cast/{member_id}/name", show_name),
    page("/cast/{member_id}/name", rename, method="POST"),
    page("/cast/{member_id}/voices", set_voice, method="POST"),
    page("/cast/{member_id}/delete", delete, method="POST"),
    page("/cast/{member_id}/confirm", confirm, method="POST"),
    page("/cast/{member_id}/remove", remove, method="POST"),
]
