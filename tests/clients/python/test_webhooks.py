"""Webhook requests are verified as other libraries sign them."""

from datetime import UTC, datetime

import pytest
from cutroom_client import WebhookVerificationError, webhooks
from standardwebhooks.webhooks import Webhook

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
BODY = b'{"type":"job.ready","timestamp":"2026-11-15T01:56:32Z","data":{"id":"import_1"}}'
SENT = datetime(2026, 11, 15, 1, 56, 40, tzinfo=UTC)


def _headers(secret: str = SECRET, body: bytes = BODY) -> dict[str, str]:
    return {
        "Webhook-Id": "msg_1",
        "Webhook-Timestamp": str(int(SENT.timestamp())),
        "Webhook-Signature": Webhook(secret).sign("msg_1", SENT, body.decode()),
    }


def _verify(headers: dict[str, str], body: bytes = BODY, secret: str | list[str] = SECRET, late: float = 0) -> str:
    return webhooks.verify(body, headers, secret, now=SENT.timestamp() + late).type


def test_genuine_request() -> None:
    event = webhooks.verify(BODY, _headers(), SECRET, now=SENT.timestamp())
    assert (event.id, event.type, event.data) == ("msg_1", "job.ready", {"id": "import_1"})
    assert event.timestamp == datetime(2026, 11, 15, 1, 56, 32, tzinfo=UTC)


def test_own_signature_is_accepted_by_the_reference_library() -> None:
    now = int(datetime.now(UTC).timestamp())
    assert Webhook(SECRET).verify(BODY, webhooks.sign(BODY, SECRET, message_id="msg_2", timestamp=now))


def test_one_of_two_secrets_during_rotation() -> None:
    assert _verify(_headers(), secret=["whsec_b3RoZXI=", SECRET]) == "job.ready"


@pytest.mark.parametrize("late", [301, -301])
def test_old_and_future_requests(late: float) -> None:
    with pytest.raises(WebhookVerificationError, match="old"):
        _verify(_headers(), late=late)


def test_forged_requests() -> None:
    genuine = _headers()
    for headers, body in (
        (genuine, BODY.replace(b"_1", b"_2")),
        (_headers("whsec_b3RoZXI="), BODY),
        ({**genuine, "Webhook-Signature": "v1,"}, BODY),
        ({**genuine, "Webhook-Signature": "v2" + genuine["Webhook-Signature"][2:]}, BODY),
        ({**genuine, "Webhook-Id": "msg_3"}, BODY),
        ({**genuine, "Webhook-Timestamp": "now"}, BODY),
        ({}, BODY),
    ):
        with pytest.raises(WebhookVerificationError):
            _verify(headers, body)
