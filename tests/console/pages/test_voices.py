"""Tests the voices page."""

import pytest

from cutroom.accounts.plans import PlanName
from cutroom.accounts.principals import Role
from cutroom.capabilities.rules import stock_voice_id
from cutroom.platform.clock import system_clock
from dev.scratch import Accounts, Person
from tests.console.conftest import Browser, SignIn

MARKUP = "<script>alert(1)</script>"
WAVE = ("sample", "me.wav", b"RIFF\x24\x00\x00\x00WAVE" + bytes(32))
AGREED = {"name": "Ana", "consent": "on"}


async def count(accounts: Accounts, person: Person, *, of: str = "voices") -> int:
    sql = f"SELECT count(*) FROM {of} WHERE library_id = $1"  # noqa: S608 (a name of ours)
    found: int = await accounts.connection.fetchval(sql, person.library_id)
    return found


async def test_clone_with_consent_records_the_user(browser: Browser, accounts: Accounts, person: Person) -> None:
    response = await browser.send("/voices", {**AGREED, "name": MARKUP}, WAVE)
    assert response.status_code == 303, response.text
    consents = "SELECT user_id FROM voice_consents WHERE library_id = $1"
    assert await accounts.connection.fetchval(consents, person.library_id) == person.user_id
    page = (await browser.get("/voices")).text
    assert MARKUP not in page
    assert "&lt;script&gt;" in page
    assert 'data-live="voices" hx-get="/voices" hx-trigger="live, saved from:body"' in page


@pytest.mark.parametrize(
    ("fields", "files", "words"),
    [
        ({"name": "Ana"}, [WAVE], "Confirm that the person has agreed."),
        (AGREED, [], "Record a sample or choose a file."),
        (AGREED, [("sample", "empty.wav", b"")], "The file is empty."),
        ({**AGREED, "name": ""}, [WAVE], "at least 1 character"),
    ],
)
async def test_invalid_clone_form_shows_an_error_and_creates_nothing(
    browser: Browser,
    accounts: Accounts,
    person: Person,
    fields: dict[str, str],
    files: list[tuple[str, str, bytes]],
    words: str,
) -> None:
    response = await browser.send("/voices", fields, *files)
    assert response.status_code in {400, 403}
    assert words in response.text
    assert await count(accounts, person) == 0


async def test_voice_can_be_deleted_by_its_own_library_only(
    browser: Browser, sign_in: SignIn, accounts: Accounts, person: Person
) -> None:
    await browser.send("/voices", AGREED, WAVE)
    voice_id = await accounts.connection.fetchval("SELECT id FROM voices WHERE library_id = $1", person.library_id)
    outsider = await sign_in(await accounts.person())
    assert (await outsider.post(f"/voices/{voice_id}/delete")).status_code == 404
    assert (await browser.post(f"/voices/{voice_id}/delete")).status_code == 303
    assert "No voices yet" in (await browser.get("/voices")).text


async def test_stock_voices_can_be_tried_if_credits_suffice(browser: Browser, accounts: Accounts) -> None:
    voice_id = stock_voice_id("fake", "af_one")
    await accounts.connection.execute(
        """INSERT INTO stock_voices (id, engine, name, title, language, gender, age, seen_at)
           VALUES ($1, 'fake', 'af_one', 'One', 'en', 'female', 'young', $2) ON CONFLICT DO NOTHING""",
        voice_id,
        system_clock(),
    )
    page = (await browser.get("/voices")).text
    assert f'<option value="{voice_id}">One</option>' in page
    assert "Generate speech · 1 credit" in page
    csrf = await browser.token()
    fields = {"csrf": csrf, "voice": voice_id, "text": "Good morning."}
    refused = await browser.client.post("/voices/speak", data=fields, headers={"Accept": "application/json"})
    assert (refused.status_code, refused.json()["code"]) == (429, "INSUFFICIENT_CREDITS")


async def test_plan_without_speech_has_no_forms(sign_in: SignIn, accounts: Accounts) -> None:
    poor = await accounts.person(plan=PlanName.FREE)
    browser = await sign_in(poor)
    page = (await browser.get("/voices")).text
    assert "does not include voices" in page
    assert 'action="/voices' not in page
    assert (await browser.send("/voices", AGREED, WAVE)).status_code == 403
    assert await count(accounts, poor) == 0


async def test_viewer_can_list_but_not_create_voices(sign_in: SignIn, accounts: Accounts, person: Person) -> None:
    workspace_id, viewer = await accounts.workspace(person), await accounts.person()
    await accounts.member(workspace_id, viewer, role=Role.VIEWER)
    browser = await sign_in(viewer)
    await browser.post("/switch", {"library": workspace_id})
    page = (await browser.get("/voices")).text
    assert "Clone a voice" not in page
    assert "Generate speech" not in page
    assert (await browser.send("/voices", AGREED, WAVE)).status_code == 403


async def test_multipart_form_requires_the_csrf_token(browser: Browser) -> None:
    response = await browser.client.post("/voices", data=AGREED, files=[("sample", ("a.wav", b"RIFF"))])
    assert response.status_code == 403
