"""Tests the library's own bucket on the storage page."""

from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.platform.ids import new_id
from dev.scratch import Accounts, Person
from tests.console.conftest import Browser

FORM = {
    "endpoint": "https://store.example.com",
    "region": "auto",
    "bucket": "outputs",
    "accessKeyId": "example",
    "secretAccessKey": "my-long-secret",
}


async def test_bucket_is_saved_shown_and_removed(browser: Browser) -> None:
    saved = await browser.post("/storage/bucket", FORM)
    assert (saved.status_code, saved.headers["location"]) == (303, "/storage?notice=bucket-saved#bucket")
    shown = (await browser.get("/storage")).text
    assert 'value="https://store.example.com"' in shown
    assert "my-long-secret" not in shown
    assert "Remove bucket" in shown
    assert (await browser.post("/storage/bucket/delete")).status_code == 303
    assert "Remove bucket" not in (await browser.get("/storage")).text


async def test_refused_bucket_keeps_what_was_typed(browser: Browser) -> None:
    refused = await browser.post("/storage/bucket", {**FORM, "endpoint": "https://127.0.0.1"})
    assert refused.status_code == 400
    assert "The URL must be reachable from the public internet." in refused.text
    assert 'value="https://127.0.0.1"' in refused.text
    assert "my-long-secret" not in refused.text


async def test_failed_copy_is_retried(browser: Browser, accounts: Accounts, person: Person) -> None:
    copy_id = new_id()
    row = {"library_id": person.library_id, "id": copy_id, "job_id": f"shorts_{copy_id}", "video_id": new_id()}
    state = {"status": "failed", "error_message": "The bucket does not exist.", "created_at": system_clock()}
    await insert(accounts.connection, "output_copies", {**row, **state})
    assert "Failed: The bucket does not exist." in (await browser.get("/storage")).text
    assert (await browser.post(f"/storage/copies/{copy_id}/retry")).status_code == 303
    assert "Copying" in (await browser.get("/storage")).text
