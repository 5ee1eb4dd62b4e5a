"""Files on their way: what is sent or received, its checksum, and the state that survives a crash."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

TransferProgress: TypeAlias = Callable[[int, int], object]  # bytes so far, and in total
BLOCK_BYTES = 1024 * 1024
DIGESTS = {"sha-256": hashlib.sha256, "sha-512": hashlib.sha512}  # of Repr-Digest, RFC 9530


@dataclass(frozen=True)
class SavedFile:
    """A file that was downloaded completely."""

    path: Path
    size: int
    sha256: str


class FileDigest:
    """The MD5 of the first bytes of a file, read once however often parts of it are sent."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._hash = hashlib.md5(usedforsecurity=False)
        self._position = 0

    def until(self, end: int) -> str:
        """The digest up to a position, in base64."""
        with self._path.open("rb") as file:
            file.seek(self._position)
            while self._position < end:
                block = file.read(min(BLOCK_BYTES, end - self._position))
                if not block:
                    break
                self._hash.update(block)
                self._position += len(block)
        return base64.b64encode(self._hash.digest()).decode()


def sha256_of(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()


def matches_digests(path: Path, headers: Mapping[str, str]) -> bool:
    """Whether a file matches the digests that its response stated, of the whole file; true if it stated none."""
    stated = {name.strip().lower(): value for name, value in _pairs(headers.get("repr-digest", ""), ",")}
    checks = [(DIGESTS[name](), _bytes(value.strip(":"))) for name, value in stated.items() if name in DIGESTS]
    for name, value in _pairs(headers.get("x-goog-hash", ""), ","):
        if name.strip() == "md5":
            checks.append((hashlib.md5(usedforsecurity=False), _bytes(value)))
    if not checks:
        return True
    with path.open("rb") as file:
        while block := file.read(BLOCK_BYTES):
            for digest, _ in checks:
                digest.update(block)
    return all(digest.digest() == expected for digest, expected in checks)


def _pairs(header: str, separator: str) -> list[tuple[str, str]]:
    return [
        (name, value.strip()) for name, _, value in (each.partition("=") for each in header.split(separator)) if value
    ]


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (ValueError, binascii.Error):
        return b""


def read_at(path: Path, start: int, length: int) -> bytes:
    with path.open("rb") as file:
        file.seek(start)
        return file.read(length)


def write_state(path: Path, state: Mapping[str, Any]) -> None:
    """Replaces a state file as a whole, readable by its owner only: it may hold the URL of an upload session."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # with mode 0600
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(state, file)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def read_state(path: Path) -> dict[str, Any] | None:
    """A state file; None if there is none, or if it is damaged."""
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return state if isinstance(state, dict) else None
