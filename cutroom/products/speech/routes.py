"""HTTP routes of the speech API: voices, models and text-to-speech."""

import hashlib
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Path, Query
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from cutroom.accounts.scopes import Scope
from cutroom.capabilities.rules import spoken_languages
from cutroom.capabilities.service import available_voices
from cutroom.credits.pricing import load_prices
from cutroom.errors import Code, invalid_field
from cutroom.platform.storage.objects import Storage
from cutroom.products.speech import service, synthesis
from cutroom.products.speech.rules import (
    DEFAULT_FORMAT,
    FORMATS,
    MAX_TEXT,
    MODEL_ID,
    OutputFormat,
    new_voice_id,
    voice_path,
)
from cutroom.products.speech.schemas import (
    AddedVoice,
    DeletedVoice,
    FoundVoices,
    NewSpeech,
    NewVoice,
    SpeechModel,
    SpokenLanguage,
    Voice,
    VoicePatch,
    Voices,
)
from cutroom.products.speech.search import VoiceSearch, voice_page
from cutroom.products.speech.service import VoiceSamples
from cutroom.products.speech.streaming import SpeechResponse, SynthesisStream
from cutroom.products.speech.synthesis import SynthesisRequest
from cutroom.products.speech.voice_input import parse_new_voice
from cutroom.text.language_tags import display_name
from cutroom.web.middleware import CurrentCall, OperationRoute, RequestCall
from cutroom.web.operation import Access, operation
from cutroom.web.revisions import IfMatch

router = APIRouter(prefix="/v1", route_class=OperationRoute, tags=["Speech"])
search_router = APIRouter(prefix="/v2", route_class=OperationRoute, tags=["Speech"])

MAX_WAIT_SECONDS = 20.0  # for the complete file, before a stream of unknown length is started
SDK_HEADER = "X-Fern-SDK-Name"
SDK_NAME = "elevenlabs"  # its client expects a body in the delete response

VoiceId = Annotated[str, Path(min_length=1, description="The voice's id.")]
OutputFormatName = Annotated[
    str, Query(description="The audio format: `wav` (default), `wav_16000`, `pcm_24000`, `mp3_44100_128`, …")
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
                            "description": "Recordings of one speaker; the first usable one is used.",
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
_AUDIO_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The synthesized audio.",
        "content": {
            kind: {"schema": {"type": "string", "format": "binary"}}
            for kind in dict.fromkeys(each.media_type for each in FORMATS.values())
        },
    }
}


@router.post("/voices/add", summary="Clone a voice", openapi_extra=_NEW_VOICE)
@operation(
    scope=Scope.TTS_WRITE,
    access=Access.WRITE,
    accepts_form=True,
    errors=(Code.FAILED_PRECONDITION,),
    free_work=True,
)
async def add_voice(call: CurrentCall, request: Request) -> AddedVoice:
    """Creates a voice clone from recordings of one speaker, or from the URL of a recording. Cloning is free.

    By calling this, you confirm that the speaker has given consent; the user, time and API key are recorded.
    """
    voice, files = await parse_new_voice(request)
    return await clone(call, voice, files)


async def clone(call: RequestCall, voice: NewVoice, files: Sequence[UploadFile]) -> AddedVoice:
    """Store the recordings and start the clone; also called by the console."""
    voice_id = new_voice_id()
    if files:
        hashes = await _store(call.runtime.storage, call.principal.library_id, voice_id, files)
        samples = VoiceSamples(voice_id, sha256=tuple(hashes))
    else:
        url = (voice.sample_url or "").encode()
        samples = VoiceSamples(
            voice_id, sealed_url=call.runtime.secret_box.seal(service.URL_PURPOSE, url, context=voice_id)
        )
    await service.add_voice(
        call.connection,
        call.principal,
        voice,
        samples,
        prices=load_prices(call.runtime.settings.prices_file),
        now=call.now,
    )
    call.record_change(after={"name": voice.name})
    return AddedVoice(voice_id=voice_id, requires_verification=False)


async def _store(storage: Storage, library_id: str, voice_id: str, files: Sequence[UploadFile]) -> list[str]:
    """Store the files for the workers, and return their SHA-256 hashes."""
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
    status: Annotated[
        Literal["ready"] | None, Query(description="`ready` returns only clones that can be used.")
    ] = None,
) -> Voices:
    """Lists up to 100 clones of the library, newest first, in any status unless filtered."""
    voices = await service.list_clones(
        call.connection,
        call.principal,
        ready_only=status == "ready",
        storage=call.runtime.storage,
        plans=call.runtime.authenticator.plans,
    )
    return Voices(voices=voices)


@search_router.get("/voices", summary="Search voices")
@operation(scope=Scope.TTS_READ, access=Access.READ, errors=(Code.INVALID_ARGUMENT,))
async def search_voices(
    call: CurrentCall,
    page_size: Annotated[int, Query(ge=1, le=100)] = 10,
    search: Annotated[
        str | None, Query(max_length=200, description="Words in the name, description or labels.")
    ] = None,
    category: Annotated[str | None, Query(description="`generated` or `premade`.")] = None,
    next_page_token: Annotated[str | None, Query(max_length=200)] = None,
) -> FoundVoices:
    """Searches clones and stock voices."""
    clones = await service.list_clones(
        call.connection,
        call.principal,
        ready_only=False,
        storage=call.runtime.storage,
        plans=call.runtime.authenticator.plans,
    )
    available = await available_voices(call.connection, now=call.now)
    voices = [*clones, *(service.stock_voice(voice, call.runtime.authenticator.plans) for voice in available)]
    return voice_page(voices, VoiceSearch(search, category), size=page_size, token=next_page_token)


