"""Delivery signatures, compared with the published example and the official library."""

import base64
from datetime import UTC, datetime, timedelta

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from cutroom.platform.clock import system_clock
from cutroom.webhooks.signing import signed_headers

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
OTHER = "whsec_" + base64.b64encode(bytes(range(32))).decode()
BODY = '{"type":"job.ready","data":{"title":"Zürich 映画 🎬"}}'.encode()


def test_signature_matches_published_example() -> None:
    headers = signed_headers(
        [SECRET],
        b'{"test": 2432232314}',
        message_id="msg_p5jXN8AQM9LWM0D4loKWxJek",
        at=datetime.fromtimestamp(1614265330, UTC),
    )
    assert headers == {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }


def test_official_library_verifies_signature() -> None:
    headers = signed_headers([SECRET], BODY, message_id="one", at=system_clock())
    assert Webhook(SECRET).verify(BODY, headers)["data"]["title"] == "Zürich 映画 🎬"


def test_rotation_signs_with_both_secrets() -> None:
    headers = signed_headers([SECRET, OTHER], BODY, message_id="one", at=system_clock())
    assert len(headers["webhook-signature"].split(" ")) == 2
    for secret in (SECRET, OTHER):
        Webhook(secret).verify(BODY, headers)


@pytest.mark.parametrize(
    ("changes", "body", "secret"),
    [
        ({}, BODY + b" ", SECRET),
        ({}, BODY, OTHER),
        ({"webhook-id": "two"}, BODY, SECRET),
        ({"webhook-timestamp": str(int(system_clock().timestamp()) - 30)}, BODY, SECRET),
    ],
)
def test_modified_delivery_is_rejected(changes: dict[str, str], body: bytes, secret: str) -> None:
    headers = signed_headers([SECRET], BODY, message_id="one", at=system_clock())
    with pytest.raises(WebhookVerificationError):
        Webhook(secret).verify(body, {**headers, **changes})


def test_old_timestamp_is_rejected() -> None:
    headers = signed_headers([SECRET], BODY, message_id="one", at=system_clock() - timedelta(minutes=6))
    with pytest.raises(WebhookVerificationError):
        Webhook(SECRET).verify(BODY, headers)
