"""Tests passkeys with a software authenticator: each attack changes one thing of a sign-in that works."""

import json
from datetime import timedelta
from typing import Any

import httpx
import pytest

from cutroom.accounts.passkeys.rules import PasskeySite
from cutroom.accounts.passkeys.service import MAX_PASSKEYS
from dev.scratch import Accounts, Person
from tests.conftest import MovableClock
from tests.console.conftest import PASSWORD, Browser
from tests.console.mail_stage import PUBLIC_URL, MailStage
from tests.support.devices.software_authenticator import USER_PRESENT, SoftwareAuthenticator, decode, encode

SESSION = "cutroom-session"


@pytest.fixture
async def person(accounts: Accounts, hashed: str) -> Person:
    """A user with a password."""
    made = await accounts.person()
    await accounts.connection.execute("SELECT set_password($1, $2, now())", made.user_id, hashed)
    return made


@pytest.fixture
async def signed_in(stage: MailStage, person: Person) -> Browser:
    browser = stage.browser()
    assert (await browser.sign_in(person)).status_code == 303
    return browser


@pytest.fixture
async def device(signed_in: Browser) -> SoftwareAuthenticator:
    """A device whose passkey is registered."""
    made = SoftwareAuthenticator(PUBLIC_URL)
    assert (await register(signed_in, made)).headers["location"] == "/account/passkeys?notice=added"
    return made


async def ask(browser: Browser, path: str, fields: dict[str, str] | None = None) -> dict[str, Any]:
    response = await browser.post(path, fields)
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


async def register(browser: Browser, device: SoftwareAuthenticator, **changes: str) -> httpx.Response:
    answer = await ask(browser, "/account/passkeys/options", {"password": PASSWORD})
    fields = {"credential": device.create(answer["options"]), "state": answer["state"], "name": "Laptop", **changes}
    return await browser.post("/account/passkeys", fields)


async def enter(browser: Browser, device: SoftwareAuthenticator, **changes: str) -> int:
    answer = await ask(browser, "/sign-in/passkey/options")
    fields = {"credential": device.get(answer["options"]), "state": answer["state"], "next": "/account", **changes}
    return (await browser.post("/sign-in/passkey", fields)).status_code


async def test_passkey_signs_in_and_is_logged(
    stage: MailStage, device: SoftwareAuthenticator, person: Person, accounts: Accounts
) -> None:
    browser = stage.browser()
    assert await enter(browser, device) == 303
    page = await browser.get("/account/passkeys")
    assert person.email in page.text
    assert "Laptop" in page.text
    rows = await accounts.connection.fetch(
        "SELECT action FROM audit_entries WHERE library_id = $1 ORDER BY sequence", person.library_id
    )
    assert [row["action"] for row in rows] == ["session.create", "passkey.create", "passkey.use", "session.create"]
    assert "passkey was added" in (await stage.mails_to(person.email))[-1]["Subject"]


async def test_signature_cannot_be_replayed(stage: MailStage, device: SoftwareAuthenticator) -> None:
    browser = stage.browser()
    device.sign_count = -1  # like devices that do not count
    answer = await ask(browser, "/sign-in/passkey/options")
    fields = {"credential": device.get(answer["options"]), "state": answer["state"]}
    csrf = await browser.token("/sign-in")
    cookies = dict(browser.client.cookies)
    assert (await browser.client.post("/sign-in/passkey", data={"csrf": csrf, **fields})).status_code == 303
    browser.client.cookies.clear()
    browser.client.cookies.update(cookies)
    assert (await browser.client.post("/sign-in/passkey", data={"csrf": csrf, **fields})).status_code == 401


async def test_challenge_is_bound_to_the_browser(stage: MailStage, device: SoftwareAuthenticator) -> None:
    victim, thief = stage.browser(), stage.browser()
    answer = await ask(victim, "/sign-in/passkey/options")
    fields = {"credential": device.get(answer["options"]), "state": answer["state"]}
    assert (await thief.post("/sign-in/passkey", fields)).status_code == 401
    assert SESSION not in thief.client.cookies


