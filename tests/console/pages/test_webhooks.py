"""Tests the webhooks and credits pages."""

import re

from cutroom.credits import ledger
from cutroom.platform.clock import system_clock
from cutroom.platform.ids import new_id
from cutroom.webhooks.deliveries import AttemptRecord, Delivery, record_attempt
from cutroom.webhooks.publishing import publish_event
from cutroom.webhooks.rules import DeliveryOutcome
from dev.scratch import Accounts, Person
from tests.console.conftest import Browser, SignIn
from tests.console.pages.test_video_editing import opened


async def register(browser: Browser, url: str = "https://hooks.example.com/<b>") -> str:
    response = await browser.post("/webhooks", {"url": url, "events": ["job.ready", "job.failed"]})
    assert response.status_code == 200
    assert "whsec_" in response.text
    return str(re.findall(r'href="/webhooks/(\w{26})"', response.text)[0])


async def test_endpoint_secret_is_shown_once(browser: Browser) -> None:
    endpoint_id = await register(browser)
    page = (await browser.get(f"/webhooks/{endpoint_id}")).text
    assert "whsec_" not in page
    assert "https://hooks.example.com/&lt;b&gt;" in page
    assert (
        await browser.post("/webhooks", {"url": "http://plain.example", "events": ["job.ready"]})
    ).status_code == 400
    assert (
        await browser.post("/webhooks", {"url": "https://hooks.example.com/<b>", "events": ["job.ready"]})
    ).status_code == 409
    assert (await browser.post(f"/webhooks/{endpoint_id}/delete")).status_code == 303
    assert (await browser.get(f"/webhooks/{endpoint_id}")).status_code == 404


async def test_endpoint_is_edited_without_lost_updates(browser: Browser, sign_in: SignIn, accounts: Accounts) -> None:
    endpoint_id = await register(browser)
    path = f"/webhooks/{endpoint_id}/edit"
    fields = await opened(browser, path)
    change: dict[str, str | list[str]] = {"url": "https://new.example.com/", "events": ["job.ready", "job.failed"]}
    assert (await browser.client.post(path, data={**fields, **change})).status_code == 303
    url, events = (f"SELECT {name} FROM webhook_endpoints WHERE id = $1" for name in ("url", "events"))  # noqa: S608
    assert await accounts.connection.fetchval(url, endpoint_id) == change["url"]
    assert await accounts.connection.fetchval(events, endpoint_id) == change["events"]
    late = {**fields, "url": "https://late.example.com/", "events": ["job.ready"]}
    refused = await browser.client.post(path, data=late)
    assert refused.status_code == 409
    assert "Someone else changed this in the meantime." in refused.text
    assert "https://new.example.com/</p>" in refused.text
    assert 'value="https://late.example.com/"' in refused.text
    assert 'value="job.failed" checked' not in refused.text
    again = await opened(browser, path)
    for address, chosen in (("http://plain.example", ["job.ready"]), ("https://new.example.com/", [])):
        wrong = {**again, "url": address, "events": chosen}
        assert (await browser.client.post(path, data=wrong)).status_code == 400
    outsider = await sign_in(await accounts.person())
    for address, status in {
        path: 404,
        f"/webhooks/{endpoint_id}/disable": 404,
        f"/webhooks/{endpoint_id}/delete": 403,
    }.items():
        assert (await outsider.post(address, change)).status_code == status
        assert (await browser.client.post(address, data=change)).status_code == 403
    assert await accounts.connection.fetchval(url, endpoint_id) == change["url"]


async def test_endpoint_is_disabled_and_enabled(browser: Browser) -> None:
    endpoint_id = await register(browser)
    assert (await browser.post(f"/webhooks/{endpoint_id}/disable")).status_code == 303
    page = (await browser.get(f"/webhooks/{endpoint_id}")).text
    assert 'class="error">Disabled.' in page
    assert "/disable" not in page
    assert (await browser.post(f"/webhooks/{endpoint_id}/enable")).status_code == 303
    page = (await browser.get(f"/webhooks/{endpoint_id}")).text
    assert "/disable" in page
    assert 'class="error">Disabled.' not in page


async def test_event_types_are_chosen_on_registration(browser: Browser, accounts: Accounts) -> None:
    endpoint_id = await register(browser)
    sql = "SELECT events FROM webhook_endpoints WHERE id = $1"
    assert await accounts.connection.fetchval(sql, endpoint_id) == ["job.ready", "job.failed"]
    refused = await browser.post("/webhooks", {"url": "https://other.example.com/"})
    assert refused.status_code == 400
    assert 'value="https://other.example.com/"' in refused.text


async def delivered_once(accounts: Accounts, person: Person, endpoint_id: str) -> str:
    """A test event was refused by the endpoint."""
    sql = "SELECT event_id FROM webhook_deliveries WHERE library_id = $1 AND endpoint_id = $2"
    event_id: str = await accounts.connection.fetchval(sql, person.library_id, endpoint_id)
    delivery = Delivery(person.library_id, event_id, endpoint_id, retries=False)
    attempt = AttemptRecord(
        number=1,
        at=system_clock(),
        status=500,
        outcome=DeliveryOutcome.REFUSED,
        milliseconds=12,
        url="https://hooks.example.com/<b>",
        response_body="<i>down</i>",
    )
    await record_attempt(accounts.connection, delivery, attempt)
    return event_id


