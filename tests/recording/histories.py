"""Records histories of real workflow runs for the replay tests: `python -m tests.recording.histories`.

Record again only for intentional workflow changes: a history that no longer replays means that the change would break
running workflows when it is deployed.
"""

import asyncio
import base64
import json
import re
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
from google.protobuf.json_format import MessageToDict, ParseDict
from temporalio.api.common.v1 import Payload
from temporalio.client import Client
from temporalio.converter import PayloadCodec

from cutroom.accounts.mails.service import SEND_WORKFLOW, MailRef
from cutroom.credits.ledger import grant
from cutroom.credits.pricing import load_prices
from cutroom.engines.registry import Engines
from cutroom.jobs.deletion import DELETE_WORKFLOW as DELETE_OBJECTS
from cutroom.library.branding import add_character
from cutroom.notifications.service import SEND_WORKFLOW as SEND_NOTIFICATION
from cutroom.notifications.service import NotificationRef
from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.platform.ids import new_id
from cutroom.platform.storage.objects import Storage
from cutroom.platform.temporal import connect
from cutroom.products.characters.service import DELETE_WORKFLOW, CharacterUpload, upload_images
from cutroom.products.transcripts.recognition_runs.service import RUN_WORKFLOW, RecognitionRunRef
from cutroom.products.transcripts.speaker_recognition.service import EMBED_WORKFLOW, SpeakerEmbeddingRef
from dev.environment import PROJECT
from dev.fixtures.photographs import ensure_photographs, photographs_folder
from dev.fixtures.speech_clips import clips_folder, ensure_clips
from dev.services import control
from tests.support.dialogue_video import make_dialogue_video
from tests.support.dub_stage import edit_dub_line, owner_principal
from tests.support.servers.mux_server import MuxServer, mux_server
from tests.support.stage import Stage, make_video, open_stage, upload, wait_for_imports

FOLDER = PROJECT / "tests" / "histories"
_HOST = re.compile(r"\d+@[\w.-]+")


def scrub(value: Any) -> Any:  # noqa: ANN401 (JSON)
    """Removes worker identities and stack traces, which differ between runs."""
    if isinstance(value, dict):
        hidden = {"identity": "worker", "stackTrace": ""}
        return {name: hidden.get(name, scrub(each)) for name, each in value.items()}
    if isinstance(value, list):
        return [scrub(each) for each in value]
    return _HOST.sub("worker", value) if isinstance(value, str) else value


async def decrypted(codec: PayloadCodec, value: Any) -> Any:  # noqa: ANN401 (JSON)
    """Decrypts payloads, and puts messages of failures back in their places: replays need no keys."""
    if isinstance(value, list):
        return [await decrypted(codec, each) for each in value]
    if not isinstance(value, dict):
        return value
    if "encoding" in value.get("metadata", {}):
        [payload] = await codec.decode([ParseDict(value, Payload())])
        return MessageToDict(payload)
    plain = {name: await decrypted(codec, each) for name, each in value.items()}
    if (encoded := plain.pop("encodedAttributes", None)) is not None:
        plain["message"] = json.loads(base64.b64decode(encoded["data"]))["message"]
    return plain


async def save(client: Client, workflow_id: str, name: str, *, run_id: str | None = None) -> None:
    history = await client.get_workflow_handle(workflow_id, run_id=run_id).fetch_history()
    codec = client.data_converter.payload_codec
    assert codec is not None
    text = json.dumps(scrub(await decrypted(codec, json.loads(history.to_json()))), indent=1)
    (FOLDER / f"{name}.json").write_text(text + "\n")
    print(f"recorded {name}")


