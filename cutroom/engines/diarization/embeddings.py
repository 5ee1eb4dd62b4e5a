"""Speaker embeddings with WeSpeaker ResNet34 in onnxruntime."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cutroom.engines.diarization.port import SpeakerEmbedding
from cutroom.engines.errors import EngineError, EngineUnavailableError
from cutroom.engines.models.device import Device
from cutroom.engines.models.onnx import encode_protobuf, open_session
from cutroom.engines.types import SAMPLE_RATE, OnProgress, TimeSpan

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cutroom.engines.types import Samples

    Floats = NDArray[np.float32]

WINDOW_SECONDS = 1.5  # shorter windows are unreliable, longer ones often mix speakers
HOP_SECONDS = 0.75
MIN_WINDOW_SECONDS = 0.4  # shorter speech is skipped
MAX_CHUNK_WINDOWS = 24  # windows per inference: about 19 s, which bounds memory

_HOP = 160  # samples between feature frames
_FRAME = 400  # samples per feature frame
_FRAMES_PER_SECOND = SAMPLE_RATE // _HOP


def plan_windows(speech: Sequence[TimeSpan], *, duration_seconds: float) -> list[list[TimeSpan]]:
    """Evenly spaced windows for each speech span; a short span is one window."""
    planned = []
    for span in speech:
        start = max(0.0, span.start_seconds)
        length = min(span.end_seconds, duration_seconds) - start
        if length < MIN_WINDOW_SECONDS:
            continue
        hops = max(0, round((length - WINDOW_SECONDS) / HOP_SECONDS))
        size = WINDOW_SECONDS if hops else length
        starts = [start + at * (length - size) / max(1, hops) for at in range(hops + 1)]
        planned.append([TimeSpan(at, at + size) for at in starts])
    return planned


class WeSpeakerEmbedder:
    """Embedder with the WeSpeaker ResNet34 model."""

    # Measured on six speakers: same-speaker clusters are at 0.5 or more, different speakers at 0.15 or less. Closer to
    # the latter, because one speaker varies across microphones.
    same_speaker_threshold = 0.28

    _FILE = "model.onnx"
    _INPUT = "input_features"
    # The graph ends with statistics pooling and a linear layer. We read the frames and apply both ourselves, so that
    # overlapping windows share the convolutions, which halves the work.
    _FRAMES, _WEIGHT, _BIAS = "343", "model.seg_1.weight", "model.seg_1.bias"
    _SHRINK = 8  # feature frames per network frame
    _FLOOR = 1e-7  # variance floor, as in the graph

    def __init__(
        self, folder: Path, *, cpu_threads: int = 1, device: Device = Device.CPU, name: str = "wespeaker"
    ) -> None:
        """Takes the model folder as the store returns it."""
        self.name = name
        try:
            model = (folder / self._FILE).read_bytes()
        except OSError as error:
            raise EngineUnavailableError(f"The model {name} cannot be loaded.") from error
        outputs = (self._FRAMES, self._WEIGHT, self._BIAS)
        self._session = open_session(_with_outputs(model, outputs), name=name, cpu_threads=cpu_threads, device=device)
        self._mel = _mel_kaldi()
        dummy = self._mel[: self._SHRINK]  # the weights are constants, independent of the input
        self._weight, self._bias = self._session.run([self._WEIGHT, self._BIAS], {self._INPUT: dummy[None]})

    def embed(
        self, samples: "Samples", *, speech: Sequence[TimeSpan], on_progress: OnProgress | None = None
    ) -> list[SpeakerEmbedding]:
        """One embedding per window; independent of the audio level."""
        embeddings: list[SpeakerEmbedding] = []
        chunks = list(window_chunks(samples, speech))
        for done, chunk in enumerate(chunks, start=1):
            vectors = self._embed_windows(samples, chunk)
            embeddings += [SpeakerEmbedding(window, vector) for window, vector in zip(chunk, vectors, strict=True)]
            if on_progress:
                on_progress(done / len(chunks))
        return embeddings

    def _embed_windows(self, samples: "Samples", chunk: Sequence[TimeSpan]) -> "Floats":
        import numpy as np  # noqa: PLC0415 - the API process imports this module without it

        start = chunk[0].start_seconds
        features = self._features(cut_samples(samples, TimeSpan(start, chunk[-1].end_seconds)))
        (frames,) = self._session.run([self._FRAMES], {self._INPUT: features[np.newaxis]})
        frames = frames.reshape(-1, frames.shape[-1])
        rate = _FRAMES_PER_SECOND / self._SHRINK
        pooled = []
        for window in chunk:
            first = min(round((window.start_seconds - start) * rate), frames.shape[1] - 2)
            segment = frames[:, first : max(first + 2, round((window.end_seconds - start) * rate))]
            pooled.append(np.concatenate([segment.mean(1), np.sqrt(segment.var(1, ddof=1) + self._FLOOR)]))
        return to_unit_length(np.stack(pooled) @ self._weight.T + self._bias)

    def _features(self, samples: "Samples") -> "Floats":
        """Kaldi-style 80-band log mel features with cepstral mean normalization."""
        import numpy as np  # noqa: PLC0415 - see above

        frames = np.lib.stride_tricks.sliding_window_view(samples, _FRAME)[::_HOP] * np.float32(32768)
        frames = frames - frames.mean(axis=1, keepdims=True)
        previous = np.concatenate([frames[:, :1], frames[:, :-1]], axis=1)
        shape = np.hamming(_FRAME).astype(np.float32)
        power = np.abs(np.fft.rfft((frames - np.float32(0.97) * previous) * shape, 512)) ** 2
        bands: Floats = np.log(np.maximum(power @ self._mel, np.finfo(np.float32).eps))
        bands -= bands.mean(axis=0)
        return bands


def window_chunks(samples: "Samples", speech: Sequence[TimeSpan]) -> Iterator[list[TimeSpan]]:
    """Groups of windows for one inference, each from one speech span."""
    import numpy as np  # noqa: PLC0415 - see above

    if samples.ndim != 1 or samples.dtype != np.float32:
        raise EngineError("Samples must be a one-dimensional float32 array.")
    for windows in plan_windows(speech, duration_seconds=len(samples) / SAMPLE_RATE):
        for at in range(0, len(windows), MAX_CHUNK_WINDOWS):
            yield windows[at : at + MAX_CHUNK_WINDOWS]


def cut_samples(samples: "Samples", span: TimeSpan) -> "Samples":
    import numpy as np  # noqa: PLC0415 - see above

    segment = samples[round(span.start_seconds * SAMPLE_RATE) : round(span.end_seconds * SAMPLE_RATE)]
    if not np.isfinite(segment).all():
        raise EngineError("The samples contain NaN or infinite values.")
    return segment


def to_unit_length(vectors: "Floats") -> "Floats":
    import numpy as np  # noqa: PLC0415 - see above

    units: Floats = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return units


def _mel_kaldi() -> "Floats":
    """80 triangular filters from 20 Hz to 8 kHz on Kaldi's mel scale over 257 bins; the last bin is zero."""
    import numpy as np  # noqa: PLC0415 - see above

    low, high = 1127 * np.log1p(np.array([20, SAMPLE_RATE / 2]) / 700)
    edges = np.linspace(low, high, 82)
    bins = 1127 * np.log1p(np.arange(257) * SAMPLE_RATE / 512 / 700)[:, np.newaxis]
    bands = triangular_filters(bins, edges)
    bands[-1] = 0
    return bands


def triangular_filters(bins: "NDArray[Any]", edges: "NDArray[Any]") -> "Floats":
    import numpy as np  # noqa: PLC0415 - see above

    left, middle, right = edges[:-2], edges[1:-1], edges[2:]
    rise, fall = (bins - left) / (middle - left), (right - bins) / (right - middle)
    bands: Floats = np.maximum(0, np.minimum(rise, fall)).astype(np.float32)
    return bands


def _with_outputs(model: bytes, names: Sequence[str]) -> bytes:
    """Adds outputs to an ONNX model: bytes appended to a protobuf message are merged into its repeated fields."""
    return model + encode_protobuf((7, encode_protobuf(*((12, encode_protobuf((1, name))) for name in names))))
