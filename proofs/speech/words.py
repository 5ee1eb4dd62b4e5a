"""What is spoken is understood by a recognizer, and a clone is closer to its speaker than the engine's voice is."""

import asyncio
import os
import time
from collections.abc import Sequence
from itertools import product
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

MAX_WER = 0.05
MAX_CLONE_WER = 0.08
MIN_GAIN = 0.1
READY_SECONDS = 180.0
RATE = 24_000
KEEP = "CUTROOM_PROOF_FOLDER"  # where to leave what was spoken, for ears

# Numbers, times, money and abbreviations among ordinary sentences. What is written comes first, and behind it other
# ways to write down the same words: a recognizer chooses one of them.
TEXTS: dict[str, Sequence[tuple[str, ...]]] = {
    "en": [
        ("Dr. Reed paid $12 for the map.", "Doctor Reed paid twelve dollars for the map."),
        (
            "The museum opens at 10:30 and closes in the evening.",
            "The museum opens at ten thirty and closes in the evening.",
        ),
        ("Nobody in the village had ever seen such a storm.",),
        ("About 40% of the houses lost their roofs.", "About forty percent of the houses lost their roofs."),
        ("The children waited for hours at the old railway station.",),
    ],
    "pt": [
        ("A professora chegou cedo e abriu todas as janelas.",),
        ("O trem parte às 10:30 da estação central.", "O trem parte às 10 e 30 da estação central."),
        ("Comprei 3 livros sobre a história da cidade.", "Comprei três livros sobre a história da cidade."),
        ("O mercado fica perto da igreja, do outro lado da praça.",),
        ("Amanhã vamos visitar os nossos avós no interior.",),
    ],
    "es": [
        ("La biblioteca abre temprano todos los sábados.",),
        ("Mi hermana vive en una casa cerca del río.",),
        ("El 20% de los árboles perdió sus hojas.", "El veinte por ciento de los árboles perdió sus hojas."),
        ("Mañana iremos al mercado para comprar pan y fruta.",),
    ],
}
CLONED = (
    "The garden behind the house was full of roses, and in the evening we sat there and talked about the journey. "
    "My grandfather knew every path through the mountains."
)


async def prove_languages(report: Report, stage: Stage, voices: dict[str, str]) -> None:
    engines = Engines(stage.settings)
    folder = _folder()
    async with httpx.AsyncClient(base_url=stage.api.url, headers=stage.key.headers, timeout=300) as client:
        for language, lines in TEXTS.items():
            text = " ".join(written for written, *_ in lines)
            samples = await spoken(client, voices[language], text, language=language)
            heard = await asyncio.to_thread(hear, engines, samples, language)
            rate = min(word_error_rate(normalize_words(" ".join(way)), heard) for way in product(*lines))
            if folder is not None:
                (folder / f"{language}.raw").write_bytes((samples * 32767).astype("<i2").tobytes())
                (folder / f"{language}.txt").write_text(heard + "\n")
            report.claim(
                f"words wrong when {language} is heard again by whisper-base",
                expected="<= 5 %",
                measured=f"{rate:.1%}: {heard}"[:160],
                holds=rate <= MAX_WER,
            )
            report.figures(**{f"wer_{language}": round(rate, 4)})


async def prove_clone(report: Report, stage: Stage, *, people: int) -> None:
    """Clones of two people, from recordings of them, judged by a model that has no part in the making."""
    engines = Engines(stage.settings)
    judge = await asyncio.to_thread(lambda: Resemblyzer(ensure_weights()))
    clips = clips_folder()
    known = {"two_cities": two_cities(clips), "librivox": sentences(clips)[0]}
    gains, errors = [], []
    async with httpx.AsyncClient(base_url=stage.api.url, headers=stage.key.headers, timeout=300) as client:
        for name, clip in list(known.items())[:people]:
            clone = await _clone(client, name, clips / f"{clip.name}.wav")
            ours = await spoken(client, clone, CLONED, language="en")
            base = await asyncio.to_thread(_base_voice, engines, CLONED, clip.samples)
            person = voice_of(judge, clip.samples)
            near, far = float(voice_of(judge, _at_16k(ours)) @ person), float(voice_of(judge, _at_16k(base)) @ person)
            heard = await asyncio.to_thread(hear, engines, ours, "en")
            rate = word_error_rate(normalize_words(CLONED), heard)
            gains.append(near - far)
            errors.append(rate)
            report.claim(
                f"the clone of {name} is closer to the speaker than the engine's voice, by cosine",
                expected=f">= {MIN_GAIN}",
                measured=f"{near - far:.2f} ({far:.2f} to {near:.2f})",
                holds=near - far >= MIN_GAIN,
            )
            report.claim(
                "... and is understood", expected="<= 8 % wrong", measured=f"{rate:.1%}", holds=rate <= MAX_CLONE_WER
            )
    report.figures(similarity_gain=round(min(gains), 3), wer_clone=round(max(errors), 4))


async def _clone(client: httpx.AsyncClient, name: str, path: Path) -> str:
    made = await client.post(
        "/v1/voices/add", data={"name": name, "labels": '{"language": "en"}'}, files={"files": path.read_bytes()}
    )
    made.raise_for_status()
    voice_id: str = made.json()["voice_id"]
    deadline = time.monotonic() + READY_SECONDS
    while True:
        voice = (await client.get(f"/v1/voices/{voice_id}")).json()
        if voice["status"] != "processing" or time.monotonic() > deadline:
            break
        await asyncio.sleep(0.3)
    if voice["status"] != "ready":
        raise RuntimeError(f"the clone of {name} is {voice['status']}: {voice['error']}")
    return voice_id


async def spoken(client: httpx.AsyncClient, voice_id: str, text: str, *, language: str) -> Samples:
    answer = await client.post(
        f"/v1/text-to-speech/{voice_id}",
        params={"output_format": "pcm_24000"},
        json={"text": text, "language_code": language},
    )
    answer.raise_for_status()
    return samples_of(answer.content)


def samples_of(pcm: bytes) -> Samples:
    return np.frombuffer(pcm, "<i2").astype(np.float32) / np.float32(32767)


def hear(engines: Engines, samples: Samples, language: str) -> str:
    """What whisper-base understands."""
    recording = _at_16k(samples)
    speech = list(engines.voice_activity_detector().detect([recording]))
    words = engines.recognizer().transcribe(recording, language=language, speech=speech).words
    return " ".join(word.text for word in words)


def _base_voice(engines: Engines, text: str, person: Samples) -> Samples:
    """The engine's own voice that such a clone is made from."""
    pitch = median_pitch(person, sample_rate=SAMPLE_RATE, speech=[TimeSpan(0, len(person) / SAMPLE_RATE)])
    speaker = engines.synthesizer()
    chosen = nearest_voice(speaker.voices(), language="en", pitch_hz=pitch or 150.0)
    return speaker.synthesize(text, voice=chosen.name, language=chosen.language).samples


def _at_16k(samples: Samples) -> Samples:
    return resample_speech(SynthesizedSpeech(samples, RATE), SAMPLE_RATE)


def _folder() -> Path | None:
    named = os.environ.get(KEEP)
    if named is None:
        return None
    Path(named).mkdir(parents=True, exist_ok=True)
    return Path(named)
