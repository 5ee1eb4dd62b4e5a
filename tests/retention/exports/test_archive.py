"""Archives of whole libraries: contents, checksums, interrupted runs, and files that change meanwhile."""

import asyncio
import hashlib
import json

import pytest
from temporalio.exceptions import ApplicationError

from cutroom.library.rules import character_path
from cutroom.platform.ids import new_id
from cutroom.platform.storage.multipart import Multipart, MultipartUploadNotFoundError
from cutroom.products.speech.rules import voice_path
from cutroom.retention.exports import activities, contents
from cutroom.retention.exports.archive_writer import ArchiveOutcome
from cutroom.retention.exports.rules import EXPORTED_TABLES, LEFT_OUT_TABLES
from dev.scratch import Accounts, Person
from tests.retention.exports.conftest import (
    SEALED,
    SOURCE,
    Exporter,
    InterruptedMultipart,
    SeededLibrary,
    unzip,
)


@pytest.fixture
async def files(library: SeededLibrary, exporter: Exporter) -> dict[str, bytes]:
    return unzip(await exporter.archive(await exporter.export(library.library_id)))


async def test_manifest_has_the_checksum_of_every_file(library: SeededLibrary, files: dict[str, bytes]) -> None:
    manifest = json.loads(files.pop("manifest.json"))
    assert (manifest["formatVersion"], manifest["libraryId"]) == (1, library.library_id)
    assert set(manifest["leftOut"]["tables"]) == set(LEFT_OUT_TABLES)
    assert "playback/" in manifest["leftOut"]["objects"]
    assert manifest["missing"] == []
    listed = {each["path"]: (each["bytes"], each["sha256"]) for each in manifest["files"]}
    assert listed == {name: (len(data), hashlib.sha256(data).hexdigest()) for name, data in files.items()}
    assert all(each["kind"] for each in manifest["files"])


async def test_files_of_every_product_are_in_the_archive(library: SeededLibrary, files: dict[str, bytes]) -> None:
    objects, folder = library.objects(), f"videos/{library.video_id}"
    expected = {
        f"{folder}/source/etc-pass-wd.mp4": library.path("source"),
        f"{folder}/poster.jpg": library.path("poster.jpg"),
        f"{folder}/transcript/words.json": library.path("transcript/words.json"),
        f"{folder}/subtitles/en.srt": library.path("subtitles/en.srt"),
        f"{folder}/subtitles/en.vtt": library.path("subtitles/en.vtt"),
        f"{folder}/subtitles/pt.srt": library.path("subtitles/pt.srt"),
        f"{folder}/subtitles/pt.vtt": library.path("subtitles/pt.vtt"),
        f"{folder}/dubs/pt-plus.m4a": library.path("dubs/pt-plus/track.m4a"),
        f"{folder}/shorts/001-A-short-one.mp4": library.path("shorts/1/short.mp4"),
        f"{folder}/shorts/001-A-short-one.jpg": library.path("shorts/1/short.jpg"),
        f"{folder}/thumbnails/001-pt.jpg": library.path("thumbnails/1/1.jpg"),
        f"characters/{library.character_id}/{library.image_id}.png": character_path(
            library.library_id, library.image_id
        ),
        f"voices/{library.voice_id}/sample-0": voice_path(library.library_id, library.voice_id, "sample-0"),
        f"voices/{library.voice_id}/reference.wav": voice_path(library.library_id, library.voice_id, "reference.wav"),
    }
    assert {name: files.get(name) for name in expected} == {name: objects[path] for name, path in expected.items()}
    for name in ("transcript/transcript.json", "captions/pt.json", "dubs/pt-plus.json"):
        assert json.loads(files[f"{folder}/{name}"])["segments"][0]["text"] == library.marker
    everything = b"".join(files.values())
    for left_out in (b"intermediate", b"derived segment"):
        assert left_out not in everything


async def test_hostile_file_names_stay_inside_the_folder(files: dict[str, bytes]) -> None:
    for name in files:
        assert not name.startswith("/")
        assert ".." not in name.split("/")
        assert name.isprintable()
        assert "\\" not in name
    assert SOURCE in files.values()


async def test_settings_and_rows_are_exported_without_secrets(
    library: SeededLibrary, files: dict[str, bytes], accounts: Accounts
) -> None:
    assert {name for name in files if name.startswith("rows/")} == {f"rows/{table}.jsonl" for table in EXPORTED_TABLES}
    settings = json.loads(files["settings.json"])
    assert settings["library"]["id"] == library.library_id
    assert [each["role"] for each in settings["members"]] == ["owner"]
    assert settings["webhook_endpoints"][0]["url"] == "https://hooks.example.com/a"
    assert settings["brand_voices"][0]["guidelines"] == "Short words."
    voice = json.loads(files[f"voices/{library.voice_id}/voice.json"])
    assert voice["consent"]["userId"] == library.user_id
    everything = b"".join(files.values())
    hashes = await accounts.connection.fetch("SELECT hash FROM api_keys WHERE library_id = $1", library.library_id)
    for secret in (SEALED, *(row["hash"] for row in hashes)):
        assert secret not in everything
        assert secret.hex().encode() not in everything


