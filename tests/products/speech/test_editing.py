"""Changing voice clones."""

from typing import Any

import httpx
import pytest

from cutroom.capabilities.rules import stock_voice_id
from dev.scratch import Accounts
from tests.products.speech.conftest import VoiceFactory

STOCK = stock_voice_id("fake", "af_one")


async def _without_signature(api: httpx.AsyncClient, url: str) -> dict[str, Any]:
    """The voice without its preview, whose signature changes with the time."""
    voice: dict[str, Any] = (await api.get(url)).json()
    assert voice.pop("preview_url")
    return voice


async def test_clone_is_renamed_described_and_labeled(api: httpx.AsyncClient, voices: VoiceFactory) -> None:
    url = f"/voices/{await voices.create('ready', is_approximate=False)}"
    before = await _without_signature(api, url)
    body = {"name": " Ana ", "description": " Warm. ", "labels": {"language": "pt", "gender": "female"}}
    changed = await api.patch(url, json=body)
    assert changed.status_code == 200, changed.text
    expected = {"name": "Ana", "description": "Warm.", "labels": body["labels"]}
    assert changed.json().keys() == {*before, *expected, "preview_url"}
    assert await _without_signature(api, url) == {**before, **expected}
    cleared = (await api.patch(url, json={"description": None, "labels": None})).json()
    assert ("description" in cleared, cleared["labels"], cleared["name"]) == (False, {}, "Ana")


@pytest.mark.parametrize("status", ["processing", "failed"])
async def test_clone_in_any_state_can_be_changed(api: httpx.AsyncClient, voices: VoiceFactory, status: str) -> None:
    url = f"/voices/{await voices.create(status)}"
    changed = await api.patch(url, json={"name": "Ana"})
    assert (changed.status_code, changed.json()["name"], changed.json()["status"]) == (200, "Ana", status)


async def test_progress_of_a_clone_is_no_new_revision(
    api: httpx.AsyncClient, voices: VoiceFactory, accounts: Accounts
) -> None:
    voice_id = await voices.create("processing")
    before = (await api.get(f"/voices/{voice_id}")).headers["etag"]
    await accounts.connection.execute("UPDATE voices SET engine = 'x', pitch_hz = 100 WHERE id = $1", voice_id)
    assert (await api.get(f"/voices/{voice_id}")).headers["etag"] == before


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"name": " "}, "name"),
        ({"name": "x" * 101}, "name"),
        ({"description": "x" * 1_001}, "description"),
        ({"labels": "pt"}, "labels"),
        ({"labels": {"language": 7}}, "labels.language"),
        ({"labels": {f"label{n}": "x" for n in range(17)}}, "labels"),
    ],
)
async def test_invalid_change_is_rejected_with_field(
    api: httpx.AsyncClient, voices: VoiceFactory, body: dict[str, object], path: str
) -> None:
    refused = await api.patch(f"/voices/{await voices.create('ready')}", json=body)
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "INVALID_ARGUMENT")
    assert [each["path"] for each in refused.json()["error"]["details"]["fields"]] == [path]


@pytest.mark.usefixtures("voices")
async def test_stock_voice_has_no_etag_and_cannot_be_changed(api: httpx.AsyncClient) -> None:
    found = await api.get(f"/voices/{STOCK}")
    assert (found.status_code, "etag" in found.headers) == (200, False)
    assert (await api.patch(f"/voices/{STOCK}", json={"name": "Mine"})).status_code == 404
    assert (await api.delete(f"/voices/{STOCK}")).status_code == 404


async def test_stale_deletion_keeps_the_clone(api: httpx.AsyncClient, voices: VoiceFactory) -> None:
    url = f"/voices/{await voices.create('ready')}"
    stale = (await api.get(url)).headers["etag"]
    await api.patch(url, json={"name": "Ana"})
    assert (await api.delete(url, headers={"If-Match": stale})).status_code == 409
    current = (await api.get(url)).headers["etag"]
    sdk = {"If-Match": current, "X-Fern-SDK-Name": "elevenlabs"}
    assert (await api.delete(url, headers=sdk)).json() == {"status": "ok"}
