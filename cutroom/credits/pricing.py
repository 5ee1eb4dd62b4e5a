"""Versioned price list and pure pricing functions, in integer milli-credits."""

import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

from cutroom.errors import Code, CutroomError

MILLICREDITS = 1000  # in one credit
TENTH_OF_A_MINUTE_MS = 6_000
MINUTE_MS = 60_000
TENTH_OF_A_CREDIT = MILLICREDITS // 10
BUNDLED_PRICES = Path(__file__).with_name("prices.toml")
DIGEST_LENGTH = 8
# Outputs of one request; more than four clips are clamped.
MAX_SHORTS, MAX_CLIPS = 10, 4


class Action(StrEnum):
    """Billable actions."""

    DUB = "dub"
    CAPTIONS = "captions"
    TRANSCRIPT = "transcript"
    ZERO_PROMPT_THUMBNAIL = "zero-prompt-thumbnail"
    THUMBNAIL_TRANSLATE = "thumbnail-translate"
    CONTENT_MOMENT_DETECT = "content-moment-detect"
    LIPSYNC = "lipsync"
    SHORTS_CLIP = "shorts-clip"
    PROMO = "promo"
    LONGCLIP = "longclip"
    SPEECH = "speech"
    PROMPT_THUMBNAIL = "prompt-thumbnail"


# Charged on request; never part of a quote or reservation.
UNBUNDLED = frozenset({Action.SPEECH, Action.PROMPT_THUMBNAIL})
# Translations that cost less if they are of draft quality.
DRAFT_RATED = frozenset({Action.DUB, Action.CAPTIONS})
DRAFT_SUFFIX = "_draft"


class Term(StrEnum):
    """Other inputs of a price: a count, or 1 for a flag that is set."""

    CHARACTERS = "characters"
    REFERENCE_PRODUCTS = "referenceProducts"
    WATERMARK = "watermark"
    SOUNDTRACK = "soundtrack"
    GENERATED_THUMBNAIL = "generatedThumbnail"
    DRAFT = "draft"  # a translation of draft quality
    MILLISECONDS = "milliseconds"  # of media that is made again, instead of the whole


@dataclass(frozen=True, slots=True)
class BillableItem:
    """One action to price and charge."""

    action: Action
    product: str
    language: str | None = None
    terms: Mapping[str, int] = field(default_factory=dict)

    def count(self, term: Term) -> int:
        return self.terms.get(term, 0)

    @property
    def has_draft_rate(self) -> bool:
        """Whether it is a translation that costs less as a draft, and is not priced as one yet."""
        return self.action in DRAFT_RATED and not self.count(Term.DRAFT)

    def as_draft(self) -> "BillableItem":
        return replace(self, terms={**self.terms, Term.DRAFT.value: 1})

    def is_same_work(self, other: "BillableItem") -> bool:
        """Whether both are the same work; its class may have changed since one of them was priced."""
        return _without_class(self) == _without_class(other)

    def as_json(self) -> dict[str, Any]:
        return {"action": self.action, "product": self.product, "language": self.language, "terms": dict(self.terms)}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "BillableItem":
        return cls(Action(value["action"]), value["product"], value["language"], value["terms"])


def _without_class(item: BillableItem) -> BillableItem:
    return replace(item, terms={name: count for name, count in item.terms.items() if name != Term.DRAFT})


@dataclass(frozen=True, slots=True)
class PerMinutePrices:
    """Prices per minute; translations of draft quality have their own."""

    dub_plus: int
    dub_plus_draft: int
    dub_premium: int
    dub_premium_draft: int
    captions: int
    captions_draft: int
    transcript: int
    lipsync: int


@dataclass(frozen=True, slots=True)
class UnitPrices:
    """Prices per unit and per add-on."""

    zero_prompt_thumbnail: int
    thumbnail_character: int
    thumbnail_reference_product: int
    thumbnail_translate: int
    content_moment_detect: int
    prompt_thumbnail: int
    shorts_clip: int
    promo: int
    promo_soundtrack: int
    longclip: int
    longclip_thumbnail: int
    speech: int
    regeneration_minimum: int = TENTH_OF_A_CREDIT  # absent from price lists of 0.1.0


@dataclass(frozen=True, slots=True)
class ShortsDiscount:
    """Discounts on a short clip."""

    watermark: int
    subscriber: int
    floor: int


@dataclass(frozen=True, slots=True)
class PriceList:
    """All prices; `version` includes a digest of them."""

    version: str
    per_minute: PerMinutePrices
    each: UnitPrices
    shorts_rebate: ShortsDiscount

    def __post_init__(self) -> None:
        for table in (self.per_minute, self.each, self.shorts_rebate):
            for one in fields(table):
                price = getattr(table, one.name)
                if type(price) is not int or price < 1:
                    raise ValueError(f"{one.name}: a price must be a positive integer of milli-credits")
                if table is self.per_minute and price % 10:
                    raise ValueError(f"{one.name}: a price per minute must be divisible by ten")
                if one.name.endswith(DRAFT_SUFFIX) and price >= getattr(table, one.name.removesuffix(DRAFT_SUFFIX)):
                    raise ValueError(f"{one.name}: a draft must cost less")


