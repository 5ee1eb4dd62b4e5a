"""Cues of translated subtitles find their segments by time, and no text is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutroom.products.captions.importing.cue_placement import divide_text, place_cues
from cutroom.products.transcripts.document import DocumentSegment
from cutroom.products.transcripts.editing.read_cues import ReadCue


def segment(id_: str, start: float, end: float, speaker: str = "speaker_1") -> DocumentSegment:
    return DocumentSegment(id_, start, end, "Something was said.", speaker)


SEGMENTS = [segment("s1", 0.0, 2.0), segment("s2", 2.1, 6.0), segment("s3", 8.0, 9.0)]


@pytest.mark.parametrize(
    ("cues", "texts", "unplaced"),
    [
        (
            [ReadCue(0.0, 2.0, "Um."), ReadCue(2.1, 6.0, "Dois."), ReadCue(8.0, 9.0, "Três.")],
            ["Um.", "Dois.", "Três."],
            0,
        ),
        # Several cues of one segment are joined.
        ([ReadCue(2.1, 4.0, "Dois e"), ReadCue(4.0, 6.0, "meio.")], [None, "Dois e meio.", None], 0),
        # A cue over several segments is divided between sentences.
        ([ReadCue(0.0, 6.0, "Um. Dois e mais meio.")], ["Um.", "Dois e mais meio.", None], 0),
        # Without sentences, at a clause or between words, by the time in each.
        ([ReadCue(0.0, 4.1, "Um e dois, três e quatro")], ["Um e dois,", "três e quatro", None], 0),
        # A cue that reaches a little into the next segment is not divided.
        ([ReadCue(0.0, 2.4, "Um e dois.")], ["Um e dois.", None, None], 0),
        # One that comes a little late belongs to the segment before it, one far from all to none.
        ([ReadCue(9.2, 10.0, "Tarde.")], [None, None, "Tarde."], 0),
        ([ReadCue(6.8, 7.2, "Nada.")], [None, None, None], 1),
    ],
)
def test_cues_find_their_segments(cues: list[ReadCue], texts: list[str | None], unplaced: int) -> None:
    placed = place_cues(cues, SEGMENTS, language="pt")
    assert [placed.texts.get(each.id) for each in SEGMENTS] == texts
    assert placed.unplaced == unplaced


def test_two_people_at_once_keep_their_cues_apart() -> None:
    both = [segment("s1", 0.0, 4.0), segment("s2", 0.5, 3.5, "speaker_2")]
    cues = [ReadCue(0.0, 4.0, "Eu digo isto."), ReadCue(0.5, 3.5, "E eu, aquilo.")]
    assert place_cues(cues, both, language="pt").texts == {"s1": "Eu digo isto.", "s2": "E eu, aquilo."}


def test_scripts_without_spaces_are_divided_between_characters() -> None:
    placed = place_cues([ReadCue(0.0, 4.1, "一二三四五六七八")], SEGMENTS, language="zh")
    assert placed.texts == {"s1": "一二三四", "s2": "五六七八"}


def test_too_few_words_leave_the_smallest_share_empty() -> None:
    assert divide_text("Sim!", [1.0, 3.0]) == ["", "Sim!"]
    assert divide_text("Sim, não.", [1.0, 0.5, 2.0]) == ["Sim,", "", "não."]


@given(
    st.lists(st.sampled_from(["um", "dois,", "três.", "quatro!", "cinco", "六七"]), min_size=1, max_size=30),
    st.lists(st.floats(0.1, 10), min_size=1, max_size=6),
)
def test_division_loses_and_moves_nothing(words: list[str], shares: list[float]) -> None:
    text = " ".join(words)
    pieces = divide_text(text, shares)
    assert len(pieces) == len(shares)
    assert "".join("".join(pieces).split()) == "".join(text.split())


@given(
    st.lists(
        st.tuples(st.floats(0, 100), st.floats(0.1, 9), st.sampled_from(["Um.", "Dois e três.", "Quatro, cinco"])),
        max_size=20,
    ),
    st.lists(st.tuples(st.floats(0, 100), st.floats(0.1, 9)), max_size=15),
)
def test_every_word_is_in_a_segment_or_counted(
    cues: list[tuple[float, float, str]], spans: list[tuple[float, float]]
) -> None:
    segments = [segment(f"s{at}", start, start + seconds) for at, (start, seconds) in enumerate(spans)]
    placed = place_cues([ReadCue(start, start + length, text) for start, length, text in cues], segments, language="pt")
    total = sum(len(text.split()) for *_, text in cues)
    assert sum(len(text.split()) for text in placed.texts.values()) <= total
    if not placed.unplaced:
        assert sum(len(text.split()) for text in placed.texts.values()) == total
