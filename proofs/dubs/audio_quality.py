"""Audio quality of a dub: intelligibility, loudness, background music and speaker voices."""

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
from dev.fixtures.generated_audio import RATE
from dev.fixtures.speech_clips import normalize_words
from proofs.stage.report import Report
from proofs.stage.word_comparison import word_error_rate
from tests.support.dialogue_video import DialogueVideo
from tests.support.dub_stage import FinishedDub, decode_samples
from tests.support.stage import Stage

if TYPE_CHECKING:
    from tests.support.dub_stage import AudioSamples

MAX_WER = 0.12
MAX_LUFS_ERROR = 1.0
MAX_PEAK = -1.0
MIN_CORRELATION = 0.9
MIN_SI_SDR = 8.0
GAP_MARGIN_SECONDS = 0.35
MIN_GAP_SECONDS = 0.3


async def prove_intelligibility(report: Report, engines: Engines, made: Mapping[str, FinishedDub]) -> None:
    """Transcribe the finished track, including music, with whisper-base and compare with its text."""
    rates = []
    for language, finished in made.items():
        recording = decode_samples(finished.track, rate=SAMPLE_RATE, channels=1)[0]
        transcribed = await asyncio.to_thread(_transcribe, engines, recording, language)
        reference = normalize_words(" ".join(each["text"] for each in finished.segments))
        rate = word_error_rate(reference, transcribed)
        rates.append(rate)
        claim = f"word error rate of the finished track, {language}"
        report.claim(claim, expected="<= 12 %", measured=f"{rate:.1%}", holds=rate <= MAX_WER)
    report.figures(wer=round(max(rates), 4))


def _transcribe(engines: Engines, recording: "AudioSamples", language: str) -> str:
    speech = list(engines.voice_activity_detector().detect([recording]))
    words = engines.recognizer().transcribe(recording, language=language, speech=speech).words
    return " ".join(word.text for word in words)


async def prove_loudness(report: Report, video: DialogueVideo, finished: FinishedDub, folder: Path) -> None:
    track = folder / "dub.m4a"
    track.write_bytes(finished.track)
    (source, _), (dubbed, peak) = _loudness(video.path), _loudness(track)
    error = abs(dubbed - source)
    measured = f"{error:.2f} LU ({source:.1f} to {dubbed:.1f} LUFS)"
    report.claim(
        "loudness relative to the source", expected="within 1 LU", measured=measured, holds=error <= MAX_LUFS_ERROR
    )
    report.claim("... true peak", expected="<= -1 dBTP", measured=f"{peak:.1f}", holds=peak <= MAX_PEAK)
    report.figures(lufs_error=round(error, 2), true_peak=peak)


def _loudness(path: Path) -> tuple[float, float]:
    command = ["ffmpeg", "-hide_banner", "-nostats", "-i", str(path), "-map", "0:a:0", "-af", "ebur128=peak=true"]
    output = subprocess.run([*command, "-f", "null", "-"], capture_output=True, text=True, check=True).stderr
    summary = output[output.rindex("Summary:") :]
    loudness, peak = re.search(r"I:\s+(-?[\d.]+) LUFS", summary), re.search(r"Peak:\s+(-?[\d.]+) dBFS", summary)
    assert loudness is not None
    assert peak is not None
    return float(loudness.group(1)), float(peak.group(1))


async def prove_background(report: Report, stage: Stage, video: DialogueVideo, finished: FinishedDub) -> None:
    """Compare the separated background with the original music."""
    background = await _read_background(stage, finished.video_id)
    music = video.music.T
    count = min(background.shape[-1], music.shape[-1])
    ratio = float(np.mean([si_sdr(music[channel, :count], background[channel, :count]) for channel in range(2)]))
    track = decode_samples(finished.track, rate=RATE, channels=2)
    correlation = _gap_correlation(track, music, video, finished)
    report.claim(
        "music between lines: correlation of the finished track with the original",
        expected=">= 0.9",
        measured=f"{correlation:.3f}",
        holds=correlation >= MIN_CORRELATION,
    )
    report.claim(
        "... over the whole video, SI-SDR", expected=">= 8 dB", measured=f"{ratio:.1f} dB", holds=ratio >= MIN_SI_SDR
    )
    report.figures(bed_correlation=round(correlation, 4), bed_si_sdr=round(ratio, 2))


