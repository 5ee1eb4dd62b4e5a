"""What a dub sounds like: its words, its loudness, the music under it, and who speaks."""

import asyncio
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cutroom.engines.registry import Engines
from cutroom.engines.types import SAMPLE_RATE, TimeSpan
from cutroom.platform.storage.objects import Storage
from dev.fixtures.speech_clips import normalise
from proofs.stage.report import Report
from proofs.stage.word_comparison import word_error_rate
from tests.support.dialogue_video import RATE, Film
from tests.support.dub_stage import Dubbed, samples_of
from tests.support.stage import Stage

if TYPE_CHECKING:
    from tests.support.dub_stage import Sound

MAX_WER = 0.12
MAX_LUFS_ERROR = 1.0
MAX_PEAK = -1.0
MIN_CORRELATION = 0.9
MIN_SI_SDR = 8.0
GAP_MARGIN_SECONDS = 0.35
MIN_GAP_SECONDS = 0.3


async def prove_words(report: Report, engines: Engines, made: Mapping[str, Dubbed]) -> None:
    """The finished track, music and all, is heard by whisper-base."""
    rates = []
    for language, dubbed in made.items():
        recording = samples_of(dubbed.track, rate=SAMPLE_RATE, channels=1)[0]
        heard = await asyncio.to_thread(_hear, engines, recording, language)
        said = normalise(" ".join(each["text"] for each in dubbed.segments))
        rate = word_error_rate(said, heard)
        rates.append(rate)
        claim = f"words of the finished track that are heard wrong, {language}"
        report.claim(claim, wanted="<= 12 %", measured=f"{rate:.1%}", holds=rate <= MAX_WER)
    report.figures(wer=round(max(rates), 4))


def _hear(engines: Engines, recording: "Sound", language: str) -> str:
    speech = list(engines.voice_detector().detect([recording]))
    words = engines.recogniser().transcribe(recording, language=language, speech=speech).words
    return " ".join(word.text for word in words)


async def prove_loudness(report: Report, film: Film, dubbed: Dubbed, folder: Path) -> None:
    track = folder / "dub.m4a"
    track.write_bytes(dubbed.track)
    (source, _), (ours, peak) = _loudness(film.path), _loudness(track)
    error = abs(ours - source)
    measured = f"{error:.2f} LU ({source:.1f} to {ours:.1f} LUFS)"
    report.claim("loudness beside the source", wanted="within 1 LU", measured=measured, holds=error <= MAX_LUFS_ERROR)
    report.claim("... true peak", wanted="<= -1 dBTP", measured=f"{peak:.1f}", holds=peak <= MAX_PEAK)
    report.figures(lufs_error=round(error, 2), true_peak=peak)


def _loudness(path: Path) -> tuple[float, float]:
    command = ["ffmpeg", "-hide_banner", "-nostats", "-i", str(path), "-map", "0:a:0", "-af", "ebur128=peak=true"]
    told = subprocess.run([*command, "-f", "null", "-"], capture_output=True, text=True, check=True).stderr
    summary = told[told.rindex("Summary:") :]
    loudness, peak = re.search(r"I:\s+(-?[\d.]+) LUFS", summary), re.search(r"Peak:\s+(-?[\d.]+) dBFS", summary)
    assert loudness is not None
    assert peak is not None
    return float(loudness.group(1)), float(peak.group(1))


async def prove_bed(report: Report, stage: Stage, film: Film, dubbed: Dubbed) -> None:
    """What lies under the speech beside the music as it was made."""
    bed = await _bed(stage, dubbed.video_id)
    music = film.music.T
    count = min(bed.shape[-1], music.shape[-1])
    ratio = float(np.mean([si_sdr(music[channel, :count], bed[channel, :count]) for channel in range(2)]))
    track = samples_of(dubbed.track, rate=RATE, channels=2)
    correlation = _gap_correlation(track, music, film, dubbed)
    report.claim(
        "music in the gaps between speech, finished track beside the music alone",
        wanted=">= 0.9",
        measured=f"{correlation:.3f}",
        holds=correlation >= MIN_CORRELATION,
    )
    report.claim("... everywhere, SI-SDR", wanted=">= 8 dB", measured=f"{ratio:.1f} dB", holds=ratio >= MIN_SI_SDR)
    report.figures(bed_correlation=round(correlation, 4), bed_si_sdr=round(ratio, 2))


