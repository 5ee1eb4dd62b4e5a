"""Keyed hashes, signatures and sealed values are bound to secret, purpose and context."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutroom.platform.secret_box import SecretBox, content_hash

SECRET = "a" * 64
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
