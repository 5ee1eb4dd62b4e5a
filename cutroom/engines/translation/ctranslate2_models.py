"""Local translation with models converted for CTranslate2: OPUS-MT (Marian) and MADLAD-400 (T5)."""

import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from cutroom.engines.errors import EngineError, EngineUnavailableError
from cutroom.engines.models.device import Device
from cutroom.engines.translation.output_checks import check_sentences, check_translations, translation_fault
from cutroom.engines.translation.port import Route
from cutroom.engines.translation.route_quality import UNRATED, ModelDirection, RouteRatings
from cutroom.engines.translation.routing import find_route
from cutroom.engines.types import OnProgress
from cutroom.text.language_tags import canonical_tag
from cutroom.text.passages import join_passages, match_case, scaled_limit, split_at_pauses, translate_preserving
from cutroom.text.placeholders import clean_sentence, find_protected_spans, has_words

if TYPE_CHECKING:
    import ctranslate2
    import sentencepiece

PASSAGE_CHARACTERS = 400  # the models are trained on sentences
RETRY_PASSAGE_CHARACTERS = 120  # after an implausible translation
BATCH_PASSAGES = 16
BATCH_TOKENS = 2_048  # decoded at the same time
MAX_SOURCE_TOKENS = 512
MAX_LOADED_MODELS = 2
MAX_ALTERNATIVES = 5
MAX_CONFIG_BYTES = 1024 * 1024
END_OF_SENTENCE = "</s>"
SOURCE_TOKENIZERS = ("source.spm", "sentencepiece.model", "spiece.model")
TARGET_TOKENIZERS = ("target.spm", *SOURCE_TOKENIZERS[1:])

Pair: TypeAlias = tuple[str, str]
VerifyModel: TypeAlias = Callable[[Path], Path]  # returns the folder once every file matches its pin


@dataclass(frozen=True, slots=True)
class ConvertedModel:
    """A folder with a converted model, and the first source token for each of its directions.

    Models for one direction need no such token. MADLAD-400 expects `<2pt>`, and OPUS-MT models with several target
    languages `>>por<<`.
    """

    folder: Path
    prefixes: Mapping[Pair, str]


@dataclass(frozen=True, slots=True)
class Decoding:
    """Beam search and length control."""

    beam_size: int = 4
    length_penalty: float = 1.0  # above 1 prefers longer translations, below 1 shorter ones
    # Decoding ends at this many tokens for each source token, plus a constant for short sentences.
    tokens_per_source_token: float = 2.5
    spare_tokens: int = 16

    def max_tokens(self, source_tokens: int) -> int:
        return round(self.tokens_per_source_token * source_tokens) + self.spare_tokens


@dataclass(frozen=True, slots=True)
class Alternative:
    """One of the best translations, with its log-probability normalized by length."""

    text: str
    score: float


class Ctranslate2Translator:
    """Loads each model when it is first used; thread-safe."""

    name = "ctranslate2"

    def __init__(
        self,
        models: Sequence[ConvertedModel],
        *,
        cpu_threads: int,
        device: Device = Device.CPU,
        decoding: Decoding | None = None,
        ratings: RouteRatings = UNRATED,
        verify: VerifyModel = lambda folder: folder,
    ) -> None:
        """Of several models with one direction, the first is used; the name of its folder is that of the model."""
        self._decoding = decoding or Decoding()
        self._cpu_threads = cpu_threads
        self._device = device
        self._verify = verify
        self._models: dict[Pair, tuple[Path, str]] = {}
        for model in models:
            for (source, target), prefix in model.prefixes.items():
                self._models.setdefault((canonical_tag(source), canonical_tag(target)), (model.folder, prefix))
        self._routes = tuple(
            ratings.rate(ModelDirection(self.name, folder.name, source, target))
            for (source, target), (folder, _) in self._models.items()
        )
        self._loaded: OrderedDict[Path, _LoadedModel] = OrderedDict()
        self._lock = threading.Lock()

    def routes(self) -> Sequence[Route]:
        return self._routes

    def translate(
        self, sentences: Sequence[str], *, source: str, target: str, on_progress: OnProgress | None = None
    ) -> list[str]:
        check_sentences(sentences)
        direction = self._direction(source, target)
        cleaned = [clean_sentence(sentence) for sentence in sentences]
        translated = self._translate_all(cleaned, direction, PASSAGE_CHARACTERS, on_progress)
        for at, (sentence, text) in enumerate(zip(cleaned, translated, strict=True)):
            if translation_fault(sentence, text):
                translated[at] = self._translate_all([sentence], direction, RETRY_PASSAGE_CHARACTERS, None)[0]
        check_translations(cleaned, translated)
        return translated

    def alternatives(self, sentence: str, *, source: str, target: str, count: int) -> list[Alternative]:
        """The `count` best translations, best first; none for text that has to be translated in several passages."""
        direction = self._direction(source, target)
        text = clean_sentence(sentence)
        limit = scaled_limit(direction.pair[0], PASSAGE_CHARACTERS)
        if not has_words(text) or len(text) > limit or find_protected_spans(text):
            return []
        wanted = min(max(1, count), MAX_ALTERNATIVES)
        [found] = self._model(direction).translate([text], direction.prefix, self._decoding, hypotheses=wanted)
        unique = {each.text: each for each in reversed(found) if each.text}
        return sorted(unique.values(), key=lambda each: -each.score)

    def close(self) -> None:
        """Unloads the models; the next call loads them again."""
        with self._lock:
            self._loaded.clear()

    def _direction(self, source: str, target: str) -> "_Direction":
        route = find_route(self._routes, source=source, target=target)
        folder, prefix = self._models[route.source, route.target]
        return _Direction((route.source, route.target), folder, prefix)

    def _translate_all(
        self, sentences: Sequence[str], direction: "_Direction", limit: int, on_progress: OnProgress | None
    ) -> list[str]:
        limit = scaled_limit(direction.pair[0], limit)
        passages = [split_at_pauses(each, limit_characters=limit) for each in sentences]
        flat = [passage for each in passages for passage in each]
        translated: dict[str, str] = {}
        plain = [each for each in dict.fromkeys(flat) if has_words(each) and not find_protected_spans(each)]
        for start in range(0, len(plain), BATCH_PASSAGES):
            batch = plain[start : start + BATCH_PASSAGES]
            translated |= zip(batch, self._translate_batch(batch, direction), strict=True)
            if on_progress:
                on_progress((start + len(batch)) / len(plain))
        for each in flat:
            if each not in translated:
                translated[each] = translate_preserving(each, lambda text: self._translate_batch([text], direction)[0])
        return [
            clean_sentence(
                join_passages([match_case(each, translated[each]) for each in found], language=direction.pair[1])
            )
            for found in passages
        ]

    def _translate_batch(self, texts: Sequence[str], direction: "_Direction") -> list[str]:
        found = self._model(direction).translate(texts, direction.prefix, self._decoding, hypotheses=1)
        return [each[0].text for each in found]

    def _model(self, direction: "_Direction") -> "_LoadedModel":
        with self._lock:
            if direction.folder not in self._loaded:
                self._loaded[direction.folder] = _load(self._verify(direction.folder), self._cpu_threads, self._device)
                if len(self._loaded) > MAX_LOADED_MODELS:
                    self._loaded.popitem(last=False)
            self._loaded.move_to_end(direction.folder)
            return self._loaded[direction.folder]