async def record(stage: Stage, folder: Path) -> None:
    client = await connect(stage.settings)
    async with httpx.AsyncClient(base_url=stage.api.url, headers=stage.key.headers, timeout=60) as caller:
        video = await upload(caller, make_video(folder / "video.mp4", 4))
        broken = folder / "broken.mp4"
        broken.write_text("this is not a video")
        invalid = await upload(caller, broken)
        await caller.post("/v1/videos", json={"source": {"type": "https", "url": "https://nowhere.example.com/a.mp4"}})
    await wait_for_imports(stage, [video, invalid], seconds=120)
    await asyncio.sleep(2)
    await save(client, f"import_{video}", "import-ready")
    await save(client, f"import_{invalid}", "import-failed")
    await record_cancellation(stage, client)
    await record_purge(stage, client)
    await record_erasure(stage, client)
    await record_deliverables(stage, client, video)
    await record_exports(stage, client)
    await record_copies(stage, client)
    await record_speech(stage, client, video)
    await record_mail(stage, client)
    await record_notification(stage, client)
    async for found in client.list_workflows("WorkflowType = 'preflight'"):
        await save(client, found.id, "preflight")
    handle = await client.start_workflow("sweep-jobs", id=f"sweep_{new_id()}", task_queue="control")
    await asyncio.wait_for(handle.result(), timeout=60)
    await save(client, handle.id, "sweep-jobs")
    for name in ("sweep-uploads", "check-ledgers", "purge-idempotency-records", "purge-events", "apply-retention"):
        handle = await client.start_workflow(name, id=f"{name}_{new_id()}", task_queue="control")
        await asyncio.wait_for(handle.result(), timeout=60)
        await save(client, handle.id, name)


async def record_mail(stage: Stage, client: Client) -> None:
    """A mail that was erased before it was sent: every mail is one activity."""
    ref = MailRef(stage.person.library_id, new_id())
    handle = await client.start_workflow(SEND_WORKFLOW, ref, id=ref.workflow_id, task_queue="egress")
    await asyncio.wait_for(handle.result(), timeout=60)
    await save(client, handle.id, SEND_WORKFLOW)


async def record_notification(stage: Stage, client: Client) -> None:
    """A notification that was erased before it was due, and the daily purge."""
    due_at = system_clock() + timedelta(seconds=2)
    ref = NotificationRef(stage.person.library_id, new_id(), due_at.isoformat())
    handle = await client.start_workflow(SEND_NOTIFICATION, ref, id=ref.workflow_id, task_queue="egress")
    await asyncio.wait_for(handle.result(), timeout=60)
    await save(client, handle.id, SEND_NOTIFICATION)
    purge = "purge-notifications"
    purging = await client.start_workflow(purge, id=f"{purge}_{new_id()}", task_queue="control")
    await asyncio.wait_for(purging.result(), timeout=60)
    await save(client, purging.id, purge)


async def record_exports(stage: Stage, client: Client) -> None:
    """An export of the library, its deletion, and the hourly purge."""
    async with httpx.AsyncClient(base_url=stage.api.url, headers=stage.key.headers, timeout=60) as caller:
        export_id = (await caller.post("/v1/library/exports")).raise_for_status().json()["id"]
        await _wait_for_result(client, f"export_{export_id}")
        (await caller.delete(f"/v1/library/exports/{export_id}")).raise_for_status()
    await _wait_for_result(client, f"delete_export_{export_id}")
    await save(client, f"export_{export_id}", "export-ready")
    await save(client, f"delete_export_{export_id}", "delete-export")
    handle = await client.start_workflow("purge-exports", id=f"purge-exports_{new_id()}", task_queue="control")
    await asyncio.wait_for(handle.result(), timeout=60)
    await save(client, handle.id, "purge-exports")


async def record_copies(stage: Stage, client: Client) -> None:
    """A copy of a job without files, and one that fails because the bucket is disabled."""
    library_id, url = stage.person.library_id, "/v1/library/destination"
    bucket = {"endpoint": "https://nowhere.example.com", "region": "auto", "bucket": "outputs", "enabled": False}
    secrets = {"accessKeyId": "example", "secretAccessKey": "a-secret"}
    copy_id = new_id()
    row = {"library_id": library_id, "id": copy_id, "job_id": f"shorts_{copy_id}", "video_id": new_id()}
    state = {"status": "failed", "error_message": "It failed.", "created_at": system_clock()}
    await insert(stage.accounts.connection, "output_copies", {**row, **state})
    async with httpx.AsyncClient(base_url=stage.api.url, headers=stage.key.headers, timeout=60) as caller:
        (await caller.put(url, json={**bucket, **secrets})).raise_for_status()
        for run, (name, enabled) in enumerate({"copy-failed": False, "copy-copied": True}.items(), 2):
            await stage.accounts.connection.execute("UPDATE destinations SET enabled = $1", enabled)
            (await caller.post(f"{url}/copies/{copy_id}/retry")).raise_for_status()
            await _wait_for_result(client, f"copy_{copy_id}.{run}")
            await save(client, f"copy_{copy_id}.{run}", name)
        refused = await caller.put(url, json={**bucket, **secrets, "enabled": True})
        assert refused.status_code == 409, refused.text
    async for found in client.list_workflows("WorkflowType = 'check-destination'"):
        await save(client, found.id, "check-destination")


