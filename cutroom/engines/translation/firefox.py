"""Local translation with Firefox Translations models, pivoting through English where needed."""

import queue
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from cutroom.engines.errors import EngineError, EngineUnavailableError
from cutroom.engines.models.files import ModelSourceError, read_unpacked
from cutroom.engines.models.manifest import GZIP_SUFFIX
from cutroom.engines.translation.output_checks import check_sentences, check_translations, translation_fault
from cutroom.engines.translation.port import Route
from cutroom.engines.translation.route_quality import UNRATED, ModelDirection, RouteRatings
from cutroom.engines.translation.routing import find_route
from cutroom.engines.types import OnProgress
from cutroom.text.language_tags import canonical_tag
from cutroom.text.passages import join_passages, match_case, scaled_limit, split_at_pauses, translate_preserving
from cutroom.text.placeholders import clean_sentence, has_words
from cutroom.text.sentences import split_sentences
from cutroom.text.spoken_english import literal_wording
from cutroom.text.vocabulary import words_of

if TYPE_CHECKING:
    import fxtranslate

PIVOT = ENGLISH = "en"
# The models are trained on single sentences: beyond about 100 words quality drops and time grows quadratically.
# A call holds the GIL, so the passage length also bounds how long other threads wait.
PASSAGE_CHARACTERS = 240
RETRY_PASSAGE_CHARACTERS = 100  # after an implausible translation
MIN_COPIED_LETTERS = 4  # of a word that may have been left untranslated
MAX_LOADED_MODELS = 4  # about 50 MB each
MAX_MODEL_BYTES = 256 * 1024 * 1024

Pair: TypeAlias = tuple[str, str]
VerifyFolder: TypeAlias = Callable[[Path], object]


class FirefoxTranslator:
    """One model folder per language pair; thread-safe."""

    name = "firefox"

    def __init__(
        self, folders: Mapping[Pair, Path], *, ratings: RouteRatings = UNRATED, verify: VerifyFolder | None = None
    ) -> None:
        """The name of a folder is that of its model.

        `verify` is called before a folder's model is loaded, and raises EngineUnavailableError if it is damaged.
        """
        self._folders = {
            (canonical_tag(source), canonical_tag(target)): folder for (source, target), folder in folders.items()
        }
        self._verify = verify
        self._routes = tuple(_routes(self._folders, ratings))
        self._requests: queue.SimpleQueue[_Request | None] = queue.SimpleQueue()
        self._start_lock = threading.Lock()
        self._thread: threading.Thread | None = None
        weakref.finalize(self, self._requests.put, None)

    def routes(self) -> Sequence[Route]:
        return self._routes

    def translate(
        self, sentences: Sequence[str], *, source: str, target: str, on_progress: OnProgress | None = None
    ) -> list[str]:
        check_sentences(sentences)
        route = find_route(self._routes, source=source, target=target)
        stops = [route.source, *route.via, route.target]
        translated = [clean_sentence(sentence) for sentence in sentences]
        for leg, pair in enumerate(pairwise(stops)):
            source_sentences, translated = translated, []
            for sentence in source_sentences:
                translated.append(self._translate_one(sentence, pair))
                if on_progress:
                    on_progress((leg + len(translated) / len(source_sentences)) / (len(stops) - 1))
            check_translations(source_sentences, translated)
        return translated

    def close(self) -> None:
        """Stops the thread and unloads the models; the next call loads them again."""
        with self._start_lock:
            if self._thread is not None:
                self._requests.put(None)
                self._thread.join()
                self._thread = None

    def _translate_one(self, sentence: str, pair: Pair) -> str:
        if not has_words(sentence):
            return sentence
        translation = self._in_passages(sentence, pair, PASSAGE_CHARACTERS)
        if translation_fault(sentence, translation) is None:
            return translation
        return self._in_passages(sentence, pair, RETRY_PASSAGE_CHARACTERS)

    def _in_passages(self, sentence: str, pair: Pair, limit: int) -> str:
        passages = split_at_pauses(sentence, limit_characters=scaled_limit(pair[0], limit))
        translated = [match_case(each, self._translate_passage(each, pair)) for each in passages]
        return clean_sentence(join_passages(translated, language=pair[1]))

    def _translate_passage(self, passage: str, pair: Pair) -> str:
        """Translates sentences together, so that each has the others as context, or alone if one gets lost."""
        wording = literal_wording(passage) if pair[0] == ENGLISH else passage
        translation = translate_preserving(wording, lambda text: self._request_translation(pair, text))
        sentences, copied = split_sentences(wording), _copied_words(wording, translation)
        is_complete = len(sentences) <= len(split_sentences(translation))
        if len(sentences) == 1 or (is_complete and not copied):
            return translation
        alone = [translate_preserving(each, lambda text: self._request_translation(pair, text)) for each in sentences]
        joined = join_passages(alone, language=pair[1])
        return joined if not is_complete or _copied_words(wording, joined) < copied else translation

    def _request_translation(self, pair: Pair, text: str) -> str:
        request = _Request(pair, text, Future())
        with self._start_lock:
            if self._thread is None:
                arguments = (self._requests, dict(self._folders), self._verify)
                self._thread = threading.Thread(target=_serve, args=arguments, name="firefox-translator", daemon=True)
                self._thread.start()
            self._requests.put(request)
        return request.result.result()


