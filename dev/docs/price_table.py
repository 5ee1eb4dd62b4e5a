"""Renders the bundled price list and the bundled plans as tables."""

from dataclasses import fields

from cutroom.accounts.plans import Plan, load_plans
from cutroom.credits.pricing import TENTH_OF_A_CREDIT, PriceList, load_prices, to_credits

HEAD = ("| work | `actionKey` | credits |", "|---|---|---|")


def price_table() -> str:
    return "\n".join((*HEAD, *(f"| {' | '.join(row)} |" for row in _rows(load_prices()))))


def _rows(prices: PriceList) -> list[tuple[str, str, str]]:
    minute, unit, discount = prices.per_minute, prices.each, prices.shorts_rebate
    return [
        (
            "dub, `plus` / `premium`",
            "`dub`",
            f"{_c(minute.dub_plus)} / {_c(minute.dub_premium)} per minute and language; "
            f"a draft {_c(minute.dub_plus_draft)} / {_c(minute.dub_premium_draft)}",
        ),
        (
            "changed lines of a dub",
            "",
            "the price of the dub per minute, for the time of the lines that are spoken again, rounded up to "
            f"{_c(TENTH_OF_A_CREDIT)}; at least {_c(unit.regeneration_minimum)}",
        ),
        (
            "translated captions",
            "`captions`",
            f"{_c(minute.captions)} per minute and language; a draft {_c(minute.captions_draft)}",
        ),
        (
            "changed segments of captions again",
            "`captions`",
            f"the changed seconds at that rate, rounded up to a tenth of a credit; at least "
            f"{_c(unit.regeneration_minimum)}, never more than the whole",
        ),
        (
            "standalone transcript",
            "`transcript`",
            f"{_c(minute.transcript)} per minute; the transcript of an import is free",
        ),
        (
            "zero-prompt thumbnail",
            "`zero-prompt-thumbnail`",
            f"{_c(unit.zero_prompt_thumbnail)}, plus {_c(unit.thumbnail_character)} per character "
            f"and {_c(unit.thumbnail_reference_product)} per reference product",
        ),
        ("the same in another language", "`thumbnail-translate`", f"{_c(unit.thumbnail_translate)} per language"),
        ("detecting content moments for it", "`content-moment-detect`", _c(unit.content_moment_detect)),
        (
            "short clip",
            "`shorts-clip`",
            f"{_c(unit.shorts_clip)} each; {_c(discount.watermark)} less with a watermark, "
            f"{_c(discount.subscriber)} less on a paid plan, never below {_c(discount.floor)}",
        ),
        ("promo", "`promo`", f"{_c(unit.promo)}, plus {_c(unit.promo_soundtrack)} for a soundtrack"),
        (
            "long clip",
            "`longclip`",
            f"{_c(unit.longclip)} each, plus {_c(unit.longclip_thumbnail)} for a generated thumbnail",
        ),
        ("lip sync", "`lipsync`", f"{_c(minute.lipsync)} per minute (not implemented)"),
        ("speech", "", f"{_c(unit.speech)} per synthesis"),
        ("thumbnail from a prompt", "", _c(unit.prompt_thumbnail)),
    ]


def _c(millicredits: int) -> str:
    return f"{to_credits(millicredits):g}"


def plan_table() -> str:
    plans = load_plans(None)
    names = [each.name for each in fields(Plan) if each.name != "name"]
    head = f"| plan | {' | '.join(f'`{name}`' for name in names)} |"
    rows = (
        f"| `{plan.name}` | {' | '.join(_cell(getattr(plan, name)) for name in names)} |" for plan in plans.values()
    )
    return "\n".join((head, "|---" * (len(names) + 1) + "|", *rows))


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else f"{value}"
