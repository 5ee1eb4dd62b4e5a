"""Compares recognized words with the reference text, and their start times with a forced aligner."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jiwer
from pocketsphinx import Decoder

from cutroom.engines.types import SAMPLE_RATE
from dev.fixtures.speech_clips import Clip, normalize_words
from proofs.stage.transcript_stage import to_pcm

ALIGNER_FRAMES_PER_SECOND = 100


@dataclass(frozen=True, slots=True)
class WordErrors:
    """Reference word count, error count (substitutions, deletions, insertions), and start of each correct word."""

    said: int
    wrong: int
    starts: Mapping[int, float]  # by index of the reference word


def compare_words(text: str, words: Sequence[Mapping[str, Any]]) -> WordErrors:
    """`text` must be normalized."""
    transcribed: list[str] = []
    starts: dict[int, float] = {}
    for word in words:
        tokens = normalize_words(word["text"]).split()
        if tokens:
            starts[len(transcribed)] = word["start"]  # only the first word of a compound has a time
        transcribed += tokens
    compared = jiwer.process_words(text, " ".join(transcribed))
    known: dict[int, float] = {}
    for chunk in compared.alignments[0]:
        if chunk.type == "equal":
            for offset in range(chunk.ref_end_idx - chunk.ref_start_idx):
                if chunk.hyp_start_idx + offset in starts:
                    known[chunk.ref_start_idx + offset] = starts[chunk.hyp_start_idx + offset]
    wrong = compared.substitutions + compared.deletions + compared.insertions
    return WordErrors(len(text.split()), wrong, known)


def word_error_rate(text: str, transcribed: str) -> float:
    return float(jiwer.wer(text, normalize_words(transcribed)))


def start_errors(clip: Clip, errors: WordErrors) -> list[float]:
    """Start of each correct word minus its start by the aligner, in seconds."""
    aligned = align(clip)
    return [start - aligned[place] for place, start in errors.starts.items()]


def align(clip: Clip) -> list[float]:
    """Start of each word of a clip, by forced alignment with its text."""
    decoder = Decoder(samprate=SAMPLE_RATE, lm=None, loglevel="FATAL")
    decoder.set_align_text(clip.text)
    decoder.start_utt()
    decoder.process_raw(to_pcm(clip.samples), full_utt=True)
    decoder.end_utt()
    # Silence and sentence markers are bracketed; "to(3)" is a pronunciation variant of "to".
    found = [(each.word.partition("(")[0], each.start_frame) for each in decoder.seg() if each.word[0] not in "<["]
    if [word for word, _ in found] != clip.text.split():
        raise ValueError(f"clip {clip.name} cannot be aligned with its text")
    return [frame / ALIGNER_FRAMES_PER_SECOND for _, frame in found]