class _Request(NamedTuple):
    pair: Pair
    text: str
    result: "Future[str]"


def _serve(
    requests: "queue.SimpleQueue[_Request | None]", folders: Mapping[Pair, Path], verify: VerifyFolder | None
) -> None:
    """Translates requests until None arrives; models must be used and freed by the thread that created them.

    More threads would gain nothing, because a call holds the GIL. Errors are re-created from their message, because
    the original exception's frames would keep this thread's models alive.
    """
    loaded: OrderedDict[Pair, fxtranslate.Translator] = OrderedDict()
    while (request := requests.get()) is not None:
        fault = _handle(request, folders, loaded, verify=verify)
        if fault is not None:
            request.result.set_exception(fault)
        del request


def _handle(
    request: _Request,
    folders: Mapping[Pair, Path],
    loaded: "OrderedDict[Pair, fxtranslate.Translator]",
    *,
    verify: VerifyFolder | None,
) -> EngineError | None:
    try:
        if request.pair not in loaded:
            if verify is not None:
                verify(folders[request.pair])
            loaded[request.pair] = _load(folders[request.pair])
            if len(loaded) > MAX_LOADED_MODELS:
                loaded.popitem(last=False)
        loaded.move_to_end(request.pair)
        request.result.set_result(loaded[request.pair].translate(request.text))
    except EngineUnavailableError as error:
        return EngineUnavailableError(str(error))
    except BaseException as error:  # noqa: BLE001 - a Rust panic is not an Exception
        return EngineError(f"The translation engine failed: {type(error).__name__}: {str(error)[:200]}")
    return None


def _copied_words(source: str, translation: str) -> int:
    """How many words of the source are in the translation as they are."""
    said = {word for word in words_of(source) if len(word) >= MIN_COPIED_LETTERS}
    return sum(word in said for word in words_of(translation))


def _load(folder: Path) -> "fxtranslate.Translator":
    try:
        import fxtranslate  # noqa: PLC0415 - optional dependency
    except ImportError as error:
        raise EngineUnavailableError("The package fxtranslate is not installed.") from error
    vocabulary = _read(folder, "vocab.*.spm", "srcvocab.*.spm")
    target_vocabulary = _read(folder, "vocab.*.spm", "trgvocab.*.spm")
    model = _read(folder, "model.*.bin")
    try:
        # Without its lexical shortlist, which saves a third of the time: rare words would be left untranslated.
        return fxtranslate.Translator(model=model, src_vocab=vocabulary, trg_vocab=target_vocabulary)
    except ValueError as error:
        raise EngineUnavailableError(f"The translation model {folder.name} cannot be loaded: {error}") from error


def _read(folder: Path, *patterns: str) -> bytes:
    """The first file that matches a pattern, as it is or gzipped."""
    for pattern in patterns:
        for path in (*sorted(folder.glob(pattern)), *sorted(folder.glob(pattern + GZIP_SUFFIX))):
            try:
                return read_unpacked(path, limit_bytes=MAX_MODEL_BYTES)
            except ModelSourceError as error:
                raise EngineUnavailableError(f"{folder.name}/{path.name} cannot be loaded: {error}") from error
    raise EngineUnavailableError(f"The model {folder.name} is missing {patterns[0]}; run `just models`.")


def _routes(folders: Mapping[Pair, Path], ratings: RouteRatings) -> list[Route]:
    direct = {
        (source, target): ModelDirection(FirefoxTranslator.name, folder.name, source, target)
        for (source, target), folder in folders.items()
        if folder.is_dir()
    }
    to_pivot = [source for source, target in direct if target == PIVOT]
    from_pivot = [target for source, target in direct if source == PIVOT]
    routes = [ratings.rate(each) for each in direct.values()]
    routes += [
        ratings.rate(direct[source, PIVOT], direct[PIVOT, target])
        for source in to_pivot
        for target in from_pivot
        if source != target and (source, target) not in direct
    ]
    return routes
