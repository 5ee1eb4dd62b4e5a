"""Orders on the video page: what can be made and for how much, and the forms that order it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel
from starlette.responses import Response

from cutroom.console.framework.forms import Form
from cutroom.console.framework.page_context import PageContext, error_text, page, parse, redirect
from cutroom.console.framework.recipes import parse_bundle, parse_dub_product, parse_languages, parse_shorts
from cutroom.console.framework.rendering import language_name
from cutroom.credits import routes as credit
from cutroom.credits.schemas import Quote
from cutroom.engines.translation.port import Quality
from cutroom.errors import CutroomError, invalid_field
from cutroom.library.schemas import Video
from cutroom.products.captions import routes as captions
from cutroom.products.captions.schemas import NewCaptions
from cutroom.products.catalog import PRODUCTS
from cutroom.products.declaration import ConsolePanel, VideoTab
from cutroom.products.dubs import routes as dubs
from cutroom.products.dubs.schemas import NewDubs
from cutroom.products.dubs.sources.options import SourceVoiceover
from cutroom.products.shorts import routes as shorts
from cutroom.products.shorts.schemas import NewClips, NewPromo, NewShorts
from cutroom.web.operation import operation_of

_IN_TAB_ORDER = {tab: place for place, tab in enumerate(VideoTab)}
PANELS = tuple(
    sorted((each for product in PRODUCTS for each in product.panels), key=lambda each: _IN_TAB_ORDER[each.tab])
)
MAX_NAMED = 3  # languages named on a button
_NO_LANGUAGES = {
    "dub": "Not available: no worker with speech synthesis is running.",
    "captions": "Not available: no worker with translation is running.",
}
_INCOMPLETE = {"dub": "Choose languages", "captions": "Choose languages", "shorts": "Choose a type"}
_TRANSLATED: Mapping[str, Callable[..., object]] = {"dub": dubs.create_dubs, "captions": captions.create_captions}
_BODIES: dict[str, type[NewShorts] | type[NewPromo] | type[NewClips]] = {
    "shorts": NewShorts,
    "promo": NewPromo,
    "clips": NewClips,
}


@dataclass(frozen=True, slots=True)
class PriceTag:
    """The submit button of a form: what it orders and its price, or why it cannot be ordered."""

    label: str
    quote: Quote | None = None  # None until the form is complete
    error: str | None = None
    kind: str = ""
    is_draft_accepted: bool = False

    @property
    def drafts(self) -> str:
        """The languages whose translation is a draft, which has to be confirmed."""
        return self._names_of(Quality.DRAFT)

    @property
    def to_review(self) -> str:
        return self._names_of(Quality.REVIEW)

    def _names_of(self, quality: Quality) -> str:
        lines = self.quote.breakdown if self.quote else []
        codes = [line.target_language_code for line in lines if line.quality is quality]
        return _names([code for code in codes if code]) if codes else ""


@dataclass(frozen=True, slots=True)
class Offer:
    """A product that can be made from the video, with the price of its simplest order."""

    panel: ConsolePanel
    form: Form  # the initial values of its form
    simplest: PriceTag | None = None  # None if it has no price list entry
    button: PriceTag | None = None


async def load_offers(
    context: PageContext,
    video: Video,
    panels: Iterable[ConsolePanel],
    *,
    choices: Mapping[str, Sequence[str]],
) -> list[Offer]:
    """Prices the simplest order of each panel, and the order that the page's query has filled in."""
    query = Form(tuple(context.request.query_params.multi_items()))
    has_failed_transcript = video.transcript is not None and video.transcript.status == "failed"
    offers = []
    for panel in panels:
        order = dict(panel.order or {})
        form = _initial_form(order, query)
        languages = choices.get(order.get("kind", ""))
        if not order:
            offers.append(Offer(panel, form))
        elif panel.needs_transcript and has_failed_transcript:
            offers.append(_unavailable(panel, form, "Needs a transcript, which failed."))
        elif languages == []:
            offers.append(_unavailable(panel, form, _NO_LANGUAGES[order["kind"]]))
        else:
            if languages:
                order[order["kind"]] = languages[0]
            simplest = await _price(context, video.id, Form(tuple(order.items())))
            offers.append(Offer(panel, form, simplest, await _price(context, video.id, form)))
    return offers