async def test_challenge_expires(stage: MailStage, device: SoftwareAuthenticator, clock: MovableClock) -> None:
    browser = stage.browser()
    answer = await ask(browser, "/sign-in/passkey/options")
    clock.shift = timedelta(minutes=6)
    fields = {"credential": device.get(answer["options"]), "state": answer["state"]}
    assert (await browser.post("/sign-in/passkey", fields)).status_code == 401


async def test_challenge_of_a_registration_does_not_sign_in(device: SoftwareAuthenticator, signed_in: Browser) -> None:
    answer = await ask(signed_in, "/account/passkeys/options", {"password": PASSWORD})
    options = {**answer["options"], "rpId": answer["options"]["rp"]["id"]}
    fields = {"credential": device.get(options), "state": answer["state"]}
    assert (await signed_in.post("/sign-in/passkey", fields)).status_code == 401


async def test_signature_of_another_site_is_refused(stage: MailStage, device: SoftwareAuthenticator) -> None:
    device.origin = "https://evil.example"
    assert await enter(stage.browser(), device) == 401
    device.origin = PUBLIC_URL
    browser = stage.browser()
    answer = await ask(browser, "/sign-in/passkey/options")
    fields = {"credential": device.get({**answer["options"], "rpId": "evil.example"}), "state": answer["state"]}
    assert (await browser.post("/sign-in/passkey", fields)).status_code == 401


async def test_person_must_be_verified(stage: MailStage, device: SoftwareAuthenticator, signed_in: Browser) -> None:
    device.flags = USER_PRESENT
    assert await enter(stage.browser(), device) == 401
    unverified = SoftwareAuthenticator(PUBLIC_URL, flags=USER_PRESENT)
    assert (await register(signed_in, unverified)).status_code == 400


async def test_other_key_is_refused(stage: MailStage, device: SoftwareAuthenticator) -> None:
    forged = SoftwareAuthenticator(PUBLIC_URL, credential_id=device.credential_id)
    forged.sign_count = 100
    assert await enter(stage.browser(), forged) == 401
    assert await enter(stage.browser(), SoftwareAuthenticator(PUBLIC_URL)) == 401  # not registered


async def test_cloned_device_is_refused_once_the_original_was_used(
    stage: MailStage, device: SoftwareAuthenticator
) -> None:
    clone = device.clone()
    assert await enter(stage.browser(), device) == 303
    assert await enter(stage.browser(), clone) == 401


async def test_changed_signature_is_refused(stage: MailStage, device: SoftwareAuthenticator) -> None:
    browser = stage.browser()
    answer = await ask(browser, "/sign-in/passkey/options")
    credential = json.loads(device.get(answer["options"]))
    data = bytearray(decode(credential["response"]["authenticatorData"]))
    data[-1] += 1
    credential["response"]["authenticatorData"] = encode(bytes(data))
    fields = {"credential": json.dumps(credential), "state": answer["state"]}
    assert (await browser.post("/sign-in/passkey", fields)).status_code == 401


@pytest.mark.parametrize("credential", ["", "{", "[]", "{}", '{"id": 1}', '{"id": "!", "rawId": "!"}', "x" * 40_000])
async def test_malformed_credential_is_refused(
    stage: MailStage, device: SoftwareAuthenticator, signed_in: Browser, credential: str
) -> None:
    assert await enter(stage.browser(), device, credential=credential) == 401
    other = SoftwareAuthenticator(PUBLIC_URL)
    assert (await register(signed_in, other, credential=credential)).status_code == 400


@pytest.mark.parametrize("state", ["", "x", "é", "AAAA"])
async def test_forged_state_is_refused(
    stage: MailStage, device: SoftwareAuthenticator, signed_in: Browser, state: str
) -> None:
    assert await enter(stage.browser(), device, state=state) == 401
    assert (await register(signed_in, SoftwareAuthenticator(PUBLIC_URL), state=state)).status_code == 400


