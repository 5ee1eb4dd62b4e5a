"""Builds the ONNX graph of pyannote's speaker segmentation: SincNet, four LSTM layers, and a linear classifier.

Waveforms of 10 s in, log probabilities of the seven combinations of at most two of three speakers out, per frame.
"""

from collections.abc import Mapping

import numpy as np
from onnx import TensorProto, helper

from dev.onnx_graph import ExternalArray, GraphBuilder

SEGMENTATION_FILE = "model.safetensors"
SAMPLE_RATE = 16_000
MIN_HZ = 50.0  # lowest cutoff and narrowest band of a filter
FILTER_STRIDE = 10
POOL = 3
LSTM_LAYERS, LSTM_WIDTH = 4, 128
GATES = (0, 3, 1, 2)  # torch's order is input, forget, cell, output; ONNX's is input, output, forget, cell
LEAKY_SLOPE = 0.01
NORM_EPSILON = 1e-5
CLASSES = 7


class SegmentationBuilder:
    """Builds the graph from the arrays of the safetensors file."""

    def __init__(self, arrays: Mapping[str, ExternalArray]) -> None:
        self._graph = GraphBuilder()
        self._arrays = arrays

    def build(self) -> bytes:
        graph = self._graph
        value = self._instance_norm("samples", "sincnet.wav_norm1d")
        value = graph.node("Conv", [value, self._sinc_filters()], "sinc", strides=[FILTER_STRIDE])
        value = self._pool_and_norm(graph.node("Abs", [value], "sinc:abs"), 0)
        for number in (1, 2):
            layer = f"sincnet.conv1d.{number}"
            inputs = [value, self._weight(f"{layer}.weight"), self._weight(f"{layer}.bias")]
            value = self._pool_and_norm(graph.node("Conv", inputs, layer), number)
        value = graph.node("Transpose", [value], "frames", perm=[2, 0, 1])  # time first, as ONNX's LSTM expects
        gates = [np.arange(LSTM_WIDTH) + LSTM_WIDTH * gate for gate in GATES]
        graph.constant("gates", np.concatenate(gates).astype(np.int64))
        for depth in range(LSTM_LAYERS):
            value = self._lstm(value, depth)
        value = graph.node("Transpose", [value], "encoded", perm=[1, 0, 2])
        for number in range(2):
            value = graph.node(
                "LeakyRelu", [self._dense(value, f"linear.{number}")], f"linear.{number}:relu", alpha=LEAKY_SLOPE
            )
        graph.node("LogSoftmax", [self._dense(value, "classifier")], "classes", axis=-1)
        given = helper.make_tensor_value_info("samples", TensorProto.FLOAT, ["windows", 1, "length"])
        output = helper.make_tensor_value_info("classes", TensorProto.FLOAT, ["windows", "times", CLASSES])
        return graph.model("pyannote-segmentation-3.0", [given], [output])

    def _weight(self, name: str) -> str:
        return self._graph.weight(name, self._arrays[name], file=SEGMENTATION_FILE)

    def _instance_norm(self, value: str, name: str) -> str:
        inputs = [value, self._weight(f"{name}.weight"), self._weight(f"{name}.bias")]
        return self._graph.node("InstanceNormalization", inputs, name, epsilon=NORM_EPSILON)

    def _pool_and_norm(self, value: str, number: int) -> str:
        pooled = self._graph.node("MaxPool", [value], f"pool.{number}", kernel_shape=[POOL], strides=[POOL])
        normed = self._instance_norm(pooled, f"sincnet.norm1d.{number}")
        return self._graph.node("LeakyRelu", [normed], f"relu.{number}", alpha=LEAKY_SLOPE)

    def _sinc_filters(self) -> str:
        """Band-pass filters from their cutoffs: even ones (cosine), then odd ones (sine)."""
        graph, bank = self._graph, "sincnet.conv1d.0.filterbank"
        lowest = graph.constant("lowest", np.float32(MIN_HZ))
        top = graph.constant("top", np.float32(SAMPLE_RATE / 2))
        two = graph.constant("two", np.float32(2))
        low = graph.node("Add", [graph.node("Abs", [self._weight(f"{bank}.low_hz_")], "low:abs"), lowest], "low")
        band = graph.node(
            "Add", [graph.node("Abs", [self._weight(f"{bank}.band_hz_")], "band:abs"), lowest], "band:min"
        )
        high = graph.node("Clip", [graph.node("Add", [low, band], "high:sum"), lowest, top], "high")
        width = graph.node("Mul", [graph.node("Sub", [high, low], "width"), two], "width:double")
        times = self._weight(f"{bank}.n_")
        half = graph.node("Div", [times, two], "times:half")
        window = self._weight(f"{bank}.window_")
        low_angle, high_angle = (graph.node("MatMul", [each, times], f"{each}:angle") for each in (low, high))
        filters = []
        for kind, operator, terms in (
            ("cosine", "Sin", (high_angle, low_angle)),
            ("sine", "Cos", (low_angle, high_angle)),
        ):
            waves = [graph.node(operator, [each], f"{kind}:{each}") for each in terms]
            shape = graph.node("Div", [graph.node("Sub", waves, f"{kind}:difference"), half], f"{kind}:shape")
            left = graph.node("Mul", [shape, window], f"{kind}:left")
            right = self._reversed(left, kind)
            if kind == "cosine":
                center = width
            else:
                center = graph.node("Sub", [width, width], "sine:center")
                right = graph.node("Neg", [right], "sine:right")
            joined = graph.node("Concat", [left, center, right], f"{kind}:joined", axis=1)
            filters.append(graph.node("Div", [joined, width], kind))
        stacked = graph.node("Concat", filters, "filters:rows", axis=0)
        return graph.node("Unsqueeze", [stacked, graph.constant("channel", np.array([1], np.int64))], "filters")

    def _reversed(self, value: str, kind: str) -> str:
        graph = self._graph
        start = graph.constant(f"{kind}:last", np.array([-1], np.int64))
        end = graph.constant(f"{kind}:before_first", np.array([np.iinfo(np.int64).min], np.int64))
        axis = graph.constant(f"{kind}:axis", np.array([1], np.int64))
        step = graph.constant(f"{kind}:step", np.array([-1], np.int64))
        return graph.node("Slice", [value, start, end, axis, step], f"{kind}:mirrored")

    def _lstm(self, value: str, layer: int) -> str:
        """A bidirectional layer; both directions are joined per frame."""
        graph, name = self._graph, f"lstm.{layer}"
        stacked = []
        for kind in ("weight_ih", "weight_hh"):
            ways = [self._gates(f"lstm.{kind}_l{layer}{way}") for way in ("", "_reverse")]
            stacked.append(self._stack(ways, f"{name}:{kind}"))
        biases = []
        for way in ("", "_reverse"):
            both = [self._gates(f"lstm.{kind}_l{layer}{way}") for kind in ("bias_ih", "bias_hh")]
            biases.append(graph.node("Concat", both, f"{name}:joined_bias{way}", axis=0))
        stacked.append(self._stack(biases, f"{name}:bias"))
        output = graph.node(
            "LSTM", [value, *stacked], f"{name}:output", hidden_size=LSTM_WIDTH, direction="bidirectional"
        )
        ways_last = graph.node("Transpose", [output], f"{name}:ways", perm=[0, 2, 1, 3])
        shape = graph.constant(f"{name}:shape", np.array([0, 0, 2 * LSTM_WIDTH], np.int64))
        return graph.node("Reshape", [ways_last, shape], name)

    def _gates(self, name: str) -> str:
        return self._graph.node("Gather", [self._weight(name), "gates"], f"{name}:gates", axis=0)

    def _stack(self, values: list[str], name: str) -> str:
        graph = self._graph
        first = graph.constant(f"{name}:first", np.array([0], np.int64))
        rows = [graph.node("Unsqueeze", [each, first], f"{each}:way") for each in values]
        return graph.node("Concat", rows, name, axis=0)

    def _dense(self, value: str, name: str) -> str:
        turned = self._graph.node("Transpose", [self._weight(f"{name}.weight")], f"{name}.weight.T", perm=[1, 0])
        product = self._graph.node("MatMul", [value, turned], f"{name}:product")
        return self._graph.node("Add", [product, self._weight(f"{name}.bias")], name)
