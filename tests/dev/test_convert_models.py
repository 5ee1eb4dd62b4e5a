"""The committed ONNX graphs are what the conversion script writes for the pinned weights."""

from dev.convert_models import EMBEDDING_GRAPH, SEPARATION_GRAPH, minilm, spleeter
from tests.engines.recognition.recognizer_suite import model_folder


def test_separation_graph_matches_the_conversion() -> None:
    assert SEPARATION_GRAPH.read_bytes() == spleeter(model_folder("spleeter-2stems"))


def test_embedding_graph_matches_the_conversion() -> None:
    assert EMBEDDING_GRAPH.read_bytes() == minilm(model_folder("minilm-l6-v2"))
