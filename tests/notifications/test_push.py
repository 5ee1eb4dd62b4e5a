"""Encryption and signatures of Web Push."""

import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric import ec

from cutroom.errors import CutroomError
from cutroom.notifications.push import BrowserKeys, VapidKey, encrypt, from_base64url, to_base64url
from cutroom.notifications.subscriptions import Browser
from cutroom.platform.secret_box import SecretBox
from tests.support.servers.push_service import TestBrowser

# RFC 8291, section 5 and appendix A.
PLAINTEXT = b"When I grow up, I want to be a watermelon"
SENDER = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
RECEIVER = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
AUTH, SALT = "BTBZMqHH6r4Tts7J_aSIgg", "DGv6ra1nlYgDCS1FRnbzlw"
BODY = (
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl"
    "7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
)
URL = "https://push.example.com/x"


def test_encryption_of_the_rfc(monkeypatch: pytest.MonkeyPatch) -> None:
    sender = ec.derive_private_key(int.from_bytes(from_base64url(SENDER)), ec.SECP256R1())
    monkeypatch.setattr("cutroom.notifications.push.os.urandom", lambda _count: from_base64url(SALT))
    body = encrypt(PLAINTEXT, BrowserKeys.parse(RECEIVER, AUTH), sender=sender)
    assert to_base64url(body) == BODY


def test_only_the_browser_can_decrypt_and_no_two_bodies_are_equal() -> None:
    browser, other = TestBrowser(URL), TestBrowser(URL)
    keys = BrowserKeys(browser.point, browser.auth)
    first, second = (encrypt(b'{"title":"Z\xc3\xbcrich"}', keys) for _ in range(2))
    assert first != second
    assert browser.decrypt(first) == {"title": "Zürich"}
    with pytest.raises(InvalidTag):
        other.decrypt(first)


def test_vapid_key_is_the_same_for_the_same_secret() -> None:
    keys = [VapidKey.of(SecretBox(secret)).public for secret in ("a" * 32, "a" * 32, "b" * 32)]
    assert keys[0] == keys[1] != keys[2]


@pytest.mark.parametrize(
    ("url", "p256dh", "auth"),
    [
        ("http://push.example.com/x", RECEIVER, AUTH),
        ("https://localhost/x", RECEIVER, AUTH),
        ("https://10.0.0.1/x", RECEIVER, AUTH),
        ("https://push.example.com/" + "x" * 3_000, RECEIVER, AUTH),
        ("https://push.example.com/\n", RECEIVER, AUTH),
        ("", RECEIVER, AUTH),
        (URL, RECEIVER, ""),
        (URL, RECEIVER, AUTH + "AAAA"),
        (URL, RECEIVER[:-4], AUTH),
        (URL, to_base64url(b"\x04" + bytes(64)), AUTH),
        (URL, "not base64 at all", AUTH),
        (URL, "", AUTH),
    ],
)
def test_subscription_that_no_browser_sends_is_rejected(url: str, p256dh: str, auth: str) -> None:
    with pytest.raises(CutroomError) as rejected:
        Browser.parse(url, p256dh=p256dh, auth=auth)
    assert rejected.value.status == 400
