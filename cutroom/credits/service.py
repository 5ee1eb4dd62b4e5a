"""Quotes and reserves bundles."""

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Protocol

from cutroom.accounts.plans import PlanName
from cutroom.accounts.principals import Principal
from cutroom.credits import ledger
from cutroom.credits.escrow import NewEscrowLines, create_lines, price_items
from cutroom.credits.pricing import (
    DRAFT_RATED,
    MAX_CLIPS,
    Action,
    BillableItem,
    PriceList,
    Term,
    to_credits,
    to_milliseconds,
)
from cutroom.credits.schemas import CreditBundle, Quote, QuoteLine, Reservation, ReservationLine, ShortsWork
from cutroom.credits.spending import Budget
from cutroom.engines.translation.port import Quality
from cutroom.errors import invalid_field
from cutroom.library.schemas import Video
from cutroom.library.service import get_video
from cutroom.platform.db import Connection
from cutroom.platform.ids import new_id
from cutroom.platform.outbox import WorkflowStart, enqueue

EXPIRY_WORKFLOW = "expire-reservation"


# The class of the translation into each language; none while the language of the video is unknown.
Qualities = Mapping[str, Quality]
NOT_TRANSLATED: Qualities = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class RatedBundle:
    """A bundle, and the class of its translations, which their prices depend on."""

    bundle: CreditBundle
    qualities: Qualities = field(default_factory=dict)

    @property
    def items(self) -> list[BillableItem]:
        return billable_items(self.bundle, self.qualities)

    def quality(self, item: BillableItem) -> Quality | None:
        return self.qualities.get(str(item.language)) if item.action in DRAFT_RATED else None


class BundleCheck(Protocol):
    """A product's check of its part of a bundle: it raises whatever the product's creation would raise.

    Returns the class of each translation, which its price depends on.
    """

    def __call__(
        self, connection: Connection, principal: Principal, video: Video, *, bundle: CreditBundle, now: datetime
    ) -> Awaitable[Qualities]: ...


def is_subscriber(principal: Principal) -> bool:
    """Return whether the library is on a paid plan, whatever the request claims."""
    return principal.plan.name is not PlanName.FREE


async def get_balance(connection: Connection, library_id: str) -> int:
    """Return the wallet's milli-credits, excluding holds."""
    return await ledger.wallet_balance(connection, library_id)


def billable_items(bundle: CreditBundle, qualities: Qualities = NOT_TRANSLATED) -> list[BillableItem]:
    """Return the billable items of a bundle, one per line; drafts have a lower price."""
    items = [BillableItem(Action.DUB, dub.product, language) for dub in bundle.dubs for language in dub.languages]
    items += [BillableItem(Action.CAPTIONS, "captions", language) for language in bundle.caption_language_codes]
    items = [each.as_draft() if qualities.get(str(each.language)) is Quality.DRAFT else each for each in items]
    if bundle.transcript_only:
        items.append(BillableItem(Action.TRANSCRIPT, "transcript"))
    if bundle.shorts is not None:
        items += _shorts_items(bundle.shorts)
    thumbnail = bundle.zero_prompt_thumbnail
    if thumbnail is not None and thumbnail.enabled:
        terms = {
            Term.CHARACTERS: thumbnail.character_count,
            Term.REFERENCE_PRODUCTS: len(thumbnail.reference_products),
        }
        items.append(BillableItem(Action.ZERO_PROMPT_THUMBNAIL, "thumbnail", terms=_nonzero(terms)))
        codes = thumbnail.translate_language_codes
        items += [BillableItem(Action.THUMBNAIL_TRANSLATE, "thumbnail", language) for language in codes]
        if thumbnail.auto_detect_content_moments:
            items.append(BillableItem(Action.CONTENT_MOMENT_DETECT, "thumbnail"))
    return items


def _shorts_items(shorts: ShortsWork) -> list[BillableItem]:
    if shorts.kind == "promo":
        return [BillableItem(Action.PROMO, "promo", terms=_nonzero({Term.SOUNDTRACK: int(shorts.include_soundtrack)}))]
    if shorts.kind == "clips":
        terms = _nonzero({Term.GENERATED_THUMBNAIL: int(shorts.include_generated_thumbnail)})
        return [BillableItem(Action.LONGCLIP, "clips", terms=terms)] * min(shorts.num_clips, MAX_CLIPS)
    terms = _nonzero({Term.WATERMARK: int(shorts.include_watermark)})
    return [BillableItem(Action.SHORTS_CLIP, "shorts", terms=terms)] * shorts.num_clips


def _nonzero(terms: dict[Term, int]) -> dict[str, int]:
    return {term.value: count for term, count in terms.items() if count}


async def check_bundle(
    connection: Connection,
    principal: Principal,
    video_id: str,
    *,
    bundle: CreditBundle,
    checks: Sequence[BundleCheck],
    now: datetime,
) -> RatedBundle:
    """Refuse a bundle that could not be created, for the reason that creation would give."""
    video = await get_video(connection, principal, video_id)
    qualities: dict[str, Quality] = {}
    for check in checks:
        qualities |= await check(connection, principal, video, bundle=bundle, now=now)
    return RatedBundle(bundle, qualities)


