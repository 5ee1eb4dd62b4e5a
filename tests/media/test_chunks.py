"""Pieces cover the whole without gap or overlap."""

from fractions import Fraction
from itertools import pairwise

import pytest

from cutroom.media.chunks import MediaChunk, part_of, plan_pieces


@pytest.mark.parametrize("duration", [0.001, 1, 59.9, 60, 61, 89, 91, 3600.5, 86_400])
@pytest.mark.parametrize("rate", [Fraction(25), Fraction(30000, 1001), Fraction(48000)])
def test_pieces_lie_end_to_end(duration: float, rate: Fraction) -> None:
    pieces = plan_pieces(duration, rate=rate, piece_seconds=60)
    assert pieces[0].start == 0
    assert all(left.start + left.count == right.start for left, right in pairwise(pieces))
    assert sum(piece.count for piece in pieces) == max(1, round(Fraction(duration) * rate))
    assert max(piece.seconds for piece in pieces) <= 91
    assert [piece.index for piece in pieces] == list(range(len(pieces)))


def test_joints_fall_on_multiples() -> None:
    pieces = plan_pieces(1000, rate=Fraction(48000), piece_seconds=60, multiple_of=3072)
    assert len(pieces) > 10
    assert all(piece.start % 3072 == 0 for piece in pieces)


async def test_progress_of_a_piece_is_progress_of_the_whole() -> None:
    told: list[float] = []

    async def tell(fraction: float) -> None:
        told.append(fraction)

    pieces = [MediaChunk(0, 0, 30, Fraction(1)), MediaChunk(1, 30, 10, Fraction(1))]
    part = part_of(pieces[1], pieces, tell)
    assert part is not None
    await part(0.5)
    assert told == [35 / 40]
