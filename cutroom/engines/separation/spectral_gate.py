"""Spectral gating: attenuates time-frequency bins that are not louder than the noise floor."""

import math
from typing import TYPE_CHECKING

from cutroom.engines.errors import EngineError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cutroom.engines.types import Samples

    Floats = NDArray[np.float32]

FRAME_SECONDS = 0.032
OVERLAP = 4  # frames covering each sample
BLOCK_SECONDS = 60.0  # bounds memory; the noise floor is estimated per block
BLOCK_OVERLAP_SECONDS = 0.5

# The noise floor is a low quantile of each band's power, scaled up because the noise itself varies.
NOISE_QUANTILE = 0.2
NOISE_FACTOR = 1.6
OVERSUBTRACTION = 1.5
MIN_GAIN = 0.1  # residual noise masks gating artifacts
SMOOTH_FRAMES, SMOOTH_BANDS = 5, 3
MIN_SECONDS = 0.25  # too short to estimate the noise


class SpectralGate:
    """Wiener-style filter with a noise floor estimated from the recording itself."""

    name = "spectral-gate"

    def denoise(self, samples: "Samples", *, sample_rate: int) -> "Samples":
        import numpy as np  # noqa: PLC0415 - the API process imports this module without it

        if samples.ndim != 1 or samples.dtype != np.float32:
            raise EngineError("Samples must be a one-dimensional float32 array.")
        if not np.isfinite(samples).all():
            raise EngineError("The samples contain NaN or infinite values.")
        if len(samples) < MIN_SECONDS * sample_rate:
            return samples.copy()
        block, overlap = round(BLOCK_SECONDS * sample_rate), round(BLOCK_OVERLAP_SECONDS * sample_rate)
        denoised = np.zeros(len(samples), np.float32)
        start = 0
        while start < len(samples):
            end = len(samples) if len(samples) - start < block + 2 * overlap else start + block
            gated = _gate(samples[start:end], frame=_frame_length(sample_rate))
            if start:  # crossfade between blocks
                fade = np.linspace(0.0, 1.0, overlap, dtype=np.float32)
                gated[:overlap] = gated[:overlap] * fade + denoised[start : start + overlap] * (1 - fade)
            denoised[start:end] = gated
            start = end - overlap if end < len(samples) else end
        return denoised


def _frame_length(sample_rate: int) -> int:
    """Frame length rounded to a power of two for the FFT."""
    return 1 << round(math.log2(FRAME_SECONDS * sample_rate))


def _gate(samples: "Samples", *, frame: int) -> "Samples":
    import numpy as np  # noqa: PLC0415 - see above

    hop = frame // OVERLAP
    window = np.sqrt(np.hanning(frame + 1)[:-1]).astype(np.float32)
    padded = np.pad(samples, (frame, frame + -len(samples) % hop))
    frames = np.lib.stride_tricks.sliding_window_view(padded, frame)[::hop] * window
    spectrum = np.fft.rfft(frames, axis=1).astype(np.complex64)
    gains = _gains(np.square(np.abs(spectrum)))
    filtered = np.fft.irfft(spectrum * gains, frame, axis=1).astype(np.float32) * window
    summed = np.zeros(len(padded), np.float32)
    for at, segment in enumerate(filtered):
        summed[at * hop : at * hop + frame] += segment
    return summed[frame : frame + len(samples)] * np.float32(2 / OVERLAP)


def _gains(power: "Floats") -> "Floats":
    import numpy as np  # noqa: PLC0415 - see above

    smoothed_power = _smooth(power)
    noise = np.quantile(smoothed_power, NOISE_QUANTILE, axis=0) * NOISE_FACTOR
    gains = np.maximum(MIN_GAIN, 1 - OVERSUBTRACTION * noise / np.maximum(smoothed_power, 1e-20))
    return _smooth(gains.astype(np.float32))


def _smooth(values: "Floats") -> "Floats":
    """Moving average over time and frequency."""
    import numpy as np  # noqa: PLC0415 - see above

    for axis, width in ((0, SMOOTH_FRAMES), (1, SMOOTH_BANDS)):
        ends = [(0, 0), (0, 0)]
        ends[axis] = (width // 2, width // 2)
        padded = np.pad(values, ends, mode="edge")
        windows = np.lib.stride_tricks.sliding_window_view(padded, width, axis=axis)
        values = windows.mean(axis=-1, dtype=np.float32)
    return values
