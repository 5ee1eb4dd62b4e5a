"""Random credit bundles and their prices, from an independent copy of the specification's price list."""

import random
from collections.abc import Collection, Mapping, Sequence
from decimal import ROUND_CEILING, Decimal
from typing import Any

LANGUAGES = ("de", "es", "fr", "hi", "it", "ja", "ko", "pl", "pt-BR", "zh-Hant")
DRAFT_LANGUAGES = frozenset({"hi", "ko"})  # the stage advertises their translations as drafts
MAX_LANGUAGES = 4
MAX_SECONDS = 1_200
PER_MINUTE = {"captions": 500, "transcript": 500, "lipsync": 10_000}
DUBS = {"plus": 2_000, "premium": 4_000}
DRAFT_CAPTIONS, DRAFT_DUBS = 250, {"plus": 1_000, "premium": 2_000}  # translations of draft quality
FLAT = {
    "zero-prompt-thumbnail": 5_000,
    "thumbnail-translate": 2_000,
    "content-moment-detect": 2_000,
    "shorts-clip": 3_000,
    "promo": 10_000,
    "longclip": 5_000,
    "speech": 1_000,
    "prompt-thumbnail": 5_000,
}
EXTRA = {"characters": 1_000, "referenceProducts": 1_000, "soundtrack": 2_000, "generatedThumbnail": 5_000}
REBATE = 1_000  # for our watermark, and for subscribers
MIN_CLIP = 1_000
MIN_PART = 100
SHORTEST_VIDEO = {"shorts": 15.0, "promo": 45.0, "clips": 300.0}  # in seconds

Priced = tuple[str, str | None, int]  # action, language, milli-credits


def milli(credits_: float) -> int:
    """API credits as integer milli-credits; raises on finer fractions."""
    exact = Decimal(str(credits_)) * 1000
    if exact != exact.to_integral_value():
        raise ValueError(f"{credits_} is not a whole number of milli-credits")
    return int(exact)


def line_price(
    action: str, product: str, *, terms: Mapping[str, int], duration_ms: int | None, is_subscriber: bool
) -> int | None:
    """Price of one line; None if it depends on an unknown duration."""
    if action in PER_MINUTE or action == "dub":
        if duration_ms is None:
            return None
        tenths = (Decimal(duration_ms) / 6_000).to_integral_value(ROUND_CEILING)
        minute = _minute_price(action, product, is_draft=bool(terms.get("draft")))
        whole = int(tenths * minute / 10)
        if changed := terms.get("milliseconds"):  # a part that is translated again
            tenths_of_a_credit = (Decimal(changed) * minute / 60_000 / 100).to_integral_value(ROUND_CEILING)
            return min(whole, max(MIN_PART, int(tenths_of_a_credit) * 100))
        return whole
    if action == "shorts-clip":
        rebates = bool(terms.get("watermark")) + is_subscriber
        return max(MIN_CLIP, FLAT[action] - rebates * REBATE)
    return FLAT[action] + sum(EXTRA[term] * count for term, count in terms.items())


def _minute_price(action: str, product: str, *, is_draft: bool) -> int:
    if action == "dub":
        return DRAFT_DUBS[product] if is_draft else DUBS[product]
    return DRAFT_CAPTIONS if is_draft and action == "captions" else PER_MINUTE[action]


def priced_bundle(
    bundle: Mapping[str, Any], *, video_seconds: float | None, is_subscriber: bool, drafts: Collection[str] = ()
) -> list[Priced] | None:
    """The expected lines of a quote; None if a price depends on an unknown duration.

    `drafts` are languages whose translation is a draft.
    """
    seconds = bundle.get("durationSeconds", video_seconds)
    duration_ms = int(Decimal(str(seconds)) * 1000) if seconds is not None else None
    lines = []
    for action, product, language, terms in _lines(bundle):
        if language in drafts and action in {"dub", "captions"}:
            terms["draft"] = 1
        price = line_price(action, product, terms=terms, duration_ms=duration_ms, is_subscriber=is_subscriber)
        if price is None:
            return None
        lines.append((action, language, price))
    return lines


