"""Builds API request bodies (import recipes, quotes, products) from form fields."""

from typing import Any

from cutroom.accounts.principals import Principal
from cutroom.console.framework.forms import Form
from cutroom.console.framework.page_context import parse
from cutroom.credits.schemas import CreditBundle
from cutroom.errors import invalid_field
from cutroom.products.thumbnails.rules import MAX_CHARACTERS
from cutroom.text.language_tags import canonical_language, is_language

MAX_SECONDS = 10_000_000


def parse_recipes(form: Form) -> dict[str, Any] | None:
    """The `products` field of POST /videos."""
    body: dict[str, Any] = {}
    if languages := parse_languages(form, "dub"):
        body["dubs"] = [{"languages": languages, "product": parse_dub_product(form)}]
    if shorts := parse_shorts(form):
        body["shorts"] = shorts
    return body or None


def parse_bundle(form: Form) -> CreditBundle:
    """The body of a quote request."""
    body: dict[str, Any] = {}
    if languages := parse_languages(form, "dub"):
        body["dubs"] = [{"languages": languages, "product": parse_dub_product(form)}]
    if languages := parse_languages(form, "captions"):
        body["captionLanguageCodes"] = languages
    if shorts := parse_shorts(form):
        body["shorts"] = {"kind": shorts["kind"], "numClips": shorts.get("numClips", 1)}
    if form.text("kind") == "thumbnail":
        body["zeroPromptThumbnail"] = {
            "enabled": True,
            "autoDetectContentMoments": form.has("review"),
            "characterCount": len(parse_characters(form)),
        }
    try:
        seconds = float(form.text("seconds") or 0)
    except ValueError:
        seconds = 0.0
    if 0 < seconds <= MAX_SECONDS:
        body["durationSeconds"] = seconds
    return parse(CreditBundle, body)


def parse_languages(form: Form, field: str) -> list[str]:
    codes = [code for code in form.all(field) if code]
    if not all(is_language(code) for code in codes):
        raise invalid_field(field, "Unknown language.")
    return list(dict.fromkeys(canonical_language(code) for code in codes))


def parse_characters(form: Form) -> list[str]:
    """The characters to show on a thumbnail; also checked for the quote, before anything is created."""
    characters = list(dict.fromkeys(each for each in form.all("character") if each))
    if len(characters) > MAX_CHARACTERS:
        raise invalid_field("character", f"A thumbnail shows at most {MAX_CHARACTERS} characters.")
    if characters and form.has("review"):
        raise invalid_field("character", "A thumbnail can use frames from the video or characters, but not both.")
    return characters


def parse_dub_product(form: Form) -> str:
    return "premium" if form.text("product") == "premium" else "plus"


def parse_shorts(form: Form) -> dict[str, Any] | None:
    kind = form.text("shorts")
    if kind not in {"shorts", "promo", "clips"}:
        return None
    number = form.text("clips")
    count = int(number) if number.isascii() and number.isdigit() and len(number) < 4 else 3
    maximum = 4 if kind == "clips" else 10
    return {"kind": kind} if kind == "promo" else {"kind": kind, "numClips": min(max(count, 1), maximum)}


def may_produce(principal: Principal) -> bool:
    return principal.may_write and not principal.suspended
