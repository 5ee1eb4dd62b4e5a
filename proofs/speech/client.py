"""Exercises the speech API with the unmodified official `elevenlabs` client."""

import asyncio
import io
import time
import wave
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from elevenlabs.client import ElevenLabs

from dev.fixtures.speech_clips import clips_folder, ensure_clips
from proofs.stage.report import Report
from tests.support.stage import Stage, wait_for_voices

READY_SECONDS = 180.0
LINE = "The river was high."

# The first voice of each other language is used. Of Nicola, the other Italian voice, 7 % of words are misheard.
CLEAREST_VOICES = frozenset({"Sara"})


@dataclass(slots=True)
class ClientCalls:
    """Counts client calls and collects their failures."""

    made: int = 0
    failures: list[str] = field(default_factory=list)

    def make(self, name: str, call: Callable[[], Any], *, holds: Callable[[Any], bool] = bool) -> Any:  # noqa: ANN401
        self.made += 1
        try:
            result = call()
        except Exception as error:  # noqa: BLE001 (any failure is reported)
            self.failures.append(f"{name}: {error!r}"[:400])
            return None
        if not holds(result):
            self.failures.append(f"{name}: {result!r}"[:400])
        return result


def client_of(stage: Stage) -> ElevenLabs:
    return ElevenLabs(base_url=stage.api.url, api_key=stage.key.secret, timeout=240)


@dataclass(frozen=True, slots=True)
class ClientRun:
    """The calls so far, the first stock voice of each language, and the clone that the client made."""

    calls: ClientCalls
    voices: dict[str, str]
    clone_id: str


async def exercise_client(stage: Stage) -> ClientRun:
    """Make all calls but those that delete the clone, which the proof of clones still needs."""
    clips = await asyncio.to_thread(ensure_clips, clips_folder())
    sample = (clips / "two_cities.wav").read_bytes()
    await wait_for_voices(stage)
    calls = ClientCalls()
    return await asyncio.to_thread(_exercise_voices, calls, client_of(stage), sample)


async def prove_client(report: Report, stage: Stage, run: ClientRun) -> None:
    """Delete the clone, and report all calls."""
    calls = run.calls
    await asyncio.to_thread(_exercise_deletion, run, client_of(stage))
    for failure in calls.failures:
        report.note(failure)
    good = calls.made - len(calls.failures)
    report.claim(
        "calls of the official client", expected="all", measured=f"{good} of {calls.made}", holds=not calls.failures
    )
    report.figures(sdk_calls=calls.made, sdk_calls_ok=good)


def _exercise_voices(calls: ClientCalls, client: ElevenLabs, sample: bytes) -> ClientRun:
    models = calls.make("models.list", client.models.list)
    calls.make("... its languages", lambda: [each.language_id for each in models[0].languages])
    found = calls.make("voices.search", lambda: client.voices.search(page_size=100), holds=lambda page: page.voices)
    voices: dict[str, str] = {}
    for voice in sorted(found.voices, key=lambda voice: voice.name not in CLEAREST_VOICES):
        voices.setdefault(voice.labels["language"].partition("-")[0], voice.voice_id)
    page = calls.make("voices.search, a page", lambda: client.voices.search(page_size=2))
    token = page.next_page_token
    calls.make(
        "voices.search, the next",
        lambda: client.voices.search(page_size=2, next_page_token=token),
        holds=lambda next_page: {each.voice_id for each in next_page.voices}.isdisjoint(
            {each.voice_id for each in page.voices}
        ),
    )
    made = calls.make("voices.ivc.create", lambda: client.voices.ivc.create(name="Reader", files=[io.BytesIO(sample)]))
    calls.make(
        "voices.get at once",
        lambda: client.voices.get(made.voice_id),
        holds=lambda voice: voice.name == "Reader" and voice.status in {"processing", "ready"},
    )
    ready = calls.make(
        "voices.get until ready",
        lambda: _wait_until_ready(client, made.voice_id),
        holds=lambda voice: voice.status == "ready",
    )
    calls.make("... its preview", lambda: ready.preview_url)
    calls.make(
        "voices.get_all",
        client.voices.get_all,
        holds=lambda all_voices: [each.voice_id for each in all_voices.voices] == [made.voice_id],
    )
    _exercise_speech(calls, client, voices["en"], made.voice_id)
    return ClientRun(calls, voices, made.voice_id)


def _exercise_deletion(run: ClientRun, client: ElevenLabs) -> None:
    delete = partial(client.voices.delete, run.clone_id)
    run.calls.make("voices.delete", delete, holds=lambda gone: gone.status == "ok")
    run.calls.make(
        "... it is gone",
        client.voices.get_all,
        holds=lambda all_voices: run.clone_id not in {each.voice_id for each in all_voices.voices},
    )


def _exercise_speech(calls: ClientCalls, client: ElevenLabs, voice_id: str, clone_id: str) -> None:
    speech = client.text_to_speech
    calls.make("convert", lambda: join_chunks(speech.convert(voice_id, text=LINE)), holds=_is_wave)
    for name, holds in (
        ("wav_16000", _is_wave),
        ("mp3_44100_128", lambda data: data[0] == 0xFF and len(data) > 10_000),
        ("pcm_24000", lambda data: len(data) > 48_000 and len(data) % 2 == 0),
        ("opus_48000_64", lambda data: data[:4] == b"OggS"),
    ):
        calls.make(f"convert, {name}", partial(_convert, client, voice_id, name), holds=holds)
    output_format: Any = "mp3_44100_128"
    calls.make(
        "stream, mp3",
        lambda: join_chunks(
            speech.stream(voice_id, text=LINE, output_format=output_format, model_id="eleven_multilingual_v2")
        ),
        holds=lambda data: data[0] == 0xFF,
    )
    calls.make("convert, with the clone", lambda: join_chunks(speech.convert(clone_id, text=LINE)), holds=_is_wave)
    calls.make(
        "convert, with settings",
        lambda: join_chunks(
            speech.convert(
                voice_id,
                text=LINE,
                language_code="en",
                seed=1,
                voice_settings={"speed": 1.2, "stability": 0.5},  # type: ignore[arg-type]
            )
        ),
        holds=_is_wave,
    )


def _convert(client: ElevenLabs, voice_id: str, output_format: Any) -> bytes:  # noqa: ANN401 (a literal type of the client)
    return join_chunks(client.text_to_speech.convert(voice_id, text=LINE, output_format=output_format))


def _wait_until_ready(client: ElevenLabs, voice_id: str) -> Any:  # noqa: ANN401 (a type of the client)
    deadline = time.monotonic() + READY_SECONDS
    while True:
        voice: Any = client.voices.get(voice_id)
        if voice.status != "processing" or time.monotonic() > deadline:
            return voice
        time.sleep(0.5)


def join_chunks(chunks: Iterable[bytes]) -> bytes:
    return b"".join(chunks)


def _is_wave(data: bytes) -> bool:
    with wave.open(io.BytesIO(data)) as file:
        return bool(file.getnframes() > file.getframerate() and file.getnchannels() == 1)
