"""Measures word error rate, word timing and diarization on speech, and hallucinations without speech."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from cutroom.engines.diarization.clustering import Turn
from cutroom.engines.types import SAMPLE_RATE
from dev.fixtures.speech_clips import clips_folder, ensure_clips, music, noise, sentences, silence, two_cities
from proofs.stage.report import Report
from proofs.stage.transcript_stage import (
    THREADS,
    TranscriptResult,
    make_silent_video,
    open_client,
    upload_file,
    wait_for_transcript,
    write_wav,
)
from proofs.stage.word_comparison import WordErrors, compare_words, start_errors
from proofs.transcripts.dialogue import ENGLISH, converse_in_english
from proofs.transcripts.music import music_track
from proofs.transcripts.talks import claim_talks, render_talks
from tests.support.dialogue import DIALOGUE, PAUSE_SECONDS, build_conversation, score
from tests.support.stage import Stage, open_stage

MODEL = "whisper-base"
MAX_WER = 0.05
MAX_START_MS = 120.0
MAX_DER = 0.12
MAX_CONFUSION = 0.02
COLLAR_SECONDS = 0.25  # the usual value; the error without a collar is reported too
WAIT_SECONDS = 1800.0  # for a busy machine
EMPTY_SECONDS = 30


async def prove_accuracy(report: Report, folder: Path, *, short: bool) -> None:
    """Transcribe all files concurrently and check the results."""
    clips = await asyncio.to_thread(ensure_clips, clips_folder())
    recordings = [*sentences(clips), two_cities(clips)]
    paths = {clip.name: clips / f"{clip.name}.wav" for clip in recordings}
    paths["dialogue"] = write_wav(folder / "dialogue.wav", converse_in_english().samples)
    if not short:
        paths["mixed"] = write_wav(folder / "mixed.wav", build_conversation(DIALOGUE).samples)
    without_speech = _without_speech(folder)
    async with open_stage(
        "proof_transcripts", folder / "accuracy", asr_engines=[MODEL], speech_threads=THREADS
    ) as stage:
        talks = await asyncio.to_thread(render_talks, stage.settings, folder, short=short)
        spoken = {talk.slug: rendered.audio_path for talk, rendered in talks}
        results = await _transcripts(stage, {**paths, **without_speech, **spoken})
    errors = [compare_words(clip.text, results[clip.name].words) for clip in recordings]
    _claim_words(report, librivox=errors[:-1], dickens=errors[-1:])
    starts = [start_errors(clip, each) for clip, each in zip(recordings, errors, strict=True)]
    _claim_starts(report, [error for each in starts for error in each], words=sum(each.said for each in errors))
    _claim_speakers(report, results["dialogue"])
    if "mixed" in results:
        _claim_mixed(report, results["mixed"])
    claim_talks(report, talks, results)
    _claim_empty(report, {name: results[name] for name in without_speech})
    flaws = sum(each.flaws for each in results.values())
    claim = "words out of order, without duration, or missing in segments or the word file"
    report.claim(claim, expected="0", measured=flaws, holds=flaws == 0)
    longest = max(word["end"] - word["start"] for each in results.values() for word in each.words)
    report.figures(word_flaws=flaws, longest_word_seconds=round(longest, 2))


async def _transcripts(stage: Stage, paths: Mapping[str, Path]) -> dict[str, TranscriptResult]:
    async with open_client(stage) as client:
        ids = {name: await upload_file(client, path) for name, path in paths.items()}
        found = await asyncio.gather(
            *(wait_for_transcript(stage, client, each, seconds=WAIT_SECONDS) for each in ids.values())
        )
    return dict(zip(ids, found, strict=True))


def _without_speech(folder: Path) -> dict[str, Path]:
    audio = {
        "chords and drums": music(EMPTY_SECONDS),
        "a quiet room": silence(EMPTY_SECONDS),
        "digital silence": np.zeros(EMPTY_SECONDS * SAMPLE_RATE, np.float32),
        "hiss": noise(EMPTY_SECONDS),
    }
    paths = {name: write_wav(folder / f"{name}.wav", samples) for name, samples in audio.items()}
    paths["music"] = music_track(clips_folder())
    paths["a video without audio"] = make_silent_video(folder / "mute.mp4", seconds=8)
    return paths


def _claim_words(report: Report, *, librivox: Sequence[WordErrors], dickens: Sequence[WordErrors]) -> None:
    rates = {}
    for name, errors in (("LibriVox", librivox), ("Dickens", dickens), ("both", [*librivox, *dickens])):
        wrong, total = sum(each.wrong for each in errors), sum(each.said for each in errors)
        rates[name] = round(wrong / total, 4)
        measured = f"{rates[name]:.1%} ({wrong} of {total})"
        report.claim(
            f"word error rate, {name}, {MODEL}", expected="<= 5 %", measured=measured, holds=rates[name] <= MAX_WER
        )
    report.figures(wer=rates["both"], wer_librivox=rates["LibriVox"], wer_dickens=rates["Dickens"])


def _claim_starts(report: Report, errors: Sequence[float], *, words: int) -> None:
    absolute = np.abs(np.array(errors)) * 1000
    median, p90 = round(float(np.median(absolute)), 1), round(float(np.percentile(absolute, 90)), 1)
    bias = round(float(np.median(errors)) * 1000, 1)
    claim = f"word start error against forced alignment, median of {len(errors)} of {words} words, ms"
    measured = f"{median} (p90 {p90}; signed median {bias})"
    report.claim(claim, expected=f"<= {MAX_START_MS:.0f}", measured=measured, holds=median <= MAX_START_MS)
    report.figures(word_start_ms=median, word_start_p90_ms=p90, words_aligned=len(errors))


def _claim_speakers(report: Report, result: TranscriptResult) -> None:
    truth, found = converse_in_english().truth, turns_of(result.words)
    speakers = _claim_speaker_count(report, result, truth, f"speakers in {len(ENGLISH)} turns, all in English")
    collared, bare = score(truth, found, collar_seconds=COLLAR_SECONDS), score(truth, found)
    confusion = max(collared.confusion, bare.confusion)
    claim = "... speaker confusion, with or without a collar"
    report.claim(claim, expected="<= 2 %", measured=f"{confusion:.1%}", holds=confusion <= MAX_CONFUSION)
    claim = f"... word-based diarization error rate, collar {COLLAR_SECONDS} s"
    measured = f"{collared.error:.1%} (without a collar {bare.error:.1%})"
    report.claim(claim, expected="<= 12 %", measured=measured, holds=collared.error <= MAX_DER)
    report.figures(
        speakers=speakers,
        confusion=round(confusion, 4),
        der=round(collared.error, 4),
        der_collar_seconds=COLLAR_SECONDS,
        der_without_collar=round(bare.error, 4),
    )


def _claim_mixed(report: Report, result: TranscriptResult) -> None:
    """One of the four speaks another language; without his words, the word-based error rate means little."""
    truth = build_conversation(DIALOGUE).truth
    speakers = _claim_speaker_count(
        report, result, truth, f"speakers in {len(DIALOGUE)} turns, one of them not in English"
    )
    confusion = score(truth, turns_of(result.words)).confusion
    claim = "... speaker confusion, without a collar"
    report.claim(claim, expected="<= 2 %", measured=f"{confusion:.1%}", holds=confusion <= MAX_CONFUSION)
    report.figures(mixed_speakers=speakers, mixed_confusion=round(confusion, 4))


def _claim_speaker_count(report: Report, result: TranscriptResult, truth: Sequence[Turn], claim: str) -> int:
    expected, found = len({turn.speaker for turn in truth}), len(result.transcript["speakers"])
    report.claim(claim, expected=str(expected), measured=found, holds=found == expected)
    return found


def turns_of(words: Sequence[Mapping[str, Any]]) -> list[Turn]:
    """Merge words of one speaker into turns, with the same maximum pause as in the reference."""
    numbers: dict[str, int] = {}
    found: list[Turn] = []
    for word in words:
        speaker = numbers.setdefault(word["speaker"], len(numbers))
        last = found[-1] if found else None
        if last and last.speaker == speaker and word["start"] - last.end_seconds < PAUSE_SECONDS:
            found[-1] = replace(last, end_seconds=word["end"])
        else:
            found.append(Turn(speaker, word["start"], word["end"]))
    return found


def _claim_empty(report: Report, results: Mapping[str, TranscriptResult]) -> None:
    invented = {name: each.text or "segments" for name, each in results.items() if not each.is_empty}
    claim = f"words without speech: {', '.join(results)}"
    report.claim(claim, expected="ready and empty", measured=invented or "ready and empty", holds=not invented)
    report.figures(empty_files=len(results), invented=sum(len(results[name].words) for name in invented))
