"""The credits page: balance, holds, statement and prices."""

from dataclasses import fields

from starlette.responses import Response

from cutroom.accounts.principals import Role
from cutroom.accounts.service import set_draft_policy
from cutroom.console.framework.page_context import PageContext, page, redirect
from cutroom.credits import ledger, receipts
from cutroom.credits.pricing import load_prices, to_credits

MAX_MOVEMENTS = 200
PRICE_LABELS = {
    "dub_plus": "Dub with stock voices",
    "dub_plus_draft": "Dub with stock voices, draft translation",
    "dub_premium": "Dub with cloned voices",
    "dub_premium_draft": "Dub with cloned voices, draft translation",
    "captions": "Translated captions",
    "captions_draft": "Translated captions, draft",
    "transcript": "Transcript only",
    "shorts_clip": "Short",
    "promo": "Promo",
    "promo_soundtrack": "Promo with background music",
    "longclip": "Long clip",
    "longclip_thumbnail": "Thumbnail for a long clip",
    "zero_prompt_thumbnail": "Thumbnail",
    "prompt_thumbnail": "Thumbnail from a prompt",
    "thumbnail_translate": "Translated thumbnail",
    "content_moment_detect": "Moment detection for a thumbnail",
    "speech": "Speech synthesis",
    "regeneration_minimum": "Least price of segments or lines that are made again",
}
KIND_LABELS = {
    "grant": "Credits added",
    "hold": "Held for a job",
    "capture": "Charged for a completed job",
    "release": "Returned",
}


async def show_credits(context: PageContext) -> Response:
    connection, library_id = context.call.connection, context.me.principal.library_id
    balances = await ledger.get_balances(connection, library_id)
    prices = load_prices(context.runtime.settings.prices_file)
    listed = [
        (PRICE_LABELS[field.name], to_credits(getattr(table, field.name)), unit)
        for table, unit in ((prices.per_minute, "minute"), (prices.each, "item"))
        for field in fields(table)
        if field.name in PRICE_LABELS
    ]
    return context.page(
        "credits.html",
        balances=balances,
        wallet=to_credits(balances.wallet),
        escrow=to_credits(balances.escrow),
        limit=to_credits(balances.overdraft),
        movements=await receipts.statement(connection, library_id, limit=MAX_MOVEMENTS),
        kinds=KIND_LABELS,
        prices=listed,
        version=prices.version,
        is_admin=context.me.principal.role in {Role.OWNER, Role.ADMIN},
        is_operator_refusing=context.runtime.settings.drafts_refused,
    )


async def set_drafts(context: PageContext) -> Response:
    """Sets whether the library refuses translations of draft quality."""
    is_refusing = context.form.text("drafts") == "refuse"
    before = await set_draft_policy(context.call.connection, context.me.principal, refuses_drafts=is_refusing)
    context.record("library.change", before={"refusesDrafts": before}, after={"refusesDrafts": is_refusing})
    return redirect("/credits", notice="drafts")


ROUTES = [page("/credits", show_credits), page("/credits/drafts", set_drafts, method="POST")]
