"""What it costs to make lines of a dub again, and about how long it takes."""

from collections.abc import Sequence
from dataclasses import dataclass

from cutroom.credits.pricing import Action, BillableItem, PriceList, Term, price
from cutroom.products.dubs.editing.staleness import LineState

# Estimates for the local engines on a small server: loading a voice, then less than real time.
START_SECONDS = 6.0
SECONDS_PER_SPOKEN_SECOND = 0.8
SECONDS_PER_MINUTE_OF_TRACK = 1.5  # joined and encoded as a whole


@dataclass(frozen=True, slots=True)
class RegenerationPrice:
    """How many lines change, how long a voice has to speak, the price, and an estimate of the time it takes."""

    lines: int
    milliseconds: int
    item: BillableItem | None  # None if there is nothing to do
    millicredits: int
    estimated_seconds: float


def price_regeneration(
    states: Sequence[LineState],
    *,
    language: str,
    product: str,
    is_draft: bool,
    prices: PriceList,
    duration_seconds: float,
) -> RegenerationPrice:
    """The price of the stale lines among `states`."""
    stale = [each for each in states if each.is_stale]
    if not stale:
        return RegenerationPrice(0, 0, None, 0, 0.0)
    milliseconds = sum(round(each.speech_seconds * 1000) for each in stale)
    item = BillableItem(Action.DUB, product, language, terms={Term.MILLISECONDS.value: milliseconds})
    if is_draft:
        item = item.as_draft()
    estimate = (
        START_SECONDS
        + SECONDS_PER_SPOKEN_SECOND * milliseconds / 1000
        + SECONDS_PER_MINUTE_OF_TRACK * duration_seconds / 60
    )
    exact = price(item, prices=prices, duration_milliseconds=None, is_subscriber=False)
    return RegenerationPrice(len(stale), milliseconds, item, exact, round(estimate, 1))
