"""The store gives out models whose every byte is right, and hashes no more often than it must."""

import json
import os
import pickle
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from cutroom.engines.errors import EngineUnavailableError
from cutroom.engines.models import store as store_module
from cutroom.engines.models.files import Checked, check_file, risky_format
from cutroom.engines.models.manifest import ModelFile
from cutroom.engines.models.store import STAMP, ModelStore, default_models_dir
from tests.support.tiny_models import CONFIG, WEIGHTS, install, manifest


def an_hour_later() -> float:
    """When every file has rested long enough for its looks to be trusted."""
    return time.time() + 3600


def a_store(folder: Path, clock: Callable[[], float] = an_hour_later) -> ModelStore:
    return ModelStore(folder, manifest=manifest(), clock=clock)


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that were read in full, in order."""
    names: list[str] = []

    def spy(path: Path, file: ModelFile) -> Checked:
        names.append(path.name)
        return check_file(path, file)

    monkeypatch.setattr(store_module, "check_file", spy)
    return names


def flip_a_byte(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def flip_a_byte_and_set_the_time_back(path: Path) -> None:
    before = path.stat()
    flip_a_byte(path)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_mtime_ns == before.st_mtime_ns


def make_it_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "a byte": (flip_a_byte, "weights.bin has the sha256"),
    "a byte, with the time set back": (flip_a_byte_and_set_the_time_back, "weights.bin has the sha256"),
    "the end": (lambda path: os.truncate(path, 1000), "weights.bin has 1000 bytes instead of 3000000"),
    "more at the end": (lambda path: path.write_bytes(WEIGHTS + b"!"), "weights.bin has 3000001 bytes"),
    "the file": (lambda path: path.unlink(), "weights.bin is missing"),
    "its kind": (make_it_a_folder, "weights.bin is missing"),
}


def test_a_model_whose_files_are_right_is_given_out(tmp_path: Path) -> None:
    folder = install(tmp_path)
    assert a_store(tmp_path).path("small") == folder


def test_a_model_that_is_not_there_is_unavailable_and_the_sentence_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(EngineUnavailableError, match=r"not installed. `cutroom models pull small` fetches it"):
        a_store(tmp_path / "nowhere").path("small")


def test_a_model_that_no_manifest_lists_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(EngineUnavailableError, match=r"no model \.\./small"):
        a_store(tmp_path).path("../small")


@pytest.mark.parametrize("again", [False, True], ids=["first use", "after it was used"])
@pytest.mark.parametrize(("damage", "words"), DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_model_is_refused(
    tmp_path: Path, damage: Callable[[Path], object], words: str, *, again: bool
) -> None:
    folder = install(tmp_path)
    store = a_store(tmp_path)
    if again:
        store.path("small")
    damage(folder / "weights.bin")
    for each in (store, a_store(tmp_path)):  # the same process, and another
        with pytest.raises(EngineUnavailableError, match=words) as caught:
            each.path("small")
        assert "`cutroom models pull small` mends it" in str(caught.value)


def test_a_model_is_hashed_once_for_all_processes(tmp_path: Path, hashed: list[str]) -> None:
    install(tmp_path)
    store = a_store(tmp_path)
    store.path("small")
    assert hashed == ["weights.bin", "config.json"]
    store.path("small")
    a_store(tmp_path).path("small")
    assert hashed == ["weights.bin", "config.json"]


def test_only_what_changed_is_hashed_again(tmp_path: Path, hashed: list[str]) -> None:
    folder = install(tmp_path)
    a_store(tmp_path).path("small")
    (folder / "config.json").write_bytes(CONFIG)
    hashed.clear()
    a_store(tmp_path).path("small")
    assert hashed == ["config.json"]


def test_a_file_that_has_just_changed_is_hashed_at_every_use(tmp_path: Path, hashed: list[str]) -> None:
    install(tmp_path)
    store = a_store(tmp_path, clock=time.time)
    store.path("small")
    store.path("small")
    assert hashed == ["weights.bin", "config.json"] * 2
    assert not (tmp_path / "small" / STAMP).exists()


@pytest.mark.parametrize("stamp", ["", "{", "[]", '{"weights.bin": 1}', '{"weights.bin": ["x", [1, 2]]}', "[" * 100])
def test_a_stamp_that_cannot_be_read_says_nothing(tmp_path: Path, hashed: list[str], stamp: str) -> None:
    folder = install(tmp_path)
    (folder / STAMP).write_text(stamp)
    assert a_store(tmp_path).path("small") == folder
    assert hashed == ["weights.bin", "config.json"]


def test_a_stamp_does_not_outlive_a_change_of_the_manifest(tmp_path: Path) -> None:
    install(tmp_path)
    a_store(tmp_path).path("small")
    other = bytes(reversed(WEIGHTS))
    newer = ModelStore(tmp_path, manifest=manifest(other), clock=an_hour_later)
    with pytest.raises(EngineUnavailableError, match=r"weights.bin has the sha256"):
        newer.path("small")


def test_a_store_that_cannot_be_written_serves_as_well(tmp_path: Path, hashed: list[str]) -> None:
    folder = install(tmp_path)
    (folder / STAMP).mkdir()  # root may write anywhere, but not over a folder
    store = a_store(tmp_path)
    assert store.path("small") == folder
    store.path("small")
    assert hashed == ["weights.bin", "config.json"]
    assert [path.name for path in folder.iterdir() if path.suffix == ".part"] == []


def test_a_check_afresh_trusts_no_stamp(tmp_path: Path) -> None:
    folder = install(tmp_path)
    a_store(tmp_path).path("small")
    flip_a_byte(folder / "weights.bin")
    status = (folder / "weights.bin").stat()
    stamp = json.loads((folder / STAMP).read_text())
    stamp["weights.bin"][1] = [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]
    (folder / STAMP).write_text(json.dumps(stamp))
    store = a_store(tmp_path)
    model = store.manifest.model("small")
    assert store.faults(model) == {}  # whoever may write to the store can lie to it
    assert list(store.faults(model, afresh=True)) == ["weights.bin"]


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_a_pickle_is_refused_whatever_its_name_and_hash(tmp_path: Path, protocol: int) -> None:
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
def test_formats_are_told_by_their_first_bytes(head: bytes, kind: str | None) -> None:
    assert risky_format(head) == kind


def test_a_list_tells_whole_models_from_halves_without_hashing(tmp_path: Path, hashed: list[str]) -> None:
    store = a_store(tmp_path)
    model = store.manifest.model("small")
    assert (store.holds(model), store.holds_any(model)) == (False, False)
    folder = install(tmp_path)
    assert (store.holds(model), store.holds_any(model)) == (True, True)
    os.truncate(folder / "weights.bin", 10)
    assert (store.holds(model), store.holds_any(model)) == (False, True)
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
def test_the_folder_is_the_setting_or_among_the_users_data(environment: dict[str, str], folder: Path) -> None:
    assert default_models_dir(environment) == folder
