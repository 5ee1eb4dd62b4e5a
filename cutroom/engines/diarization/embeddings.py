"""How voices sound: two unrelated networks behind one port, in onnxruntime, each with features of its own in numpy."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cutroom.engines.diarization.port import SpeakerEmbedding
from cutroom.engines.errors import EngineError, EngineUnavailableError
from cutroom.engines.models.onnx import open_session
from cutroom.engines.types import SAMPLE_RATE, TimeSpan

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cutroom.engines.types import Samples

    Floats = NDArray[np.float32]

WINDOW_SECONDS = 1.5  # shorter ones say too little about a voice, longer ones hold two voices too often
HOP_SECONDS = 0.75
MIN_WINDOW_SECONDS = 0.4  # a shorter stretch of speech is too little to tell a voice by
MAX_CHUNK_WINDOWS = 24  # neighbours that go through a network together: some 19 s, which bounds the memory

_HOP = 160  # samples between frames of features
_FRAME = 400  # samples in one
_FRAMES_A_SECOND = SAMPLE_RATE // _HOP


def lay_windows(speech: Sequence[TimeSpan], *, duration_seconds: float) -> list[list[TimeSpan]]:
    """Windows laid evenly over each stretch of speech, in a list for each; a short stretch is one window."""
    laid = []
    for span in speech:
        start = max(0.0, span.start_seconds)
        length = min(span.end_seconds, duration_seconds) - start
        if length < MIN_WINDOW_SECONDS:
            continue
        hops = max(0, round((length - WINDOW_SECONDS) / HOP_SECONDS))
        size = WINDOW_SECONDS if hops else length
        starts = [start + at * (length - size) / max(1, hops) for at in range(hops + 1)]
        laid.append([TimeSpan(at, at + size) for at in starts])
    return laid


class WeSpeakerProfiler:
    """ResNet34 of the WeSpeaker project."""

    # The mean cosine from which two groups of windows are one voice. Measured on six voices: windows of one 0.5 and
    # more, of two 0.15 and less. Nearer to the latter, since one voice differs more from one microphone to another.
    same_voice = 0.28

    _FILE = "model.onnx"
    _INPUT = "input_features"
    # The graph ends with: frames -> mean and deviation over time -> one linear layer. We take the frames and do the
    # rest, so that windows that overlap share the costly part; it halves the work.
    _FRAMES, _WEIGHT, _BIAS = "343", "model.seg_1.weight", "model.seg_1.bias"
    _SHRINK = 8  # frames of features to one frame of the network
    _FLOOR = 1e-7  # under the root of the variance, as in the graph

    def __init__(self, folder: Path, *, cpu_threads: int = 1, name: str = "wespeaker") -> None:
        """The model's folder, as the store gives it."""
        self.name = name
        try:
            model = (folder / self._FILE).read_bytes()
        except OSError as error:
            raise EngineUnavailableError(f"The model {name} cannot be loaded.") from error
        outputs = (self._FRAMES, self._WEIGHT, self._BIAS)
        self._session = open_session(_with_outputs(model, outputs), name=name, cpu_threads=cpu_threads)
        self._mel = _mel_kaldi()
        given = self._mel[: self._SHRINK]  # anything will do, since constants do not depend on it
        self._weight, self._bias = self._session.run([self._WEIGHT, self._BIAS], {self._INPUT: given[None]})

    def profile(self, samples: "Samples", *, speech: Sequence[TimeSpan]) -> list[SpeakerEmbedding]:
        """A voice print for each window; the level of the sound does not matter."""
        return [
            SpeakerEmbedding(window, vector)
            for chunk in _chunks(samples, speech)
            for window, vector in zip(chunk, self._embed(samples, chunk), strict=True)
        ]

    def _embed(self, samples: "Samples", chunk: Sequence[TimeSpan]) -> "Floats":
        import numpy as np  # noqa: PLC0415 - the API process must be able to import this room without it

        start = chunk[0].start_seconds
        features = self._features(_cut(samples, TimeSpan(start, chunk[-1].end_seconds)))
        (frames,) = self._session.run([self._FRAMES], {self._INPUT: features[np.newaxis]})
        frames = frames.reshape(-1, frames.shape[-1])
        rate = _FRAMES_A_SECOND / self._SHRINK
        pooled = []
        for window in chunk:
            first = min(round((window.start_seconds - start) * rate), frames.shape[1] - 2)
            part = frames[:, first : max(first + 2, round((window.end_seconds - start) * rate))]
            pooled.append(np.concatenate([part.mean(1), np.sqrt(part.var(1, ddof=1) + self._FLOOR)]))
        return _to_unit(np.stack(pooled) @ self._weight.T + self._bias)

    def _features(self, samples: "Samples") -> "Floats":
        """Logarithms of 80 mel bands the way Kaldi makes them, without what is the same all along: the channel."""
        import numpy as np  # noqa: PLC0415 - see above

        frames = np.lib.stride_tricks.sliding_window_view(samples, _FRAME)[::_HOP] * np.float32(32768)
        frames = frames - frames.mean(axis=1, keepdims=True)
        before = np.concatenate([frames[:, :1], frames[:, :-1]], axis=1)
        shape = np.hamming(_FRAME).astype(np.float32)
        power = np.abs(np.fft.rfft((frames - np.float32(0.97) * before) * shape, 512)) ** 2
        bands: Floats = np.log(np.maximum(power @ self._mel, np.finfo(np.float32).eps))
        bands -= bands.mean(axis=0)
        return bands


