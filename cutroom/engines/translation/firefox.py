"""Translates with the models of Firefox Translations, on this machine's processor, through English where need be."""

import queue
import threading
import weakref
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from cutroom.engines.errors import EngineError, EngineUnavailableError
from cutroom.engines.translation.output_checks import check_answers, check_sentences, fault_in_answer
from cutroom.engines.translation.port import Quality, Route
from cutroom.engines.translation.routing import canonical, find_route
from cutroom.text.passages import cut, join, limit_in, translate_around, with_case_of
from cutroom.text.placeholders import cleaned, has_words

if TYPE_CHECKING:
    import fxtranslate

PIVOT = "en"
# The models learned single sentences: beyond some hundred words they lose the thread, and time grows by the square.
# No other thread of Python runs during a call, so a passage is also how long everything else may have to wait.
PASSAGE_CHARACTERS = 240
SMALL_PASSAGE_CHARACTERS = 100  # for a second try
LOADED_LIMIT = 4  # models in memory, some 50 MB each
MODEL_LIMIT_BYTES = 256 * 1024 * 1024

Pair: TypeAlias = tuple[str, str]


class FirefoxTranslator:
    """One model for each pair, in a folder of its own; may be used from several threads at once."""

    name = "firefox"

    def __init__(self, folders: Mapping[Pair, Path]) -> None:
        self._folders = {(canonical(source), canonical(target)): folder for (source, target), folder in folders.items()}
        self._routes = tuple(_routes(self._folders))
        self._asks: queue.SimpleQueue[_Ask | None] = queue.SimpleQueue()
        self._start = threading.Lock()
        self._thread: threading.Thread | None = None
        weakref.finalize(self, self._asks.put, None)

    def routes(self) -> Sequence[Route]:
        return self._routes

    def translate(self, sentences: Sequence[str], *, source: str, target: str) -> list[str]:
        check_sentences(sentences)
        route = find_route(self._routes, source=source, target=target)
        stops = [route.source, *route.via, route.target]
        done = [cleaned(sentence) for sentence in sentences]
        for pair in pairwise(stops):
            asked = done
            done = [self._translate_one(sentence, pair) for sentence in asked]
            check_answers(asked, done)
        return done

    def close(self) -> None:
        """End the thread and let the models go; the next sentence loads its model again."""
        with self._start:
            if self._thread is not None:
                self._asks.put(None)
                self._thread.join()
                self._thread = None

    def _translate_one(self, sentence: str, pair: Pair) -> str:
        if not has_words(sentence):
            return sentence
        answer = self._in_passages(sentence, pair, PASSAGE_CHARACTERS)
        if fault_in_answer(sentence, answer) is None:
            return answer
        return self._in_passages(sentence, pair, SMALL_PASSAGE_CHARACTERS)

    def _in_passages(self, sentence: str, pair: Pair, limit: int) -> str:
        passages = cut(sentence, limit_characters=limit_in(pair[0], limit))
        done = [with_case_of(each, translate_around(each, lambda text: self._ask(pair, text))) for each in passages]
        return cleaned(join(done, language=pair[1]))

    def _ask(self, pair: Pair, text: str) -> str:
        ask = _Ask(pair, text, Future())
        with self._start:
            if self._thread is None:
                work = (self._asks, dict(self._folders))
                self._thread = threading.Thread(target=_serve, args=work, name="firefox-translator", daemon=True)
                self._thread.start()
            self._asks.put(ask)
        return ask.answer.result()


class _Ask(NamedTuple):
    pair: Pair
    text: str
    answer: "Future[str]"


def _serve(asks: "queue.SimpleQueue[_Ask | None]", folders: Mapping[Pair, Path]) -> None:
    """Models may only be used, and let go, by the thread that made them: this one.

    A second thread would gain nothing, for a model lets no other thread run while it works. Faults are handed over in
    words, since an exception would carry this thread's models away with its frames.
    """
    loaded: OrderedDict[Pair, fxtranslate.Translator] = OrderedDict()
    while (ask := asks.get()) is not None:
        fault = _answer(ask, folders, loaded)
        if fault is not None:
            ask.answer.set_exception(fault)
        del ask


def _answer(
    ask: _Ask, folders: Mapping[Pair, Path], loaded: "OrderedDict[Pair, fxtranslate.Translator]"
) -> EngineError | None:
    try:
        if ask.pair not in loaded:
            loaded[ask.pair] = _load(folders[ask.pair])
            if len(loaded) > LOADED_LIMIT:
                loaded.popitem(last=False)
        loaded.move_to_end(ask.pair)
        ask.answer.set_result(loaded[ask.pair].translate_long(ask.text))
    except EngineUnavailableError as error:
        return EngineUnavailableError(str(error))
    except BaseException as error:  # noqa: BLE001 (a panic inside the engine is no Exception)
        return EngineError(f"The translation engine failed: {type(error).__name__}: {str(error)[:200]}")
    return None


def _load(folder: Path) -> "fxtranslate.Translator":
    try:
        import fxtranslate  # noqa: PLC0415 (an optional part)
    except ImportError as error:
        raise EngineUnavailableError("The package fxtranslate is not installed.") from error
    vocabulary = _read(folder, "vocab.*.spm", "srcvocab.*.spm")
    target_vocabulary = _read(folder, "vocab.*.spm", "trgvocab.*.spm")
    # The list of likely words for each word saves a third of the time; not every model has one.
    likely = _read(folder, "lex.*.bin") if any(folder.glob("lex.*.bin")) else None
    model = _read(folder, "model.*.bin")
    try:
        return fxtranslate.Translator(model=model, src_vocab=vocabulary, trg_vocab=target_vocabulary, shortlist=likely)
    except ValueError as error:
        raise EngineUnavailableError(f"The translation model in {folder.name} cannot be used: {error}") from error


def _read(folder: Path, *patterns: str) -> bytes:
    for pattern in patterns:
        for path in sorted(folder.glob(pattern)):
            if path.stat().st_size > MODEL_LIMIT_BYTES:
                raise EngineUnavailableError(f"{folder.name}/{path.name} is too large for a translation model.")
            return path.read_bytes()
    raise EngineUnavailableError(f"The model {folder.name} has no file {patterns[0]}; `just models` fetches it.")


def _routes(folders: Mapping[Pair, Path]) -> list[Route]:
    direct = [pair for pair, folder in folders.items() if folder.is_dir()]
    into = [source for source, target in direct if target == PIVOT]
    out_of = [target for source, target in direct if source == PIVOT]
    routes = [Route(source, target, Quality.GOOD) for source, target in direct]
    routes += [
        Route(source, target, Quality.GOOD, (PIVOT,))
        for source in into
        for target in out_of
        if source != target and (source, target) not in direct
    ]
    return routes
