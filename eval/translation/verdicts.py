"""The checked-in verdicts of readers, bound to the fingerprint of the outputs that they read."""

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from pydantic import ConfigDict, TypeAdapter

from eval.translation.outputs import TalkTranslation
from eval.translation.sheets import ReaderAnswer, Verdict, line_id

FOLDER = Path(__file__).parents[1] / "verdicts"
_REFUSE_UNKNOWN_KEYS = ConfigDict(extra="forbid")


@dataclass(frozen=True, slots=True)
class LineVerdict:
    """The verdicts of two readers on one line; a third settles a disagreement, which is wrong otherwise."""

    __pydantic_config__: ClassVar[ConfigDict] = _REFUSE_UNKNOWN_KEYS

    line: int
    verdict: Verdict
    first: Verdict
    second: Verdict
    third: Verdict | None = None
    reason: str = ""

    @property
    def is_right(self) -> bool:
        return self.verdict == "right"


@dataclass(frozen=True, slots=True)
class TalkVerdicts:
    """The verdicts on one talk; `fingerprint` is that of the texts that were read."""

    __pydantic_config__: ClassVar[ConfigDict] = _REFUSE_UNKNOWN_KEYS

    talk: str
    fingerprint: str
    lines: tuple[LineVerdict, ...]

    @property
    def right(self) -> int:
        return sum(line.is_right for line in self.lines)


class StaleVerdictsError(ValueError):
    """The outputs are not the ones that were read."""


_TABLE = TypeAdapter(dict[str, tuple[TalkVerdicts, ...]])


def load_verdicts(route: str, *, folder: Path = FOLDER) -> Mapping[str, TalkVerdicts]:
    """The verdicts on a route by talk; empty if its outputs have not been read."""
    path = folder / f"{route}.toml"
    if not path.exists():
        return {}
    table = _TABLE.validate_python(tomllib.loads(path.read_text(encoding="utf-8")))
    return {each.talk: each for each in table["talks"]}


def verdicts_on(translation: TalkTranslation, *, folder: Path = FOLDER) -> TalkVerdicts:
    """The verdicts on exactly these texts; raises StaleVerdictsError if others were read."""
    found = load_verdicts(translation.route, folder=folder).get(translation.talk.slug)
    if found is None:
        raise StaleVerdictsError(f"{translation.route} {translation.talk.slug}: the outputs have not been read")
    if found.fingerprint != translation.fingerprint:
        raise StaleVerdictsError(f"{translation.route} {translation.talk.slug}: the outputs have changed since")
    if [line.line for line in found.lines] != list(range(1, len(translation.texts) + 1)):
        raise StaleVerdictsError(f"{translation.route} {translation.talk.slug}: lines without a verdict")
    return found


def merge_answers(
    translation: TalkTranslation,
    first: Mapping[str, ReaderAnswer],
    second: Mapping[str, ReaderAnswer],
    third: Mapping[str, ReaderAnswer] | None = None,
) -> TalkVerdicts:
    """Joins the readers' answers; raises KeyError if one of the two has not answered a line."""
    lines = []
    for number in range(1, len(translation.texts) + 1):
        key = line_id(translation, number)
        one, two, settled = first[key], second[key], (third or {}).get(key)
        agreed = one.verdict == two.verdict
        verdict: Verdict = one.verdict if agreed else settled.verdict if settled else "wrong"
        answers = [settled, one, two] if settled and not agreed else [one, two]
        reason = next((each.reason for each in answers if each.verdict == "wrong" and each.reason), "")
        other = settled.verdict if settled and not agreed else None
        lines.append(
            LineVerdict(number, verdict, one.verdict, two.verdict, other, reason if verdict == "wrong" else "")
        )
    return TalkVerdicts(translation.talk.slug, translation.fingerprint, tuple(lines))


def write_verdicts(route: str, talks: Sequence[TalkVerdicts], *, folder: Path = FOLDER) -> Path:
    path = folder / f"{route}.toml"
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(_talk_table(each) for each in talks), encoding="utf-8")
    return path


def _talk_table(talk: TalkVerdicts) -> str:
    rows = "".join(f"  {_line_table(line)},\n" for line in talk.lines)
    return f'[[talks]]\ntalk = "{talk.talk}"\nfingerprint = "{talk.fingerprint}"\nlines = [\n{rows}]\n'


def _line_table(line: LineVerdict) -> str:
    third = f', third = "{line.third}"' if line.third else ""
    # A JSON string without surrogate escapes is a TOML basic string.
    reason = f", reason = {json.dumps(line.reason, ensure_ascii=False)}" if line.reason else ""
    return (
        f'{{ line = {line.line}, verdict = "{line.verdict}", first = "{line.first}", second = "{line.second}"'
        f"{third}{reason} }}"
    )
