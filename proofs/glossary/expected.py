"""Sentences with marked terms, and an independent check that translations have what the glossary says.

The check knows which terms a sentence has from its marks, and searches the text with a regular expression of its own.
"""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

TERMS = Path(__file__).with_name("terms.csv")
SENTENCES = Path(__file__).with_name("sentences.txt")
_MARK = re.compile(r"\[([^\]]+)\]")


@dataclass(frozen=True, slots=True)
class MarkedSentence:
    """A sentence without its marks, and the terms in it."""

    text: str
    terms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExpectedTerm:
    """A term whose translation is not in what is shown for its line."""

    line: int
    term: str
    shown: str


def read_sentences() -> list[MarkedSentence]:
    lines = SENTENCES.read_text(encoding="utf-8").splitlines()
    return [MarkedSentence(_MARK.sub(r"\1", line), tuple(_MARK.findall(line))) for line in lines]


def missing_terms(sentences: Sequence[MarkedSentence], shown: Sequence[str], *, language: str) -> list[ExpectedTerm]:
    return [
        ExpectedTerm(line, term, text)
        for line, (sentence, text) in enumerate(zip(sentences, shown, strict=True))
        for term in sentence.terms
        if not any(_says(text, form) for form in _forms(term, language))
    ]


def _says(text: str, form: str) -> bool:
    plain = " ".join(text.split())
    return re.search(rf"(?<!\w){re.escape(form)}(?!\w)", plain, re.IGNORECASE) is not None


def _forms(term: str, language: str) -> list[str]:
    row = _rows()[term]
    if row["keep"] == "true":
        return [term]
    return [row[f"translation {language}"], *(each for each in row[f"forms {language}"].split("|") if each)]


@cache
def _rows() -> Mapping[str, Mapping[str, str]]:
    with TERMS.open(encoding="utf-8", newline="") as file:
        return {row["term"]: row for row in csv.DictReader(file)}


def with_folder(text: str, folder_id: str) -> str:
    """The file with another column, which limits each term to a folder."""
    rows = list(csv.reader(io.StringIO(text, newline="")))
    output = io.StringIO(newline="")
    csv.writer(output).writerows([[*row, folder_id if at else "folderId"] for at, row in enumerate(rows)])
    return output.getvalue()
