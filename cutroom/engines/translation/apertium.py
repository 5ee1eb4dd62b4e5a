"""Translates between related languages with the rules of Apertium, a separate program from Debian's packages."""

import asyncio
import os
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from cutroom.engines.errors import EngineError, EngineUnavailableError
from cutroom.engines.translation.output_checks import check_answers, check_sentences, fault_in_answer
from cutroom.engines.translation.port import Quality, Route
from cutroom.engines.translation.routing import find_route
from cutroom.media.process import Finished, MediaError, Reason, run
from cutroom.text.passages import batches
from cutroom.text.placeholders import between, cleaned, find_protected, has_words

PROGRAM = Path("/usr/bin/apertium")
LISTING_SECONDS = 20.0
BATCH_SECONDS = 120.0
# A run costs some 0.3 s to begin with; a batch is also what is lost when a run fails.
BATCH_CHARACTERS = 20_000
BATCH_SENTENCES = 200

# What each of the program's pairs is worth, by reading what it gives. A pair that is not listed is not offered: from
# English to Spanish and Catalan the gist is all that arrives, and another way round does better; Russian to Ukrainian
# gives nothing at all.
_PAIRS: dict[str, tuple[str, str, Quality]] = {
    "fr-es": ("fr", "es", Quality.DRAFT),
    "es-fr": ("es", "fr", Quality.DRAFT),
    "spa-cat": ("es", "ca", Quality.GOOD),
    "cat-spa": ("ca", "es", Quality.GOOD),
    "por-cat": ("pt", "ca", Quality.GOOD),
    "cat-por": ("ca", "pt", Quality.GOOD),
    "cat-por_BR": ("ca", "pt-BR", Quality.GOOD),
    "nob-nno": ("nb", "nn", Quality.GOOD),
    "nno-nob": ("nn", "nb", Quality.GOOD),
    "es-pt": ("es", "pt", Quality.DRAFT),
    "es-pt_BR": ("es", "pt-BR", Quality.DRAFT),
    "pt-es": ("pt", "es", Quality.DRAFT),
    "spa-eng": ("es", "en", Quality.DRAFT),
    "cat-eng": ("ca", "en", Quality.DRAFT),
    "ita-spa": ("it", "es", Quality.DRAFT),
    "spa-ita": ("es", "it", Quality.DRAFT),
    "fra-cat": ("fr", "ca", Quality.DRAFT),
    "cat-fra": ("ca", "fr", Quality.DRAFT),
}

# The program's own notation: signs that mean something in it are escaped, and what stands in brackets passes through.
_SIGNS = re.compile(r"[\\\[\]{}^$/@<>]")
_KEPT = re.compile(r"\[=(\d+)=\]")
_TILDE = "[~]"  # a sign that the program swallows even when it is escaped
_END_OF_SENTENCE = re.compile(r"\[\]\[\|(\d+)\|\]")
# A remark is on a word that the program could not build. No sentence has such tags: they are carried over.
_NOTATION = re.compile(
    r"\[=(?P<kept>\d+)=\]|\[(?P<tilde>~)\]|(?P<remark>\\?<[a-z][\w:.-]*\\?>|[@^$])|\\(?P<escaped>.)", re.DOTALL
)


