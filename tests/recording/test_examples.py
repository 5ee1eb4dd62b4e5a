"""Validates the recorded examples of the guides against the OpenAPI document."""

import json
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from jsonschema import Draft202012Validator

from dev.docs.examples import Example, read_examples, render
from dev.environment import PROJECT
from tests.recording.examples import Recorder
from tests.support.api_document import DOCUMENT

EXAMPLES = read_examples()
GUIDES = ("ingest", "transcripts", "captions", "dubs", "shorts", "thumbnails", "packaging", "speech", "playback",
          "downloads", "hosting")  # fmt: skip


def _operation(example: Example) -> dict[str, Any]:
    path = example.path.partition("?")[0]
    for template, methods in DOCUMENT["paths"].items():
        pattern = re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(template))
        if re.fullmatch(pattern, path) and example.method.lower() in methods:
            found: dict[str, Any] = methods[example.method.lower()]
            return found
    raise AssertionError(f"{example.method} {path} is not an operation")


def _schema_errors(schema: dict[str, Any], value: object) -> Iterator[str]:
    resolved = {**schema, "components": DOCUMENT["components"]}
    for error in Draft202012Validator(resolved).iter_errors(value):
        yield f"{error.json_path}: {error.message}"


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_example_matches_the_openapi_document(name: str) -> None:
    example = EXAMPLES[name]
    operation = _operation(example)
    content = operation["responses"][str(example.status)].get("content", {})
    errors = []
    if example.body is not None and example.status < 400:
        errors += list(_schema_errors(operation["requestBody"]["content"]["application/json"]["schema"], example.body))
    if example.answer is not None:
        errors += list(_schema_errors(content["application/json"]["schema"], example.answer))
    assert errors == []


def test_schema_errors_are_detected() -> None:
    schema = {"$ref": "#/components/schemas/Quote"}
    assert list(_schema_errors(schema, {"total": "much"}))


@pytest.mark.parametrize("guide", GUIDES)
def test_every_guide_shows_a_recorded_example(guide: str) -> None:
    assert "<!-- begin example " in (PROJECT / "docs" / f"{guide}.md").read_text()


def test_examples_contain_no_secrets_or_local_addresses() -> None:
    for example in EXAMPLES.values():
        text = json.dumps(example.answer)
        assert not re.search(r"127\.0\.0\.1|localhost|whsec_\w|(?:cr|pb|fl)_\w{8}|Signature=\w|/tmp/", text), (
            example.name
        )


async def test_recorder_removes_secrets_and_truncates_lists() -> None:
    def respond(_: httpx.Request) -> httpx.Response:
        file = "http://here/files/fl_0123abcd/libraries/a/b.mp4?name=c.mp4"
        urls = {"url": "http://here/v1/x?X-Goog-Signature=abc", "file": file}
        body = {**urls, "secret": "whsec_abc", "rows": [1, 2, 3]}
        return httpx.Response(201, json=body)

    recorder = Recorder("http://here")
    recorder.begin("step")
    hooks = {"response": [recorder.listen]}
    transport = httpx.MockTransport(respond)
    async with httpx.AsyncClient(base_url="http://here", transport=transport, event_hooks=hooks) as client:
        await client.post("/v1/things", json={"name": "x"}, headers={"Idempotency-Key": "k"})
        await client.get("/elsewhere")
    (example,) = recorder.examples
    assert (example.name, example.method, example.path, example.body) == ("step-1", "POST", "/v1/things", {"name": "x"})
    assert example.answer == {
        "url": "https://cutroom.example.com/v1/x?…",
        "file": "https://cutroom.example.com/files/fl_…/libraries/a/b.mp4?…",
        "secret": "…",
        "rows": [1, 2],
    }
    page = "\n".join(render(example))
    assert "-H 'Idempotency-Key: k'" in page
    assert '-d \'{"name": "x"}\'' in page
