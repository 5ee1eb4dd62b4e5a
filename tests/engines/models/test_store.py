"""The store only returns verified models, and avoids rehashing."""

import json
import os
import pickle
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from cutroom.engines.errors import EngineUnavailableError
from cutroom.engines.models import store as store_module
from cutroom.engines.models.files import FileCheck, check_file, unsafe_format
from cutroom.engines.models.manifest import ModelFile
from cutroom.engines.models.store import STAMP, ModelStore, default_models_dir
from tests.support.tiny_models import CONFIG, WEIGHTS, install, manifest


def one_hour_later() -> float:
    """A clock at which all stamps count as settled."""
    return time.time() + 3600


def make_store(folder: Path, clock: Callable[[], float] = one_hour_later) -> ModelStore:
    return ModelStore(folder, manifest=manifest(), clock=clock)


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of hashed files, in order."""
    names: list[str] = []

    def spy(path: Path, file: ModelFile) -> FileCheck:
        names.append(path.name)
        return check_file(path, file)

    monkeypatch.setattr(store_module, "check_file", spy)
    return names


def flip_byte(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def flip_byte_and_restore_mtime(path: Path) -> None:
    before = path.stat()
    flip_byte(path)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_mtime_ns == before.st_mtime_ns


def replace_with_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "flipped byte": (flip_byte, "weights.bin has the sha256"),
    "flipped byte, mtime restored": (flip_byte_and_restore_mtime, "weights.bin has the sha256"),
    "truncated": (lambda path: os.truncate(path, 1000), "weights.bin has 1000 bytes instead of 3000000"),
    "extended": (lambda path: path.write_bytes(WEIGHTS + b"!"), "weights.bin has 3000001 bytes"),
    "deleted": (lambda path: path.unlink(), "weights.bin is missing"),
    "replaced by a folder": (replace_with_folder, "weights.bin is missing"),
}


def test_valid_model_is_returned(tmp_path: Path) -> None:
    folder = install(tmp_path)
    assert make_store(tmp_path).path("small") == folder


def test_missing_model_names_the_command(tmp_path: Path) -> None:
    with pytest.raises(EngineUnavailableError, match=r"not installed. Run `cutroom-server models pull small`"):
        make_store(tmp_path / "nowhere").path("small")


def test_unknown_model_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(EngineUnavailableError, match=r"Unknown model: \.\./small"):
        make_store(tmp_path).path("../small")


@pytest.mark.parametrize("again", [False, True], ids=["first use", "after use"])
@pytest.mark.parametrize(("damage", "message"), DAMAGE.values(), ids=DAMAGE)
def test_damaged_model_is_rejected(
    tmp_path: Path, damage: Callable[[Path], object], message: str, *, again: bool
) -> None:
    folder = install(tmp_path)
    store = make_store(tmp_path)
    if again:
        store.path("small")
    damage(folder / "weights.bin")
    for each in (store, make_store(tmp_path)):  # the same process, and another
        with pytest.raises(EngineUnavailableError, match=message) as caught:
            each.path("small")
        assert "Run `cutroom-server models pull small` to repair it" in str(caught.value)


def test_model_is_hashed_once_across_processes(tmp_path: Path, hashed: list[str]) -> None:
    install(tmp_path)
    store = make_store(tmp_path)
    store.path("small")
    assert hashed == ["weights.bin", "config.json"]
    store.path("small")
    make_store(tmp_path).path("small")
    assert hashed == ["weights.bin", "config.json"]


def test_only_changed_files_are_rehashed(tmp_path: Path, hashed: list[str]) -> None:
    folder = install(tmp_path)
    make_store(tmp_path).path("small")
    (folder / "config.json").write_bytes(CONFIG)
    hashed.clear()
    make_store(tmp_path).path("small")
    assert hashed == ["config.json"]


def test_recently_changed_file_is_always_hashed(tmp_path: Path, hashed: list[str]) -> None:
    install(tmp_path)
    store = make_store(tmp_path, clock=time.time)
    store.path("small")
    store.path("small")
    assert hashed == ["weights.bin", "config.json"] * 2
    assert not (tmp_path / "small" / STAMP).exists()


@pytest.mark.parametrize("stamp", ["", "{", "[]", '{"weights.bin": 1}', '{"weights.bin": ["x", [1, 2]]}', "[" * 100])
def test_unreadable_stamp_is_ignored(tmp_path: Path, hashed: list[str], stamp: str) -> None:
    folder = install(tmp_path)
    (folder / STAMP).write_text(stamp)
    assert make_store(tmp_path).path("small") == folder
    assert hashed == ["weights.bin", "config.json"]


def test_stamp_is_invalidated_by_manifest_change(tmp_path: Path) -> None:
    install(tmp_path)
    make_store(tmp_path).path("small")
    other = bytes(reversed(WEIGHTS))
    newer = ModelStore(tmp_path, manifest=manifest(other), clock=one_hour_later)
    with pytest.raises(EngineUnavailableError, match=r"weights.bin has the sha256"):
        newer.path("small")


def test_read_only_store_works(tmp_path: Path, hashed: list[str]) -> None:
    folder = install(tmp_path)
    (folder / STAMP).mkdir()  # blocks writing even for root
    store = make_store(tmp_path)
    assert store.path("small") == folder
    store.path("small")
    assert hashed == ["weights.bin", "config.json"]
    assert [path.name for path in folder.iterdir() if path.suffix == ".part"] == []


def test_rehash_ignores_stamps(tmp_path: Path) -> None:
    folder = install(tmp_path)
    make_store(tmp_path).path("small")
    flip_byte(folder / "weights.bin")
    status = (folder / "weights.bin").stat()
    stamp = json.loads((folder / STAMP).read_text())
    stamp["weights.bin"][1] = [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]
    (folder / STAMP).write_text(json.dumps(stamp))
    store = make_store(tmp_path)
    model = store.manifest.model("small")
    assert store.faults(model) == {}  # anyone with write access can forge stamps
    assert list(store.faults(model, rehash=True)) == ["weights.bin"]


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_pickle_is_rejected_despite_name_and_hash(tmp_path: Path, protocol: int) -> None:
    content = pickle.dumps({"weights": [1, 2, 3]}, protocol=protocol)
    install(tmp_path, content)
    store = ModelStore(tmp_path, manifest=manifest(content))
    with pytest.raises(EngineUnavailableError, match=r"weights.bin is a pickle, which could run code"):
        store.path("small")


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"PK\x03\x04 as torch saves", "zip archive"),
        (b"name".ljust(257, b"\0") + b"ustar\0", "tar archive"),
        (b"\x80\x02}q\0.", "pickle"),
        (b"\x06\x00\x00\x00 as CTranslate2 saves", None),
        (b"\x08\x09\x12\x04onnx", None),
        (b"\x80\x3f\x00\x00 a number", None),
        (b"{}", None),
        (b"", None),
    ],
)
def test_unsafe_formats_are_detected_by_signature(head: bytes, kind: str | None) -> None:
    assert unsafe_format(head) == kind


def test_completeness_is_checked_without_hashing(tmp_path: Path, hashed: list[str]) -> None:
    store = make_store(tmp_path)
    model = store.manifest.model("small")
    assert (store.is_complete(model), store.has_any_file(model)) == (False, False)
    folder = install(tmp_path)
    assert (store.is_complete(model), store.has_any_file(model)) == (True, True)
    os.truncate(folder / "weights.bin", 10)
    assert (store.is_complete(model), store.has_any_file(model)) == (False, True)
    assert hashed == []


@pytest.mark.parametrize(
    ("environment", "folder"),
    [
        ({"CUTROOM_MODELS_DIR": "/models", "XDG_DATA_HOME": "/data"}, Path("/models")),
        ({"XDG_DATA_HOME": "/data"}, Path("/data/cutroom/models")),
        ({"XDG_DATA_HOME": ""}, Path.home() / ".local/share/cutroom/models"),
        ({}, Path.home() / ".local/share/cutroom/models"),
    ],
)
def test_default_folder_follows_environment(environment: dict[str, str], folder: Path) -> None:
    assert default_models_dir(environment) == folder
