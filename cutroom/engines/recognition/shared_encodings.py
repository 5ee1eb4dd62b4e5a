"""Shares Whisper's encoding of a window between the detection of its language and its transcription."""

from collections import OrderedDict
from collections.abc import Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from cutroom.engines.types import Samples

MAX_KEPT = 8  # of 3 MB each; those of a transcription that failed are dropped by later ones


class EncodingModel(Protocol):
    """A model of faster-whisper that keeps the encodings of windows whose language it detected."""

    model: Any  # of CTranslate2
    feature_extractor: Any
    hf_tokenizer: Any
    supported_languages: list[str]

    def encode(self, features: Any) -> Any:  # noqa: ANN401 - of faster-whisper
        ...

    def language_probabilities(self, samples: "Samples") -> Mapping[str, float]:
        """The probability of each language in one window."""
        ...

    def transcribe(self, audio: "Samples", **options: Any) -> tuple[Any, Any]: ...  # noqa: ANN401 - of faster-whisper


def sharing_model(faster_whisper: ModuleType) -> type[Any]:
    """A subclass of WhisperModel; a function, because the module is imported when the model is loaded."""

    class SharingModel(faster_whisper.WhisperModel):  # type: ignore[misc, name-defined]
        """Uses an encoding again once: by the decoding of the same window."""

        def __init__(self, *arguments: Any, **options: Any) -> None:  # noqa: ANN401 - of faster-whisper
            super().__init__(*arguments, **options)
            self._kept: OrderedDict[bytes, Any] = OrderedDict()

        def language_probabilities(self, samples: "Samples") -> Mapping[str, float]:
            # As the batched pipeline computes them, so that they are the same bytes.
            features = faster_whisper.transcribe.pad_or_trim(self.feature_extractor(samples)[..., :-1])
            encoded = super().encode(features)
            self._kept[features.tobytes()] = encoded
            while len(self._kept) > MAX_KEPT:
                self._kept.popitem(last=False)
            found = self.model.detect_language(encoded)[0]
            return {token[2:-2]: probability for token, probability in found}  # tokens are <|en|>

        def encode(self, features: Any) -> Any:  # noqa: ANN401 - of faster-whisper
            kept = self._kept.pop(features.tobytes(), None) if self._kept else None
            return super().encode(features) if kept is None else kept

    return SharingModel
