"""The erasure log outside the database: one signed file per erased library, and its certificate beside it."""

import asyncio
import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from cutroom.platform.secret_box import SecretBox, is_publicly_signed
from cutroom.platform.settings import Settings
from cutroom.platform.storage.objects import Storage
from cutroom.retention.erasure.rules import ErasureRequest, canonical

LOG_PURPOSE = "erasure-log"
CERTIFICATE_PURPOSE = "erasure-certificate"
CERTIFICATE_SUFFIX = ".certificate.json"
ENTRY_SUFFIX = ".json"


class InvalidLogError(Exception):
    """An entry of the erasure log was not written with this installation's secret key."""


class LogFiles(Protocol):
    """Where the files of the log are stored."""

    async def read(self, name: str) -> bytes | None: ...

    async def write(self, name: str, content: bytes) -> None: ...

    async def names(self) -> list[str]: ...


@dataclass(frozen=True, slots=True)
class BucketFiles:
    """Objects under a prefix that no library uses."""

    storage: Storage
    prefix: str

    async def read(self, name: str) -> bytes | None:
        path = self.prefix + name
        if await self.storage.size(path) is None:
            return None
        return b"".join([chunk async for chunk in self.storage.read(path)])

    async def write(self, name: str, content: bytes) -> None:
        await self.storage.put(self.prefix + name, content)

    async def names(self) -> list[str]:
        return [path.removeprefix(self.prefix) for path in await self.storage.names(self.prefix)]


@dataclass(frozen=True, slots=True)
class DirectoryFiles:
    """Files in a directory, such as a mounted volume apart from the object store."""

    folder: Path

    async def read(self, name: str) -> bytes | None:
        path = self.folder / name
        return await asyncio.to_thread(path.read_bytes) if path.is_file() else None

    async def write(self, name: str, content: bytes) -> None:
        await asyncio.to_thread(self._write, name, content)

    def _write(self, name: str, content: bytes) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        partial = self.folder / f".{name}"
        partial.write_bytes(content)
        partial.replace(self.folder / name)

    async def names(self) -> list[str]:
        found = self.folder.iterdir() if self.folder.is_dir() else ()
        return sorted(path.name for path in found if not path.name.startswith("."))


def log_files(settings: Settings, location: str | None = None) -> LogFiles:
    """The files at a location: an absolute directory, `s3://bucket/prefix`, or a prefix in the media bucket."""
    place = location or settings.erasure_log
    if place.startswith("/"):
        return DirectoryFiles(Path(place))
    bucket, prefix = settings.s3_bucket, place
    if place.startswith("s3://"):
        parts = urlsplit(place)
        bucket, prefix = parts.netloc, parts.path
    storage = Storage.connect(settings.model_copy(update={"s3_bucket": bucket}))
    return BucketFiles(storage, f"{prefix.strip('/')}/".lstrip("/"))


def prefix_in_media_bucket(settings: Settings, location: str | None = None) -> str | None:
    """The prefix of the log's objects if they are in the media bucket."""
    files = log_files(settings, location)
    is_own = isinstance(files, BucketFiles) and not (location or settings.erasure_log).startswith("s3://")
    return files.prefix if is_own and isinstance(files, BucketFiles) else None


@dataclass(frozen=True, slots=True)
class ErasureLog:
    """Entries are signed, so that a restore erases nothing that Cutroom did not erase."""

    files: LogFiles
    secret_box: SecretBox

    @classmethod
    def of(cls, settings: Settings, location: str | None = None) -> "ErasureLog":
        return cls(log_files(settings, location), SecretBox(settings.secret_key.get_secret_value()))

    async def append(self, request: ErasureRequest) -> None:
        """Write the entry of an erasure; writing it again changes nothing."""
        entry = {
            "erasureId": request.erasure_id,
            "libraryId": request.library_id,
            "userIds": request.user_ids,
            "requestedAt": request.requested_at,
        }
        signature = self.secret_box.sign(LOG_PURPOSE, canonical(entry)).hex()
        await self.files.write(
            f"{request.erasure_id}{ENTRY_SUFFIX}", _to_json({"entry": entry, "signature": signature})
        )

    async def library_ids(self) -> set[str]:
        """The libraries of all entries."""
        found = set()
        for name in await self.files.names():
            if name.endswith(ENTRY_SUFFIX) and not name.endswith(CERTIFICATE_SUFFIX):
                found.add(await self._library_of(name))
        return found

    async def _library_of(self, name: str) -> str:
        try:
            document = json.loads(await self.files.read(name) or b"")
            entry, signature = document["entry"], bytes.fromhex(document["signature"])
            library_id = str(entry["libraryId"])
        except (ValueError, KeyError, TypeError) as error:
            raise InvalidLogError(f"the erasure log entry {name} cannot be read") from error
        if not self.secret_box.is_signed(LOG_PURPOSE, canonical(entry), signature):
            raise InvalidLogError(f"the erasure log entry {name} was not signed with this secret key")
        return library_id

    async def save_certificate(self, certificate: Mapping[str, Any]) -> None:
        signed = {
            "certificate": dict(certificate),
            "signature": _encode(self.secret_box.sign_publicly(CERTIFICATE_PURPOSE, canonical(certificate))),
            "publicKey": _encode(self.public_key),
        }
        await self.files.write(f"{certificate['erasureId']}{CERTIFICATE_SUFFIX}", _to_json(signed))

    async def read_certificate(self, erasure_id: str) -> dict[str, Any] | None:
        """The certificate with its signature, once the erasure has finished."""
        content = await self.files.read(f"{erasure_id}{CERTIFICATE_SUFFIX}")
        if content is None:
            return None
        signed: dict[str, Any] = json.loads(content)
        return signed

    @property
    def public_key(self) -> bytes:
        return self.secret_box.public_key(CERTIFICATE_PURPOSE)

    async def copy_to(self, other: "ErasureLog") -> None:
        """Copy the files that the other log does not have."""
        existing = set(await other.files.names())
        for name in await self.files.names():
            if name not in existing:
                await other.files.write(name, await self.files.read(name) or b"")


def is_valid_certificate(signed: Mapping[str, Any], public_key: bytes) -> bool:
    """Whether a certificate carries the signature of this key."""
    try:
        signature = base64.b64decode(signed["signature"], validate=True)
        payload = canonical(signed["certificate"])
    except (KeyError, TypeError, ValueError):
        return False
    return is_publicly_signed(public_key, payload, signature)


def _encode(value: bytes) -> str:
    return base64.b64encode(value).decode()


def _to_json(document: Mapping[str, Any]) -> bytes:
    return (json.dumps(document, indent=2, sort_keys=True) + "\n").encode()
