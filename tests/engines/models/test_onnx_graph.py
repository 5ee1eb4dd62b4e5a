"""ONNX graphs read and edited as protobuf messages: parts of a graph, and convolutions as matrix products."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from cutroom.engines.models import onnx_convolutions
from cutroom.engines.models.onnx import open_session
from cutroom.engines.models.onnx_convolutions import multiplies_exactly, unroll_convolutions, with_fast_convolutions
from cutroom.engines.models.onnx_graph import read_graph
from cutroom.engines.synthesis.kokoro import MAX_PHONEMES, SPEECH_RATE
from cutroom.engines.synthesis.kokoro_durations import FRAME_SECONDS
from cutroom.engines.synthesis.phonemes import TOKEN_IDS
from tests.engines.recognition.recognizer_suite import model_folder

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHANNELS, OUTPUTS, FRAMES = 5, 4, 23
EXACT = pytest.mark.skipif(not multiplies_exactly(), reason="this processor's products of bytes overflow")
OPERATORS = [helper.make_opsetid("", 17)]


def model_bytes(
    nodes: Sequence[onnx.NodeProto], weights: Mapping[str, "NDArray[Any]"], *, inputs: Sequence[onnx.ValueInfoProto]
) -> bytes:
    outputs = [helper.make_tensor_value_info("y", TensorProto.UNDEFINED, None)]
    outputs[0].ClearField("type")  # inferred
    initializers = [numpy_helper.from_array(value, name) for name, value in weights.items()]
    graph = helper.make_graph(nodes, "tiny", inputs, outputs, initializers)
    return bytes(helper.make_model(graph, opset_imports=OPERATORS, ir_version=8).SerializeToString())


def convolution(size: int, *, zero_point: int = 120, **attributes: Any) -> bytes:  # noqa: ANN401 - of ONNX
    random = np.random.default_rng(size)
    weights = random.integers(0, 256, (OUTPUTS, CHANNELS // attributes.get("group", 1), size), np.uint8)
    node = helper.make_node("ConvInteger", ["x", "weights", "zero", "weights_zero"], ["y"], **attributes)
    constants = {
        "weights": weights,
        "zero": np.array(131, np.uint8),
        "weights_zero": np.array(zero_point, np.uint8),
    }
    inputs = [helper.make_tensor_value_info("x", TensorProto.UINT8, [1, CHANNELS, "frames"])]
    return model_bytes([node], constants, inputs=inputs)


def run(model: bytes, inputs: Mapping[str, "NDArray[Any]"], output: str = "y") -> "NDArray[Any]":
    (found,) = open_session(model, name="tiny", cpu_threads=1).run([output], inputs)
    return np.asarray(found)


@EXACT
@pytest.mark.parametrize(
    ("size", "attributes"),
    [
        (1, {"kernel_shape": [1]}),
        (3, {"pads": [1, 1]}),
        (4, {"pads": [0, 3], "dilations": [1], "group": 1, "strides": [1], "auto_pad": "NOTSET"}),
        (5, {"pads": [6, 6], "dilations": [3]}),
        (5, {"pads": [0, 0], "dilations": [4]}),
    ],
)
@pytest.mark.parametrize("zero_point", [0, 76, 128, 255])
def test_unrolled_convolution_has_the_same_output(size: int, attributes: dict[str, Any], zero_point: int) -> None:
    model = convolution(size, zero_point=zero_point, **attributes)
    graph = unroll_convolutions(read_graph(model))
    operators = [node.operator for node in graph.nodes]
    assert "ConvInteger" not in operators
    assert operators.count("Slice") == size
    assert "weights" not in graph.tensors
    source = np.random.default_rng(1).integers(0, 256, (1, CHANNELS, FRAMES), np.uint8)
    expected, found = run(model, {"x": source}), run(graph.encode(), {"x": source})
    assert np.abs(expected).max() > 1000
    assert np.array_equal(found, expected)


@pytest.mark.parametrize(
    "attributes",
    [{"strides": [2]}, {"auto_pad": "SAME_UPPER"}, {"group": 5}],
)
def test_other_convolutions_stay(attributes: dict[str, Any]) -> None:
    graph = unroll_convolutions(read_graph(convolution(3, **attributes)))
    assert [node.operator for node in graph.nodes] == ["ConvInteger"]
    assert set(graph.tensors) == {"weights", "zero", "weights_zero"}


@pytest.mark.parametrize(("is_exact", "operator"), [(True, "MatMulInteger"), (False, "ConvInteger")])
def test_convolutions_stay_where_products_overflow(
    monkeypatch: pytest.MonkeyPatch, *, is_exact: bool, operator: str
) -> None:
    monkeypatch.setattr(onnx_convolutions, "multiplies_exactly", lambda: is_exact)
    graph = with_fast_convolutions(read_graph(convolution(3)))
    assert operator in [node.operator for node in graph.nodes]


def test_prefix_computes_one_value_from_what_it_needs() -> None:
    nodes = [
        helper.make_node("Mul", ["x", "two"], ["doubled"]),
        helper.make_node("Add", ["x", "three"], ["unneeded"]),
        helper.make_node("Concat", ["doubled", "doubled"], ["joined"], axis=0),
        helper.make_node("Add", ["joined", "z"], ["y"]),
    ]
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n"]) for name in ("x", "z")]
    weights = {"two": np.array(2, np.float32), "three": np.array(3, np.float32)}
    graph = read_graph(model_bytes(nodes, weights, inputs=inputs))
    part = graph.prefix("joined")
    assert part is not None
    assert [node.operator for node in part.nodes] == ["Mul", "Concat"]
    assert (set(part.inputs), set(part.tensors)) == ({"x"}, {"two"})
    assert run(part.encode(), {"x": np.array([1, 5], np.float32)}, "joined").tolist() == [2, 10, 2, 10]
    assert graph.prefix("nothing") is None


@pytest.mark.parametrize("data", [b"damaged", b"\x3a\xff", b"\x3a\x02\x08\x01", bytes([0x3B])])
def test_other_files_are_rejected(data: bytes) -> None:
    with pytest.raises(ValueError, match="not a"):
        read_graph(data)


@EXACT
def test_unrolled_kokoro_speaks_the_same_and_durations_are_those_of_its_audio() -> None:
    path = model_folder("kokoro-int8") / "kokoro-v1.0.int8.onnx"
    graph = read_graph(path.read_bytes())
    tokens = [TOKEN_IDS[symbol] for symbol in "ola!"]
    style = np.fromfile(model_folder("kokoro-voices") / "pf_dora.bin", "<f4").reshape(-1, 256)[len(tokens) - 1]
    assert len(tokens) < MAX_PHONEMES
    inputs = {
        "tokens": np.array([[0, *tokens, 0]], np.int64),
        "style": style[np.newaxis].astype(np.float32),
        "speed": np.array([1.1], np.float32),
    }
    original = run(path.read_bytes(), inputs, "audio")
    assert np.array_equal(run(unroll_convolutions(graph).encode(), inputs, "audio"), original)
    part = graph.prefix("/encoder/Round_output_0")
    assert part is not None
    frames = run(part.encode(), inputs, "/encoder/Round_output_0").reshape(-1)
    assert len(frames) == len(tokens) + 2
    assert frames.sum() * FRAME_SECONDS * SPEECH_RATE == original.size
