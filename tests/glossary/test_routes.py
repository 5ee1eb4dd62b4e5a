"""The glossary through HTTP: terms, their limits, import and export."""

from typing import Any

import httpx
import pytest

from cutroom.glossary import service
from cutroom.glossary.service import load_glossary
from cutroom.platform.clock import system_clock
from cutroom.platform.db import Database, insert
from cutroom.platform.ids import new_id
from dev.scratch import Accounts, Person

GATE: dict[str, Any] = {
    "term": "sluice gate",
    "language": "en",
    "translations": {"pt-BR": {"text": "comporta", "forms": ["comportas"]}, "es": {"text": "compuerta", "forms": []}},
    "pronunciations": {"pt-BR": "com pórta"},
    "note": "Of a dam.",
}


async def create(api: httpx.AsyncClient, **changes: Any) -> dict[str, Any]:  # noqa: ANN401 (JSON)
    response = await api.post("/glossary/terms", json={**GATE, **changes})
    assert response.status_code == 201, response.text
    found: dict[str, Any] = response.json()
    return found


def refused(response: httpx.Response, path: str) -> str:
    assert response.status_code == 400, response.text
    [field] = response.json()["error"]["details"]["fields"]
    assert field["path"] == path
    return str(field["message"])


async def test_term_is_returned_as_it_was_sent(api: httpx.AsyncClient) -> None:
    created = await create(api)
    assert created == {
        **GATE,
        "keep": False,
        "caseSensitive": False,
        "id": created["id"],
        "createdAt": created["createdAt"],
    }
    assert (await api.get(f"/glossary/terms/{created['id']}")).json() == created


async def test_terms_are_listed_newest_first_in_pages(api: httpx.AsyncClient) -> None:
    made = [(await create(api, term=f"gate {number}"))["id"] for number in range(5)]
    other = (await create(api, term="Schleuse", language="de"))["id"]
    first = (await api.get("/glossary/terms", params={"limit": 4})).json()
    rest = (await api.get("/glossary/terms", params={"limit": 4, "pageToken": first["nextPageToken"]})).json()
    assert [each["id"] for each in (*first["terms"], *rest["terms"])] == [other, *reversed(made)]
    assert "nextPageToken" not in rest
    german = (await api.get("/glossary/terms", params={"language": "DE"})).json()["terms"]
    assert [each["id"] for each in german] == [other]
    stolen = await api.get("/glossary/terms", params={"language": "de", "pageToken": first["nextPageToken"]})
    refused(stolen, "pageToken")


REFUSED = [
    ({"term": " "}, "term"),
    ({"term": "..."}, "term"),
    ({"term": "a {b}"}, "term"),
    ({"term": "a\u202eb"}, "term"),
    ({"term": "x" * 81}, "term"),
    ({"language": "english"}, "language"),
    ({"keep": True}, "translations"),
    ({"translations": {}, "pronunciations": {}}, "translations"),
    ({"translations": {"pt": {"text": "<b>"}}}, "translations.pt.text"),
    ({"translations": {"pt": {"text": "a"}, "PT": {"text": "b"}}}, "translations"),
    ({"translations": {"pt": {"text": "a", "forms": ["b"] * 11}}}, "translations.pt.forms"),
    ({"translations": {f"x{a}{b}": {"text": "a"} for a in "abcde" for b in "abcde"}}, "translations"),
    ({"pronunciations": {"pt": "\x07"}}, "pronunciations.pt"),
    ({"note": "x" * 501}, "note"),
]


@pytest.mark.parametrize(("changes", "path"), REFUSED)
async def test_unusable_terms_are_refused(api: httpx.AsyncClient, changes: dict[str, Any], path: str) -> None:
    refused(await api.post("/glossary/terms", json={**GATE, **changes}), path)


async def test_change_that_leaves_no_purpose_is_refused(api: httpx.AsyncClient) -> None:
    url = f"/glossary/terms/{(await create(api))['id']}"
    refused(await api.patch(url, json={"keep": True}), "translations")
    refused(await api.patch(url, json={"translations": {}, "pronunciations": {}}), "translations")
    kept = await api.patch(url, json={"keep": True, "translations": {}})
    assert (kept.status_code, kept.json()["keep"], kept.json()["translations"]) == (200, True, {})


async def test_term_exists_once_per_language_and_folder(api: httpx.AsyncClient) -> None:
    first = await create(api)
    again = await api.post("/glossary/terms", json={**GATE, "term": "Sluice  Gate"})
    assert (again.status_code, again.json()["error"]["code"]) == (409, "ALREADY_EXISTS")
    assert again.json()["error"]["details"] == {"termId": first["id"]}
    folder = (await api.post("/folders", json={"name": "Dams"})).json()["id"]
    limited = await create(api, folderId=folder)
    moved = await api.patch(f"/glossary/terms/{limited['id']}", json={"folderId": None})
    assert moved.json()["error"]["code"] == "ALREADY_EXISTS"
    assert (await api.post("/glossary/terms", json={**GATE, "folderId": new_id()})).status_code == 404
    only = (await api.get("/glossary/terms", params={"folderId": folder})).json()["terms"]
    assert [each["id"] for each in only] == [limited["id"]]
    await api.delete(f"/folders/{folder}")
    assert (await api.get(f"/glossary/terms/{limited['id']}")).status_code == 404


