"""Keyed hashes, signatures and sealed values are bound to secret, purpose and context."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutroom.platform.secret_box import RingKey, SecretBox, content_hash

SECRET = "a" * 64
NOW = datetime(2026, 11, 18, 12, tzinfo=UTC)
PLAIN = b"whsec_the secret of an endpoint"


@pytest.fixture
def secret_box() -> SecretBox:
    return SecretBox(SECRET)


def test_keyed_hash_is_stable_across_processes(secret_box: SecretBox) -> None:
    assert secret_box.keyed_hash("credential", "cr_x") == SecretBox(SECRET).keyed_hash("credential", "cr_x")
    assert len(secret_box.keyed_hash("credential", "cr_x")) == 32


def test_keyed_hash_depends_on_secret_purpose_and_text(secret_box: SecretBox) -> None:
    hashes = {
        secret_box.keyed_hash("credential", "cr_x"),
        secret_box.keyed_hash("credential", "cr_y"),
        secret_box.keyed_hash("session", "cr_x"),
        SecretBox("b" * 64).keyed_hash("credential", "cr_x"),
        content_hash(b"cr_x"),
    }
    assert len(hashes) == 5


@settings(deadline=None)  # machines may be busy
@given(payload=st.binary())
def test_valid_signature_is_accepted(payload: bytes) -> None:
    secret_box = SecretBox(SECRET)
    assert secret_box.is_signed("page-token", payload, secret_box.sign("page-token", payload))


def test_signature_is_bound_to_purpose_payload_and_secret(secret_box: SecretBox) -> None:
    signature = secret_box.sign("page-token", b"payload")
    assert not secret_box.is_signed("upload", b"payload", signature)
    assert not secret_box.is_signed("page-token", b"payload2", signature)
    assert not SecretBox("b" * 64).is_signed("page-token", b"payload", signature)


@pytest.mark.parametrize("cut", [0, 1, 8, 15])
def test_truncated_signature_is_rejected(secret_box: SecretBox, cut: int) -> None:
    assert not secret_box.is_signed("page-token", b"payload", secret_box.sign("page-token", b"payload")[:cut])


@settings(deadline=None)  # machines may be busy
@given(plain=st.binary(), context=st.text(alphabet=st.characters(codec="utf-8")))
def test_sealed_value_round_trips(plain: bytes, context: str) -> None:
    secret_box = SecretBox(SECRET)
    sealed = secret_box.seal("webhook-secret", plain, context)
    assert SecretBox(SECRET).unseal("webhook-secret", sealed, context) == plain


def test_sealing_is_randomized(secret_box: SecretBox) -> None:
    first, second = (secret_box.seal("webhook-secret", PLAIN, "id") for _ in range(2))
    assert first != second
    assert PLAIN not in first


@pytest.mark.parametrize(
    ("secret", "purpose", "context"),
    [
        (SECRET, "webhook-secret", "another row"),
        (SECRET, "webhook-secret", ""),
        (SECRET, "retained-response", "row"),
        ("b" * 64, "webhook-secret", "row"),
    ],
)
def test_sealed_value_is_bound_to_secret_purpose_and_context(
    secret_box: SecretBox, secret: str, purpose: str, context: str
) -> None:
    sealed = secret_box.seal("webhook-secret", PLAIN, "row")
    with pytest.raises(ValueError, match="sealed"):
        SecretBox(secret).unseal(purpose, sealed, context)


def test_modified_sealed_value_is_rejected(secret_box: SecretBox) -> None:
    sealed = secret_box.seal("webhook-secret", PLAIN, "row")
    for position in range(len(sealed)):
        changed = bytearray(sealed)
        changed[position] ^= 1
        with pytest.raises(ValueError, match="sealed"):
            secret_box.unseal("webhook-secret", bytes(changed), "row")


@pytest.mark.parametrize("length", [0, 1, 11, 12, 13, 27])
def test_truncated_sealed_value_is_rejected(secret_box: SecretBox, length: int) -> None:
    sealed = secret_box.seal("webhook-secret", PLAIN, "row")
    with pytest.raises(ValueError):  # noqa: PT011 (which one says the cipher, and it does not matter)
        secret_box.unseal("webhook-secret", sealed[:length], "row")


class Ring:
    """A secret box with a movable clock and a ring of three keys: an expired, a current and a pending one."""

    def __init__(self) -> None:
        self.now = NOW
        self.box = SecretBox(SECRET, lambda: self.now)
        self.old_signature = self.box.sign("files", b"payload")
        self.old_sealed = self.box.seal("webhook-secret", PLAIN, "row")
        self.box.install(
            [
                RingKey(0, SECRET.encode(), None, NOW + timedelta(hours=1)),
                RingKey(1, b"1" * 32, NOW - timedelta(hours=1)),
                RingKey(2, b"2" * 32, NOW + timedelta(seconds=30)),
            ]
        )


@pytest.fixture
def ring() -> Ring:
    return Ring()


def test_latest_active_key_signs_and_encrypts(ring: Ring) -> None:
    assert ring.box.signing_key_id == 1
    assert ring.box.sign("files", b"payload")[:4] == ring.box.seal("files", b"x", "")[:4] == b"\0\0\0\1"
    ring.now += timedelta(seconds=30)
    assert ring.box.signing_key_id == 2


def test_signature_of_an_earlier_key_is_valid_until_its_grace_period_ends(ring: Ring) -> None:
    assert ring.box.is_signed("files", b"payload", ring.old_signature)
    ring.now += timedelta(minutes=59)
    assert ring.box.is_signed("files", b"payload", ring.old_signature)
    ring.now += timedelta(minutes=1)
    assert not ring.box.is_signed("files", b"payload", ring.old_signature)
    assert set(ring.box.verification_keys("files")) == {1, 2}


def test_signature_of_a_pending_key_is_valid(ring: Ring) -> None:
    ahead = SecretBox(SECRET, lambda: NOW + timedelta(minutes=1))  # another process, with a clock that is ahead
    ahead.install([RingKey(1, b"1" * 32), RingKey(2, b"2" * 32, NOW + timedelta(seconds=30))])
    signature = ahead.sign("files", b"payload")
    assert signature[:4] == b"\0\0\0\2"
    assert ring.box.is_signed("files", b"payload", signature)


def test_signature_is_bound_to_its_key(ring: Ring) -> None:
    signature = ring.box.sign("files", b"payload")
    for key_id in (0, 2, 3, 2**32 - 1):
        assert not ring.box.is_signed("files", b"payload", key_id.to_bytes(4) + signature[4:])


def test_value_sealed_with_an_earlier_key_is_always_readable(ring: Ring) -> None:
    ring.now += timedelta(days=1000)
    assert ring.box.unseal("webhook-secret", ring.old_sealed, "row") == PLAIN
    with pytest.raises(ValueError, match="sealed with a key that is not in the key ring"):
        SecretBox(SECRET).unseal("webhook-secret", ring.box.seal("webhook-secret", PLAIN, "row"), "row")


def test_stored_hashes_do_not_change_with_the_ring(ring: Ring) -> None:
    assert ring.box.keyed_hash("credential", "cr_x") == SecretBox(SECRET).keyed_hash("credential", "cr_x")
    assert ring.box.public_key("erasure") == SecretBox(SECRET).public_key("erasure")


def test_replaced_key_with_the_same_id_is_not_used_anymore(ring: Ring) -> None:
    signature = ring.box.sign("files", b"payload")
    ring.box.install([RingKey(1, b"other" * 8)])
    assert not ring.box.is_signed("files", b"payload", signature)
