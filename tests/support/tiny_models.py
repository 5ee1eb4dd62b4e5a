"""Small models for the tests of the store: their files, a manifest, real packages that carry them, and a hub."""

import hashlib
import io
import random
import tarfile
import threading
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from cutroom.engines.models.manifest import Manifest, Model, read_manifest

WEIGHTS = random.Random(1).randbytes(3_000_000)
CUT = 1_234_567  # where the weights are parted between the two wheels
CONFIG = b'{"layers": 2}\n'
REPOSITORY = "people/small"


def manifest_text(weights: bytes = WEIGHTS, config: bytes = CONFIG) -> str:
    return f"""
        [sets]
        ci = ["small"]
        [[models]]
        name = "small"
        job = "transcribe"
        licence = "MIT"
        about = "for tests"
        hub = {{ repository = "{REPOSITORY}", folder = "onnx" }}
        packages.one = {{ registry = "pypi", name = "made-weights-1", version = "1.0" }}
        packages.two = {{ registry = "pypi", name = "made-weights-2", version = "1.0" }}
        packages.npm = {{ registry = "npm", name = "@made/config", version = "2.0.0" }}
        [[models.files]]
        name = "weights.bin"
        size_bytes = {len(weights)}
        sha256 = "{hashlib.sha256(weights).hexdigest()}"
        parts = ["one:made_weights_1/part", "two:made_weights_2/part"]
        [[models.files]]
        name = "config.json"
        size_bytes = {len(config)}
        sha256 = "{hashlib.sha256(config).hexdigest()}"
        parts = ["npm:package/config.json"]
        [[models]]
        name = "other"
        job = "speak"
        licence = "Apache-2.0"
        about = "never there"
        hub = {{ repository = "people/other" }}
        files = [{{ name = "other.onnx", size_bytes = 1, sha256 = "{"0" * 64}" }}]
    """


@cache
def manifest(weights: bytes = WEIGHTS, config: bytes = CONFIG) -> Manifest:
    return read_manifest(manifest_text(weights, config))


def small(weights: bytes = WEIGHTS, config: bytes = CONFIG) -> Model:
    return manifest(weights, config).model("small")


def install(folder: Path, weights: bytes = WEIGHTS, config: bytes = CONFIG) -> Path:
    """The model as a pull would leave it."""
    model = folder / "small"
    model.mkdir(parents=True)
    (model / "weights.bin").write_bytes(weights)
    (model / "config.json").write_bytes(config)
    return model


def make_packages(folder: Path, weights: bytes = WEIGHTS, config: bytes = CONFIG) -> Path:
    """What `pip download` and `npm pack` would leave."""
    folder.mkdir(parents=True, exist_ok=True)
    make_wheel(folder, "made_weights_1", {"made_weights_1/part": weights[:CUT]})
    make_wheel(folder, "made_weights_2", {"made_weights_2/part": weights[CUT:]})
    package = b'{"name": "@made/config", "version": "2.0.0"}'
    make_tarball(folder / "made-config-2.0.0.tgz", {"package/package.json": package, "package/config.json": config})
    return folder


def make_wheel(folder: Path, name: str, members: Mapping[str, bytes]) -> Path:
    """One that pip takes for a wheel."""
    path = folder / f"{name}-1.0-py3-none-any.whl"
    metadata = f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: 1.0\n"
    about = {
        f"{name}-1.0.dist-info/METADATA": metadata.encode(),
        f"{name}-1.0.dist-info/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{name}-1.0.dist-info/RECORD": b"",
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for member, content in {**members, **about}.items():
            wheel.writestr(member, content)
    return path


def make_tarball(path: Path, members: Mapping[str, bytes | tarfile.TarInfo]) -> Path:
    with tarfile.open(path, "w:gz") as tarball:
        for name, content in members.items():
            if isinstance(content, tarfile.TarInfo):
                tarball.addfile(content)
                continue
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tarball.addfile(info, io.BytesIO(content))
    return path


@dataclass
class FakeHub:
    """Answers as a hub does, and badly when told to: `faults` are used up one a request."""

    files: dict[str, bytes]
    address: str = ""
    requests: list[tuple[str, str | None]] = field(default_factory=list)  # path and range
    faults: list[Callable[[BaseHTTPRequestHandler, bytes], None]] = field(default_factory=list)
    takes_ranges: bool = True

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        wanted = handler.headers.get("Range")
        self.requests.append((handler.path, wanted))
        body = self.files.get(handler.path)
        if self.faults:
            self.faults.pop(0)(handler, body or b"")
        elif body is None:
            respond(handler, 404, b"not here")
        elif wanted is not None and self.takes_ranges:
            start = int(wanted.removeprefix("bytes=").removesuffix("-"))
            headers = {"Content-Range": f"bytes {start}-{len(body) - 1}/{len(body)}"}
            respond(handler, 206, body[start:], headers=headers)
        else:
            respond(handler, 200, body)


def respond(
    handler: BaseHTTPRequestHandler,
    status: int,
    body: bytes = b"",
    *,
    headers: Mapping[str, str] | None = None,
    send_bytes: int | None = None,
) -> None:
    """A whole answer, or one that breaks off after some bytes."""
    handler.send_response(status)
    for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(body[:send_bytes])
    handler.close_connection = True


@contextmanager
def served(answer: Callable[[BaseHTTPRequestHandler], None]) -> Iterator[str]:
    """A server on loopback; its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer(self)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (its parent's name for it)
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def fake_hub(weights: bytes = WEIGHTS, config: bytes = CONFIG) -> Iterator[FakeHub]:
    place = f"/{REPOSITORY}/resolve/main/onnx"
    hub = FakeHub({f"{place}/weights.bin": weights, f"{place}/config.json": config})
    with served(hub.answer) as address:
        hub.address = address
        yield hub
