"""Audio that was deleted is extracted from the original again."""

import subprocess
from pathlib import Path

import pytest

from cutroom.errors import Code, CutroomError
from cutroom.library.derived_media import AudioName, DerivedMedia
from cutroom.library.originals import ORIGINAL_DELETED
from cutroom.library.rules import source_path, video_path
from cutroom.media.audio import make_audio
from cutroom.media.local_cache import LocalMediaCache
from cutroom.media.probe import probe
from cutroom.media.sandbox import Sandbox
from cutroom.platform.ids import new_id
from cutroom.web.runtime import Runtime

TONE = ("-f", "lavfi", "-i", "sine=440:d=2.5")
PICTURE = ("-f", "lavfi", "-i", "testsrc2=s=320x180:r=25:d=2", "-c:v", "libx264", "-preset", "ultrafast")
NAMES: tuple[AudioName, ...] = ("speech.flac", "mix.mka")


@pytest.fixture
def derived(runtime: Runtime, tmp_path: Path) -> DerivedMedia:
    return DerivedMedia(
        runtime.storage, LocalMediaCache(runtime.storage, tmp_path / "cache", max_bytes=10**8), Sandbox()
    )


def make(path: Path, *arguments: str) -> Path:
    subprocess.run(["ffmpeg", "-v", "error", "-y", *arguments, str(path)], check=True)
    return path


async def read(runtime: Runtime, path: str) -> bytes:
    return b"".join([chunk async for chunk in runtime.storage.read(path)])


async def test_extracted_audio_equals_that_of_the_import(
    runtime: Runtime, derived: DerivedMedia, tmp_path: Path
) -> None:
    library_id, video_id = new_id(), new_id()
    original = make(tmp_path / "song.m4a", *TONE)
    await runtime.storage.put(source_path(library_id, video_id), original)
    output = tmp_path / "import"
    output.mkdir()
    await make_audio(original, await probe(original, sandbox=Sandbox()), output=output, sandbox=Sandbox())
    for name in NAMES:
        path = await derived.require_audio(library_id, video_id, name)
        assert path == video_path(library_id, video_id, name)
        assert await read(runtime, path) == (output / name).read_bytes()


async def test_stored_audio_is_used_as_it_is(runtime: Runtime, derived: DerivedMedia) -> None:
    library_id, video_id = new_id(), new_id()
    path = video_path(library_id, video_id, "mix.mka")
    await runtime.storage.put(path, b"stored")
    assert await derived.find_audio(library_id, video_id, "mix.mka") == path
    assert await read(runtime, path) == b"stored"


async def test_a_video_without_audio_has_none(runtime: Runtime, derived: DerivedMedia, tmp_path: Path) -> None:
    library_id, video_id = new_id(), new_id()
    await runtime.storage.put(source_path(library_id, video_id), make(tmp_path / "silent.mp4", *PICTURE))
    assert await derived.find_audio(library_id, video_id, "speech.flac") is None


async def test_without_the_original_the_reason_is_given(derived: DerivedMedia) -> None:
    with pytest.raises(CutroomError) as raised:
        await derived.find_audio(new_id(), new_id(), "mix.mka")
    assert (raised.value.code, raised.value.details) == (Code.FAILED_PRECONDITION, {"reason": ORIGINAL_DELETED})
