"""Splits phonemes into chunks that a network can speak, and joins their audio with pauses."""

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from cutroom.engines.synthesis.phonemes import CLAUSE_ENDS, SENTENCE_ENDS

if TYPE_CHECKING:
    from cutroom.engines.types import Samples

# Longer input is rushed and drops words. A chunk is cut in its second half, at a sentence end if possible.
CHUNK_PHONEMES = 360

EDGE_SECONDS = 0.06  # silence kept at both ends
SENTENCE_PAUSE_SECONDS = 0.25  # between chunks; pauses within a chunk come from the network
CLAUSE_PAUSE_SECONDS = 0.1
SILENCE_RATIO = 10 ** (-45 / 20)  # relative to the loudest frame
FRAME_SECONDS = 0.01


def split_phonemes(phonemes: str, *, max_phonemes: int = CHUNK_PHONEMES) -> Iterator[str]:
    """Chunks of similar length, cut at a sentence end, else a clause, else a word."""
    rest = phonemes.strip()
    while rest:
        if len(rest) <= max_phonemes:
            yield rest
            return
        target = math.ceil(len(rest) / math.ceil(len(rest) / max_phonemes))  # balanced, so the last chunk is not short
        cut = _best_cut(rest, start=target // 2, end=max_phonemes)
        yield rest[:cut].strip()
        rest = rest[cut:].strip()


def _best_cut(phonemes: str, *, start: int, end: int) -> int:
    for marks in (SENTENCE_ENDS, CLAUSE_ENDS, " "):
        cut = max(phonemes.rfind(mark, start, end) for mark in marks) + 1
        if cut:
            return cut
    return end


def trim_silence(samples: "Samples", sample_rate: int) -> "Samples":
    """Trims silence at both ends, keeping EDGE_SECONDS."""
    import numpy as np  # noqa: PLC0415 - the API process imports this module without it

    frame, edge = round(FRAME_SECONDS * sample_rate), round(EDGE_SECONDS * sample_rate)
    missing = -len(samples) % frame
    loudness = np.sqrt(np.square(np.pad(samples, (0, missing)).reshape(-1, frame)).mean(axis=1))
    audible = np.flatnonzero(loudness > SILENCE_RATIO * max(float(loudness.max()), 1e-6))
    if not len(audible):
        return samples
    return samples[max(0, audible[0] * frame - edge) : (audible[-1] + 1) * frame + edge]


def pause_seconds(phonemes: str) -> float:
    """The pause after a chunk that is not the last."""
    return SENTENCE_PAUSE_SECONDS if phonemes[-1] in SENTENCE_ENDS else CLAUSE_PAUSE_SECONDS


def join_chunks(chunks: Sequence[tuple[str, "Samples"]], sample_rate: int) -> "Samples":
    """The audio of all chunks; each comes with its phonemes, whose last mark tells the pause after it."""
    import numpy as np  # noqa: PLC0415 - see above

    joined = []
    for phonemes, samples in chunks:
        pause = round(pause_seconds(phonemes) * sample_rate)
        joined += [trim_silence(samples, sample_rate), np.zeros(pause, np.float32)]
    return np.concatenate(joined[:-1])
