"""Uploads with Google's unmodified client libraries and with curl."""

import asyncio
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import requests
from google.cloud import storage  # type: ignore[import-untyped]
from google.oauth2.credentials import Credentials
from google.resumable_media.requests import ResumableUpload

from dev.scratch import Accounts
from dev.server import Server
from proofs.ingest.upload_rows import CONTENT_TYPE, UploadTarget, create_target
from proofs.stage.report import Report

CHUNK_BYTES = 5 * 256 * 1024  # does not divide our part size
SMALL_BYTES = 1_000_000
BUCKET = "cutroom"

Send = Callable[[UploadTarget, str, Path], None]


def send_with_curl(target: UploadTarget, base_url: str, file: Path) -> None:
    location = start_with_curl(target.start_url(base_url))
    subprocess.run(["curl", "-sS", "--fail", "-o", "/dev/null", "-T", file, location], check=True, timeout=600)


def start_with_curl(url: str) -> str:
    done = subprocess.run(
        ["curl", "-sS", "--fail", "-X", "POST", "-H", "x-goog-resumable: start", "-D", "-", url],
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    match = re.search(r"^location: (\S+)", done.stdout, re.IGNORECASE | re.MULTILINE)
    assert match is not None, done.stdout
    return match[1]


def send_with_resumable_media(target: UploadTarget, base_url: str, file: Path) -> None:
    _send_resumable(target.start_url(base_url), file, checksum="crc32c")


def send_with_unknown_size(target: UploadTarget, base_url: str, file: Path) -> None:
    _send_resumable(target.start_url(base_url), file, size_known=False)


def _send_resumable(url: str, file: Path, *, checksum: str | None = None, size_known: bool = True) -> None:
    headers = {"x-goog-resumable": "start"}
    upload: Any = ResumableUpload(url, CHUNK_BYTES, headers=headers, checksum=checksum)  # type: ignore[no-untyped-call]
    with requests.Session() as session, file.open("rb") as stream:
        upload.initiate(session, stream, {}, CONTENT_TYPE, stream_final=size_known)
        while not upload.finished:
            upload.transmit_next_chunk(session)


def send_with_cloud_storage(target: UploadTarget, base_url: str, file: Path) -> None:
    """Sends files up to 8 MiB in one multipart/related POST, and larger ones in a session."""
    _blob(target, base_url).upload_from_filename(str(file), content_type=CONTENT_TYPE)


def send_with_cloud_storage_in_chunks(target: UploadTarget, base_url: str, file: Path) -> None:
    blob = _blob(target, base_url)
    blob.chunk_size = CHUNK_BYTES
    with file.open("rb") as stream:
        blob.upload_from_file(stream, content_type=CONTENT_TYPE, checksum="md5")


def _blob(target: UploadTarget, base_url: str) -> storage.Blob:
    credentials = Credentials(token=target.grant_token())  # type: ignore[no-untyped-call]
    client = storage.Client(project="any", credentials=credentials, client_options={"api_endpoint": base_url})
    return client.bucket(BUCKET).blob(target.storage_path)


CLIENTS: dict[str, Send] = {
    "curl": send_with_curl,
    "google-resumable-media": send_with_resumable_media,
    "google-resumable-media, size unknown": send_with_unknown_size,
    "google-cloud-storage": send_with_cloud_storage,
    "google-cloud-storage, chunks and md5": send_with_cloud_storage_in_chunks,
}


async def prove_clients(report: Report, accounts: Accounts, server: Server, *, file: Path) -> None:
    small, bad = _first_bytes(file), 0
    for name, send in CLIENTS.items():
        for each in (file, small):
            fault = await _send(accounts, server, send, each)
            claim = f"{name} sends a {'large' if each is file else 'small'} file"
            report.claim(claim, expected="identical", measured=fault or "identical", holds=fault is None)
            bad += fault is not None
    report.figures(clients_ok=bad == 0)


def _first_bytes(file: Path) -> Path:
    small = file.with_name("small.mp4")
    small.write_bytes(file.read_bytes()[:SMALL_BYTES])
    return small


async def _send(accounts: Accounts, server: Server, send: Send, file: Path) -> str | None:
    target = await create_target(accounts)
    try:
        await asyncio.to_thread(send, target, server.url, file)
        return await target.find_fault(file)
    except Exception as error:  # noqa: BLE001 (a client that fails is a finding)
        return f"{type(error).__name__}: {error}"[:300]
    finally:
        await target.delete()