def _unavailable(panel: ConsolePanel, form: Form, reason: str) -> Offer:
    return Offer(panel, form, PriceTag(panel.title, error=reason), PriceTag(panel.title, error=reason))


def _initial_form(order: Mapping[str, str], query: Form) -> Form:
    given = tuple((name, value) for name, value in query.pairs if name not in {"kind", "tab"})
    names = {name for name, _ in given}
    return Form(given + tuple((name, value) for name, value in order.items() if name not in names))


async def _price(context: PageContext, video_id: str, form: Form) -> PriceTag:
    kind = form.text("kind")
    if not _is_complete(form):
        return PriceTag(_INCOMPLETE[kind])
    try:
        quote = await context.call_operation(credit.quote, video_id, parse_bundle(form))
    except CutroomError as error:
        return PriceTag(_label(form), error=error_text(error))
    return PriceTag(_label(form), quote, kind=kind, is_draft_accepted=form.has("draft"))


def _is_complete(form: Form) -> bool:
    match form.text("kind"):
        case "dub" | "captions" as kind:
            return bool(parse_languages(form, kind))
        case "shorts":
            return parse_shorts(form) is not None
        case _:
            return True


def _label(form: Form) -> str:
    match form.text("kind"):
        case "dub":
            return f"Dub into {_names(parse_languages(form, 'dub'))}"
        case "captions":
            return f"Create captions in {_names(parse_languages(form, 'captions'))}"
        case "shorts":
            return f"Generate {form.text('shorts')}"
        case kind:
            return f"Generate {kind}"


def _names(codes: Sequence[str]) -> str:
    if len(codes) > MAX_NAMED:
        return f"{len(codes)} languages"
    names = [language_name(code) for code in codes]
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


async def show_price(context: PageContext) -> Response:
    """Fragment with a form's submit button, which shows the exact price."""
    form = Form(tuple(context.request.query_params.multi_items()))
    if form.text("kind") not in _PRICED:
        raise invalid_field("kind", "Unknown product.")
    button = await _price(context, context.request.path_params["video_id"], form)
    return context.page("price_button.html", button=button)


async def create(context: PageContext) -> Response:
    """Creates dubs, captions or shorts through the API operation."""
    video_id, form = context.request.path_params["video_id"], context.form
    await _require_confirmation(context, video_id, form)
    match form.text("kind"):
        case "dub":
            document = {"languages": parse_languages(form, "dub"), "product": parse_dub_product(form)}
            if form.text("voiceover") == SourceVoiceover.OPTIMIZED:
                document["sourceVoiceover"] = SourceVoiceover.OPTIMIZED.value
            await context.call_operation(dubs.create_dubs, video_id, parse(NewDubs, document))
        case "captions":
            body = parse(NewCaptions, {"languages": parse_languages(form, "captions")})
            await context.call_operation(captions.create_captions, video_id, body)
        case "shorts":
            options = parse_shorts(form)
            if options is None:
                raise invalid_field("shorts", "Choose shorts, a promo or clips.")
            model: type[BaseModel] = _BODIES[options["kind"]]
            shorts_body = parse(model, {**options, "captionStyle": form.text("style") or "default"})
            await context.call_operation(shorts.create_shorts, video_id, shorts_body)
        case _:
            raise invalid_field("kind", "Unknown product.")
    return redirect(f"/videos/{video_id}", tab=tab_of(form.text("kind")))


async def _require_confirmation(context: PageContext, video_id: str, form: Form) -> None:
    """Refuses an order of drafts that was sent without the confirmation, as browsers without scripts can."""
    creation = _TRANSLATED.get(form.text("kind"))
    if creation is not None and _is_complete(form) and not form.has("draft"):
        operation_of(creation).authorize(context.me.principal)
        quote = await context.call_operation(credit.quote, video_id, parse_bundle(form))
        if drafts := PriceTag("", quote).drafts:
            raise invalid_field("draft", f"Confirm that you want a draft in {drafts}.")


def tab_of(kind: str) -> VideoTab:
    """The tab with the form of this kind."""
    return next((each.tab for each in PANELS if (each.order or {}).get("kind") == kind), VideoTab.PUBLISH)


_PRICED = frozenset({"dub", "captions", "shorts", "thumbnail"})

ROUTES = [
    page("/videos/{video_id}/price", show_price),
    page("/videos/{video_id}/make", create, method="POST"),
]
