"""Every promise of the interface that its OpenAPI document can tell of."""

import pytest

from cutroom.entrypoints.api import build_app
from cutroom.web.openapi import document
from tests.contract.promises import Promise, fault_of, read_promises

PROMISES = read_promises()
DOCUMENT = document(build_app(lambda: pytest.fail("describing the API opens nothing")))


@pytest.mark.parametrize("promise", PROMISES, ids=str)
def test_what_is_promised_holds(promise: Promise) -> None:
    assert fault_of(promise, DOCUMENT) is None, f"line {promise.number}: {promise}"


def test_no_promise_is_made_twice() -> None:
    said = [(promise.operation, promise.part, promise.holds) for promise in PROMISES]
    assert len(said) == len(set(said))
    assert len(said) >= 600
