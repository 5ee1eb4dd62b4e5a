"""The speech API: voices, and text read aloud in them."""

import hashlib
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Path, Query
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from cutroom.accounts.scopes import Scope
from cutroom.credits.pricing import load_prices
from cutroom.errors import Code, invalid_field
from cutroom.platform.storage.objects import Storage
from cutroom.products.speech import service, synthesis
from cutroom.products.speech.languages import language_name
from cutroom.products.speech.rules import (
    DEFAULT_FORMAT,
    FORMATS,
    MAX_TEXT,
    MODEL_ID,
    OutputFormat,
    new_voice_id,
    voice_path,
)
from cutroom.products.speech.samples import read_new_voice
from cutroom.products.speech.schemas import (
    AddedVoice,
    DeletedVoice,
    FoundVoices,
    NewSpeech,
    NewVoice,
    SpeechModel,
    SpokenLanguage,
    Voice,
    Voices,
)
from cutroom.products.speech.search import Search, page_of
from cutroom.products.speech.service import Samples
from cutroom.products.speech.streaming import Listening, SpeechAnswer
from cutroom.products.speech.synthesis import Wish
from cutroom.web.middleware import CurrentCall, OperationRoute, RequestCall
from cutroom.web.operation import Access, operation

router = APIRouter(prefix="/v1", route_class=OperationRoute, tags=["Speech"])
search_router = APIRouter(prefix="/v2", route_class=OperationRoute, tags=["Speech"])

PATIENCE_SECONDS = 20.0  # how long a whole file is waited for, before its beginning is sent with an open end
SDK_HEADER = "X-Fern-SDK-Name"
SDK_NAME = "elevenlabs"  # whose delete needs a body

VoiceId = Annotated[str, Path(min_length=1, description="The voice's id.")]
Form = Annotated[
    str, Query(description="How the sound is written: `wav` (default), `wav_16000`, `pcm_24000`, `mp3_44100_128`, …")
]

_NEW_VOICE = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": NewVoice.model_json_schema()},
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["name", "files"],
                    "properties": {
                        "name": {"type": "string", "minLength": 1, "maxLength": 100},
                        "files": {
                            "type": "array",
                            "minItems": 1,
                            "items": {"type": "string", "format": "binary"},
                            "description": "Recordings of one person; the first usable one is taken.",
                        },
                        "description": {"type": "string", "maxLength": 1000},
                        "labels": {"type": "string", "description": "A JSON object: `language`, `gender`, `age`."},
                        "remove_background_noise": {"type": "boolean", "default": True},
                    },
                }
            },
        },
    }
}
_SOUND: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The text, spoken.",
        "content": {
            kind: {"schema": {"type": "string", "format": "binary"}}
            for kind in dict.fromkeys(each.media_type for each in FORMATS.values())
        },
    }
}


@router.post("/voices/add", summary="Clone a voice", openapi_extra=_NEW_VOICE)
@operation(scope=Scope.TTS_WRITE, access=Access.WRITE, takes_form=True)
async def add_voice(call: CurrentCall, request: Request) -> AddedVoice:
    """Begin a clone from one or more recordings of one person, or from the address of one. Cloning is free.

    Whoever asks says with it that the person has agreed; who asked, when and with which key is kept.
    """
    wanted, files = await read_new_voice(request)
    return await clone(call, wanted, files)


async def clone(call: RequestCall, wanted: NewVoice, files: Sequence[UploadFile]) -> AddedVoice:
    """Keep the recordings, and begin; for whoever has been let in."""
    voice_id = new_voice_id()
    if files:
        hashes = await _store(call.runtime.storage, call.principal.library_id, voice_id, files)
        samples = Samples(voice_id, sha256=tuple(hashes))
    else:
        url = (wanted.sample_url or "").encode()
        samples = Samples(voice_id, sealed_url=call.runtime.secrecy.seal(service.URL_PURPOSE, url, context=voice_id))
    await service.add_voice(
        call.connection,
        call.principal,
        wanted,
        samples,
        prices=load_prices(call.runtime.settings.prices_file),
        now=call.now,
    )
    return AddedVoice(voice_id=voice_id, requires_verification=False)


async def _store(storage: Storage, library_id: str, voice_id: str, files: Sequence[UploadFile]) -> list[str]:
    """Put the files where the workers find them; their hashes."""
    hashes = []
    for number, file in enumerate(files):
        data = await file.read()
        if not data:
            raise invalid_field(f"files.{number}", "The file is empty.")
        await storage.put(voice_path(library_id, voice_id, f"sample-{number}"), data)
        hashes.append(hashlib.sha256(data).hexdigest())
    return hashes


@router.get("/voices", summary="List voice clones")
@operation(scope=Scope.TTS_READ, access=Access.READ, errors=(Code.INVALID_ARGUMENT,))
async def list_voices(
    call: CurrentCall,
    status: Annotated[Literal["ready"] | None, Query(description="`ready` for clones that can be used now.")] = None,
) -> Voices:
    """The library's clones, newest first, 100 at most; those that failed or are being made as well unless told."""
    voices = await service.list_clones(
        call.connection,
        call.principal,
        ready_only=status == "ready",
        storage=call.runtime.storage,
        plans=call.runtime.doorkeeper.plans,
    )
    return Voices(voices=voices)