async def test_glossary_has_a_quota(api: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "MAX_TERMS", 2)
    await create(api)
    csv = "term,language,keep\nlock,en,true\nweir,en,true\n"
    for response in (
        await api.post("/glossary/import", json={"csv": csv}),
        (await create(api, term="lock"), await api.post("/glossary/terms", json={**GATE, "term": "weir"}))[1],
    ):
        assert (response.status_code, response.json()["error"]["code"]) == (409, "FAILED_PRECONDITION")
        assert response.json()["error"]["details"] == {"reason": "quota", "limit": 2}
    assert len((await api.get("/glossary/terms")).json()["terms"]) == 2


async def test_export_is_imported_again_without_a_change(api: httpx.AsyncClient) -> None:
    await create(api)
    await create(api, term="=cmd|' /C calc'!A0".replace("|", ""), note="@SUM(1)")
    exported = await api.get("/glossary/export")
    assert exported.headers["content-type"].startswith("text/csv")
    assert not any(line.startswith(("=", "@")) for line in exported.text.splitlines())
    again = await api.post("/glossary/import", json={"csv": exported.text})
    assert again.json() == {"created": 0, "updated": 0, "unchanged": 2}


async def test_import_adds_and_replaces_terms(api: httpx.AsyncClient) -> None:
    created = await create(api)
    csv = "term,language,translation pt-BR\nSLUICE GATE,en,adufa\nlock,en,eclusa\n"
    imported = await api.post("/glossary/import", json={"csv": csv})
    assert imported.json() == {"created": 1, "updated": 1, "unchanged": 0}
    found = await api.get(f"/glossary/terms/{created['id']}")
    assert found.json()["translations"] == {"pt-BR": {"text": "adufa", "forms": []}}
    assert found.headers["etag"] == '"2"'


@pytest.mark.parametrize(
    ("csv", "message"),
    [
        ("term,language\nlock,en\n", "Line 2: Give a translation"),
        ("term,language,keep\nlock,en,true\n{x},en,true\n", "Line 3: term:"),
        ("term,language,keep\nlock,en,true\nLOCK,en,true\n", "Line 3: the term is in the file twice."),
        ("term,language,translation pt\n", "no terms"),
        ("term,language,forms pt\nlock,en,eclusas\n", "Line 2: translations.pt.text"),
    ],
)
async def test_import_names_the_line_and_changes_nothing(api: httpx.AsyncClient, csv: str, message: str) -> None:
    assert message in refused(await api.post("/glossary/import", json={"csv": csv}), "csv")
    assert (await api.get("/glossary/terms")).json() == {"terms": []}


async def test_texts_are_not_in_the_audit_log(api: httpx.AsyncClient, accounts: Accounts, person: Person) -> None:
    created = await create(api)
    await api.patch(f"/glossary/terms/{created['id']}", json={"term": "weir", "caseSensitive": True})
    await api.post("/glossary/import", json={"csv": "term,language,keep\nlock,en,true\n"})
    rows = await accounts.connection.fetch(
        "SELECT action, targets, details FROM audit_entries WHERE library_id = $1", person.library_id
    )
    recorded = {row["action"]: f"{row['targets']} {row['details']}" for row in rows}
    assert {"createGlossaryTerm", "updateGlossaryTerm", "importGlossary"} <= recorded.keys()
    assert created["id"] in recorded["updateGlossaryTerm"]
    for text in ("sluice", "comporta", "weir", "lock", "dam"):
        assert not any(text in each for each in recorded.values())


async def test_terms_of_a_folder_precede_those_of_the_library(
    api: httpx.AsyncClient, api_database: Database, accounts: Accounts, person: Person
) -> None:
    outer = (await api.post("/folders", json={"name": "Rivers"})).json()["id"]
    inner = (await api.post("/folders", json={"name": "Dams", "parentId": outer})).json()["id"]
    other = (await api.post("/folders", json={"name": "Doors"})).json()["id"]
    for folder_id, text in ((None, "portão"), (outer, "comporta"), (other, "porta")):
        await create(api, folderId=folder_id, translations={"pt": {"text": text}}, pronunciations={})
    found = {}
    for folder_ids in ([inner], []):
        video_id, base = new_id(), {"library_id": person.library_id, "created_at": system_clock()}
        row = {**base, "id": video_id, "status": "ready", "folder_ids": folder_ids}
        await insert(accounts.connection, "videos", row)
        async with api_database.transaction(person.library_id) as connection:
            glossary = await load_glossary(connection, person.library_id, video_id, source="en-GB", target="pt-BR")
        found[len(folder_ids)] = [each.expected for each in glossary.rules]
    assert found == {1: ["comporta"], 0: ["portão"]}
