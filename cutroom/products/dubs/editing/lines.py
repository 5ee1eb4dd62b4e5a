"""Lines of a published dub, and what people have set for them; rows of both are JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from cutroom.media.cutting.spans import Span, total_seconds
from cutroom.products.dubs.script import AssignedVoice, DubLine, PlacedLine, read_dub_line
from cutroom.products.dubs.sources.options import DEFAULT_OPTIONS, DubTextOptions
from cutroom.products.speech.rules import fingerprint


@dataclass(frozen=True, slots=True)
class ChosenTake:
    """Audio that a person has chosen for a line; `made_for` identifies the speech that it is of."""

    id: str
    key: str  # of its audio among the lines of the dub
    text: str
    made_for: str


@dataclass(frozen=True, slots=True)
class LineEdits:
    """What a person has set for a line; None leaves it to the rules."""

    text: str | None = None
    voice: str | None = None  # the id of a stock voice
    speed: float | None = None  # at which the voice speaks, relative to its natural speed
    start_offset: float | None = None  # in seconds, from the start of the source line
    gain_db: float | None = None  # in addition to the gain that the rules give
    keep_original: bool | None = None  # the source is heard instead of a voice
    mute: bool | None = None  # only the background is heard
    pronunciation: Mapping[str, str] | None = None  # respellings of words
    edited_source: str | None = None  # fingerprint of the source text when `text` was set
    take: ChosenTake | None = None

    def to_row(self) -> dict[str, Any]:
        if self is NO_EDITS:  # of nearly all lines
            return {}
        return {name: value for name, value in asdict(self).items() if value is not None}

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> "LineEdits":
        take = row.get("take")
        return cls(**{**row, "take": ChosenTake(**take) if take is not None else None})

    @property
    def is_spoken(self) -> bool:
        """Whether a voice speaks the line."""
        return not (self.mute or self.keep_original)


NO_EDITS = LineEdits()


@dataclass(frozen=True, slots=True)
class SourceLine:
    """What a line is made of: segments of the transcript, by one speaker."""

    id: str
    segment_ids: tuple[str, ...]
    start_seconds: float
    end_seconds: float
    speaker: str
    text: str
    cuts: tuple[Span, ...] = ()  # when words between its segments are deleted

    @property
    def cut_seconds(self) -> float:
        return round(total_seconds(self.cuts), 3)

    @property
    def seconds(self) -> float:
        """How long it is without what is cut."""
        return self.end_seconds - self.start_seconds - self.cut_seconds

    @property
    def text_fingerprint(self) -> str:
        return fingerprint({"text": self.text})[:16]

    def to_row(self) -> dict[str, Any]:
        """Without cuts if there are none, as workers that know of none expect it."""
        return {name: value for name, value in asdict(self).items() if name != "cuts" or value}

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> "SourceLine":
        cuts = tuple((start, end) for start, end in row.get("cuts", ()))
        return cls(**{**row, "segment_ids": tuple(row["segment_ids"]), "cuts": cuts})


@dataclass(frozen=True, slots=True)
class PublishedLine:
    """A line as the published audio has it, with everything that its audio was made from."""

    source: SourceLine
    inputs: Mapping[str, Any]
    line: DubLine
    placed: PlacedLine | None = None  # None if no voice speaks it
    voice: AssignedVoice | None = None
    recognized: str | None = None
    translation: tuple[str, ...] = ()  # candidate texts of the rules
    translated: str | None = None  # fingerprint of the source text that they translate

    @property
    def id(self) -> str:
        return self.source.id

    @property
    def segment_spans(self) -> tuple[Span, ...]:
        """When each of its segments was said; of a line without a record of them, its whole time."""
        segments = self.line.segments
        if len(segments) == len(self.source.segment_ids):
            return tuple((each.start_seconds, each.end_seconds) for each in segments)
        return ((self.source.start_seconds, self.source.end_seconds),) * max(1, len(self.source.segment_ids))

    def to_row(self) -> dict[str, Any]:
        return {**asdict(self), "source": self.source.to_row()}

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> "PublishedLine":
        source = SourceLine.from_row(row["source"])
        placed, voice = row["placed"], row["voice"]
        return cls(
            source,
            row["inputs"],
            read_dub_line(row["line"]),
            PlacedLine(**placed) if placed is not None else None,
            AssignedVoice(**voice) if voice is not None else None,
            row["recognized"],
            tuple(row["translation"]),
            row["translated"],
        )


@dataclass(frozen=True, slots=True)
class PublishedDub:
    """All lines of a published dub, in order, and what its track was made with."""

    lines: Sequence[PublishedLine]
    transcript_revision: int
    gain_db: float | None = None  # of the track; None if it was not recorded
    options: DubTextOptions = DEFAULT_OPTIONS

    def voice_of(self, speaker: str) -> AssignedVoice | None:
        """The voice that the rules have given to a speaker."""
        return next(
            (each.voice for each in self.lines if each.line.speaker == speaker and each.line.voice is None), None
        )

    def to_row(self) -> dict[str, Any]:
        return {
            "transcript_revision": self.transcript_revision,
            "gain_db": self.gain_db,
            "options": self.options.to_plan(),
            "lines": [each.to_row() for each in self.lines],
        }

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> "PublishedDub":
        lines = [PublishedLine.from_row(each) for each in row["lines"]]
        options = DubTextOptions.of_plan(row.get("options", {}))
        return cls(lines, row["transcript_revision"], row["gain_db"], options)


@dataclass(frozen=True, slots=True)
class DesiredLine:
    """A line as it should be: its source of today, and the edits in force."""

    source: SourceLine
    edits: LineEdits = field(default=NO_EDITS)
    caption: str | None = None  # what the captions say, if the dub speaks their words and they are up to date

    @property
    def needs_review(self) -> bool:
        """Whether its source was changed after a person had written its text."""
        return self.edits.text is not None and self.edits.edited_source != self.source.text_fingerprint

    @property
    def speech_fingerprint(self) -> str:
        """Identifies what is said, and how, apart from when and how loud."""
        edits = self.edits
        speech = {
            "text": edits.text,
            "source": self.source.text if edits.text is None else None,
            "voice": edits.voice,
            "speaker": self.source.speaker if edits.voice is None else None,
            "speed": edits.speed,
            "pronunciation": dict(edits.pronunciation or {}),
            **({"caption": self.caption} if self.caption is not None and edits.text is None else {}),
        }
        return fingerprint(speech)[:16]

    @property
    def take(self) -> ChosenTake | None:
        """The chosen take, unless what is said was changed since."""
        take = self.edits.take
        return take if take is not None and take.made_for == self.speech_fingerprint else None

    @property
    def inputs(self) -> dict[str, Any]:
        """Everything that its audio follows from: two lines with equal inputs sound the same."""
        source, edits = self.source, self.edits
        slot = [round(source.start_seconds, 3), round(source.end_seconds, 3)]
        cuts = {"cuts": [list(span) for span in source.cuts]} if source.cuts else {}
        if edits.mute:
            return {"mute": True}
        if edits.keep_original:
            return {"keepOriginal": True, "slot": slot}
        optional = {
            "speed": edits.speed,
            "startOffset": edits.start_offset or None,
            "gain": edits.gain_db or None,
            "pronunciation": dict(edits.pronunciation or {}) or None,
            "take": self.take.id if self.take is not None else None,
        }
        return {
            **({"sourceText": source.text} if edits.text is None else {"text": edits.text}),
            **({"speaker": source.speaker} if edits.voice is None else {"voice": edits.voice}),
            "slot": slot,
            **cuts,
            **{name: value for name, value in optional.items() if value is not None},
        }
