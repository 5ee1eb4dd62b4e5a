"""Signatures of deliveries, held against the published example and the official verifier."""

import base64
from datetime import UTC, datetime, timedelta

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from cutroom.platform.clock import system_clock
from cutroom.webhooks.signing import signed_headers

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
OTHER = "whsec_" + base64.b64encode(bytes(range(32))).decode()
BODY = '{"type":"job.ready","data":{"title":"Zürich 映画 🎬"}}'.encode()


def test_the_published_example_is_signed_as_published() -> None:
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


def test_the_official_verifier_accepts_a_delivery() -> None:
    headers = signed_headers([SECRET], BODY, message_id="one", at=system_clock())
    assert Webhook(SECRET).verify(BODY, headers)["data"]["title"] == "Zürich 映画 🎬"


def test_while_a_secret_is_replaced_holders_of_either_accept_it() -> None:
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
def test_whatever_is_changed_is_refused(changes: dict[str, str], body: bytes, secret: str) -> None:
    headers = signed_headers([SECRET], BODY, message_id="one", at=system_clock())
    with pytest.raises(WebhookVerificationError):
        Webhook(secret).verify(body, {**headers, **changes})


def test_an_old_delivery_cannot_be_played_again() -> None:
    headers = signed_headers([SECRET], BODY, message_id="one", at=system_clock() - timedelta(minutes=6))
    with pytest.raises(WebhookVerificationError):
        Webhook(SECRET).verify(BODY, headers)
