"""The OpenAPI document is complete and its examples are valid."""

from typing import Any

import httpx
import pytest
from jsonschema import Draft202012Validator

from cutroom.accounts.scopes import SPEECH_SCOPES, Scope
from cutroom.errors import ERROR_SPECS
from tests.support.api_document import DOCUMENT

OPERATIONS = [
    pytest.param(path, method, operation, id=f"{method} {path}")
    for path, operations in DOCUMENT["paths"].items()
    for method, operation in operations.items()
]


async def test_served_document_matches_generated(anonymous: httpx.AsyncClient) -> None:
    assert (await anonymous.get("/openapi.json")).json() == DOCUMENT
    assert DOCUMENT["openapi"].startswith("3.1.")
    assert DOCUMENT["info"]["version"] == "1.0.0"


async def test_api_reference_loads_no_external_assets(anonymous: httpx.AsyncClient) -> None:
    page = await anonymous.get("http://cutroom.test/docs")
    assert page.status_code == 200
    assert "https://" not in page.text
    script = await anonymous.get("http://cutroom.test/docs/assets/swagger-ui-bundle.js")
    assert script.status_code == 200


@pytest.mark.parametrize(("path", "method", "operation"), OPERATIONS)
def test_every_operation_is_documented(path: str, method: str, operation: dict[str, Any]) -> None:
    assert operation["summary"]
    assert operation["description"]
    if path == "/v1/health":
        return
    assert operation["x-required-scope"] in set(Scope)
    assert operation["security"]
    assert {"401", "403", "429", "500"} <= set(operation["responses"])
    headers = [parameter["name"] for parameter in operation.get("parameters", []) if parameter["in"] == "header"]
    is_idempotent = method == "post" and operation["x-required-scope"] not in SPEECH_SCOPES
    assert ("Idempotency-Key" in headers) == is_idempotent


@pytest.mark.parametrize("operation", [case.values[2] for case in OPERATIONS], ids=[case.id for case in OPERATIONS])
def test_every_error_is_documented_with_example(operation: dict[str, Any]) -> None:
    for status, response in operation["responses"].items():
        if not status.startswith(("4", "5")):
            continue
        media = response["content"]["application/json"]
        assert media["schema"] == {"$ref": "#/components/schemas/ErrorEnvelope"}
        for code, example in media["examples"].items():
            error = example["value"]["error"]
            meaning = next(meaning for known, meaning in ERROR_SPECS.items() if known == code)
            assert (error["code"], error["message"], meaning.status) == (code, meaning.message, int(status))


@pytest.mark.parametrize("name", sorted(DOCUMENT["components"]["schemas"]))
def test_schema_examples_are_valid(name: str) -> None:
    schema = DOCUMENT["components"]["schemas"][name]
    validator = Draft202012Validator({**schema, "components": DOCUMENT["components"]})
    for example in schema.get("examples", []):
        validator.validate(example)
