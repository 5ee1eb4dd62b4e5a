"""Plants canary words and bytes of two libraries in every product, by requests and by rows and objects."""

import asyncio
import secrets
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from cutroom.platform.clock import system_clock
from cutroom.platform.db import enter_library
from cutroom.platform.outbox import WorkflowStart, enqueue
from cutroom.platform.storage.objects import Storage
from cutroom.products.catalog import PRODUCTS
from cutroom.web.limits import RateLimit
from cutroom.web.runtime import open_runtime
from proofs.stage.access_fixtures import LibraryFactory, LibraryFixture
from tests.support.stage import Stage, upload, wait_for_imports

IMPORT_SECONDS = 300.0
BINARY_BYTES = 24
MARKER = "mark"  # every row of the fixtures contains a word that starts with this


@dataclass
class PlantedLibrary:
    """A library whose every word starts with one random word, and whose media contain random bytes."""

    fixture: LibraryFixture
    word: str
    binary: bytes = field(default_factory=lambda: secrets.token_bytes(BINARY_BYTES))
    kinds: set[str] = field(default_factory=set)

    @property
    def library_id(self) -> str:
        return self.fixture.library_id

    @property
    def headers(self) -> dict[str, str]:
        return self.fixture.key.headers

    def canary(self, kind: str) -> str:
        """A word that says where it was planted."""
        self.kinds.add(kind)
        return f"{self.word}x{kind}x"


async def plant(stage: Stage, factory: LibraryFactory, folder: Path) -> PlantedLibrary:
    """A personal library with canaries in rows, objects, a workflow history and Redis, and in the account itself."""
    fixture = await factory.personal()
    (word,) = (each for each in fixture.markers if each.startswith(MARKER))
    library = PlantedLibrary(fixture, word)
    await _plant_account(stage, library)
    async with httpx.AsyncClient(base_url=stage.api.url, headers=library.headers, timeout=300) as client:
        await _plant_video(stage, client, library, folder)
        await _plant_settings(client, library)
        await _plant_voice(client, library, folder)
    await _plant_objects(stage, library)
    await _plant_history(stage, library)
    return library


async def _plant_account(stage: Stage, library: PlantedLibrary) -> None:
    connection, person = stage.accounts.connection, library.fixture.person
    address = f"{library.canary('email')}@example.com"
    await connection.execute(
        "UPDATE users SET name = $2, email = $3 WHERE id = $1", person.user_id, library.canary("person"), address
    )
    await connection.execute(
        "UPDATE libraries SET name = $2 WHERE id = $1", library.library_id, library.canary("library")
    )
    async with open_runtime(stage.settings) as runtime:  # an attempt to sign in is counted in Redis
        await runtime.limits.count(f"sign-in:{address}", RateLimit(1))


async def _plant_video(stage: Stage, client: httpx.AsyncClient, library: PlantedLibrary, folder: Path) -> None:
    path = folder / f"{library.library_id}.mp4"
    await asyncio.to_thread(_make_clip, path, library.canary("metadata"))
    with path.open("ab") as file:  # a `free` box, which players skip
        file.write((8 + BINARY_BYTES).to_bytes(4) + b"free" + library.binary)
    video_id = await upload(client, path, file_name=f"{library.canary('filename')}.mp4")
    await wait_for_imports(stage, [video_id], seconds=IMPORT_SECONDS)
    patch = {
        "title": library.canary("title"),
        "description": library.canary("description"),
        "labels": [library.canary("label")],
    }
    (await client.patch(f"/v1/videos/{video_id}", json=patch)).raise_for_status()


def _make_clip(path: Path, comment: str) -> None:
    command = ["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "testsrc2=s=320x180:r=10:d=2"]
    command += ["-f", "lavfi", "-i", "sine=440:d=2", "-metadata", f"comment={comment}"]
    subprocess.run([*command, "-c:v", "libx264", "-preset", "ultrafast", "-c:a", "aac", str(path)], check=True)


async def _plant_settings(client: httpx.AsyncClient, library: PlantedLibrary) -> None:
    endpoint = {"url": f"https://hooks.example.com/{library.canary('webhook')}", "events": ["job.ready"]}
    for path, body, key in (
        ("/v1/folders", {"name": library.canary("folder")}, library.canary("idempotency")),
        ("/v1/webhook-endpoints", endpoint, f"{library.word}-endpoint"),
    ):
        (await client.post(path, json=body, headers={"Idempotency-Key": key})).raise_for_status()


async def _plant_voice(client: httpx.AsyncClient, library: PlantedLibrary, folder: Path) -> None:
    """A voice sample; no worker of the proof clones it, so that the upload stays as it is."""
    sample = folder / f"{library.library_id}.wav"
    command = ["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "sine=300:d=12", "-ar", "16000"]
    await asyncio.to_thread(
        subprocess.run, [*command, "-metadata", f"comment={library.canary('sample')}", str(sample)], check=True
    )
    response = await client.post(
        "/v1/voices/add",
        data={"name": library.canary("voice")},
        files={"files": ("sample.wav", sample.read_bytes(), "audio/wav")},
    )
    response.raise_for_status()


async def _plant_objects(stage: Stage, library: PlantedLibrary) -> None:
    """An object under every prefix that a product owns; the bytes are not a format that the store compresses."""
    storage = Storage.connect(stage.settings)
    for product in PRODUCTS:
        for prefix in product.owns.objects:
            kind = f"object{product.name}"
            path = f"libraries/{library.library_id}/{prefix}{library.fixture.ids['videoId']}/canary.bin"
            content = library.binary + secrets.token_bytes(2000) + library.canary(kind).encode() + library.binary
            await storage.put(path, content)


async def _plant_history(stage: Stage, library: PlantedLibrary) -> None:
    """A workflow whose argument contains a canary, although ours do not: started by the outbox like all others."""
    argument = {"paths": [f"libraries/{library.library_id}/{library.canary('history')}"]}
    connection = stage.accounts.connection
    async with connection.transaction():
        await enter_library(connection, library.library_id)
        await enqueue(
            connection,
            WorkflowStart(
                library_id=library.library_id,
                workflow="delete-character-images",
                workflow_id=f"delete-character-images_{system_clock().timestamp()}",
                argument=argument,
            ),
        )
