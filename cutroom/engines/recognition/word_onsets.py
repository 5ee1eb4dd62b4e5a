"""Moves words that seem to start in a pause to where the sound begins again."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cutroom.engines.recognition.port import Word
from cutroom.engines.types import SAMPLE_RATE

if TYPE_CHECKING:
    from cutroom.engines.types import Samples

HOP = SAMPLE_RATE // 100
FRAME = 2 * HOP
PAUSE_BELOW_DB = 20.0  # the level of loud speech
LOUD_PERCENTILE = 90
MAX_ONSET_SECONDS = 0.1  # after the start of a word, at which a pause may begin
MAX_SHIFT_SECONDS = 0.6
MIN_LEFT_SECONDS = 0.04  # of the word


def start_at_onsets(words: Sequence[Word], samples: "Samples") -> tuple[Word, ...]:
    """The attention of a recognizer begins early: it gives the pause before a word to the word."""
    import numpy as np  # noqa: PLC0415 - numpy is absent on workers without engines

    if len(samples) < FRAME:
        return tuple(words)
    power = np.lib.stride_tricks.sliding_window_view(np.square(samples, dtype=np.float32), FRAME)[::HOP].mean(axis=1)
    levels = 10 * np.log10(power + 1e-12)
    is_pause = levels < np.percentile(levels, LOUD_PERCENTILE) - PAUSE_BELOW_DB

    def onset(word: Word) -> float:
        first = round(word.start_seconds * SAMPLE_RATE) // HOP
        end = min(word.end_seconds - MIN_LEFT_SECONDS, word.start_seconds + MAX_SHIFT_SECONDS)
        last = min(int(end * SAMPLE_RATE) // HOP, len(is_pause))
        pause = next((at for at in range(first, last) if is_pause[at]), None)
        if pause is None or (pause - first) * HOP > MAX_ONSET_SECONDS * SAMPLE_RATE:
            return word.start_seconds
        begins = next((at for at in range(pause, last) if not is_pause[at]), None)
        return word.start_seconds if begins is None else max(word.start_seconds, begins * HOP / SAMPLE_RATE)

    return tuple(replace(word, start_seconds=onset(word)) for word in words)
