"""Takes steady noise out of speech: bands that are no louder than the noise are turned down, moment by moment."""

import math
from typing import TYPE_CHECKING

from cutroom.engines.errors import EngineError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cutroom.engines.types import Samples

    Floats = NDArray[np.float32]

FRAME_SECONDS = 0.032
OVERLAP = 4  # frames over each sample
BLOCK_SECONDS = 60.0  # bounds the memory; noise is measured anew in each
BLOCK_OVERLAP_SECONDS = 0.5

# The quietest moments of each band are noise. Noise itself varies, so its mean lies above them.
NOISE_QUANTILE = 0.2
NOISE_FACTOR = 1.6
OVERSUBTRACTION = 1.5
MIN_GAIN = 0.1  # what is left of the noise covers what the gate does to it
SMOOTH_FRAMES, SMOOTH_BANDS = 5, 3
MIN_SECONDS = 0.25  # of less, nothing can be said about the noise


class SpectralGate:
    """A Wiener filter whose noise is measured in the recording itself."""

    name = "spectral-gate"

    def clean(self, samples: "Samples", *, sample_rate: int) -> "Samples":
        import numpy as np  # noqa: PLC0415 - the API process must be able to import this room without it

        if samples.ndim != 1 or samples.dtype != np.float32:
            raise EngineError("Samples are one row of float32.")
        if not np.isfinite(samples).all():
            raise EngineError("There are samples that are no numbers.")
        if len(samples) < MIN_SECONDS * sample_rate:
            return samples.copy()
        block, overlap = round(BLOCK_SECONDS * sample_rate), round(BLOCK_OVERLAP_SECONDS * sample_rate)
        cleaned = np.zeros(len(samples), np.float32)
        start = 0
        while start < len(samples):
            end = len(samples) if len(samples) - start < block + 2 * overlap else start + block
            part = _gated(samples[start:end], frame=_frame(sample_rate))
            if start:  # from one block's noise to the next one's
                fade = np.linspace(0.0, 1.0, overlap, dtype=np.float32)
                part[:overlap] = part[:overlap] * fade + cleaned[start : start + overlap] * (1 - fade)
            cleaned[start:end] = part
            start = end - overlap if end < len(samples) else end
        return cleaned


def _frame(sample_rate: int) -> int:
    """A number of samples that the transform is quick with."""
    return 1 << round(math.log2(FRAME_SECONDS * sample_rate))


def _gated(samples: "Samples", *, frame: int) -> "Samples":
    import numpy as np  # noqa: PLC0415 - see above

    hop = frame // OVERLAP
    shape = np.sqrt(np.hanning(frame + 1)[:-1]).astype(np.float32)
    padded = np.pad(samples, (frame, frame + -len(samples) % hop))
    frames = np.lib.stride_tricks.sliding_window_view(padded, frame)[::hop] * shape
    spectrum = np.fft.rfft(frames, axis=1).astype(np.complex64)
    gains = _gains(np.square(np.abs(spectrum)))
    back = np.fft.irfft(spectrum * gains, frame, axis=1).astype(np.float32) * shape
    summed = np.zeros(len(padded), np.float32)
    for at, piece in enumerate(back):
        summed[at * hop : at * hop + frame] += piece
    return summed[frame : frame + len(samples)] * np.float32(2 / OVERLAP)


def _gains(power: "Floats") -> "Floats":
    import numpy as np  # noqa: PLC0415 - see above

    heard = _smoothed(power)
    noise = np.quantile(heard, NOISE_QUANTILE, axis=0) * NOISE_FACTOR
    gains = np.maximum(MIN_GAIN, 1 - OVERSUBTRACTION * noise / np.maximum(heard, 1e-20))
    return _smoothed(gains.astype(np.float32))


def _smoothed(values: "Floats") -> "Floats":
    """Means over neighbours in time and in pitch."""
    import numpy as np  # noqa: PLC0415 - see above

    for axis, width in ((0, SMOOTH_FRAMES), (1, SMOOTH_BANDS)):
        ends = [(0, 0), (0, 0)]
        ends[axis] = (width // 2, width // 2)
        padded = np.pad(values, ends, mode="edge")
        windows = np.lib.stride_tricks.sliding_window_view(padded, width, axis=axis)
        values = windows.mean(axis=-1, dtype=np.float32)
    return values
