"""Finds identifiers and phrases of our former private vocabulary; `private_terms.toml` lists them."""

import ast
import io
import re
import subprocess
import tokenize
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

TERMS = Path(__file__).with_name("private_terms.toml")
SUFFIXES = frozenset({".py", ".md", ".html", ".js", ".css", ".toml", ".sql", ".yaml", ".yml", ".lua", ".sh", ""})
FENCE = re.compile(r"^\s*```")


@dataclass(frozen=True, slots=True)
class PrivateTerm:
    """One use of a private term."""

    path: Path
    line: int
    term: str


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The checked list: terms in names, phrases in prose, and the paths where a term is the field's own word."""

    identifiers: re.Pattern[str]
    phrases: re.Pattern[str]
    excluded: tuple[str, ...]
    allowed: Mapping[str, frozenset[str]]


@cache
def vocabulary() -> Vocabulary:
    tables = tomllib.loads(TERMS.read_text())
    identifiers = "|".join(sorted(tables["identifiers"]["terms"], key=len, reverse=True))
    phrases = "|".join(sorted(tables["phrases"]["terms"], key=len, reverse=True))
    camel = "|".join(term.title() for term in sorted(tables["identifiers"]["terms"], key=len, reverse=True))
    return Vocabulary(
        # Snake and camel case both count: `film_path`, `FILM`, `filmPath` and `Film` hold the term `film`.
        identifiers=re.compile(
            rf"(?<![A-Za-z0-9])(?i:{identifiers})(?![A-Za-z0-9])|(?<![A-Za-z0-9])({identifiers})(?=[A-Z])|({camel})(?![a-z0-9])"
        ),
        phrases=re.compile(rf"(?<![\w.])({phrases})(?![\w])", re.IGNORECASE),
        excluded=tuple(tables["excluded"]["paths"]),
        allowed={prefix: frozenset(terms) for prefix, terms in tables["allowed"].items()},
    )


def private_terms(project: Path) -> list[PrivateTerm]:
    """Every use of a private term in the text files of the project, tracked or new."""
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
    words, name = vocabulary(), path.relative_to(project)
    allowed: set[str] = set()
    for prefix, terms in words.allowed.items():
        if name.as_posix().startswith(prefix):
            allowed |= terms
    text = path.read_text(errors="ignore")
    parts = _python_parts(text) if path.suffix == ".py" else _text_parts(text, is_markdown=path.suffix == ".md")
    for line, part, is_name in parts:
        for match in (words.identifiers if is_name else words.phrases).finditer(part):
            term = match.group(0).lower()
            if term not in allowed:
                yield PrivateTerm(name, line, term)


def _python_parts(text: str) -> Iterator[tuple[int, str, bool]]:
    """Names, and the prose of comments and docstrings; other strings may be sample data."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NAME:
            yield token.start[0], token.string, True
        elif token.type == tokenize.COMMENT:
            yield token.start[0], token.string, False
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                for offset, line in enumerate(first.value.value.splitlines()):
                    yield first.lineno + offset, line, False


def _text_parts(text: str, *, is_markdown: bool) -> Iterator[tuple[int, str, bool]]:
    """Every line as names and as prose; fenced blocks of Markdown hold commands and recorded responses."""
    is_fenced = False
    for number, line in enumerate(text.splitlines(), start=1):
        if is_markdown and FENCE.match(line):
            is_fenced = not is_fenced
        elif not is_fenced:
            yield number, line, False
            if not is_markdown:
                yield number, line, True
