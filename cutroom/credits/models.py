"""The ledger at rest: balances, transactions that sum to zero, and entries that are never changed."""

from sqlalchemy import CheckConstraint, ForeignKeyConstraint, Index, Text
from sqlalchemy.orm import Mapped, mapped_column

from cutroom.platform.tables import Id, Instant, Millicredits, Table

ACCOUNTS = "'wallet', 'escrow', 'revenue', 'grant'"


class LedgerBalance(Table):
    """The running sum of one account of one library; always equal to the sum of its entries."""

    __tablename__ = "ledger_balances"
    __table_args__ = (CheckConstraint(f"account IN ({ACCOUNTS})", name="account"),)

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    account: Mapped[str] = mapped_column(Text, primary_key=True)
    millicredits: Mapped[Millicredits]


class LedgerTransaction(Table):
    """One movement of money and why; `reference` makes it happen at most once."""

    __tablename__ = "ledger_transactions"
    __table_args__ = (Index("ledger_transactions_reference_key", "library_id", "kind", "reference", unique=True),)

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    id: Mapped[Id] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(Text)
    reference: Mapped[str] = mapped_column(Text)
    created_at: Mapped[Instant]


class LedgerEntry(Table):
    """One side of a transaction. The application may add entries, and neither change nor remove them."""

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
