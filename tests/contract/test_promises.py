"""Every promise of the interface that its OpenAPI document can tell of."""

import pytest

from cutroom.entrypoints.api import build_app
from cutroom.web.openapi import document
from proofs.contract.behaviour import BEHAVIOURS
from proofs.contract.behaviour_speech import fault_of_behaviour
from proofs.contract.requests import read_asked
from proofs.contract.rows import kind_of
from proofs.contract.samples import SAMPLES
from tests.contract.promises import Promise, fault_of, read_promises

PROMISES = read_promises()
DOCUMENT = document(build_app(lambda: pytest.fail("describing the API opens nothing")))


@pytest.mark.parametrize("promise", PROMISES, ids=str)
def test_what_is_promised_holds(promise: Promise) -> None:
    assert fault_of(promise, DOCUMENT) is None, f"line {promise.number}: {promise}"


def test_no_promise_is_made_twice() -> None:
    said = [(promise.operation, promise.part, promise.holds) for promise in PROMISES]
    assert len(said) == len(set(said))
    assert len(said) >= 1_100


def test_every_behaviour_is_promised_and_every_promise_of_one_can_be_shown() -> None:
    assert fault_of_behaviour is not None  # it is where all of them are known
    assert {promise.holds for promise in PROMISES if kind_of(promise) == "behaves"} == set(BEHAVIOURS)


def test_every_request_of_the_table_can_be_read() -> None:
    asked = [read_asked(promise) for promise in PROMISES if kind_of(promise) == "asks"]
    assert len(asked) >= 150


def test_every_operation_of_the_interface_has_a_sample() -> None:
    assert {promise.operation for promise in PROMISES if kind_of(promise) == "success"} == set(SAMPLES)
