"""Multi-request promises about speech, by their text; `check_behavior` runs any of them."""

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress

import proofs.contract.draft_behaviors
import proofs.contract.editing_behaviors
import proofs.contract.spending_behaviors  # noqa: F401 (registers its checks)
from cutroom.accounts.plans import PlanName
from cutroom.accounts.scopes import Scope
from cutroom.errors import CutroomError
from cutroom.platform.ids import new_id
from dev.scratch import Keyring
from proofs.contract.behaviors import BEHAVIORS, BrokenPromiseError, expect, promised
from proofs.contract.product_behaviors import balance
from proofs.contract.stage import OWNER, ApiResponse, Caller, Stage
from proofs.contract.states import VOICES
from tests.contract.promises import Promise

POLLS = 300
POLL_SECONDS = 0.1
UNKNOWN_VOICE = "AAAAAAAAAAAAAAAAAAAA"  # not the id of any voice
ADD = "POST /voices/add"
_BODIES: Mapping[str, dict[str, str]] = {
    ADD: {"name": "Ana", "sample_url": "https://media.example.com/ana.wav"},
    "POST /text-to-speech/{voice_id}": {"text": "Hello.", "model_id": "cutroom_speech_v1"},
}
SPEECH = ("GET /voices", "GET /voices/{voice_id}", "DELETE /voices/{voice_id}", *_BODIES)


async def check_behavior(stage: Stage, promise: Promise) -> str | None:
    """Run the check of a promise; defined here because this module imports all of them."""
    try:
        await BEHAVIORS[promise.expected](stage)
    except BrokenPromiseError as error:
        return str(error)
    except (LookupError, TypeError) as error:
        return f"unexpected response shape ({error!r}): {stage.responses[-1]}"
    return None


@promised("a new clone is processing, and a deleted one is not found")
async def _clone(stage: Stage) -> None:
    before = await balance(stage)
    made = await stage.call(ADD, _BODIES[ADD])
    expect(made.status == 200 and await balance(stage) == before, "cloning is billed")
    ids = {"voice_id": made.document["voice_id"]}
    read = (await stage.call("GET /voices/{voice_id}", ids=ids)).document
    expect((read["status"], read["error"]) == ("processing", None), read)
    await _delete(stage, ids)


async def _delete(stage: Stage, ids: dict[str, str]) -> None:
    deleted = await stage.call("DELETE /voices/{voice_id}", ids=ids)
    expect(deleted.status == 204, deleted)
    for operation in ("GET /voices/{voice_id}", "DELETE /voices/{voice_id}"):
        expect((await stage.call(operation, ids=ids)).code == "NOT_FOUND", operation)
    expect(ids["voice_id"] not in (await stage.call("GET /voices")).text, "it is still listed")


@promised("clones are listed newest first, at most 100, and can be filtered by ready")
async def _voices(stage: Stage) -> None:
    every = (await stage.call("GET /voices")).document["voices"]
    expect({voice["status"] for voice in every} == {"processing", "ready", "failed"}, "not every status is listed")
    failed = [voice for voice in every if voice["status"] == "failed"]
    expect(all(isinstance(voice["error"], str) for voice in failed), failed)
    await stage.rows.many_voices()
    listed = (await stage.call("GET /voices", query={"status": "ready"})).document["voices"]
    expect(len(listed) == VOICES - 1, len(listed))
    expect({voice["status"] for voice in listed} == {"ready"}, "other statuses are listed")
    newest = (await stage.call(ADD, _BODIES[ADD])).document["voice_id"]
    expect((await stage.call("GET /voices")).document["voices"][0]["voice_id"] == newest, "the newest is not first")


@promised("clones of a workspace are visible to its members only")
async def _workspace_voices(stage: Stage) -> None:
    ids = stage.callers["a member"].ids
    seen = await stage.call("GET /voices", caller="a viewer")
    expect(ids["voice_id"] in seen.text and seen.document["voices"][0]["workspace_id"] == ids["libraryId"], seen)
    expect(ids["voice_id"] not in (await stage.call("GET /voices")).text, "a personal key sees a workspace's clones")


