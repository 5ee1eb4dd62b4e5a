"""No text that reaches a caller names a framework, program, engine, table, exception or path."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from cutroom.errors import ERROR_SPECS
from tests.support.api_document import DOCUMENT
from tests.support.internal_names import INTERNAL_NAMES

PACKAGE = Path(__file__).parent.parent / "cutroom"
# Calls whose texts are shown to callers. Messages of other engine errors and `detail` of media errors are only logged.
SHOWN = frozenset(
    {
        "CutroomError",
        "invalid_field",
        "invalid_fields",
        "failure",
        "Failure",
        "MediaError",
        "SourceError",
        "UnsuitableInputError",
        "UnusableSampleError",
        "HostingError",
        "UrlError",
        "UploadError",
        "UnreachableError",
        "TooLargeError",
        "PydanticCustomError",
    }
)
LOGGED_KEYWORDS = frozenset({"detail", "headers"})


def texts_in(node: ast.AST) -> Iterator[str]:
    for each in ast.walk(node):
        if isinstance(each, ast.Constant) and isinstance(each.value, str):
            yield each.value


def shown_texts(module: Path) -> Iterator[str]:
    tree = ast.parse(module.read_text())
    validators = "schemas.py" in module.name or module.name == "schema.py"
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in SHOWN or (validators and name == "ValueError"):
            for argument in node.args:
                yield from texts_in(argument)
            for keyword in node.keywords:
                if keyword.arg not in LOGGED_KEYWORDS:
                    yield from texts_in(keyword.value)


def test_error_texts_in_the_source_name_nothing_internal() -> None:
    texts = [(module, text) for module in PACKAGE.rglob("*.py") for text in shown_texts(module)]
    texts += [(PACKAGE / "errors.py", spec.message) for spec in ERROR_SPECS.values()]
    assert len(texts) > 200
    assert [(module.name, text) for module, text in texts if INTERNAL_NAMES.search(text)] == []


JSON = "application/json"
HOSTILE: list[Any] = [7, True, None, "x" * 5_000, "'; DROP TABLE videos; --", [None], {"unknown": {"deeper": []}}]


def resolve(schema: dict[str, Any]) -> dict[str, Any]:
    reference = schema.get("$ref")
    return resolve(DOCUMENT["components"]["schemas"][reference.rpartition("/")[2]]) if reference else schema


def properties(schema: dict[str, Any]) -> dict[str, dict[str, Any]]:
    schema = resolve(schema)
    options = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
    found = {name: field for option in options for name, field in properties(option).items()}
    return {**found, **schema.get("properties", {})}


def bodies(schema: dict[str, Any]) -> Iterator[Any]:
    """Bodies with the same hostile value in every field, at the top level and one level deeper."""
    fields = properties(schema)
    for value in HOSTILE:
        yield value
        yield dict.fromkeys(fields, value)
        yield {
            name: dict.fromkeys(inner, value) if (inner := properties(field)) else value
            for name, field in fields.items()
        }


POSTS = [
    pytest.param(path, operations["post"], id=path)
    for path, operations in DOCUMENT["paths"].items()
    if "post" in operations and JSON in operations["post"].get("requestBody", {}).get("content", {})
]


@pytest.mark.parametrize(("path", "operation"), POSTS)
async def test_hostile_bodies_get_plain_messages(api: httpx.AsyncClient, path: str, operation: dict[str, Any]) -> None:
    url = re.sub(r"\{.+?\}", "01j9z3k4m5n6p7q8r9s0t1v2w3", path.removeprefix("/v1"))
    seen = set()
    for body in bodies(operation["requestBody"]["content"][JSON]["schema"]):
        response = await api.post(url, json=body)
        assert response.status_code < 500, (body, response.text)
        error = response.json().get("error", {})
        shown = [error.get("message", ""), *(each["message"] for each in error.get("details", {}).get("fields", ()))]
        assert [text for text in shown if INTERNAL_NAMES.search(text)] == []
        seen.add(error.get("code"))
    assert "INVALID_ARGUMENT" in seen


@pytest.mark.parametrize(
    "path",
    ["/videos?limit=x", "/videos?limit=0", "/videos?pageToken=%F0%9F", "/videos/%00", "/jobs/dub_x_y", "/nothing"],
)
async def test_hostile_paths_and_queries_get_plain_messages(api: httpx.AsyncClient, path: str) -> None:
    response = await api.get(path)
    assert response.status_code in {400, 404}
    assert not INTERNAL_NAMES.search(response.text)
