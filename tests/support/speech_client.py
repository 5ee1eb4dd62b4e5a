"""The official `elevenlabs` client, unmodified: only its base URL is ours."""

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
from tests.support.stage import Stage

READY_SECONDS = 180.0
LINE = "The river was high that day."


@dataclass(slots=True)
class Calls:
    """Calls of the client, and what went wrong in them."""

    made: int = 0
    faults: list[str] = field(default_factory=list)

    def make(self, name: str, call: Callable[[], Any], *, holds: Callable[[Any], bool] = bool) -> Any:  # noqa: ANN401
        self.made += 1
        try:
            answer = call()
        except Exception as error:  # noqa: BLE001 (whatever a user would meet)
            self.faults.append(f"{name}: {error!r}"[:400])
            return None
        if not holds(answer):
            self.faults.append(f"{name}: {answer!r}"[:400])
        return answer


def client_of(stage: Stage) -> ElevenLabs:
    return ElevenLabs(base_url=stage.api.url, api_key=stage.key.secret, timeout=240)


async def prove_client(report: Report, stage: Stage) -> dict[str, str]:
    """Every call that the client has for voices, speech and models; the engine's first voice of each language."""
    clips = await asyncio.to_thread(ensure_clips, clips_folder())
    sample = (clips / "two_cities.wav").read_bytes()
    await wait_for_voices(stage)
    calls = Calls()
    voices: dict[str, str] = await asyncio.to_thread(_talk, calls, client_of(stage), sample)
    for fault in calls.faults:
        report.note(fault)
    good = calls.made - len(calls.faults)
    report.claim(
        "calls of the official client", wanted="all", measured=f"{good} of {calls.made}", holds=not calls.faults
    )
    report.figures(sdk_calls=calls.made, sdk_calls_ok=good)
    return voices


async def wait_for_voices(stage: Stage) -> None:
    """The worker tells of its voices soon after it starts."""
    deadline = time.monotonic() + 120
    while not await stage.accounts.connection.fetchval("SELECT count(*) FROM service_voices"):
        if time.monotonic() > deadline:
            raise RuntimeError(f"no voices\n{stage.worker.read_log()[-3000:]}")
        await asyncio.sleep(0.2)


def _talk(calls: Calls, client: ElevenLabs, sample: bytes) -> dict[str, str]:
    models = calls.make("models.list", client.models.list)
    calls.make("... its languages", lambda: [each.language_id for each in models[0].languages])
    found = calls.make("voices.search", lambda: client.voices.search(page_size=100), holds=lambda page: page.voices)
    voices: dict[str, str] = {}
    for voice in found.voices:
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
        lambda: _until_ready(client, made.voice_id),
        holds=lambda voice: voice.status == "ready",
    )
    calls.make("... its preview", lambda: ready.preview_url)
    calls.make(
        "voices.get_all",
        client.voices.get_all,
        holds=lambda all_voices: [each.voice_id for each in all_voices.voices] == [made.voice_id],
    )
    _speak(calls, client, voices["en"], made.voice_id)
    calls.make("voices.delete", lambda: client.voices.delete(made.voice_id), holds=lambda gone: gone.status == "ok")
    calls.make("... it is gone", client.voices.get_all, holds=lambda all_voices: not all_voices.voices)
    return voices


def _speak(calls: Calls, client: ElevenLabs, voice_id: str, clone_id: str) -> None:
    speech = client.text_to_speech
    calls.make("convert", lambda: whole(speech.convert(voice_id, text=LINE)), holds=_is_wave)
    for form, holds in (
        ("wav_16000", _is_wave),
        ("mp3_44100_128", lambda data: data[0] == 0xFF and len(data) > 10_000),
        ("pcm_24000", lambda data: len(data) > 48_000 and len(data) % 2 == 0),
        ("opus_48000_64", lambda data: data[:4] == b"OggS"),
    ):
        calls.make(f"convert, {form}", partial(_converted, client, voice_id, form), holds=holds)
    asked: Any = "mp3_44100_128"
    calls.make(
        "stream, mp3",
        lambda: whole(speech.stream(voice_id, text=LINE, output_format=asked, model_id="eleven_multilingual_v2")),
        holds=lambda data: data[0] == 0xFF,
    )
    calls.make("convert, with the clone", lambda: whole(speech.convert(clone_id, text=LINE)), holds=_is_wave)
    calls.make(
        "convert, with settings",
        lambda: whole(
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


def _converted(client: ElevenLabs, voice_id: str, form: Any) -> bytes:  # noqa: ANN401 (the client has a list of its own)
    return whole(client.text_to_speech.convert(voice_id, text=LINE, output_format=form))


def _until_ready(client: ElevenLabs, voice_id: str) -> Any:  # noqa: ANN401 (the client's own)
    deadline = time.monotonic() + READY_SECONDS
    while True:
        voice: Any = client.voices.get(voice_id)
        if voice.status != "processing" or time.monotonic() > deadline:
            return voice
        time.sleep(0.5)


def whole(chunks: Iterable[bytes]) -> bytes:
    return b"".join(chunks)


def _is_wave(data: bytes) -> bool:
    with wave.open(io.BytesIO(data)) as file:
        return bool(file.getnframes() > file.getframerate() and file.getnchannels() == 1)
