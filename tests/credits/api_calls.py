"""Helpers that call the quote and reservation API."""

from typing import Any

import httpx


def code(response: httpx.Response) -> tuple[int, str]:
    return response.status_code, response.json()["error"]["code"]


def lines_of(lines: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [(each["actionKey"], each["product"], each.get("targetLanguageCode"), each["credits"]) for each in lines]


async def quote(api: httpx.AsyncClient, video_id: str, **bundle: Any) -> Any:  # noqa: ANN401 (JSON)
    response = await api.post(f"/videos/{video_id}/quote", json=bundle)
    assert response.status_code == 200, response.text
    return response.json()


async def reserve(api: httpx.AsyncClient, video_id: str, **bundle: Any) -> Any:  # noqa: ANN401 (JSON)
    response = await api.post(f"/videos/{video_id}/reservations", json=bundle)
    assert response.status_code == 201, response.text
    return response.json()
