"""The studio through HTTP: the page, rows, edits, conflicts, undo, lines of dubs and captions, prices and roles."""

import json
import re
from typing import Any

import httpx
import pytest

from cutroom.accounts.principals import Role
from cutroom.console.pages.studio import views
from cutroom.credits import ledger
from cutroom.platform.clock import system_clock
from dev.scratch import Accounts, Person
from tests.console.conftest import Browser, SignIn
from tests.support.studio.videos import StudioVideo, insert_studio_video, translated

JSON = {"accept": "application/json"}
MARKUP = "<script>alert(1)</script>"


@pytest.fixture
async def video(accounts: Accounts, person: Person) -> StudioVideo:
    await ledger.grant(accounts.connection, person.library_id, millicredits=50_000, reference="a", now=system_clock())
    return await insert_studio_video(accounts.connection, person.library_id)


async def send(browser: Browser, path: str, body: Any) -> httpx.Response:  # noqa: ANN401 (any JSON)
    headers = {**JSON, "x-csrf-token": await browser.token()}
    return await browser.client.post(path, data={"body": json.dumps(body)}, headers=headers)


async def changed(browser: Browser, path: str, body: Any) -> dict[str, Any]:  # noqa: ANN401 (any JSON)
    response = await send(browser, path, body)
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


async def rows(browser: Browser, video: StudioVideo, lang: str = "") -> dict[str, Any]:
    response = await browser.get(f"{video.path}/rows", params={"lang": lang}, headers=JSON)
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


def replace(segment_id: str, text: str) -> dict[str, Any]:
    return {"op": "replaceText", "id": segment_id, "text": text}


