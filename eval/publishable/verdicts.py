"""The verdicts of two readers, bound to what they judged: the fingerprint of a text, or the decisions of a picture."""

import hashlib
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import ConfigDict, TypeAdapter

FILE = Path(__file__).parents[1] / "verdicts" / "publishable.toml"
PICTURES_FILE = FILE.with_name("publishable_pictures.toml")
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
    """What two readers would do with a judged picture; neither saw the verdict of the other."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    talk: str
    kind: PictureKind
    number: int
    text: str
    picture: str
    first: Verdict
    second: Verdict
    reason: str

    @property
    def is_publishable(self) -> bool:
        """Both would publish it as it is."""
        return self.first == self.second == "publish"

    @property
    def judged(self) -> JudgedPicture:
        return JudgedPicture(self.talk, self.kind, self.number, self.text, self.picture)


class StaleVerdictError(ValueError):
    """What was judged is not what is made now."""


_TABLE = TypeAdapter(dict[str, tuple[TextVerdict, ...]])
_PICTURES = TypeAdapter(dict[str, tuple[PictureVerdict, ...]])


def fingerprint(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def load_verdicts(*, file: Path = FILE) -> dict[tuple[str, str], TextVerdict]:
    """Verdicts by talk and kind."""
    table = _TABLE.validate_python(tomllib.loads(file.read_text(encoding="utf-8")))
    return {(each.talk, each.kind): each for each in table["texts"]}


def write_verdicts(verdicts: Sequence[TextVerdict], *, file: Path = FILE) -> None:
    _write_table("texts", verdicts, file)


def load_picture_verdicts(*, file: Path = PICTURES_FILE) -> dict[str, PictureVerdict]:
    """Verdicts by id."""
    table = _PICTURES.validate_python(tomllib.loads(file.read_text(encoding="utf-8")))
    return {each.judged.id: each for each in table["pictures"]}


def write_picture_verdicts(verdicts: Sequence[PictureVerdict], *, file: Path = PICTURES_FILE) -> None:
    _write_table("pictures", verdicts, file)


def _write_table(name: str, rows: Sequence[TextVerdict | PictureVerdict], file: Path) -> None:
    blocks = []
    for each in rows:
        lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in asdict(each).items()]
        blocks.append("\n".join([f"[[{name}]]", *lines]))
    file.write_text("\n\n".join(blocks) + "\n", encoding="utf-8")


def verdict_on(talk: str, kind: str, text: str, *, file: Path = FILE) -> TextVerdict:
    """The verdict on exactly this text; raises StaleVerdictError if another was read."""
    found = load_verdicts(file=file).get((talk, kind))
    if found is None or found.fingerprint != fingerprint(text):
        raise StaleVerdictError(f"{talk}: the {kind} has changed since it was read")
    return found


def picture_verdict_on(judged: JudgedPicture, verdicts: Mapping[str, PictureVerdict]) -> PictureVerdict:
    """The verdict on exactly these decisions; those of the rendering are compared if they are known."""
    found = verdicts.get(judged.id)
    if found is None:
        raise StaleVerdictError(f"{judged.id} has no verdict")
    if found.text != judged.text or (judged.picture and found.picture != judged.picture):
        raise StaleVerdictError(
            f"{judged.id} has changed since it was judged: {found.text} ({found.picture})"
            f" is now {judged.text} ({judged.picture or 'not rendered'})"
        )
    return found
