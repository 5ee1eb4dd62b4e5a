"""Error codes compared with a copy of the contract's table."""

import pytest

from cutroom.errors import ERROR_SPECS, Code, CutroomError, invalid_field, invalid_fields, not_found

STATUSES = {
    "UNAUTHENTICATED": 401,
    "INVALID_API_KEY": 401,
    "INSUFFICIENT_SCOPE": 403,
    "PERMISSION_DENIED": 403,
    "ROLE_CANNOT_PRODUCE": 403,
    "DOWNLOAD_TIER_NONE": 403,
    "NOT_FOUND": 404,
    "METHOD_NOT_ALLOWED": 405,
    "CONFLICT": 409,
    "ALREADY_EXISTS": 409,
    "IDEMPOTENCY_REPLAY": 409,
    "FAILED_PRECONDITION": 409,
    "PREVIEW_NOT_DOWNLOADABLE": 409,
    "GONE": 410,
    "INVALID_ARGUMENT": 400,
    "UNSUPPORTED_SOURCE": 422,
    "DURATION_UNKNOWN": 422,
    "INSUFFICIENT_CREDITS": 429,
    "RATE_LIMITED": 429,
    "INTERNAL": 500,
}
# Messages fixed by the contract.
MESSAGES = {
    "INVALID_ARGUMENT": "The request contains invalid or missing fields.",
    "UNAUTHENTICATED": "Missing API key.",
    "INVALID_API_KEY": "Invalid API key",
    "INSUFFICIENT_SCOPE": "The API key lacks the required scope.",
    "NOT_FOUND": "Resource not found.",
    "IDEMPOTENCY_REPLAY": "Idempotency-Key was reused with a different request.",
    "INSUFFICIENT_CREDITS": "Not enough credits.",
    "RATE_LIMITED": "API key concurrency limit reached",
    "INTERNAL": "An unexpected error occurred.",
}


def test_codes_match_contract() -> None:
    assert {code.value for code in Code} == set(STATUSES)
    assert set(ERROR_SPECS) == set(Code)


@pytest.mark.parametrize(("code", "status"), STATUSES.items())
def test_status_matches_contract(code: str, status: int) -> None:
    assert CutroomError(Code(code)).status == status


@pytest.mark.parametrize(("code", "message"), MESSAGES.items())
def test_message_matches_contract(code: str, message: str) -> None:
    error = CutroomError(Code(code))
    assert error.envelope() == {"error": {"code": code, "message": message, "details": {}}}


@pytest.mark.parametrize("code", Code)
def test_every_code_has_a_message(code: Code) -> None:
    assert ERROR_SPECS[code].message.strip() == ERROR_SPECS[code].message != ""


def test_details_and_message_are_in_body() -> None:
    error = CutroomError(Code.ALREADY_EXISTS, details={"videoId": "1"}, message="This video exists.")
    assert error.envelope() == {
        "error": {"code": "ALREADY_EXISTS", "message": "This video exists.", "details": {"videoId": "1"}}
    }
    assert str(error) == "This video exists."


def test_errors_do_not_share_details() -> None:
    first, second = not_found(), not_found()
    first.details["seen"] = True
    assert second.details == {}


def test_invalid_fields_are_listed_in_order() -> None:
    error = invalid_fields([("source.url", "Too long."), ("name", "Missing.")])
    assert (error.code, error.status) == (Code.INVALID_ARGUMENT, 400)
    assert error.details == {
        "fields": [{"path": "source.url", "message": "Too long."}, {"path": "name", "message": "Missing."}]
    }
    assert invalid_field("name", "Missing.").details == {"fields": [{"path": "name", "message": "Missing."}]}
