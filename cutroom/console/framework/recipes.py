"""Builds API request bodies (import recipes, quotes, products) from form fields."""

from typing import Any

from cutroom.accounts.principals import Principal
from cutroom.console.framework.forms import Form
from cutroom.console.framework.page_context import parse
from cutroom.credits.schemas import CreditBundle
from cutroom.errors import invalid_field
from cutroom.products.captions import service as captions
from cutroom.products.captions.schemas import NewCaptions
from cutroom.products.dubs import service as dubs
from cutroom.products.dubs.schemas import NewDubs
from cutroom.products.shorts import service as shorts
from cutroom.products.thumbnails import service as thumbnails
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
    """The bundle of the products that a form orders, as each product prices its own request."""
    bundles = []
    if languages := parse_languages(form, "dub"):
        document = {"languages": languages, "product": parse_dub_product(form)}
        bundles.append(dubs.credit_bundle(parse(NewDubs, document)))
    if languages := parse_languages(form, "captions"):
        bundles.append(captions.credit_bundle(parse(NewCaptions, {"languages": languages})))
    if options := parse_shorts(form):
        bundles.append(shorts.credit_bundle(options))
    if form.text("kind") == "thumbnail":
        bundles.append(thumbnails.credit_bundle(parse_thumbnail(form)))
    return CreditBundle.of(bundles, duration_seconds=_parse_seconds(form))


def _parse_seconds(form: Form) -> float | None:
    try:
        seconds = float(form.text("seconds") or 0)
    except ValueError:
        return None
    return seconds if 0 < seconds <= MAX_SECONDS else None


def parse_thumbnail(form: Form) -> dict[str, Any]:
    """Options of a zero-prompt thumbnail; with review, detected references are approved before generation."""
    options: dict[str, Any] = {}
    if characters := parse_characters(form):
        options |= {"characterCount": len(characters), "characters": [{"characterId": each} for each in characters]}
    if headline := form.text("headline"):
        options["textOverlay"] = headline
    if form.has("review"):
        options |= {"pipelineMode": "thumbnail-precision", "referenceSchemaVersion": 2}  # detection requires this mode
        options |= {"autoDetectContentReferences": True, "contentDetectApprovalMode": "review"}
    return options


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
