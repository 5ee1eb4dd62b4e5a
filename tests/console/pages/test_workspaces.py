"""Tests workspaces: creation, invitations, roles, leaving."""

import re

from cutroom.accounts.principals import Role
from dev.scratch import Accounts, Person
from tests.console.conftest import Browser, SignIn

LINK = re.compile(r'<code id="link">http://[^/]+(/invitations/[\w-]+)</code>')


async def role_of(accounts: Accounts, workspace_id: str, person: Person) -> str | None:
    sql = "SELECT role FROM members WHERE library_id = $1 AND user_id = $2"
    found: str | None = await accounts.connection.fetchval(sql, workspace_id, person.user_id)
    return found


async def found(browser: Browser, accounts: Accounts, person: Person) -> str:
    assert (await browser.post("/workspace", {"name": "Team & Co"})).status_code == 303
    sql = """SELECT l.id FROM libraries l JOIN members m ON m.library_id = l.id
             WHERE m.user_id = $1 AND l.kind = 'workspace'"""
    return str(await accounts.connection.fetchval(sql, person.user_id))


async def test_invitation_link_works_once_for_the_invited_address(
    browser: Browser, accounts: Accounts, person: Person, sign_in: SignIn
) -> None:
    workspace_id = await found(browser, accounts, person)
    page = (await browser.get("/workspace")).text
    assert "Team &amp; Co" in page
    guest, other = await accounts.person(), await accounts.person()
    invited = await browser.post("/workspace/invitations", {"email": guest.email.upper(), "role": "viewer"})
    link = LINK.search(invited.text)
    assert link is not None
    wrong = await sign_in(other)
    assert "another email address" in (await wrong.get(link[1])).text
    assert (await wrong.post(link[1])).status_code == 403
    right = await sign_in(guest)
    assert "Join Team &amp; Co" in (await right.get(link[1])).text
    assert (await right.post(link[1])).status_code == 303
    assert await role_of(accounts, workspace_id, guest) == "viewer"
    assert (await right.get(link[1])).status_code == 404  # good once
    assert (await right.get("/keys")).status_code == 200
    assert (await right.post("/workspace/invitations", {"email": "a@b.c", "role": "viewer"})).status_code == 403


async def test_revoked_invitation_cannot_be_used(
    browser: Browser, accounts: Accounts, person: Person, sign_in: SignIn
) -> None:
    await found(browser, accounts, person)
    guest = await accounts.person()
    invited = await browser.post("/workspace/invitations", {"email": guest.email, "role": "editor"})
    link = LINK.search(invited.text)
    assert link is not None
    ends = re.findall(r'action="(/workspace/invitations/\w+/end)"', invited.text)
    assert (await browser.post(ends[0])).status_code == 303
    assert (await (await sign_in(guest)).get(link[1])).status_code == 404


async def test_last_owner_cannot_leave_and_only_owners_appoint_owners(
    browser: Browser, accounts: Accounts, person: Person, sign_in: SignIn
) -> None:
    workspace_id = await found(browser, accounts, person)
    me = f"/workspace/members/{person.user_id}"
    assert (await browser.post(me, {"role": "editor"})).status_code == 409
    assert (await browser.post(me, {"role": "remove"})).status_code == 409
    admin = await accounts.person()
    await accounts.member(workspace_id, admin, role=Role.ADMIN)
    other = await sign_in(admin)
    await other.post("/switch", {"library": workspace_id})
    assert (await other.post(f"/workspace/members/{admin.user_id}", {"role": "owner"})).status_code == 403
    assert (await other.post(me, {"role": "viewer"})).status_code == 403
    assert (await other.post("/workspace/invitations", {"email": "a@b.c", "role": "owner"})).status_code == 403
    assert (await browser.post(f"/workspace/members/{admin.user_id}", {"role": "owner"})).status_code == 303
    assert (await browser.post(me, {"role": "remove"})).headers["location"].startswith("/library")
    assert await role_of(accounts, workspace_id, person) is None
    assert await role_of(accounts, workspace_id, admin) == "owner"


async def test_editor_can_leave_but_not_change_roles(
    browser: Browser, accounts: Accounts, person: Person, sign_in: SignIn
) -> None:
    workspace_id = await found(browser, accounts, person)
    editor = await accounts.person()
    await accounts.member(workspace_id, editor, role=Role.EDITOR)
    other = await sign_in(editor)
    await other.post("/switch", {"library": workspace_id})
    assert (await other.post(f"/workspace/members/{editor.user_id}", {"role": "admin"})).status_code == 403
    assert (await other.post(f"/workspace/members/{editor.user_id}", {"role": "remove"})).status_code == 303
    assert await role_of(accounts, workspace_id, editor) is None


async def test_non_member_cannot_switch_to_a_workspace(browser: Browser, accounts: Accounts) -> None:
    foreign = await accounts.workspace(await accounts.person())
    assert (await browser.post("/switch", {"library": foreign})).status_code == 404
