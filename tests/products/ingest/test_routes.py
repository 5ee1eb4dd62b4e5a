"""POST /videos: created jobs and validation errors."""

from typing import Any

import httpx
import pytest

from cutroom.accounts.principals import Role
from cutroom.platform.ids import new_id
from dev.scratch import Accounts, Person

UPLOAD = {"source": {"type": "upload", "fileName": "lens.mp4", "contentType": "video/mp4"}}


def url_source(kind: str = "https", url: str | None = None) -> dict[str, Any]:
    return {"source": {"type": kind, "url": url or f"https://media.example.com/{new_id()}.mp4"}}


async def test_upload_is_reserved_with_jobs_and_instructions(api: httpx.AsyncClient) -> None:
    response = await api.post("/videos", json=UPLOAD)
    assert response.status_code == 202, response.text
    made = response.json()
    video_id = made["videoId"]
    assert made["status"] == "queued"
    assert made["video"] == (await api.get(f"/videos/{video_id}")).json()
    assert made["upload"]["sessionPath"] == f"/videos/{video_id}/uploads"
    assert "lens.mp4" not in made["upload"]["storagePath"]
    assert [(job["id"], job["status"]) for job in made["jobs"]] == [
        (f"import_{video_id}", "queued"),
        (f"transcript_{video_id}", "queued"),
    ]


async def test_url_import_encrypts_its_url(api: httpx.AsyncClient, accounts: Accounts, person: Person) -> None:
    body = url_source(url="https://media.example.com/clip.mp4?signature=secret")
    made = (await api.post("/videos", json=body)).json()
    assert "upload" not in made
    row = await accounts.connection.fetchrow("SELECT * FROM sources WHERE library_id = $1", person.library_id)
    assert row is not None
    assert b"secret" not in bytes(row["sealed_url"])
    assert "secret" not in row["fingerprint"]


async def test_each_recipe_creates_a_job(api: httpx.AsyncClient) -> None:
    products = {
        "dubs": [{"languages": ["pt-br", "ES"], "product": "plus"}, {"languages": ["es"], "product": "premium"}],
        "shorts": {"kind": "shorts", "numClips": 2.6},
        "packaging": {"title": {"style": "funny"}, "thumbnail": True},
    }
    made = (await api.post("/videos", json={**UPLOAD, "products": products})).json()
    video_id = made["videoId"]
    ids = [job["id"] for job in made["jobs"]]
    assert ids[2:5] == [f"dub_{video_id}_pt-BR_plus", f"dub_{video_id}_es_plus", f"dub_{video_id}_es_premium"]
    assert ids[5].startswith("shorts_")
    assert ids[6:] == [f"packaging_{video_id}_generateTitle", f"packaging_{video_id}_zeroPromptThumbnail"]
    assert {job["status"] for job in made["jobs"]} == {"queued"}
    assert {job["videoId"] for job in made["jobs"]} == {video_id}


async def test_duplicate_source_conflicts_unless_the_first_failed(api: httpx.AsyncClient, accounts: Accounts) -> None:
    body = url_source(url="https://www.youtube.com/watch?v=dQw4w9WgXcQ", kind="youtube")
    first = (await api.post("/videos", json=body)).json()["videoId"]
    again = await api.post("/videos", json=url_source(url="https://youtu.be/dQw4w9WgXcQ?t=4", kind="youtube"))
    assert (again.status_code, again.json()["error"]["code"]) == (409, "ALREADY_EXISTS")
    assert again.json()["error"]["details"] == {"videoId": first}
    await accounts.connection.execute("UPDATE videos SET import_status = 'failed' WHERE id = $1", first)
    assert (await api.post("/videos", json=body)).status_code == 202
    assert (await api.post("/videos", json=body)).status_code == 409


async def test_uploads_are_never_duplicates(api: httpx.AsyncClient) -> None:
    assert [(await api.post("/videos", json=UPLOAD)).status_code for _ in range(2)] == [202, 202]


