"""Source separation with the two Spleeter networks (vocals, accompaniment) in onnxruntime.

The network outputs form a ratio mask over the STFT. The background is the input minus the masked speech, so their sum
is exactly the input.
"""

import threading
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from cutroom.engines.errors import EngineError
from cutroom.engines.models.device import Device
from cutroom.engines.models.onnx import open_session_with_weights
from cutroom.engines.types import OnProgress

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cutroom.engines.types import Stereo

    Floats = NDArray[np.float32]
    Spectrum = NDArray[np.complex64]

GRAPH = Path(__file__).with_name("spleeter-2stems.onnx")
FRAME, HOP = 4096, 1024  # samples
BINS = 1024  # input of the networks, up to 11 kHz
WINDOW_FRAMES = 512  # per inference: 12 s, which bounds memory
FRAMES_STEP = 64  # the six levels of the networks halve their input each

# The mask above 11 kHz repeats its mean from 8 to 11 kHz, where speech is the same sibilance.
HIGH_BINS = slice(744, BINS)

# Input is scaled to the level of the training data.
LEVEL = 300.0  # root of the summed power over both channels and all bins of a frame
MAX_GAIN = 100.0  # keeps the noise floor of silence from being amplified

_TINY = 1e-10


class SpleeterSeparator:
    """Thread-safe: calls are serialized on one session."""

    sample_rate = 44_100

    def __init__(
        self, folder: Path, *, cpu_threads: int = 1, device: Device = Device.CPU, name: str = "spleeter-2stems"
    ) -> None:
        """Takes the model folder as the store returns it."""
        self.name = name
        self._session = open_session_with_weights(GRAPH, folder, name=name, cpu_threads=cpu_threads, device=device)
        self._lock = threading.Lock()

    def separate(self, stereo: "Stereo", *, on_progress: OnProgress | None = None) -> "tuple[Stereo, Stereo]":
        """Processes window by window; extra memory is one window."""
        import numpy as np  # noqa: PLC0415 - the API process imports this module without it

        if stereo.ndim != 2 or stereo.shape[0] != 2 or stereo.dtype != np.float32:
            raise EngineError("Stereo audio must be a float32 array of shape (2, samples).")
        if not np.isfinite(stereo).all():
            raise EngineError("The samples contain NaN or infinite values.")
        length = stereo.shape[1]
        frames = -(-(length + FRAME - HOP) // HOP) if length else 0
        # Pad so that every sample is covered by the same number of frames.
        padded = np.pad(stereo, ((0, 0), (FRAME - HOP, frames * HOP - length)))
        speech = np.zeros_like(padded)
        for start, end in plan_windows(frames):
            samples = slice(start * HOP, (end - 1) * HOP + FRAME)
            speech[:, samples] += self._speech(padded[:, samples])
            if on_progress:
                on_progress(end / frames)
        speech = speech[:, FRAME - HOP : FRAME - HOP + length]
        return speech, stereo - speech

    def _speech(self, stereo: "Stereo") -> "Stereo":
        """Masked speech by overlap-add; the ends fade with the window."""
        import numpy as np  # noqa: PLC0415 - see above

        window = np.hanning(FRAME + 1)[:-1].astype(np.float32)  # periodic
        frames = np.lib.stride_tricks.sliding_window_view(stereo, FRAME, axis=1)[:, ::HOP] * window
        spectrum = np.fft.rfft(frames, axis=-1)
        spectrum *= self._mask(np.abs(spectrum))
        # The squared windows overlap-add to 3/2 at this hop.
        masked = np.fft.irfft(spectrum, FRAME, axis=-1) * (window * np.float32(2 / 3))
        speech = np.zeros_like(stereo)
        for at in range(masked.shape[1]):
            speech[:, at * HOP : at * HOP + FRAME] += masked[:, at]
        return speech

    def _mask(self, magnitude: "Floats") -> "Floats":
        """Speech ratio mask from 0 to 1 for each channel, frame and bin."""
        import numpy as np  # noqa: PLC0415 - see above

        frames = magnitude.shape[1]
        inputs = np.zeros((1, 2, -(-frames // FRAMES_STEP) * FRAMES_STEP, BINS), np.float32)
        inputs[0, :, :frames] = magnitude[..., :BINS] * _gain(magnitude)
        try:
            with self._lock:
                vocals, accompaniment = self._session.run(None, {"X": inputs})
        except Exception as error:  # onnxruntime exposes no common error class
            raise EngineError(f"The model {self.name} failed.") from error
        vocals, accompaniment = np.square(vocals[0, :, :frames]), np.square(accompaniment[0, :, :frames])
        mask = np.empty_like(magnitude)
        mask[..., :BINS] = vocals / (vocals + accompaniment + _TINY)
        power_high = np.square(magnitude[..., HIGH_BINS])
        high = (mask[..., HIGH_BINS] * power_high).sum(axis=-1) / (power_high.sum(axis=-1) + _TINY)
        mask[..., BINS:] = high[..., np.newaxis]
        return mask


def plan_windows(frames: int) -> list[tuple[int, int]]:
    """Adjacent windows of similar length: edges lack context, so no window is short."""
    count = -(-frames // WINDOW_FRAMES)
    edges = [at * frames // count for at in range(count + 1)] if count else []
    return list(pairwise(edges))


def _gain(magnitude: "Floats") -> "np.float32":
    """Gain that brings loud frames to LEVEL; silence does not count."""
    import numpy as np  # noqa: PLC0415 - see above

    power = np.square(magnitude).sum(axis=(0, 2))
    level = np.sqrt(np.square(power).sum() / (power.sum() + _TINY))
    return np.float32(min(MAX_GAIN, LEVEL / (level + _TINY)))
