"""Reads file names from Content-Disposition headers as browsers do (RFC 6266)."""

import re
from urllib.parse import unquote


def saved_name(header: str) -> str:
    """The name under which a browser saves the file: `filename*` takes precedence."""
    extended = re.search(r"filename\*=UTF-8''([^;]*)", header)
    if extended is not None:
        return unquote(extended[1], errors="strict")
    return plain_name(header)


def plain_name(header: str) -> str:
    """The name for clients that know `filename` only."""
    quoted = re.fullmatch(r'attachment; filename="([^"]*)".*', header)
    if quoted is None:
        raise ValueError(f"not an attachment with a file name: {header}")
    return quoted[1]
