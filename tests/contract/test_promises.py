"""The OpenAPI document keeps every promise of the API that it can express."""

import pytest

from cutroom.entrypoints.api import build_app
from cutroom.web.openapi import document
from tests.contract.promises import Promise, check_document, read_promises

PROMISES = read_promises()
DOCUMENT = document(build_app(lambda: pytest.fail("describing the API opens nothing")))


@pytest.mark.parametrize("promise", PROMISES, ids=str)
def test_document_keeps_promise(promise: Promise) -> None:
    assert check_document(promise, DOCUMENT) is None, f"line {promise.number}: {promise}"


def test_promises_are_unique_and_complete() -> None:
    rows = [(promise.operation, promise.aspect, promise.expected) for promise in PROMISES]
    assert len(rows) == len(set(rows))
    assert len(rows) >= 1_250
