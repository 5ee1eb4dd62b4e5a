"""Random bundles, and what each must cost: the list of prices written down a second time, from the specification."""

import random
from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING, Decimal
from typing import Any

LANGUAGES = ("de", "es", "fr", "hi", "it", "ja", "ko", "pl", "pt-BR", "zh-Hant")
SOME_LANGUAGES = 4
A_LONG_VIDEO_SECONDS = 1_200
BY_THE_MINUTE = {"captions": 500, "transcript": 500, "lipsync": 10_000}
DUBS = {"plus": 2_000, "premium": 4_000}
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
LEAST_CLIP = 1_000

Priced = tuple[str, str | None, int]  # action, language, milli-credits


def milli(credits_: float) -> int:
    """Credits from the wire in whole milli-credits; an amount that has more digits than that is no amount."""
    exact = Decimal(str(credits_)) * 1000
    if exact != exact.to_integral_value():
        raise ValueError(f"{credits_} is not a whole number of milli-credits")
    return int(exact)


def line_price(
    action: str, product: str, *, terms: Mapping[str, int], duration_ms: int | None, is_subscriber: bool
) -> int | None:
    """What one line must cost; nothing when that needs a duration and there is none."""
    if action in BY_THE_MINUTE or action == "dub":
        if duration_ms is None:
            return None
        tenths = (Decimal(duration_ms) / 6_000).to_integral_value(ROUND_CEILING)
        minute = DUBS[product] if action == "dub" else BY_THE_MINUTE[action]
        return int(tenths * minute / 10)
    if action == "shorts-clip":
        rebates = bool(terms.get("watermark")) + is_subscriber
        return max(LEAST_CLIP, FLAT[action] - rebates * REBATE)
    return FLAT[action] + sum(EXTRA[term] * count for term, count in terms.items())


def priced_bundle(
    bundle: Mapping[str, Any], *, video_seconds: float | None, is_subscriber: bool
) -> list[Priced] | None:
    """What a quote of a bundle must say, line by line; nothing when the duration is needed and not known."""
    seconds = bundle.get("durationSeconds", video_seconds)
    duration_ms = int(Decimal(str(seconds)) * 1000) if seconds is not None else None
    lines = []
    for action, product, language, terms in _lines(bundle):
        price = line_price(action, product, terms=terms, duration_ms=duration_ms, is_subscriber=is_subscriber)
        if price is None:
            return None
        lines.append((action, language, price))
    return lines


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


def _thumbnail_lines(asked: Mapping[str, Any] | None) -> list[Line]:
    if asked is None or not asked["enabled"]:
        return []
    terms = {
        "characters": asked.get("characterCount", 0),
        "referenceProducts": len(asked.get("referenceProducts", [])),
    }
    lines: list[Line] = [("zero-prompt-thumbnail", "thumbnail", None, terms)]
    lines += [("thumbnail-translate", "thumbnail", code, {}) for code in asked.get("translateLanguageCodes", [])]
    if asked.get("autoDetectContentMoments"):
        lines.append(("content-moment-detect", "thumbnail", None, {}))
    return lines


def random_bundle(chance: random.Random) -> dict[str, Any]:
    """Any bundle, also one that asks for nothing."""
    bundle: dict[str, Any] = {}
    if chance.random() < 0.5:
        products = chance.sample(sorted(DUBS), chance.randint(1, 2))
        bundle["dubs"] = [{"product": product, "languages": _languages(chance)} for product in products]
    if chance.random() < 0.4:
        bundle["captionLanguageCodes"] = _languages(chance)
    if chance.random() < 0.3:
        bundle["transcriptOnly"] = chance.random() < 0.8
    if chance.random() < 0.4:
        bundle["shorts"] = _random_shorts(chance)
    if chance.random() < 0.3:
        bundle["zeroPromptThumbnail"] = _random_thumbnail(chance)
    if chance.random() < 0.4:
        bundle["durationSeconds"] = random_seconds(chance)
    return bundle


def random_seconds(chance: random.Random) -> float:
    """Any duration, and more often than chance would one at the edge of a tenth of a minute."""
    if chance.random() < 0.3:
        return max(1, chance.randint(0, 200) * 6_000 + chance.choice((-1, 0, 1))) / 1000
    return chance.randint(1, A_LONG_VIDEO_SECONDS * 1000) / 1000


def _languages(chance: random.Random) -> Sequence[str]:
    return chance.sample(LANGUAGES, chance.randint(1, SOME_LANGUAGES))


def _random_shorts(chance: random.Random) -> dict[str, Any]:
    def coin() -> bool:
        return chance.random() < 0.5

    return {
        "kind": chance.choice(("shorts", "promo", "clips")),
        "numClips": chance.randint(1, 7),
        "includeWatermark": coin(),
        "isSubscriber": coin(),  # changes nothing: the plan decides
        "includeSoundtrack": coin(),
        "includeGeneratedThumbnail": coin(),
    }


def _random_thumbnail(chance: random.Random) -> dict[str, Any]:
    return {
        "enabled": chance.random() < 0.8,
        "referenceProducts": [f"product {number}" for number in range(chance.randint(0, 3))],
        "characterCount": chance.randint(0, 3),
        "translateLanguageCodes": _languages(chance) if chance.random() < 0.5 else [],
        "autoDetectContentMoments": chance.random() < 0.5,
    }
