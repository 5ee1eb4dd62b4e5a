"""Rule-based translation between related languages with Debian's Apertium packages."""

import asyncio
import re
from collections.abc import Sequence
from pathlib import Path

from cutroom.engines.errors import EngineError, EngineUnavailableError
from cutroom.engines.translation.output_checks import check_sentences, check_translations, translation_fault
from cutroom.engines.translation.port import Route
from cutroom.engines.translation.route_quality import UNRATED, ModelDirection, RouteRatings
from cutroom.engines.translation.routing import find_route
from cutroom.engines.types import OnProgress
from cutroom.media.process import MediaError, Reason
from cutroom.media.sandbox import Sandbox
from cutroom.text.passages import batches
from cutroom.text.placeholders import clean_sentence, find_protected_spans, has_words, text_between

PROGRAM = Path("/usr/bin/apertium")  # reports the version; see _pipeline for what translates
MODES = Path("/usr/share/apertium/modes")
SHELL = Path("/usr/bin/bash")
MODE_PROGRAM = Path("/usr/bin/apertium-wblank-mode")
PACKAGES = (
    "apertium apertium-es-pt apertium-fr-es apertium-por-cat apertium-spa-cat apertium-nno-nob apertium-spa-ita "
    "apertium-eng-spa apertium-eng-cat apertium-fra-cat"
)
PIPELINE_SECONDS = 20.0
BATCH_SECONDS = 120.0
# Startup costs about 0.3 s per run; a batch is also what a failed run loses.
BATCH_CHARACTERS = 20_000
BATCH_SENTENCES = 200

# Modes between close languages, and from Spanish and Catalan to English. Others are not offered: English to Spanish
# and Catalan only conveys the gist, and Russian to Ukrainian produces nothing. Portuguese without a region is European.
_PAIRS: dict[str, tuple[str, str]] = {
    "fr-es": ("fr", "es"),
    "es-fr": ("es", "fr"),
    "spa-cat": ("es", "ca"),
    "cat-spa": ("ca", "es"),
    "por-cat": ("pt", "ca"),
    "cat-por": ("ca", "pt-PT"),
    "cat-por_BR": ("ca", "pt-BR"),
    "nob-nno": ("nb", "nn"),
    "nno-nob": ("nn", "nb"),
    "es-pt": ("es", "pt-PT"),
    "es-pt_BR": ("es", "pt-BR"),
    "pt-es": ("pt", "es"),
    "pt-gl": ("pt", "gl"),
    "gl-pt": ("gl", "pt-PT"),
    "spa-eng": ("es", "en"),
    "cat-eng": ("ca", "en"),
    "ita-spa": ("it", "es"),
    "spa-ita": ("es", "it"),
    "fra-cat": ("fr", "ca"),
    "cat-fra": ("ca", "fr"),
}

# Apertium stream format: special characters are escaped, and bracketed blanks pass through.
_SPECIAL = re.compile(r"[\\\[\]{}^$/@<>]")
_KEPT = re.compile(r"\[=(\d+)=\]")
_TILDE = "[~]"  # Apertium drops this character even when escaped
_END_OF_SENTENCE = re.compile(r"\[\]\[\|(\d+)\|\]")
# "debug" matches analysis tags that Apertium leaves on words it cannot generate.
_NOTATION = re.compile(
    r"\[=(?P<kept>\d+)=\]|\[(?P<tilde>~)\]|(?P<debug>\\?<[a-z][\w:.-]*\\?>|[@^$])|\\(?P<escaped>.)", re.DOTALL
)


