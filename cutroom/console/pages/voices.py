"""Voices: cloned from a recording of somebody who has agreed, listened to, tried, deleted."""

from typing import Any

from starlette.responses import Response

from cutroom.console.framework.page_context import PageContext, go, page, parse, sentence
from cutroom.credits.pricing import load_prices, to_credits
from cutroom.errors import CutroomError, invalid_field
from cutroom.products.speech import routes as speech
from cutroom.products.speech.rules import MAX_TEXT
from cutroom.products.speech.schemas import NewSpeech, NewVoice, Voice
from cutroom.web.operation import operation_of

MAX_PREMADE = 100
FORMAT = "mp3_44100_128"  # that every browser plays


async def show_voices(visit: PageContext) -> Response:
    return await _page(visit)


async def _page(visit: PageContext, *, fault: str | None = None, status: int = 200) -> Response:
    """A plan without speech shows what it would take, and no form that would be refused."""
    principal = visit.me.principal
    if not principal.plan.speech:
        return visit.page("voices.html", status=status, speaks=False, fault=fault)
    clones = (await visit.perform(speech.list_voices)).voices
    shown: dict[str, Any] = {
        "speaks": True,
        "clones": clones,
        "busy": any(each.status == "processing" for each in clones),
        "may_make": principal.may_write,
        "fault": fault,
    }
    if visit.request.headers.get("hx-request"):
        return visit.page("voices_list.html", **shown)
    return visit.page(
        "voices.html",
        status=status,
        **shown,
        premade=await _premade(visit),
        may_speak=principal.may_write and not principal.suspended,
        price=to_credits(load_prices(visit.runtime.settings.prices_file).each.speech),
        max_text=MAX_TEXT,
    )


async def _premade(visit: PageContext) -> list[Voice]:
    found = await visit.perform(speech.search_voices, page_size=MAX_PREMADE, category="premade")
    return sorted(found.voices, key=lambda each: (each.labels.get("language", ""), each.name))


async def clone(visit: PageContext) -> Response:
    """The tick says that the person has agreed; who ticked it and when is kept with the voice."""
    form = visit.form
    operation_of(speech.add_voice).authorize(visit.me.principal)
    try:
        if not form.has("consent"):
            raise invalid_field("consent", "Tick that the person has agreed.")
        files = form.uploads("sample")
        if not files:
            raise invalid_field("sample", "Record something, or choose a recording.")
        wanted = parse(NewVoice, {"name": form.text("name"), "remove_background_noise": form.has("clean")})
        await speech.clone(visit.call, wanted, files)
    except CutroomError as error:
        return await _page(visit, fault=sentence(error), status=error.status)
    return go("/voices", said="begun")


async def speak(visit: PageContext) -> Response:
    """The sentence as sound, for the price on the button."""
    wanted = parse(NewSpeech, {"text": visit.form.text("text")})
    return await visit.perform(speech.speak, visit.form.text("voice"), wanted, FORMAT)


async def delete(visit: PageContext) -> Response:
    await visit.perform(speech.delete_voice, visit.request.path_params["voice_id"])
    return go("/voices", said="deleted")


ROUTES = [
    page("/voices", show_voices),
    page("/voices", clone, method="POST", takes_files=True),
    page("/voices/speak", speak, method="POST"),
    page("/voices/{voice_id}/delete", delete, method="POST"),
]
