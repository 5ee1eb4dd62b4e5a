"""The client against the real service."""

import asyncio
import logging
from pathlib import Path

import pytest
from cutroom_client import (
    AsyncCutroom,
    Cutroom,
    InvalidApiKeyError,
    InvalidArgumentError,
    JobCancelledError,
    NotFoundError,
    WaitTimeoutError,
)
from cutroom_client._sync.uploads import CHUNK_UNIT
from cutroom_client.log_redaction import LOGGERS

from dev.scratch import Keyring
from dev.server import Server

SIZE = 3 * CHUNK_UNIT + 17


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "talk.mp4"
    path.write_bytes(bytes(range(256)) * (SIZE // 256) + b"x" * (SIZE % 256))
    return path


def test_upload_reports_progress_and_leaves_no_state(client: Cutroom, file: Path, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    folder = client.folders.create("Talks")
    video = client.videos.upload(
        file, title="A talk", folder_id=folder.id, chunk_bytes=CHUNK_UNIT, progress=lambda *each: seen.append(each)
    )
    assert video.title == "A talk"
    assert video.data.folder_ids == [folder.id]
    assert seen == [(0, SIZE), (CHUNK_UNIT, SIZE), (2 * CHUNK_UNIT, SIZE), (3 * CHUNK_UNIT, SIZE), (SIZE, SIZE)]
    assert not list((tmp_path / "state" / "uploads").glob("*.json"))


def test_upload_continues_where_another_process_stopped(client: Cutroom, file: Path) -> None:
    class KilledError(Exception):
        pass

    def stop(stored: int, total: int) -> None:
        if stored >= 2 * CHUNK_UNIT:
            raise KilledError(total)

    with pytest.raises(KilledError):
        client.videos.upload(file, chunk_bytes=CHUNK_UNIT, progress=stop)
    seen: list[int] = []
    client.videos.upload(file, chunk_bytes=CHUNK_UNIT, progress=lambda stored, _: seen.append(stored))
    assert seen[0] == 2 * CHUNK_UNIT
    assert len(list(client.videos.list())) == 1


def test_changed_file_is_another_upload(client: Cutroom, file: Path) -> None:
    client.videos.upload(file)
    file.write_bytes(b"other")
    client.videos.upload(file)
    assert len(list(client.videos.list(page_size=1))) == 2


def test_signed_urls_are_not_logged(client: Cutroom, file: Path, caplog: pytest.LogCaptureFixture) -> None:
    for logger in ("", *LOGGERS):  # a service in the same process may have set their levels
        caplog.set_level(logging.DEBUG, logger=logger)
    client.videos.upload(file)
    assert "/v1/videos" in caplog.text
    assert "upload_id" not in caplog.text
    assert "X-Goog-Signature" not in caplog.text
    assert client.settings.api_key.get_secret_value() not in caplog.text


def test_waiting_ends_with_the_job(client: Cutroom, file: Path) -> None:
    video = client.videos.upload(file)
    job = client.jobs.handle(f"import_{video.id}")
    with pytest.raises(WaitTimeoutError):
        job.wait(timeout=0)
    job.cancel()
    with pytest.raises(JobCancelledError) as raised:
        job.wait()
    assert raised.value.code == "CANCELLED"
    assert raised.value.job.id == job.id


async def test_waiting_learns_of_the_end_by_the_stream(api_process: Server, key: Keyring, file: Path) -> None:
    async with AsyncCutroom(key.secret, api_process.url) as client:
        video = await client.videos.upload(file, resume=False)
        job, seen = client.jobs.handle(f"import_{video.id}"), asyncio.Event()
        waiting = asyncio.ensure_future(job.wait(progress=lambda _: seen.set()))
        await seen.wait()
        await client.jobs.handle(job.id).cancel()
        with pytest.raises(JobCancelledError):
            await waiting


def test_trash(client: Cutroom, file: Path) -> None:
    video = client.videos.upload(file)
    video.delete()
    assert [each.id for each in client.videos.trash()] == [video.id]
    with pytest.raises(NotFoundError):
        client.videos.get(video.id)
    assert client.videos.restore(video.id).id == video.id


def test_invalid_fields_are_named(client: Cutroom) -> None:
    with pytest.raises(InvalidArgumentError) as raised:
        client.folders.create("All Videos")
    assert raised.value.fields == [("name", "`All Videos` is reserved.")]
    assert raised.value.request_id
    assert "name" in str(raised.value)


def test_unknown_key(api_process: Server) -> None:
    with Cutroom("cr_wrong", api_process.url) as client, pytest.raises(InvalidApiKeyError):
        client.library()


def test_settings_come_from_the_environment(api_process: Server, key: Keyring, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUTROOM_API_KEY", key.secret)
    monkeypatch.setenv("CUTROOM_BASE_URL", f"{api_process.url}/v1/")
    with Cutroom() as client:
        assert client.library().plan == "business"


def test_pages_are_read_to_the_end(client: Cutroom) -> None:
    names = {f"gate {number}" for number in range(3)}
    for name in names:
        client.glossary.create(name, "en", keep=True)
    assert {each.term for each in client.glossary.list()} == names
    assert client.glossary.export().count("gate") == 3
