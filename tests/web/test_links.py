"""OpenAPI links from response ids to operations."""

from typing import Any

import pytest

from tests.support.api_document import DOCUMENT


def links_of(path: str, status: str) -> dict[str, Any]:
    links: dict[str, Any] = DOCUMENT["paths"][path]["post"]["responses"][status].get("links", {})
    return {name: link["parameters"] for name, link in links.items()}


@pytest.mark.parametrize(
    ("path", "status", "name", "parameters"),
    [
        ("/v1/videos", "202", "getVideo", {"videoId": "$response.body#/videoId"}),
        ("/v1/videos", "202", "getJob", {"jobId": "$response.body#/jobs/0/id"}),
        ("/v1/folders", "201", "getFolder", {"folderId": "$response.body#/id"}),
        ("/v1/webhook-endpoints", "201", "deleteWebhookEndpoint", {"endpointId": "$response.body#/id"}),
        ("/v1/voices/add", "200", "deleteVoice", {"voice_id": "$response.body#/voice_id"}),
        ("/v1/videos/{videoId}/dubs", "202", "getJob", {"jobId": "$response.body#/jobs/0/id"}),
        (
            "/v1/videos/{videoId}/thumbnails",
            "200",
            "getThumbnail",
            {"thumbnailRequestId": "$response.body#/thumbnailRequestId"},
        ),
    ],
)
def test_response_id_is_linked(path: str, status: str, name: str, parameters: dict[str, str]) -> None:
    assert links_of(path, status)[name] == parameters


def test_request_parameters_are_not_linked() -> None:
    assert "getVideo" not in links_of("/v1/videos/{videoId}/dubs", "202")


def test_every_link_targets_an_operation() -> None:
    operations = {each["operationId"] for methods in DOCUMENT["paths"].values() for each in methods.values()}
    links = [
        link["operationId"]
        for methods in DOCUMENT["paths"].values()
        for operation in methods.values()
        for response in operation["responses"].values()
        for link in response.get("links", {}).values()
    ]
    assert links
    assert set(links) <= operations
