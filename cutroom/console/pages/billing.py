"""What a library has, what is held, what was paid, and what things cost."""

from dataclasses import fields

from starlette.responses import Response

from cutroom.console.framework.page_context import PageContext, page
from cutroom.credits import ledger, receipts
from cutroom.credits.pricing import load_prices, to_credits

SHOWN = 200
PRICE_WORDS = {
    "dub_plus": "Dub with voices of the service",
    "dub_premium": "Dub with cloned voices",
    "captions": "Translated captions",
    "transcript": "Transcript by itself",
    "shorts_clip": "Short clip",
    "promo": "Promo",
    "promo_soundtrack": "Soundtrack of a promo",
    "longclip": "Long clip",
    "longclip_thumbnail": "Thumbnail of a long clip",
    "zero_prompt_thumbnail": "Thumbnail",
    "prompt_thumbnail": "Thumbnail by prompt",
    "thumbnail_translate": "Translated thumbnail",
    "content_moment_detect": "Finding moments for a thumbnail",
    "speech": "Reading of a text",
}
KIND_WORDS = {
    "grant": "Credits added",
    "hold": "Held for work",
    "capture": "Paid for work that is done",
    "release": "Given back",
}


async def show_credits(visit: PageContext) -> Response:
    connection, library_id = visit.call.connection, visit.me.principal.library_id
    has = await ledger.get_balances(connection, library_id)
    prices = load_prices(visit.runtime.settings.prices_file)
    listed = [
        (PRICE_WORDS[one.name], to_credits(getattr(table, one.name)), unit)
        for table, unit in ((prices.per_minute, "a minute"), (prices.each, "each"))
        for one in fields(table)
        if one.name in PRICE_WORDS
    ]
    return visit.page(
        "credits.html",
        has=has,
        wallet=to_credits(has.wallet),
        escrow=to_credits(has.escrow),
        limit=to_credits(has.overdraft),
        movements=await receipts.statement(connection, library_id, limit=SHOWN),
        kinds=KIND_WORDS,
        prices=listed,
        version=prices.version,
    )


ROUTES = [page("/credits", show_credits)]
