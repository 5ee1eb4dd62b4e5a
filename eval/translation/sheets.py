"""Blind sheets for readers: lines in random order, without the engine, the route's class or the reference."""

import hashlib
import random
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from eval.talks import TalkLine
from eval.translation.outputs import TalkTranslation

LINES_PER_SHEET = 120
ID_LETTERS = 8

Verdict = Literal["right", "wrong"]

INSTRUCTIONS = """\
Judge each candidate: does it say what the source line says, as a caption that people could read?

- `right`: the meaning is complete and correct, names and numbers included. Small faults of style, such as a stiff
  wording, a missing article or an odd preposition, do not matter if everybody understands what was said.
- `wrong`: a word has the wrong sense, something is missing, added or left in another language, it refers to the wrong
  person or thing, or it cannot be understood.

The lines before and after show the context and are not judged. Answer every id in a TOML file, one line each:

    a1b2c3d4 = "right"
    b2c3d4e5 = "wrong: 'bank' is the side of the river"
"""


@dataclass(frozen=True, slots=True)
class ReaderAnswer:
    """One reader's verdict on one line."""

    verdict: Verdict
    reason: str = ""


class InvalidAnswersError(ValueError):
    """Answers that do not fit the sheet."""


def line_id(translation: TalkTranslation, number: int) -> str:
    """Identifies a candidate; another text has another id, so that answers cannot be merged into other outputs."""
    text = translation.texts[number - 1]
    key = "\n".join((translation.route, translation.talk.slug, str(number), text))
    return "l" + hashlib.sha256(key.encode()).hexdigest()[:ID_LETTERS]


def write_sheets(translations: Sequence[TalkTranslation], folder: Path, *, name: str) -> list[Path]:
    """Writes all lines of the translations in random order, in sheets of equal length."""
    items = [(translation, number) for translation in translations for number in range(1, len(translation.texts) + 1)]
    random.Random(name).shuffle(items)
    count = -(-len(items) // LINES_PER_SHEET)
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for at in range(count):
        path = folder / f"{name}_{at + 1}.md"
        chunk = items[at * len(items) // count : (at + 1) * len(items) // count]
        path.write_text(INSTRUCTIONS + "".join(_item(*each) for each in chunk), encoding="utf-8")
        paths.append(path)
    return paths


def read_answers(paths: Sequence[Path]) -> dict[str, ReaderAnswer]:
    """One reader's answers by line id; raises InvalidAnswersError for anything but the two verdicts."""
    found: dict[str, ReaderAnswer] = {}
    for path in paths:
        try:
            answers: Mapping[str, object] = tomllib.loads(path.read_text(encoding="utf-8"))
        except tomllib.TOMLDecodeError as error:
            raise InvalidAnswersError(f"{path.name}: {error}") from error
        for key, value in answers.items():
            match = re.fullmatch(r"(right|wrong)(?::\s*(.*))?", str(value).strip(), re.DOTALL)
            if match is None:
                raise InvalidAnswersError(f"{path.name}: {key} is neither right nor wrong: {value!r}")
            found[key] = ReaderAnswer("right" if match[1] == "right" else "wrong", " ".join((match[2] or "").split()))
    return found


def _item(translation: TalkTranslation, number: int) -> str:
    lines = translation.talk.lines
    before = _spoken(translation, lines[number - 2]) if number > 1 else "(start)"
    after = _spoken(translation, lines[number]) if number < len(lines) else "(end)"
    source = _spoken(translation, lines[number - 1])
    return (
        f"\n## {line_id(translation, number)}\n\nbefore: {before}\n**source: {source}**\nafter: {after}\n"
        f"**candidate: {translation.texts[number - 1]}**\n"
    )


def _spoken(translation: TalkTranslation, line: TalkLine) -> str:
    speaker = translation.talk.speaker(line)
    return f"[{speaker.name}, {speaker.gender}] {translation.talk.source(line)}"
