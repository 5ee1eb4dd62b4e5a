"""The page of voices: clones with consent, sentences that are tried, and what a plan does not include."""

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


async def test_a_recording_with_consent_begins_a_clone_and_keeps_who_said_so(
    browser: Browser, accounts: Accounts, person: Person
) -> None:
    answer = await browser.send("/voices", {**AGREED, "name": MARKUP}, WAVE)
    assert answer.status_code == 303, answer.text
    consents = "SELECT user_id FROM voice_consents WHERE library_id = $1"
    assert await accounts.connection.fetchval(consents, person.library_id) == person.user_id
    page = (await browser.get("/voices")).text
    assert MARKUP not in page
    assert "&lt;script&gt;" in page
    assert 'hx-trigger="every 2s"' in page  # it is being listened to


@pytest.mark.parametrize(
    ("fields", "files", "words"),
    [
        ({"name": "Ana"}, [WAVE], "Tick that the person has agreed."),
        (AGREED, [], "Record something, or choose a recording."),
        (AGREED, [("sample", "empty.wav", b"")], "The file is empty."),
        ({**AGREED, "name": ""}, [WAVE], "at least 1 character"),
    ],
)
async def test_what_cannot_be_cloned_is_told_on_the_page_and_begins_nothing(
    browser: Browser,
    accounts: Accounts,
    person: Person,
    fields: dict[str, str],
    files: list[tuple[str, str, bytes]],
    words: str,
) -> None:
    answer = await browser.send("/voices", fields, *files)
    assert answer.status_code in {400, 403}
    assert words in answer.text
    assert await count(accounts, person) == 0


async def test_a_clone_is_deleted_from_its_page_and_only_by_its_library(
    browser: Browser, sign_in: SignIn, accounts: Accounts, person: Person
) -> None:
    await browser.send("/voices", AGREED, WAVE)
    voice_id = await accounts.connection.fetchval("SELECT id FROM voices WHERE library_id = $1", person.library_id)
    stranger = await sign_in(await accounts.person())
    assert (await stranger.post(f"/voices/{voice_id}/delete")).status_code == 404
    assert (await browser.post(f"/voices/{voice_id}/delete")).status_code == 303
    assert "No voice yet" in (await browser.get("/voices")).text


async def test_voices_of_the_service_can_be_tried_and_no_credits_mean_no_sentence(
    browser: Browser, accounts: Accounts
) -> None:
    voice_id = stock_voice_id("fake", "af_one")
    await accounts.connection.execute(
        """INSERT INTO stock_voices (id, engine, name, title, language, gender, age, seen_at)
           VALUES ($1, 'fake', 'af_one', 'One', 'en', 'female', 'young', $2) ON CONFLICT DO NOTHING""",
        voice_id,
        system_clock(),
    )
    page = (await browser.get("/voices")).text
    assert f'<option value="{voice_id}">One</option>' in page
    assert "Say it, 1 credit" in page
    csrf = await browser.token()
    fields = {"csrf": csrf, "voice": voice_id, "text": "Good morning."}
    refused = await browser.client.post("/voices/speak", data=fields, headers={"Accept": "application/json"})
    assert (refused.status_code, refused.json()["code"]) == (429, "INSUFFICIENT_CREDITS")


async def test_a_plan_without_speech_shows_no_form_and_takes_no_recording(sign_in: SignIn, accounts: Accounts) -> None:
    poor = await accounts.person(plan=PlanName.FREE)
    browser = await sign_in(poor)
    page = (await browser.get("/voices")).text
    assert "does not include voices" in page
    assert 'action="/voices' not in page
    assert (await browser.send("/voices", AGREED, WAVE)).status_code == 403
    assert await count(accounts, poor) == 0


async def test_a_viewer_sees_voices_and_makes_none(sign_in: SignIn, accounts: Accounts, person: Person) -> None:
    workspace_id, viewer = await accounts.workspace(person), await accounts.person()
    await accounts.member(workspace_id, viewer, role=Role.VIEWER)
    browser = await sign_in(viewer)
    await browser.post("/switch", {"library": workspace_id})
    page = (await browser.get("/voices")).text
    assert "Clone a voice" not in page
    assert "Say it" not in page
    assert (await browser.send("/voices", AGREED, WAVE)).status_code == 403


async def test_a_form_with_files_needs_its_token(browser: Browser) -> None:
    answer = await browser.client.post("/voices", data=AGREED, files=[("sample", ("a.wav", b"RIFF"))])
    assert answer.status_code == 403
