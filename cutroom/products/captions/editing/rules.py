"""What of a caption track is stale, which of it is translated again, and how long that takes."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from cutroom.products.captions.editing.segments import CaptionSegment
from cutroom.products.transcripts.document import DocumentSegment, rounded

CONTEXT_LINES = 2  # neighbors on either side that are translated along, for their context
START_SECONDS = 5.0  # until the first line is translated, if nothing was measured
LINE_SECONDS = 0.3


class StaleReason(StrEnum):
    """Why a segment of a track no longer belongs to the transcript."""

    SOURCE_CHANGED = "sourceChanged"
    TIMES_CHANGED = "timesChanged"
    SPEAKER_CHANGED = "speakerChanged"
    ADDED = "added"  # to the transcript
    REMOVED = "removed"  # from it, or deleted in it


_TRANSLATED_AGAIN = frozenset({StaleReason.SOURCE_CHANGED, StaleReason.ADDED})


@dataclass(frozen=True, slots=True)
class SegmentStatus:
    """A segment in the transcript, in the track, or in both."""

    id: str
    source: DocumentSegment | None
    caption: CaptionSegment | None
    stale: tuple[StaleReason, ...] = ()
    needs_review: bool = False  # edited by hand, before the transcript changed

    @property
    def needs_translation(self) -> bool:
        return not _TRANSLATED_AGAIN.isdisjoint(self.stale)

    @property
    def start_seconds(self) -> float:
        if self.source is not None:
            return self.source.start_seconds
        return self.caption.start_seconds if self.caption is not None else 0.0


def compare_track(captions: Iterable[CaptionSegment], transcript: Sequence[DocumentSegment]) -> list[SegmentStatus]:
    """The segments of the transcript, which has no deleted ones, in its order; removed ones stand at their times."""
    by_id = {each.id: each for each in captions}
    current = [_status(segment, by_id.pop(segment.id, None)) for segment in transcript]
    removed = [SegmentStatus(each.id, None, each, (StaleReason.REMOVED,)) for each in by_id.values()]
    placed = [(status.start_seconds, 0, at, status) for at, status in enumerate(current)]
    placed += [(status.start_seconds, 1, at, status) for at, status in enumerate(removed)]
    return [status for *_, status in sorted(placed, key=lambda each: each[:3])]


def _status(segment: DocumentSegment, caption: CaptionSegment | None) -> SegmentStatus:
    if caption is None:
        return SegmentStatus(segment.id, segment, None, (StaleReason.ADDED,))
    is_changed = caption.source != segment.text
    times = rounded(caption.start_seconds), rounded(caption.end_seconds)
    reasons = {
        StaleReason.SOURCE_CHANGED: is_changed and not caption.edited,
        StaleReason.TIMES_CHANGED: times != (rounded(segment.start_seconds), rounded(segment.end_seconds)),
        StaleReason.SPEAKER_CHANGED: caption.speaker != segment.speaker,
    }
    stale = tuple(reason for reason, applies in reasons.items() if applies)
    return SegmentStatus(segment.id, segment, caption, stale, needs_review=is_changed and caption.edited)


def select_stale(statuses: Iterable[SegmentStatus], ids: Collection[str] | None) -> list[SegmentStatus]:
    """The stale segments, or those of them that have one of these ids."""
    return [each for each in statuses if each.stale and (ids is None or each.id in ids)]


def changed_milliseconds(selected: Iterable[SegmentStatus]) -> int:
    """The length of what is translated again; at least a millisecond of each segment."""
    return sum(_milliseconds(each.source) for each in selected if each.needs_translation and each.source is not None)


def _milliseconds(segment: DocumentSegment) -> int:
    return max(1, round((segment.end_seconds - segment.start_seconds) * 1000))


@dataclass(frozen=True, slots=True)
class TranslationWindow:
    """Neighboring lines that are translated together; the numbers are positions in the transcript."""

    start: int
    end: int
    wanted: tuple[int, ...]


def translation_windows(wanted: Sequence[int], count: int) -> list[TranslationWindow]:
    """Each wanted line with its context, of `count` lines; windows that touch are one."""
    windows: list[TranslationWindow] = []
    for at in sorted(wanted):
        start, end = max(0, at - CONTEXT_LINES), min(count, at + CONTEXT_LINES + 1)
        if windows and start <= windows[-1].end:
            last = windows[-1]
            windows[-1] = TranslationWindow(last.start, end, (*last.wanted, at))
        else:
            windows.append(TranslationWindow(start, end, (at,)))
    return windows


def updated_segment(
    status: SegmentStatus, translated: CaptionSegment | None, *, transcript_revision: int
) -> CaptionSegment | None:
    """A stale segment brought up to date: a new translation, or its text with the current times. None if removed."""
    if status.source is None:
        return None
    known = translated if status.needs_translation else status.caption
    if known is None:
        return status.caption
    revision = known.transcript_revision if status.needs_review else transcript_revision
    return replace(
        known,
        start_seconds=status.source.start_seconds,
        end_seconds=status.source.end_seconds,
        speaker=status.source.speaker,
        transcript_revision=revision,
    )


def merge_update(
    current: Sequence[CaptionSegment],
    planned: Mapping[str, CaptionSegment | None],
    updated: Mapping[str, CaptionSegment | None],
) -> list[CaptionSegment]:
    """A track with updated segments; those that were edited since the update was planned stay as they are."""
    by_id = {each.id: each for each in current}
    for id_, segment in updated.items():
        if by_id.get(id_) != planned[id_]:
            continue
        if segment is None:
            by_id.pop(id_, None)
        else:
            by_id[id_] = segment
    return list(by_id.values())


def estimate_seconds(lines: int, *, line_seconds: float | None) -> float:
    """How long it takes to translate some lines, from the time that each line of earlier jobs took."""
    if not lines:
        return 0.0
    if line_seconds is None:
        return round(START_SECONDS + LINE_SECONDS * lines, 1)
    return round(max(1.0, line_seconds * lines), 1)
