"""Which files of a video the retention policy deletes, and of which kind a stored object is."""

from datetime import UTC, datetime, timedelta

import pytest

from cutroom.retention.policy.rules import (
    Count,
    Cutoffs,
    RetentionTimes,
    StoredFile,
    UsageKind,
    classify,
    count_by_day,
    expired_files,
)

NOW = datetime(2026, 11, 18, 12, tzinfo=UTC)
OLD, KEEP = 100, None
KINDS = tuple(UsageKind)


def file(kind: UsageKind, *, days: float, name: str = "file") -> StoredFile:
    return StoredFile(f"{kind}/{name}", kind, 10, NOW - timedelta(days=days))


def expired(times: RetentionTimes, *files: StoredFile, created_days: float) -> set[str]:
    created_at = NOW - timedelta(days=created_days)
    return {each.path for each in expired_files(files, Cutoffs.at(times, NOW), created_at=created_at)}


@pytest.mark.parametrize(
    ("times", "kind", "created_days", "changed_days", "goes"),
    [
        (RetentionTimes(), UsageKind.INTERMEDIATE, OLD, 30.1, True),
        (RetentionTimes(), UsageKind.INTERMEDIATE, OLD, 29.9, False),
        (RetentionTimes(intermediates_days=KEEP), UsageKind.INTERMEDIATE, OLD, OLD, False),
        (RetentionTimes(intermediates_days=1), UsageKind.INTERMEDIATE, 2, 1.1, True),
        (RetentionTimes(), UsageKind.ORIGINAL, OLD, OLD, False),
        (RetentionTimes(originals_days=90), UsageKind.ORIGINAL, 91, 1, True),  # counts from the creation of the video
        (RetentionTimes(originals_days=90), UsageKind.ORIGINAL, 89, OLD, False),
        (RetentionTimes(), UsageKind.OUTPUT, OLD, OLD, False),
        (RetentionTimes(outputs_days=90), UsageKind.OUTPUT, OLD, 91, True),
        (RetentionTimes(outputs_days=90), UsageKind.OUTPUT, OLD, 89, False),  # made later than the video
        (RetentionTimes(outputs_days=90), UsageKind.OUTPUT, 89, OLD, False),
        (RetentionTimes(1, 1, 1), UsageKind.DOCUMENT, OLD, OLD, False),
        (RetentionTimes(1, 1, 1), UsageKind.UNKNOWN, OLD, OLD, False),
        (RetentionTimes(intermediates_days=KEEP), UsageKind.DOWNLOAD, OLD, 8.1, True),
        (RetentionTimes(), UsageKind.DOWNLOAD, OLD, 7.5, False),  # offered for seven days
    ],
)
def test_files_go_after_their_time(
    times: RetentionTimes, kind: UsageKind, created_days: float, changed_days: float, *, goes: bool
) -> None:
    assert bool(expired(times, file(kind, days=changed_days), created_days=created_days)) is goes


def test_outputs_go_together_after_the_last_change_of_any() -> None:
    """A dub that was edited yesterday still needs lines that were synthesized months ago."""
    line, track = file(UsageKind.OUTPUT, days=200, name="line"), file(UsageKind.OUTPUT, days=1, name="track")
    times = RetentionTimes(outputs_days=90)
    assert expired(times, line, track, created_days=200) == set()
    assert expired(times, line, created_days=200) == {line.path}


def test_kinds_go_independently() -> None:
    files = [file(kind, days=OLD) for kind in KINDS]
    assert expired(RetentionTimes(originals_days=1, intermediates_days=KEEP), *files, created_days=OLD) == {
        "original/file",
        "download/file",
    }


def test_the_longest_declared_name_decides() -> None:
    declared = {
        "source": UsageKind.ORIGINAL,
        "transcript/": UsageKind.DOCUMENT,
        "transcript/chunks/": UsageKind.INTERMEDIATE,
    }
    kinds = {
        "source": UsageKind.ORIGINAL,
        "source.bak": UsageKind.UNKNOWN,
        "source/x": UsageKind.UNKNOWN,
        "transcript/words.json": UsageKind.DOCUMENT,
        "transcript/chunks/1.json": UsageKind.INTERMEDIATE,
        "transcript": UsageKind.UNKNOWN,
        "": UsageKind.UNKNOWN,
    }
    assert {name: classify(name, declared) for name in kinds} == kinds


def test_files_are_counted_by_kind_and_day() -> None:
    files = [file(UsageKind.OUTPUT, days=1, name=name) for name in "ab"] + [file(UsageKind.OUTPUT, days=3)]
    counts = count_by_day(files)
    assert sorted(counts.values(), key=lambda count: count.objects) == [Count(1, 10), Count(2, 20)]
