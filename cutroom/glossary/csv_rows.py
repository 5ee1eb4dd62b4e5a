"""Reads and writes the glossary as CSV: fixed columns, then a translation, forms and a pronunciation per language.

Spreadsheets run cells that start like a formula. Such cells are written with an apostrophe, which is removed on import.
"""

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

FIXED = ("term", "language", "folderId", "keep", "caseSensitive", "note")
REQUIRED = ("term", "language")
MAX_ROWS = 2_000
MAX_COLUMNS = 80
MAX_FIELD = 2_000  # characters of a cell
FORM_SEPARATOR = "|"
_COLUMN = re.compile(r"(translation|forms|pronunciation) ([A-Za-z]{2,3}(?:-[A-Za-z]{2,4})?)")
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_BOOLEANS = {"": False, "false": False, "no": False, "0": False, "true": True, "yes": True, "1": True}


class CsvError(ValueError):
    """The file cannot be read; the message says where and why."""


def read_rows(text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The number of each row's line, and its term in the form of a request."""
    text = text.removeprefix("\ufeff")
    if "\x00" in text:
        raise CsvError("The file contains a NUL character.")
    first = text.partition("\n")[0]
    delimiter = ";" if ";" in first and "," not in first else ","
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        header = _read_header(next(reader, []))
        rows = 0
        for cells in reader:
            if not any(each.strip() for each in cells):
                continue
            rows += 1
            if rows > MAX_ROWS:
                raise CsvError(f"The file has more than {MAX_ROWS:,} rows.")
            if len(cells) > len(header) or any(len(each) > MAX_FIELD for each in cells):
                raise CsvError(f"Line {reader.line_num} has too many cells, or one that is too long.")
            yield (
                reader.line_num,
                _term(dict(zip(header, (_bare(each) for each in cells), strict=False)), reader.line_num),
            )
    except csv.Error as error:
        raise CsvError(f"Line {reader.line_num} is not CSV: {error}.") from error


def _read_header(cells: Sequence[str]) -> list[str]:
    header = [each.strip() for each in cells]
    if len(header) > MAX_COLUMNS:
        raise CsvError(f"The file has more than {MAX_COLUMNS} columns.")
    unknown = next((each for each in header if each not in FIXED and not _COLUMN.fullmatch(each)), None)
    if unknown is not None:
        raise CsvError(f"Unknown column {unknown[:40]!r}.")
    if missing := [each for each in REQUIRED if each not in header]:
        raise CsvError(f"The column {missing[0]!r} is missing.")
    if len({each.lower() for each in header}) < len(header):
        raise CsvError("A column is there twice.")
    return header


def _term(cells: Mapping[str, str], line: int) -> dict[str, Any]:
    found: dict[str, Any] = {name: cells[name] for name in ("term", "language", "folderId", "note") if cells.get(name)}
    for name in ("keep", "caseSensitive"):
        value = cells.get(name, "").lower()
        if value not in _BOOLEANS:
            raise CsvError(f"Line {line}: {name} is true or false.")
        found[name] = _BOOLEANS[value]
    translations: dict[str, dict[str, Any]] = {}
    pronunciations: dict[str, str] = {}
    for column, value in cells.items():
        match = _COLUMN.fullmatch(column)
        if match is None or not value:
            continue
        kind, language = match.groups()
        if kind == "translation":
            translations.setdefault(language, {})["text"] = value
        elif kind == "forms":
            forms = [each.strip() for each in value.split(FORM_SEPARATOR)]
            translations.setdefault(language, {})["forms"] = [each for each in forms if each]
        else:
            pronunciations[language] = value
    return {**found, "translations": translations, "pronunciations": pronunciations}


def header_of(languages: Sequence[str]) -> list[str]:
    return [*FIXED, *(f"{kind} {each}" for each in languages for kind in ("translation", "forms", "pronunciation"))]


def write_row(term: Mapping[str, Any], header: Sequence[str]) -> str:
    """A term in the form of a response, as a line of the file."""
    cells = []
    for column in header:
        match = _COLUMN.fullmatch(column)
        if match is None:
            cells.append(_plain(term.get(column)))
            continue
        kind, language = match.groups()
        translation = term["translations"].get(language, {})
        if kind == "pronunciation":
            cells.append(_plain(term["pronunciations"].get(language)))
        elif kind == "forms":
            cells.append(FORM_SEPARATOR.join(translation.get("forms", ())))
        else:
            cells.append(_plain(translation.get("text")))
    return write_cells(cells)


def write_cells(cells: Sequence[str]) -> str:
    output = io.StringIO(newline="")
    csv.writer(output, lineterminator="\r\n").writerow([_protected(each) for each in cells])
    return output.getvalue()


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def _protected(cell: str) -> str:
    return f"'{cell}" if _FORMULA.match(cell) else cell


def _bare(cell: str) -> str:
    stripped = cell.strip()
    return stripped[1:] if stripped.startswith("'") and _FORMULA.match(stripped[1:]) else stripped