def refused_status(bundle: Mapping[str, Any], *, video_seconds: float | None) -> int | None:
    """The HTTP status of a bundle that cannot be created: on too short a video, or with fields that exclude another."""
    kind = bundle.get("shorts", {}).get("kind")
    if video_seconds is not None and video_seconds < SHORTEST_VIDEO.get(kind, 0.0):
        return 409
    thumbnail = bundle.get("zeroPromptThumbnail", {"enabled": False})
    is_refused = thumbnail["enabled"] and thumbnail["autoDetectContentMoments"] and thumbnail["characterCount"]
    return 400 if is_refused else None


Line = tuple[str, str, str | None, dict[str, int]]  # action, product, language, terms


def _lines(bundle: Mapping[str, Any]) -> list[Line]:
    lines: list[Line] = []
    for dub in bundle.get("dubs", []):
        lines += [("dub", dub["product"], language, {}) for language in dub["languages"]]
    lines += [("captions", "captions", language, {}) for language in bundle.get("captionLanguageCodes", [])]
    if bundle.get("transcriptOnly"):
        lines.append(("transcript", "transcript", None, {}))
    shorts = bundle.get("shorts")
    if shorts is not None:
        clips = shorts.get("numClips", 1)
        lines += {
            "shorts": [("shorts-clip", "shorts", None, {"watermark": int(shorts.get("includeWatermark", False))})]
            * clips,
            "promo": [("promo", "promo", None, {"soundtrack": int(shorts.get("includeSoundtrack", False))})],
            "clips": [
                ("longclip", "clips", None, {"generatedThumbnail": int(shorts.get("includeGeneratedThumbnail", False))})
            ]
            * min(clips, 4),
        }[shorts["kind"]]
    return lines + _thumbnail_lines(bundle.get("zeroPromptThumbnail"))


def _thumbnail_lines(options: Mapping[str, Any] | None) -> list[Line]:
    if options is None or not options["enabled"]:
        return []
    terms = {
        "characters": options.get("characterCount", 0),
        "referenceProducts": len(options.get("referenceProducts", [])),
    }
    lines: list[Line] = [("zero-prompt-thumbnail", "thumbnail", None, terms)]
    lines += [("thumbnail-translate", "thumbnail", code, {}) for code in options.get("translateLanguageCodes", [])]
    if options.get("autoDetectContentMoments"):
        lines.append(("content-moment-detect", "thumbnail", None, {}))
    return lines


def random_bundle(rng: random.Random) -> dict[str, Any]:
    """A random bundle, possibly empty."""
    bundle: dict[str, Any] = {}
    if rng.random() < 0.5:
        products = rng.sample(sorted(DUBS), rng.randint(1, 2))
        bundle["dubs"] = [{"product": product, "languages": _languages(rng)} for product in products]
    if rng.random() < 0.4:
        bundle["captionLanguageCodes"] = _languages(rng)
    if rng.random() < 0.3:
        bundle["transcriptOnly"] = rng.random() < 0.8
    if rng.random() < 0.4:
        bundle["shorts"] = _random_shorts(rng)
    if rng.random() < 0.3:
        bundle["zeroPromptThumbnail"] = _random_thumbnail(rng)
    if rng.random() < 0.4:
        bundle["durationSeconds"] = random_seconds(rng)
    return bundle


def random_seconds(rng: random.Random) -> float:
    """A random duration, often within a millisecond of a billing step (a tenth of a minute)."""
    if rng.random() < 0.3:
        return max(1, rng.randint(0, 200) * 6_000 + rng.choice((-1, 0, 1))) / 1000
    return rng.randint(1, MAX_SECONDS * 1000) / 1000


def _languages(rng: random.Random) -> Sequence[str]:
    return rng.sample(LANGUAGES, rng.randint(1, MAX_LANGUAGES))


def _random_shorts(rng: random.Random) -> dict[str, Any]:
    def coin() -> bool:
        return rng.random() < 0.5

    return {
        "kind": rng.choice(("shorts", "promo", "clips")),
        "numClips": rng.randint(1, 7),
        "includeWatermark": coin(),
        "isSubscriber": coin(),  # has no effect: the plan decides
        "includeSoundtrack": coin(),
        "includeGeneratedThumbnail": coin(),
    }


def _random_thumbnail(rng: random.Random) -> dict[str, Any]:
    return {
        "enabled": rng.random() < 0.8,
        "referenceProducts": [f"product {number}" for number in range(rng.randint(0, 3))],
        "characterCount": rng.randint(0, 3),
        "translateLanguageCodes": _languages(rng) if rng.random() < 0.5 else [],
        "autoDetectContentMoments": rng.random() < 0.5,
    }
