"""Guests of a review link: which pages open to them, for how long, and what they can never do."""

import re
from dataclasses import replace

import httpx
import pytest
from starlette.routing import Route

from cutroom.accounts.principals import Principal, PrincipalKind, Role
from cutroom.accounts.scopes import ALL_SCOPES
from cutroom.console.app import console_routes
from cutroom.console.pages.reviews import guest_entry
from cutroom.credits.pricing import Action, BillableItem, load_prices
from cutroom.credits.rules import Charge
from cutroom.credits.schemas import CreditBundle
from cutroom.credits.service import RatedBundle, reserve
from cutroom.errors import Code, CutroomError
from cutroom.jobs.ids import JobKey, JobType
from cutroom.jobs.service import NewJob, create_jobs
from cutroom.library.service import get_video
from cutroom.platform.clock import system_clock
from cutroom.products.dubs import routes as dubs
from cutroom.products.transcripts.editing import routes as transcript_editing
from cutroom.reviews.rules import GuestRole
from cutroom.web.operation import Access, operation_of
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Person
from tests.console.conftest import Browser, NewBrowser, SignIn
from tests.console.pages.reviews.conftest import FRAGMENT, GuestBrowser, OpenLink, PutLink
from tests.console.pages.test_library import put_video

PUBLIC = re.compile(r"/(sign-|forgot|reset|verify|review|invitations|oauth|notifications|static|events|\.well-known)")


def comments_of(video_id: str) -> str:
    return f"/videos/{video_id}/studio/comments"


def is_signed_out(status: int, location: str | None) -> bool:
    return status == 303 and location is not None and location.startswith("/sign-in")


async def test_link_asks_for_a_name_and_opens_the_studio(
    new_browser: NewBrowser, put_link: PutLink, video_id: str, accounts: Accounts
) -> None:
    guest = GuestBrowser(new_browser().client)
    secret = await put_link(video_id, GuestRole.COMMENT)
    unnamed = await guest.open(secret, name=" \u200b")
    assert (unnamed.status_code, "Enter a name" in unnamed.text) == (400, True)
    opened = await guest.open(secret)
    assert (opened.status_code, opened.headers["location"]) == (303, f"/videos/{video_id}/studio")
    [cookie] = [each for each in opened.headers.get_list("set-cookie") if "guest-" in each]
    assert cookie.startswith(f"cutroom-guest-{video_id}=")
    assert {"HttpOnly", "SameSite=lax", "Path=/"} <= set(cookie.split("; "))
    assert "Domain" not in cookie
    assert "Ana" not in cookie
    assert secret not in cookie
    entry = await accounts.connection.fetchrow(
        """SELECT actor_kind, user_id, details FROM audit_entries
           WHERE action = 'reviewLink.open' AND targets ->> 'videoId' = $1""",
        video_id,
    )
    assert entry is not None
    assert dict(entry) == {"actor_kind": "guest", "user_id": None, "details": {}}
    assert (await guest.get(comments_of(video_id))).status_code == 200


async def test_guest_is_signed_out_everywhere_else(
    open_link: OpenLink, video_id: str, accounts: Accounts, person: Person
) -> None:
    guest = await open_link(GuestRole.EDIT)
    other = await put_video(accounts, person.library_id, title="Other", spoken="No.")
    for path in ("comments", "presence"):
        response = await guest.get(f"/videos/{other}/studio/{path}")
        assert is_signed_out(response.status_code, response.headers.get("location")), path
    opened = set()
    for route in console_routes():
        if not isinstance(route, Route) or PUBLIC.match(route.path) or not route.methods:
            continue
        path = re.sub(r"\{[^}]*\}", "x", route.path.replace("{video_id}", video_id))
        method = next(iter(route.methods - {"HEAD"}))
        response = await guest.client.request(method, path, headers=FRAGMENT)
        if response.status_code != 204 or response.headers.get("hx-redirect") != "/sign-in":
            opened.add(route.path)
    assert {each for each in opened if not each.startswith("/videos/{video_id}/studio")} <= {"/"}, opened
    assert (await guest.client.get(f"/v1/videos/{video_id}")).status_code == 401
    assert "signed-out" in (await guest.client.get("/events", params={"library": person.library_id})).text


