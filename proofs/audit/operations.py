"""Performs every changing operation of the OpenAPI document, and compares the log before and after."""

from collections.abc import Mapping
from typing import Any

import httpx

from cutroom.platform.ids import new_id
from cutroom.web.operation import Access
from proofs.access.document import Operation, read_operations
from proofs.audit.tally import AuditTally
from proofs.stage.access_fixtures import LibraryFactory, LibraryFixture

PATH = "/v1/audit-log"
ERASURE, ERASING = "eraseLibrary", 202


async def new_entries(
    client: httpx.AsyncClient, headers: Mapping[str, str], since: int
) -> tuple[list[dict[str, Any]], int]:
    """The entries after a sequence number, and the last sequence number."""
    page = (await client.get(PATH, params={"limit": 100}, headers=headers)).raise_for_status().json()
    return [entry for entry in page["entries"] if entry["sequence"] > since], page["head"]["sequence"]


async def prove_operations(client: httpx.AsyncClient, factory: LibraryFactory, tally: AuditTally) -> None:
    document = (await client.get("/v1/openapi.json")).json()
    library = await factory.personal()
    operations, faults = read_operations(document, frozenset(library.ids))
    tally.skipped.update(faults)
    for operation in operations:
        if operation.access is Access.READ:
            continue
        action = document["paths"][operation.path][operation.method]["operationId"]
        library = await factory.personal()
        await _prove_operation(client, operation, action, library=library, factory=factory, tally=tally)
    await _prove_replay(client, await factory.personal(), tally)


async def _prove_operation(
    client: httpx.AsyncClient,
    operation: Operation,
    action: str,
    *,
    library: LibraryFixture,
    factory: LibraryFactory,
    tally: AuditTally,
) -> None:
    headers = library.key.headers
    _, last = await new_entries(client, headers, 0)
    url = operation.url({**library.ids, **{name: new_id() for name in operation.path_names}})
    outdated = {**headers, "If-Match": '"0"'}  # for operations without a body and ids
    refused = await client.request(operation.method.upper(), url, headers=outdated, **_invalid_body(operation))
    if refused.status_code < 400:
        tally.wrong.append(f"{action}: an invalid request got {refused.status_code}")
    nothing, last = await new_entries(client, headers, last)
    tally.check_none(f"a refused {action}", nothing)
    response = await client.request(
        operation.method.upper(),
        operation.url(library.ids),
        params=operation.query_of(library.ids),
        json=operation.body,
        headers=headers,
    )
    if response.status_code >= 300:
        tally.skipped.add(f"{operation.name}: {response.status_code} {response.text[:200]}")
        return
    if response.status_code == ERASING and action == ERASURE:
        headers = await _restored_access(factory, library)
    entries, _ = await new_entries(client, headers, last)
    # A language is part of the details; only ids are targets.
    path_ids = {name: library.ids[name] for name in operation.path_names if name.endswith(("Id", "_id"))}
    actor = {"kind": "key", "id": library.key.id, "userId": library.person.user_id}
    targets = {**_response_ids(response), **{name.replace("_id", "Id"): value for name, value in path_ids.items()}}
    tally.check(action, [entry | untargeted(entry) for entry in entries], actor=actor, targets=targets)
    if entries and entries[0]["requestId"] != response.headers["X-Request-Id"]:
        tally.wrong.append(f"{action}: the request id differs from the response's")


def _invalid_body(operation: Operation) -> dict[str, Any]:
    """A body that the operation refuses; malformed JSON if there are no ids, since no field may be required."""
    if not operation.path_names:
        return {"content": b"{"}
    return {"json": {}}


async def _restored_access(factory: LibraryFactory, library: LibraryFixture) -> dict[str, str]:
    """A new key for a library whose erasure has revoked all; no worker runs that would erase its log."""
    key = await factory.accounts.key(library.person)
    return key.headers


def untargeted(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of the library and sessions of the user have no target of their own."""
    owners = {"library.change", "updateRetention", "setDestination", "deleteDestination"}
    owners |= {"session.create", "session.end", "password.change", "password.requestReset", "password.reset"}
    owners |= {"email.requestVerification", "email.verify", "recoveryCodes.create", "recoveryCode.use"}
    owners |= {"importGlossary", "setCastRecognition"}
    owners |= {"secondFactor.setUp", "secondFactor.enable", "secondFactor.disable", "workspace.create"}
    return {"targets": {"library": "own"}} if entry["action"] in owners and not entry["targets"] else {}


def _response_ids(response: httpx.Response) -> dict[str, str]:
    """Ids of what the request created."""
    if not response.content or response.headers.get("Content-Type") != "application/json":
        return {}
    names = ("id", "videoId", "jobId", "reservationId", "downloadRequestId", "shortsRequestId", "thumbnailRequestId")
    document = response.json()
    return {name: document[name] for name in names if name in document}


async def _prove_replay(client: httpx.AsyncClient, library: LibraryFixture, tally: AuditTally) -> None:
    headers = {**library.key.headers, "Idempotency-Key": new_id()}
    _, last = await new_entries(client, library.key.headers, 0)
    for _ in range(3):
        (await client.post("/v1/folders", json={"name": "Replayed"}, headers=headers)).raise_for_status()
    entries, _ = await new_entries(client, library.key.headers, last)
    if len(entries) != 1:
        tally.wrong.append(f"three requests with one idempotency key left {len(entries)} entries")
