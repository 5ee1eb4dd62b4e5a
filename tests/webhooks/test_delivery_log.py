"""The delivery log, redelivery, recovery, test events and secret rotation over the API."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest
from standardwebhooks import Webhook, WebhookVerificationError
from temporalio.testing import ActivityEnvironment

from cutroom.accounts.principals import Role
from cutroom.platform.clock import system_clock
from cutroom.platform.egress.client import PostResponse, UnreachableError
from cutroom.web.limits import RateLimit
from cutroom.web.runtime import Runtime
from cutroom.webhooks import resending
from cutroom.webhooks.activities import DeliveryActivities
from cutroom.webhooks.deliveries import AttemptRecord, Delivery, record_attempt
from cutroom.webhooks.publishing import publish_event
from cutroom.webhooks.rules import MAX_ATTEMPT_OFFSET, DeliveryOutcome
from dev.scratch import Accounts, Person
from tests.webhooks.test_deliveries import JOB, OK, ScriptedSender
from tests.webhooks.test_routes import PATH, URL, check_error, register

REFUSED = PostResponse(500, {"server": "theirs"}, body=b"down")


@dataclass
class Log:
    """An endpoint, its deliveries, and the worker's side of them."""

    api: httpx.AsyncClient
    accounts: Accounts
    person: Person
    runtime: Runtime
    endpoint: dict[str, Any]
    sender: ScriptedSender

    @property
    def path(self) -> str:
        return f"{PATH}/{self.endpoint['id']}"

    async def publish(self, type_: str = "job.ready") -> str:
        connection, library_id = self.accounts.connection, self.person.library_id
        return await publish_event(connection, library_id, type=type_, data=JOB, now=system_clock())

    async def starts(self) -> list[Delivery]:
        """The workflows that wait to be started, removed from the outbox."""
        rows = await self.accounts.connection.fetch(
            "DELETE FROM outbox WHERE library_id = $1 RETURNING id, workflow_id, argument", self.person.library_id
        )
        rows.sort(key=lambda row: int(row["id"]))
        found = [Delivery(**row["argument"]) for row in rows]
        assert [each.workflow_id for each in found] == [row["workflow_id"] for row in rows]
        return found

    async def attempt(self, delivery: Delivery, number: int = 1) -> DeliveryOutcome:
        acting = DeliveryActivities(
            database=self.runtime.database, secret_box=self.runtime.secret_box, sender=self.sender, clock=system_clock
        )
        return (await ActivityEnvironment().run(acting.attempt_delivery, delivery, number)).outcome

    async def get(self, path: str = "", params: dict[str, str | int] | None = None) -> dict[str, Any]:
        response = await self.api.get(f"{self.path}/deliveries{path}", params=params)
        assert response.status_code == 200, response.text
        found: dict[str, Any] = response.json()
        return found

    async def fail(self, event_id: str, number: int = 10) -> None:
        self.sender.responses.append(REFUSED)
        await self.attempt(Delivery(self.person.library_id, event_id, self.endpoint["id"]), number)


@pytest.fixture
async def log(api: httpx.AsyncClient, accounts: Accounts, person: Person, runtime: Runtime) -> AsyncIterator[Log]:
    found = Log(api, accounts, person, runtime, await register(api), ScriptedSender([]))
    yield found
    await found.starts()


async def test_delivery_shows_requests_and_responses_without_the_signature(log: Log) -> None:
    event_id = await log.publish()
    (delivery,) = await log.starts()
    log.sender.responses += [REFUSED, UnreachableError()]
    for number in (1, 2):
        await log.attempt(delivery, number)
    found = await log.get(f"/{event_id}")
    (_, body, headers), _ = log.sender.sent
    assert (found["eventId"], found["type"], found["status"]) == (event_id, "job.ready", "pending")
    assert found["body"] == body.decode()
    unreachable, refused = found["attempts"]
    assert (refused["number"], refused["outcome"]) == (1, "refused")
    assert refused["response"] == {"status": 500, "body": "down", "truncated": False}
    assert refused["request"]["url"] == URL
    assert refused["request"]["headers"].items() <= {**headers, "user-agent": "Cutroom/1"}.items()
    assert set(refused["request"]["headers"]) == {"content-type", "user-agent", "webhook-id", "webhook-timestamp"}
    assert "response" not in unreachable
    assert datetime.fromisoformat(found["nextAttemptAt"]) > system_clock() + timedelta(minutes=4)
    assert not any(secret in str(found) for secret in ("whsec_", headers["webhook-signature"]))


