"""Builds the Content-Disposition header that names a downloaded file."""

import re
import unicodedata
from urllib.parse import quote

FALLBACK_STEM = "download"


def content_disposition(file_name: str) -> str:
    """`filename` for every client, and `filename*` (RFC 6266) where ASCII cannot express the name."""
    plain = _ascii_name(file_name)
    header = f'attachment; filename="{plain}"'
    return header if plain == file_name else f"{header}; filename*=UTF-8''{quote(file_name, safe='', errors='ignore')}"


def _ascii_name(file_name: str) -> str:
    """Letters without their accents, digits, dots and dashes: nothing that ends a quoted string or a header."""
    plain = unicodedata.normalize("NFKD", file_name).encode("ascii", "ignore").decode()
    name = re.sub(r"-{2,}", "-", re.sub(r"[^A-Za-z0-9._-]", "-", plain)).lstrip("-")
    return name if name[:1] not in {"", "."} else f"{FALLBACK_STEM}{name}"
