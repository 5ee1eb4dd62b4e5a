"""The request envelope: identity, limits, replay, transaction, errors, request ids."""
