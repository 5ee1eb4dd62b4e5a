"""Median fundamental frequency of a voice, by WORLD's DIO and StoneMask (pyworld)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cutroom.engines.errors import EngineUnavailableError
from cutroom.engines.types import TimeSpan

if TYPE_CHECKING:
    from cutroom.engines.types import Samples

LOWEST_HZ, HIGHEST_HZ = 60.0, 400.0
FRAME_MILLISECONDS = 10.0
MAX_SECONDS = 60.0  # of speech analyzed
MIN_VOICED_FRAMES = 20


def median_pitch(samples: "Samples", *, sample_rate: int, speech: Sequence[TimeSpan]) -> float | None:
    """Median pitch in Hz over voiced frames, or None if there are too few."""
    import numpy as np  # noqa: PLC0415 - the API process imports this module without it

    try:
        import pyworld  # noqa: PLC0415 - optional dependency
    except ImportError as error:
        raise EngineUnavailableError("pyworld is not installed.") from error
    remaining = round(MAX_SECONDS * sample_rate)
    voiced: list[float] = []
    for span in speech:
        audio = samples[round(span.start_seconds * sample_rate) : round(span.end_seconds * sample_rate)][:remaining]
        remaining -= len(audio)
        if len(audio) < sample_rate * FRAME_MILLISECONDS / 1000:
            continue
        signal = audio.astype(np.float64)
        coarse, times = pyworld.dio(
            signal, sample_rate, f0_floor=LOWEST_HZ, f0_ceil=HIGHEST_HZ, frame_period=FRAME_MILLISECONDS
        )
        pitch = pyworld.stonemask(signal, coarse, times, sample_rate)
        voiced += pitch[pitch > 0].tolist()
    if len(voiced) < MIN_VOICED_FRAMES:
        return None
    return round(float(np.median(voiced)), 1)
