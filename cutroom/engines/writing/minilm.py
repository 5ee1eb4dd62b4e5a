"""Sentence embeddings with all-MiniLM-L6-v2 in onnxruntime.

The graph beside this module holds no weights: they stay in the safetensors file that the model store has verified.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cutroom.engines.errors import EngineError, EngineUnavailableError
from cutroom.engines.models.onnx import open_session_with_weights

if TYPE_CHECKING:
    from cutroom.engines.types import Vector

GRAPH = Path(__file__).with_name("minilm-l6-v2.onnx")
DIMENSIONS = 384
MAX_TOKENS = 256  # per text, as in training; the rest is truncated
MAX_CHARACTERS = 10_000  # per text before tokenization
MAX_TEXTS = 50_000
BATCH_TOKENS = 4096  # per batch including padding; bounds memory


class MiniLmEmbedder:
    """Thread-safe: a session of onnxruntime may run in several threads at a time."""

    def __init__(self, folder: Path, *, cpu_threads: int = 1, name: str = "minilm-l6-v2") -> None:
        """`folder` is the model's folder in the model store."""
        self.name = name
        try:
            from tokenizers import Tokenizer  # noqa: PLC0415 - optional dependency
        except ImportError as error:
            raise EngineUnavailableError(f"The package {error.name} is not installed.") from error
        self._session = open_session_with_weights(GRAPH, folder, name=name, cpu_threads=cpu_threads)
        try:
            self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        except Exception as error:  # the package raises bare Exception for every fault of a file
            raise EngineUnavailableError(f"The model {name} cannot be loaded.") from error
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MAX_TOKENS)

    def embed(self, texts: Sequence[str]) -> "Vector":
        """One unit-length row per text; texts of similar length are batched."""
        import numpy as np  # noqa: PLC0415 - keeps the import out of the API process

        if len(texts) > MAX_TEXTS:
            raise EngineError(f"At most {MAX_TEXTS} texts can be embedded per call.")
        # Lone surrogates cannot be tokenized.
        clean = [text[:MAX_CHARACTERS].encode("utf-8", "replace").decode() for text in texts]
        tokens = [each.ids for each in self._tokenizer.encode_batch(clean)]
        vectors = np.zeros((len(texts), DIMENSIONS), np.float32)
        for batch in _batches([len(each) for each in tokens]):
            vectors[batch] = self._vectors([tokens[at] for at in batch])
        return vectors

    def _vectors(self, tokens: Sequence[Sequence[int]]) -> "Vector":
        import numpy as np  # noqa: PLC0415 - as above

        length = max(len(each) for each in tokens)
        ids = np.zeros((len(tokens), length), np.int64)
        mask = np.zeros((len(tokens), length), np.float32)
        for row, each in enumerate(tokens):
            ids[row, : len(each)] = each
            mask[row, : len(each)] = 1.0
        try:
            vectors: Vector = self._session.run(None, {"ids": ids, "mask": mask})[0]
        except Exception as error:  # onnxruntime exposes no common error class
            raise EngineError(f"The model {self.name} failed.") from error
        return vectors


def _batches(lengths: Sequence[int]) -> list[list[int]]:
    """Indices of texts by length, grouped so that each padded batch stays within BATCH_TOKENS."""
    found: list[list[int]] = []
    for at in sorted(range(len(lengths)), key=lambda each: (lengths[each], each)):
        if found and (len(found[-1]) + 1) * lengths[at] <= BATCH_TOKENS:
            found[-1].append(at)
        else:
            found.append([at])
    return found
