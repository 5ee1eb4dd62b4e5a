"""The audit log of a library: append-only, hash-chained."""
