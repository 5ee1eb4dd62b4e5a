"""Documents of a dub stored between its steps: the script, the assigned voices and the line schedule.

Also divides a script into batches, each the work of one activity.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from cutroom.glossary.broken_terms import CheckedLine, check_lines
from cutroom.products.dubs.line_sync import Slot
from cutroom.products.dubs.sources.options import DubTextOptions
from cutroom.text.glossary.line_glossary import LineGlossary, read_line_glossary
from cutroom.text.glossary.pronunciation import Pronunciation, readable, respell
from cutroom.text.glossary.rules import BrokenTerm

PHONETIC_ENGINE = "kokoro"  # names of engines that read phonemes begin with it
CHUNK_SECONDS = 60.0  # separated and mixed as one unit; the first chunk is the preview
CONTEXT_SECONDS = 1.5  # extra audio around a chunk during separation, trimmed afterwards
# An activity is up to 6 events of the history. With these, the longest video stays below half of Temporal's 51,200.
MAX_LINE_BATCHES = 1_500  # about a minute of speech each if 24 hours are spoken without a pause
MAX_CHUNK_BATCHES = 720  # for each of the steps that run per chunk
# Batches of less than a minute of work, which is lost if a worker is killed; smaller ones would cost Temporal and
# PostgreSQL more than they gain. Those of the preview are smaller, so that several workers can make it.
MIN_BATCH_CHARACTERS = 400  # about 20 s of speech
PREVIEW_BATCH_CHARACTERS = 120
CHUNKS_PER_BATCH = 3


@dataclass(frozen=True, slots=True)
class SourceSegment:
    """A segment of the transcript as it was when a line was made of it."""

    id: str
    start_seconds: float
    end_seconds: float
    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class DubLine:
    """One line: its source timing and speaker, and candidate texts in order of preference.

    Voice, speed and pronunciation are what a person has set; None leaves them to the rules.
    """

    number: int
    start_seconds: float
    end_seconds: float
    latest_end_seconds: float
    speaker: str
    source: str
    texts: tuple[str, ...]
    reasons: tuple[str, ...] = ()  # for which its translation should be reviewed
    id: str = ""  # stays the same in later versions of the dub
    segments: tuple[SourceSegment, ...] = ()  # none in scripts of version 0.1
    voice: str | None = None  # the id of a stock voice
    speed: float | None = None  # at which the voice speaks, relative to its natural speed
    pronunciation: Mapping[str, str] = field(default_factory=dict)  # respellings of words
    glossary: LineGlossary = field(default_factory=LineGlossary)
    take: str | None = None  # the key of audio that a person has chosen

    @property
    def voice_key(self) -> str:
        """Under which the assigned voices have the voice of this line."""
        return self.speaker if self.voice is None else f"voice:{self.voice}"

    @property
    def slot(self) -> Slot:
        return Slot(self.start_seconds, self.end_seconds, self.latest_end_seconds)

    def spoken(self, index: int, *, reads_phonemes: bool) -> str:
        """What the voice is given in place of a text; one that reads no phonemes reads these words as written."""
        own = [Pronunciation(word, spelling) for word, spelling in self.pronunciation.items()]
        text = self.glossary.spoken(self.texts[index], without=self.pronunciation, reads_phonemes=reads_phonemes)
        return respell(text, readable(own, reads_phonemes=reads_phonemes))

    @property
    def chunk(self) -> int:
        return int(self.start_seconds // CHUNK_SECONDS)

    @property
    def chunks(self) -> range:
        """The chunks that contain audio of the source line."""
        return range(self.chunk, max(self.chunk + 1, math.ceil(self.end_seconds / CHUNK_SECONDS)))


@dataclass(frozen=True, slots=True)
class DubScript:
    """The translated lines of a dub and the settings they were made with."""

    language: str
    product: str
    source_language: str
    quality: str
    engines: tuple[str, ...]
    duration_seconds: float
    lines: tuple[DubLine, ...]
    separation_key: str  # fingerprint under which the separated audio is stored
    glossary_version: str = ""
    transcript_revision: int | None = None  # that the lines were made from
    options: DubTextOptions = field(default_factory=DubTextOptions)
    silent: tuple[tuple[float, float], ...] = ()  # spans in which only the background is heard, beside those of lines

    @property
    def chunk_count(self) -> int:
        return max(1, int(-(-self.duration_seconds // CHUNK_SECONDS)))


@dataclass(frozen=True, slots=True)
class DubChunk:
    """A time range of the video, with the context before it that separation includes."""

    start_seconds: float
    end_seconds: float
    context_seconds: float

    @classmethod
    def of(cls, script: DubScript, index: int) -> "DubChunk":
        start = index * CHUNK_SECONDS
        return cls(start, min(start + CHUNK_SECONDS, script.duration_seconds), min(CONTEXT_SECONDS, start))

    @property
    def seconds(self) -> float:
        return self.end_seconds - self.start_seconds

    def contains(self, at_seconds: float) -> bool:
        return self.start_seconds <= at_seconds < self.end_seconds

    def overlapping_lines(self, script: DubScript) -> list[DubLine]:
        """Lines that have audio in this chunk."""
        return [
            line
            for line in script.lines
            if line.start_seconds < self.end_seconds and line.end_seconds > self.start_seconds
        ]


@dataclass(frozen=True, slots=True)
class DubBatch:
    """Consecutive lines or chunks that one activity works on, from `first` up to but excluding `end`."""

    first: int
    end: int

    @property
    def numbers(self) -> range:
        return range(self.first, self.end)


def line_batches(lines: Sequence[DubLine]) -> list[DubBatch]:
    """Batches of about as much text, which synthesis takes its time for; shorter ones until the preview is made."""
    characters = sum(len(line.texts[0]) for line in lines)
    enough = max(MIN_BATCH_CHARACTERS, characters / MAX_LINE_BATCHES)
    batches: list[DubBatch] = []
    first, size = 0, 0
    for end, line in enumerate(lines, start=1):
        size += len(line.texts[0])
        is_preview = line.chunk == 0
        is_last = end == len(lines) or (is_preview and lines[end].chunk > 0)
        if is_last or size >= (PREVIEW_BATCH_CHARACTERS if is_preview else enough):
            batches.append(DubBatch(first, end))
            first, size = end, 0
    return batches


def chunk_batches(chunks: range, *, at_least: int = CHUNKS_PER_BATCH) -> list[DubBatch]:
    """Batches of `at_least` chunks, or of as many as it takes for few batches."""
    size = max(at_least, math.ceil(len(chunks) / MAX_CHUNK_BATCHES))
    return [DubBatch(first, min(first + size, chunks.stop)) for first in chunks[::size]]


@dataclass(frozen=True, slots=True)
class AssignedVoice:
    """The voice that speaks for one speaker: a stock voice, or a clone made from reference audio."""

    engine: str
    voice: str | None = None
    reference_path: str | None = None
    reference_sha256: str | None = None
    pitch_hz: float | None = None
    note: str | None = None  # why a premium dub uses a stock voice

    @property
    def reads_phonemes(self) -> bool:
        """Whether words can be spelled as phonemes for the voice."""
        return self.voice is not None and self.engine.startswith(PHONETIC_ENGINE)

    @property
    def identity(self) -> str:
        """Identifies the voice in fingerprints of synthesized audio."""
        return f"{self.engine} {self.voice or self.reference_sha256}"

    def to_result(self) -> dict[str, str]:
        """The voice as reported in the job's result."""
        return {"engine": self.engine, "voice": self.voice or "clone", **({"note": self.note} if self.note else {})}


