"""Lists the glossary terms that finished lines do not have in their translation."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from cutroom.text.glossary.rules import BrokenTerm, TermFinder, TermRule

MAX_BROKEN_TERMS = 200  # listed; the total is reported separately


@dataclass(frozen=True, slots=True)
class CheckedLine:
    """A delivered line, with what was said."""

    number: int
    start_seconds: float
    source: str
    text: str


def broken_terms_report(found: Sequence[tuple[CheckedLine, BrokenTerm]]) -> dict[str, Any]:
    """Fields of a job's result."""
    return {"brokenTerms": broken_term_items(found), "brokenTermCount": len(found)}


def broken_term_items(found: Sequence[tuple[CheckedLine, BrokenTerm]]) -> list[dict[str, Any]]:
    return [
        {
            "line": line.number,
            "start": round(line.start_seconds, 3),
            "term": broken.term,
            "expected": broken.expected,
        }
        for line, broken in found[:MAX_BROKEN_TERMS]
    ]


def check_lines(rules: Sequence[TermRule], lines: Iterable[CheckedLine]) -> list[tuple[CheckedLine, BrokenTerm]]:
    """Each broken term with its line, in order."""
    terms = TermFinder(rules)
    return [(line, broken) for line in lines for broken in terms.broken(line.source, line.text)]