async def _read_background(stage: Stage, video_id: str) -> "AudioSamples":
    """Read the background chunks from storage, because the API does not expose the background alone."""
    storage = Storage.connect(stage.settings)
    prefix = f"libraries/{stage.person.library_id}/videos/{video_id}/dubs/shared/separated/"
    names = [name for name in await storage.names(prefix) if "/background-" in name]
    chunks = [b"".join([chunk async for chunk in storage.read(name)]) for name in sorted(names)]
    return np.concatenate([decode_samples(each, rate=RATE, channels=2) for each in chunks], axis=1)


def si_sdr(expected: "AudioSamples", found: "AudioSamples") -> float:
    """Scale-invariant signal-to-distortion ratio, in decibels."""
    scale = float(expected @ found) / float(expected @ expected)
    rest = found - scale * expected
    return float(10 * np.log10(scale**2 * float(expected @ expected) / float(rest @ rest)))


def _gap_correlation(
    track: "AudioSamples", music: "AudioSamples", video: DialogueVideo, finished: FinishedDub
) -> float:
    """Correlation over all ranges without speech in the source and in the dub."""
    speech = [(start, end) for _, start, end in video.turns] + [
        (each["start"], each["end"]) for each in finished.segments
    ]
    busy = np.zeros(min(track.shape[-1], music.shape[-1]), bool)
    for start, end in speech:
        busy[max(0, round((start - GAP_MARGIN_SECONDS) * RATE)) : round((end + GAP_MARGIN_SECONDS) * RATE)] = True
    edges = np.nonzero(np.diff(np.concatenate([[True], busy, [True]]).astype(np.int8)))[0].reshape(-1, 2)
    gaps = [(int(start), int(end)) for start, end in edges if end - start >= MIN_GAP_SECONDS * RATE]
    if not gaps:
        raise RuntimeError("the video has no gap between lines")
    dub_samples = np.concatenate([track[:, start:end].ravel() for start, end in gaps])
    music_samples = np.concatenate([music[:, start:end].ravel() for start, end in gaps])
    return float(np.corrcoef(dub_samples, music_samples)[0, 1])


async def prove_speaker_voices(report: Report, engines: Engines, finished: FinishedDub) -> None:
    """Each line is more similar to other lines of its speaker than to lines of the other speaker."""
    speaker_embedder = engines.speaker_embedder()
    assert speaker_embedder is not None
    recording = decode_samples(finished.track, rate=SAMPLE_RATE, channels=1)[0]
    vectors: dict[str, list[AudioSamples]] = {}
    for each in finished.segments:
        span = TimeSpan(each["start"], each["end"])
        embeddings = await asyncio.to_thread(speaker_embedder.embed, recording, speech=[span])
        if embeddings and each["end"] - each["start"] >= 1.2:
            mean = np.mean([one.vector for one in embeddings], axis=0)
            vectors.setdefault(each["speaker"], []).append(mean / np.linalg.norm(mean))
    right, total = 0, 0
    for speaker, own in vectors.items():
        for at, vector in enumerate(own):
            same = [float(vector @ each) for number, each in enumerate(own) if number != at]
            other = [float(vector @ each) for name, lines in vectors.items() if name != speaker for each in lines]
            if same and other:
                total += 1
                right += int(np.mean(same) > np.mean(other))
    voices = {each["voice"] for each in finished.job["result"]["voices"].values()}
    measured = f"{len(voices)} voices, {right} of {total} lines"
    holds = len(vectors) == 2 and len(voices) == 2 and right == total > 0
    report.claim(
        "two speakers, two voices, each line in its speaker's voice",
        expected="all lines",
        measured=measured,
        holds=holds,
    )
    report.figures(voices=len(voices), lines_in_their_voice=right, lines_compared=total)
