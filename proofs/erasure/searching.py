"""Searches files, tables, objects, Redis and logs for the words and bytes of a library."""

import base64
import mmap
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from redis.asyncio import Redis

from cutroom.platform.db import Connection
from cutroom.platform.settings import Settings
from cutroom.platform.storage.objects import Storage
from proofs.erasure.planting import PlantedLibrary

_KIND = re.compile(rb"x([a-z]+)x")
_MAX_KIND = 40
# Parts of the names of places: each store, so that a search that cannot find anything in one is noticed.
STORES = ("table", "objects", "redis", "postgres", "seaweedfs", "worker-")
ENCRYPTED_STORE = "temporal"  # its payloads are encrypted: before the erasure too, only ids are found in it
_BARE = "word"  # the word of the fixtures' rows, without a kind
_BINARY = "bytes"


@dataclass
class Findings:
    """Where a library was found: place, and how often each kind was found there."""

    hits: dict[str, dict[str, int]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(int)))

    def add(self, place: str, kind: str) -> None:
        self.hits[place][kind] += 1

    @property
    def count(self) -> int:
        return sum(sum(kinds.values()) for kinds in self.hits.values())

    @property
    def kinds(self) -> set[str]:
        return {kind for kinds in self.hits.values() for kind in kinds}

    def stores(self) -> set[str]:
        """The kinds of stores in which something was found."""
        return {name for name in STORES if any(name in place for place in self.hits)}

    def lines(self) -> Iterator[str]:
        for place, kinds in sorted(self.hits.items()):
            yield f"{place}: {', '.join(f'{kind} {count}' for kind, count in sorted(kinds.items()))}"


@dataclass(frozen=True)
class Needles:
    """The encodings in which a library's word and bytes may be stored."""

    forms: tuple[tuple[str, bytes], ...]

    @classmethod
    def of(cls, library: PlantedLibrary) -> "Needles":
        word = library.word.encode()
        forms = [
            ("", word),
            ("utf-16", library.word.encode("utf-16-le")),
            ("hex", word.hex().encode()),
            ("HEX", word.hex().upper().encode()),
            *(("base64", each) for each in _base64_forms(word)),
            (_BINARY, library.binary),
            ("bytes in hex", library.binary.hex().encode()),
            *(("bytes in base64", each) for each in _base64_forms(library.binary)),
        ]
        return cls(tuple(forms))

    def find_in(self, content: "bytes | mmap.mmap") -> Iterator[str]:
        """The kind, or else the encoding, of every occurrence."""
        for form, needle in self.forms:
            position = content.find(needle)
            while position >= 0:
                end = position + len(needle)
                match = _KIND.match(content[end : end + _MAX_KIND]) if not form else None
                yield match[1].decode() if match else form or _BARE
                position = content.find(needle, end)


def _base64_forms(value: bytes) -> set[bytes]:
    """The part of the encoding that does not depend on the neighbors, at each of the three alignments."""
    forms = set()
    for shift in range(3):
        usable = value[(3 - shift) % 3 :]
        forms.add(base64.b64encode(usable[: len(usable) // 3 * 3]))
    return forms


def search_files(needles: Needles, folders: Iterable[Path], findings: Findings) -> int:
    """Search every file as bytes; return how many bytes were read."""
    searched = 0
    for folder in folders:
        for path in sorted(each for each in folder.rglob("*") if each.is_file() and not each.is_symlink()):
            with path.open("rb") as file:
                size = file.seek(0, 2)
                if not size:
                    continue
                searched += size
                with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                    for kind in needles.find_in(content):
                        findings.add(str(path.relative_to(folder.parent)), kind)
    return searched


def count_files_with(folder: Path, text: bytes) -> int:
    """The files that contain this text."""
    return sum(text in path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


async def search_tables(needles: Needles, connection: Connection, findings: Findings) -> None:
    """Search every column of every table as text, and `bytea` in its own encoding."""
    rows = await connection.fetch("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
    for (table,) in rows:
        found = await connection.fetch(f'SELECT t::text AS line FROM "{table}" t')  # noqa: S608 (our own table names)
        for row in found:
            for kind in needles.find_in(row["line"].encode()):
                findings.add(f"table {table}", kind)


async def search_objects(needles: Needles, settings: Settings, findings: Findings) -> None:
    """Search the names and contents of every object."""
    storage = Storage.connect(settings)
    for path in await storage.names(""):
        content = b"".join([chunk async for chunk in storage.read(path)])
        for kind in needles.find_in(path.encode() + b"\n" + content):
            findings.add("objects", kind)


async def search_redis(needles: Needles, settings: Settings, findings: Findings) -> None:
    """Search the names and values of every key."""
    redis = Redis.from_url(settings.redis_url.get_secret_value())
    try:
        async for key in redis.scan_iter():
            value = await redis.dump(key) or b""
            for kind in needles.find_in(key + b"\n" + value):
                findings.add("redis", kind)
    finally:
        await redis.aclose()


def search_text(needles: Needles, name: str, text: str, findings: Findings) -> None:
    for kind in needles.find_in(text.encode()):
        findings.add(name, kind)
