"""The budget of an agent's connection, and its confirmations."""

import random
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest
from cutroom_client.mcp.spending import (
    LIFETIME_SECONDS,
    Confirmed,
    ConnectionBudget,
    SpendingRefusedError,
    credits_of,
    parse_limit,
)

ARGUMENTS: Mapping[str, Any] = {"video_id": "v", "languages": ["pt"]}
PRICE = Decimal("2.5")


class Clock:
    """Seconds, which a test moves."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def budget(clock: Clock) -> ConnectionBudget:
    return ConnectionBudget(Decimal(5), clock)


def refusal(
    budget: ConnectionBudget, token: str, tool: str = "dub_video", arguments: Mapping[str, Any] = ARGUMENTS
) -> str:
    with pytest.raises(SpendingRefusedError) as refused:
        budget.confirm(tool, arguments, token)
    assert budget.spent == 0
    return str(refused.value)


def test_confirmed_price_is_taken_from_the_budget(budget: ConnectionBudget) -> None:
    confirmed = budget.confirm("dub_video", ARGUMENTS, budget.offer("dub_video", ARGUMENTS, PRICE))
    assert (confirmed.price, budget.remaining) == (PRICE, PRICE)


def test_token_is_used_once(budget: ConnectionBudget) -> None:
    token = budget.offer("dub_video", ARGUMENTS, PRICE)
    budget.give_back(budget.confirm("dub_video", ARGUMENTS, token))
    assert "used before" in refusal(budget, token)


def test_keys_of_tokens_differ(budget: ConnectionBudget) -> None:
    """Two confirmations of one call are two requests, and not replays of one."""
    keys = {
        budget.confirm("dub_video", ARGUMENTS, budget.offer("dub_video", ARGUMENTS, Decimal(1))).key for _ in range(5)
    }
    assert len(keys) == 5


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("translate_captions", ARGUMENTS),
        ("dub_video", {**ARGUMENTS, "video_id": "w"}),
        ("dub_video", {**ARGUMENTS, "languages": ["pt", "de"]}),
        ("dub_video", {"video_id": "v"}),
    ],
)
def test_token_is_bound_to_its_call(budget: ConnectionBudget, tool: str, arguments: Mapping[str, Any]) -> None:
    token = budget.offer("dub_video", ARGUMENTS, PRICE)
    assert "another call" in refusal(budget, token, tool, arguments)


def test_token_expires(budget: ConnectionBudget, clock: Clock) -> None:
    token = budget.offer("dub_video", ARGUMENTS, PRICE)
    clock.seconds = LIFETIME_SECONDS
    assert "expired" in refusal(budget, token)


def test_used_token_is_refused_for_as_long_as_it_is_valid(budget: ConnectionBudget, clock: Clock) -> None:
    token = budget.offer("dub_video", ARGUMENTS, PRICE)
    budget.give_back(budget.confirm("dub_video", ARGUMENTS, token))
    clock.seconds = LIFETIME_SECONDS - 1
    budget.give_back(budget.confirm("dub_video", ARGUMENTS, budget.offer("dub_video", ARGUMENTS, PRICE)))
    assert "used before" in refusal(budget, token)


def test_token_of_another_connection_is_refused(budget: ConnectionBudget, clock: Clock) -> None:
    other = ConnectionBudget(Decimal(5), clock)
    assert "not a confirmation" in refusal(budget, other.offer("dub_video", ARGUMENTS, PRICE))


def test_no_changed_character_is_accepted(budget: ConnectionBudget) -> None:
    token = budget.offer("dub_video", ARGUMENTS, PRICE)
    for index in range(len(token)):
        changed = f"{token[:index]}{'A' if token[index] != 'A' else 'B'}{token[index + 1 :]}"
        refusal(budget, changed)


@pytest.mark.parametrize("token", ["", ".", "a.b", "…", "a" * 10_000])
def test_what_is_no_token_is_refused(budget: ConnectionBudget, token: str) -> None:
    assert "not a confirmation" in refusal(budget, token)


def test_price_above_the_budget_is_not_offered(budget: ConnectionBudget) -> None:
    with pytest.raises(SpendingRefusedError, match=r"costs 5\.001 credits"):
        budget.offer("dub_video", ARGUMENTS, Decimal("5.001"))


@pytest.mark.parametrize("seed", range(10))
def test_confirmations_never_exceed_the_budget(budget: ConnectionBudget, seed: int) -> None:
    rng, open_calls = random.Random(seed), list[Confirmed]()
    offers = [
        (each, budget.offer("dub_video", {"number": each}, Decimal(rng.randrange(0, 3_000)) / 1000))
        for each in range(50)
    ]
    for number, token in rng.sample(offers, len(offers)):
        try:
            open_calls.append(budget.confirm("dub_video", {"number": number}, token))
        except SpendingRefusedError:
            if open_calls and rng.random() < 0.5:
                budget.give_back(open_calls.pop())
        assert budget.spent == sum(each.price for each in open_calls) <= budget.limit


@pytest.mark.parametrize("text", ["-1", "NaN", "Infinity", "1.0001", "", "six", "1e12"])
def test_invalid_limit_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="three decimals"):
        parse_limit(text)


def test_price_of_the_api_is_exact() -> None:
    assert credits_of(0.1 + 0.2) == Decimal("0.300")
    assert parse_limit("6.4") == credits_of(6.4)
