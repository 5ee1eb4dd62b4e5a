"""Batches of lines and chunks: as many as a history can hold, and otherwise as small as possible."""

import pytest

from cutroom.media.probe import MAX_DURATION_SECONDS
from cutroom.products.dubs.script import (
    CHUNK_SECONDS,
    MAX_CHUNK_BATCHES,
    MAX_LINE_BATCHES,
    MIN_BATCH_CHARACTERS,
    DubBatch,
    DubLine,
    chunk_batches,
    line_batches,
)

SENTENCE = "This line has about forty characters in it."
CHARACTERS_PER_SECOND = 18.8


def lines_of(count: int, *, seconds: float = 4.0, text: str = SENTENCE) -> list[DubLine]:
    return [
        DubLine(
            number, number * seconds, (number + 1) * seconds, (number + 1) * seconds, "speaker_1", "source", (text,)
        )
        for number in range(count)
    ]


@pytest.mark.parametrize("count", [0, 1, 16, 900])
def test_batches_of_a_dub_of_an_hour_are_single_lines(count: int) -> None:
    assert line_batches(lines_of(count)) == [DubBatch(number, number + 1) for number in range(count)]


@pytest.mark.parametrize(
    ("count", "seconds", "text"),
    [
        (21_600, 4.0, SENTENCE),
        (86_400, 1.0, "Yes."),
        (28_800, 3.0, SENTENCE * 10),
        (5_000, 0.0, SENTENCE),  # lines without a duration
        (5_000, 4.0, ""),
    ],
)
def test_every_line_is_in_one_of_few_batches(count: int, seconds: float, text: str) -> None:
    lines = lines_of(count, seconds=seconds, text=text)
    batches = line_batches(lines)
    preview = [line for line in lines if line.chunk == 0]
    assert [number for batch in batches for number in batch.numbers] == list(range(count))
    rest = [batch for batch in batches if batch.first >= len(preview)]
    assert len(rest) <= MAX_LINE_BATCHES + 1
    assert len(batches) - len(rest) <= len(preview)


def test_batches_are_short_at_24_hours_of_speech() -> None:
    text = "x" * round(4 * CHARACTERS_PER_SECOND)
    lines = lines_of(MAX_DURATION_SECONDS // 4, text=text)
    longest = max(len(batch.numbers) for batch in line_batches(lines))
    assert 4 * longest <= CHUNK_SECONDS


def test_the_preview_has_batches_of_its_own() -> None:
    lines = lines_of(21_600)
    preview = [batch for batch in line_batches(lines) if batch.first < 15]
    assert len(SENTENCE) > MIN_BATCH_CHARACTERS
    assert preview == [DubBatch(number, number + 1) for number in range(15)]


def test_very_short_lines_share_a_batch_also_in_the_preview() -> None:
    assert line_batches(lines_of(8, text="Five.")) == [DubBatch(0, 4), DubBatch(4, 8)]
    assert line_batches(lines_of(16, text="Five."))[-2:] == [DubBatch(12, 15), DubBatch(15, 16)]


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        (range(1, 1), []),
        (range(1), [DubBatch(0, 1)]),
        (range(1, 4), [DubBatch(1, 2), DubBatch(2, 3), DubBatch(3, 4)]),
    ],
)
def test_batches_of_chunks(chunks: range, expected: list[DubBatch]) -> None:
    assert chunk_batches(chunks) == expected


@pytest.mark.parametrize("hours", [1, 12, 13, 24])
def test_chunks_share_a_batch_only_beyond_12_hours(hours: int) -> None:
    chunks = range(round(hours * 3600 / CHUNK_SECONDS))
    batches = chunk_batches(chunks)
    assert [number for batch in batches for number in batch.numbers] == list(chunks)
    assert len(batches) <= MAX_CHUNK_BATCHES
    assert max(len(batch.numbers) for batch in batches) == (1 if hours <= 12 else 2)