def _chunks(samples: "Samples", speech: Sequence[TimeSpan]) -> Iterator[list[TimeSpan]]:
    """Windows that go through a network together; they are of one stretch of speech."""
    import numpy as np  # noqa: PLC0415 - see above

    if samples.ndim != 1 or samples.dtype != np.float32:
        raise EngineError("Samples are one row of float32.")
    for windows in lay_windows(speech, duration_seconds=len(samples) / SAMPLE_RATE):
        for at in range(0, len(windows), MAX_CHUNK_WINDOWS):
            yield windows[at : at + MAX_CHUNK_WINDOWS]


def _cut(samples: "Samples", span: TimeSpan) -> "Samples":
    import numpy as np  # noqa: PLC0415 - see above

    part = samples[round(span.start_seconds * SAMPLE_RATE) : round(span.end_seconds * SAMPLE_RATE)]
    if not np.isfinite(part).all():
        raise EngineError("There are samples that are no numbers.")
    return part


def _to_unit(vectors: "Floats") -> "Floats":
    import numpy as np  # noqa: PLC0415 - see above

    units: Floats = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return units


def _mel_kaldi() -> "Floats":
    """80 triangles between 20 Hz and 8 kHz, straight on Kaldi's mel scale, over 257 bins; the last bin is left out."""
    import numpy as np  # noqa: PLC0415 - see above

    low, high = 1127 * np.log1p(np.array([20, SAMPLE_RATE / 2]) / 700)
    edges = np.linspace(low, high, 82)
    bins = 1127 * np.log1p(np.arange(257) * SAMPLE_RATE / 512 / 700)[:, np.newaxis]
    bands = _triangles(bins, edges)
    bands[-1] = 0
    return bands


def _triangles(bins: "NDArray[Any]", edges: "NDArray[Any]") -> "Floats":
    import numpy as np  # noqa: PLC0415 - see above

    left, middle, right = edges[:-2], edges[1:-1], edges[2:]
    rise, fall = (bins - left) / (middle - left), (right - bins) / (right - middle)
    bands: Floats = np.maximum(0, np.minimum(rise, fall)).astype(np.float32)
    return bands


def _with_outputs(model: bytes, names: Sequence[str]) -> bytes:
    """The ONNX model with more outputs. What is written behind a protobuf message is merged with it: lists grow."""
    return model + _message((7, _message(*((12, _message((1, name))) for name in names))))


def _message(*fields: tuple[int, int | str | bytes]) -> bytes:
    """A protobuf message, the form of ONNX files: numbered fields, each a number or bytes behind their length."""
    written = b""
    for number, value in fields:
        if isinstance(value, int):
            written += _varint(number << 3) + _varint(value)
        else:
            data = value.encode() if isinstance(value, str) else value
            written += _varint(number << 3 | 2) + _varint(len(data)) + data
    return written


def _varint(number: int) -> bytes:
    low = number & 127
    return bytes([low]) if number == low else bytes([low | 128]) + _varint(number >> 7)
