"""A segment of a caption track, and what it was made from."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cutroom.products.transcripts.document import DocumentSegment, rounded


@dataclass(frozen=True, slots=True)
class EngineTranslation:
    """What an engine made of a segment, kept while a text by hand replaces it."""

    text: str
    source: str | None


@dataclass(frozen=True, slots=True)
class CaptionSegment:
    """One segment. Times and speaker are those of the transcript when it was made, or brought up to date."""

    id: str
    start_seconds: float
    end_seconds: float
    speaker: str
    text: str
    source: str | None  # the text of the transcript that it belongs to; None if that is not known
    transcript_revision: int | None = None
    engine: str | None = None  # None if no engine has translated it
    via: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()  # why the translation should be reviewed
    edited: bool = False
    translation: EngineTranslation | None = None  # of an edited segment

    @property
    def seconds(self) -> float:
        return max(0.0, self.end_seconds - self.start_seconds)

    def to_row(self) -> dict[str, Any]:
        """The segment as a track stores it."""
        row: dict[str, Any] = {
            "id": self.id,
            "start": rounded(self.start_seconds),
            "end": rounded(self.end_seconds),
            "speaker": self.speaker,
            "text": self.text,
            "deleted": False,
            "source": self.source,
            "transcriptRevision": self.transcript_revision,
        }
        optional: dict[str, Any] = {
            "engine": self.engine,
            "via": list(self.via),
            "reasons": list(self.reasons),
            "edited": self.edited,
            "translation": self.translation and {"text": self.translation.text, "source": self.translation.source},
        }
        return row | {name: value for name, value in optional.items() if value}

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> "CaptionSegment":
        translation = row.get("translation")
        return cls(
            row["id"],
            row["start"],
            row["end"],
            row["speaker"],
            row["text"],
            row.get("source"),
            row.get("transcriptRevision"),
            row.get("engine"),
            tuple(row.get("via", ())),
            tuple(row.get("reasons", ())),
            bool(row.get("edited", False)),
            EngineTranslation(translation["text"], translation["source"]) if translation else None,
        )


def has_sources(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the segments say what they were made from; those of 0.1.0 do not."""
    return all("id" in row for row in rows)


def match_by_times(
    rows: Sequence[Mapping[str, Any]],
    transcript: Iterable[DocumentSegment],
    *,
    revision: int,
    is_certain: bool,
) -> list[CaptionSegment]:
    """Segments of 0.1.0, which belong to those of the same times in the transcript that they were made from.

    Unless that revision is certain, what they translate is not known. A segment without a match is in no revision.
    """
    by_times: dict[tuple[float, float], list[DocumentSegment]] = {}
    for segment in transcript:
        by_times.setdefault((rounded(segment.start_seconds), rounded(segment.end_seconds)), []).append(segment)
    found = []
    for at, row in enumerate(rows):
        candidates = by_times.get((rounded(row["start"]), rounded(row["end"])), [])
        match = candidates.pop(0) if candidates else None
        found.append(
            CaptionSegment(
                match.id if match else f"c{at + 1}",
                row["start"],
                row["end"],
                row["speaker"],
                row["text"],
                match.text if match and is_certain else None,
                revision if match and is_certain else None,
            )
        )
    return found


def in_order(segments: Iterable[CaptionSegment]) -> tuple[CaptionSegment, ...]:
    """Segments by their times; those that start together stay in their order."""
    return tuple(sorted(segments, key=lambda each: each.start_seconds))
