"""Multi-request promises about idempotency, by their text."""

import asyncio
from typing import Any

from cutroom.accounts.principals import Role
from cutroom.platform.ids import new_id
from proofs.contract.behaviors import FOLDER, expect, promised
from proofs.contract.stage import ApiResponse, Caller, Stage


async def keyed(stage: Stage, operation: str, body: Any, key: str, **more: Any) -> ApiResponse:  # noqa: ANN401
    return await stage.call(operation, body, headers={"Idempotency-Key": key}, **more)


def is_replay(response: ApiResponse) -> bool:
    return bool(response.headers.get("Idempotency-Replayed") == "true")


@promised("the same key, path and body replay the first response")
async def _replays(stage: Stage) -> None:
    key, body = new_id(), {"name": new_id()}
    first, again = [await keyed(stage, FOLDER, body, key) for _ in range(2)]
    expect(first.status == 201 and not is_replay(first), first)
    expect(is_replay(again) and (again.status, again.document) == (201, first.document), again)


@promised("errors are replayed like successes")
async def _replays_errors(stage: Stage) -> None:
    key, body = new_id(), {"name": "All Videos"}
    first, again = [await keyed(stage, FOLDER, body, key) for _ in range(2)]
    expect(first.status == 400 and is_replay(again) and again.document == first.document, again)


@promised("bodies are compared as canonical JSON")
async def _canonical(stage: Stage) -> None:
    key, name = new_id(), new_id()
    await keyed(stage, FOLDER, {"name": name, "x": 1}, key)
    spaced = f'{{ "x" : 1.0,\n "name": "{name}" }}'.encode()
    headers = {"Idempotency-Key": key, "Content-Type": "application/json"}
    again = await stage.call(FOLDER, headers=headers, content=spaced)
    expect(is_replay(again) and again.status == 201, again)


@promised("a key reused with another body is rejected with pathMatch and hashMatch")
async def _other_body(stage: Stage) -> None:
    key = new_id()
    await keyed(stage, FOLDER, {"name": new_id()}, key)
    other = await keyed(stage, FOLDER, {"name": new_id()}, key)
    expect(other.code == "IDEMPOTENCY_REPLAY", other)
    expect(other.document["error"]["details"] == {"pathMatch": True, "hashMatch": False}, other)


@promised("a key reused with another path is rejected with pathMatch and hashMatch")
async def _other_path(stage: Stage) -> None:
    key, body = new_id(), {"name": new_id()}
    await keyed(stage, FOLDER, body, key)
    other = await keyed(stage, "POST /webhook-endpoints", body, key)
    expect(other.code == "IDEMPOTENCY_REPLAY", other)
    expect(other.document["error"]["details"] == {"pathMatch": False, "hashMatch": True}, other)


@promised("stored responses expire after 24 hours")
async def _expires(stage: Stage) -> None:
    key, body = new_id(), {"name": new_id()}
    await keyed(stage, FOLDER, body, key)
    age = "UPDATE idempotency_records SET created_at = created_at - $2::text::interval WHERE key = $1"
    await stage.accounts.connection.execute(age, key, "23 hours 55 minutes")
    expect(is_replay(await keyed(stage, FOLDER, body, key)), "expired early")
    await stage.accounts.connection.execute(age, key, "10 minutes")
    expect(not is_replay(await keyed(stage, FOLDER, body, key)), "replayed after 24 hours")


@promised("an idempotency key has 1 to 255 characters")
async def _key_length(stage: Stage) -> None:
    for key, status in ((new_id()[0], 201), (new_id() + "k" * 229, 201), ("k" * 256, 400), ("", 400)):
        response = await keyed(stage, FOLDER, {"name": new_id()}, key)
        # Another check may have used the one-character key before.
        expect(response.status == status or response.code == "IDEMPOTENCY_REPLAY", f"{len(key)}: {response}")


@promised("authentication, permission and rate-limit errors are not stored")
async def _unstored(stage: Stage) -> None:
    key, body = new_id(), {"name": new_id()}
    refused = await keyed(stage, FOLDER, body, key, caller=stage.lacking["videos:write"])
    expect(refused.status == 403, refused)
    again = await keyed(stage, FOLDER, body, key, caller=stage.lacking["videos:write"])
    expect(not is_replay(again) and again.status == 403, again)


@promised("a trailing slash does not change the path")
async def _trailing_slash(stage: Stage) -> None:
    key, ids = new_id(), {"videoId": await stage.rows.video()}
    operation = "POST /videos/{videoId}/professional-hosting"
    first = await keyed(stage, operation, {}, key, ids=ids)
    again = await keyed(stage, f"{operation}/", {}, key, ids=ids)
    expect(first.status == 202 and is_replay(again) and again.document == first.document, again)
    other = await keyed(stage, f"{operation}/", {"other": 1}, key, ids=ids)
    expect(other.code == "IDEMPOTENCY_REPLAY", other)


@promised("a rotated key of the same account replays")
async def _rotated_key(stage: Stage) -> None:
    key, body = new_id(), {"name": new_id()}
    first = await keyed(stage, FOLDER, body, key)
    again = await keyed(stage, FOLDER, body, key, caller=stage.only["videos:write"])
    expect(is_replay(again) and (again.status, again.document) == (201, first.document), again)


@promised("an idempotency key belongs to one library and one account")
async def _key_scope(stage: Stage) -> None:
    key, body = new_id(), {"name": new_id()}
    accounts, team = stage.accounts, stage.callers["a member"]
    colleague = await accounts.person()
    await accounts.member(team.ids["libraryId"], colleague, role=Role.EDITOR)
    other = Caller((await accounts.key(colleague, library_id=team.ids["libraryId"])).headers, team.ids)
    made = [await keyed(stage, FOLDER, body, key, caller=caller) for caller in ("owner", team, other)]
    expect([each.status for each in made] == [201] * 3, [str(each) for each in made])
    expect(len({each.document["id"] for each in made}) == 3 and not any(map(is_replay, made)), "replayed to another")


@promised("a concurrent duplicate waits for the first request and gets its response")
async def _concurrent_duplicates(stage: Stage) -> None:
    key, body = new_id(), {"name": new_id()}
    responses = await asyncio.gather(*(keyed(stage, FOLDER, body, key) for _ in range(5)))
    expect({response.status for response in responses} == {201}, [str(response) for response in responses])
    expect(len({response.text for response in responses}) == 1, "duplicates created several folders")
    expect(sum(is_replay(response) for response in responses) == 4, "not all others are replays")