async def test_the_page_is_readable_without_scripts(
    browser: Browser, video: StudioVideo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(views, "FIRST_ROWS", 4)
    page = (await browser.get(video.path, params={"lang": "pt"})).text
    assert re.findall(r'class="segment" id="row-(\w+)"', page)[:4] == ["s1", "s2", "s3", "s4"]
    assert video.segments[3].text in page
    assert translated(video.segments[3]) in page
    assert video.segments[4].text not in page
    following = re.search(r'href="(/videos/\w+/studio\?lang=pt:plus&amp;from=4)"', page)
    assert following is not None
    assert video.segments[4].text in (await browser.get(following[1].replace("&amp;", "&"))).text
    assert "<script>" not in page
    assert 'style="' not in page


async def test_texts_are_escaped(browser: Browser, video: StudioVideo) -> None:
    await changed(browser, f"{video.path}/transcript", {"revision": 1, "operations": [replace("s1", MARKUP)]})
    page = (await browser.get(video.path)).text
    assert MARKUP not in page
    assert "&lt;script&gt;alert(1)" in page


async def test_tabs_lead_to_the_studio(browser: Browser, video: StudioVideo) -> None:
    for tab, link in (("transcript", video.path), ("dubs", f"{video.path}?lang=pt:plus")):
        assert f'href="{link}"' in (await browser.get(f"/videos/{video.id}?tab={tab}")).text


async def test_rows_are_paged(browser: Browser, video: StudioVideo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "PAGE_ROWS", 4)
    first, second = [
        (await browser.get(f"{video.path}/rows", params={"from": str(start)}, headers=JSON)).json() for start in (0, 4)
    ]
    assert [row["id"] for row in first["rows"] + second["rows"]] == [each.id for each in video.segments]
    assert (first["revision"], first["total"], first["track"]) == (1, 6, None)
    assert first["speakers"] == {"speaker_1": "Ada", "speaker_2": "Grace"}
    assert (await browser.get(f"{video.path}/rows", params={"from": "-1"}, headers=JSON)).status_code == 400


async def test_an_edit_returns_what_is_different(browser: Browser, video: StudioVideo) -> None:
    edit = {"revision": 1, "operations": [replace("s2", "Two.")]}
    answer = await changed(browser, f"{video.path}/transcript?lang=pt", edit)
    assert (answer["revision"], answer["isComplete"]) == (2, True)
    (row,) = answer["rows"]
    assert (row["id"], row["previous"], row["text"]) == ("s2", "s1", "Two.")
    assert [each["text"] for each in row["line"]["marks"]] == ["Original changed"]
    assert row["line"]["text"] is None
    assert answer["track"]["stale"] == 1
    assert re.fullmatch(r"Regenerate 1 line · \S+ credits?", answer["track"]["price"])


async def test_split_and_merge_say_where_rows_are(browser: Browser, video: StudioVideo) -> None:
    split = {"revision": 1, "operations": [{"op": "split", "id": "s2", "at": 7}]}
    answer = await changed(browser, f"{video.path}/transcript", split)
    first, second = answer["rows"]
    assert (first["id"], second["previous"]) == ("s2", "s2")
    assert f"{first['text']} {second['text']}" == video.segments[1].text
    merge = {"revision": 2, "operations": [{"op": "merge", "ids": ["s2", second["id"]]}]}
    merged = await changed(browser, f"{video.path}/transcript", merge)
    assert ([row["id"] for row in merged["rows"]], merged["removed"]) == (["s2"], [second["id"]])


async def test_an_outdated_edit_is_a_conflict_that_the_comparison_explains(
    browser: Browser, video: StudioVideo
) -> None:
    await changed(browser, f"{video.path}/transcript", {"revision": 1, "operations": [replace("s2", "Two.")]})
    late = await send(browser, f"{video.path}/transcript", {"revision": 1, "operations": [replace("s3", "Three.")]})
    assert (late.status_code, late.json()["code"]) == (409, "CONFLICT")
    answer = (await browser.get(f"{video.path}/changes", params={"since": "1"}, headers=JSON)).json()
    assert [(row["id"], row["text"]) for row in answer["rows"]] == [("s2", "Two.")]
    await changed(browser, f"{video.path}/transcript", {"revision": 2, "operations": [replace("s3", "Three.")]})


async def test_a_page_with_a_revision_that_is_not_kept_reads_every_row(browser: Browser, video: StudioVideo) -> None:
    answer = (await browser.get(f"{video.path}/changes", params={"since": "9"}, headers=JSON)).json()
    assert (answer["isComplete"], answer["revision"], answer["rows"]) == (False, 1, [])


async def test_undo_and_redo_are_those_of_the_document(browser: Browser, video: StudioVideo) -> None:
    edit = {"revision": 1, "operations": [{"op": "delete", "ids": ["s1"]}]}
    assert (await changed(browser, f"{video.path}/transcript", edit))["rows"][0]["deleted"] is True
    assert (await changed(browser, f"{video.path}/undo", {"revision": 2}))["rows"][0]["deleted"] is False
    assert (await changed(browser, f"{video.path}/redo", {"revision": 3}))["rows"][0]["deleted"] is True
    assert (await send(browser, f"{video.path}/redo", {"revision": 4})).json()["message"] == "There is nothing to redo."


@pytest.mark.parametrize(("lang", "original"), [("pt", "Back"), ("es:captions", "Back")])
async def test_a_line_is_changed_confirmed_and_reset(
    browser: Browser, video: StudioVideo, lang: str, original: str
) -> None:
    path, shown = f"{video.path}/line?lang={lang}", await rows(browser, video, lang)
    line = shown["rows"][0]["line"]
    seen = {"id": line["id"], "transcriptRevision": 1}
    answer = await changed(browser, path, {**seen, "revision": 1, "text": original})
    written = answer["rows"][0]["line"]
    assert (answer["rows"][0]["id"], written["text"], written["edited"]) == ("s1", original, True)
    await changed(browser, f"{video.path}/transcript", {"revision": 1, "operations": [replace("s1", "One.")]})
    (row,) = (await browser.get(f"{video.path}/changes", params={"since": "1", "lang": lang})).json()["rows"]
    assert "review" in [each["kind"] for each in row["line"]["marks"]]
    seen = {**seen, "transcriptRevision": 2}
    answer = await changed(browser, path, {**seen, "revision": 2, "text": original, "isConfirmed": True})
    assert "review" not in [each["kind"] for each in answer["rows"][0]["line"]["marks"]]
    answer = await changed(browser, path, {**seen, "revision": answer["track"]["revision"], "text": None})
    assert answer["rows"][0]["line"]["edited"] is False


async def test_a_line_of_an_old_revision_is_a_conflict(browser: Browser, video: StudioVideo) -> None:
    line = (await rows(browser, video, "pt"))["rows"][0]["line"]
    body = {"id": line["id"], "transcriptRevision": 1, "revision": 1, "text": "Um."}
    await changed(browser, f"{video.path}/line?lang=pt", body)
    assert (await send(browser, f"{video.path}/line?lang=pt", body)).json()["code"] == "CONFLICT"
    answer = await browser.get(f"{video.path}/changes", params={"since": "1", "lang": "pt", "line": line["id"]})
    assert answer.json()["rows"][0]["line"]["text"] == "Um."


async def test_stale_lines_are_regenerated_at_the_price_on_the_button(
    browser: Browser, video: StudioVideo, accounts: Accounts, person: Person
) -> None:
    line = (await rows(browser, video, "pt"))["rows"][0]["line"]
    body = {"id": line["id"], "transcriptRevision": 1, "revision": 1, "text": "Um."}
    track = (await changed(browser, f"{video.path}/line?lang=pt", body))["track"]
    price = re.fullmatch(r"Regenerate 1 line · (\S+) credits?", track["price"])
    assert price is not None
    before = await ledger.wallet_balance(accounts.connection, person.library_id)
    old = await send(browser, f"{video.path}/regenerate?lang=pt", {"revision": 1, "transcriptRevision": 1})
    assert old.json()["code"] == "CONFLICT"
    answer = await changed(browser, f"{video.path}/regenerate?lang=pt", {"revision": 2, "transcriptRevision": 1})
    assert (answer["track"]["price"], answer["track"]["job"]) == (None, "Regenerating, 0 %")
    after = await ledger.wallet_balance(accounts.connection, person.library_id)
    assert before - after == round(float(price[1]) * 1000)


async def test_lines_say_what_fits_and_have_previews_and_wordings(browser: Browser, video: StudioVideo) -> None:
    line = (await rows(browser, video, "pt"))["rows"][0]["line"]
    assert set(line["fit"]) == {"availableSeconds", "secondsPerCharacter"}
    body = {"id": line["id"], "text": "Na verdade, nós vamos em seguida, em seguida."}
    found = await changed(browser, f"{video.path}/wordings?lang=pt", body)
    assert (found["segmentId"], found["text"]) == (line["id"], body["text"])
    preview = await changed(browser, f"{video.path}/preview?lang=pt", body)
    asked = {"lang": "pt", "line": line["id"], "preview": preview["id"]}
    again = await browser.get(f"{video.path}/preview", params=asked, headers=JSON)
    assert (preview["status"], again.json()["id"]) == ("queued", preview["id"])
    for path in ("wordings?lang=pt", "preview?lang=pt"):
        assert (await send(browser, f"{video.path}/{path}", {"id": 1})).status_code == 400
        assert (await send(browser, f"{video.path}/{path}", {"id": "l0"})).status_code == 404
    assert (await send(browser, f"{video.path}/wordings?lang=es", {"id": "s1"})).status_code == 404


async def test_viewers_read_and_cannot_edit(
    accounts: Accounts, sign_in: SignIn, person: Person, video: StudioVideo
) -> None:
    workspace = await accounts.workspace(person)
    theirs = await insert_studio_video(accounts.connection, workspace)
    viewer = await accounts.person()
    await accounts.member(workspace, viewer, role=Role.VIEWER)
    browser = await sign_in(viewer)
    await browser.post("/switch", {"library": workspace})
    page = (await browser.get(theirs.path, params={"lang": "pt"})).text
    assert theirs.segments[0].text in page
    assert 'data-command="undo"' not in page
    refused = await send(browser, f"{theirs.path}/transcript", {"revision": 1, "operations": [replace("s1", "X")]})
    assert refused.status_code == 403
    assert (await browser.get(video.path)).status_code == 404


@pytest.mark.parametrize("field", ["", "[", "[]", "null", '"a"'])
async def test_malformed_bodies_are_refused(browser: Browser, video: StudioVideo, field: str) -> None:
    headers = {**JSON, "x-csrf-token": await browser.token()}
    for name in ("transcript", "undo", "line?lang=pt", "regenerate?lang=pt", "preview?lang=pt", "wordings?lang=pt"):
        response = await browser.client.post(f"{video.path}/{name}", data={"body": field}, headers=headers)
        assert response.status_code == 400, name


async def test_unknown_languages_and_missing_tokens_are_refused(browser: Browser, video: StudioVideo) -> None:
    for lang in ("fr", "pt:premium", "es:plus"):
        assert (await browser.get(video.path, params={"lang": lang})).status_code == 404
    body = {"body": json.dumps({"revision": 1})}
    assert (await browser.client.post(f"{video.path}/undo", data=body, headers=JSON)).status_code == 403
    assert (await send(browser, f"{video.path}/line", {"id": "l1", "revision": 1})).status_code == 404


async def test_without_a_transcript_the_page_says_so(browser: Browser, video: StudioVideo, accounts: Accounts) -> None:
    await accounts.connection.execute(
        "UPDATE jobs SET status = 'processing', finished_at = NULL WHERE id = $1", f"transcript_{video.id}"
    )
    page = (await browser.get(video.path)).text
    assert "The transcript is being made." in page
    assert 'id="segments"' not in page