@cache
def load_prices(path: Path | None = None) -> PriceList:
    """Load a price list; raise ValueError if a price is missing or unknown."""
    tables = tomllib.loads((path or BUNDLED_PRICES).read_text())
    version = tables.pop("version", None)
    if not isinstance(version, str) or set(tables) != {"per_minute", "each", "shorts_rebate"}:
        raise ValueError("a price list needs a version and the tables per_minute, each and shorts_rebate")
    digest = hashlib.sha256(json.dumps(tables, sort_keys=True).encode()).hexdigest()[:DIGEST_LENGTH]
    try:
        return PriceList(
            version=f"{version}.{digest}",
            per_minute=PerMinutePrices(**tables["per_minute"]),
            each=UnitPrices(**tables["each"]),
            shorts_rebate=ShortsDiscount(**tables["shorts_rebate"]),
        )
    except TypeError as error:
        raise ValueError(f"price list has a missing or unknown price: {error}") from error


def to_milliseconds(duration_seconds: float) -> int:
    """Round to whole milliseconds, at least one so that no duration is free."""
    return max(1, round(duration_seconds * 1000))


def billed_tenths(duration_milliseconds: int) -> int:
    """Return tenths of a minute, rounded up."""
    return -(-duration_milliseconds // TENTH_OF_A_MINUTE_MS)


def is_per_minute(action: Action) -> bool:
    return action in {Action.DUB, Action.CAPTIONS, Action.TRANSCRIPT, Action.LIPSYNC}


def price(item: BillableItem, *, prices: PriceList, duration_milliseconds: int | None, is_subscriber: bool) -> int:
    """Return the exact price in milli-credits."""
    if is_per_minute(item.action):
        return _price_media(item, prices, duration_milliseconds)
    if item.action is Action.SHORTS_CLIP:
        return _price_clip(item, prices, is_subscriber=is_subscriber)
    each = prices.each
    flat = {
        Action.ZERO_PROMPT_THUMBNAIL: each.zero_prompt_thumbnail
        + each.thumbnail_character * item.count(Term.CHARACTERS)
        + each.thumbnail_reference_product * item.count(Term.REFERENCE_PRODUCTS),
        Action.THUMBNAIL_TRANSLATE: each.thumbnail_translate,
        Action.CONTENT_MOMENT_DETECT: each.content_moment_detect,
        Action.PROMPT_THUMBNAIL: each.prompt_thumbnail,
        Action.PROMO: each.promo + each.promo_soundtrack * item.count(Term.SOUNDTRACK),
        Action.LONGCLIP: each.longclip + each.longclip_thumbnail * item.count(Term.GENERATED_THUMBNAIL),
        Action.SPEECH: each.speech,
    }
    return flat[item.action]


def _price_media(item: BillableItem, prices: PriceList, duration_milliseconds: int | None) -> int:
    """The price of the whole medium; of a part of it, which is never more if the duration of the whole is known."""
    per_minute = _price_per_minute(item, prices.per_minute)
    part = None
    if Term.MILLISECONDS in item.terms:
        part = _price_part(per_minute, item.count(Term.MILLISECONDS), prices)
    if duration_milliseconds is None:
        if part is None:
            raise CutroomError(Code.DURATION_UNKNOWN)
        return part
    whole = per_minute * billed_tenths(duration_milliseconds) // 10
    return whole if part is None else min(whole, part)


def _price_per_minute(item: BillableItem, per_minute: PerMinutePrices) -> int:
    is_draft = bool(item.count(Term.DRAFT))
    if item.action is Action.DUB and item.product == "premium":
        return per_minute.dub_premium_draft if is_draft else per_minute.dub_premium
    if item.action is Action.DUB:
        return per_minute.dub_plus_draft if is_draft else per_minute.dub_plus
    return {
        Action.CAPTIONS: per_minute.captions_draft if is_draft else per_minute.captions,
        Action.TRANSCRIPT: per_minute.transcript,
        Action.LIPSYNC: per_minute.lipsync,
    }[item.action]


def _price_part(per_minute: int, milliseconds: int, prices: PriceList) -> int:
    """The price of a part, rounded up to a tenth of a credit."""
    tenths = -(-per_minute * milliseconds // (MINUTE_MS * TENTH_OF_A_CREDIT))
    return max(prices.each.regeneration_minimum, tenths * TENTH_OF_A_CREDIT)


def _price_clip(item: BillableItem, prices: PriceList, *, is_subscriber: bool) -> int:
    discount = prices.shorts_rebate
    off = discount.watermark * item.count(Term.WATERMARK) + discount.subscriber * is_subscriber
    return max(discount.floor, prices.each.shorts_clip - off)


def to_credits(millicredits: int) -> float:
    """Convert for display and the API; never used in calculations."""
    return millicredits / MILLICREDITS
