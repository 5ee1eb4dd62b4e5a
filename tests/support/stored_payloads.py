"""Reads the payloads that Temporal stores, without decrypting them."""

import base64
import json
from collections.abc import Iterator
from typing import Any

from temporalio.client import WorkflowHistory


def stored_payloads(history: WorkflowHistory) -> list[dict[str, bytes]]:
    """Every payload of a history with its metadata, except for trace headers and search attributes."""
    return list(_payloads(json.loads(history.to_json())))


def _payloads(value: Any) -> Iterator[dict[str, bytes]]:  # noqa: ANN401 (JSON)
    if isinstance(value, list):
        for each in value:
            yield from _payloads(each)
    elif isinstance(value, dict):
        if "encoding" in value.get("metadata", {}):
            metadata = {name: base64.b64decode(text) for name, text in value["metadata"].items()}
            yield {"library": b"", **metadata, "data": base64.b64decode(value.get("data", ""))}
            return
        for name, each in value.items():
            if name not in {"header", "searchAttributes"}:
                yield from _payloads(each)
