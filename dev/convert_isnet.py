"""Writes the ONNX graph of the quantized ISNet with 32-bit convolutions.

The published graph quantizes every activation and convolves integers, which takes twice the processor time of 32-bit
convolutions. This graph restores the weights when it is loaded. They stay external data inside the published file.
"""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from dev.onnx_graph import IR_VERSION, OPSET

OUTPUT = "output"
MIN_EXTERNAL_BYTES = 64  # smaller arrays are stored in the graph


def isnet(path: Path) -> bytes:
    """The graph for the published model at the path."""
    content = path.read_bytes()
    return IsnetConverter(onnx.load_from_string(content).graph, content, file=path.name).convert()


class IsnetConverter:
    """Replaces the integer convolutions of one graph."""

    def __init__(self, graph: onnx.GraphProto, content: bytes, *, file: str) -> None:
        self._graph = graph
        self._content = content
        self._file = file
        self._arrays = {each.name: each for each in graph.initializer}
        self._producers = {name: node for node in graph.node for name in node.output}
        self._consumers: dict[str, list[onnx.NodeProto]] = {}
        for node in graph.node:
            for name in node.input:
                self._consumers.setdefault(name, []).append(node)
        self._nodes: list[onnx.NodeProto] = []
        self._stored: dict[str, onnx.TensorProto] = {}

    def convert(self) -> bytes:
        convolutions = {
            self._scaled_sum(node).output[0]: node for node in self._graph.node if node.op_type == "ConvInteger"
        }
        made = []
        for node in self._graph.node:
            name = node.output[0]
            made += self._convolution(name, convolutions[name]) if name in convolutions else [node]
        self._nodes = list(_needed(made, OUTPUT))
        for node in self._nodes:
            for name in node.input:
                if name in self._arrays and name not in self._stored:
                    self._stored[name] = self._store(self._arrays[name])
        outputs = [each for each in self._graph.output if each.name == OUTPUT]
        graph = helper.make_graph(
            self._nodes, "isnet", list(self._graph.input), outputs, initializer=list(self._stored.values())
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
        return model.SerializeToString(deterministic=True)

    def _convolution(self, output: str, node: onnx.NodeProto) -> list[onnx.NodeProto]:
        """Restores the weights, then convolves the activation as it was before its quantization."""
        _, weight, _, zero_point = node.input
        activation = self._producers[node.input[0]].input[0]
        [scale] = [name for name in self._scales(node).input if name in self._arrays]
        [bias] = [
            self._producers[name].input[0]
            for name in self._scaled_sum(node).input
            if self._producers[name].op_type == "Reshape"
        ]
        point = f"{weight}:zero_point"
        self._stored[point] = numpy_helper.from_array(
            numpy_helper.to_array(self._arrays[zero_point]).astype(np.float32), point
        )
        convolution = helper.make_node("Conv", [activation, f"{weight}:restored", bias], [output])
        convolution.attribute.extend(node.attribute)
        return [
            helper.make_node("Cast", [weight], [f"{weight}:cast"], to=TensorProto.FLOAT),
            helper.make_node("Sub", [f"{weight}:cast", point], [f"{weight}:centered"]),
            helper.make_node("Mul", [f"{weight}:centered", scale], [f"{weight}:restored"]),
            convolution,
        ]

    def _scales(self, node: onnx.NodeProto) -> onnx.NodeProto:
        """The node that multiplies the scales of activation and weight."""
        cast = self._consumer(node)
        [name] = [each for each in self._consumer(cast).input if each != cast.output[0]]
        return self._producers[name]

    def _scaled_sum(self, node: onnx.NodeProto) -> onnx.NodeProto:
        """The addition of the bias, after the cast and the scaling."""
        return self._consumer(self._consumer(self._consumer(node)))

    def _consumer(self, node: onnx.NodeProto) -> onnx.NodeProto:
        [consumer] = self._consumers[node.output[0]]
        return consumer

    def _store(self, tensor: onnx.TensorProto) -> onnx.TensorProto:
        """The tensor with its data in the published file."""
        if len(tensor.raw_data) < MIN_EXTERNAL_BYTES:
            return tensor
        offset = self._content.index(tensor.raw_data)
        stored = TensorProto(name=tensor.name, data_type=tensor.data_type, dims=tensor.dims)
        stored.data_location = TensorProto.EXTERNAL
        for key, value in (("location", self._file), ("offset", offset), ("length", len(tensor.raw_data))):
            stored.external_data.add(key=key, value=str(value))
        return stored


def _needed(nodes: Iterable[onnx.NodeProto], output: str) -> "reversed[onnx.NodeProto]":
    """The nodes, in topological order, on which the output depends."""
    wanted, kept = {output}, []
    for node in reversed(list(nodes)):
        if wanted.intersection(node.output):
            kept.append(node)
            wanted.update(node.input)
    return reversed(kept)
