"""Tests the printed OpenAPI document."""

import json
import os
import subprocess
import sys
from typing import Any

import httpx
import pytest

METHODS = {
    "/v1/health": {"get"},
    "/v1/videos": {"get"},
    "/v1/videos/{videoId}": {"get", "patch"},
    "/v1/folders": {"get", "post"},
    "/v1/folders/{folderId}": {"get", "patch", "delete"},
    "/v1/characters": {"get"},
    "/v1/characters/{characterId}": {"get", "patch", "delete"},
    "/v1/brand-voices": {"get"},
    "/v1/brand-voices/{brandVoiceId}": {"get", "patch", "delete"},
    "/v1/webhook-endpoints": {"get", "post"},
    "/v1/webhook-endpoints/{endpointId}": {"get", "patch", "delete"},
    "/v1/voices/{voice_id}": {"get", "patch", "delete"},
    "/v1/videos/{videoId}/dubs/{lang}": {"get", "delete"},
    "/v1/videos/{videoId}/captions/{lang}": {"delete"},
    "/v1/shorts/{shortsRequestId}": {"delete"},
    "/v1/shorts/{shortsRequestId}/outputs/{outputId}": {"delete"},
    "/v1/thumbnails/{thumbnailRequestId}": {"get", "delete"},
    "/v1/thumbnails/{thumbnailRequestId}/images/{thumbnailId}": {"delete"},
    "/v1/downloads/{downloadRequestId}": {"get", "delete"},
    "/v1/library/exports": {"get", "post"},
    "/v1/library/exports/{exportId}": {"get", "delete"},
}


@pytest.fixture(scope="module")
def printed() -> dict[str, Any]:
    """The output of `just openapi` without any settings."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("CUTROOM_")}
    done = subprocess.run(
        [sys.executable, "-m", "cutroom.entrypoints.openapi"],
        env=variables,
        capture_output=True,
        text=True,
        timeout=500,
        check=True,
    )
    assert done.stderr == ""
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def test_document_is_openapi_3_1_version_1_0_0(printed: dict[str, Any]) -> None:
    assert printed["openapi"].startswith("3.1.")
    assert printed["info"]["version"] == "1.0.0"


@pytest.mark.parametrize(("path", "methods"), METHODS.items())
def test_operation_is_documented(printed: dict[str, Any], path: str, methods: set[str]) -> None:
    assert methods <= set(printed["paths"][path])
    for method in methods:
        responses = printed["paths"][path][method]["responses"]
        assert any(status.startswith("2") for status in responses)
        assert "422" not in responses  # FastAPI's default validation error


async def test_printed_document_matches_the_served_one(printed: dict[str, Any], anonymous: httpx.AsyncClient) -> None:
    assert (await anonymous.get("/openapi.json")).json() == printed
