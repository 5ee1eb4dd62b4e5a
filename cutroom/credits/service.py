"""Quoting and reserving bundles of work."""

from datetime import datetime, timedelta

from cutroom.accounts.plans import PlanName
from cutroom.accounts.principals import Principal
from cutroom.credits import ledger
from cutroom.credits.escrow import NewLines, price_all, put_lines
from cutroom.credits.pricing import Action, PriceList, Term, Work, credits_of, milliseconds_of
from cutroom.credits.schemas import CreditBundle, Quote, QuoteLine, Reservation, ReservationLine, ShortsWork
from cutroom.errors import invalid_field
from cutroom.library.service import get_video
from cutroom.platform.db import Connection
from cutroom.platform.ids import new_id
from cutroom.platform.outbox import WorkflowStart, enqueue

MAX_LONG_CLIPS = 4  # a request for more makes four
EXPIRY_WORKFLOW = "expire-reservation"


def is_subscriber(principal: Principal) -> bool:
    """Whoever is on a paid plan; what the caller says of itself does not count."""
    return principal.plan.name is not PlanName.FREE


async def balance_of(connection: Connection, library_id: str) -> int:
    """In millicredits, without what is held."""
    return await ledger.balance(connection, library_id)


def works_of(bundle: CreditBundle) -> list[Work]:
    """Everything in a bundle that is paid for, one piece for each line."""
    works = [Work(Action.DUB, dub.product, language) for dub in bundle.dubs for language in dub.languages]
    works += [Work(Action.CAPTIONS, "captions", language) for language in bundle.caption_language_codes]
    if bundle.transcript_only:
        works.append(Work(Action.TRANSCRIPT, "transcript"))
    if bundle.shorts is not None:
        works += _shorts(bundle.shorts)
    thumbnail = bundle.zero_prompt_thumbnail
    if thumbnail is not None and thumbnail.enabled:
        terms = {
            Term.CHARACTERS: thumbnail.character_count,
            Term.REFERENCE_PRODUCTS: len(thumbnail.reference_products),
        }
        works.append(Work(Action.ZERO_PROMPT_THUMBNAIL, "thumbnail", terms=_given(terms)))
        codes = thumbnail.translate_language_codes
        works += [Work(Action.THUMBNAIL_TRANSLATE, "thumbnail", language) for language in codes]
        if thumbnail.auto_detect_content_moments:
            works.append(Work(Action.CONTENT_MOMENT_DETECT, "thumbnail"))
    return works


def _shorts(shorts: ShortsWork) -> list[Work]:
    if shorts.kind == "promo":
        return [Work(Action.PROMO, "promo", terms=_given({Term.SOUNDTRACK: int(shorts.include_soundtrack)}))]
    if shorts.kind == "clips":
        terms = _given({Term.GENERATED_THUMBNAIL: int(shorts.include_generated_thumbnail)})
        return [Work(Action.LONGCLIP, "clips", terms=terms)] * min(shorts.num_clips, MAX_LONG_CLIPS)
    terms = _given({Term.WATERMARK: int(shorts.include_watermark)})
    return [Work(Action.SHORTS_CLIP, "shorts", terms=terms)] * shorts.num_clips


def _given(terms: dict[Term, int]) -> dict[str, int]:
    return {term.value: count for term, count in terms.items() if count}


async def quote(
    connection: Connection, principal: Principal, video_id: str, *, bundle: CreditBundle, prices: PriceList
) -> Quote:
    """What a bundle costs on this video; nothing is debited."""
    duration, priced = await _price(connection, principal, video_id, bundle=bundle, prices=prices)
    return await _quote(connection, principal, duration, priced, prices=prices)


async def estimate(connection: Connection, principal: Principal, *, bundle: CreditBundle, prices: PriceList) -> Quote:
    """What a bundle will cost on media that is not here yet, by the duration that the bundle names."""
    seconds = bundle.duration_seconds
    duration = milliseconds_of(seconds) if seconds is not None else None
    works = works_of(bundle)
    priced = price_all(works, prices=prices, duration=duration, is_subscriber=is_subscriber(principal))
    return await _quote(connection, principal, duration, priced, prices=prices)


async def _quote(
    connection: Connection,
    principal: Principal,
    duration: int | None,
    priced: list[tuple[Work, int]],
    *,
    prices: PriceList,
) -> Quote:
    has = await ledger.funds(connection, principal.library_id)
    total = sum(millicredits for _, millicredits in priced)
    missing = 0 if has.usage_billing else max(0, total - has.wallet)
    return Quote(
        total=credits_of(total),
        duration_seconds=(duration or 0) / 1000,
        pricing_version=prices.version,
        balance=credits_of(has.wallet),
        usage_billing_active=has.usage_billing,
        shortfall=credits_of(missing),
        sufficient=not total or (total <= has.available and not has.is_frozen),
        breakdown=[
            QuoteLine(
                action_key=work.action,
                product=work.product,
                target_language_code=work.language,
                credits=credits_of(millicredits),
                description=describe(work),
            )
            for work, millicredits in priced
        ],
    )


async def reserve(
    connection: Connection,
    principal: Principal,
    video_id: str,
    *,
    bundle: CreditBundle,
    prices: PriceList,
    lasts: timedelta,
    now: datetime,
) -> Reservation:
    """Put the price of a bundle into escrow, all of it or nothing, for as long as a reservation lasts."""
    duration, priced = await _price(connection, principal, video_id, bundle=bundle, prices=prices)
    if not priced:
        raise invalid_field("body", "A reservation needs at least one billable action.")
    reservation_id, expires_at = new_id(), now + lasts
    lines = NewLines(
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
    ids = await put_lines(connection, principal.library_id, lines, now=now)
    return Reservation(
        reservation_id=reservation_id,
        total=credits_of(sum(millicredits for _, millicredits in priced)),
        duration_seconds=(duration or 0) / 1000,
        line_items=[
            ReservationLine(
                line_item_id=line_id,
                action_key=work.action,
                product=work.product,
                target_language_code=work.language,
                credits=credits_of(millicredits),
            )
            for line_id, (work, millicredits) in zip(ids, priced, strict=True)
        ],
    )


async def _price(
    connection: Connection, principal: Principal, video_id: str, *, bundle: CreditBundle, prices: PriceList
) -> tuple[int | None, list[tuple[Work, int]]]:
    """The duration that is billed in milliseconds, and the price of everything in the bundle."""
    video = await get_video(connection, principal, video_id)
    seconds = bundle.duration_seconds if bundle.duration_seconds is not None else video.duration
    duration = milliseconds_of(seconds) if seconds is not None else None
    works = works_of(bundle)
    return duration, price_all(works, prices=prices, duration=duration, is_subscriber=is_subscriber(principal))


def describe(work: Work) -> str:
    """A line of a quote in words."""
    words = {
        Action.DUB: f"Dub ({work.product})",
        Action.CAPTIONS: "Translated captions",
        Action.TRANSCRIPT: "Transcript",
        Action.ZERO_PROMPT_THUMBNAIL: "Thumbnail",
        Action.THUMBNAIL_TRANSLATE: "Translated thumbnail",
        Action.CONTENT_MOMENT_DETECT: "Finding moments of the video",
        Action.LIPSYNC: "Lip sync",
        Action.SHORTS_CLIP: "Short clip",
        Action.PROMO: "Promo",
        Action.LONGCLIP: "Long clip",
        Action.SPEECH: "Speech",
        Action.PROMPT_THUMBNAIL: "Thumbnail by prompt",
    }
    return f"{words[work.action]}, {work.language}" if work.language else words[work.action]
