"""What is spoken in a dub: its lines with their times and words, who speaks each, and how it lies in the store."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from cutroom.products.dubs.line_sync import Slot

PIECE_SECONDS = 60.0  # what is separated and mixed at once; the first piece is the preview


@dataclass(frozen=True, slots=True)
class Line:
    """One line: when its source is spoken and by whom, and the words for it, the best first."""

    number: int
    start_seconds: float
    end_seconds: float
    latest_end_seconds: float
    speaker: str
    source: str
    texts: tuple[str, ...]

    @property
    def slot(self) -> Slot:
        return Slot(self.start_seconds, self.end_seconds, self.latest_end_seconds)

    @property
    def piece(self) -> int:
        return int(self.start_seconds // PIECE_SECONDS)


@dataclass(frozen=True, slots=True)
class Script:
    """The whole of a dub before it is spoken."""

    language: str
    product: str
    source_language: str
    quality: str
    engines: tuple[str, ...]
    duration_seconds: float
    lines: tuple[Line, ...]
    bed: str  # the name under which what is not speech is kept

    @property
    def pieces(self) -> int:
        return max(1, int(-(-self.duration_seconds // PIECE_SECONDS)))


@dataclass(frozen=True, slots=True)
class PartVoice:
    """Who speaks for a speaker: a voice of the engine, or a clone after a sample."""

    engine: str
    voice: str | None = None
    reference_path: str | None = None
    reference_sha256: str | None = None
    pitch_hz: float | None = None
    note: str | None = None  # why it is not what the product promises

    @property
    def sound(self) -> str:
        """What makes the voice sound as it does, in one word."""
        return f"{self.engine} {self.voice or self.reference_sha256}"

    def told(self) -> dict[str, str]:
        """As a job's result tells it."""
        return {"engine": self.engine, "voice": self.voice or "clone", **({"note": self.note} if self.note else {})}


@dataclass(frozen=True, slots=True)
class Spoken:
    """A line that was spoken: where its sound lies, how long it is, and which of its texts it says."""

    number: int
    key: str
    seconds: float
    stretch: float
    text: int  # which of the line's texts


@dataclass(frozen=True, slots=True)
class PlacedLine:
    """A spoken line in its place, and how loud it is made."""

    number: int
    key: str
    start_seconds: float
    seconds: float
    stretch: float
    text: str
    shortened: bool
    gain: float


@dataclass(frozen=True, slots=True)
class Layout:
    """Every line in its place."""

    lines: tuple[PlacedLine, ...] = field(default=())

    def within(self, start_seconds: float, end_seconds: float) -> list[PlacedLine]:
        """What sounds in a stretch of time."""
        return [
            line
            for line in self.lines
            if line.start_seconds < end_seconds and line.start_seconds + line.seconds > start_seconds
        ]


def write(document: Script | Layout | Mapping[str, PartVoice]) -> bytes:
    if isinstance(document, (Script, Layout)):
        return json.dumps(asdict(document), ensure_ascii=False).encode()
    return json.dumps({name: asdict(voice) for name, voice in document.items()}, ensure_ascii=False).encode()


def read_script(data: bytes) -> Script:
    document = json.loads(data)
    lines = tuple(Line(**{**line, "texts": tuple(line["texts"])}) for line in document.pop("lines"))
    return Script(**{**document, "engines": tuple(document["engines"]), "lines": lines})


def read_layout(data: bytes) -> Layout:
    return Layout(tuple(PlacedLine(**line) for line in json.loads(data)["lines"]))


def read_voices(data: bytes) -> dict[str, PartVoice]:
    return {name: PartVoice(**voice) for name, voice in json.loads(data).items()}


def segments_of(script: Script, layout: Layout) -> list[dict[str, Any]]:
    """The dub's own segments, as transcripts have them."""
    speakers = {line.number: line.speaker for line in script.lines}
    return [
        {
            "start": round(line.start_seconds, 3),
            "end": round(line.start_seconds + line.seconds, 3),
            "speaker": speakers[line.number],
            "text": line.text,
            "deleted": False,
        }
        for line in layout.lines
    ]


def speakers_of(script: Script, labels: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    heard = {line.speaker for line in script.lines}
    return [dict(each) for each in labels if each["id"] in heard]
