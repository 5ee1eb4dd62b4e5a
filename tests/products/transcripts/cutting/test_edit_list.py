"""Edit lists: cuts are in silence, on edges of frames, and never inside of a kept word."""

import random
import time
from dataclasses import dataclass, field
from fractions import Fraction

import pytest

from cutroom.media.cutting.timeline import FrameSpan
from cutroom.products.transcripts.cutting.edit_list import make_edit_list
from cutroom.products.transcripts.cutting.editor_files import FRAME_RATES


@dataclass
class Word:
    start_seconds: float
    end_seconds: float


@dataclass
class Segment:
    words: list[Word]
    deleted: bool = False
    start_seconds: float = field(init=False)
    end_seconds: float = field(init=False)

    def __post_init__(self) -> None:
        self.start_seconds, self.end_seconds = self.words[0].start_seconds, self.words[-1].end_seconds


def segment(*words: tuple[float, float], deleted: bool = False) -> Segment:
    return Segment([Word(*each) for each in words], deleted)


def test_nothing_deleted_is_one_part() -> None:
    found = make_edit_list([segment((1, 2))], duration_seconds=10, frame_rate=Fraction(25))
    assert (found.kept, found.cuts) == ((FrameSpan(0, 250),), ())


def test_a_deleted_word_is_cut_in_the_silence_beside_it() -> None:
    talk = [segment((1.0, 2.0)), segment((2.4, 2.8), deleted=True), segment((2.88, 4.0))]
    found = make_edit_list(talk, duration_seconds=10, frame_rate=Fraction(25))
    assert found.cuts == (FrameSpan(58, 71),), "from 2.3 to 2.84 s: a tenth of a second before, half of the gap after"
    assert [found.seconds(each) for each in (58, 71)] == [2.32, 2.84]
    assert found.kept == (FrameSpan(0, 58), FrameSpan(71, 250))


def test_a_word_that_is_said_over_a_deleted_one_is_kept() -> None:
    talk = [segment((1.0, 3.0), deleted=True), segment((1.8, 2.2))]
    found = make_edit_list(talk, duration_seconds=10, frame_rate=Fraction(50))
    assert found.cuts == (FrameSpan(45, 90), FrameSpan(110, 155))


def test_deleted_neighbors_are_one_cut_and_distant_ones_are_not() -> None:
    near = [segment((1, 2), deleted=True), segment((2.9, 4), deleted=True)]
    apart = [segment((1, 2), deleted=True), segment((3.5, 4), deleted=True)]
    assert len(make_edit_list(near, duration_seconds=10, frame_rate=Fraction(25)).cuts) == 1
    assert len(make_edit_list(apart, duration_seconds=10, frame_rate=Fraction(25)).cuts) == 2


def test_long_silences_are_shortened() -> None:
    talk = [segment((2.0, 3.0)), segment((3.5, 4.0)), segment((9.0, 10.0))]
    found = make_edit_list(talk, duration_seconds=12, frame_rate=Fraction(10), max_silence_seconds=1.0)
    assert found.cuts == (FrameSpan(5, 15), FrameSpan(45, 85), FrameSpan(105, 115))


@pytest.mark.parametrize("rate", FRAME_RATES.values(), ids=FRAME_RATES)
def test_no_cut_is_inside_of_a_kept_word(rate: Fraction) -> None:
    """Random talks with overlaps; deleted words are left out but for less than two frames and their edges."""
    chance, cuts = random.Random(str(rate)), 0
    for _ in range(100):
        talk, at = [], 0.0
        for _ in range(chance.randint(1, 40)):
            at += chance.choice([0.0, 0.01, 0.2, 0.5, 3.0])
            end = at + chance.uniform(0.05, 0.8)
            talk.append(segment((round(at, 3), round(end, 3)), deleted=chance.random() < 0.4))
            at = chance.choice([end, end, end - 0.1])
        duration = at + chance.random() * 5
        silence = chance.choice([None, 0.5, 2.0])
        found = make_edit_list(talk, duration_seconds=duration, frame_rate=rate, max_silence_seconds=silence)
        cuts += len(found.cuts)
        for each in talk:
            if not each.deleted:
                for cut in found.cuts:
                    start, end = found.seconds(cut.start), found.seconds(cut.end)
                    assert end <= each.start_seconds + 2e-6 or start >= min(each.end_seconds, duration) - 2e-6
        edges = [edge for each in found.kept for edge in (each.start, each.end)]
        assert edges == sorted(edges)
        assert sum(each.frames for each in (*found.kept, *found.cuts)) == found.total_frames
    assert cuts > 100


def test_many_cuts_take_little_time() -> None:
    talk = [segment((at, at + 0.4), deleted=at % 2 == 0) for at in range(40_000)]
    before = time.process_time()
    found = make_edit_list(talk, duration_seconds=40_000, frame_rate=Fraction(25))
    assert len(found.cuts) == 20_000
    assert time.process_time() - before < 5
