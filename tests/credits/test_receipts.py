"""Receipts list lines; statements list transactions."""

import asyncio

from cutroom.credits.pricing import Action, BillableItem
from cutroom.credits.receipts import receipt, statement
from tests.credits.conftest import PRICES, AddVideo, LibraryLedger, charge_for, hold, reserve

DE, FR = BillableItem(Action.DUB, "plus", "de"), BillableItem(Action.DUB, "plus", "fr")


async def test_receipt_lists_lines_with_ledger_entries(library_ledger: LibraryLedger, add_video: AddVideo) -> None:
    await library_ledger.grant(20_000)
    video_id = await add_video(60.0)
    reservation_id, (de, fr) = await reserve(library_ledger, video_id, DE, FR)
    await hold(library_ledger, charge_for(DE, lines=(de,)), "job", video_id)
    async with library_ledger.transaction() as connection:
        open_ = await receipt(connection, library_ledger.library_id, holder="job")
    await library_ledger.capture("job")
    async with library_ledger.transaction() as connection:
        paid = await receipt(connection, library_ledger.library_id, holder="job")
        nothing = await receipt(connection, library_ledger.library_id, holder="unknown")
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
    known = {f"{transaction}/{account}" for transaction, account, _ in await library_ledger.entries()}
    assert len(set(line["entries"])) == 4
    assert set(line["entries"]) <= known
    assert [entry.partition("/")[2] for entry in line["entries"]] == ["wallet", "escrow", "escrow", "revenue"]
    assert await library_ledger.states(fr) == ["open"]


async def test_statement_lists_transactions_newest_first(library_ledger: LibraryLedger) -> None:
    await library_ledger.grant(10_000, "welcome")
    lines = []
    for holder, movement in (("done", library_ledger.capture), ("failed", library_ledger.release)):
        await asyncio.sleep(0.002)  # ids within one millisecond are unordered
        lines += await library_ledger.hold_lines(1_500, holder=holder)
        await asyncio.sleep(0.002)
        await movement(holder)
    async with library_ledger.transaction() as connection:
        transactions = await statement(connection, library_ledger.library_id)
        last = await statement(connection, library_ledger.library_id, limit=1)
    assert [(each["kind"], each["wallet"], each["escrow"]) for each in transactions] == [
        ("release", 1.5, -1.5),
        ("hold", -1.5, 1.5),
        ("capture", 0.0, -1.5),
        ("hold", -1.5, 1.5),
        ("grant", 10.0, 0.0),
    ]
    assert [each["reference"] for each in (transactions[0], transactions[1], transactions[-1])] == [
        lines[1],
        "failed",
        "welcome",
    ]
    assert last == transactions[:1]
    assert sum(each["wallet"] for each in transactions) * 1000 == (await library_ledger.accounts()).wallet
    assert set(transactions[0]) == {"transactionId", "at", "kind", "reference", "wallet", "escrow"}