async def test_test_event_and_redelivery_go_to_that_endpoint_only(
    browser: Browser, accounts: Accounts, person: Person
) -> None:
    endpoint_id = await register(browser)
    await register(browser, "https://other.example.com/")
    assert (await browser.post(f"/webhooks/{endpoint_id}/test")).status_code == 303
    event_id = await delivered_once(accounts, person, endpoint_id)
    page = (await browser.get(f"/webhooks/{endpoint_id}")).text
    assert "endpoint.test" in page
    assert "refused, 500" in page
    assert f'id="redeliver-{event_id}"' in page  # keeps the focus when the log is replaced
    details = (await browser.get(f"/webhooks/{endpoint_id}/deliveries/{event_id}")).text
    assert "&lt;i&gt;down&lt;/i&gt;" in details
    assert "This is a test event." in details
    assert f"webhook-id: {event_id}" in details
    again = await browser.post(f"/webhooks/{endpoint_id}/deliveries/{event_id}/redeliver")
    assert again.status_code == 303
    starts = await accounts.connection.fetch(
        "SELECT workflow_id, argument FROM outbox WHERE library_id = $1 AND workflow = 'deliver-webhook' ORDER BY id",
        person.library_id,
    )
    assert [row["argument"]["event_id"] for row in starts] == [event_id, event_id]
    assert len({row["workflow_id"] for row in starts}) == 2
    assert all(row["argument"]["endpoint_id"] == endpoint_id for row in starts)
    await accounts.connection.execute("DELETE FROM outbox WHERE library_id = $1", person.library_id)


async def test_failed_deliveries_are_recovered(browser: Browser, accounts: Accounts, person: Person) -> None:
    endpoint_id = await register(browser)
    connection, library_id = accounts.connection, person.library_id
    event_id = await publish_event(connection, library_id, type="job.ready", data={}, now=system_clock())
    await connection.execute("UPDATE webhook_deliveries SET state = 'failed' WHERE event_id = $1", event_id)
    assert (await browser.post(f"/webhooks/{endpoint_id}/recover", {"hours": "2"})).status_code == 400
    assert (await browser.post(f"/webhooks/{endpoint_id}/recover", {"hours": "24"})).status_code == 303
    state = await connection.fetchval("SELECT state FROM webhook_deliveries WHERE event_id = $1", event_id)
    assert state == "pending"
    await connection.execute("DELETE FROM outbox WHERE library_id = $1", library_id)


async def test_secret_is_replaced_and_shown_once(browser: Browser) -> None:
    endpoint_id = await register(browser)
    rotated = await browser.post(f"/webhooks/{endpoint_id}/rotate", {"hours": "72"})
    assert rotated.status_code == 200
    assert "whsec_" in rotated.text
    assert "whsec_" not in (await browser.get(f"/webhooks/{endpoint_id}")).text
    refused = await browser.post(f"/webhooks/{endpoint_id}/rotate", {"hours": "24"})
    assert refused.status_code == 409
    assert "whsec_" not in refused.text
    assert "whsec_" in (await browser.post(f"/webhooks/{endpoint_id}/rotate", {"hours": "0"})).text


async def test_only_its_creator_acts_on_an_endpoint(browser: Browser, accounts: Accounts, sign_in: SignIn) -> None:
    endpoint_id = await register(browser)
    other = await sign_in(await accounts.person())
    for action in ("test", "rotate", f"deliveries/{new_id()}/redeliver"):
        assert (await other.post(f"/webhooks/{endpoint_id}/{action}", {"hours": "24"})).status_code == 404


async def test_disabled_endpoint_is_enabled_by_its_owner(browser: Browser, sign_in: SignIn, accounts: Accounts) -> None:
    endpoint_id = await register(browser)
    assert ">Enable<" not in (await browser.get(f"/webhooks/{endpoint_id}")).text
    sql = "UPDATE webhook_endpoints SET disabled_at = now(), disabled_reason = 'It was <b>gone</b>.' WHERE id = $1"
    await accounts.connection.execute(sql, endpoint_id)
    page = (await browser.get(f"/webhooks/{endpoint_id}")).text
    assert "It was &lt;b&gt;gone&lt;/b&gt;." in page
    assert ">Enable<" in page
    outsider = await sign_in(await accounts.person())
    assert (await outsider.post(f"/webhooks/{endpoint_id}/enable")).status_code == 404
    assert (await browser.post(f"/webhooks/{endpoint_id}/enable")).status_code == 303
    assert ">Enable<" not in (await browser.get(f"/webhooks/{endpoint_id}")).text


async def test_event_of_another_library_cannot_be_redelivered(
    browser: Browser, accounts: Accounts, sign_in: SignIn
) -> None:
    outsider = await accounts.person()
    other = await sign_in(outsider)
    await other.post(f"/webhooks/{await register(other)}/test")
    sql = "SELECT event_id FROM webhook_deliveries WHERE library_id = $1"
    foreign = await accounts.connection.fetchval(sql, outsider.library_id)
    endpoint_id = await register(browser)
    assert (await browser.post(f"/webhooks/{endpoint_id}/deliveries/{foreign}/redeliver")).status_code == 404
    assert (await browser.get(f"/webhooks/{endpoint_id}/deliveries/{foreign}")).status_code == 404


async def test_credits_page_shows_balance_and_statement(browser: Browser, accounts: Accounts, person: Person) -> None:
    await ledger.grant(
        accounts.connection, person.library_id, millicredits=12_500, reference="invoice <7>", now=system_clock()
    )
    page = (await browser.get("/credits")).text
    assert "12.5 credits" in page
    assert "invoice &lt;7&gt;" in page
    assert "Dub with stock voices" in page
