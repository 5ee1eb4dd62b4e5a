"""Generates the synchronous client from the asynchronous one, token by token."""

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

DROPPED = frozenset({"async", "await"})
# Names of the asynchronous client and their synchronous counterparts.
RENAMED = {
    "AsyncIterator": "Iterator",
    "AsyncGenerator": "Generator",
    "AsyncContextManager": "ContextManager",
    "asynccontextmanager": "contextmanager",
    "AsyncClient": "Client",
    "AsyncBaseTransport": "BaseTransport",
    "AsyncHTTPTransport": "HTTPTransport",
    "AsyncExitStack": "ExitStack",
    "__aenter__": "__enter__",
    "__aexit__": "__exit__",
    "__aiter__": "__iter__",
    "__anext__": "__next__",
    "aclose": "close",
    "aiter_bytes": "iter_bytes",
    "aiter_lines": "iter_lines",
    "aiter_raw": "iter_raw",
    "anext": "next",
    "aread": "read",
    "_async": "_sync",
}
PREFIX = re.compile(r"\bAsync(?=[A-Z])")
# In docstrings, which show how the client is called.
PROSE = ((re.compile(r"\bawait "), ""), (re.compile(r"\basync (?=for|with|def)"), ""), (PREFIX, ""))


def synchronous(source: str) -> str:
    """The source of a synchronous module, before formatting."""
    lines = source.splitlines(keepends=True)
    pieces: list[str] = []
    row, column = 1, 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        pieces.append(_between(lines, (row, column), token.start))
        pieces.append(_translated(token))
        row, column = token.end
    # `await` leaves the space behind it; the formatter does not remove one at the start of an expression.
    return re.sub(r"\x00 ?", "", "".join(pieces))


def _translated(token: tokenize.TokenInfo) -> str:
    if token.type == tokenize.NAME:
        return "\x00" if token.string in DROPPED else RENAMED.get(token.string, PREFIX.sub("", token.string))
    if token.type == tokenize.STRING:
        text = token.string
        for pattern, replacement in PROSE:
            text = pattern.sub(replacement, text)
        return text
    return token.string


def _between(lines: list[str], start: tuple[int, int], end: tuple[int, int]) -> str:
    """The text between two tokens: spaces, and the line ends that tokens leave out."""
    if start[0] == end[0]:
        return lines[start[0] - 1][start[1] : end[1]] if start[0] <= len(lines) else ""
    middle = lines[start[0] : end[0] - 1]
    last = lines[end[0] - 1][: end[1]] if end[0] <= len(lines) else ""
    return "".join([lines[start[0] - 1][start[1] :], *middle, last])


def synchronous_modules(source: Path, package: str) -> Iterator[tuple[str, str]]:
    """Name and source of each generated module; `runtime.py` is written by hand for both."""
    for path in sorted(source.glob("*.py")):
        if path.name not in {"runtime.py", "__init__.py"}:
            module = f"{package}.{path.stem}"
            text = synchronous(path.read_text(encoding="utf-8"))
            yield path.name, f"# Generated from `{module}` by `just clients`. Do not edit.\n\n{text}"