async def test_cookie_of_one_video_opens_no_other(
    open_link: OpenLink, video_id: str, accounts: Accounts, person: Person
) -> None:
    guest = await open_link(GuestRole.VIEW)
    other = await put_video(accounts, person.library_id, title="Other", spoken="No.")
    token = guest.client.cookies[f"cutroom-guest-{video_id}"]
    for forged in (token, token[:-2], "x" + token, f"{person.library_id}.", "\xfc", "a" * 3_000):
        sent = httpx.Headers({"Cookie": f"cutroom-guest-{other}={forged}"}, encoding="latin-1")
        transport = guest.client._transport
        async with httpx.AsyncClient(transport=transport, base_url="http://cutroom.test") as client:
            response = await client.get(comments_of(other), headers=sent)
        assert is_signed_out(response.status_code, response.headers.get("location"))


@pytest.mark.parametrize(
    "end",
    [
        "UPDATE review_links SET expires_at = now() WHERE video_id = $1",
        "DELETE FROM review_links WHERE video_id = $1",
        "UPDATE videos SET deleted_at = now() WHERE id = $1",
        "DELETE FROM members WHERE library_id = (SELECT library_id FROM videos WHERE id = $1)",
    ],
    ids=["expired", "revoked", "video in the trash", "creator has left"],
)
async def test_access_ends_at_once(open_link: OpenLink, video_id: str, accounts: Accounts, end: str) -> None:
    guest = await open_link(GuestRole.COMMENT)
    token = guest.form_token(await guest.get(comments_of(video_id)))
    await accounts.connection.execute(end, video_id)
    for path in (comments_of(video_id), f"/videos/{video_id}/studio/presence"):
        response = await guest.get(path)
        assert is_signed_out(response.status_code, response.headers.get("location"))
    sent = await guest.client.post(comments_of(video_id), data={"csrf": token, "text": "Late", "time": "1"})
    assert is_signed_out(sent.status_code, sent.headers.get("location"))
    assert not await accounts.connection.fetchval("SELECT count(*) FROM review_comments WHERE video_id = $1", video_id)


async def test_suspended_library_is_closed_to_guests(
    open_link: OpenLink, video_id: str, accounts: Accounts, person: Person
) -> None:
    guest = await open_link(GuestRole.VIEW)
    await accounts.connection.execute("UPDATE libraries SET suspended_at = now() WHERE id = $1", person.library_id)
    closed = await guest.get(comments_of(video_id))
    assert (closed.status_code, "Ask the sender of the link" in closed.text) == (403, True)


async def test_unknown_expired_and_revoked_links_look_the_same(
    new_browser: NewBrowser, put_link: PutLink, video_id: str
) -> None:
    expired = await put_link(video_id, GuestRole.VIEW, days=-1)
    browser, pages = new_browser(), []
    for secret in (expired, "rev_unknown", "x", "%00"):
        page = await browser.get(f"/review/{secret}")
        assert page.status_code == 404, secret
        pages.append(page.text)
    assert pages[0] == pages[1] == pages[2]