async def test_log_is_paged_and_filtered(log: Log) -> None:
    events = [await log.publish() for _ in range(3)]
    await log.fail(events[0])
    page = await log.get(params={"limit": 2})
    assert [each["eventId"] for each in page["deliveries"]] == [events[2], events[1]]
    rest = await log.get(params={"limit": 2, "pageToken": page["nextPageToken"]})
    assert [each["eventId"] for each in rest["deliveries"]] == [events[0]]
    assert "nextPageToken" not in rest
    failed = await log.get(params={"status": "failed"})
    (only,) = failed["deliveries"]
    shown = {name: only[name] for name in ("eventId", "status", "attemptCount", "lastStatus", "lastOutcome")}
    assert shown == {
        "eventId": events[0],
        "status": "failed",
        "attemptCount": 1,
        "lastStatus": 500,
        "lastOutcome": "refused",
    }
    other = await register(log.api, f"{URL}/other")
    foreign = await log.api.get(f"{PATH}/{other['id']}/deliveries", params={"pageToken": page["nextPageToken"]})
    check_error(foreign, 400, "INVALID_ARGUMENT")
    check_error(await log.api.get(f"{log.path}/deliveries", params={"status": "lost"}), 400, "INVALID_ARGUMENT")


async def test_redelivery_has_the_same_id_and_body(log: Log) -> None:
    event_id = await log.publish()
    (first,) = await log.starts()
    await log.fail(event_id)
    again = await log.api.post(f"{log.path}/deliveries/{event_id}/redeliver")
    assert (again.status_code, again.json()["status"]) == (202, "pending")
    (second,) = await log.starts()
    assert second.workflow_id != first.workflow_id
    log.sender.responses.append(OK)
    assert await log.attempt(second) is DeliveryOutcome.DELIVERED
    (before, after) = log.sender.sent
    assert before[1] == after[1]
    assert before[2]["webhook-id"] == after[2]["webhook-id"] == event_id
    Webhook(log.endpoint["secret"]).verify(after[1], after[2])
    found = await log.get(f"/{event_id}")
    assert (found["status"], [each["outcome"] for each in found["attempts"]]) == ("delivered", ["delivered", "refused"])


async def test_redelivery_replaces_a_delivery_in_progress(log: Log) -> None:
    event_id = await log.publish()
    (first,) = await log.starts()
    log.sender.responses.append(REFUSED)
    await log.attempt(first)
    for _ in range(2):
        assert (await log.api.post(f"{log.path}/deliveries/{event_id}/redeliver")).status_code == 202
    second, third = await log.starts()
    assert await log.attempt(first, 2) is DeliveryOutcome.WITHDRAWN
    assert await log.attempt(second) is DeliveryOutcome.WITHDRAWN
    assert (await log.get(f"/{event_id}"))["status"] == "pending"
    log.sender.responses.append(OK)
    assert await log.attempt(third) is DeliveryOutcome.DELIVERED
    assert len(log.sender.sent) == 2


async def test_late_result_of_a_replaced_run_is_kept_beside_the_new_one(log: Log) -> None:
    """Its attempt was in flight when the redelivery was requested."""
    event_id = await log.publish()
    (first,) = await log.starts()
    await log.api.post(f"{log.path}/deliveries/{event_id}/redeliver")
    (second,) = await log.starts()
    late = AttemptRecord(1, system_clock(), 500, DeliveryOutcome.REFUSED, milliseconds=1)
    await record_attempt(log.accounts.connection, first, late)
    assert (await log.get(f"/{event_id}"))["status"] == "pending"
    log.sender.responses.append(OK)
    await log.attempt(second)
    found = await log.get(f"/{event_id}")
    assert (found["status"], [each["outcome"] for each in found["attempts"]]) == ("delivered", ["delivered", "refused"])


async def test_earlier_event_is_sent_to_a_new_endpoint(log: Log) -> None:
    event_id = await log.publish()
    endpoint = await register(log.api, f"{URL}/late")
    await log.starts()
    sent = await log.api.post(f"{PATH}/{endpoint['id']}/deliveries/{event_id}/redeliver")
    assert (sent.status_code, sent.json()["type"]) == (202, "job.ready")
    (delivery,) = await log.starts()
    assert (delivery.event_id, delivery.endpoint_id, delivery.offset) == (event_id, endpoint["id"], 0)


async def test_redeliveries_of_one_event_are_limited(log: Log) -> None:
    event_id = await log.publish()
    sql = "UPDATE webhook_deliveries SET attempt_offset = $2 WHERE event_id = $1"
    await log.accounts.connection.execute(sql, event_id, MAX_ATTEMPT_OFFSET)
    refused = await log.api.post(f"{log.path}/deliveries/{event_id}/redeliver")
    check_error(refused, 409, "FAILED_PRECONDITION")
    assert refused.json()["error"]["details"] == {"reason": "redelivery_limit"}


