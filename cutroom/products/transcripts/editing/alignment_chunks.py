"""Divides the alignment of edited segments into activities, and into ranges of sound that are decoded at once."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cutroom.products.transcripts.document import DocumentWord
from cutroom.products.transcripts.editing.publishing import UnalignedSegment

SEGMENTS = 200  # positions of one activity: less than a minute of alignment
MARGIN_SECONDS = 0.15  # of sound on both sides of a segment, because edited times are seldom exact
MAX_GAP_SECONDS = 30.0  # of sound that is decoded although nothing in it is aligned
MAX_RANGE_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class AlignmentPlan:
    """The activities of an alignment; none if a later revision is aligned instead, or the transcript is gone."""

    chunks: list[int]
    is_superseded: bool


@dataclass(frozen=True, slots=True)
class SoundRange:
    """Segments whose sound is decoded at once."""

    start_seconds: float
    end_seconds: float
    segments: tuple[UnalignedSegment, ...]


def plan_chunks(unaligned: Sequence[UnalignedSegment]) -> list[int]:
    """The chunks of positions that have segments to align."""
    return sorted({each.position // SEGMENTS for each in unaligned})


def chunk_of(unaligned: Sequence[UnalignedSegment], chunk: int) -> list[UnalignedSegment]:
    return [each for each in unaligned if each.position // SEGMENTS == chunk]


def sound_ranges(unaligned: Sequence[UnalignedSegment]) -> list[SoundRange]:
    """Ranges with the segments in them, in order of their starts."""
    ranges: list[SoundRange] = []
    for each in sorted(unaligned, key=lambda item: item.segment.start_seconds):
        start = max(0.0, each.segment.start_seconds - MARGIN_SECONDS)
        end = each.segment.end_seconds + MARGIN_SECONDS
        last = ranges[-1] if ranges else None
        if (
            last is not None
            and start - last.end_seconds <= MAX_GAP_SECONDS
            and max(end, last.end_seconds) - last.start_seconds <= MAX_RANGE_SECONDS
        ):
            ranges[-1] = SoundRange(last.start_seconds, max(end, last.end_seconds), (*last.segments, each))
        else:
            ranges.append(SoundRange(start, end, (each,)))
    return ranges


def write_aligned(aligned: Mapping[int, Sequence[DocumentWord]]) -> bytes:
    """Aligned words by the position of their segment."""
    document = {
        str(at): [[word.text, word.start_seconds, word.end_seconds] for word in words] for at, words in aligned.items()
    }
    return json.dumps(document, ensure_ascii=False).encode()


def read_aligned(data: bytes) -> dict[int, list[DocumentWord]]:
    return {int(at): [DocumentWord(*word) for word in words] for at, words in json.loads(data).items()}