async def test_guesses_are_limited(
    new_browser: NewBrowser, put_link: PutLink, video_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = replace(guest_entry.ATTEMPTS_PER_ADDRESS, requests=3, seconds=24 * 3600)
    monkeypatch.setattr(guest_entry, "ATTEMPTS_PER_ADDRESS", slow)
    browser = new_browser()
    codes = [(await browser.get(f"/review/rev_{number}")).status_code for number in range(4)]
    assert codes == [404, 404, 404, 429]
    secret = await put_link(video_id, GuestRole.VIEW)
    assert (await browser.get(f"/review/{secret}")).status_code == 429
    assert (await new_browser().get(f"/review/{secret}")).status_code == 200


async def test_forms_need_the_token_of_the_guest(
    open_link: OpenLink, new_browser: NewBrowser, put_link: PutLink, video_id: str
) -> None:
    secret = await put_link(video_id, GuestRole.VIEW)
    outsider = new_browser()
    await outsider.get(f"/review/{secret}")
    assert (await outsider.client.post(f"/review/{secret}", data={"name": "Ana"})).status_code == 403
    first, second = await open_link(GuestRole.COMMENT), await open_link(GuestRole.COMMENT)
    token = first.form_token(await first.get(comments_of(video_id)))
    for data in ({}, {"csrf": token}, {"csrf": "00"}):
        sent = await second.client.post(comments_of(video_id), data={**data, "text": "x", "time": "1"})
        assert sent.status_code == 403
    cross = await first.client.post(
        comments_of(video_id),
        data={"csrf": token, "text": "x", "time": "1"},
        headers={"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"},
    )
    assert cross.status_code == 403


async def test_members_stay_members_with_a_link(
    browser: Browser, put_link: PutLink, video_id: str, accounts: Accounts, sign_in: SignIn
) -> None:
    secret = await put_link(video_id, GuestRole.VIEW)
    opened = await browser.get(f"/review/{secret}")
    assert (opened.status_code, opened.headers["location"]) == (303, f"/videos/{video_id}/studio")
    # A person with an account elsewhere is a guest here, and keeps their own pages.
    elsewhere = await sign_in(await accounts.person())
    entry = await elsewhere.get(f"/review/{secret}")
    guest = GuestBrowser(elsewhere.client)
    sent = await guest.client.post(f"/review/{secret}", data={"csrf": guest.form_token(entry), "name": "Rui"})
    assert sent.status_code == 303
    page = await guest.get(comments_of(video_id))
    assert (page.status_code, "Reviewing as Rui" in page.text) == (200, True)
    assert (await guest.get("/library")).status_code == 200
    assert (await guest.get(f"/videos/{video_id}")).status_code == 404


async def test_members_of_the_library_keep_their_rights_beside_a_guest_cookie(
    browser: Browser, put_link: PutLink, video_id: str
) -> None:
    secret = await put_link(video_id, GuestRole.VIEW)
    guest = GuestBrowser(browser.client)
    token = await browser.token()
    assert (await guest.client.post(f"/review/{secret}", data={"csrf": token, "name": "X"})).status_code == 303
    page = await guest.get(comments_of(video_id))
    assert ("Reviewing as" not in page.text, "Add comment" in page.text) == (True, True)


def guest_principal(person: Person, runtime: Runtime, video_id: str) -> Principal:
    """With every right that a guest does not have, so that only the last check is left."""
    plans = runtime.authenticator.plans
    return Principal(
        id="link",
        user_id=person.user_id,
        library_id=person.library_id,
        workspace_id=None,
        role=Role.OWNER,
        plan=next(iter(plans.values())),
        suspended=False,
        scopes=frozenset(ALL_SCOPES),
        kind=PrincipalKind.GUEST,
        video_id=video_id,
    )


async def test_guest_spends_nothing(runtime: Runtime, person: Person, video_id: str) -> None:
    guest, now, prices = guest_principal(person, runtime, video_id), system_clock(), load_prices()
    charge = Charge(items=(BillableItem(Action.CAPTIONS, "", "pt"),), is_subscriber=False)
    job = NewJob(JobKey(JobType.CAPTIONS, video_id, "pt"), video_id, charge=charge)
    bundle = RatedBundle(CreditBundle.model_validate({"dubs": [{"languages": ["pt"]}]}))
    async with runtime.database.transaction(person.library_id) as connection:
        with pytest.raises(CutroomError) as refused:
            await create_jobs(connection, guest, [job], prices=prices, now=now)
        assert refused.value.code is Code.ROLE_CANNOT_PRODUCE
        with pytest.raises(CutroomError) as refused:
            await reserve(
                connection, guest, video_id, rated=bundle, prices=prices, lifetime=system_clock() - now, now=now
            )
        assert refused.value.code is Code.ROLE_CANNOT_PRODUCE
    declared = operation_of(dubs.create_dubs)
    assert declared.access is Access.PRODUCE
    with pytest.raises(CutroomError):
        declared.authorize(guest)
    operation_of(transcript_editing.edit_transcript).authorize(guest)


async def test_guest_reads_no_other_video(runtime: Runtime, person: Person, video_id: str, accounts: Accounts) -> None:
    other = await put_video(accounts, person.library_id, title="Other", spoken="No.")
    guest = guest_principal(person, runtime, video_id)
    async with runtime.database.transaction(person.library_id) as connection:
        assert (await get_video(connection, guest, video_id)).id == video_id
        with pytest.raises(CutroomError):
            await get_video(connection, guest, other)
