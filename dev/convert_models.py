"""Writes the ONNX graphs of models that are published without one, or with a slow one: `python -m dev.convert_models`.

A graph holds no weights: its initializers are external data inside the published file that the model store has
verified. The graphs are committed, and onnxruntime loads them; a test pins them to this script's output.
"""

import argparse
import math
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper

from cutroom.platform.settings import default_models_dir
from dev.convert_isnet import isnet
from dev.environment import PROJECT
from dev.onnx_graph import ExternalArray, GraphBuilder, read_arrays
from dev.segmentation_graph import SEGMENTATION_FILE, SegmentationBuilder

SEPARATION_GRAPH = PROJECT / "cutroom" / "engines" / "separation" / "spleeter-2stems.onnx"
SEGMENTATION_GRAPH = PROJECT / "cutroom" / "engines" / "diarization" / "pyannote-segmentation-3.0.onnx"
EMBEDDING_GRAPH = PROJECT / "cutroom" / "engines" / "writing" / "minilm-l6-v2.onnx"
BACKGROUND_GRAPH = PROJECT / "cutroom" / "engines" / "vision" / "isnet-small.onnx"

SPLEETER_FILES = ("vocals.safetensors", "accompaniment.safetensors")
SPLEETER_DEPTH = 6
SPLEETER_BINS = 1024
SPLEETER_PADDING = (1, 1, 2, 2)  # TensorFlow's "same" padding for stride 2
LEAKY_SLOPE = 0.2
BATCH_NORM_EPSILON = 1e-3

MINILM_FILE = "model.safetensors"
MINILM_LAYERS, MINILM_HEADS, MINILM_WIDTH = 6, 12, 384
LAYER_NORM_EPSILON = 1e-12
MASKED_LOGIT = -1e9


def spleeter(folder: Path) -> bytes:
    """Two U-Nets side by side, one for vocals and one for the accompaniment: magnitudes in, masks out."""
    builder = GraphBuilder()
    outputs = []
    for file in SPLEETER_FILES:
        _u_net(builder, file, read_arrays(folder / file))
        outputs.append(helper.make_tensor_value_info(file, TensorProto.FLOAT, [1, 2, "frames", SPLEETER_BINS]))
    given = helper.make_tensor_value_info("X", TensorProto.FLOAT, [1, 2, "frames", SPLEETER_BINS])
    return builder.model("spleeter-2stems", [given], outputs)


def _u_net(builder: GraphBuilder, file: str, arrays: Mapping[str, ExternalArray]) -> None:
    def weights(layer: str, *names: str) -> Iterator[str]:
        for name in names:
            yield builder.weight(f"{file}:{layer}.{name}", arrays[f"{layer}.{name}"], file=file)

    def batch_norm(value: str, layer: str) -> str:
        parameters = weights(layer, "weight", "bias", "running_mean", "running_var")
        return builder.node("BatchNormalization", [value, *parameters], f"{file}:{layer}", epsilon=BATCH_NORM_EPSILON)

    value, skips = "X", []
    for level in range(1, SPLEETER_DEPTH + 1):
        layer = f"down{level}_conv.1"
        inputs = [value, *weights(layer, "weight", "bias")]
        skips.append(builder.node("Conv", inputs, f"{file}:{layer}", strides=[2, 2], pads=SPLEETER_PADDING))
        if level < SPLEETER_DEPTH:
            value = batch_norm(skips[-1], f"down{level}_act.0")
            value = builder.node("LeakyRelu", [value], f"{file}:down{level}", alpha=LEAKY_SLOPE)
    value = skips.pop()
    for level in range(1, SPLEETER_DEPTH + 1):
        layer = f"up{level}.0"
        inputs = [value, *weights(layer, "weight", "bias")]
        value = builder.node("ConvTranspose", inputs, f"{file}:{layer}", strides=[2, 2], pads=SPLEETER_PADDING)
        value = batch_norm(builder.node("Relu", [value], f"{file}:up{level}.2"), f"up{level}.3")
        if skips:
            value = builder.node("Concat", [skips.pop(), value], f"{file}:up{level}", axis=1)
    inputs = [value, *weights("up7.0", "weight", "bias")]
    value = builder.node("Conv", inputs, f"{file}:up7.0", dilations=[2, 2], pads=[3, 3, 3, 3])
    builder.node("Sigmoid", [value], file)


