"""Rows of the studio: lines beside segments, lines that lost theirs, and which rows a change affects."""

from typing import Any

from cutroom.console.pages.studio.rows import StudioLine, StudioMark, changed_rows, studio_rows
from cutroom.products.transcripts.editing.schemas import EditableSegment


def segment(number: int, start: float) -> EditableSegment:
    return EditableSegment(
        id=f"s{number}", start=start, end=start + 1, speaker="a", text=f"Text {number}", deleted=False
    )


def line(line_id: str, *segment_ids: str, start: float = 0.0) -> StudioLine:
    marks = (StudioMark("stale", "Original changed"),)
    return StudioLine(line_id, segment_ids, start, start + 1, "a", "Texto", "Text", is_edited=False, marks=marks)


SEGMENTS = [segment(number, 2.0 * number) for number in (1, 2, 3)]


def ids(rows: list[dict[str, Any]]) -> list[str]:
    return [row["id"] for row in rows]


def test_a_line_is_beside_the_first_of_its_segments() -> None:
    rows = studio_rows(SEGMENTS, [line("l1", "s1", "s2"), line("l3", "s3")])
    assert ids(rows) == ["s1", "s2", "s3"]
    assert rows[0]["line"]["id"] == "l1"
    assert "line" not in rows[1]
    assert rows[1]["continues"] == "l1"
    assert rows[2]["line"]["marks"] == [{"kind": "stale", "text": "Original changed"}]


def test_a_line_without_segments_has_a_row_at_its_time() -> None:
    rows = studio_rows(SEGMENTS, [line("l9", "gone", start=3.0), line("l8", "gone too", start=99.0)])
    assert ids(rows) == ["s1", "line-l9", "s2", "s3", "line-l8"]
    assert rows[1]["removed"] is True


def test_overlapping_segments_keep_their_order() -> None:
    segments = [segment(1, 2.0), segment(2, 5.0), segment(3, 4.0)]
    assert ids(studio_rows(segments, [])) == ["s1", "s2", "s3"]


def test_a_change_affects_the_whole_line() -> None:
    lines = [line("l1", "s1", "s2"), line("l3", "s3")]
    found = changed_rows(studio_rows(SEGMENTS, lines), lines, segment_ids=["s2"])
    assert [(row["id"], row["previous"]) for row in found["rows"]] == [("s1", None), ("s2", "s1")]
    assert found["removed"] == ["line-l1"]  # a row that a page may still have from before


def test_a_removed_segment_leaves_the_row_of_its_line() -> None:
    lines = [line("l1", "s1"), line("l9", "gone", start=3.0)]
    found = changed_rows(studio_rows(SEGMENTS, lines), lines, segment_ids=["gone"])
    assert [(row["id"], row["previous"]) for row in found["rows"]] == [("line-l9", "s1")]
    assert found["removed"] == ["gone"]


def test_a_changed_line_is_found_by_its_id() -> None:
    lines = [line("l1", "s1"), line("l3", "s3")]
    found = changed_rows(studio_rows(SEGMENTS, lines), lines, segment_ids=(), line_ids=["l3"])
    assert ids(found["rows"]) == ["s3"]
