"""What captions say about their translated lines."""

from typing import Any

from cutroom.engines.translation.document import TranslatedLine
from cutroom.products.captions.editing.segments import CaptionSegment
from cutroom.products.transcripts.segmentation import TranscriptSegment

MAX_FLAGGED = 200  # lines listed in a result; the total is reported separately
READING_CHARACTERS_PER_SECOND = 17


def max_characters(segment: TranscriptSegment) -> int:
    """What can be read in the time of a segment, or the length of the source if that is said faster."""
    seconds = segment.end_seconds - segment.start_seconds
    return max(round(READING_CHARACTERS_PER_SECOND * seconds), len(segment.text))


def flagged_line(number: int, segment: TranscriptSegment, line: TranslatedLine) -> dict[str, Any]:
    """A line to review: why, and what of the source seems to be missing."""
    return {
        "line": number,
        "start": round(segment.start_seconds, 3),
        "source": segment.text,
        "translation": line.text,
        "reasons": list(line.reasons),
        "lost": [{"what": each.fault.value, "text": each.subject} for each in line.findings if each.subject],
        **({"alternatives": list(line.alternatives)} if line.alternatives else {}),
    }


def caption_segment(
    segment_id: str, segment: TranscriptSegment, line: TranslatedLine, *, revision: int, via: tuple[str, ...]
) -> CaptionSegment:
    """A translated segment with what it was made from."""
    return CaptionSegment(
        segment_id,
        segment.start_seconds,
        segment.end_seconds,
        segment.speaker,
        line.text,
        segment.text,
        revision,
        line.engine,
        via,
        line.reasons,
    )