@dataclass(frozen=True, slots=True)
class _Direction:
    pair: Pair
    folder: Path
    prefix: str


@dataclass(frozen=True, slots=True)
class _LoadedModel:
    translator: "ctranslate2.Translator"
    source_tokenizer: "sentencepiece.SentencePieceProcessor"
    target_tokenizer: "sentencepiece.SentencePieceProcessor"
    adds_end: bool  # whether the model itself ends the source sentence

    def source_tokens(self, text: str, prefix: str) -> list[str]:
        pieces: list[str] = self.source_tokenizer.encode(text, out_type=str)
        end = [] if self.adds_end else [END_OF_SENTENCE]
        return [*([prefix] if prefix else []), *pieces[:MAX_SOURCE_TOKENS], *end]

    def translate(
        self, texts: Sequence[str], prefix: str, decoding: Decoding, *, hypotheses: int
    ) -> list[list[Alternative]]:
        """The best translations of each text, best first."""
        tokens = [self.source_tokens(text, prefix) for text in texts]
        try:
            results = self.translator.translate_batch(
                tokens,
                beam_size=max(decoding.beam_size, hypotheses),
                num_hypotheses=hypotheses,
                length_penalty=decoding.length_penalty,
                max_decoding_length=decoding.max_tokens(max(map(len, tokens))),
                max_input_length=0,
                max_batch_size=BATCH_TOKENS,
                batch_type="tokens",
                return_scores=True,
            )
        except (RuntimeError, ValueError) as error:
            raise EngineError(f"The translation engine failed: {str(error)[:200]}") from error
        return [
            [
                Alternative(clean_sentence(self.target_tokenizer.decode(pieces)), score)
                for pieces, score in zip(result.hypotheses, result.scores, strict=True)
            ]
            for result in results
        ]


def _load(folder: Path, cpu_threads: int, device: Device) -> _LoadedModel:
    try:
        import ctranslate2  # noqa: PLC0415 - optional dependency
        import sentencepiece  # noqa: PLC0415 - optional dependency
    except ImportError as error:
        raise EngineUnavailableError("The packages ctranslate2 and sentencepiece are not installed.") from error
    try:
        source, target = _find(folder, SOURCE_TOKENIZERS), _find(folder, TARGET_TOKENIZERS)
        return _LoadedModel(
            ctranslate2.Translator(str(folder), device=device.value, compute_type="default", intra_threads=cpu_threads),
            sentencepiece.SentencePieceProcessor(model_file=str(source)),
            sentencepiece.SentencePieceProcessor(model_file=str(target)),
            adds_end=_adds_end(folder / "config.json"),
        )
    except (RuntimeError, ValueError, OSError) as error:
        raise EngineUnavailableError(f"The model {folder.name} cannot be loaded: {str(error)[:200]}") from error


def _find(folder: Path, names: Sequence[str]) -> Path:
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise EngineUnavailableError(f"The model {folder.name} is missing {names[0]}.")


def _adds_end(config: Path) -> bool:
    """Converters for Marian's own files set this; the one for Transformers models leaves it to the tokenizer."""
    with config.open("rb") as handle:
        settings = json.loads(handle.read(MAX_CONFIG_BYTES))
    return isinstance(settings, dict) and settings.get("add_source_eos") is True
