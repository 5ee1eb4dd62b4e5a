"""Tests the audit log page, and the entries that console actions leave."""

import json
import re
from collections.abc import Mapping
from typing import Any

import pytest

from cutroom.accounts.principals import PrincipalKind, Role
from cutroom.audit import service
from cutroom.audit.service import AuditFilter
from cutroom.platform.ids import new_id
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Person
from tests.console.conftest import PASSWORD, Browser, SignIn

MARKUP = "<script>alert(1)</script>"


async def log_of(accounts: Accounts, library_id: str) -> list[tuple[str, Mapping[str, Any], Mapping[str, Any]]]:
    """Action, targets and details of every entry, oldest first."""
    found, _ = await service.list_entries(accounts.connection, library_id, AuditFilter(), before=None, limit=100)
    return [(each.entry.action, each.entry.targets, each.entry.details) for each in reversed(found)]


async def test_operations_and_settings_are_recorded_in_their_transaction(
    browser: Browser, accounts: Accounts, person: Person
) -> None:
    created = await browser.post("/library/folders", {"name": "Talks"})
    folder_id = created.headers["location"].partition("folder=")[2]
    await browser.post(f"/library/folders/{folder_id}/rename", {"name": "Lectures"})
    await browser.post("/credits/drafts", {"drafts": "refuse"})
    assert (await browser.post(f"/library/folders/{new_id()}/delete")).status_code == 404
    assert await log_of(accounts, person.library_id) == [
        ("createFolder", {"id": folder_id}, {"after": {"name": "Talks", "parentId": None}}),
        (
            "updateFolder",
            {"id": folder_id, "folderId": folder_id},
            {"before": {"name": "Talks"}, "after": {"name": "Lectures"}},
        ),
        ("library.change", {}, {"before": {"refusesDrafts": False}, "after": {"refusesDrafts": True}}),
    ]


async def test_form_that_is_refused_leaves_no_entry(browser: Browser, accounts: Accounts, person: Person) -> None:
    assert (await browser.post("/webhooks", {"url": "http://localhost/"})).status_code == 400
    assert (await browser.post("/keys", {"name": ""})).status_code == 400
    assert await log_of(accounts, person.library_id) == []


async def test_key_is_recorded_without_its_secret(browser: Browser, accounts: Accounts, person: Person) -> None:
    shown = await browser.post("/keys", {"name": "Nightly", "scope": "videos:read"})
    secret = re.search(r'<code id="new-key">(cr_\w+)</code>', shown.text)
    assert secret is not None
    ((action, targets, details),) = await log_of(accounts, person.library_id)
    assert (action, details) == ("key.create", {"after": {"scopes": ["videos:read"]}})
    assert secret[1] not in json.dumps([targets, details])
    await browser.post(f"/keys/{targets['keyId']}/revoke")
    assert (await log_of(accounts, person.library_id))[-1] == ("key.revoke", targets, {})


async def test_sessions_and_passwords_are_recorded_in_the_personal_library(
    browser: Browser, outsider: Browser, accounts: Accounts, person: Person
) -> None:
    await browser.post("/workspace", {"name": "Team"})  # selects the workspace
    assert (await outsider.sign_in(person)).status_code == 303
    changed = {"current": PASSWORD, "password": "another long phrase"}
    assert (await outsider.post("/account/password", changed)).status_code == 303
    assert (await outsider.post("/sign-out")).status_code == 303
    assert (await outsider.sign_in(person, "wrong password")).status_code == 401
    actions = [action for action, _, _ in await log_of(accounts, person.library_id)]
    assert actions == ["session.create", "password.change", "session.end"]


