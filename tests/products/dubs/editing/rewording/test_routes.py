"""Shorter wordings with a language model: a worker asks it in the background."""

import json
from collections.abc import Iterator

import pytest

from cutroom.accounts.scopes import Scope
from cutroom.engines.chat_client import ChatServer
from cutroom.engines.writing.chat_shortener import ChatShortener
from cutroom.products.dubs.editing.rewording import routes
from cutroom.products.dubs.editing.takes.workflow import TakesWorkflow
from tests.products.dubs.editing.conftest import Regenerator
from tests.support.servers import chat_server
from tests.support.servers.chat_server import KEY, MODEL

TEXT = "Na verdade, nós vamos fechar a comporta em seguida."
KNOWN = "Vamos fechar a comporta depois."
WRITTEN = "Vamos já fechar a comporta."


@pytest.fixture
def model(regenerator: Regenerator, monkeypatch: pytest.MonkeyPatch) -> Iterator[chat_server.ChatServer]:
    """A scripted language model that the workers and the API are configured with."""
    with chat_server.chat_server() as server:
        shortener = ChatShortener(ChatServer(server.url, MODEL, KEY))
        monkeypatch.setattr(regenerator.engines, "shortener", lambda: shortener, raising=False)
        monkeypatch.setattr(routes, "_model", lambda _settings: MODEL)
        yield server
        shortener.close()


async def line_and_url(video: Regenerator) -> tuple[str, str]:
    line = next(each for each in (await video.read())["segments"] if each["start"] == 30.0)
    return line["id"], f"{video.path}/segments/{line['id']}/wordings"


async def test_wordings_of_a_model_come_with_those_that_are_known(
    regenerator: Regenerator, model: chat_server.ChatServer
) -> None:
    model.model = lambda _body, _fault: json.dumps({"wordings": [WRITTEN, "Compre agora!", TEXT]})
    _, url = await line_and_url(regenerator)
    response = await regenerator.api.post(url, json={"text": TEXT})
    assert response.status_code == 200, response.text
    asked = response.json()
    assert asked["model"] == "pending"
    assert {each["origin"] for each in asked["wordings"]} == {"rules"}
    await regenerator.run(f"takes_{asked['id']}", TakesWorkflow.run)
    found = (await regenerator.api.get(f"{url}/{asked['id']}")).json()
    assert (found["model"], found["text"]) == ("ready", TEXT)
    assert {each["text"]: each["origin"] for each in found["wordings"]}[WRITTEN] == "model"
    assert "Compre agora!" not in [each["text"] for each in found["wordings"]]
    assert all(each["seconds"] <= found["fit"]["availableSeconds"] for each in found["wordings"])
    again = (await regenerator.api.post(url, json={"text": TEXT})).json()
    assert again == found
    assert len(model.requests) == 1
    # They are no takes, and takes are no wordings.
    assert (await regenerator.api.get(f"{url.removesuffix('wordings')}preview/{asked['id']}")).status_code == 404
    preview = await regenerator.api.post(f"{url.removesuffix('wordings')}preview", json={"text": TEXT})
    assert (await regenerator.api.get(f"{url}/{preview.json()['id']}")).status_code == 404
    assert (await regenerator.api.get(f"{url}/unknown")).status_code == 404


async def test_a_model_that_fails_or_is_late_leaves_what_is_known(
    regenerator: Regenerator, model: chat_server.ChatServer
) -> None:
    model.script.append("401")
    _, url = await line_and_url(regenerator)
    asked = (await regenerator.api.post(url, json={"text": TEXT})).json()
    connection = regenerator.video.accounts.connection
    job_id = f"takes_{asked['id']}"
    await connection.execute("UPDATE jobs SET created_at = created_at - interval '31 seconds' WHERE id = $1", job_id)
    assert (await regenerator.api.get(f"{url}/{asked['id']}")).json()["model"] == "late"
    await regenerator.run(job_id, TakesWorkflow.run)
    failed = (await regenerator.api.get(f"{url}/{asked['id']}")).json()
    assert failed["model"] == "failed"
    assert failed["wordings"] == asked["wordings"]
    assert KNOWN in [each["text"] for each in failed["wordings"]]


async def test_callers_who_may_not_edit_ask_no_model(regenerator: Regenerator, model: chat_server.ChatServer) -> None:
    _, url = await line_and_url(regenerator)
    accounts = regenerator.video.accounts
    before = await accounts.connection.fetchval("SELECT count(*) FROM jobs WHERE type = 'takes'")
    await accounts.connection.execute("UPDATE api_keys SET scopes = $1", [Scope.VIDEOS_READ.value])
    found = (await regenerator.api.post(url, json={"text": TEXT})).json()
    assert found["model"] == "none"
    assert "id" not in found
    assert found["wordings"]
    assert await accounts.connection.fetchval("SELECT count(*) FROM jobs WHERE type = 'takes'") == before
    assert not model.requests
