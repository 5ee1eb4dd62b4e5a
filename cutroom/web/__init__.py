"""HTTP layer: authentication, rate limits, idempotency, transactions, errors and OpenAPI."""
