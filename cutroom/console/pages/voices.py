"""The voices page: clone a voice with consent, try it, delete it."""

from typing import Any

from starlette.responses import Response

from cutroom.console.framework.page_context import PageContext, error_text, page, parse, redirect
from cutroom.credits.pricing import load_prices, to_credits
from cutroom.errors import CutroomError, invalid_field
from cutroom.products.speech import routes as speech
from cutroom.products.speech.rules import MAX_TEXT
from cutroom.products.speech.schemas import NewSpeech, NewVoice, Voice
from cutroom.web.operation import operation_of

MAX_PREMADE = 100
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
        "busy": any(each.status == "processing" for each in clones),
        "may_create": principal.may_write,
        "error": error,
    }
    if context.request.headers.get("hx-request"):
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


async def delete(context: PageContext) -> Response:
    await context.call_operation(speech.delete_voice, context.request.path_params["voice_id"])
    return redirect("/voices", notice="deleted")


ROUTES = [
    page("/voices", show_voices),
    page("/voices", clone, method="POST", accepts_files=True),
    page("/voices/speak", speak, method="POST"),
    page("/voices/{voice_id}/delete", delete, method="POST"),
]