async def test_recovery_starts_every_failed_delivery_since_a_time(log: Log) -> None:
    failed = [await log.publish() for _ in range(3)]
    delivered, waiting = await log.publish(), await log.publish()
    await log.starts()
    for event_id in failed:
        await log.fail(event_id)
    log.sender.responses.append(OK)
    await log.attempt(Delivery(log.person.library_id, delivered, log.endpoint["id"]))
    sql = "UPDATE webhook_deliveries SET event_at = event_at - interval '2 days' WHERE event_id = $1"
    await log.accounts.connection.execute(sql, failed[0])
    since = (system_clock() - timedelta(days=1)).isoformat()
    first = await log.api.post(f"{log.path}/recover", json={"since": since})
    assert (first.status_code, first.json()) == (202, {"recovered": 2, "hasMore": False})
    assert [each.event_id for each in await log.starts()] == failed[1:]
    again = await log.api.post(f"{log.path}/recover", json={"since": since})
    assert again.json() == {"recovered": 0, "hasMore": False}
    states = {each["eventId"]: each["status"] for each in (await log.get())["deliveries"]}
    assert states == {
        failed[0]: "failed",
        failed[1]: "pending",
        failed[2]: "pending",
        delivered: "delivered",
        waiting: "pending",
    }


async def test_recovery_is_bounded_and_continues(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resending, "MAX_RECOVERED", 2)
    events = [await log.publish() for _ in range(3)]
    await log.starts()
    for event_id in events:
        await log.fail(event_id)
    body = {"since": "2026-01-01T00:00:00Z"}
    assert (await log.api.post(f"{log.path}/recover", json=body)).json() == {"recovered": 2, "hasMore": True}
    assert (await log.api.post(f"{log.path}/recover", json=body)).json() == {"recovered": 1, "hasMore": False}
    assert [each.event_id for each in await log.starts()] == events


@pytest.mark.parametrize("since", [None, 1_700_000_000, "yesterday", "2026-01-01", "2026-01-01T00:00:00"])
async def test_recovery_needs_a_time_with_a_zone(log: Log, since: object) -> None:
    refused = await log.api.post(f"{log.path}/recover", json={"since": since})
    check_error(refused, 400, "INVALID_ARGUMENT")
    assert [each["path"] for each in refused.json()["error"]["details"]["fields"]] == ["since"]


async def test_test_event_is_signed_sent_once_and_no_event_of_the_library(log: Log) -> None:
    await register(log.api, f"{URL}/other")
    sent = await log.api.post(f"{log.path}/test")
    assert sent.status_code == 202
    (delivery,) = await log.starts()
    assert (delivery.event_id, delivery.endpoint_id, delivery.retries) == (
        sent.json()["eventId"],
        log.endpoint["id"],
        False,
    )
    log.sender.responses.append(REFUSED)
    await log.attempt(delivery)
    ((_, body, headers),) = log.sender.sent
    event: dict[str, Any] = Webhook(log.endpoint["secret"]).verify(body, headers)
    assert event["type"] == "endpoint.test"
    assert event["data"] == {"endpointId": log.endpoint["id"], "message": "This is a test event."}
    assert (await log.get(f"/{delivery.event_id}"))["status"] == "failed"  # it has no retries
    row = await log.accounts.connection.fetchrow(
        "SELECT failing_since FROM webhook_endpoints WHERE id = $1", log.endpoint["id"]
    )
    assert row is not None
    assert row["failing_since"] is None
    events = "SELECT count(*) FROM events WHERE library_id = $1"
    assert await log.accounts.connection.fetchval(events, log.person.library_id) == 0
    recovered = await log.api.post(f"{log.path}/recover", json={"since": "2026-01-01T00:00:00Z"})
    assert recovered.json()["recovered"] == 0
    again = await log.api.post(f"{log.path}/deliveries/{delivery.event_id}/redeliver")
    assert again.status_code == 202
    log.sender.responses.append(OK)
    (second,) = await log.starts()
    await log.attempt(second)
    assert log.sender.sent[1][1] == body


async def test_nothing_is_sent_to_a_disabled_endpoint(log: Log) -> None:
    event_id = await log.publish()
    await log.starts()
    await log.api.patch(log.path, json={"enabled": False})
    body = {"since": "2026-01-01T00:00:00Z"}
    for path, sent in ((f"/deliveries/{event_id}/redeliver", None), ("/recover", body), ("/test", None)):
        refused = await log.api.post(f"{log.path}{path}", json=sent)
        check_error(refused, 409, "FAILED_PRECONDITION")
        assert refused.json()["error"]["details"] == {"reason": "endpoint_disabled"}
    assert await log.starts() == []


