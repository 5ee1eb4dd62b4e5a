"""What the retention policy of a library deletes, and when."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum

MIN_DAYS, MAX_DAYS = 1, 3_650
DEFAULT_INTERMEDIATES_DAYS = 30
ABANDONED_AFTER = timedelta(days=7)  # since the last part of an upload without a session
DOWNLOADS_KEPT = timedelta(days=8)  # a day longer than a prepared file is offered


class UsageKind(StrEnum):
    """Kinds of stored objects as they are counted."""

    ORIGINAL = "original"
    INTERMEDIATE = "intermediate"
    OUTPUT = "output"
    DOCUMENT = "document"  # a small output that is kept with its video
    DOWNLOAD = "download"  # a prepared file, which has a lifetime of its own
    UNKNOWN = "unknown"  # no product declares it; never deleted by the policy


# The three figures that callers see.
ORIGINALS = frozenset({UsageKind.ORIGINAL})
INTERMEDIATES = frozenset({UsageKind.INTERMEDIATE, UsageKind.DOWNLOAD})
OUTPUTS = frozenset(UsageKind) - ORIGINALS - INTERMEDIATES


@dataclass(frozen=True, slots=True)
class RetentionTimes:
    """Days to keep each kind; None keeps it for ever."""

    originals_days: int | None = None
    intermediates_days: int | None = DEFAULT_INTERMEDIATES_DAYS
    outputs_days: int | None = None


@dataclass(frozen=True, slots=True)
class StoredFile:
    """An object of a library."""

    path: str
    kind: UsageKind
    size_bytes: int
    changed_at: datetime


@dataclass(frozen=True, slots=True)
class Count:
    """A number of objects with their size."""

    objects: int = 0
    size_bytes: int = 0

    def __add__(self, other: "Count") -> "Count":
        return Count(self.objects + other.objects, self.size_bytes + other.size_bytes)


@dataclass(frozen=True, slots=True)
class Cutoffs:
    """Times before which something is past its time to keep; None for what is kept for ever."""

    originals: datetime | None
    intermediates: datetime | None
    outputs: datetime | None
    downloads: datetime

    @classmethod
    def at(cls, times: RetentionTimes, now: datetime) -> "Cutoffs":
        def before(days: int | None) -> datetime | None:
            return None if days is None else now - timedelta(days=days)

        return cls(
            originals=before(times.originals_days),
            intermediates=before(times.intermediates_days),
            outputs=before(times.outputs_days),
            downloads=now - DOWNLOADS_KEPT,
        )


def expired_files(files: Iterable[StoredFile], cutoffs: Cutoffs, *, created_at: datetime) -> list[StoredFile]:
    """The files of one video that are past their time.

    Originals count from the creation of the video, intermediates and downloads from their own last change. Outputs go
    together, because they share parts: they count from the creation of the video or the last change of any of them.
    """
    files = list(files)
    outputs = [each.changed_at for each in files if each.kind is UsageKind.OUTPUT]
    newest_output = max([created_at, *outputs])

    def is_expired(file: StoredFile) -> bool:
        match file.kind:
            case UsageKind.ORIGINAL:
                return _is_before(created_at, cutoffs.originals)
            case UsageKind.INTERMEDIATE:
                return _is_before(file.changed_at, cutoffs.intermediates)
            case UsageKind.OUTPUT:
                return _is_before(newest_output, cutoffs.outputs)
            case UsageKind.DOWNLOAD:
                return file.changed_at < cutoffs.downloads
            case _:
                return False

    return [each for each in files if is_expired(each)]


def _is_before(time: datetime, cutoff: datetime | None) -> bool:
    return cutoff is not None and time < cutoff


def count_by_day(files: Iterable[StoredFile]) -> Mapping[tuple[UsageKind, date], Count]:
    """Files by kind and by the day of their last change."""
    counts: dict[tuple[UsageKind, date], Count] = defaultdict(Count)
    for each in files:
        counts[each.kind, each.changed_at.date()] += Count(1, each.size_bytes)
    return counts


def count_by_kind(files: Iterable[StoredFile]) -> Mapping[UsageKind, Count]:
    counts: dict[UsageKind, Count] = defaultdict(Count)
    for each in files:
        counts[each.kind] += Count(1, each.size_bytes)
    return counts


def classify(name: str, declared: Mapping[str, UsageKind]) -> UsageKind:
    """The kind of an object by its name under a video or library: the longest declared name or prefix decides."""
    matching = [each for each in declared if name == each or (each.endswith("/") and name.startswith(each))]
    return declared[max(matching, key=len)] if matching else UsageKind.UNKNOWN
