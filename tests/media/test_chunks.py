"""Tests for splitting a timeline into chunks."""

from fractions import Fraction
from itertools import pairwise

import pytest

from cutroom.media.chunks import MediaChunk, chunk_progress, plan_chunks


@pytest.mark.parametrize("duration", [0.001, 1, 59.9, 60, 61, 89, 91, 3600.5, 86_400])
@pytest.mark.parametrize("rate", [Fraction(25), Fraction(30000, 1001), Fraction(48000)])
def test_chunks_are_contiguous(duration: float, rate: Fraction) -> None:
    chunks = plan_chunks(duration, rate=rate, chunk_seconds=60)
    assert chunks[0].start == 0
    assert all(left.start + left.count == right.start for left, right in pairwise(chunks))
    assert sum(chunk.count for chunk in chunks) == max(1, round(Fraction(duration) * rate))
    assert max(chunk.seconds for chunk in chunks) <= 91
    assert [chunk.index for chunk in chunks] == list(range(len(chunks)))


def test_chunk_boundaries_are_multiples() -> None:
    chunks = plan_chunks(1000, rate=Fraction(48000), chunk_seconds=60, multiple_of=3072)
    assert len(chunks) > 10
    assert all(chunk.start % 3072 == 0 for chunk in chunks)


def test_chunk_progress_maps_to_overall_progress() -> None:
    reported: list[float] = []

    chunks = [MediaChunk(0, 0, 30, Fraction(1)), MediaChunk(1, 30, 10, Fraction(1))]
    on_chunk_fraction = chunk_progress(chunks[1], chunks, reported.append)
    assert on_chunk_fraction is not None
    on_chunk_fraction(0.5)
    assert reported == [35 / 40]
