"""The price of a regeneration is that of the changed seconds."""

import random
from decimal import ROUND_CEILING, Decimal

import pytest

from cutroom.credits.pricing import load_prices, price
from cutroom.products.dubs.editing.lines import LineEdits
from cutroom.products.dubs.editing.pricing import price_regeneration
from cutroom.products.dubs.editing.staleness import line_states
from tests.products.dubs.editing.random_dubs import random_document, random_dub, random_edit

RATES = {("plus", False): 2, ("plus", True): 1, ("premium", False): 4, ("premium", True): 2}  # credits per minute


@pytest.mark.parametrize("seed", range(200))
def test_price_of_random_edits(seed: int) -> None:
    rng = random.Random(seed)
    document = random_document(rng)
    published = random_dub(rng, document)
    product, is_draft = rng.choice(list(RATES))
    edits = {each.id: random_edit(rng, LineEdits(), each.source) for each in published if rng.random() < 0.3}
    states = line_states(published, document, edits)
    found = price_regeneration(
        states, language="pt", product=product, is_draft=is_draft, prices=load_prices(None), duration_seconds=60.0
    )
    stale = [each for each in states if each.is_stale]
    if not stale:
        assert (found.item, found.millicredits, found.lines) == (None, 0, 0)
        return
    seconds = Decimal(0) + sum(
        Decimal(str(each.source.end_seconds)) - Decimal(str(each.source.start_seconds))
        for each in stale
        if each.needs_speech
    )
    tenths = (RATES[product, is_draft] * seconds / 60 * 10).to_integral_value(ROUND_CEILING)
    assert found.millicredits == max(100, int(tenths) * 100)
    assert found.milliseconds == int(seconds * 1000)
    assert found.item is not None
    charged = price(found.item, prices=load_prices(None), duration_milliseconds=None, is_subscriber=True)
    assert charged == found.millicredits
