"""DELETE /v1/library: who may erase what, what ends at once, and where the certificate is read."""

from datetime import timedelta
from typing import Any

import httpx
import pytest

from cutroom.accounts.principals import Role
from cutroom.accounts.scopes import Scope
from cutroom.jobs import service as jobs
from cutroom.jobs.ids import JobKey, JobType
from cutroom.jobs.service import NewJob
from cutroom.platform.clock import system_clock
from cutroom.platform.secret_box import RingKey, SecretBox
from cutroom.platform.settings import Settings
from cutroom.retention.erasure.links import CertificateLinks
from cutroom.retention.erasure.log import ErasureLog
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Keyring, Person
from tests.credits.conftest import PRICES
from tests.jobs.conftest import JobContext


async def erase(client: httpx.AsyncClient, library_id: str, **headers: str) -> httpx.Response:
    return await client.delete("/library", params={"confirm": library_id}, headers=headers)


async def starts(accounts: Accounts, library_id: str) -> list[dict[str, Any]]:
    rows = await accounts.connection.fetch(
        "SELECT workflow, workflow_id, argument FROM outbox WHERE library_id = $1 ORDER BY id", library_id
    )
    return [dict(row) for row in rows]


async def test_erasure_is_requested_and_ends_access(
    api: httpx.AsyncClient, accounts: Accounts, person: Person, key: Keyring
) -> None:
    response = await erase(api, person.library_id)
    assert response.status_code == 202, response.text
    body = response.json()
    assert (body["libraryId"], body["status"]) == (person.library_id, "erasing")
    argument = {
        "erasure_id": body["erasureId"],
        "library_id": person.library_id,
        "user_ids": [person.user_id],
        "requested_at": (await starts(accounts, person.library_id))[-1]["argument"]["requested_at"],
    }
    assert (await starts(accounts, person.library_id))[-1] == {
        "workflow": "erase-library",
        "workflow_id": f"erase-library_{person.library_id}",
        "argument": argument,
    }
    refused = await api.get("/videos")
    assert (refused.status_code, refused.json()["error"]["code"]) == (401, "INVALID_API_KEY")
    assert await accounts.connection.fetchval("SELECT revoked_at IS NOT NULL FROM api_keys WHERE id = $1", key.id)


async def test_the_request_must_name_the_library(api: httpx.AsyncClient, accounts: Accounts, person: Person) -> None:
    other = await accounts.person()
    for confirm in ("yes", other.library_id):
        response = await erase(api, confirm)
        assert (response.status_code, response.json()["error"]["code"]) == (400, "INVALID_ARGUMENT")
    assert (await api.delete("/library")).status_code == 400
    assert (await api.get("/videos")).status_code == 200
    assert not await starts(accounts, person.library_id)


@pytest.mark.parametrize("role", [Role.ADMIN, Role.EDITOR, Role.VIEWER])
async def test_only_owners_may_erase(
    anonymous: httpx.AsyncClient, accounts: Accounts, person: Person, role: Role
) -> None:
    workspace, member = await accounts.workspace(person), await accounts.person()
    await accounts.member(workspace, member, role=role)
    headers = (await accounts.key(member, library_id=workspace)).headers
    response = await erase(anonymous, workspace, **headers)
    assert (response.status_code, response.json()["error"]["code"]) == (403, "PERMISSION_DENIED")


async def test_the_scope_is_required(anonymous: httpx.AsyncClient, accounts: Accounts, person: Person) -> None:
    headers = (await accounts.key(person, scopes=[Scope.VIDEOS_READ])).headers
    response = await erase(anonymous, person.library_id, **headers)
    assert (response.status_code, response.json()["error"]["code"]) == (403, "INSUFFICIENT_SCOPE")


async def test_the_only_owner_of_a_workspace_keeps_their_account(
    api: httpx.AsyncClient, accounts: Accounts, person: Person
) -> None:
    workspace = await accounts.workspace(person)
    response = await erase(api, person.library_id)
    assert (response.status_code, response.json()["error"]["code"]) == (409, "FAILED_PRECONDITION")
    assert response.json()["error"]["details"] == {"workspaceIds": [workspace]}
    await accounts.member(workspace, await accounts.person(), role=Role.OWNER)
    assert (await erase(api, person.library_id)).status_code == 202


async def test_a_workspace_is_erased_without_its_members(
    anonymous: httpx.AsyncClient, accounts: Accounts, person: Person
) -> None:
    workspace = await accounts.workspace(person)
    personal = await accounts.key(person)
    headers = (await accounts.key(person, library_id=workspace)).headers
    response = await erase(anonymous, workspace, **headers)
    assert response.status_code == 202
    assert (await starts(accounts, workspace))[-1]["argument"]["user_ids"] == []
    assert (await anonymous.get("/videos", headers=headers)).status_code == 401
    assert (await anonymous.get("/videos", headers=personal.headers)).status_code == 200


async def test_unfinished_jobs_are_canceled(
    api: httpx.AsyncClient, accounts: Accounts, runtime: Runtime, job_context: JobContext
) -> None:
    job = NewJob(key=JobKey(JobType.IMPORT, job_context.video_id), video_id=job_context.video_id)
    async with runtime.database.transaction(job_context.library_id) as connection:
        await jobs.create_jobs(connection, job_context.principal, [job], prices=PRICES, now=system_clock())
    assert (await erase(api, job_context.library_id)).status_code == 202
    row = await accounts.connection.fetchrow("SELECT status, error_code FROM jobs WHERE id = $1", job.key.id)
    assert row is not None
    assert (row["status"], row["error_code"]) == ("failed", "CANCELLED")


async def test_certificate_url_shows_the_state_without_a_key(
    api: httpx.AsyncClient, anonymous: httpx.AsyncClient, person: Person, settings: Settings
) -> None:
    made = (await erase(api, person.library_id)).json()
    del anonymous.headers["Authorization"]
    token = made["certificateUrl"].rpartition("/")[2]
    url = f"http://cutroom.test/erasures/{token}"
    assert (await anonymous.get(url)).json() == {"erasureId": made["erasureId"], "status": "erasing"}
    log = ErasureLog.of(settings)
    await log.save_certificate({"erasureId": made["erasureId"], "libraryId": person.library_id})
    shown = (await anonymous.get(url)).json()
    assert shown["status"] == "erased"
    assert shown["certificate"]["libraryId"] == person.library_id
    assert (await anonymous.post(url)).status_code == 405


def test_certificate_url_outlives_key_rotations() -> None:
    """The certificate is for the owner of an erased library, who can request no other URL."""
    secret_box, now = SecretBox("a secret for this test, long enough"), system_clock()
    links, erasure_id = CertificateLinks(secret_box, ""), "01j9z3k4m5n6p7q8r9s0t1v2w3"
    token = links.token(erasure_id)
    first = RingKey(0, secret_box.unwrap(0, None), verifies_until=now - timedelta(hours=1))
    secret_box.install([first, RingKey(1, b"1" * 32, active_from=now - timedelta(hours=49))])
    assert secret_box.signing_key_id == 1
    assert links.token(erasure_id) == token
    assert links.erasure_id(token) == erasure_id


async def test_forged_certificate_url_is_not_found(anonymous: httpx.AsyncClient, runtime: Runtime) -> None:
    token = CertificateLinks(runtime.secret_box, "").token("01j9z3k4m5n6p7q8r9s0t1v2w3")
    forged = (token[:-1] + ("0" if token[-1] != "0" else "1"), token.upper(), "ecert_", "x", token[6:])
    for each in forged:
        assert (await anonymous.get(f"http://cutroom.test/erasures/{each}")).status_code == 404, each
