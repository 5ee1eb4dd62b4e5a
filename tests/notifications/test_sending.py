"""Queuing and sending notifications with a real mail server and a push service."""

import asyncio
import re
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from cutroom.accounts.principals import Role
from cutroom.accounts.service import remove_member
from cutroom.notifications.rules import MAX_PER_HOUR, Frequency, NotificationKind, NotificationOutcome
from cutroom.notifications.service import notify
from cutroom.platform.db import insert
from cutroom.platform.ids import new_id
from tests.notifications.conftest import BASE_URL, FAILED, READY, NotificationStage

SENT, WITHDRAWN, REFUSED = NotificationOutcome.SENT, NotificationOutcome.WITHDRAWN, NotificationOutcome.REFUSED
NOW, HOURLY, DAILY, NEVER = Frequency.IMMEDIATELY, Frequency.HOURLY, Frequency.DAILY, Frequency.NEVER


async def video(stage: NotificationStage, title: str) -> str:
    row = {
        "library_id": stage.library_id,
        "id": new_id(),
        "status": "ready",
        "title": title,
        "created_at": stage.clock(),
    }
    states = {"import_status": "ready", "transcript_status": "ready", "media_type": "video"}
    await insert(stage.accounts.connection, "videos", {**row, **states})
    return str(row["id"])


async def test_no_one_is_notified_of_jobs_by_default(stage: NotificationStage) -> None:
    await stage.publish("job.ready")
    await stage.publish("job.failed")
    assert await stage.rows() == []


