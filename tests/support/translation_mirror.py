"""A mirror of translation models for tests: a catalog with pins of its own, and the gzip files that it pins."""

import gzip
import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

from dev.firefox_catalog import manifest_text
from tests.support.tiny_models import FakeHub, respond, served

Fault = Callable[[BaseHTTPRequestHandler, bytes], None]


@dataclass
class MirrorContent:
    """A catalog in the form that dev/firefox_catalog.py reads, and the files of the mirror by URL path."""

    models: list[Mapping[str, Any]] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)

    def add(
        self,
        source: str,
        target: str,
        files: Mapping[str, bytes],
        *,
        architecture: str = "tiny",
        comet: float | None = 0.8,
        pins_unpacked: bool = True,
    ) -> None:
        """Adds a direction; only its model is pinned unpacked if `pins_unpacked` is false, as in the real catalog."""
        pair = source + target
        entries = []
        (model,) = (content for name, content in files.items() if name.startswith("model."))
        for name, content in files.items():
            path, packed = f"models/{architecture}/{pair}/{name}.gz", gzip.compress(content, 1, mtime=0)
            self.files[f"/{path}"] = packed
            unpacked = {"sha256": sha256(content), "bytes": len(content)} if pins_unpacked else {}
            entries.append({"path": path, "gz_sha256": sha256(packed), "gz_bytes": len(packed), **unpacked})
        self.models.append(
            {
                "pair": pair,
                "architecture": architecture,
                "source": source,
                "target": target,
                "flores": {"bleu": None, "comet": comet},
                "model_sha256": sha256(model),
                "model_bytes": len(model),
                "files": entries,
            }
        )

    def catalog(self) -> dict[str, Any]:
        return {"repository": "people/models", "commit": "0" * 40, "models": self.models}

    def manifest_text(self) -> str:
        return manifest_text(self.catalog())


def model_files(folder: Path, *, separate_vocabularies: bool = False) -> dict[str, bytes]:
    """Files of an installed model; its vocabulary optionally as two files, one per language."""
    files = {path.name: path.read_bytes() for path in folder.iterdir() if not path.name.startswith(".")}
    if separate_vocabularies:
        (name,) = (name for name in files if name.startswith("vocab."))
        content = files.pop(name)
        files |= {f"src{name}": content, f"trg{name}": content}
    return files


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def cut_after(count: int) -> Fault:
    """Closes the connection after `count` bytes of the body, honoring the requested range."""

    def fault(handler: BaseHTTPRequestHandler, body: bytes) -> None:
        byte_range = handler.headers.get("Range")
        start = int(byte_range.removeprefix("bytes=").removesuffix("-")) if byte_range else 0
        headers = {"Content-Range": f"bytes {start}-{len(body) - 1}/{len(body)}"} if start else {}
        respond(handler, 206 if start else 200, body[start:], headers=headers, send_bytes=count)

    return fault


@contextmanager
def translation_mirror(content: MirrorContent) -> Iterator[FakeHub]:
    mirror = FakeHub(dict(content.files))
    with served(mirror.handle) as address:
        mirror.address = address
        yield mirror
