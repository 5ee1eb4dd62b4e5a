"""Takes of a line: audio of what the line says, spoken before a regeneration, that a person can choose."""

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from cutroom.platform.ids import is_id
from cutroom.products.dubs.editing.lines import ChosenTake, DesiredLine, LineEdits
from cutroom.products.dubs.editing.redub_lines import LineWork, redub_lines, script_lines
from cutroom.products.dubs.editing.staleness import LineStaleReason, LineState
from cutroom.products.dubs.script import AssignedVoice, DubLine, read_dub_line
from cutroom.products.speech.rules import fingerprint
from cutroom.products.transcripts.document import TranscriptDocument
from cutroom.text.glossary.terms import Glossary

MAX_TAKES = 3  # of one preview
TAKES_TTL = timedelta(hours=24)
# How fast an engine without variation is asked to speak each take, relative to the first one: one is calm, one lively.
PACES = (1.0, 0.8, 1.25)
FOLDER = "shared/takes/"

_TAKE_ID = re.compile(rf"([0-9a-z]{{26}})([1-{MAX_TAKES}])")


class TakeVariation(StrEnum):
    """How a take differs from the first one."""

    NONE = "none"  # it is the first one: what a regeneration would speak
    SAMPLING = "sampling"  # the engine speaks a text differently each time
    PACE = "pace"  # the voice is slower or faster


@dataclass(frozen=True, slots=True)
class TakesOrder:
    """What the worker speaks: a line as a regeneration would make it, in one voice."""

    line: DubLine
    voice: AssignedVoice
    count: int
    made_for: str

    def to_json(self) -> bytes:
        return json.dumps(asdict(self), ensure_ascii=False).encode()

    @classmethod
    def from_json(cls, data: bytes) -> "TakesOrder":
        row = json.loads(data)
        return cls(read_dub_line(row["line"]), AssignedVoice(**row["voice"]), row["count"], row["made_for"])

    def preview_id(self, dub: Sequence[str]) -> str:
        """The same for the same speech in a dub, so that a repeated request returns what was made."""
        speech = asdict(replace(self, line=replace(self.line, number=0)))
        return "0" + fingerprint({"dub": list(dub), "order": speech})[:25]  # has the form of an id


@dataclass(frozen=True, slots=True)
class LineTake:
    """One take as it was spoken."""

    id: str
    text: str
    seconds: float
    tempo: float
    speaking_rate: float
    variation: TakeVariation


@dataclass(frozen=True, slots=True)
class MadeTakes:
    """The takes of a preview, stored with their audio."""

    line_id: str
    made_for: str
    takes: tuple[LineTake, ...]

    def to_json(self) -> bytes:
        return json.dumps(asdict(self), ensure_ascii=False).encode()

    @classmethod
    def from_json(cls, data: bytes) -> "MadeTakes":
        row = json.loads(data)
        takes = tuple(LineTake(**{**each, "variation": TakeVariation(each["variation"])}) for each in row["takes"])
        return cls(row["line_id"], row["made_for"], takes)

    def chosen(self, id_: str) -> ChosenTake | None:
        take = next((each for each in self.takes if each.id == id_), None)
        return ChosenTake(id_, chosen_key(id_), take.text, self.made_for) if take is not None else None


def take_id(preview_id: str, number: int) -> str:
    """The id of a take, counted from 0."""
    return f"{preview_id}{number + 1}"


def parse_take_id(text: str) -> tuple[str, int] | None:
    """The preview of a take and its number; None if it has not the form of an id of a take."""
    match = _TAKE_ID.fullmatch(text)
    return (match[1], int(match[2]) - 1) if match is not None and is_id(match[1]) else None


def chosen_key(id_: str) -> str:
    """Under which the audio of a chosen take is kept among the lines of the dub."""
    return fingerprint({"take": id_})


def expires_at(made_at: datetime) -> datetime:
    return made_at + TAKES_TTL


def previewed_line(
    states: Sequence[LineState],
    edits: LineEdits,
    id_: str,
    *,
    document: TranscriptDocument,
    until_seconds: float,
    glossary: Glossary,
) -> tuple[DesiredLine, DubLine]:
    """A line with other edits as a regeneration would speak it; nothing is stored."""
    desired = {each.id: each.desired for each in states}[id_]
    assert desired is not None
    wanted = replace(desired, edits=replace(edits, mute=None, keep_original=None, take=None))
    changed = [
        replace(each, desired=wanted, reasons=(LineStaleReason.EDITED,)) if each.id == id_ else each for each in states
    ]
    lines = [
        replace(each, work=LineWork.SPOKEN) if each.source.id == id_ else each for each in redub_lines(changed, {id_})
    ]
    made = script_lines(lines, document, until_seconds=until_seconds, glossary=glossary)
    return wanted, next(each for each in made if each.id == id_)
