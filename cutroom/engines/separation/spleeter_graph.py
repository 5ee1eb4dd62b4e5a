"""The graph of Spleeter's networks as an ONNX model, written here; its weights stay in their safetensors files."""

import json
import math
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cutroom.engines.diarization.embeddings import _message

DEPTH = 6
_MAX_HEAD_BYTES = 1024 * 1024
_FLOATS, _INT, _INTS, _FLOAT = 1, 2, 7, 1  # numbers that ONNX has for types
_EXTERNAL = 1
_FORMAT, _OPERATORS = 7, 13  # versions

_EDGES = (1, 1, 2, 2)  # before and behind, in time and pitch, as TensorFlow has them for steps of 2
_SLOPE = 0.2
_EPSILON = 1e-3


def read_head(path: Path) -> dict[str, tuple[tuple[int, ...], int, int]]:
    """The arrays of a safetensors file of floats: shape, place and size in bytes, by name."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if length > _MAX_HEAD_BYTES:
            raise ValueError(f"{path.name} has no list of its arrays")
        entries = json.loads(file.read(length))
    return {name: _array(entry, behind=8 + length) for name, entry in entries.items()}


def _array(entry: dict[str, Any], *, behind: int) -> tuple[tuple[int, ...], int, int]:
    shape, (start, end) = tuple(entry["shape"]), entry["data_offsets"]
    if entry["dtype"] != "F32" or end - start != 4 * math.prod(shape):
        raise ValueError("there is an array that is not of floats")
    return shape, behind + start, end - start


def model(files: Sequence[Path], *, bins: int) -> bytes:
    """A network for each file, side by side: X goes into all, and each has an output with the name of its file.

    X is 1 x 2 sides x frames x bins, in loudness; so are outputs, from 0 to 1. Frames are a multiple of 2 to the DEPTH.
    """
    nets = [_Net(path) for path in files]
    for net in nets:
        net.write()
    graph = [_message((1, node)) for net in nets for node in net.nodes]
    graph += [_message((5, weight)) for net in nets for weight in net.weights]
    sides, frames = _message((1, 2)), b""  # of any number
    shape = _message((1, _message((1, 1))), (1, sides), (1, frames), (1, _message((1, bins))))
    floats = _message((1, _message((1, _FLOATS), (2, shape))))
    names = [(11, "X"), *((12, path.name) for path in files)]
    graph += [_message((number, _message((1, name), (2, floats)))) for number, name in names]
    written = _message((2, "spleeter")) + b"".join(graph)
    return _message((1, _FORMAT), (8, _message((1, ""), (2, _OPERATORS))), (7, written))


class _Net:
    """One network: what it hears gets smaller six times and as often larger again, with all it saw on the way."""

    def __init__(self, path: Path) -> None:
        self._file = path.name
        self._arrays = read_head(path)
        self.nodes: list[bytes] = []
        self.weights: list[bytes] = []

    def write(self) -> None:
        here, seen = "X", []
        for level in range(1, DEPTH + 1):
            name = f"down{level}_conv.1"
            steps = _ints("strides", (2, 2)), _ints("pads", _EDGES)
            seen.append(self._node("Conv", [here, *self._weights(name, "weight", "bias")], f"{name}", *steps))
            if level < DEPTH:
                here = self._normalise(seen[-1], f"down{level}_act.0")
                here = self._node("LeakyRelu", [here], f"down{level}", _float("alpha", _SLOPE))
        here = seen.pop()
        for level in range(1, DEPTH + 1):
            name = f"up{level}.0"
            steps = _ints("strides", (2, 2)), _ints("pads", _EDGES)
            here = self._node("ConvTranspose", [here, *self._weights(name, "weight", "bias")], name, *steps)
            here = self._normalise(self._node("Relu", [here], f"up{level}.2"), f"up{level}.3")
            if seen:
                here = self._node("Concat", [seen.pop(), here], f"up{level}", _int("axis", 1))
        wide = _ints("dilations", (2, 2)), _ints("pads", (3, 3, 3, 3))
        here = self._node("Conv", [here, *self._weights("up7.0", "weight", "bias")], "up7.0", *wide)
        self.nodes.append(_message((1, here), (2, self._file), (4, "Sigmoid")))

    def _normalise(self, here: str, name: str) -> str:
        weights = self._weights(name, "weight", "bias", "running_mean", "running_var")
        return self._node("BatchNormalization", [here, *weights], name, _float("epsilon", _EPSILON))

    def _node(self, kind: str, inputs: Sequence[str], name: str, *settings: bytes) -> str:
        output = f"{self._file}:{name}"
        named = [*((1, each) for each in inputs), (2, output), (4, kind)]
        self.nodes.append(_message(*named, *((5, setting) for setting in settings)))
        return output

    def _weights(self, layer: str, *names: str) -> list[str]:
        """Says where the weights lie, and what they are called in the graph."""
        called = [f"{self._file}:{layer}.{name}" for name in names]
        for name, own in zip(names, called, strict=True):
            shape, start, size = self._arrays[f"{layer}.{name}"]
            place = {"location": self._file, "offset": str(start), "length": str(size)}
            dims = [(1, dim) for dim in shape]
            where = [(13, _message((1, key), (2, value))) for key, value in place.items()]
            self.weights.append(_message(*dims, (2, _FLOATS), (8, own), *where, (14, _EXTERNAL)))
        return called


def _int(name: str, value: int) -> bytes:
    return _message((1, name), (3, value), (20, _INT))


def _ints(name: str, values: Sequence[int]) -> bytes:
    return _message((1, name), *((8, value) for value in values), (20, _INTS))


def _float(name: str, value: float) -> bytes:
    return _message((1, name), (20, _FLOAT)) + bytes([2 << 3 | 5]) + struct.pack("<f", value)
