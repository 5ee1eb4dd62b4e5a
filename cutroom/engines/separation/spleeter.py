"""Takes speech apart from music and effects with the two networks of Spleeter, in onnxruntime.

Each network says for every moment and pitch how much of it is its own: one for voices, one for all else. Their shares
become one mask of speech. What the mask leaves out is the rest, so nothing that was given is lost.
"""

import threading
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from cutroom.engines.errors import EngineError, EngineUnavailableError
from cutroom.engines.models.onnx import Session, open_session
from cutroom.engines.separation import spleeter_graph

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cutroom.engines.types import Stereo

    Floats = NDArray[np.float32]
    Spectrum = NDArray[np.complex64]

FRAME, HOP = 4096, 1024  # samples
BINS = 1024  # which the networks know: up to 11 kHz
WINDOW_FRAMES = 512  # that go through the networks at once: 12 s, which bounds the memory
FRAMES_STEP = 2**spleeter_graph.DEPTH  # as often as the networks halve what they get

# Above 11 kHz speech has its share of what it has from 8 kHz on, where it is the same hissing.
HIGH_BINS = slice(744, BINS)

# Networks do worse with what is quieter or louder than they were trained with.
LEVEL = 300.0  # of a frame: the root of the sum over both sides and all bins
MAX_GAIN = 100.0  # so that the noise of silence is not taken for sound

_TINY = 1e-10
_WEIGHTS = "session.model_external_initializers_file_folder_path"
_FILES = ("vocals.safetensors", "accompaniment.safetensors")


class SpleeterSeparator:
    """One pair of networks for all calls of the process; calls from several threads wait for each other."""

    sample_rate = 44_100

    def __init__(self, folder: Path, *, cpu_threads: int = 1, name: str = "spleeter-2stems") -> None:
        """The model's folder, as the store gives it."""
        self.name = name
        self._session = _open(folder, name=name, cpu_threads=cpu_threads)
        self._running = threading.Lock()

    def separate(self, stereo: "Stereo") -> "tuple[Stereo, Stereo]":
        """Speech and the rest, of any length; memory beyond them holds one window."""
        import numpy as np  # noqa: PLC0415 - the API process must be able to import this room without it

        if stereo.ndim != 2 or stereo.shape[0] != 2 or stereo.dtype != np.float32:
            raise EngineError("Stereo is two rows of float32.")
        if not np.isfinite(stereo).all():
            raise EngineError("There are samples that are no numbers.")
        length = stereo.shape[1]
        frames = -(-(length + FRAME - HOP) // HOP) if length else 0
        # Every sample lies in as many frames as any other.
        padded = np.pad(stereo, ((0, 0), (FRAME - HOP, frames * HOP - length)))
        speech = np.zeros_like(padded)
        for start, end in lay_windows(frames):
            samples = slice(start * HOP, (end - 1) * HOP + FRAME)
            speech[:, samples] += self._speech(padded[:, samples])
        speech = speech[:, FRAME - HOP : FRAME - HOP + length]
        return speech, stereo - speech

    def _speech(self, stereo: "Stereo") -> "Stereo":
        """The speech in whole frames; where they end, it fades like them."""
        import numpy as np  # noqa: PLC0415 - see above

        shape = np.hanning(FRAME + 1)[:-1].astype(np.float32)  # the periodic form
        pieces = np.lib.stride_tricks.sliding_window_view(stereo, FRAME, axis=1)[:, ::HOP] * shape
        spectrum = np.fft.rfft(pieces, axis=-1)
        spectrum *= self._mask(np.abs(spectrum))
        # The squares of the window, laid over each other at these steps, are 3/2 everywhere.
        back = np.fft.irfft(spectrum, FRAME, axis=-1) * (shape * np.float32(2 / 3))
        speech = np.zeros_like(stereo)
        for at in range(back.shape[1]):
            speech[:, at * HOP : at * HOP + FRAME] += back[:, at]
        return speech

    def _mask(self, loudness: "Floats") -> "Floats":
        """The share of speech, from 0 to 1, for both sides and every frame and bin."""
        import numpy as np  # noqa: PLC0415 - see above

        frames = loudness.shape[1]
        given = np.zeros((1, 2, -(-frames // FRAMES_STEP) * FRAMES_STEP, BINS), np.float32)
        given[0, :, :frames] = loudness[..., :BINS] * _gain(loudness)
        try:
            with self._running:
                voices, others = self._session.run(None, {"X": given})
        except Exception as error:  # onnxruntime's own errors have no public class in common
            raise EngineError(f"The model {self.name} failed.") from error
        voices, others = np.square(voices[0, :, :frames]), np.square(others[0, :, :frames])
        mask = np.empty_like(loudness)
        mask[..., :BINS] = voices / (voices + others + _TINY)
        heard = np.square(loudness[..., HIGH_BINS])
        high = (mask[..., HIGH_BINS] * heard).sum(axis=-1) / (heard.sum(axis=-1) + _TINY)
        mask[..., BINS:] = high[..., np.newaxis]
        return mask


def lay_windows(frames: int) -> list[tuple[int, int]]:
    """Windows of like length side by side: what is near an edge is heard without its surroundings, so none is short."""
    count = -(-frames // WINDOW_FRAMES)
    edges = [at * frames // count for at in range(count + 1)] if count else []
    return list(pairwise(edges))


def _gain(loudness: "Floats") -> "np.float32":
    """What brings loud moments to the level that the networks know best; silence between them does not count."""
    import numpy as np  # noqa: PLC0415 - see above

    power = np.square(loudness).sum(axis=(0, 2))
    level = np.sqrt(np.square(power).sum() / (power.sum() + _TINY))
    return np.float32(min(MAX_GAIN, LEVEL / (level + _TINY)))


def _open(folder: Path, *, name: str, cpu_threads: int) -> Session:
    try:
        model = spleeter_graph.model([folder / file for file in _FILES], bins=BINS)
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise EngineUnavailableError(f"The model {name} cannot be loaded.") from error
    return open_session(model, name=name, cpu_threads=cpu_threads, entries={_WEIGHTS: str(folder)})