async def test_sends_of_a_library_are_limited(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resending, "SENDS_PER_HOUR", RateLimit(2, 24 * 3_600))
    other = await register(log.api, f"{URL}/other")
    paths = [log.path, f"{PATH}/{other['id']}", log.path]
    responses = [await log.api.post(f"{path}/test") for path in paths]
    assert [each.status_code for each in responses] == [202, 202, 429]
    assert int(responses[-1].headers["Retry-After"]) > 3_600
    assert len(await log.starts()) == 2


async def test_same_idempotency_key_sends_once(log: Log) -> None:
    headers = {"Idempotency-Key": "once"}
    first, second = [await log.api.post(f"{log.path}/test", headers=headers) for _ in range(2)]
    assert first.json() == second.json()
    assert len(await log.starts()) == 1


async def test_only_its_creator_sends_and_rotates(log: Log) -> None:
    workspace_id, member = await log.accounts.workspace(log.person), await log.accounts.person()
    await log.accounts.member(workspace_id, member, role=Role.EDITOR)
    owner = (await log.accounts.key(log.person, library_id=workspace_id)).headers
    editor = (await log.accounts.key(member, library_id=workspace_id)).headers
    path = f"{PATH}/{(await register(log.api, headers=owner))['id']}"
    outsider = (await log.accounts.key(await log.accounts.person())).headers
    bodies = {"/recover": {"since": "2026-01-01T00:00:00Z"}, "/test": None, "/rotate-secret": {}}
    for action, body in {**bodies, "/deliveries/x/redeliver": None}.items():
        refused = await log.api.post(f"{path}{action}", json=body, headers=editor)
        check_error(refused, 403, "PERMISSION_DENIED")
        check_error(await log.api.post(f"{path}{action}", json=body, headers=outsider), 404, "NOT_FOUND")
    assert (await log.api.get(f"{path}/deliveries", headers=editor)).json() == {"deliveries": []}
    check_error(await log.api.get(f"{path}/deliveries", headers=outsider), 404, "NOT_FOUND")


async def test_both_secrets_sign_until_the_overlap_ends(log: Log) -> None:
    rotated = await log.api.post(f"{log.path}/rotate-secret", json={"overlapHours": 48})
    assert rotated.status_code == 200
    second = rotated.json()["secret"]
    until = datetime.fromisoformat(rotated.json()["previousSecretUntil"])
    assert timedelta(hours=47) < until - system_clock() <= timedelta(hours=48)
    shown = (await log.api.get(log.path)).json()
    assert datetime.fromisoformat(shown["previousSecretUntil"]) == until
    assert await accepted(log, log.endpoint["secret"], second) == [True, True]
    refused = await log.api.post(f"{log.path}/rotate-secret", json={})
    check_error(refused, 409, "FAILED_PRECONDITION")
    assert refused.json()["error"]["details"]["reason"] == "rotation_in_progress"
    third = (await log.api.post(f"{log.path}/rotate-secret", json={"overlapHours": 0})).json()["secret"]
    assert await accepted(log, log.endpoint["secret"], second, third) == [False, False, True]
    assert "previousSecretUntil" not in (await log.api.get(log.path)).json()


async def accepted(log: Log, *secrets: str) -> list[bool]:
    """Which secrets verify the next delivery."""
    log.sender.responses.append(OK)
    event_id = await log.publish()
    await log.attempt(Delivery(log.person.library_id, event_id, log.endpoint["id"]))
    _, body, headers = log.sender.sent[-1]

    def verifies(secret: str) -> bool:
        try:
            Webhook(secret).verify(body, headers)
        except WebhookVerificationError:
            return False
        return True

    return [verifies(each) for each in secrets]


@pytest.mark.parametrize("hours", [-1, 169, "24", 1.5])
async def test_invalid_overlap_is_rejected(log: Log, hours: object) -> None:
    refused = await log.api.post(f"{log.path}/rotate-secret", json={"overlapHours": hours})
    check_error(refused, 400, "INVALID_ARGUMENT")


async def test_event_types_are_chosen_on_registration(api: httpx.AsyncClient) -> None:
    chosen = await api.post(PATH, json={"url": URL, "events": ["job.failed"]})
    assert (chosen.status_code, chosen.json()["events"]) == (201, ["job.failed"])
    for events in ([], ["job.started"], ["job.ready", "job.ready"]):
        check_error(await api.post(PATH, json={"url": f"{URL}/2", "events": events}), 400, "INVALID_ARGUMENT")
    default = await api.post(PATH, json={"url": f"{URL}/2", "events": None})
    assert default.json()["events"] == ["video.ready", "video.failed", "job.ready", "job.failed"]