@search_router.get("/voices", summary="Search voices")
@operation(scope=Scope.TTS_READ, access=Access.READ, errors=(Code.INVALID_ARGUMENT,))
async def search_voices(
    call: CurrentCall,
    page_size: Annotated[int, Query(ge=1, le=100)] = 10,
    search: Annotated[
        str | None, Query(max_length=200, description="Words of the name, description or labels.")
    ] = None,
    category: Annotated[str | None, Query(description="`generated` or `premade`.")] = None,
    next_page_token: Annotated[str | None, Query(max_length=200)] = None,
) -> FoundVoices:
    """Clones and the engine's own voices in one list, as speech clients look for them."""
    clones = await service.list_clones(
        call.connection,
        call.principal,
        ready_only=False,
        storage=call.runtime.storage,
        plans=call.runtime.doorkeeper.plans,
    )
    told = await service.available_voices(call.connection, now=call.now)
    voices = [*clones, *(service.premade(row, call.runtime.doorkeeper.plans) for row in told)]
    return page_of(voices, Search(search, category), size=page_size, token=next_page_token)


@router.get("/voices/{voice_id}", summary="Get a voice")
@operation(scope=Scope.TTS_READ, access=Access.READ)
async def get_voice(call: CurrentCall, voice_id: VoiceId) -> Voice:
    """One voice; ask again until `status` is `ready` or `failed`."""
    return await service.get_voice(
        call.connection,
        call.principal,
        voice_id,
        storage=call.runtime.storage,
        plans=call.runtime.doorkeeper.plans,
        now=call.now,
    )


@router.delete("/voices/{voice_id}", status_code=204, summary="Delete a voice clone")
@operation(scope=Scope.TTS_WRITE, access=Access.WRITE)
async def delete_voice(
    call: CurrentCall, voice_id: VoiceId, client: Annotated[str | None, Header(alias=SDK_HEADER)] = None
) -> Response:
    """The clone is gone at once; its samples are removed within 30 days. A client that needs a body gets one."""
    await service.delete_voice(call.connection, call.principal, voice_id, now=call.now)
    if client == SDK_NAME:
        return JSONResponse(DeletedVoice().model_dump())
    return Response(status_code=204)


@router.get("/models", summary="List speech models")
@operation(scope=Scope.TTS_READ, access=Access.READ)
async def list_models(call: CurrentCall) -> list[SpeechModel]:
    """The one speech model, and the languages that its voices speak."""
    told = await service.available_voices(call.connection, now=call.now)
    languages = [
        SpokenLanguage(language_id=code, name=language_name(code)) for code in sorted({row["language"] for row in told})
    ]
    return [
        SpeechModel(
            model_id=MODEL_ID,
            name="Cutroom Speech 1",
            description="Reads text aloud in clones and in voices of the engine.",
            can_do_text_to_speech=True,
            can_do_voice_conversion=False,
            can_use_style=False,
            can_use_speaker_boost=False,
            serves_pro_voices=False,
            requires_alpha_access=False,
            max_characters_request_free_user=MAX_TEXT,
            max_characters_request_subscribed_user=MAX_TEXT,
            maximum_text_length_per_request=MAX_TEXT,
            token_cost_factor=1.0,
            languages=languages,
        )
    ]


@router.post("/text-to-speech/{voice_id}", summary="Read a text aloud", response_class=Response, responses=_SOUND)
@operation(
    scope=Scope.TTS_SYNTHESIZE, access=Access.PRODUCE, errors=(Code.FAILED_PRECONDITION, Code.INSUFFICIENT_CREDITS)
)
async def speak(
    call: CurrentCall, voice_id: VoiceId, wanted: NewSpeech, output_format: Form = DEFAULT_FORMAT
) -> Response:
    """The text as sound, for one credit; one that is not read to its end costs nothing.

    A text that takes long is sent as it comes. The same text in the same voice and form within a day is given again,
    and costs nothing.
    """
    return await _speak(call, voice_id, wanted, output_format, patience_seconds=PATIENCE_SECONDS)


@router.post(
    "/text-to-speech/{voice_id}/stream",
    summary="Read a text aloud, as it comes",
    response_class=Response,
    responses=_SOUND,
)
@operation(
    scope=Scope.TTS_SYNTHESIZE, access=Access.PRODUCE, errors=(Code.FAILED_PRECONDITION, Code.INSUFFICIENT_CREDITS)
)
async def stream(
    call: CurrentCall, voice_id: VoiceId, wanted: NewSpeech, output_format: Form = DEFAULT_FORMAT
) -> Response:
    """The same sound, sent from the first passage on."""
    return await _speak(call, voice_id, wanted, output_format, patience_seconds=0.0)


async def _speak(
    call: CurrentCall, voice_id: str, wanted: NewSpeech, output_format: str, *, patience_seconds: float
) -> SpeechAnswer:
    settings = call.runtime.settings
    wish = Wish(voice_id, wanted, _format(output_format), synthesis.engines_of(settings))
    prices = load_prices(settings.prices_file)
    reading = await synthesis.ask_for_speech(call.connection, call.principal, wish, prices=prices, now=call.now)
    listening = Listening(reading, call.runtime.database, call.runtime.storage)
    return SpeechAnswer(listening, patience_seconds=patience_seconds)


def _format(name: str) -> OutputFormat:
    if name not in FORMATS:
        raise invalid_field("output_format", f"This may be one of: {', '.join(FORMATS)}.")
    return FORMATS[name]