@dataclass(frozen=True, slots=True)
class SynthesizedLine:
    """A synthesized line: the key of its audio, its duration, tempo and text, and the speaking rate of the voice."""

    number: int
    key: str
    seconds: float
    tempo: float
    text_index: int
    speaking_rate: float = 1.0


@dataclass(frozen=True, slots=True)
class PlacedLine:
    """A synthesized line with its start time and gain in the mix."""

    number: int
    key: str
    start_seconds: float
    seconds: float
    tempo: float
    text: str
    shortened: bool
    gain: float
    level: float = 0.0  # RMS before the gain; 0 if it is not known
    speaking_rate: float = 1.0


@dataclass(frozen=True, slots=True)
class LineSchedule:
    """When each line is played."""

    lines: tuple[PlacedLine, ...] = field(default=())
    original: tuple[tuple[float, float], ...] = ()  # spans in which the source is heard

    def in_chunk(self, chunk: int) -> tuple[list[PlacedLine], list[tuple[float, float]]]:
        """Lines and spans of the source that are heard in a chunk."""
        start, end = chunk * CHUNK_SECONDS, (chunk + 1) * CHUNK_SECONDS
        return self.between(start, end), [span for span in self.original if span[0] < end and span[1] > start]

    def between(self, start_seconds: float, end_seconds: float) -> list[PlacedLine]:
        """Lines that overlap a time range."""
        return [
            line
            for line in self.lines
            if line.start_seconds < end_seconds and line.start_seconds + line.seconds > start_seconds
        ]