async def _wait_for_result(client: Client, workflow_id: str) -> None:
    async with asyncio.timeout(60):
        while not await _is_started(client, workflow_id):
            await asyncio.sleep(0.5)
        await client.get_workflow_handle(workflow_id).result()


async def record_speech(stage: Stage, client: Client, silent: str) -> None:
    """Transcripts of silence and of speech, captions, and an unused reservation."""
    speech = await asyncio.to_thread(ensure_clips, clips_folder()) / "two_cities.wav"
    library_id = stage.person.library_id
    await grant(stage.accounts.connection, library_id, millicredits=100_000, reference="histories", now=system_clock())
    async with httpx.AsyncClient(base_url=stage.api.url, headers=stage.key.headers, timeout=60) as caller:
        spoken = await upload(caller, speech)
        await caller.post(f"/v1/videos/{spoken}/captions", json={"languages": ["pt", "ca"]})
        bundle = {"dubs": [{"languages": ["es"]}], "durationSeconds": 60}
        reserved = (await caller.post(f"/v1/videos/{spoken}/reservations", json=bundle)).json()["reservationId"]
        for job in (f"transcript_{silent}", f"transcript_{spoken}", f"captions_{spoken}_pt"):
            while (await caller.get(f"/v1/jobs/{job}")).json()["status"] not in {"ready", "failed"}:
                await asyncio.sleep(0.5)
    await save(client, f"transcript_{silent}", "transcript-silent")
    await save(client, f"transcript_{spoken}", "transcript-ready")
    await save(client, f"captions_{spoken}_pt", "captions-ready")
    await record_alignment(stage, client, spoken)
    await record_speaker_embedding(stage, client)
    await record_recognition_run(stage, client)
    await record_script(stage, client, spoken)
    await record_caption_edits(stage, client, spoken)
    await record_voices(stage, client, speech)
    await record_characters(stage, client)
    await record_dubs(stage, client, spoken)
    await record_shorts(stage, client)
    await record_packaging(stage, client, spoken)
    await asyncio.wait_for(client.get_workflow_handle(f"reservation_{reserved}").result(), timeout=60)
    await save(client, f"reservation_{reserved}", "expire-reservation")


async def record_alignment(stage: Stage, client: Client, spoken: str) -> None:
    """The words of an edited transcript."""
    operation = {"op": "replaceText", "id": "s1", "text": "It was the best of times, and then it was the worst."}
    async with httpx.AsyncClient(base_url=stage.api.url, headers=stage.key.headers, timeout=60) as caller:
        body = {"revision": 1, "operations": [operation]}
        (await caller.patch(f"/v1/videos/{spoken}/transcript", json=body)).raise_for_status()
    await _wait_for_result(client, f"align-transcript_{spoken}_2")
    await save(client, f"align-transcript_{spoken}_2", "align-transcript")


async def record_speaker_embedding(stage: Stage, client: Client) -> None:
    """A voice print that was erased before it was made: every voice print is one activity."""
    ref = SpeakerEmbeddingRef(stage.person.library_id, new_id())
    handle = await client.start_workflow(EMBED_WORKFLOW, ref, id=ref.workflow_id, task_queue="control")
    await asyncio.wait_for(handle.result(), timeout=60)
    await save(client, handle.id, EMBED_WORKFLOW)