@promised("a synthesis holds one credit")
async def _synthesis(stage: Stage) -> None:
    before = await balance(stage)
    body = {"text": f"Number {new_id()}.", "model_id": "cutroom_speech_v1"}
    # No worker runs, so no response comes; the hold is visible in the meantime.
    request = asyncio.create_task(stage.call("POST /text-to-speech/{voice_id}", body))
    held = 0.0
    for _ in range(POLLS):
        held = round(before - await balance(stage), 3)
        if held:
            break
        await asyncio.sleep(POLL_SECONDS)
    request.cancel()
    with suppress(asyncio.CancelledError):
        await request
    expect(held == 1, held)


@promised("speech is returned as WAV")
async def _wav(stage: Stage) -> None:
    spoken = [response for response in stage.responses if _is_spoken(response)]
    expect(bool(spoken) and {each.headers["Content-Type"] for each in spoken} == {"audio/wav"}, spoken)


def _is_spoken(response: ApiResponse) -> bool:
    return response.operation == "POST /text-to-speech/{voice_id}" and response.status == 200


@promised("a clone can be created from multipart files with labels as a JSON string")
async def _form(stage: Stage) -> None:
    labels = {"language": "en", "gender": "female", "age": "young"}
    form = {"name": "Ana", "labels": json.dumps(labels), "remove_background_noise": "false"}
    sent = await stage.client.post(
        "/v1/voices/add",
        headers=dict(stage.callers[OWNER].headers),
        data=form,
        files=[("files", ("ana.wav", b"RIFF", "audio/wav"))],
    )
    expect(sent.status_code == 200, sent.text)
    read = await stage.call("GET /voices/{voice_id}", ids={"voice_id": sent.json()["voice_id"]})
    expect((read.document["labels"], read.document["status"]) == (labels, "processing"), read)


@promised("speech needs a plan that includes it, on key creation and on use")
async def _plan(stage: Stage) -> None:
    person = await stage.accounts.person(PlanName.FREE)
    named: Keyring | None = None
    with suppress(CutroomError):
        named = await stage.accounts.key(person, scopes=[Scope.TTS_READ])
    expect(named is None, "a speech key was created on a plan without speech")
    for operation in SPEECH:  # a new key for each: this plan allows one request per minute
        everything = Caller((await stage.accounts.key(person)).headers, stage.callers[OWNER].ids)
        refused = await stage.call(operation, _BODIES.get(operation), caller=everything)
        expect((refused.status, refused.code) == (403, "PERMISSION_DENIED"), refused)


@promised("a legacy speech key without scopes accepts all speech operations and no others")
async def _legacy(stage: Stage) -> None:
    person = await stage.accounts.person()
    key = await stage.accounts.key(person)
    await stage.accounts.connection.execute(
        "UPDATE api_keys SET scopes = '{}', legacy_speech = true WHERE id = $1", key.id
    )
    old = Caller(key.headers, {**stage.callers[OWNER].ids, "voice_id": UNKNOWN_VOICE})
    listed = await stage.call("GET /voices", caller=old)
    expect(listed.status == 200, listed)
    made = await stage.call("POST /voices/add", _BODIES["POST /voices/add"], caller=old)
    expect(made.status == 200, made)
    for operation in ("POST /text-to-speech/{voice_id}", "DELETE /voices/{voice_id}"):
        unknown = await stage.call(operation, _BODIES.get(operation), caller=old)
        expect(unknown.code == "NOT_FOUND", unknown)  # authorized, but no such voice
    for operation in ("GET /videos", "POST /videos", "GET /characters"):
        refused = await stage.call(operation, caller=old)
        expect((refused.status, refused.code) == (403, "INSUFFICIENT_SCOPE"), refused)