async def _bed(stage: Stage, video_id: str) -> "Sound":
    """The bed's pieces, read where the service keeps them: nothing on the wire has the bed alone."""
    storage = Storage.connect(stage.settings)
    prefix = f"libraries/{stage.person.library_id}/videos/{video_id}/dubs/shared/beds/"
    names = [name for name in await storage.names(prefix) if "/bed-" in name]
    pieces = [b"".join([chunk async for chunk in storage.read(name)]) for name in sorted(names)]
    return np.concatenate([samples_of(each, rate=RATE, channels=2) for each in pieces], axis=1)


def si_sdr(wanted: "Sound", found: "Sound") -> float:
    """How much of what was found is what was wanted, in decibels, whatever its level."""
    scale = float(wanted @ found) / float(wanted @ wanted)
    rest = found - scale * wanted
    return float(10 * np.log10(scale**2 * float(wanted @ wanted) / float(rest @ rest)))


def _gap_correlation(track: "Sound", music: "Sound", film: Film, dubbed: Dubbed) -> float:
    """Over all stretches in which nobody speaks, in the source or in the dub."""
    taken = [(start, end) for _, start, end in film.turns] + [(each["start"], each["end"]) for each in dubbed.segments]
    busy = np.zeros(min(track.shape[-1], music.shape[-1]), bool)
    for start, end in taken:
        busy[max(0, round((start - GAP_MARGIN_SECONDS) * RATE)) : round((end + GAP_MARGIN_SECONDS) * RATE)] = True
    edges = np.nonzero(np.diff(np.concatenate([[True], busy, [True]]).astype(np.int8)))[0].reshape(-1, 2)
    gaps = [(int(start), int(end)) for start, end in edges if end - start >= MIN_GAP_SECONDS * RATE]
    if not gaps:
        raise RuntimeError("there is no gap between the lines of the film")
    ours = np.concatenate([track[:, start:end].ravel() for start, end in gaps])
    theirs = np.concatenate([music[:, start:end].ravel() for start, end in gaps])
    return float(np.corrcoef(ours, theirs)[0, 1])


async def prove_voices(report: Report, engines: Engines, dubbed: Dubbed) -> None:
    """Each line is nearer to the other lines of its speaker than to those of the other."""
    profiler = engines.speaker_embedder()
    assert profiler is not None
    recording = samples_of(dubbed.track, rate=SAMPLE_RATE, channels=1)[0]
    vectors: dict[str, list[Sound]] = {}
    for each in dubbed.segments:
        prints = await asyncio.to_thread(profiler.profile, recording, speech=[TimeSpan(each["start"], each["end"])])
        if prints and each["end"] - each["start"] >= 1.2:
            mean = np.mean([one.vector for one in prints], axis=0)
            vectors.setdefault(each["speaker"], []).append(mean / np.linalg.norm(mean))
    right, total = 0, 0
    for speaker, own in vectors.items():
        for at, vector in enumerate(own):
            same = [float(vector @ each) for number, each in enumerate(own) if number != at]
            other = [float(vector @ each) for name, theirs in vectors.items() if name != speaker for each in theirs]
            if same and other:
                total += 1
                right += int(np.mean(same) > np.mean(other))
    told = {each["voice"] for each in dubbed.job["result"]["voices"].values()}
    measured = f"{len(told)} voices, {right} of {total} lines"
    holds = len(vectors) == 2 and len(told) == 2 and right == total > 0
    report.claim("two speakers, two voices, each line in its own", wanted="all lines", measured=measured, holds=holds)
    report.figures(voices=len(told), lines_in_their_voice=right, lines_compared=total)