async def test_stolen_session_cannot_add_a_passkey(signed_in: Browser) -> None:
    refused = await signed_in.post("/account/passkeys/options", {"password": "guess"})
    assert refused.status_code == 403
    answer = await ask(signed_in, "/sign-in/passkey/options")  # a challenge that needs no password
    device = SoftwareAuthenticator(PUBLIC_URL)
    options = {**answer["options"], "rp": {"id": answer["options"]["rpId"]}}
    fields = {"credential": device.create(options), "state": answer["state"], "name": "x"}
    assert (await signed_in.post("/account/passkeys", fields)).status_code == 400


async def test_passkey_is_registered_once(
    stage: MailStage, device: SoftwareAuthenticator, signed_in: Browser, accounts: Accounts, hashed: str
) -> None:
    assert (await register(signed_in, device)).status_code == 409
    other = await accounts.person()
    await accounts.connection.execute("SELECT set_password($1, $2, now())", other.user_id, hashed)
    browser = stage.browser()
    await browser.sign_in(other)
    assert (await register(browser, device)).status_code == 409  # nor by another account


async def test_number_of_passkeys_is_bounded(
    device: SoftwareAuthenticator, signed_in: Browser, accounts: Accounts, person: Person
) -> None:
    await accounts.connection.execute(
        """INSERT INTO passkeys
               (library_id, id, credential_id, public_key, sign_count, name, created_at, last_challenge_at)
           SELECT $1, n::text, $3::text::bytea || n::text::bytea, '', 0, 'x', now(), now()
           FROM generate_series(2, $2) n""",
        person.library_id,
        MAX_PASSKEYS,
        device.credential_id.hex(),
    )
    refused = await signed_in.post("/account/passkeys/options", {"password": PASSWORD})
    assert refused.status_code == 409


async def test_deleted_passkey_no_longer_signs_in(
    stage: MailStage, device: SoftwareAuthenticator, signed_in: Browser, accounts: Accounts, person: Person
) -> None:
    passkey_id = await accounts.connection.fetchval("SELECT id FROM passkeys WHERE library_id = $1", person.library_id)
    other = await accounts.person()
    await accounts.connection.execute(
        "INSERT INTO user_passwords SELECT $1, hash, now() FROM user_passwords WHERE user_id = $2",
        other.user_id,
        person.user_id,
    )
    attacker = stage.browser()
    await attacker.sign_in(other)
    assert (await attacker.post(f"/account/passkeys/{passkey_id}/delete")).status_code == 404
    assert (await signed_in.post(f"/account/passkeys/{passkey_id}/delete")).status_code == 303
    assert await enter(stage.browser(), device) == 401


@pytest.mark.usefixtures("slow_refill")
async def test_attempts_are_throttled(stage: MailStage) -> None:
    browser, device = stage.browser(), SoftwareAuthenticator(PUBLIC_URL)
    statuses = [await enter(browser, device) for _ in range(11)]
    assert statuses == [401] * 10 + [429]


async def test_options_reveal_no_account(stage: MailStage) -> None:
    options = (await ask(stage.browser(), "/sign-in/passkey/options"))["options"]
    assert options["allowCredentials"] == []
    assert options["userVerification"] == "required"


@pytest.mark.parametrize(
    ("url", "site"),
    [
        ("https://cutroom.example.com", PasskeySite("cutroom.example.com", "https://cutroom.example.com")),
        ("http://localhost:8700", PasskeySite("localhost", "http://localhost:8700")),
        ("http://cutroom.example.com", None),
        ("https://192.0.2.1", None),
        ("http://127.0.0.1:8700", None),
        ("https://[::1]", None),
    ],
)
def test_passkeys_need_a_host_name_and_tls(url: str, site: PasskeySite | None) -> None:
    assert PasskeySite.of(url) == site


async def test_pages_do_not_exist_where_browsers_refuse_passkeys(browser: Browser) -> None:
    assert (await browser.get("/account/passkeys")).status_code == 404
    assert (await browser.post("/sign-in/passkey/options")).status_code == 404
    assert "/account/passkeys" not in (await browser.get("/account")).text