async def test_folder_must_belong_to_the_library(api: httpx.AsyncClient) -> None:
    folder_id = (await api.post("/folders", json={"name": "a"})).json()["id"]
    made = (await api.post("/videos", json={**UPLOAD, "folderId": folder_id})).json()
    assert made["video"]["folderIds"] == [folder_id]
    unknown = await api.post("/videos", json={**UPLOAD, "folderId": new_id()})
    assert (unknown.status_code, unknown.json()["error"]["code"]) == (404, "NOT_FOUND")


async def test_workspace_must_match_the_key(api: httpx.AsyncClient, accounts: Accounts, person: Person) -> None:
    workspace_id = await accounts.workspace(person)
    key = await accounts.key(person, library_id=workspace_id)
    refused = await api.post("/videos", json={**UPLOAD, "workspaceId": workspace_id})
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "PERMISSION_DENIED")
    made = await api.post("/videos", json={**UPLOAD, "workspaceId": workspace_id}, headers=key.headers)
    assert made.json()["video"]["workspaceId"] == workspace_id


async def test_viewer_cannot_create_videos(anonymous: httpx.AsyncClient, accounts: Accounts, person: Person) -> None:
    workspace_id, viewer = await accounts.workspace(person), await accounts.person()
    await accounts.member(workspace_id, viewer, role=Role.VIEWER)
    key = await accounts.key(viewer, library_id=workspace_id)
    response = await anonymous.post("/videos", json=UPLOAD, headers=key.headers)
    assert (response.status_code, response.json()["error"]["code"]) == (403, "ROLE_CANNOT_PRODUCE")


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, "source"),
        ({"source": {"type": "tape"}}, "source.type"),
        ({"source": {"type": "https"}}, "source.url"),
        (url_source("youtube", "https://vimeo.com/1"), "source"),
        (url_source("dropbox", "https://youtu.be/dQw4w9WgXcQ"), "source"),
        (url_source("https", "http://media.example.com/a.mp4"), "source"),
        (url_source("https", "ftp://media.example.com/a.mp4"), "source"),
        ({"source": {"type": "upload", "fileName": "../a.mp4"}}, "source.fileName"),
        ({"source": {"type": "upload", "fileName": ""}}, "source.fileName"),
        ({"source": {"type": "upload", "fileName": "x" * 256}}, "source.fileName"),
        ({"source": {"type": "upload", "contentType": "video"}}, "source.contentType"),
        ({**UPLOAD, "products": {"dubs": [{"languages": []}]}}, "products.dubs.0.languages"),
        ({**UPLOAD, "products": {"dubs": [{"languages": ["es", "ES"]}]}}, "products.dubs.0.languages"),
        ({**UPLOAD, "products": {"dubs": [{"languages": ["e"]}]}}, "products.dubs.0.languages.0"),
        ({**UPLOAD, "products": {"shorts": {"kind": "long"}}}, "products.shorts.kind"),
        ({**UPLOAD, "products": {"shorts": {"numClips": 11}}}, "products.shorts.numClips"),
        ({**UPLOAD, "products": {"shorts": {"minDuration": 60, "maxDuration": 30}}}, "products.shorts"),
        ({**UPLOAD, "products": {"shorts": {"kind": "promo", "aspectRatio": "1:1"}}}, "products.shorts"),
        ({**UPLOAD, "products": {"packaging": {"title": {"style": "dull"}}}}, "products.packaging.title.style"),
    ],
)
async def test_validation_error_names_the_field(api: httpx.AsyncClient, body: dict[str, Any], path: str) -> None:
    response = await api.post("/videos", json=body)
    assert (response.status_code, response.json()["error"]["code"]) == (400, "INVALID_ARGUMENT"), response.text
    assert [field["path"] for field in response.json()["error"]["details"]["fields"]] == [path]
