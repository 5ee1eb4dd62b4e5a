"""ONNX graphs without weights: their initializers are external data inside a safetensors file."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

IR_VERSION, OPSET = 8, 17


@dataclass(frozen=True, slots=True)
class ExternalArray:
    """A float array inside a safetensors file."""

    shape: tuple[int, ...]
    offset: int
    length: int


@dataclass(slots=True)
class GraphBuilder:
    """Collects nodes and externally stored weights of one graph."""

    nodes: list[onnx.NodeProto] = field(default_factory=list)
    initializers: list[onnx.TensorProto] = field(default_factory=list)

    def node(self, operator: str, inputs: Sequence[str], output: str, **attributes: Any) -> str:  # noqa: ANN401 (attributes of ONNX operators)
        self.nodes.append(helper.make_node(operator, list(inputs), [output], **attributes))
        return output

    def constant(self, name: str, value: "np.ndarray[Any, Any] | np.generic") -> str:
        self.initializers.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def weight(self, name: str, array: ExternalArray, *, file: str) -> str:
        tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=array.shape)
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in (("location", file), ("offset", array.offset), ("length", array.length)):
            tensor.external_data.add(key=key, value=str(value))
        self.initializers.append(tensor)
        return name

    def model(self, name: str, inputs: list[onnx.ValueInfoProto], outputs: list[onnx.ValueInfoProto]) -> bytes:
        graph = helper.make_graph(self.nodes, name, inputs, outputs, initializer=self.initializers)
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
        return made.SerializeToString(deterministic=True)


def read_arrays(path: Path) -> dict[str, ExternalArray]:
    """Reads the header of a safetensors file: an 8-byte length, a JSON header, then the data."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(length))
    arrays = {}
    for name, entry in header.items():
        if name == "__metadata__" or entry["dtype"] != "F32":
            continue
        start, end = entry["data_offsets"]
        shape = tuple(entry["shape"])
        assert end - start == 4 * math.prod(shape)
        arrays[name] = ExternalArray(shape, 8 + length + start, end - start)
    return arrays