async def test_members_who_want_it_get_one_mail_each(stage: NotificationStage) -> None:
    wanting, other = await stage.member(), await stage.member(Role.VIEWER)
    for person in (stage.owner, wanting):
        await stage.prefer(person, NOW)
    await stage.publish(videoId=await video(stage, "Launch day"))
    assert await stage.send_all() == [SENT, SENT]
    subject = "Dub to Portuguese of “Launch day” is ready."
    for person, count in ((stage.owner, 1), (wanting, 1), (other, 0)):
        assert [each.startswith(subject) for each in stage.mails_to(person)] == [True] * count
    [mail] = stage.smtp.sent_to(wanting.email)
    assert mail["Auto-Submitted"] == "auto-generated"
    link = re.fullmatch(r"<(https://\S+)>", mail["List-Unsubscribe"])
    assert link is not None
    assert link[1].startswith(f"{BASE_URL}/notifications/unsubscribe/{stage.library_id}/{wanting.user_id}/ready/")
    assert mail["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert link[1] in mail.get_content()


async def test_event_is_queued_once_per_person_and_channel(stage: NotificationStage) -> None:
    await stage.prefer(stage.owner, NOW)
    async with stage.runtime.database.transaction(stage.library_id) as connection:
        for _ in range(2):
            await notify(connection, stage.library_id, READY, source="event", subject={}, now=stage.clock())
    assert len(await stage.rows()) == len(await stage.starts()) == 1


async def test_rolled_back_event_notifies_no_one(stage: NotificationStage) -> None:
    await stage.prefer(stage.owner, NOW)
    with suppress(ZeroDivisionError):
        async with stage.runtime.database.transaction(stage.library_id) as connection:
            await notify(connection, stage.library_id, READY, source="event", subject={}, now=stage.clock())
            raise ZeroDivisionError
    assert await stage.starts() == []
    assert await stage.rows() == []


async def test_digest_is_one_mail_at_its_time(stage: NotificationStage) -> None:
    await stage.prefer(stage.owner, HOURLY)
    await stage.prefer(stage.owner, HOURLY, FAILED)
    start = stage.clock().replace(minute=5, second=0, microsecond=0) + timedelta(hours=1)
    stage.at(start)
    for number in range(3):
        await stage.publish(videoId=await video(stage, f"Talk {number}"))
    await stage.publish("job.failed", error={"code": "INTERNAL", "message": "It broke."})
    refs = await stage.starts()
    assert len(refs) == 4
    assert all(timedelta(minutes=54) < each.delay(start) <= timedelta(minutes=55) for each in refs)
    stage.at(start + timedelta(minutes=56))
    assert sorted([await stage.send(each) for each in refs]) == sorted([SENT, WITHDRAWN, WITHDRAWN, WITHDRAWN])
    [mail] = stage.smtp.sent_to(stage.owner.email)
    assert mail["Subject"].startswith("4 notifications")
    content = mail.get_content()
    assert [f"Talk {number}" in content for number in range(3)] == [True] * 3
    assert "It broke." in content
    assert {row["outcome"] for row in await stage.rows()} == {"sent"}


async def test_concurrent_workflows_of_a_digest_send_it_once(stage: NotificationStage) -> None:
    await stage.prefer(stage.owner, DAILY)
    for _ in range(8):
        await stage.publish()
    refs = await stage.starts()
    stage.clock.shift += timedelta(days=1, minutes=1)
    outcomes = await asyncio.gather(*(stage.send(each) for each in refs))
    assert sorted(outcomes) == sorted([SENT, *[WITHDRAWN] * 7])
    assert len(stage.mails_to(stage.owner)) == 1
    assert {row["outcome"] for row in await stage.rows()} == {"sent"}


async def test_digest_has_what_was_committed_late_in_the_next_one(stage: NotificationStage) -> None:
    await stage.prefer(stage.owner, HOURLY)
    await stage.publish()
    await stage.publish()
    first, late = await stage.starts()
    stage.clock.shift += timedelta(hours=1, minutes=1)
    sql = "UPDATE notifications SET due_at = $2 WHERE id = $1"
    await stage.accounts.connection.execute(sql, late.notification_id, stage.clock() + timedelta(minutes=5))
    assert await stage.send(first) is SENT
    stage.clock.shift += timedelta(minutes=6)
    assert await stage.send(late) is SENT
    assert len(stage.mails_to(stage.owner)) == 2


async def test_mail_is_retried_and_sent_once(stage: NotificationStage) -> None:
    await stage.prefer(stage.owner, NOW)
    await stage.publish()
    (ref,) = await stage.starts()
    stage.smtp.data_responses = ["451 Later"]
    with pytest.raises(Exception, match="451"):
        await stage.send(ref)
    assert await stage.send(ref) is SENT
    assert await stage.send(ref) is WITHDRAWN  # as after a crash that lost the result
    assert len(stage.mails_to(stage.owner)) == 1


async def test_crash_between_sending_and_recording_repeats_the_message_id(
    stage: NotificationStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    await stage.prefer(stage.owner, HOURLY)
    await stage.publish()
    await stage.publish()
    first, second = await stage.starts()
    stage.clock.shift += timedelta(hours=1, minutes=1)

    async def crash(*_arguments: Any, **_named: Any) -> None:  # noqa: ANN401 (those of the replaced function)
        raise ConnectionError

    with monkeypatch.context() as patched:
        patched.setattr("cutroom.notifications.activities.record_outcome", crash)
        with pytest.raises(ConnectionError):
            await stage.send(first)
    assert await stage.send(second) is WITHDRAWN  # the first workflow repeats the digest, with the same content
    assert await stage.send(first) is SENT
    first_mail, repeated = stage.smtp.sent_to(stage.owner.email)
    assert first_mail["Message-ID"] == repeated["Message-ID"]
    assert first_mail.get_content() == repeated.get_content()


@pytest.mark.parametrize("response", ["550 No such user", "554 Spam"])
async def test_refused_mail_ends(stage: NotificationStage, response: str) -> None:
    await stage.prefer(stage.owner, NOW)
    await stage.publish()
    (stage.smtp.recipient_responses if response.startswith("550") else stage.smtp.data_responses).append(response)
    assert await stage.send_all() == [REFUSED]
    assert [row["outcome"] for row in await stage.rows()] == ["refused"]


async def test_what_was_switched_off_or_is_late_is_not_sent(stage: NotificationStage) -> None:
    await stage.prefer(stage.owner, HOURLY)
    await stage.prefer(stage.owner, NOW, FAILED)
    await stage.publish("job.ready")
    await stage.publish("job.failed")
    digest, failed = await stage.starts()
    await stage.prefer(stage.owner, NEVER)
    stage.clock.shift += timedelta(hours=1, minutes=1)
    assert await stage.send(digest) is WITHDRAWN
    stage.clock.shift += timedelta(days=4)
    assert await stage.send(failed) is WITHDRAWN
    assert stage.smtp.mails == []


async def test_former_member_and_suspended_library_get_nothing(stage: NotificationStage) -> None:
    member = await stage.member()
    for person in (stage.owner, member):
        await stage.prefer(person, NOW)
    await stage.publish()
    connection = stage.accounts.connection
    await remove_member(connection, stage.library_id, user_id=member.user_id)
    assert {row["user_id"] for row in await stage.rows()} == {stage.owner.user_id}  # theirs went with the membership
    await connection.execute("UPDATE libraries SET suspended_at = now() WHERE id = $1", stage.library_id)
    assert await stage.send_all() == [WITHDRAWN, WITHDRAWN]
    assert stage.smtp.mails == []


async def test_too_many_mails_at_once_wait_for_a_digest(stage: NotificationStage) -> None:
    await stage.prefer(stage.owner, NOW)
    await stage.subscribe(stage.owner, stage.push.browser("a"))
    for _ in range(MAX_PER_HOUR + 2):
        await stage.publish()
    by_channel = [(row["channel"], row["frequency"]) for row in await stage.rows()]
    assert by_channel.count(("mail", "immediately")) == by_channel.count(("browser", "immediately")) == MAX_PER_HOUR
    assert by_channel.count(("mail", "hourly")) == 2
    assert len(by_channel) == 2 * MAX_PER_HOUR + 2


async def test_only_one_person_is_notified_of_their_endpoint(stage: NotificationStage) -> None:
    member = await stage.member()
    async with stage.runtime.database.transaction(stage.library_id) as connection:
        await notify(
            connection,
            stage.library_id,
            NotificationKind.WEBHOOK_DISABLED,
            source="e",
            subject={"endpointId": "e", "url": "hooks.example.com", "reason": "It is gone."},
            now=stage.clock(),
            only_user=member.user_id,
        )
    assert await stage.send_all() == [SENT]
    assert len(stage.mails_to(member)) == len(stage.smtp.mails) == 1


async def test_browser_shows_what_only_it_can_decrypt(stage: NotificationStage) -> None:
    first, second = stage.push.browser("a"), stage.push.browser("b")
    for browser in (first, second):
        await stage.subscribe(stage.owner, browser)
    video_id = await video(stage, "Launch day")
    await stage.publish(videoId=video_id)
    (ref,) = await stage.starts()
    assert await stage.send(ref) is SENT
    for browser, path in ((first, "/push/a"), (second, "/push/b")):
        [body] = stage.push.received[path]
        assert browser.decrypt(body) == {
            "title": "Dub to Portuguese of “Launch day” is ready.",
            "path": f"/videos/{video_id}",
            "tag": ref.notification_id,
        }
    assert stage.smtp.mails == []


@pytest.mark.parametrize("status", [404, 410])
async def test_subscription_that_is_gone_is_forgotten(stage: NotificationStage, status: int) -> None:
    for name in ("a", "b"):
        await stage.subscribe(stage.owner, stage.push.browser(name))
    stage.push.responses["/push/a"] = [status]
    await stage.publish()
    assert await stage.send_all() == [SENT]
    await stage.publish()
    assert await stage.send_all() == [SENT]
    assert (stage.push.attempts["/push/a"], stage.push.attempts["/push/b"]) == (1, 2)


async def test_busy_push_service_is_tried_again_for_the_others_not(stage: NotificationStage) -> None:
    for name in ("a", "b"):
        await stage.subscribe(stage.owner, stage.push.browser(name))
    stage.push.responses["/push/b"] = [429, 503]
    await stage.publish()
    (ref,) = await stage.starts()
    environment, details = ActivityEnvironment(), []
    environment.on_heartbeat = lambda *given: details.append(given)
    for _ in range(2):
        with pytest.raises(ApplicationError):
            await environment.run(stage.activities.send_notification, ref)
        environment.info = _with_details(environment, details[-1])
    assert await environment.run(stage.activities.send_notification, ref) is SENT
    assert (stage.push.attempts["/push/a"], stage.push.attempts["/push/b"]) == (1, 3)


def _with_details(environment: ActivityEnvironment, details: tuple[Any, ...]) -> Any:  # noqa: ANN401 (the SDK's type)
    return replace(environment.info, heartbeat_details=details)


async def test_internal_address_is_not_reached(stage: NotificationStage) -> None:
    browser = stage.push.browser("a")
    browser.url = "https://internal.example.com/push"
    await stage.subscribe(stage.owner, browser)
    await stage.publish()
    (ref,) = await stage.starts()
    with pytest.raises(ApplicationError):  # as any service that does not respond
        await stage.send(ref)
    assert stage.push.attempts == {}


async def test_without_a_mail_server_nothing_waits(stage: NotificationStage) -> None:
    await stage.prefer(stage.owner, NOW)
    await stage.publish()
    object.__setattr__(stage.activities, "server", None)
    assert await stage.send_all() == [WITHDRAWN]


async def test_old_notifications_are_purged(stage: NotificationStage) -> None:
    await stage.prefer(stage.owner, NOW)
    await stage.publish()
    (old,) = await stage.rows()
    sql = "UPDATE notifications SET created_at = now() - interval '31 days' WHERE id = $1"
    await stage.accounts.connection.execute(sql, old["id"])
    await stage.publish()
    assert await ActivityEnvironment().run(stage.activities.purge_notifications) >= 1
    assert old["id"] not in {row["id"] for row in await stage.rows()}
    assert len(await stage.rows()) == 1


async def test_preferences_and_browsers_do_not_reveal_addresses(stage: NotificationStage) -> None:
    browser = stage.push.browser("secret-path")
    await stage.subscribe(stage.owner, browser)
    rows = await stage.accounts.connection.fetch(
        "SELECT * FROM push_subscriptions WHERE library_id = $1", stage.library_id
    )
    assert len(rows) == 1
    assert "secret-path" not in str([dict(row) for row in rows])
