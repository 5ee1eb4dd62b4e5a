"""What a person wants made of a video, as a form says it: for import, for a quote, and for a product's own request."""

from typing import Any

from cutroom.accounts.principals import Principal
from cutroom.console.framework.forms import Form
from cutroom.console.framework.page_context import parse
from cutroom.credits.schemas import CreditBundle
from cutroom.errors import invalid_field
from cutroom.products.thumbnails.rules import MAX_CHARACTERS
from cutroom.text.language_tags import canonical_language, is_language

MAX_SECONDS = 10_000_000


def recipes_of(form: Form) -> dict[str, Any] | None:
    """As POST /videos takes it."""
    wanted: dict[str, Any] = {}
    if languages := languages_in(form, "dub"):
        wanted["dubs"] = [{"languages": languages, "product": product_in(form)}]
    if shorts := shorts_in(form):
        wanted["shorts"] = shorts
    return wanted or None


def bundle_of(form: Form) -> CreditBundle:
    """As a quote takes it."""
    wanted: dict[str, Any] = {}
    if languages := languages_in(form, "dub"):
        wanted["dubs"] = [{"languages": languages, "product": product_in(form)}]
    if languages := languages_in(form, "captions"):
        wanted["captionLanguageCodes"] = languages
    if shorts := shorts_in(form):
        wanted["shorts"] = {"kind": shorts["kind"], "numClips": shorts.get("numClips", 1)}
    if form.text("kind") == "thumbnail":
        wanted["zeroPromptThumbnail"] = {
            "enabled": True,
            "autoDetectContentMoments": form.has("review"),
            "characterCount": len(figures_in(form)),
        }
    try:
        seconds = float(form.text("seconds") or 0)
    except ValueError:
        seconds = 0.0
    if 0 < seconds <= MAX_SECONDS:
        wanted["durationSeconds"] = seconds
    return parse(CreditBundle, wanted)


def languages_in(form: Form, field: str) -> list[str]:
    found = [code for code in form.all(field) if code]
    if not all(is_language(code) for code in found):
        raise invalid_field(field, "This is not a language.")
    return list(dict.fromkeys(canonical_language(code) for code in found))


def figures_in(form: Form) -> list[str]:
    """The characters that a thumbnail shall show; told beside its price, before anything is asked for."""
    found = list(dict.fromkeys(each for each in form.all("figure") if each))
    if len(found) > MAX_CHARACTERS:
        raise invalid_field("figure", f"A thumbnail shows at most {MAX_CHARACTERS} characters.")
    if found and form.has("review"):
        raise invalid_field("figure", "Pictures of the film, or characters: one thumbnail cannot have both.")
    return found


def product_in(form: Form) -> str:
    return "premium" if form.text("product") == "premium" else "plus"


def shorts_in(form: Form) -> dict[str, Any] | None:
    kind = form.text("shorts")
    if kind not in {"shorts", "promo", "clips"}:
        return None
    number = form.text("clips")
    count = int(number) if number.isascii() and number.isdigit() and len(number) < 4 else 3
    most = 4 if kind == "clips" else 10
    return {"kind": kind} if kind == "promo" else {"kind": kind, "numClips": min(max(count, 1), most)}


def may_produce(principal: Principal) -> bool:
    return principal.may_write and not principal.suspended
