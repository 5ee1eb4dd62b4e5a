"""Quotes and reservations as a caller asks for them."""

from typing import Any

import httpx


def code(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def lines_of(answered: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [(each["actionKey"], each["product"], each.get("targetLanguageCode"), each["credits"]) for each in answered]


async def quote(api: httpx.AsyncClient, video_id: str, **bundle: Any) -> Any:  # noqa: ANN401 (JSON)
    answer = await api.post(f"/videos/{video_id}/quote", json=bundle)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def reserve(api: httpx.AsyncClient, video_id: str, **bundle: Any) -> Any:  # noqa: ANN401 (JSON)
    answer = await api.post(f"/videos/{video_id}/reservations", json=bundle)
    assert answer.status_code == 201, answer.text
    return answer.json()