class BertBuilder:
    """Builds the BERT encoder of all-MiniLM-L6-v2 with mean pooling: token ids and a mask in, unit vectors out."""

    def __init__(self, arrays: Mapping[str, ExternalArray]) -> None:
        self._graph = GraphBuilder()
        self._arrays = arrays
        self._head_width = MINILM_WIDTH // MINILM_HEADS

    def build(self) -> bytes:
        graph = self._graph
        graph.constant("one", np.float32(1))
        graph.constant("half", np.float32(0.5))
        graph.constant("root_two", np.float32(math.sqrt(2)))
        graph.constant("scale", np.float32(math.sqrt(self._head_width)))
        graph.constant("split", np.array([0, 0, MINILM_HEADS, self._head_width], np.int64))
        graph.constant("joined", np.array([0, 0, MINILM_WIDTH], np.int64))
        self._padding()
        value = self._embeddings()
        for number in range(MINILM_LAYERS):
            value = self._layer(value, f"encoder.layer.{number}")
        self._pool(value)
        inputs = [
            helper.make_tensor_value_info("ids", TensorProto.INT64, ["texts", "tokens"]),
            helper.make_tensor_value_info("mask", TensorProto.FLOAT, ["texts", "tokens"]),
        ]
        output = helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["texts", MINILM_WIDTH])
        return graph.model("minilm-l6-v2", inputs, [output])

    def _weight(self, name: str) -> str:
        return self._graph.weight(name, self._arrays[name], file=MINILM_FILE)

    def _dense(self, value: str, name: str) -> str:
        turned = self._graph.node("Transpose", [self._weight(f"{name}.weight")], f"{name}.weight.T", perm=[1, 0])
        product = self._graph.node("MatMul", [value, turned], f"{name}:product")
        return self._graph.node("Add", [product, self._weight(f"{name}.bias")], name)

    def _layer_norm(self, value: str, name: str) -> str:
        inputs = [value, self._weight(f"{name}.LayerNorm.weight"), self._weight(f"{name}.LayerNorm.bias")]
        return self._graph.node("LayerNormalization", inputs, f"{name}.LayerNorm", axis=-1, epsilon=LAYER_NORM_EPSILON)

    def _padding(self) -> None:
        """Adds a large negative logit for padding tokens, broadcast over heads and queries."""
        graph = self._graph
        inverse = graph.node("Sub", ["one", "mask"], "mask:inverse")
        logits = graph.node("Mul", [inverse, graph.constant("masked", np.float32(MASKED_LOGIT))], "padding")
        graph.node("Unsqueeze", [logits, graph.constant("head_axes", np.array([1, 2], np.int64))], "padding:heads")

    def _embeddings(self) -> str:
        graph = self._graph
        words = graph.node("Gather", [self._weight("embeddings.word_embeddings.weight"), "ids"], "words", axis=0)
        shape = graph.node("Shape", ["ids"], "ids:shape")
        length = graph.node("Gather", [shape, graph.constant("second", np.array([1], np.int64))], "length", axis=0)
        zero = graph.constant("zero", np.array([0], np.int64))
        table = self._weight("embeddings.position_embeddings.weight")
        positions = graph.node("Slice", [table, zero, length, zero], "positions")
        first = graph.constant("first", np.array(0, np.int64))
        kinds = graph.node(
            "Gather", [self._weight("embeddings.token_type_embeddings.weight"), first], "token_type", axis=0
        )
        value = graph.node("Add", [words, positions], "words:positions")
        return self._layer_norm(graph.node("Add", [value, kinds], "embedded"), "embeddings")

    def _layer(self, value: str, name: str) -> str:
        graph = self._graph
        attended = self._dense(self._attention(value, name), f"{name}.attention.output.dense")
        value = self._layer_norm(graph.node("Add", [value, attended], f"{name}:attended"), f"{name}.attention.output")
        wide = self._gelu(self._dense(value, f"{name}.intermediate.dense"), f"{name}:gelu")
        narrow = self._dense(wide, f"{name}.output.dense")
        return self._layer_norm(graph.node("Add", [value, narrow], f"{name}:transformed"), f"{name}.output")

    def _attention(self, value: str, name: str) -> str:
        graph, heads = self._graph, {}
        for projection in ("query", "key", "value"):
            projected = self._dense(value, f"{name}.attention.self.{projection}")
            rows = graph.node("Reshape", [projected, "split"], f"{name}:{projection}:rows")
            order = [0, 2, 3, 1] if projection == "key" else [0, 2, 1, 3]
            heads[projection] = graph.node("Transpose", [rows], f"{name}:{projection}:heads", perm=order)
        logits = graph.node("MatMul", [heads["query"], heads["key"]], f"{name}:logits")
        logits = graph.node("Div", [logits, "scale"], f"{name}:scaled")
        logits = graph.node("Add", [logits, "padding:heads"], f"{name}:masked")
        attention = graph.node("Softmax", [logits], f"{name}:attention", axis=-1)
        mixed = graph.node("MatMul", [attention, heads["value"]], f"{name}:mixed")
        mixed = graph.node("Transpose", [mixed], f"{name}:mixed:rows", perm=[0, 2, 1, 3])
        return graph.node("Reshape", [mixed, "joined"], f"{name}:context")

    def _gelu(self, value: str, name: str) -> str:
        graph = self._graph
        erf = graph.node("Erf", [graph.node("Div", [value, "root_two"], f"{name}:in")], f"{name}:erf")
        gate = graph.node("Add", [erf, "one"], f"{name}:gate")
        return graph.node("Mul", [graph.node("Mul", [value, "half"], f"{name}:half"), gate], name)

    def _pool(self, value: str) -> None:
        """Averages the states of real tokens, and scales the mean to unit length."""
        graph = self._graph
        column = graph.node("Unsqueeze", ["mask", graph.constant("last_axis", np.array([2], np.int64))], "mask:column")
        tokens = graph.constant("token_axis", np.array([1], np.int64))
        total = graph.node("ReduceSum", [graph.node("Mul", [value, column], "kept"), tokens], "total", keepdims=0)
        count = graph.node("ReduceSum", ["mask", tokens], "count", keepdims=1)
        graph.node("LpNormalization", [graph.node("Div", [total, count], "mean")], "vectors", axis=-1, p=2)


def minilm(folder: Path) -> bytes:
    return BertBuilder(read_arrays(folder / MINILM_FILE)).build()


def segmentation(folder: Path) -> bytes:
    return SegmentationBuilder(read_arrays(folder / SEGMENTATION_FILE)).build()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=Path, default=default_models_dir())
    models: Path = parser.parse_args().models
    for path, graph in (
        (SEPARATION_GRAPH, spleeter(models / "spleeter-2stems")),
        (EMBEDDING_GRAPH, minilm(models / "minilm-l6-v2")),
        (BACKGROUND_GRAPH, isnet(models / "isnet-small" / "isnet-small.onnx")),
        (SEGMENTATION_GRAPH, segmentation(models / "pyannote-segmentation-3.0")),
    ):
        path.write_bytes(graph)
        print(f"{path.relative_to(PROJECT)}: {len(graph):,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
