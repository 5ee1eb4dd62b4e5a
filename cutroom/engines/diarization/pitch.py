"""Median fundamental frequency of a voice by autocorrelation."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cutroom.engines.types import TimeSpan

if TYPE_CHECKING:
    from cutroom.engines.types import Samples

LOWEST_HZ, HIGHEST_HZ = 60.0, 400.0
WINDOW_SECONDS = 0.04
STEP_SECONDS = 0.02
MAX_SECONDS = 60.0  # of speech analyzed
VOICED_CORRELATION = 0.5  # normalized autocorrelation of a voiced window
MIN_VOICED_WINDOWS = 10


def median_pitch(samples: "Samples", *, sample_rate: int, speech: Sequence[TimeSpan]) -> float | None:
    """Median pitch in Hz over voiced windows, or None if there are too few.

    The pitches of the stock voices were measured by this function. WORLD's DIO gives medians that are 1 to 6 % lower,
    which matched speakers with other voices: 78 % of a dub's lines kept their time instead of all.
    """
    import numpy as np  # noqa: PLC0415 - the API process imports this module without it

    window, step = round(WINDOW_SECONDS * sample_rate), round(STEP_SECONDS * sample_rate)
    shortest, longest = int(sample_rate / HIGHEST_HZ), int(sample_rate / LOWEST_HZ)
    pitches: list[float] = []
    remaining = round(MAX_SECONDS * sample_rate)
    for span in speech:
        audio = samples[round(span.start_seconds * sample_rate) : round(span.end_seconds * sample_rate)][:remaining]
        remaining -= len(audio)
        for start in range(0, len(audio) - window - longest, step):
            current = audio[start : start + window] - audio[start : start + window].mean()
            shifted = np.lib.stride_tricks.sliding_window_view(
                audio[start + shortest : start + longest + window], window
            )
            norms = np.linalg.norm(shifted, axis=1) * np.linalg.norm(current) + 1e-9
            correlation = (shifted @ current) / norms
            best = int(correlation.argmax())
            if correlation[best] >= VOICED_CORRELATION:
                # Take the shortest period that correlates nearly as well, because multiples of the period also match.
                near = int(np.nonzero(correlation >= 0.92 * correlation[best])[0][0])
                pitches.append(sample_rate / (shortest + near + _steps_to_peak(correlation[near:])))
    if len(pitches) < MIN_VOICED_WINDOWS:
        return None
    return round(float(np.median(pitches)), 1)


def _steps_to_peak(correlation: "Samples") -> int:
    """Steps from the start to the next local maximum."""
    at = 0
    while at + 1 < len(correlation) and correlation[at + 1] > correlation[at]:
        at += 1
    return at