def to_json(document: DubScript | LineSchedule | Mapping[str, AssignedVoice]) -> bytes:
    if isinstance(document, (DubScript, LineSchedule)):
        return json.dumps(asdict(document), ensure_ascii=False).encode()
    return json.dumps({name: asdict(voice) for name, voice in document.items()}, ensure_ascii=False).encode()


def read_script(data: bytes) -> DubScript:
    document = json.loads(data)
    lines = tuple(read_dub_line(line) for line in document.pop("lines"))
    options = DubTextOptions(**document.pop("options", {}))
    silent = tuple((start, end) for start, end in document.pop("silent", ()))
    engines = tuple(document.pop("engines"))
    return DubScript(**document, engines=engines, lines=lines, options=options, silent=silent)


def read_dub_line(row: Mapping[str, Any]) -> DubLine:
    segments = tuple(SourceSegment(**each) for each in row.get("segments", ()))
    texts = {name: tuple(row.get(name, ())) for name in ("texts", "reasons")}
    return DubLine(**{**row, **texts, "segments": segments, "glossary": read_line_glossary(row.get("glossary", {}))})


def read_schedule(data: bytes) -> LineSchedule:
    document = json.loads(data)
    original = tuple((start, end) for start, end in document.get("original", ()))
    return LineSchedule(tuple(PlacedLine(**line) for line in document["lines"]), original)


def read_voices(data: bytes) -> dict[str, AssignedVoice]:
    return {name: AssignedVoice(**voice) for name, voice in json.loads(data).items()}


def dub_segments(script: DubScript, schedule: LineSchedule) -> list[dict[str, Any]]:
    """The dub's segments, in the format of transcript segments."""
    speakers = {line.number: line.speaker for line in script.lines}
    return [
        {
            "start": round(line.start_seconds, 3),
            "end": round(line.start_seconds + line.seconds, 3),
            "speaker": speakers[line.number],
            "text": line.text,
            "deleted": False,
        }
        for line in schedule.lines
    ]


def flagged_lines(script: DubScript) -> list[dict[str, Any]]:
    """Lines whose translation should be reviewed, with the reasons."""
    return [
        {
            "line": line.number,
            "start": round(line.start_seconds, 3),
            "source": line.source,
            "translation": line.texts[0],
            "reasons": list(line.reasons),
        }
        for line in script.lines
        if line.reasons
    ]


def broken_terms(script: DubScript, schedule: LineSchedule) -> list[tuple[CheckedLine, BrokenTerm]]:
    """Glossary terms that are missing in what is said."""
    pairs = ((script.lines[placed.number], placed) for placed in schedule.lines)
    return [
        found
        for line, placed in pairs
        for found in check_lines(
            line.glossary.rules, [CheckedLine(line.number, placed.start_seconds, line.source, placed.text)]
        )
    ]


def dub_speakers(script: DubScript, speakers: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The transcript's speakers who have at least one line."""
    present = {line.speaker for line in script.lines}
    return [dict(each) for each in speakers if each["id"] in present]
