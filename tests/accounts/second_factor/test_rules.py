"""One-time codes against the vectors of RFC 6238, and their window."""

from datetime import UTC, datetime, timedelta

import pytest

from cutroom.accounts.second_factor.rules import (
    RECOVERY_CODES,
    STEP_SECONDS,
    is_totp,
    matching_step,
    new_recovery_codes,
    normalize_code,
    provisioning_uri,
    step_at,
    totp,
)

SECRET = b"12345678901234567890"
NOW = datetime(2026, 11, 18, 12, 0, 10, tzinfo=UTC)


@pytest.mark.parametrize(  # appendix B; our codes are the last six of its eight digits
    ("seconds", "code"),
    [
        (59, "94287082"),
        (1111111109, "07081804"),
        (1111111111, "14050471"),
        (1234567890, "89005924"),
        (2000000000, "69279037"),
        (20000000000, "65353130"),
    ],
)
def test_codes_are_those_of_the_standard(seconds: int, code: str) -> None:
    assert totp(SECRET, step_at(datetime.fromtimestamp(seconds, UTC))) == code[-6:]


@pytest.mark.parametrize(("steps", "accepted"), [(-2, False), (-1, True), (0, True), (1, True), (2, False)])
def test_neighboring_steps_are_accepted(steps: int, *, accepted: bool) -> None:
    code = totp(SECRET, step_at(NOW + timedelta(seconds=steps * STEP_SECONDS)))
    assert (matching_step(SECRET, code, now=NOW, after=0) is not None) is accepted


def test_code_is_accepted_once_and_earlier_ones_not_after_it() -> None:
    current = step_at(NOW)
    for step in (current - 1, current):
        assert matching_step(SECRET, totp(SECRET, step), now=NOW, after=current) is None
    assert matching_step(SECRET, totp(SECRET, current + 1), now=NOW, after=current) == current + 1


@pytest.mark.parametrize(
    ("text", "code"), [(" 123 456 ", "123456"), ("K7QM2X-9FHD4R", "k7qm2x9fhd4r"), ("1" * 100, "1" * 40), ("", "")]
)
def test_codes_are_read_as_people_type_them(text: str, code: str) -> None:
    assert normalize_code(text) == code


@pytest.mark.parametrize(
    ("code", "expected"), [("123456", True), ("12345", False), ("١٢٣٤٥٦", False), ("abcdef", False)]
)
def test_one_time_codes_are_six_ascii_digits(code: str, *, expected: bool) -> None:
    assert is_totp(code) is expected


def test_recovery_codes_differ_and_are_no_one_time_codes() -> None:
    codes = new_recovery_codes()
    assert len(set(codes)) == RECOVERY_CODES
    assert not any(is_totp(normalize_code(code)) for code in codes)


def test_uri_names_the_account_and_the_issuer() -> None:
    uri = provisioning_uri(SECRET, account="ada+x@example.com", issuer="Cutroom")
    assert (
        uri == "otpauth://totp/Cutroom%3Aada%2Bx%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Cutroom"
    )