class ApertiumTranslator:
    """Runs one sandboxed pipeline per batch; thread-safe, but not inside a running event loop."""

    name = "apertium"

    def __init__(
        self,
        modes: Path = MODES,
        *,
        seconds: float = BATCH_SECONDS,
        ratings: RouteRatings = UNRATED,
        sandbox: Sandbox | None = None,
    ) -> None:
        self._folder = modes
        self._seconds = seconds
        self._ratings = ratings
        self._sandbox = sandbox or Sandbox()
        self._modes: dict[tuple[str, str], str] | None = None
        self._pipelines: dict[str, str] = {}

    def routes(self) -> Sequence[Route]:
        """The installed modes that are listed; empty if Apertium is missing."""
        return tuple(
            self._ratings.rate(ModelDirection(self.name, mode, source, target), is_rule_based=True)
            for (source, target), mode in self._installed().items()
        )

    def translate(
        self, sentences: Sequence[str], *, source: str, target: str, on_progress: OnProgress | None = None
    ) -> list[str]:
        check_sentences(sentences)
        route = find_route(self.routes(), source=source, target=target)
        mode = self._installed()[route.source, route.target]
        cleaned = [clean_sentence(sentence) for sentence in sentences]
        translated = list(cleaned)
        for batch in batches(cleaned, sentences=BATCH_SENTENCES, characters=BATCH_CHARACTERS):
            translations = self._translate_batch([cleaned[at] for at in batch], mode)
            for at, translation in zip(batch, translations, strict=True):
                translated[at] = translation
            if on_progress:
                on_progress((batch[-1] + 1) / len(cleaned))
        check_translations(cleaned, translated)
        return translated

    def _installed(self) -> dict[tuple[str, str], str]:
        if self._modes is None:
            listed = {file.stem for file in self._folder.glob("*.mode")} if MODE_PROGRAM.exists() else set()
            self._modes = {pair: mode for mode, pair in _PAIRS.items() if mode in listed}
        return self._modes

    def _translate_batch(self, sentences: Sequence[str], mode: str) -> list[str]:
        """Translates in one run; bisects if the output cannot be split, and retries implausible sentences alone."""
        if len(sentences) == 1:
            return [self._translate_alone(sentences[0], mode)]
        translations = _decode(self._run_on(_encode(sentences), mode), sentences)
        if translations is None:
            half = len(sentences) // 2
            return [*self._translate_batch(sentences[:half], mode), *self._translate_batch(sentences[half:], mode)]
        return [
            self._translate_alone(sentence, mode) if translation_fault(sentence, translation) else translation
            for sentence, translation in zip(sentences, translations, strict=True)
        ]

    def _translate_alone(self, sentence: str, mode: str) -> str:
        translations = _decode(self._run_on(_encode([sentence]), mode), [sentence])
        if translations is not None:
            return translations[0]
        # Placeholders got lost: translate the text between them separately.
        protected = find_protected_spans(sentence)
        segments = [self._translate_segment(segment, mode) for segment in text_between(sentence, protected)]
        return segments[0] + "".join(span.text + rest for span, rest in zip(protected, segments[1:], strict=True))

    def _translate_segment(self, segment: str, mode: str) -> str:
        core = segment.strip()
        if not has_words(core):
            return segment
        translations = _decode(self._run_on(_encode([core]), mode), [core])
        if translations is None:
            raise EngineError("Apertium dropped a sentence marker.")
        at = segment.index(core)
        return segment[:at] + translations[0] + segment[at + len(core) :]

    def _run_on(self, text: str, mode: str) -> str:
        # The parameters of a pipeline: -n does not mark unknown words; the second one is for its tagger.
        arguments = ["-c", self._pipeline(mode), mode, "-n", ""]
        return self._run(SHELL, arguments, text=text.encode(), seconds=self._seconds)

    def _pipeline(self, mode: str) -> str:
        """The shell commands of a mode, as the program `apertium` would run them for text in stream format.

        It passes them through /dev/fd, which needs the /proc that the sandbox lacks.
        """
        if mode not in self._pipelines:
            commands = (self._folder / f"{mode}.mode").read_bytes()
            self._pipelines[mode] = self._run(MODE_PROGRAM, [], text=commands, seconds=PIPELINE_SECONDS)
        return self._pipelines[mode]

    def _run(self, program: Path, arguments: Sequence[str], *, text: bytes, seconds: float) -> str:
        try:
            finished = asyncio.run(self._sandbox.run_on_text(program, arguments, text=text, seconds=seconds))
        except MediaError as error:
            raise _engine_error(error) from error
        if finished.exit_code != 0:
            raise EngineError(f"Apertium exited with {finished.exit_code}: {finished.stderr[-200:]}")
        return finished.stdout.decode(errors="replace")


def _engine_error(error: MediaError) -> EngineError:
    if error.reason is Reason.TOOL_MISSING:
        return EngineUnavailableError("Apertium is not installed.")
    if error.reason is Reason.TIMED_OUT:
        return EngineUnavailableError("Apertium timed out.")
    if error.reason is Reason.SANDBOX_UNAVAILABLE:
        return EngineUnavailableError("The sandbox of Apertium is not available.")
    return EngineError(f"Apertium failed: {error.reason}")


def _encode(sentences: Sequence[str]) -> str:
    """Each sentence followed by a period, so that no rule spans sentences, and a numbered marker."""
    return "".join(f"{_mark(sentence)}.[][|{number}|]" for number, sentence in enumerate(sentences)) + "\n"


def _mark(sentence: str) -> str:
    protected = find_protected_spans(sentence)
    around = [_SPECIAL.sub(r"\\\g<0>", segment).replace("~", _TILDE) for segment in text_between(sentence, protected)]
    return around[0] + "".join(f"[={number}=]{rest}" for number, rest in enumerate(around[1:]))


def _decode(output: str, sentences: Sequence[str]) -> list[str] | None:
    """The translations, or None unless every sentence and placeholder is present in order."""
    *texts, _ = _END_OF_SENTENCE.split(output)
    numbers = texts[1::2]
    if numbers != [str(number) for number in range(len(sentences))]:
        return None
    translations = [_unmark(text, sentence) for text, sentence in zip(texts[::2], sentences, strict=True)]
    return None if None in translations else [translation for translation in translations if translation is not None]


def _unmark(text: str, sentence: str) -> str | None:
    protected = find_protected_spans(sentence)
    if sorted(map(int, _KEPT.findall(text))) != list(range(len(protected))):
        return None

    def restore(match: re.Match[str]) -> str:
        kept = match["kept"]
        return protected[int(kept)].text if kept else match["tilde"] or match["escaped"] or ""

    return clean_sentence(_NOTATION.sub(restore, text.strip().removesuffix(".")))
