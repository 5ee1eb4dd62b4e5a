"""Keeps signed URLs out of the logs of httpx, which records the URL of every request."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_signed: ContextVar[bool] = ContextVar("cutroom_signed_request", default=False)
LOGGERS = ("httpx", "httpcore.http11", "httpcore.http2", "httpcore.connection", "httpcore.proxy")


class _SignedRequests(logging.Filter):
    """Drops the records of requests that carry a secret in their URL."""

    def filter(self, record: logging.LogRecord) -> bool:  # noqa: ARG002
        return not _signed.get()


_FILTER = _SignedRequests()


def install() -> None:
    """Adds the filter to the loggers, once."""
    for name in LOGGERS:
        logging.getLogger(name).addFilter(_FILTER)


@contextmanager
def unlogged() -> Iterator[None]:
    """Requests inside are not logged."""
    token = _signed.set(True)
    try:
        yield
    finally:
        _signed.reset(token)
