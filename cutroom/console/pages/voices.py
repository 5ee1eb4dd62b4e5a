"""The voices page: clone a voice with consent, try it, edit it, delete it."""

from typing import Any

from starlette.responses import Response

from cutroom.console.framework.editing import EditField, Editor, saved, show_editor, submit
from cutroom.console.framework.page_context import PageContext, error_text, page, parse, redirect
from cutroom.credits.pricing import load_prices, to_credits
from cutroom.errors import CutroomError, invalid_field, not_found
from cutroom.products.speech import routes as speech
from cutroom.products.speech.rules import MAX_TEXT
from cutroom.products.speech.schemas import NewSpeech, NewVoice, Voice, VoicePatch
from cutroom.web.operation import operation_of

MAX_PREMADE = 100
MAX_NAME, MAX_DESCRIPTION = 100, 1_000  # of the API's schema
FORMAT = "mp3_44100_128"  # supported by every browser


async def show_voices(context: PageContext) -> Response:
    return await _page(context)


async def _page(context: PageContext, *, error: str | None = None, status: int = 200) -> Response:
    """Plans without speech get an explanation instead of forms."""
    principal = context.me.principal
    if not principal.plan.speech:
        return context.page("voices.html", status=status, has_speech=False, error=error)
    clones = (await context.call_operation(speech.list_voices)).voices
    shown: dict[str, Any] = {
        "has_speech": True,
        "clones": clones,
        "may_create": principal.may_write,
        "error": error,
    }
    if context.is_fragment:
        return context.page("voices_list.html", **shown)
    return context.page(
        "voices.html",
        status=status,
        **shown,
        premade=await _premade(context),
        may_synthesize=principal.may_write and not principal.suspended,
        price=to_credits(load_prices(context.runtime.settings.prices_file).each.speech),
        max_text=MAX_TEXT,
    )


async def _premade(context: PageContext) -> list[Voice]:
    found = await context.call_operation(speech.search_voices, page_size=MAX_PREMADE, category="premade")
    return sorted(found.voices, key=lambda each: (each.labels.get("language", ""), each.name))


async def clone(context: PageContext) -> Response:
    """Clones a voice. Consent is recorded with the user and the time."""
    form = context.form
    operation_of(speech.add_voice).authorize(context.me.principal)
    try:
        if not form.has("consent"):
            raise invalid_field("consent", "Confirm that the person has agreed.")
        files = form.uploads("sample")
        if not files:
            raise invalid_field("sample", "Record a sample or choose a file.")
        new_voice = parse(NewVoice, {"name": form.text("name"), "remove_background_noise": form.has("clean")})
        await context.count_free_work()
        call = context.call
        added = await speech.clone(call, new_voice, files)
        context.record("addVoice", targets={"voiceId": added.voice_id}, after=call.changes.after)
    except CutroomError as error:
        return await _page(context, error=error_text(error), status=error.status)
    return redirect("/voices", notice="created")


async def speak(context: PageContext) -> Response:
    """Synthesizes the text, at the price shown on the button."""
    body = parse(NewSpeech, {"text": context.form.text("text")})
    return await context.call_operation(speech.speak, context.form.text("voice"), body, FORMAT)


async def _load_editor(context: PageContext) -> Editor:
    operation_of(speech.update_voice).authorize(context.me.principal)
    voice, revision = await context.call_revised(speech.get_voice, context.request.path_params["voice_id"])
    if not revision:
        raise not_found()  # stock voices cannot be changed
    description = voice.description or ""
    fields = (
        EditField("name", "Name", voice.name, max_length=MAX_NAME),
        EditField("description", "Description", description, max_length=MAX_DESCRIPTION, rows=3, is_required=False),
    )
    return Editor("Edit voice", f"/voices/{voice.voice_id}", "/voices", fields, revision)


async def show_editor_of_voice(context: PageContext) -> Response:
    return show_editor(context, await _load_editor(context))


async def change(context: PageContext) -> Response:
    async def save(revision: str | None) -> Voice:
        description = context.form.text("description").replace("\r\n", "\n")
        patch = parse(VoicePatch, {"name": context.form.text("name"), "description": description or None})
        voice_id = context.request.path_params["voice_id"]
        return await context.call_operation(speech.update_voice, voice_id, patch, if_match=revision)

    rejected = await submit(context, lambda: _load_editor(context), save)
    return rejected or saved(context, "/voices", notice="changed")


async def delete(context: PageContext) -> Response:
    await context.call_operation(speech.delete_voice, context.request.path_params["voice_id"])
    return redirect("/voices", notice="deleted")


ROUTES = [
    page("/voices", show_voices),
    page("/voices", clone, method="POST", accepts_files=True),
    page("/voices/speak", speak, method="POST"),
    page("/voices/{voice_id}", show_editor_of_voice),
    page("/voices/{voice_id}", change, method="POST"),
    page("/voices/{voice_id}/delete", delete, method="POST"),
]
