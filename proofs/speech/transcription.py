"""Transcribes synthesized speech to measure intelligibility, and compares clones with their speakers."""

import asyncio
import time
from collections.abc import Mapping
from pathlib import Path

import httpx
import numpy as np

from cutroom.engines.diarization.pitch import median_pitch
from cutroom.engines.registry import Engines
from cutroom.engines.synthesis.port import SynthesizedSpeech
from cutroom.engines.types import SAMPLE_RATE, TimeSpan
from cutroom.engines.voice_conversion.spectral_transfer import nearest_voice
from cutroom.products.speech.encoding import resample_speech
from dev.fixtures.speech_clips import clips_folder, normalize_words, sentences, two_cities
from proofs.stage.report import Report
from proofs.stage.resemblyzer import Resemblyzer, ensure_weights, voice_of
from proofs.stage.word_comparison import word_error_rate
from tests.support.dialogue import Samples
from tests.support.stage import Stage

MAX_CLONE_WER = 0.08
MIN_GAIN = 0.1
READY_SECONDS = 180.0
RATE = 24_000

CLONED = (
    "The garden behind the house was full of roses, and in the evening we sat there and talked about the journey. "
    "My grandfather knew every path through the mountains."
)


async def prove_clones(
    report: Report, stage: Stage, engines: Engines, *, made: Mapping[str, str], speakers: int
) -> None:
    """Compare clones with their speakers, by an embedder that the product does not use.

    `made` are clones that exist already, by recording.
    """
    embedder = await asyncio.to_thread(lambda: Resemblyzer(ensure_weights()))
    clips = clips_folder()
    recordings = {"two_cities": two_cities(clips), "librivox": sentences(clips)[0]}
    gains, errors = [], []
    async with httpx.AsyncClient(base_url=stage.api.url, headers=stage.key.headers, timeout=300) as client:
        for name, clip in list(recordings.items())[:speakers]:
            clone = made.get(name) or await _clone(client, name, clips / f"{clip.name}.wav")
            ours = await synthesize(client, clone, CLONED, language="en")
            base = await asyncio.to_thread(_base_voice, engines, CLONED, clip.samples)
            speaker = voice_of(embedder, clip.samples)
            ours_similarity = float(voice_of(embedder, _at_16k(ours)) @ speaker)
            base_similarity = float(voice_of(embedder, _at_16k(base)) @ speaker)
            gain = ours_similarity - base_similarity
            transcript = await asyncio.to_thread(transcribe, engines, ours, "en")
            rate = word_error_rate(normalize_words(CLONED), transcript)
            gains.append(gain)
            errors.append(rate)
            report.claim(
                f"clone of {name}: gain in cosine similarity to the speaker over the stock voice",
                expected=f">= {MIN_GAIN}",
                measured=f"{gain:.2f} ({base_similarity:.2f} to {ours_similarity:.2f})",
                holds=gain >= MIN_GAIN,
            )
            report.claim("... word error rate", expected="<= 8 %", measured=f"{rate:.1%}", holds=rate <= MAX_CLONE_WER)
    report.figures(similarity_gain=round(min(gains), 3), wer_clone=round(max(errors), 4))


async def _clone(client: httpx.AsyncClient, name: str, path: Path) -> str:
    created = await client.post(
        "/v1/voices/add", data={"name": name, "labels": '{"language": "en"}'}, files={"files": path.read_bytes()}
    )
    created.raise_for_status()
    voice_id: str = created.json()["voice_id"]
    deadline = time.monotonic() + READY_SECONDS
    while True:
        voice = (await client.get(f"/v1/voices/{voice_id}")).json()
        if voice["status"] != "processing" or time.monotonic() > deadline:
            break
        await asyncio.sleep(0.3)
    if voice["status"] != "ready":
        raise RuntimeError(f"the clone of {name} is {voice['status']}: {voice['error']}")
    return voice_id


async def synthesize(client: httpx.AsyncClient, voice_id: str, text: str, *, language: str) -> Samples:
    response = await client.post(
        f"/v1/text-to-speech/{voice_id}",
        params={"output_format": "pcm_24000"},
        json={"text": text, "language_code": language},
    )
    response.raise_for_status()
    return samples_of(response.content)


def samples_of(pcm: bytes) -> Samples:
    return np.frombuffer(pcm, "<i2").astype(np.float32) / np.float32(32767)


def transcribe(engines: Engines, samples: Samples, language: str) -> str:
    """Transcribe with the configured recognizer, whisper-base."""
    recording = _at_16k(samples)
    speech = list(engines.voice_activity_detector().detect([recording]))
    words = engines.recognizer().transcribe(recording, language=language, speech=speech).words
    return " ".join(word.text for word in words)


def _base_voice(engines: Engines, text: str, speaker: Samples) -> Samples:
    """Synthesize with the stock voice that the clone is based on."""
    pitch = median_pitch(speaker, sample_rate=SAMPLE_RATE, speech=[TimeSpan(0, len(speaker) / SAMPLE_RATE)])
    synthesizer = engines.synthesizer()
    stock = nearest_voice(synthesizer.voices(), language="en", pitch_hz=pitch or 150.0)
    return synthesizer.synthesize(text, voice=stock.name, language=stock.language).samples


def _at_16k(samples: Samples) -> Samples:
    return resample_speech(SynthesizedSpeech(samples, RATE), SAMPLE_RATE)
