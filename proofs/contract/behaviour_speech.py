"""Promises that take more than one request to show, by their sentence: voices; and how a sentence is shown."""

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress

from cutroom.accounts.plans import PlanName
from cutroom.accounts.scopes import Scope
from cutroom.errors import CutroomError
from cutroom.platform.ids import new_id
from dev.scratch import Keyring
from proofs.contract.behaviour import BEHAVIOURS, BrokenPromiseError, expect, promised
from proofs.contract.behaviour_products import balance
from proofs.contract.stage import OWNER, Answer, Caller, Stage
from proofs.contract.states import VOICES
from tests.contract.promises import Promise

LOOKS = 300
LOOK_SECONDS = 0.1
UNKNOWN = "AAAAAAAAAAAAAAAAAAAA"  # the id of no voice
ADD = "POST /voices/add"
_BODIES: Mapping[str, dict[str, str]] = {
    ADD: {"name": "Ana", "sample_url": "https://media.example.com/ana.wav"},
    "POST /text-to-speech/{voice_id}": {"text": "Hello.", "model_id": "cutroom_speech_v1"},
}
SPEECH = ("GET /voices", "GET /voices/{voice_id}", "DELETE /voices/{voice_id}", *_BODIES)


async def fault_of_behaviour(stage: Stage, promise: Promise) -> str | None:
    """Do what the sentence says; here, where all of them are known."""
    try:
        await BEHAVIOURS[promise.holds](stage)
    except BrokenPromiseError as error:
        return str(error)
    except (LookupError, TypeError) as error:
        return f"an answer of another shape ({error!r}): {stage.answers[-1]}"
    return None


@promised("a new clone is processing, and one that was deleted is nowhere")
async def _clone(stage: Stage) -> None:
    before = await balance(stage)
    made = await stage.ask(ADD, _BODIES[ADD])
    expect(made.status == 200 and await balance(stage) == before, "cloning is billed")
    ids = {"voice_id": made.document["voice_id"]}
    read = (await stage.ask("GET /voices/{voice_id}", ids=ids)).document
    expect((read["status"], read["error"]) == ("processing", None), read)
    await _gone(stage, ids)


async def _gone(stage: Stage, ids: dict[str, str]) -> None:
    deleted = await stage.ask("DELETE /voices/{voice_id}", ids=ids)
    expect(deleted.status == 204, deleted)
    for operation in ("GET /voices/{voice_id}", "DELETE /voices/{voice_id}"):
        expect((await stage.ask(operation, ids=ids)).code == "NOT_FOUND", operation)
    expect(ids["voice_id"] not in (await stage.ask("GET /voices")).text, "it is still listed")


@promised("clones are listed newest first, a hundred at most, and only usable ones where that is asked")
async def _voices(stage: Stage) -> None:
    every = (await stage.ask("GET /voices")).document["voices"]
    expect({voice["status"] for voice in every} == {"processing", "ready", "failed"}, "not every state is listed")
    failed = [voice for voice in every if voice["status"] == "failed"]
    expect(all(isinstance(voice["error"], str) for voice in failed), failed)
    await stage.rows.many_voices()
    listed = (await stage.ask("GET /voices", query={"status": "ready"})).document["voices"]
    expect(len(listed) == VOICES - 1, len(listed))
    expect({voice["status"] for voice in listed} == {"ready"}, "others are listed")
    newest = (await stage.ask(ADD, _BODIES[ADD])).document["voice_id"]
    expect((await stage.ask("GET /voices")).document["voices"][0]["voice_id"] == newest, "the newest is not first")


@promised("clones of a workspace are everybody's there, and nobody's elsewhere")
async def _workspace_voices(stage: Stage) -> None:
    ids = stage.callers["a member"].ids
    seen = await stage.ask("GET /voices", caller="a viewer")
    expect(ids["voice_id"] in seen.text and seen.document["voices"][0]["workspace_id"] == ids["libraryId"], seen)
    expect(ids["voice_id"] not in (await stage.ask("GET /voices")).text, "a personal key sees a workspace's clones")


@promised("a synthesis holds one credit")
async def _synthesis(stage: Stage) -> None:
    before = await balance(stage)
    body = {"text": f"Number {new_id()}.", "model_id": "cutroom_speech_v1"}
    # Nobody reads it here, so its answer never comes; what it holds is seen meanwhile.
    asking = asyncio.create_task(stage.ask("POST /text-to-speech/{voice_id}", body))
    held = 0.0
    for _ in range(LOOKS):
        held = round(before - await balance(stage), 3)
        if held:
            break
        await asyncio.sleep(LOOK_SECONDS)
    asking.cancel()
    with suppress(asyncio.CancelledError):
        await asking
    expect(held == 1, held)


@promised("speech comes as WAV")
async def _wav(stage: Stage) -> None:
    spoken = [answer for answer in stage.answers if _is_spoken(answer)]
    expect(bool(spoken) and {each.headers["Content-Type"] for each in spoken} == {"audio/wav"}, spoken)


def _is_spoken(answer: Answer) -> bool:
    return answer.operation == "POST /text-to-speech/{voice_id}" and answer.status == 200


@promised("a clone can be made of files in a form, whose labels are a JSON string")
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
    read = await stage.ask("GET /voices/{voice_id}", ids={"voice_id": sent.json()["voice_id"]})
    expect((read.document["labels"], read.document["status"]) == (labels, "processing"), read)


@promised("speech needs a plan that includes it, when a key is made and when it is used")
async def _plan(stage: Stage) -> None:
    person = await stage.accounts.person(PlanName.FREE)
    named: Keyring | None = None
    with suppress(CutroomError):
        named = await stage.accounts.key(person, scopes=[Scope.TTS_READ])
    expect(named is None, "a key for speech was made on a plan without it")
    for operation in SPEECH:  # each with a key of its own: this plan has one request a minute
        everything = Caller((await stage.accounts.key(person)).headers, stage.callers[OWNER].ids)
        refused = await stage.ask(operation, _BODIES.get(operation), caller=everything)
        expect((refused.status, refused.code) == (403, "PERMISSION_DENIED"), refused)


@promised("a key from before there were scopes, made for speech, opens all of speech and nothing else")
async def _legacy(stage: Stage) -> None:
    person = await stage.accounts.person()
    key = await stage.accounts.key(person)
    await stage.accounts.connection.execute(
        "UPDATE api_keys SET scopes = '{}', legacy_speech = true WHERE id = $1", key.id
    )
    old = Caller(key.headers, {**stage.callers[OWNER].ids, "voice_id": UNKNOWN})
    listed = await stage.ask("GET /voices", caller=old)
    expect(listed.status == 200, listed)
    made = await stage.ask("POST /voices/add", _BODIES["POST /voices/add"], caller=old)
    expect(made.status == 200, made)
    for operation in ("POST /text-to-speech/{voice_id}", "DELETE /voices/{voice_id}"):
        unknown = await stage.ask(operation, _BODIES.get(operation), caller=old)
        expect(unknown.code == "NOT_FOUND", unknown)  # let in, and no such voice
    for operation in ("GET /videos", "POST /videos", "GET /characters"):
        refused = await stage.ask(operation, caller=old)
        expect((refused.status, refused.code) == (403, "INSUFFICIENT_SCOPE"), refused)