async def test_videos_in_the_trash_are_marked_and_purged_ones_left_out(
    library: SeededLibrary, files: dict[str, bytes]
) -> None:
    assert json.loads(files[f"videos/{library.video_id}/video.json"])["isInTrash"] is False
    assert json.loads(files[f"videos/{library.trashed_id}/video.json"])["isInTrash"] is True
    assert library.purged_id.encode() not in b"".join(files.values())


async def test_rows_of_purged_videos_are_left_out(library: SeededLibrary, exporter: Exporter) -> None:
    row = {"language": "en", "speakers": [], "alignment_path": "gone", "segments": [], "engine": "none"}
    now = (await exporter.state(await exporter.request(library.library_id)))["created_at"]
    await library.insert("transcripts", video_id=library.purged_id, **row, created_at=now)
    async with contents.open_snapshot(exporter.runtime.database, library.library_id) as connection:
        rows = [json.loads(each) async for each in contents._rows(connection, library.library_id, "transcripts")]
    assert [each["video_id"] for each in rows] == [library.video_id]


async def test_another_library_is_absent(exporter: Exporter, library: SeededLibrary, accounts: Accounts) -> None:
    other_person: Person = await accounts.person()
    other = SeededLibrary(accounts, library.storage, other_person.library_id, other_person.user_id)
    await other.seed()
    files = unzip(await exporter.archive(await exporter.export(library.library_id)))
    everything = b"".join([*files.values(), *(name.encode() for name in files)])
    assert library.marker.encode() in everything
    for foreign in (other.marker, other.library_id, other.user_id, other.video_id, other.voice_id):
        assert foreign.encode() not in everything


async def test_receipts_of_jobs_are_exported(library: SeededLibrary, exporter: Exporter) -> None:
    hold = {"id": new_id(), "hold_id": new_id(), "holder": "dub_1", "action": "dub", "product": "plus", "terms": {}}
    state = await exporter.state(await exporter.request(library.library_id))
    priced = {"pricing_version": "1", "millicredits": 3_200, "state": "open", "created_at": state["created_at"]}
    await library.insert("escrow_lines", **hold, **priced)
    async with contents.open_snapshot(exporter.runtime.database, library.library_id) as connection:
        receipts = [json.loads(each) async for each in contents._receipts(connection, library.library_id)]
    assert [(each["jobId"], each["held"]) for each in receipts] == [("dub_1", 3.2)]


