"""Says what sentences mean, as vectors, with all-MiniLM-L6-v2: a small BERT that is worked out in numpy alone."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cutroom.engines.errors import EngineError, EngineUnavailableError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cutroom.engines.types import Vector

    Floats = NDArray[np.float32]

DIMENSIONS = 384
HEADS = 12
LAYERS = 6
MAX_TOKENS = 256  # of one text, as the model was trained; the rest is not read
MAX_CHARACTERS = 10_000  # of one text that are looked at: far more than those tokens have
MAX_TEXTS = 50_000
BATCH_TOKENS = 4096  # with their padding: bounds the memory
_EPSILON = 1e-12
_MAX_HEAD_BYTES = 1024 * 1024
_ERF = (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)  # Abramowitz and Stegun, 7.1.26
_GELU_ROWS = 32
_FAR = -1e9  # attention to padding, before the softmax


class MiniLmEmbedder:
    """One set of weights for the process; they are only read, so threads may share it."""

    def __init__(self, folder: Path, *, name: str = "minilm-l6-v2") -> None:
        """The model's folder, as the store gives it."""
        self.name = name
        try:
            from tokenizers import Tokenizer  # noqa: PLC0415 (an optional part)

            self._weights = _read_weights(folder / "model.safetensors")
        except ImportError as error:
            raise EngineUnavailableError(f"The package {error.name} is not installed.") from error
        except (OSError, ValueError, KeyError) as error:
            raise EngineUnavailableError(f"The model {name} cannot be loaded.") from error
        try:
            self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        except Exception as error:  # bare Exception is what the package raises for every fault of a file
            raise EngineUnavailableError(f"The model {name} cannot be loaded.") from error
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MAX_TOKENS)

    def embed(self, texts: Sequence[str]) -> "Vector":
        """A row of length 1 for each text; texts of about one length go through the network together."""
        import numpy as np  # noqa: PLC0415 - the API process must be able to import this room without it

        if len(texts) > MAX_TEXTS:
            raise EngineError(f"At most {MAX_TEXTS} texts are embedded at once.")
        # Characters that are no characters, such as half of a pair, cannot be tokenised.
        clean = [text[:MAX_CHARACTERS].encode("utf-8", "replace").decode() for text in texts]
        tokens = [each.ids for each in self._tokenizer.encode_batch(clean)]
        vectors = np.zeros((len(texts), DIMENSIONS), np.float32)
        for batch in _batches([len(each) for each in tokens]):
            vectors[batch] = self._vectors([tokens[at] for at in batch])
        return vectors

    def _vectors(self, tokens: Sequence[Sequence[int]]) -> "Floats":
        import numpy as np  # noqa: PLC0415 - as above

        length = max(len(each) for each in tokens)
        ids = np.zeros((len(tokens), length), np.int64)
        mask = np.zeros((len(tokens), length), np.float32)
        for row, each in enumerate(tokens):
            ids[row, : len(each)] = each
            mask[row, : len(each)] = 1.0
        states = self._embedded(ids)
        far = ((1.0 - mask) * np.float32(_FAR))[:, None, None, :]
        for layer in range(LAYERS):
            states = self._layer(states, far, f"encoder.layer.{layer}")
        pooled = (states * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        unit: Floats = pooled / np.maximum(np.linalg.norm(pooled, axis=1, keepdims=True), _EPSILON)
        return unit

    def _embedded(self, ids: "NDArray[np.int64]") -> "Floats":
        weights = self._weights
        words = weights["embeddings.word_embeddings.weight"][ids]
        places = weights["embeddings.position_embeddings.weight"][: ids.shape[1]]
        kind = weights["embeddings.token_type_embeddings.weight"][0]
        return self._normalised(words + places + kind, "embeddings")

    def _layer(self, states: "Floats", far: "Floats", name: str) -> "Floats":
        attended = self._dense(self._attention(states, far, f"{name}.attention.self"), f"{name}.attention.output.dense")
        states = self._normalised(states + attended, f"{name}.attention.output")
        wide = _gelu(self._dense(states, f"{name}.intermediate.dense"))
        return self._normalised(states + self._dense(wide, f"{name}.output.dense"), f"{name}.output")

    def _attention(self, states: "Floats", far: "Floats", name: str) -> "Floats":
        import numpy as np  # noqa: PLC0415 - as above

        count, length, _ = states.shape

        def heads(part: str) -> "Floats":
            rows = self._dense(states, f"{name}.{part}").reshape(count, length, HEADS, DIMENSIONS // HEADS)
            return rows.transpose(0, 2, 1, 3)

        scores = heads("query") @ heads("key").transpose(0, 1, 3, 2) / np.float32(math.sqrt(DIMENSIONS // HEADS)) + far
        shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
        shares /= shares.sum(axis=-1, keepdims=True)
        joined: Floats = (shares @ heads("value")).transpose(0, 2, 1, 3).reshape(count, length, DIMENSIONS)
        return joined

    def _dense(self, states: "Floats", name: str) -> "Floats":
        # Rows of one matrix: numpy multiplies these far quicker than a stack of small matrices.
        rows = states.reshape(-1, states.shape[-1]) @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]
        made: Floats = rows.reshape(*states.shape[:-1], -1)
        return made

    def _normalised(self, states: "Floats", name: str) -> "Floats":
        import numpy as np  # noqa: PLC0415 - as above

        centred = states - states.mean(axis=-1, keepdims=True)
        spread = np.sqrt(np.square(centred).mean(axis=-1, keepdims=True) + np.float32(_EPSILON))
        made: Floats = centred / spread * self._weights[f"{name}.LayerNorm.weight"]
        return made + self._weights[f"{name}.LayerNorm.bias"]


def _gelu(values: "Floats") -> "Floats":
    """x times the normal distribution up to x. numpy has no error function; this one is right to 2e-7."""
    import numpy as np  # noqa: PLC0415 - as above

    made = np.empty_like(values)
    rows, into = values.reshape(-1, values.shape[-1]), made.reshape(-1, values.shape[-1])
    # A few rows at a time stay in the processor's cache, which halves the time.
    for at in range(0, len(rows), _GELU_ROWS):
        x = rows[at : at + _GELU_ROWS]
        size = np.abs(x) * np.float32(1 / math.sqrt(2))
        t = np.reciprocal(size * np.float32(0.3275911) + np.float32(1))
        series = t * np.float32(_ERF[0])
        for factor in _ERF[1:]:
            series += np.float32(factor)
            series *= t
        np.square(size, out=size)
        np.negative(size, out=size)
        series *= np.exp(size, out=size)
        erf = np.copysign(np.float32(1) - series, x)
        erf += np.float32(1)
        erf *= np.float32(0.5)
        np.multiply(x, erf, out=into[at : at + _GELU_ROWS])
    return made


def _batches(lengths: Sequence[int]) -> list[list[int]]:
    """Places of texts, the shortest first, in groups that are small enough when padded to their longest."""
    found: list[list[int]] = []
    for at in sorted(range(len(lengths)), key=lambda each: (lengths[each], each)):
        if found and (len(found[-1]) + 1) * lengths[at] <= BATCH_TOKENS:
            found[-1].append(at)
        else:
            found.append([at])
    return found


def _read_weights(path: Path) -> "dict[str, Floats]":
    """The float arrays of a safetensors file: a JSON head with their places, then their bytes."""
    import numpy as np  # noqa: PLC0415 - as above

    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if length > _MAX_HEAD_BYTES:
            raise ValueError(f"{path.name} has no list of its arrays")
        head: dict[str, Any] = json.loads(file.read(length))
        data = file.read()
    arrays = {}
    for name, entry in head.items():
        if entry.get("dtype") == "F32":
            start, end = entry["data_offsets"]
            arrays[name] = np.frombuffer(data[start:end], "<f4").reshape(entry["shape"])
    return arrays