class ApertiumTranslator:
    """Starts the program once for each batch; may be used from several threads at once, none of which runs a loop."""

    name = "apertium"

    def __init__(self, program: Path = PROGRAM, *, seconds: float = BATCH_SECONDS) -> None:
        self._program = program
        self._seconds = seconds
        self._modes: dict[tuple[str, str], str] | None = None

    def routes(self) -> Sequence[Route]:
        """The pairs that are installed and known to be of use; none where the program is missing."""
        return tuple(Route(*_PAIRS[mode]) for mode in self._installed().values())

    def translate(self, sentences: Sequence[str], *, source: str, target: str) -> list[str]:
        check_sentences(sentences)
        route = find_route(self.routes(), source=source, target=target)
        mode = self._installed()[route.source, route.target]
        asked = [cleaned(sentence) for sentence in sentences]
        done = list(asked)
        for batch in batches(asked, sentences=BATCH_SENTENCES, characters=BATCH_CHARACTERS):
            answers = self._translate_batch([asked[at] for at in batch], mode)
            for at, answer in zip(batch, answers, strict=True):
                done[at] = answer
        check_answers(asked, done)
        return done

    def _installed(self) -> dict[tuple[str, str], str]:
        if self._modes is None:
            listed = set(self._listing().split())
            self._modes = {(_PAIRS[mode][0], _PAIRS[mode][1]): mode for mode in _PAIRS if mode in listed}
        return self._modes

    def _listing(self) -> str:
        if not self._program.exists():
            return ""
        return self._run(["-l"], LISTING_SECONDS).stdout.decode(errors="replace")

    def _translate_batch(self, sentences: Sequence[str], mode: str) -> list[str]:
        """All in one run; in two where the joint answer cannot be taken apart, and what has a fault once more alone."""
        if len(sentences) == 1:
            return [self._translate_alone(sentences[0], mode)]
        answers = _read(self._run_on(_write(sentences), mode), sentences)
        if answers is None:
            half = len(sentences) // 2
            return [*self._translate_batch(sentences[:half], mode), *self._translate_batch(sentences[half:], mode)]
        return [
            self._translate_alone(sentence, mode) if fault_in_answer(sentence, answer) else answer
            for sentence, answer in zip(sentences, answers, strict=True)
        ]

    def _translate_alone(self, sentence: str, mode: str) -> str:
        answers = _read(self._run_on(_write([sentence]), mode), [sentence])
        if answers is not None:
            return answers[0]
        # What is carried over got lost on the way: translate what lies between.
        parts = find_protected(sentence)
        done = [self._translate_stretch(stretch, mode) for stretch in between(sentence, parts)]
        return done[0] + "".join(part.text + rest for part, rest in zip(parts, done[1:], strict=True))

    def _translate_stretch(self, stretch: str, mode: str) -> str:
        core = stretch.strip()
        if not has_words(core):
            return stretch
        answers = _read(self._run_on(_write([core]), mode), [core])
        if answers is None:
            raise EngineError("The translation program lost the end of a sentence.")
        at = stretch.index(core)
        return stretch[:at] + answers[0] + stretch[at + len(core) :]

    def _run_on(self, text: str, mode: str) -> str:
        """The text goes in as a file that has no name, so that no other program can see it."""
        file = os.memfd_create("sentences")
        try:
            _write_all(file, text.encode())
            # -u: no marks on unknown words. -f none: the text is in the program's own notation.
            arguments = ["-u", "-f", "none", mode, f"/dev/fd/{file}"]
            finished = self._run(arguments, self._seconds, pass_fds=(file,))
        finally:
            os.close(file)
        return finished.stdout.decode(errors="replace")

    def _run(self, arguments: Sequence[str], seconds: float, *, pass_fds: Sequence[int] = ()) -> Finished:
        with tempfile.TemporaryDirectory(prefix="cutroom-apertium-") as scratch:
            environment = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "TMPDIR": scratch}
            command = [str(self._program), *arguments]
            try:
                finished = asyncio.run(
                    run(command, seconds=seconds, environment=environment, folder=Path(scratch), pass_fds=pass_fds)
                )
            except MediaError as error:
                raise _explained(error) from error
        if finished.exit_code != 0:
            raise EngineError(f"The translation program ended with {finished.exit_code}: {finished.stderr[-200:]}")
        return finished


def _explained(error: MediaError) -> EngineError:
    if error.reason is Reason.TOOL_MISSING:
        return EngineUnavailableError("The translation program apertium is not installed.")
    if error.reason is Reason.TIMED_OUT:
        return EngineUnavailableError("The translation program did not end in time.")
    return EngineError(f"The translation program failed: {error.reason}")


def _write(sentences: Sequence[str]) -> str:
    """Each sentence with a full stop of ours behind it, so that no rule reaches over into the next, and its number."""
    return "".join(f"{_marked(sentence)}.[][|{number}|]" for number, sentence in enumerate(sentences)) + "\n"


def _marked(sentence: str) -> str:
    parts = find_protected(sentence)
    around = [_SIGNS.sub(r"\\\g<0>", stretch).replace("~", _TILDE) for stretch in between(sentence, parts)]
    return around[0] + "".join(f"[={number}=]{rest}" for number, rest in enumerate(around[1:]))


def _read(output: str, sentences: Sequence[str]) -> list[str] | None:
    """The translations, or nothing unless every sentence and everything carried over is there, in order."""
    *texts, _ = _END_OF_SENTENCE.split(output)
    numbers = texts[1::2]
    if numbers != [str(number) for number in range(len(sentences))]:
        return None
    answers = [_unmarked(text, sentence) for text, sentence in zip(texts[::2], sentences, strict=True)]
    return None if None in answers else [answer for answer in answers if answer is not None]


def _unmarked(text: str, sentence: str) -> str | None:
    parts = find_protected(sentence)
    if sorted(map(int, _KEPT.findall(text))) != list(range(len(parts))):
        return None

    def meant(match: re.Match[str]) -> str:
        kept = match["kept"]
        return parts[int(kept)].text if kept else match["tilde"] or match["escaped"] or ""

    return cleaned(_NOTATION.sub(meant, text.strip().removesuffix(".")))


def _write_all(file: int, data: bytes) -> None:
    with os.fdopen(os.dup(file), "wb") as stream:
        stream.write(data)