async def test_interrupted_archive_continues_with_the_next_part(library: SeededLibrary, exporter: Exporter) -> None:
    ref = await exporter.request(library.library_id)
    await exporter.prepare(ref)
    real = exporter.activities.writer.multipart
    hanging = InterruptedMultipart(real, parts=1)
    run = asyncio.create_task(exporter.with_multipart(hanging).write(ref))
    await hanging.interrupted.wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    continued = InterruptedMultipart(real, parts=100)
    assert await exporter.with_multipart(continued).write(ref) == ArchiveOutcome.COMPLETE
    state = await exporter.state(ref)
    parts = -(-state["archive_bytes"] // state["part_bytes"])
    assert parts >= 3
    assert continued.sent == set(range(2, parts + 1))
    resumed = await exporter.archive(ref)
    await forget_upload(exporter, ref.export_id)
    assert await exporter.write(ref) == ArchiveOutcome.COMPLETE
    assert await exporter.archive(ref) == resumed
    await exporter.run("finish_export", ref)
    assert (await exporter.state(ref))["sha256"] == hashlib.sha256(resumed).hexdigest()
    assert unzip(resumed)


async def forget_upload(exporter: Exporter, export_id: str) -> None:
    """Forgets the upload, so that the archive is written again from its first part."""
    connection = exporter.accounts.connection
    await connection.execute("DELETE FROM export_parts WHERE export_id = $1", export_id)
    await connection.execute("UPDATE exports SET multipart_id = NULL WHERE id = $1", export_id)


async def test_long_archives_are_written_in_several_runs(library: SeededLibrary, exporter: Exporter) -> None:
    ref = await exporter.request(library.library_id)
    await exporter.prepare(ref)
    stepwise = exporter.with_multipart(exporter.activities.writer.multipart, run_bytes=1)
    assert await stepwise.run("write_export_archive", ref) == ArchiveOutcome.MORE
    assert await stepwise.write(ref) == ArchiveOutcome.COMPLETE
    assert unzip(await exporter.archive(ref))


async def test_run_after_a_lost_completion_succeeds(library: SeededLibrary, exporter: Exporter) -> None:
    ref = await exporter.request(library.library_id)
    await exporter.prepare(ref)

    class LosesResponse(Multipart):
        async def complete(self, *_arguments: object, **_options: object) -> None:
            raise MultipartUploadNotFoundError(404, "NoSuchUpload")

    assert await exporter.write(ref) == ArchiveOutcome.COMPLETE
    real = exporter.activities.writer.multipart
    lost = LosesResponse(real._client, bucket_url=real._bucket_url, signer=real._signer)
    assert await exporter.with_multipart(lost).write(ref) == ArchiveOutcome.COMPLETE


async def test_upload_that_vanished_is_started_again(library: SeededLibrary, exporter: Exporter) -> None:
    ref = await exporter.request(library.library_id)
    await exporter.prepare(ref)
    stepwise = exporter.with_multipart(exporter.activities.writer.multipart, run_bytes=1)
    await stepwise.run("write_export_archive", ref)
    upload_id = (await exporter.state(ref))["multipart_id"]
    await exporter.activities.writer.multipart.abort(ref.archive_path, upload_id)
    with pytest.raises(ApplicationError) as failed:
        await exporter.write(ref)
    assert isinstance(failed.value.__cause__, MultipartUploadNotFoundError)
    assert not failed.value.non_retryable
    assert await exporter.write(ref) == ArchiveOutcome.COMPLETE
    assert unzip(await exporter.archive(ref))


async def test_file_replaced_after_its_checksum_is_read_again(library: SeededLibrary, exporter: Exporter) -> None:
    ref = await exporter.request(library.library_id)
    await exporter.prepare(ref)
    shorter = SOURCE[: 6 * 2**20]
    await library.storage.put(library.path("source"), shorter)
    assert await exporter.write(ref) == ArchiveOutcome.CHANGED
    await exporter.read(ref)
    assert await exporter.write(ref) == ArchiveOutcome.COMPLETE
    files = unzip(await exporter.archive(ref))
    listed = {each["path"]: each["sha256"] for each in json.loads(files["manifest.json"])["files"]}
    name = f"videos/{library.video_id}/source/etc-pass-wd.mp4"
    assert files[name] == shorter
    assert listed[name] == hashlib.sha256(shorter).hexdigest()


async def test_removed_file_is_named_as_missing(library: SeededLibrary, exporter: Exporter) -> None:
    ref = await exporter.request(library.library_id)
    await exporter.prepare(ref)
    await library.storage.delete(library.path("source"))
    assert await exporter.write(ref) == ArchiveOutcome.CHANGED
    await exporter.read(ref)
    assert await exporter.write(ref) == ArchiveOutcome.COMPLETE
    manifest = json.loads(unzip(await exporter.archive(ref))["manifest.json"])
    assert manifest["missing"] == [f"videos/{library.video_id}/source/etc-pass-wd.mp4"]
    assert (await exporter.state(ref))["summary"]["missingFiles"] == 1


async def test_small_files_keep_the_content_of_their_checksum(library: SeededLibrary, exporter: Exporter) -> None:
    """Subtitles are edited often, which must not start the archive again."""
    ref = await exporter.request(library.library_id)
    await exporter.prepare(ref)
    await library.storage.put(library.path("subtitles/en.srt"), b"edited meanwhile")
    assert await exporter.write(ref) == ArchiveOutcome.COMPLETE
    assert unzip(await exporter.archive(ref))[f"videos/{library.video_id}/subtitles/en.srt"] == b"1\n"


async def test_collecting_again_keeps_the_first_snapshot(library: SeededLibrary, exporter: Exporter) -> None:
    ref = await exporter.request(library.library_id)
    await exporter.run("collect_export_files", ref)
    await library.insert(
        "folders", id=new_id(), name="Later", depth=1, created_at=(await exporter.state(ref))["created_at"]
    )
    await exporter.run("collect_export_files", ref)
    await exporter.read(ref)
    assert await exporter.write(ref) == ArchiveOutcome.COMPLETE
    assert b"Later" not in unzip(await exporter.archive(ref))["rows/folders.jsonl"]


async def test_library_with_too_many_files_fails(
    library: SeededLibrary, exporter: Exporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contents, "MAX_FILES", 10)
    with pytest.raises(ApplicationError, match="more than 10 files") as raised:
        await exporter.run("collect_export_files", await exporter.request(library.library_id))
    assert raised.value.non_retryable


async def test_library_that_is_too_large_fails(
    library: SeededLibrary, exporter: Exporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(activities, "MAX_ARCHIVE_BYTES", len(SOURCE))
    with pytest.raises(ApplicationError, match="too large") as raised:
        await exporter.prepare(await exporter.request(library.library_id))
    assert raised.value.non_retryable


async def test_finished_export_keeps_only_the_archive(library: SeededLibrary, exporter: Exporter) -> None:
    ref = await exporter.export(library.library_id)
    assert await library.storage.names(ref.prefix) == [ref.archive_path]
    connection = exporter.accounts.connection
    for table in ("export_files", "export_parts"):
        sql = f"SELECT count(*) FROM {table} WHERE export_id = $1"  # noqa: S608 (fixed names)
        assert await connection.fetchval(sql, ref.export_id) == 0
