"""The library's operations, on a real database."""

import httpx


async def test_a_folder_is_created_listed_and_read(api: httpx.AsyncClient) -> None:
    created = await api.post("/folders", json={"name": "  Interviews "})
    assert created.status_code == 201
    folder = created.json()
    assert folder == {"id": folder["id"], "name": "Interviews", "parentId": None, "path": ["Interviews"]}
    assert (await api.get("/folders")).json() == {"folders": [folder]}
    assert (await api.get(f"/folders/{folder['id']}")).json() == folder
