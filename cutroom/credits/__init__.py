"""Money: integer milli-credits in a double-entry, append-only ledger."""