async def record_recognition_run(stage: Stage, client: Client) -> None:
    """A comparison of existing transcripts with the cast, which continues as new, and its end."""
    now, base = system_clock(), {"library_id": stage.person.library_id, "created_at": system_clock()}
    ref = RecognitionRunRef(stage.person.library_id, new_id())
    await insert(stage.accounts.connection, "cast_scopes", {**base, "id": new_id()})
    run = {**base, "id": ref.run_id, "status": "running", "updated_at": now}
    await insert(stage.accounts.connection, "cast_runs", run)
    handle = await client.start_workflow(RUN_WORKFLOW, ref, id=ref.workflow_id, task_queue="control")
    first = handle.first_execution_run_id
    await asyncio.wait_for(handle.result(), timeout=60)
    await save(client, handle.id, RUN_WORKFLOW, run_id=first)
    await save(client, handle.id, f"{RUN_WORKFLOW}-finished")


async def record_script(stage: Stage, client: Client, spoken: str) -> None:
    """An optimized script."""
    async with httpx.AsyncClient(base_url=stage.api.url, headers=stage.key.headers, timeout=60) as caller:
        started = (await caller.post(f"/v1/videos/{spoken}/transcript/optimize", json={})).raise_for_status().json()
    await _wait_for_result(client, started["job"]["id"])
    await save(client, started["job"]["id"], "optimize-ready")


async def record_caption_edits(stage: Stage, client: Client, spoken: str) -> None:
    """Captions of the edited transcript: what is stale is translated again, and a text by hand is published."""
    url = f"/v1/videos/{spoken}/captions/pt"
    async with httpx.AsyncClient(base_url=stage.api.url, headers=stage.key.headers, timeout=60) as caller:
        (await caller.post(f"{url}/regenerate", json={"revision": 1})).raise_for_status()
        await _wait_for_result(client, f"captions_{spoken}_pt_1")
        operation = {"op": "setText", "id": "s1", "text": "Foi o melhor dos tempos, e depois foi o pior."}
        body = {"revision": 2, "operations": [operation]}
        (await caller.patch(f"{url}/segments", json=body)).raise_for_status()
    await save(client, f"captions_{spoken}_pt_1", "captions-regenerated")
    workflow_id = await stage.accounts.connection.fetchval(
        "SELECT workflow_id FROM started_workflows WHERE workflow_id LIKE 'publish-captions%'"
    )
    await _wait_for_result(client, workflow_id)
    await save(client, workflow_id, "publish-captions")


async def record_voices(stage: Stage, client: Client, speech: Path) -> None:
    """A voice clone, a speech synthesis, and the hourly purge."""
    connection = stage.accounts.connection
    async with httpx.AsyncClient(base_url=stage.api.url, headers=stage.key.headers, timeout=300) as caller:
        made = await caller.post("/v1/voices/add", data={"name": "Reader"}, files={"files": speech.read_bytes()})
        voice_id = made.json()["voice_id"]
        while (await caller.get(f"/v1/voices/{voice_id}")).json()["status"] == "processing":
            await asyncio.sleep(0.5)
        text = "The ferry runs again from Monday on, if the wind allows it. " * 5
        read = await caller.post(
            f"/v1/text-to-speech/{voice_id}", params={"output_format": "opus"}, json={"text": text}
        )
        read.raise_for_status()
    for kind, name in (("voice", "voice-ready"), ("speech", "speech-ready")):
        job_id = await connection.fetchval("SELECT id FROM jobs WHERE type = $1", kind)
        await asyncio.wait_for(client.get_workflow_handle(job_id).result(), timeout=60)
        await save(client, job_id, name)
    handle = await client.start_workflow("purge-speech", id=f"purge-speech_{new_id()}", task_queue="control")
    await asyncio.wait_for(handle.result(), timeout=60)
    await save(client, handle.id, "purge-speech")


