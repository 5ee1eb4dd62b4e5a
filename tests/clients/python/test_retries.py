"""What the client sends again, what it does not, and what it raises."""

import json
from pathlib import Path

import pytest
from cutroom_client import (
    ApiError,
    ConnectionFailedError,
    Cutroom,
    InsufficientCreditsError,
    InternalError,
    RateLimitedError,
    SpendingLimitError,
    UnexpectedResponseError,
)
from cutroom_client.errors import api_error, error_classes
from cutroom_client.retrying import RetryPolicy, retry_after_seconds

from cutroom.errors import ERROR_SPECS, Code
from tests.clients.python.conftest import QUICK
from tests.clients.python.scripted_service import Reply, ScriptedService, scripted_service

FOLDER = Reply(201, json.dumps({"id": "f", "name": "Talks", "parentId": None, "path": ["Talks"]}).encode())
CLOSED = Reply(None)
ONLY_FOR_JOBS = {"CANCELLED"}


def _error(status: int, code: str, **headers: str) -> Reply:
    body = json.dumps({"error": {"code": code, "message": "No.", "details": {}}}).encode()
    return Reply(status, body, {name.replace("_", "-"): value for name, value in headers.items()})


def _client(service: ScriptedService) -> Cutroom:
    return Cutroom("cr_secret", service.url, retry=QUICK)


def test_every_code_has_a_class_of_its_own() -> None:
    classes = error_classes()
    assert set(classes) - ONLY_FOR_JOBS == {each.value for each in Code}
    assert len(set(classes.values())) == len(classes)
    for code, spec in ERROR_SPECS.items():
        error = api_error({"code": code.value, "message": spec.message}, status=spec.status)
        assert type(error) is classes[code.value]
        assert (error.code, error.message) == (code.value, spec.message)


def test_code_of_a_newer_service_is_kept() -> None:
    error = api_error({"code": "TOO_LOUD", "message": "Quiet."}, status=418)
    assert type(error) is ApiError
    assert error.code == "TOO_LOUD"


def test_price_above_the_limit_has_a_class() -> None:
    raised = api_error({"code": "FAILED_PRECONDITION", "details": {"reason": "over_limit"}}, status=409)
    assert isinstance(raised, SpendingLimitError)


@pytest.mark.parametrize(
    "fault",
    [
        CLOSED,
        Reply(502, b"<h1>Bad gateway</h1>", content_type="text/html"),
        Reply(503, b""),
        Reply(201, b'{"id": "f", "na'),
        _error(429, "RATE_LIMITED", retry_after="0"),
        _error(409, "CONFLICT", retry_after="0"),
    ],
)
def test_creation_is_repeated_with_one_idempotency_key(fault: Reply) -> None:
    with scripted_service([fault, fault, FOLDER]) as service, _client(service) as client:
        assert client.folders.create("Talks").id == "f"
    keys = [each.headers["idempotency-key"] for each in service.received]
    assert len(keys) == 3
    assert len(set(keys)) == 1


def test_two_calls_have_two_keys() -> None:
    with scripted_service([FOLDER]) as service, _client(service) as client:
        client.folders.create("Talks")
        client.folders.create("Talks")
    assert len({each.headers["idempotency-key"] for each in service.received}) == 2


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (_error(429, "INSUFFICIENT_CREDITS", retry_after="0"), InsufficientCreditsError),
        (_error(429, "RATE_LIMITED"), RateLimitedError),
        (_error(500, "INTERNAL"), InternalError),
        (Reply(302, b"", {"Location": "{url}/elsewhere"}), UnexpectedResponseError),
    ],
)
def test_creation_is_not_repeated(fault: Reply, error: type[Exception]) -> None:
    with scripted_service([fault, FOLDER]) as service, _client(service) as client, pytest.raises(error):
        client.folders.create("Talks")
    assert len(service.received) == 1


def test_patch_is_not_repeated_when_its_outcome_is_unknown() -> None:
    with (
        scripted_service([CLOSED, FOLDER]) as service,
        _client(service) as client,
        pytest.raises(ConnectionFailedError),
    ):
        client.folders.update("f", name="Tales")
    assert len(service.received) == 1


def test_deletion_whose_response_was_lost_is_done() -> None:
    with scripted_service([CLOSED, _error(404, "NOT_FOUND")]) as service, _client(service) as client:
        client.folders.delete("f")
    assert len(service.received) == 2


def test_deletion_of_what_is_missing_is_an_error() -> None:
    with scripted_service([_error(404, "NOT_FOUND")]) as service, _client(service) as client:
        with pytest.raises(ApiError, match="NOT_FOUND"):
            client.folders.delete("f")
        assert len(service.received) == 1


def test_retries_are_bounded() -> None:
    with scripted_service([Reply(503, b"")]) as service, _client(service) as client:
        with pytest.raises(UnexpectedResponseError):
            client.folders.list()
        assert len(service.received) == 1 + QUICK.retries


def test_waits_grow_up_to_a_bound_and_respect_retry_after() -> None:
    policy = RetryPolicy(base_seconds=1, cap_seconds=4)
    longest = [policy.wait(each, None, uniform=max) for each in range(4)]
    assert longest == [1, 2, 4, 4]
    assert policy.wait(0, 30.0, uniform=min) >= 30
    assert retry_after_seconds("2") == 2
    assert retry_after_seconds("Sun, 06 Nov 1994 08:49:37 GMT") == 0
    assert retry_after_seconds("soon") is None


def test_limit_is_sent_where_it_applies_only() -> None:
    with scripted_service([FOLDER]) as service, Cutroom("cr_secret", service.url, max_credits=6.4) as client:
        client.folders.create("Talks")
        with pytest.raises(UnexpectedResponseError):
            client.operations.create_dubs("v", {"languages": ["pt"]})
        with pytest.raises(UnexpectedResponseError):
            client.operations.create_dubs("v", {"languages": ["pt"]}, max_credits=2)
    sent = [each.headers.get("cutroom-max-credits") for each in service.received]
    assert sent == [None, "6.4", "2"]


def test_ids_cannot_reach_another_path() -> None:
    with scripted_service([FOLDER]) as service, _client(service) as client:
        client.folders.get("../videos?x")
        with pytest.raises(ValueError, match="not an id"):
            client.folders.get("..")
    assert [each.path for each in service.received] == ["/v1/folders/..%2Fvideos%3Fx"]


def test_key_is_in_no_representation(tmp_path: Path) -> None:
    client = Cutroom("cr_very_secret", "http://127.0.0.1:1", state_dir=tmp_path)
    assert "very_secret" not in f"{client!r} {client.settings!r} {vars(client)!r}"
    client.close()
