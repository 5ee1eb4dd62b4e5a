"""Compares words: with those that were read, and their times with those of an aligner that knows the text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jiwer
from pocketsphinx import Decoder

from cutroom.engines.types import SAMPLE_RATE
from dev.fixtures.speech_clips import Clip, normalise
from proofs.stage.transcript_stage import to_pcm

ALIGNER_FRAMES_A_SECOND = 100


@dataclass(frozen=True, slots=True)
class WordErrors:
    """How many words were said, how many are wrong, missing or too many, and when each right one starts."""

    said: int
    wrong: int
    starts: Mapping[int, float]  # by the word's place in the text that was read


def compare_words(text: str, words: Sequence[Mapping[str, Any]]) -> WordErrors:
    """The text is one that is normal already."""
    heard: list[str] = []
    starts: dict[int, float] = {}
    for word in words:
        parts = normalise(word["text"]).split()
        if parts:
            starts[len(heard)] = word["start"]  # of a compound only the first part has a time
        heard += parts
    compared = jiwer.process_words(text, " ".join(heard))
    known: dict[int, float] = {}
    for chunk in compared.alignments[0]:
        if chunk.type == "equal":
            for offset in range(chunk.ref_end_idx - chunk.ref_start_idx):
                if chunk.hyp_start_idx + offset in starts:
                    known[chunk.ref_start_idx + offset] = starts[chunk.hyp_start_idx + offset]
    wrong = compared.substitutions + compared.deletions + compared.insertions
    return WordErrors(len(text.split()), wrong, known)


def word_error_rate(text: str, heard: str) -> float:
    return float(jiwer.wer(text, normalise(heard)))


def start_errors(clip: Clip, errors: WordErrors) -> list[float]:
    """How much later than the aligner each right word starts, in seconds."""
    aligned = align(clip)
    return [start - aligned[place] for place, start in errors.starts.items()]


def align(clip: Clip) -> list[float]:
    """When each word of a clip starts, by an aligner that is told what was said."""
    decoder = Decoder(samprate=SAMPLE_RATE, lm=None, loglevel="FATAL")
    decoder.set_align_text(clip.text)
    decoder.start_utt()
    decoder.process_raw(to_pcm(clip.samples), full_utt=True)
    decoder.end_utt()
    # Silences and the marks of beginning and end have names in brackets; "to(3)" is another way to say "to".
    found = [(each.word.partition("(")[0], each.start_frame) for each in decoder.seg() if each.word[0] not in "<["]
    if [word for word, _ in found] != clip.text.split():
        raise ValueError(f"The clip {clip.name} cannot be aligned with its text.")
    return [frame / ALIGNER_FRAMES_A_SECOND for _, frame in found]
