"""How high a voice is: the median of its fundamental frequency, by autocorrelation."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cutroom.engines.types import TimeSpan

if TYPE_CHECKING:
    from cutroom.engines.types import Samples

LOWEST_HZ, HIGHEST_HZ = 60.0, 400.0
WINDOW_SECONDS = 0.04
STEP_SECONDS = 0.02
MAX_SECONDS = 60.0  # of speech that are looked at
VOICED = 0.5  # how alike a window must be to itself one period later
MIN_VOICED_WINDOWS = 10


def median_pitch(samples: "Samples", *, sample_rate: int, speech: Sequence[TimeSpan]) -> float | None:
    """In hertz, over what is voiced; nothing where too little is."""
    import numpy as np  # noqa: PLC0415 - the API process must be able to import this room without it

    window, step = round(WINDOW_SECONDS * sample_rate), round(STEP_SECONDS * sample_rate)
    shortest, longest = int(sample_rate / HIGHEST_HZ), int(sample_rate / LOWEST_HZ)
    found: list[float] = []
    left = round(MAX_SECONDS * sample_rate)
    for span in speech:
        piece = samples[round(span.start_seconds * sample_rate) : round(span.end_seconds * sample_rate)][:left]
        left -= len(piece)
        for start in range(0, len(piece) - window - longest, step):
            here = piece[start : start + window] - piece[start : start + window].mean()
            later = np.lib.stride_tricks.sliding_window_view(piece[start + shortest : start + longest + window], window)
            norms = np.linalg.norm(later, axis=1) * np.linalg.norm(here) + 1e-9
            likeness = (later @ here) / norms
            best = int(likeness.argmax())
            if likeness[best] >= VOICED:
                # The shortest period that is nearly as good: twice the period fits as well as the period.
                near = int(np.nonzero(likeness >= 0.92 * likeness[best])[0][0])
                found.append(sample_rate / (shortest + near + _to_peak(likeness[near:])))
    if len(found) < MIN_VOICED_WINDOWS:
        return None
    return round(float(np.median(found)), 1)


def _to_peak(likeness: "Samples") -> int:
    """How many steps uphill to the next peak."""
    at = 0
    while at + 1 < len(likeness) and likeness[at + 1] > likeness[at]:
        at += 1
    return at
