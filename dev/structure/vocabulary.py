"""Finds identifiers and phrases of our former private vocabulary; `private_terms.toml` lists them."""

import re
import subprocess
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

TERMS = Path(__file__).with_name("private_terms.toml")
SUFFIXES = frozenset({".py", ".md", ".html", ".js", ".css", ".toml", ".sql", ".yaml", ".yml", ".lua", ".sh", ""})


@dataclass(frozen=True, slots=True)
class PrivateTerm:
    """One use of a private term."""

    path: Path
    line: int
    term: str


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The checked list: identifiers matched whole, phrases matched in running text, and where each is legitimate."""

    identifiers: re.Pattern[str]
    phrases: re.Pattern[str]
    excluded: tuple[str, ...]
    allowed: Mapping[str, frozenset[str]]  # path prefix -> terms that are the field's own words there


@cache
def vocabulary() -> Vocabulary:
    tables = tomllib.loads(TERMS.read_text())
    identifiers = "|".join(sorted(tables["identifiers"]["terms"], key=len, reverse=True))
    phrases = "|".join(sorted(tables["phrases"]["terms"], key=len, reverse=True))
    return Vocabulary(
        # Snake and camel case both count: `film_path`, `filmPath` and `Film` hold the term `film`.
        identifiers=re.compile(rf"(?<![A-Za-z])({identifiers})(?![a-z])|(?<=[a-z_])({identifiers.title()})(?![a-z])"),
        phrases=re.compile(rf"\b({phrases})\b", re.IGNORECASE),
        excluded=tuple(tables["excluded"]["paths"]),
        allowed={prefix: frozenset(terms) for prefix, terms in tables["allowed"].items()},
    )


def private_terms(project: Path) -> list[PrivateTerm]:
    """Every use of a private term in the tracked text files of the project."""
    return [found for path in _files(project) for found in _in_file(project, path)]


def _files(project: Path) -> Iterator[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=project, capture_output=True, text=True, check=True,
    ).stdout.splitlines()  # fmt: skip
    for name in sorted(set(listed)):
        path = project / name
        if not name.startswith(vocabulary().excluded) and path.suffix in SUFFIXES and path.is_file():
            yield path


def _in_file(project: Path, path: Path) -> Iterator[PrivateTerm]:
    words = vocabulary()
    name = path.relative_to(project).as_posix()
    allowed: set[str] = set()
    for prefix, terms in words.allowed.items():
        if name.startswith(prefix):
            allowed |= terms
    for number, line in enumerate(path.read_text(errors="ignore").splitlines(), start=1):
        for pattern in (words.identifiers, words.phrases):
            for match in pattern.finditer(line):
                term = match.group(0).lower()
                if term not in allowed:
                    yield PrivateTerm(path.relative_to(project), number, term)
