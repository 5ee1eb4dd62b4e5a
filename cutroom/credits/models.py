"""Ledger tables: balances, balanced transactions, immutable entries and escrow lines."""

from typing import Any

from sqlalchemy import BigInteger, CheckConstraint, ForeignKeyConstraint, Index, Text, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from cutroom.platform.tables import Id, Instant, Millicredits, Table

ACCOUNTS = "'wallet', 'escrow', 'revenue', 'grant'"
SETTLED = "kind IN ('capture', 'release')"


class LedgerBalance(Table):
    """The account balances of one library, each the sum of its entries. One row, so that one lock suffices."""

    __tablename__ = "ledger_balances"
    __table_args__ = (
        CheckConstraint("wallet + escrow + revenue + granted = 0", name="zero"),
        CheckConstraint("wallet >= -overdraft", name="wallet"),
        CheckConstraint("escrow >= 0 AND revenue >= 0 AND granted <= 0 AND overdraft >= 0", name="signs"),
        Index("ledger_balances_checked_at_idx", text("checked_at NULLS FIRST")),
    )

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    wallet: Mapped[Millicredits] = mapped_column(server_default=text("0"))
    escrow: Mapped[Millicredits] = mapped_column(server_default=text("0"))
    revenue: Mapped[Millicredits] = mapped_column(server_default=text("0"))
    granted: Mapped[Millicredits] = mapped_column(server_default=text("0"))
    overdraft: Mapped[Millicredits] = mapped_column(server_default=text("0"))  # how far the wallet may go below zero
    low_balance: Mapped[Millicredits] = mapped_column(server_default=text("10000"))  # `credits.low` is sent below it
    frozen_at: Mapped[Instant | None]  # set when a ledger check failed; holds are refused since then
    checked_at: Mapped[Instant | None]


class LedgerTransaction(Table):
    """A balanced set of entries; `reference` makes it idempotent."""

    __tablename__ = "ledger_transactions"
    __table_args__ = (
        CheckConstraint("kind IN ('grant', 'hold', 'capture', 'release')", name="kind"),
        Index("ledger_transactions_reference_key", "library_id", "kind", "reference", unique=True),
        Index(
            "ledger_transactions_settled_key", "library_id", "reference", unique=True, postgresql_where=text(SETTLED)
        ),
    )

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    id: Mapped[Id] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(Text)
    reference: Mapped[str] = mapped_column(Text)  # the grant's, the reservation or holder, or the settled line
    created_at: Mapped[Instant]


class LedgerEntry(Table):
    """One side of a transaction. Written only by database functions; the application role cannot change them."""

    __tablename__ = "ledger_entries"
    __table_args__ = (
        ForeignKeyConstraint(
            ["library_id", "transaction_id"],
            ["ledger_transactions.library_id", "ledger_transactions.id"],
            name="ledger_entries_transaction_fkey",
        ),
        CheckConstraint(f"account IN ({ACCOUNTS})", name="account"),
    )

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    transaction_id: Mapped[Id] = mapped_column(primary_key=True)
    account: Mapped[str] = mapped_column(Text, primary_key=True)
    millicredits: Mapped[Millicredits]


class EscrowLine(Table):
    """One priced item whose credits are, or were, in escrow."""

    __tablename__ = "escrow_lines"
    __table_args__ = (
        CheckConstraint("millicredits > 0", name="millicredits"),
        CheckConstraint("state IN ('open', 'captured', 'released')", name="state"),
        CheckConstraint("(state = 'open') = (ended_at IS NULL)", name="ended"),
        CheckConstraint("(reservation_id IS NULL) = (expires_at IS NULL)", name="expires"),
        CheckConstraint("reservation_id IS NOT NULL OR holder IS NOT NULL", name="holder"),
        CheckConstraint("state <> 'captured' OR holder IS NOT NULL", name="captured"),
        Index("escrow_lines_holder_idx", "library_id", "holder", postgresql_where=text("holder IS NOT NULL")),
        Index(
            "escrow_lines_reservation_idx",
            "library_id",
            "reservation_id",
            postgresql_where=text("reservation_id IS NOT NULL"),
        ),
        Index(
            "escrow_lines_replaces_key",
            "library_id",
            "replaces",
            unique=True,
            postgresql_where=text("replaces IS NOT NULL"),
        ),
        Index("escrow_lines_open_idx", "library_id", "expires_at", postgresql_where=text("state = 'open'")),
    )

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    id: Mapped[Id] = mapped_column(primary_key=True)
    hold_id: Mapped[Id]  # the transaction that moved its credits into escrow
    reservation_id: Mapped[Id | None]
    holder: Mapped[Id | None]  # the job attempt that uses it; null for an unused line of a reservation
    video_id: Mapped[Id | None]
    action: Mapped[str] = mapped_column(Text)
    product: Mapped[str] = mapped_column(Text)
    language: Mapped[str | None] = mapped_column(Text)
    terms: Mapped[dict[str, Any]] = mapped_column(JSONB)  # other inputs of the price
    duration_milliseconds: Mapped[int | None] = mapped_column(BigInteger)
    pricing_version: Mapped[str] = mapped_column(Text)
    millicredits: Mapped[Millicredits]
    state: Mapped[str] = mapped_column(Text)
    created_at: Mapped[Instant]
    expires_at: Mapped[Instant | None]
    ended_at: Mapped[Instant | None]
    replaces: Mapped[Id | None]  # a released line of the same holder, which cost more
