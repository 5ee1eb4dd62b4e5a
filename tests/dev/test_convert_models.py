"""The committed ONNX graphs are what the conversion script writes for the pinned weights."""

from dev.convert_isnet import isnet
from dev.convert_models import (
    BACKGROUND_GRAPH,
    EMBEDDING_GRAPH,
    SEGMENTATION_GRAPH,
    SEPARATION_GRAPH,
    minilm,
    segmentation,
    spleeter,
)
from tests.engines.recognition.recognizer_suite import model_folder


def test_separation_graph_matches_the_conversion() -> None:
    assert SEPARATION_GRAPH.read_bytes() == spleeter(model_folder("spleeter-2stems"))


def test_embedding_graph_matches_the_conversion() -> None:
    assert EMBEDDING_GRAPH.read_bytes() == minilm(model_folder("minilm-l6-v2"))


def test_background_removal_graph_matches_the_conversion() -> None:
    assert BACKGROUND_GRAPH.read_bytes() == isnet(model_folder("isnet-small") / "isnet-small.onnx")


def test_segmentation_graph_matches_the_conversion() -> None:
    assert SEGMENTATION_GRAPH.read_bytes() == segmentation(model_folder("pyannote-segmentation-3.0"))
