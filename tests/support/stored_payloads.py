"""Reads the payloads that Temporal stores, without decrypting them."""

import base64
import json
from collections.abc import Iterator, Sequence
from typing import Any

from temporalio.client import WorkflowHistory

MARKER = "markerRecordedEventAttributes"
SDK_DETAILS = {"core_local_activity": ("data",), "core_patch": ("patch-data",)}  # by the name of the marker


def stored_payloads(history: WorkflowHistory) -> list[dict[str, bytes]]:
    """Every payload of a history with its metadata, except for trace headers, search attributes and `sdk_payloads`."""
    return list(_payloads(json.loads(history.to_json())))


def sdk_payloads(history: WorkflowHistory) -> list[dict[str, bytes]]:
    """What Temporal's SDK notes in markers of its own, without the converter: names, numbers and times."""
    events = json.loads(history.to_json()).get("events", [])
    markers = [each[MARKER] for each in events if MARKER in each]
    details = [each["details"].get(name) for each in markers for name in _sdk_details(each)]
    return list(_payloads([each for each in details if each is not None]))


def _sdk_details(marker: dict[str, Any]) -> Sequence[str]:
    return SDK_DETAILS.get(marker["markerName"], ())


def _payloads(value: Any) -> Iterator[dict[str, bytes]]:  # noqa: ANN401 (JSON)
    if isinstance(value, list):
        for each in value:
            yield from _payloads(each)
    elif isinstance(value, dict):
        if "encoding" in value.get("metadata", {}):
            metadata = {name: base64.b64decode(text) for name, text in value["metadata"].items()}
            yield {"library": b"", **metadata, "data": base64.b64decode(value.get("data", ""))}
            return
        own = _sdk_details(value) if "markerName" in value else ()
        for name, each in value.items():
            if name == "details":
                yield from _payloads([detail for key, detail in each.items() if key not in own])
            elif name not in {"header", "searchAttributes"}:
                yield from _payloads(each)
