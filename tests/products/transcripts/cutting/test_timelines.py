"""Which words are deleted, and what can be cut."""

import pytest

from cutroom.errors import CutroomError
from cutroom.products.transcripts.cutting import timelines
from cutroom.products.transcripts.cutting.timelines import deleted_spans, require_cuttable
from cutroom.products.transcripts.document import DocumentSegment, TranscriptDocument


def document(deleted: str) -> TranscriptDocument:
    """A segment of a second for each character; `x` is a deleted one."""
    segments = (DocumentSegment(f"s{at}", at, at + 1.0, "Word.", "a", each == "x") for at, each in enumerate(deleted))
    return TranscriptDocument(tuple(segments))


def test_deleted_segments_that_touch_are_one_span() -> None:
    assert deleted_spans(document("x.xx")) == ((0, 1.0), (2, 4.0))
    assert deleted_spans(document(".")) == ()


def test_what_has_too_many_cuts_or_nothing_left_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    require_cuttable(document(""))
    require_cuttable(document("x.x"))
    monkeypatch.setattr(timelines, "MAX_CUTS", 1)
    for found, reason in ((document("x.x"), "too_many_cuts"), (document("xx"), "nothing_left")):
        with pytest.raises(CutroomError) as refused:
            require_cuttable(found)
        assert refused.value.details == {"reason": reason}