async def test_workspace_has_a_log_of_its_own_from_its_creation(
    browser: Browser, accounts: Accounts, person: Person, sign_in: SignIn
) -> None:
    await browser.post("/workspace", {"name": "Team"})
    workspace_id = await accounts.connection.fetchval(
        """SELECT m.library_id FROM members m JOIN libraries l ON l.id = m.library_id
           WHERE m.user_id = $1 AND l.kind = 'workspace'""",
        person.user_id,
    )
    guest = await accounts.person()
    invited = await browser.post("/workspace/invitations", {"email": guest.email, "role": "viewer"})
    link = re.search(r'<code id="link">http://[^/]+(/invitations/[\w-]+)</code>', invited.text)
    assert link is not None
    await (await sign_in(guest)).post(link[1])
    await browser.post(f"/workspace/members/{guest.user_id}", {"role": "editor"})
    await browser.post(f"/workspace/members/{guest.user_id}", {"role": "remove"})
    log = await log_of(accounts, workspace_id)
    assert [action for action, _, _ in log] == [
        "workspace.create",
        "member.invite",
        "invitation.accept",
        "member.change",
        "member.remove",
    ]
    assert log[3][1:] == ({"userId": guest.user_id}, {"before": {"role": "viewer"}, "after": {"role": "editor"}})
    assert guest.email not in json.dumps(log)
    assert await log_of(accounts, person.library_id) == []


async def test_page_shows_entries_escaped_and_filters_them(
    browser: Browser, accounts: Accounts, person: Person
) -> None:
    await browser.post("/library/folders", {"name": MARKUP})
    await browser.post("/keys", {"name": "Nightly"})
    page = (await browser.get("/audit-log")).text
    assert MARKUP not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<code>key.create</code>" in page
    filtered = (await browser.get("/audit-log?action=createFolder&from=2020-01-01&to=2999-12-31")).text
    assert "<code>createFolder</code>" in filtered
    assert "<code>key.create</code>" not in filtered
    assert "No entries." in (await browser.get("/audit-log?to=2020-01-01")).text
    assert "<code>createFolder</code>" in (await browser.get(f"/audit-log?person={person.user_id}")).text
    assert "No entries." in (await browser.get(f"/audit-log?person={new_id()}")).text
    head = await service.read_head(accounts.connection, person.library_id)
    assert str(head) in page


@pytest.mark.parametrize("query", ["from=yesterday", "to=0001-01-01", "person=%00", "action=%00", "page=forged"])
async def test_invalid_filters_are_refused(browser: Browser, query: str) -> None:
    assert (await browser.get(f"/audit-log?{query}")).status_code == 400


async def test_older_entries_are_on_further_pages(browser: Browser, runtime: Runtime, person: Person) -> None:
    async with runtime.database.transaction(person.library_id) as connection:
        for _ in range(60):
            event = service.AuditEvent(
                person.library_id,
                "folder.rename",
                service.AuditActor(PrincipalKind.SYSTEM, "admin"),
                at=runtime.clock(),
            )
            await service.append(connection, event, secret_box=runtime.secret_box)
    first = (await browser.get("/audit-log?action=folder.rename")).text
    older = re.search(r'<a href="(/audit-log\?[^"]+)">Older entries</a>', first)
    assert older is not None
    second = (await browser.get(older[1].replace("&amp;", "&"))).text
    assert ("no. 60<" in first, "no. 10<" in first) == (True, False)
    assert ("no. 60<" in second, "no. 10<" in second) == (False, True)


async def test_export_is_json_lines(browser: Browser) -> None:
    await browser.post("/library/folders", {"name": "Talks"})
    exported = await browser.get("/audit-log/export?action=createFolder")
    assert exported.headers["content-type"] == "application/x-ndjson"
    assert [json.loads(line)["action"] for line in exported.text.splitlines()] == ["createFolder"]


async def test_page_is_for_owners_and_admins(
    accounts: Accounts, person: Person, browser: Browser, sign_in: SignIn
) -> None:
    workspace_id = await accounts.workspace(person)
    for role, status in ((Role.VIEWER, 403), (Role.EDITOR, 403), (Role.ADMIN, 200)):
        member = await accounts.person()
        await accounts.member(workspace_id, member, role=role)
        guest = await sign_in(member)
        await guest.post("/switch", {"library": workspace_id})
        for path in ("/audit-log", "/audit-log/export"):
            assert (await guest.get(path)).status_code == status
        assert ('href="/audit-log"' in (await guest.get("/library")).text) == (role is Role.ADMIN)
    assert 'href="/audit-log"' in (await browser.get("/library")).text
