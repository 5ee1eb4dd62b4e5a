"""What work costs: a versioned list of prices, and pure functions over it. Money is whole milli-credits."""

import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

from cutroom.errors import Code, CutroomError

MILLICREDITS = 1000  # in one credit
TENTH_OF_A_MINUTE_MS = 6_000
BUNDLED_PRICES = Path(__file__).with_name("prices.toml")
DIGEST_LENGTH = 8


class Action(StrEnum):
    """What can be paid for."""

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


# Paid for when asked for, never quoted or reserved beforehand.
UNBUNDLED = frozenset({Action.SPEECH, Action.PROMPT_THUMBNAIL})


class Term(StrEnum):
    """What else the price of an action depends on: how many, or 1 for yes."""

    CHARACTERS = "characters"
    REFERENCE_PRODUCTS = "referenceProducts"
    WATERMARK = "watermark"
    SOUNDTRACK = "soundtrack"
    GENERATED_THUMBNAIL = "generatedThumbnail"


@dataclass(frozen=True, slots=True)
class Work:
    """One piece of work that can be paid for."""

    action: Action
    product: str
    language: str | None = None
    terms: Mapping[str, int] = field(default_factory=dict)

    def count(self, term: Term) -> int:
        return self.terms.get(term, 0)

    def as_json(self) -> dict[str, Any]:
        return {"action": self.action, "product": self.product, "language": self.language, "terms": dict(self.terms)}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Work":
        return cls(Action(value["action"]), value["product"], value["language"], value["terms"])


@dataclass(frozen=True, slots=True)
class PerMinute:
    """Prices of a minute."""

    dub_plus: int
    dub_premium: int
    captions: int
    transcript: int
    lipsync: int


@dataclass(frozen=True, slots=True)
class Each:
    """Prices of one piece, and of what is added to it."""

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


@dataclass(frozen=True, slots=True)
class ShortsRebate:
    """What is taken off a short clip."""

    watermark: int
    subscriber: int
    floor: int


@dataclass(frozen=True, slots=True)
class PriceList:
    """Every price there is; `version` identifies it."""

    version: str
    per_minute: PerMinute
    each: Each
    shorts_rebate: ShortsRebate

    def __post_init__(self) -> None:
        for table in (self.per_minute, self.each, self.shorts_rebate):
            for one in fields(table):
                price = getattr(table, one.name)
                if type(price) is not int or price < 1:
                    raise ValueError(f"{one.name}: a price is a whole number of milli-credits from 1 up")
                if table is self.per_minute and price % 10:
                    raise ValueError(f"{one.name}: a price of a minute divides by ten")


@cache
def load_prices(path: Path | None = None) -> PriceList:
    """Read a list of prices; one that misses a price, or has one too many, is refused at start."""
    tables = tomllib.loads((path or BUNDLED_PRICES).read_text())
    named = tables.pop("version", None)
    if not isinstance(named, str) or set(tables) != {"per_minute", "each", "shorts_rebate"}:
        raise ValueError("a list of prices needs a version and the tables per_minute, each and shorts_rebate")
    digest = hashlib.sha256(json.dumps(tables, sort_keys=True).encode()).hexdigest()[:DIGEST_LENGTH]
    try:
        return PriceList(
            version=f"{named}.{digest}",
            per_minute=PerMinute(**tables["per_minute"]),
            each=Each(**tables["each"]),
            shorts_rebate=ShortsRebate(**tables["shorts_rebate"]),
        )
    except TypeError as error:
        raise ValueError(f"a list of prices has a price too few or too many: {error}") from error


def milliseconds_of(duration_seconds: float) -> int:
    """Durations count in whole milliseconds, and nothing that has one is free."""
    return max(1, round(duration_seconds * 1000))


def billed_tenths(duration_milliseconds: int) -> int:
    """Tenths of a minute, rounded up."""
    return -(-duration_milliseconds // TENTH_OF_A_MINUTE_MS)


def is_per_minute(action: Action) -> bool:
    return action in {Action.DUB, Action.CAPTIONS, Action.TRANSCRIPT, Action.LIPSYNC}


def price(work: Work, *, prices: PriceList, duration_milliseconds: int | None, is_subscriber: bool) -> int:
    """The exact price of a piece of work, in milli-credits."""
    if is_per_minute(work.action):
        if duration_milliseconds is None:
            raise CutroomError(Code.DURATION_UNKNOWN)
        return _minute(work, prices.per_minute) * billed_tenths(duration_milliseconds) // 10
    if work.action is Action.SHORTS_CLIP:
        return _clip(work, prices, is_subscriber=is_subscriber)
    each = prices.each
    flat = {
        Action.ZERO_PROMPT_THUMBNAIL: each.zero_prompt_thumbnail
        + each.thumbnail_character * work.count(Term.CHARACTERS)
        + each.thumbnail_reference_product * work.count(Term.REFERENCE_PRODUCTS),
        Action.THUMBNAIL_TRANSLATE: each.thumbnail_translate,
        Action.CONTENT_MOMENT_DETECT: each.content_moment_detect,
        Action.PROMPT_THUMBNAIL: each.prompt_thumbnail,
        Action.PROMO: each.promo + each.promo_soundtrack * work.count(Term.SOUNDTRACK),
        Action.LONGCLIP: each.longclip + each.longclip_thumbnail * work.count(Term.GENERATED_THUMBNAIL),
        Action.SPEECH: each.speech,
    }
    return flat[work.action]


def _minute(work: Work, per_minute: PerMinute) -> int:
    if work.action is Action.DUB:
        return per_minute.dub_premium if work.product == "premium" else per_minute.dub_plus
    return {
        Action.CAPTIONS: per_minute.captions,
        Action.TRANSCRIPT: per_minute.transcript,
        Action.LIPSYNC: per_minute.lipsync,
    }[work.action]


def _clip(work: Work, prices: PriceList, *, is_subscriber: bool) -> int:
    rebate = prices.shorts_rebate
    off = rebate.watermark * work.count(Term.WATERMARK) + rebate.subscriber * is_subscriber
    return max(rebate.floor, prices.each.shorts_clip - off)


def credits_of(millicredits: int) -> float:
    """For people and the wire; never calculated with."""
    return millicredits / MILLICREDITS
