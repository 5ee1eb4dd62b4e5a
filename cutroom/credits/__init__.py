"""Credits: pricing, quotes, reservations, escrow and a double-entry ledger in integer milli-credits."""
