"""Runs the signature verification code in docs/webhooks.md."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from cutroom.webhooks.signing import signed_headers
from dev.environment import PROJECT

SECRET = "whsec_c2VjcmV0IG9mIGEgdGVzdCwgbG9uZyBlbm91Z2g="
OTHER = "whsec_YW5vdGhlciBzZWNyZXQgb2YgYSB0ZXN0LCB0b28uLg=="
BODY = b'{"type":"job.ready","timestamp":"2026-11-15T01:56:32Z","data":{"id":"import_1"}}'

BLOCKS = re.findall(r"```python\n(.*?)```", (PROJECT / "docs" / "webhooks.md").read_text(), re.DOTALL)
remembered: list[str] = []
Verifies = Callable[[str, bytes, dict[str, str]], bool]


def _with_package(secret: str, body: bytes, headers: dict[str, str]) -> bool:
    known: dict[str, Any] = {"remember": lambda message_id, _: remembered.append(message_id)}
    exec(BLOCKS[0].replace("whsec_…", secret), known)  # noqa: S102 (our own page)
    status: int = known["receive"](body, headers)
    return status == 204


def _without_package(secret: str, body: bytes, headers: dict[str, str]) -> bool:
    known: dict[str, Any] = {}
    exec(BLOCKS[1], known)  # noqa: S102 (our own page)
    return bool(known["is_ours"](secret, body, headers))


@pytest.mark.parametrize("verifies", [_with_package, _without_package])
class TestReceiver:
    def test_accepts_our_signature(self, verifies: Verifies) -> None:
        headers = signed_headers([SECRET], BODY, message_id="event_1", at=datetime.now(UTC))
        assert verifies(SECRET, BODY, headers)

    def test_accepts_rotated_secrets(self, verifies: Verifies) -> None:
        headers = signed_headers([OTHER, SECRET], BODY, message_id="event_1", at=datetime.now(UTC))
        assert verifies(SECRET, BODY, headers)

    def test_rejects_other_body(self, verifies: Verifies) -> None:
        headers = signed_headers([SECRET], BODY, message_id="event_1", at=datetime.now(UTC))
        assert not verifies(SECRET, BODY + b" ", headers)

    def test_rejects_other_secret(self, verifies: Verifies) -> None:
        headers = signed_headers([OTHER], BODY, message_id="event_1", at=datetime.now(UTC))
        assert not verifies(SECRET, BODY, headers)

    def test_rejects_other_id(self, verifies: Verifies) -> None:
        headers = signed_headers([SECRET], BODY, message_id="event_1", at=datetime.now(UTC))
        assert not verifies(SECRET, BODY, {**headers, "webhook-id": "event_2"})

    def test_rejects_old_timestamp(self, verifies: Verifies) -> None:
        headers = signed_headers([SECRET], BODY, message_id="event_1", at=datetime.now(UTC) - timedelta(hours=1))
        assert not verifies(SECRET, BODY, headers)
