"""Runs the Python client for the proof; the package's docstring describes the protocol."""

import inspect
import json
import sys
from collections.abc import Iterator
from typing import Any

from cutroom_client import ApiError, Cutroom, CutroomError, RetryPolicy
from cutroom_client.errors import error_classes
from pydantic import BaseModel

from dev.clients.operations import NAMES
from dev.clients.schemas import snake_case

RETRY = RetryPolicy(base_seconds=0.04, cap_seconds=0.2)


def main() -> None:
    clients: dict[str | None, Cutroom] = {}
    for line in sys.stdin:
        request = json.loads(line)
        key = request.get("apiKey")
        if key not in clients:
            clients[key] = Cutroom(key, retry=RETRY)
        print(json.dumps(respond(clients[key], request)), flush=True)


def respond(client: Cutroom, request: dict[str, Any]) -> dict[str, Any]:
    """The response to one request of the proof."""
    try:
        return {"ok": True, "result": perform(client, request)}
    except ApiError as error:
        return {"ok": False, "error": {"class": type(error).__name__, "code": error.code, "status": error.status}}
    except (CutroomError, ValueError) as error:
        described = {"class": type(error).__name__, "code": None, "status": None, "message": str(error)}
        return {"ok": False, "error": described}


def perform(client: Cutroom, request: dict[str, Any]) -> Any:  # noqa: ANN401 (any JSON value)
    if "errors" in request:
        return {code: each.__name__ for code, each in error_classes().items()}
    if "upload" in request:
        return {"videoId": client.videos.upload(request["upload"], chunk_bytes=request["chunkBytes"]).id}
    return call(client, request)


def call(client: Cutroom, request: dict[str, Any]) -> Any:  # noqa: ANN401 (any JSON value)
    operation = str(request["operation"])
    method = getattr(client.operations, NAMES.get(operation) or snake_case(operation))
    arguments = {**request.get("path", {}), **request.get("query", {}), **request.get("headers", {})}
    named = {snake_case(name): value for name, value in arguments.items()}
    parameters = inspect.signature(method).parameters
    if "body" in parameters:
        named["body"] = request.get("body") or {}
    if request.get("maxCredits") is not None:
        named["max_credits"] = request["maxCredits"]
    return plain_result(method(**named))


def plain_result(result: object) -> Any:  # noqa: ANN401 (any JSON value)
    if isinstance(result, BaseModel):
        return result.model_dump(mode="json", by_alias=True, exclude_unset=True)
    if isinstance(result, list):
        return [plain_result(each) for each in result]
    if isinstance(result, Iterator):  # a stream: its first piece shows that it is one
        next(result, None)
        return None
    return None if isinstance(result, bytes) else result


if __name__ == "__main__":
    main()
