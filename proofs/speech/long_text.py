"""Synthesizes a long text: no gaps, no clicks where passages join, and no missing words."""

import asyncio
import time

import httpx
import numpy as np

from cutroom.engines.registry import Engines
from dev.fixtures.speech_clips import normalize_words
from proofs.speech.transcription import RATE, samples_of, transcribe
from proofs.stage.report import Report
from proofs.stage.word_comparison import word_error_rate
from tests.support.dialogue import Samples
from tests.support.stage import Stage

MAX_GAP_SECONDS = 1.0
MAX_WER = 0.05
QUIET = 0.003
CLICK = 0.25  # of full scale between two samples; rare in speech at this rate, and never next to silence
QUIET_SAMPLES = 24  # a millisecond
SUBJECTS = ("The baker", "A young doctor", "Our neighbor", "The old captain", "My teacher", "A farmer", "The painter")
ACTIONS = ("walked to the station", "wrote a long letter", "repaired the broken gate", "sang an old song")
PLACES = (
    "before the sun came up",
    "near the stone bridge",
    "while the others were asleep",
    "in the first days of spring",
)


def make_text(characters: int) -> str:
    """Distinct sentences of common words, in paragraphs."""
    found: list[str] = []
    number = 0
    while sum(len(each) + 1 for each in found) < characters - 80:
        subject, action = SUBJECTS[number % 7], ACTIONS[(number // 7) % 4]
        place = PLACES[(number // 28 + number) % 4]
        separator = "\n\n" if number % 12 == 11 else ""
        found.append(f"{subject} {action} {place}, and the others waited.{separator}")
        number += 1
    return " ".join(found)[:characters]


async def prove_long_text(
    report: Report, stage: Stage, engines: Engines, voices: dict[str, str], *, characters: int
) -> None:
    text = make_text(characters)
    started = time.perf_counter()
    async with httpx.AsyncClient(base_url=stage.api.url, headers=stage.key.headers, timeout=600) as client:
        response = await client.post(
            f"/v1/text-to-speech/{voices['en']}", params={"output_format": "pcm_24000"}, json={"text": text}
        )
        response.raise_for_status()
    seconds = time.perf_counter() - started
    samples = samples_of(response.content)
    length, gap, clicks = len(samples) / RATE, longest_gap(samples), count_clicks(samples)
    rate = await asyncio.to_thread(_error_rate, engines, samples, text)
    report.claim(
        f"{len(text)} characters in one request: longest gap",
        expected=f"<= {MAX_GAP_SECONDS} s",
        measured=f"{gap:.2f} s in {length:.0f} s",
        holds=gap <= MAX_GAP_SECONDS and length > len(text) / 25,
    )
    report.claim("... clicks next to silence", expected="0", measured=clicks, holds=clicks == 0)
    report.claim("... word error rate", expected="<= 5 %", measured=f"{rate:.1%}", holds=rate <= MAX_WER)
    report.figures(
        long_characters=len(text),
        long_seconds=round(length, 1),
        long_gap_seconds=round(gap, 2),
        long_clicks=clicks,
        long_wer=round(rate, 4),
        long_times_real_time=round(length / seconds, 2),
    )


def longest_gap(samples: Samples) -> float:
    loud = np.nonzero(np.abs(samples) > QUIET)[0]
    return float(np.diff(loud).max() / RATE) if len(loud) > 1 else len(samples) / RATE


def count_clicks(samples: Samples) -> int:
    """Sample jumps next to silence, as caused by a bad join."""
    jumps = np.nonzero(np.abs(np.diff(samples)) > CLICK)[0]
    clicks = 0
    for at in jumps:
        before = np.abs(samples[max(0, at - QUIET_SAMPLES) : at + 1]).max()
        after = np.abs(samples[at + 1 : at + 1 + QUIET_SAMPLES]).max()
        clicks += min(before, after) < QUIET
    return int(clicks)


def _error_rate(engines: Engines, samples: Samples, text: str) -> float:
    return word_error_rate(normalize_words(text), transcribe(engines, samples, "en"))
