"""Receipts and statements: what was paid, line by line and movement by movement."""

import asyncio

from cutroom.credits.pricing import Action, Work
from cutroom.credits.receipts import receipt, statement
from tests.credits.conftest import PRICES, AddVideo, Books, hold, paying, reserve

DE, FR = Work(Action.DUB, "plus", "de"), Work(Action.DUB, "plus", "fr")


async def test_a_receipt_shows_every_line_with_entries_that_exist(books: Books, add_video: AddVideo) -> None:
    await books.grant(20_000)
    video_id = await add_video(60.0)
    reservation_id, (de, fr) = await reserve(books, video_id, DE, FR)
    await hold(books, paying(DE, lines=(de,)), "work", video_id)
    async with books.transaction() as connection:
        open_ = await receipt(connection, books.library_id, holder="work")
    await books.capture("work")
    async with books.transaction() as connection:
        paid = await receipt(connection, books.library_id, holder="work")
        nothing = await receipt(connection, books.library_id, holder="nobody")
    totals = [{name: value for name, value in each.items() if name != "lines"} for each in (open_, paid, nothing)]
    assert totals == [
        {"quoted": 2.0, "held": 2.0, "captured": 0.0, "returned": 0.0},
        {"quoted": 2.0, "held": 2.0, "captured": 2.0, "returned": 0.0},
        {"held": 0.0, "captured": 0.0, "returned": 0.0},
    ]
    (line,) = paid["lines"]
    assert line == {
        "lineItemId": de,
        "reservationId": reservation_id,
        "actionKey": "dub",
        "product": "plus",
        "targetLanguageCode": "de",
        "credits": 2.0,
        "pricingVersion": PRICES.version,
        "state": "captured",
        "entries": line["entries"],
    }
    assert open_["lines"] == [{**line, "state": "open", "entries": line["entries"][:2]}]
    known = {f"{transaction}/{account}" for transaction, account, _ in await books.entries()}
    assert len(set(line["entries"])) == 4
    assert set(line["entries"]) <= known
    assert [entry.partition("/")[2] for entry in line["entries"]] == ["wallet", "escrow", "escrow", "revenue"]
    assert await books.states(fr) == ["open"]


async def test_a_statement_tells_every_movement_newest_first_and_adds_up(books: Books) -> None:
    await books.grant(10_000, "welcome")
    lines = []
    for holder, movement in (("done", books.capture), ("failed", books.release)):
        await asyncio.sleep(0.002)  # ids of one millisecond have no order
        lines += await books.put(1_500, holder=holder)
        await asyncio.sleep(0.002)
        await movement(holder)
    async with books.transaction() as connection:
        told = await statement(connection, books.library_id)
        last = await statement(connection, books.library_id, limit=1)
    assert [(each["kind"], each["wallet"], each["escrow"]) for each in told] == [
        ("release", 1.5, -1.5),
        ("hold", -1.5, 1.5),
        ("capture", 0.0, -1.5),
        ("hold", -1.5, 1.5),
        ("grant", 10.0, 0.0),
    ]
    assert [each["reference"] for each in (told[0], told[1], told[-1])] == [lines[1], "failed", "welcome"]
    assert last == told[:1]
    assert sum(each["wallet"] for each in told) * 1000 == (await books.accounts()).wallet
    assert set(told[0]) == {"transactionId", "at", "kind", "reference", "wallet", "escrow"}