@router.get("/voices/{voice_id}", summary="Get a voice")
@operation(scope=Scope.TTS_READ, access=Access.READ, has_revisions=True)
async def get_voice(call: CurrentCall, voice_id: VoiceId) -> Voice:
    """Returns a voice. Poll a new clone until its `status` is `ready` or `failed`. Stock voices have no `ETag`."""
    found = await service.get_voice(
        call.connection,
        call.principal,
        voice_id,
        storage=call.runtime.storage,
        plans=call.runtime.authenticator.plans,
        now=call.now,
    )
    return found if isinstance(found, Voice) else call.with_etag(found)


@router.patch("/voices/{voice_id}", summary="Update a voice clone")
@operation(scope=Scope.TTS_WRITE, access=Access.WRITE, has_revisions=True)
async def update_voice(call: CurrentCall, voice_id: VoiceId, patch: VoicePatch, if_match: IfMatch = None) -> Voice:
    """Changes the name, description or labels of a clone. Fields that are not sent stay; null clears the last two."""
    before = await get_voice(call, voice_id)
    await service.update_voice(call.connection, call.principal, voice_id, patch, if_match=if_match)
    after = await get_voice(call, voice_id)
    call.record_update(patch, before=before, after=after)
    return after


@router.delete("/voices/{voice_id}", status_code=204, summary="Delete a voice clone")
@operation(scope=Scope.TTS_WRITE, access=Access.WRITE, has_revisions=True)
async def delete_voice(
    call: CurrentCall,
    voice_id: VoiceId,
    client: Annotated[str | None, Header(alias=SDK_HEADER)] = None,
    if_match: IfMatch = None,
) -> Response:
    """Deletes a clone immediately; its samples are removed after a week."""
    name = await service.delete_voice(call.connection, call.principal, voice_id, if_match=if_match, now=call.now)
    call.record_change(before={"name": name})
    if client == SDK_NAME:
        return JSONResponse(DeletedVoice().model_dump())
    return Response(status_code=204)


@router.get("/models", summary="List speech models")
@operation(scope=Scope.TTS_READ, access=Access.READ)
async def list_models(call: CurrentCall) -> list[SpeechModel]:
    """Lists the speech model and the languages of its voices."""
    available = await available_voices(call.connection, now=call.now)
    languages = [SpokenLanguage(language_id=code, name=display_name(code)) for code in spoken_languages(available)]
    return [
        SpeechModel(
            model_id=MODEL_ID,
            name="Cutroom Speech 1",
            description="Text-to-speech with voice clones and stock voices.",
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


@router.post(
    "/text-to-speech/{voice_id}", summary="Convert text to speech", response_class=Response, responses=_AUDIO_RESPONSES
)
@operation(
    scope=Scope.TTS_SYNTHESIZE,
    access=Access.PRODUCE,
    errors=(Code.FAILED_PRECONDITION, Code.INSUFFICIENT_CREDITS),
    priced=True,
)
async def speak(
    call: CurrentCall, voice_id: VoiceId, body: NewSpeech, output_format: OutputFormatName = DEFAULT_FORMAT
) -> Response:
    """Synthesizes a text for one credit, refunded if the synthesis fails.

    Long texts are streamed. An identical request within a day returns the same audio without a charge.
    """
    return await _synthesize(call, voice_id, body, output_format, max_wait_seconds=MAX_WAIT_SECONDS)


@router.post(
    "/text-to-speech/{voice_id}/stream",
    summary="Stream text to speech",
    response_class=Response,
    responses=_AUDIO_RESPONSES,
)
@operation(
    scope=Scope.TTS_SYNTHESIZE,
    access=Access.PRODUCE,
    errors=(Code.FAILED_PRECONDITION, Code.INSUFFICIENT_CREDITS),
    priced=True,
)
async def stream(
    call: CurrentCall, voice_id: VoiceId, body: NewSpeech, output_format: OutputFormatName = DEFAULT_FORMAT
) -> Response:
    """Synthesizes a text and streams the audio from the first passage."""
    return await _synthesize(call, voice_id, body, output_format, max_wait_seconds=0.0)


async def _synthesize(
    call: CurrentCall, voice_id: str, speech: NewSpeech, output_format: str, *, max_wait_seconds: float
) -> SpeechResponse:
    settings = call.runtime.settings
    request = SynthesisRequest(voice_id, speech, _format(output_format), synthesis.engine_settings(settings))
    prices = load_prices(settings.prices_file)
    ref = await synthesis.request_synthesis(call.connection, call.principal, request, prices=prices, now=call.now)
    stream = SynthesisStream(ref, call.runtime.database, call.runtime.storage)
    return SpeechResponse(stream, max_wait_seconds=max_wait_seconds)


def _format(name: str) -> OutputFormat:
    if name not in FORMATS:
        raise invalid_field("output_format", f"This must be one of: {', '.join(FORMATS)}.")
    return FORMATS[name]
