"""The OpenAPI document keeps every promise of the API that it can express."""

import pytest

from tests.contract.promises import Promise, check_document, read_promises
from tests.support.api_document import DOCUMENT

PROMISES = read_promises()


@pytest.mark.parametrize("promise", PROMISES, ids=str)
def test_document_keeps_promise(promise: Promise) -> None:
    assert check_document(promise, DOCUMENT) is None, f"line {promise.number}: {promise}"


def test_promises_are_unique_and_complete() -> None:
    rows = [(promise.operation, promise.aspect, promise.expected) for promise in PROMISES]
    assert len(rows) == len(set(rows))
    assert len(rows) >= 1_250
