"""Words of edited text between words that were known before."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutroom.products.transcripts.document import DocumentWord
from cutroom.products.transcripts.editing.splitting import anchored


def words(*timed: tuple[str, float, float]) -> list[DocumentWord]:
    return [DocumentWord(*each) for each in timed]


KNOWN = words(("The", 1.0, 1.2), ("trane", 1.25, 1.6), ("leaves.", 1.6, 2.0))


def test_unchanged_words_keep_their_times() -> None:
    aligned = words(("The", 0.9, 1.3), ("train", 1.3, 1.8), ("leaves.", 1.8, 2.1))
    assert anchored(aligned, KNOWN) == words(("The", 1.0, 1.2), ("train", 1.3, 1.6), ("leaves.", 1.6, 2.0))


@pytest.mark.parametrize(("start", "expected"), [(0.9, 1.04), (1.9, 1.56), (1.4, 1.4)])
def test_a_new_word_is_between_its_neighbors(start: float, expected: float) -> None:
    aligned = words(("The", 0.8, 0.9), ("train", start, start + 0.1), ("leaves.", 2.0, 2.2))
    found = anchored(aligned, KNOWN)
    assert found[1].start_seconds == pytest.approx(expected)
    assert found[0].end_seconds <= found[1].start_seconds < found[1].end_seconds <= found[2].start_seconds


def test_without_room_all_words_are_as_they_were_aligned() -> None:
    aligned = words(
        *((f"new{number}", 1.0 + number / 10, 1.1 + number / 10) for number in range(30)), ("leaves.", 4, 5)
    )
    assert anchored(aligned, KNOWN) == aligned
    assert anchored([], KNOWN) == []


@given(st.lists(st.sampled_from(["the", "train", "leaves", "now"]), min_size=1, max_size=8), st.integers(0, 400))
def test_words_stay_in_order(texts: list[str], step: int) -> None:
    aligned = words(*((text, 1 + at * step / 1000, 1 + (at + 1) * step / 1000) for at, text in enumerate(texts)))
    found = anchored(aligned, KNOWN)
    times = [time for word in found for time in (word.start_seconds, word.end_seconds)]
    assert times == sorted(times)
    assert [word.text for word in found] == texts