async def record_characters(stage: Stage, client: Client) -> None:
    """A valid and a truncated character image, and the deletion of the character."""
    connection, library_id, now = stage.accounts.connection, stage.person.library_id, system_clock()
    photograph = (await asyncio.to_thread(ensure_photographs, photographs_folder()) / "coffee.png").read_bytes()
    images = [CharacterUpload("cup.png", photograph), CharacterUpload("half.png", photograph[: len(photograph) // 2])]
    async with connection.transaction():
        character_id = await add_character(connection, library_id, name="Cup", images=[], now=now)
        image_ids = await upload_images(
            connection,
            owner_principal(stage),
            character_id,
            images=images,
            storage=Storage.connect(stage.settings),
            prices=load_prices(None),
            now=now,
        )
    for image_id, name in zip(image_ids, ("character-ready", "character-failed"), strict=True):
        job_id = f"character_{image_id}"
        while (await job_state(stage, job_id)) not in {"ready", "failed"}:
            await asyncio.sleep(0.5)
        await asyncio.wait_for(client.get_workflow_handle(job_id).result(), timeout=60)
        await save(client, job_id, name)
    async with httpx.AsyncClient(base_url=stage.api.url, headers=stage.key.headers, timeout=60) as caller:
        (await caller.delete(f"/v1/characters/{character_id}")).raise_for_status()
    deletion = f"{DELETE_WORKFLOW}_{character_id}"
    while not [each async for each in client.list_workflows(f"WorkflowId = '{deletion}'")]:
        await asyncio.sleep(0.5)
    await asyncio.wait_for(client.get_workflow_handle(deletion).result(), timeout=60)
    await save(client, deletion, DELETE_WORKFLOW)


async def job_state(stage: Stage, job_id: str) -> str:
    """State of an internal job, which the API does not expose."""
    state: str = await stage.accounts.connection.fetchval("SELECT status FROM jobs WHERE id = $1", job_id)
    return state


async def record_shorts(stage: Stage, client: Client) -> None:
    """Two shorts. Requests for which there is no moment are rejected by now; `shorts-failed` is from before."""
    synthesizer = await asyncio.to_thread(Engines(stage.settings).synthesizer)
    async with httpx.AsyncClient(base_url=stage.api.url, headers=stage.key.headers, timeout=60) as caller:
        with tempfile.TemporaryDirectory() as folder:
            talk = await asyncio.to_thread(make_dialogue_video, Path(folder), synthesizer, seconds=70.0)
            video = await upload(caller, talk.path)
        body = {"numClips": 2, "maxDuration": 30}
        requested = (await caller.post(f"/v1/videos/{video}/shorts", json=body)).raise_for_status().json()
        while (await caller.get(f"/v1/jobs/{requested['jobId']}")).json()["status"] not in {"ready", "failed"}:
            await asyncio.sleep(0.5)
    await asyncio.wait_for(client.get_workflow_handle(requested["jobId"]).result(), timeout=60)
    await save(client, requested["jobId"], "shorts-ready")


async def record_deliverables(stage: Stage, client: Client, video: str) -> None:
    """Playback packaging, a download, and professional hosting."""
    async with httpx.AsyncClient(base_url=stage.api.url, headers=stage.key.headers, timeout=60) as caller:
        body = {"artifact": "source"}
        requested = (await caller.post(f"/v1/videos/{video}/downloads", json=body)).raise_for_status().json()
        while (await caller.get(f"/v1/jobs/{requested['jobId']}")).json()["status"] not in {"ready", "failed"}:
            await asyncio.sleep(0.5)
        (await caller.post(f"/v1/videos/{video}/professional-hosting", json={})).raise_for_status()
        while (await caller.get(f"/v1/videos/{video}/professional-hosting")).json()["status"] != "ready":
            await asyncio.sleep(0.5)
    await asyncio.wait_for(client.get_workflow_handle(requested["jobId"]).result(), timeout=60)
    await save(client, requested["jobId"], "download-ready")
    await record_deletion(stage, client, requested["downloadRequestId"])
    await asyncio.wait_for(client.get_workflow_handle(f"playback_import_{video}").result(), timeout=300)
    await save(client, f"playback_import_{video}", "playback-ready")
    async for found in client.list_workflows("WorkflowType = 'hosting'"):
        await asyncio.wait_for(client.get_workflow_handle(found.id).result(), timeout=60)
        await save(client, found.id, "hosting-ready")


async def record_deletion(stage: Stage, client: Client, download: str) -> None:
    """The objects of a deleted download."""
    async with httpx.AsyncClient(base_url=stage.api.url, headers=stage.key.headers, timeout=60) as caller:
        (await caller.delete(f"/v1/downloads/{download}")).raise_for_status()
    handle = client.get_workflow_handle(f"{DELETE_OBJECTS}_download_{download}")
    async with asyncio.timeout(60):
        while not await _is_started(client, handle.id):
            await asyncio.sleep(0.5)
        await handle.result()
    await save(client, handle.id, DELETE_OBJECTS)


async def record_cancellation(stage: Stage, client: Client) -> None:
    """A canceled import that waits for its upload."""
    async with httpx.AsyncClient(base_url=stage.api.url, headers=stage.key.headers, timeout=60) as caller:
        made = (await caller.post("/v1/videos", json={"source": {"type": "upload"}})).json()
        job_id = f"import_{made['videoId']}"
        (await caller.post(f"/v1/jobs/{job_id}/cancel")).raise_for_status()
    await _wait_for_result(client, f"cancel_{job_id}")
    await save(client, f"cancel_{job_id}", "cancel-job")


async def record_purge(stage: Stage, client: Client) -> None:
    """A video that is deleted permanently, and the hourly start of purges."""
    async with httpx.AsyncClient(base_url=stage.api.url, headers=stage.key.headers, timeout=60) as caller:
        made = (await caller.post("/v1/videos", json={"source": {"type": "upload"}})).json()
        deleted = await caller.delete(f"/v1/videos/{made['videoId']}", params={"permanently": "true"})
        deleted.raise_for_status()
    handle = client.get_workflow_handle(f"purge_{made['videoId']}")
    async with asyncio.timeout(120):
        while not await _is_started(client, handle.id):
            await asyncio.sleep(0.5)
        await handle.result()
    await save(client, handle.id, "purge-video")
    emptied = await client.start_workflow("empty-trash", id=f"empty-trash_{new_id()}", task_queue="control")
    await asyncio.wait_for(emptied.result(), timeout=60)
    await save(client, emptied.id, "empty-trash")


async def record_erasure(stage: Stage, client: Client) -> None:
    """The erasure of a library with a folder and a webhook endpoint."""
    person = await stage.accounts.person()
    headers = (await stage.accounts.key(person)).headers
    async with httpx.AsyncClient(base_url=stage.api.url, headers=headers, timeout=60) as caller:
        (await caller.post("/v1/folders", json={"name": "Talks"})).raise_for_status()
        (await caller.delete("/v1/library", params={"confirm": person.library_id})).raise_for_status()
    handle = client.get_workflow_handle(f"erase-library_{person.library_id}")
    async with asyncio.timeout(120):
        while not await _is_started(client, handle.id):
            await asyncio.sleep(0.5)
        await handle.result()
    await save(client, handle.id, "erase-library")


async def _is_started(client: Client, workflow_id: str) -> bool:
    return bool([each async for each in client.list_workflows(f"WorkflowId = '{workflow_id}'")])


async def record_packaging(stage: Stage, client: Client, spoken: str) -> None:
    """A thumbnail from a prompt, a title, a reviewed thumbnail, and the workflow that resumes it."""
    async with httpx.AsyncClient(base_url=stage.api.url, headers=stage.key.headers, timeout=60) as caller:
        video = await upload(caller, stage.settings.cache_dir.parent / "video.mp4")
        while (await caller.get(f"/v1/videos/{video}/transcript")).json()["status"] == "processing":
            await asyncio.sleep(0.5)
        requested = (await caller.post(f"/v1/videos/{spoken}/thumbnails", json={"prompt": 'Show "Two cities"'})).json()
        title = {"enabled": True, "titleType": "mysterious", "overwriteMode": "always"}
        thumbnail = {
            "enabled": True,
            "pipelineMode": "thumbnail-precision",
            "referenceSchemaVersion": 2,
            "autoDetectContentReferences": True,
            "contentDetectApprovalMode": "review",
        }
        (await caller.post(f"/v1/videos/{spoken}/packaging", json={"generateTitle": title})).raise_for_status()
        (await caller.post(f"/v1/videos/{video}/packaging", json={"zeroPromptThumbnail": thumbnail})).raise_for_status()
        job_id = f"packaging_{video}_zeroPromptThumbnail"
        while (await caller.post(f"/v1/videos/{video}/packaging/review", json={"approved": True})).status_code == 409:
            await asyncio.sleep(0.5)
        jobs = {
            requested["jobId"]: "thumbnail-ready",
            f"packaging_{spoken}_generateTitle": "packaging-title",
            job_id: "packaging-reviewed",
        }
        for job, name in jobs.items():
            while (await caller.get(f"/v1/jobs/{job}")).json()["status"] not in {"ready", "failed"}:
                await asyncio.sleep(0.5)
            await asyncio.wait_for(client.get_workflow_handle(job).result(), timeout=60)
            await save(client, job, name)
    async for resumed in client.list_workflows("WorkflowType = 'resume-packaging'"):
        await save(client, resumed.id, "resume-packaging")


async def record_dubs(stage: Stage, client: Client, spoken: str) -> None:
    """A dub, a preview of a line, and a redub after an edited line."""
    job_id = f"dub_{spoken}_pt_plus"
    async with httpx.AsyncClient(base_url=stage.api.url, headers=stage.key.headers, timeout=60) as caller:
        (await caller.post(f"/v1/videos/{spoken}/dubs", json={"languages": ["pt"]})).raise_for_status()
        while (await caller.get(f"/v1/jobs/{job_id}")).json()["status"] not in {"ready", "failed"}:
            await asyncio.sleep(0.5)
    await asyncio.wait_for(client.get_workflow_handle(job_id).result(), timeout=60)
    await save(client, job_id, "dub-ready")
    await record_takes(stage, client, spoken)
    redub_id = await edit_dub_line(stage, spoken, language="pt", line=0, text="Agora esta linha diz outra coisa.")
    for _ in range(60):
        await asyncio.sleep(1)  # wait for the outbox relay to start it
        if await stage.accounts.connection.fetchval("SELECT status = 'ready' FROM jobs WHERE id = $1", redub_id):
            break
    await asyncio.wait_for(client.get_workflow_handle(redub_id).result(), timeout=120)
    await save(client, redub_id, "redub-ready")
    await record_deleted_track(stage, client, spoken)


async def record_takes(stage: Stage, client: Client, spoken: str) -> None:
    """A preview of a line with two takes."""
    async with httpx.AsyncClient(base_url=stage.api.url, headers=stage.key.headers, timeout=60) as caller:
        lines = f"/v1/videos/{spoken}/dubs/pt/segments"
        line = (await caller.get(lines)).raise_for_status().json()["segments"][0]["id"]
        made = (await caller.post(f"{lines}/{line}/preview", json={"count": 2})).raise_for_status().json()
        while (await caller.get(f"{lines}/{line}/preview/{made['id']}")).json()["status"] not in {"ready", "failed"}:
            await asyncio.sleep(0.5)
    await asyncio.wait_for(client.get_workflow_handle(f"takes_{made['id']}").result(), timeout=60)
    await save(client, f"takes_{made['id']}", "takes-ready")


async def record_deleted_track(stage: Stage, client: Client, spoken: str) -> None:
    """The packaging without a deleted dub."""
    async with httpx.AsyncClient(base_url=stage.api.url, headers=stage.key.headers, timeout=60) as caller:
        while "pt" not in (await caller.get(f"/v1/videos/{spoken}")).json().get("urlMulti", {}):
            await asyncio.sleep(0.5)
        (await caller.delete(f"/v1/videos/{spoken}/dubs/pt")).raise_for_status()
    handle = client.get_workflow_handle(f"playback_dub_{spoken}_pt_plus_deleted")
    async with asyncio.timeout(120):
        while not await _is_started(client, handle.id):
            await asyncio.sleep(0.5)
        await handle.result()
    await save(client, handle.id, "playback-deleted")


def settings_of(mux: MuxServer) -> dict[str, Any]:
    return {
        "preflight_seconds": 3.0,
        "playback": "on",
        **mux.settings,
        "environment": {"CUTROOM_RESERVATION_SECONDS": "2"},
    }


async def main() -> None:
    control.start_all()
    with tempfile.TemporaryDirectory() as name:
        async with mux_server() as mux, open_stage("histories", Path(name), **settings_of(mux)) as stage:
            await record(stage, Path(name))


if __name__ == "__main__":
    asyncio.run(main())
