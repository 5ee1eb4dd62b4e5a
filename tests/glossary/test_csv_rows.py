"""The glossary as CSV: what is read, what is refused, and what spreadsheets would run."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutroom.glossary.csv_rows import MAX_ROWS, CsvError, header_of, read_rows, write_cells, write_row

TERM = {
    "term": "sluice gate",
    "language": "en",
    "folderId": None,
    "keep": False,
    "caseSensitive": True,
    "note": 'Of a "dam", mostly',
    "translations": {"pt-BR": {"text": "comporta", "forms": ["comportas", "a comporta"]}},
    "pronunciations": {"pt-BR": "com pórta"},
}


def test_terms_are_read_as_they_were_written() -> None:
    header = header_of(["es", "pt-BR"])
    [(line, found)] = read_rows(write_cells(header) + write_row(TERM, header))
    assert line == 2
    assert found == {name: value for name, value in TERM.items() if value is not None}


@pytest.mark.parametrize("text", ["\ufeffterm;language;keep\r\ngate;en;yes\r\n", "language,term,keep\nen, gate ,TRUE"])
def test_files_of_spreadsheets_are_read(text: str) -> None:
    [(_, found)] = read_rows(text)
    assert (found["term"], found["language"], found["keep"]) == ("gate", "en", True)


def test_empty_rows_are_skipped() -> None:
    assert [line for line, _ in read_rows("term,language\n\ngate,en\n,\nlock,en\n")] == [3, 5]


REFUSED = [
    ("", "'term' is missing"),
    ("term\ngate", "'language' is missing"),
    ("term,language,shade\n", "Unknown column 'shade'"),
    ("term,language,translation english\n", "Unknown column"),
    ("term,language,term\n", "twice"),
    ("term,language,keep\ngate,en,perhaps", "Line 2: keep"),
    ("term,language\ngate,en,more", "Line 2"),
    ('term,language\n"gate,en', "not CSV"),
    ('term,language\n"gate"x,en', "not CSV"),
    ("term,language\ngate\x00,en", "NUL"),
    (f"term,language\n{'x' * 5_000},en", "too long"),
    ("term,language\n" + "gate,en\n" * (MAX_ROWS + 1), "2,000 rows"),
    (",".join(["term", "language", *(f"forms a{a}{b}" for a in "bcdefghijk" for b in "bcdefghijk")]), "80 columns"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_unreadable_files_are_refused_with_a_reason(text: str, message: str) -> None:
    with pytest.raises(CsvError, match=message):
        list(read_rows(text))


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-1", "@SUM(A1)", "'=1", "''@a", "\t=1"])
def test_cells_that_a_spreadsheet_would_run_are_protected(cell: str) -> None:
    [[written]] = csv.reader(io.StringIO(write_cells([cell])))
    assert written == f"'{cell}"


@given(st.text(st.characters(min_codepoint=33, max_codepoint=0x2FF), min_size=1).map(str.strip).filter(bool))
def test_every_term_survives_export_and_import(text: str) -> None:
    term = {**TERM, "term": text}
    header = header_of(["pt-BR"])
    [(_, found)] = read_rows(write_cells(header) + write_row(term, header))
    assert found["term"] == text
