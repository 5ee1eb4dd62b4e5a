"""Batches of lines and chunks: less than a minute of work, and as many as a history can hold."""

import pytest

from cutroom.media.probe import MAX_DURATION_SECONDS
from cutroom.products.dubs.script import (
    CHUNK_SECONDS,
    CHUNKS_PER_BATCH,
    MAX_CHUNK_BATCHES,
    MAX_LINE_BATCHES,
    MIN_BATCH_CHARACTERS,
    PREVIEW_BATCH_CHARACTERS,
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
def test_batches_of_a_dub_of_an_hour_have_about_20_seconds_of_text(count: int) -> None:
    batches = line_batches(lines_of(count))
    assert [number for batch in batches for number in batch.numbers] == list(range(count))
    for batch in batches[:-1]:
        enough = PREVIEW_BATCH_CHARACTERS if batch.first < 15 else MIN_BATCH_CHARACTERS
        assert len(batch.numbers) == -(-enough // len(SENTENCE))


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
    batches = line_batches(lines_of(21_600))
    assert [batch for batch in batches if batch.first < 15] == [DubBatch(at, at + 3) for at in range(0, 15, 3)]
    assert line_batches(lines_of(16, text="Five.")) == [DubBatch(0, 15), DubBatch(15, 16)]


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        (range(1, 1), []),
        (range(1), [DubBatch(0, 1)]),
        (range(1, 4), [DubBatch(1, 4)]),
        (range(1, 9), [DubBatch(1, 4), DubBatch(4, 7), DubBatch(7, 9)]),
    ],
)
def test_batches_of_chunks(chunks: range, expected: list[DubBatch]) -> None:
    assert chunk_batches(chunks) == expected


@pytest.mark.parametrize("hours", [1, 12, 24])
def test_no_video_has_larger_batches_of_chunks(hours: int) -> None:
    chunks = range(round(hours * 3600 / CHUNK_SECONDS))
    batches = chunk_batches(chunks)
    assert [number for batch in batches for number in batch.numbers] == list(chunks)
    assert len(batches) <= MAX_CHUNK_BATCHES
    assert max(len(batch.numbers) for batch in batches) == CHUNKS_PER_BATCH