async def quote(
    connection: Connection, principal: Principal, video_id: str, *, rated: RatedBundle, prices: PriceList
) -> Quote:
    """Price a bundle for this video without charging it."""
    duration, priced = await _price(connection, principal, video_id, rated=rated, prices=prices)
    return await _quote(connection, principal, duration, priced, prices=prices, rated=rated)


async def estimate(connection: Connection, principal: Principal, *, bundle: CreditBundle, prices: PriceList) -> Quote:
    """Price a bundle for media that has not been imported, using the duration given in the bundle."""
    seconds = bundle.duration_seconds
    duration = to_milliseconds(seconds) if seconds is not None else None
    items = billable_items(bundle)
    priced = price_items(items, prices=prices, duration=duration, is_subscriber=is_subscriber(principal))
    return await _quote(connection, principal, duration, priced, prices=prices, rated=RatedBundle(bundle))


async def _quote(
    connection: Connection,
    principal: Principal,
    duration: int | None,
    priced: list[tuple[BillableItem, int]],
    *,
    prices: PriceList,
    rated: RatedBundle,
) -> Quote:
    balances = await ledger.get_balances(connection, principal.library_id)
    total = sum(millicredits for _, millicredits in priced)
    shortfall = max(0, total - balances.available)
    return Quote(
        total=to_credits(total),
        duration_seconds=(duration or 0) / 1000,
        pricing_version=prices.version,
        balance=to_credits(balances.wallet),
        usage_billing_active=balances.usage_billing and not shortfall,
        shortfall=to_credits(shortfall),
        sufficient=not total or not (shortfall or balances.is_frozen),
        breakdown=[
            QuoteLine(
                action_key=item.action,
                product=item.product,
                target_language_code=item.language,
                credits=to_credits(millicredits),
                quality=rated.quality(item),
                description=describe(item),
            )
            for item, millicredits in priced
        ],
    )


async def reserve(
    connection: Connection,
    principal: Principal,
    video_id: str,
    *,
    rated: RatedBundle,
    prices: PriceList,
    lifetime: timedelta,
    now: datetime,
) -> Reservation:
    """Hold the full price of a bundle in escrow until the reservation expires."""
    principal.require_spending()
    duration, priced = await _price(connection, principal, video_id, rated=rated, prices=prices)
    if not priced:
        raise invalid_field("body", "A reservation needs at least one billable action.")
    if principal.spending_limit is not None:
        Budget(principal.spending_limit, charged=0).require(sum(millicredits for _, millicredits in priced))
    reservation_id, expires_at = new_id(), now + lifetime
    lines = NewEscrowLines(
        priced,
        video_id=video_id,
        duration=duration,
        pricing_version=prices.version,
        reservation_id=reservation_id,
        expires_at=expires_at,
    )
    timer = {
        "library_id": principal.library_id,
        "reservation_id": reservation_id,
        "expires_at": expires_at.isoformat(),
    }
    await enqueue(
        connection,
        WorkflowStart(principal.library_id, EXPIRY_WORKFLOW, f"reservation_{reservation_id}", argument=timer),
    )
    ids = await create_lines(connection, principal.library_id, lines, now=now)
    return Reservation(
        reservation_id=reservation_id,
        total=to_credits(sum(millicredits for _, millicredits in priced)),
        duration_seconds=(duration or 0) / 1000,
        line_items=[
            ReservationLine(
                line_item_id=line_id,
                action_key=item.action,
                product=item.product,
                target_language_code=item.language,
                credits=to_credits(millicredits),
                quality=rated.quality(item),
            )
            for line_id, (item, millicredits) in zip(ids, priced, strict=True)
        ],
    )


async def _price(
    connection: Connection, principal: Principal, video_id: str, *, rated: RatedBundle, prices: PriceList
) -> tuple[int | None, list[tuple[BillableItem, int]]]:
    """Return the billed duration in milliseconds and the priced items of the bundle."""
    video = await get_video(connection, principal, video_id)
    given = rated.bundle.duration_seconds
    seconds = given if given is not None else video.duration
    duration = to_milliseconds(seconds) if seconds is not None else None
    return duration, price_items(rated.items, prices=prices, duration=duration, is_subscriber=is_subscriber(principal))


def describe(item: BillableItem) -> str:
    """Return the human-readable description of a quote line."""
    labels = {
        Action.DUB: f"Dub ({item.product})",
        Action.CAPTIONS: "Translated captions",
        Action.TRANSCRIPT: "Transcript",
        Action.ZERO_PROMPT_THUMBNAIL: "Thumbnail",
        Action.THUMBNAIL_TRANSLATE: "Translated thumbnail",
        Action.CONTENT_MOMENT_DETECT: "Content moment detection",
        Action.LIPSYNC: "Lip sync",
        Action.SHORTS_CLIP: "Short clip",
        Action.PROMO: "Promo",
        Action.LONGCLIP: "Long clip",
        Action.SPEECH: "Speech",
        Action.PROMPT_THUMBNAIL: "Thumbnail from a prompt",
    }
    label = f"{labels[item.action]}, draft" if item.count(Term.DRAFT) else labels[item.action]
    return f"{label}, {item.language}" if item.language else label
