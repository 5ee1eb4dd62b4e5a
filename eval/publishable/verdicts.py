"""The verdicts of two readers on each text, bound to the fingerprint of what they read."""

import hashlib
import json
import tomllib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import ConfigDict, TypeAdapter

FILE = Path(__file__).parents[1] / "verdicts" / "publishable.toml"
Verdict = Literal["publish", "edit", "reject"]
PictureKind = Literal["thumbnail", "short"]


@dataclass(frozen=True, slots=True)
class TextVerdict:
    """What two readers would do with one text; neither saw the verdict of the other."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    talk: str
    kind: str
    fingerprint: str
    first: Verdict
    second: Verdict
    reason: str

    @property
    def is_publishable(self) -> bool:
        """Both would publish it as it is."""
        return self.first == self.second == "publish"


@dataclass(frozen=True, slots=True)
class JudgedPicture:
    """A thumbnail or short by its decisions, which are the same on every processor.

    `text` needs no rendering: the headline, or the times and the title. `picture` is what the rendering decides.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    talk: str
    kind: PictureKind
    number: int
    text: str
    picture: str = ""

    @property
    def id(self) -> str:
        return f"{self.talk}/{self.kind}-{self.number}"


@dataclass(frozen=True, slots=True)
class PictureVerdict:
    """What two readers would do with a thumbnail or short; neither saw the verdict of the other."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    judged: JudgedPicture
    first: Verdict
    second: Verdict
    reason: str

    @property
    def is_publishable(self) -> bool:
        """Both would publish it as it is."""
        return self.first == self.second == "publish"


class StaleVerdictError(ValueError):
    """The text is not the one that was read."""


_TABLE = TypeAdapter(dict[str, tuple[TextVerdict, ...]])


def fingerprint(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def load_verdicts(*, file: Path = FILE) -> dict[tuple[str, str], TextVerdict]:
    """Verdicts by talk and kind."""
    table = _TABLE.validate_python(tomllib.loads(file.read_text(encoding="utf-8")))
    return {(each.talk, each.kind): each for each in table["texts"]}


def write_verdicts(verdicts: Sequence[TextVerdict], *, file: Path = FILE) -> None:
    blocks = []
    for each in verdicts:
        lines = [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in asdict(each).items()]
        blocks.append("\n".join(["[[texts]]", *lines]))
    file.write_text("\n\n".join(blocks) + "\n", encoding="utf-8")


def verdict_on(talk: str, kind: str, text: str, *, file: Path = FILE) -> TextVerdict:
    """The verdict on exactly this text; raises StaleVerdictError if another was read."""
    found = load_verdicts(file=file).get((talk, kind))
    if found is None or found.fingerprint != fingerprint(text):
        raise StaleVerdictError(f"{talk}: the {kind} has changed since it was read")
    return found
