# Generated from `cutroom_client._async.client` by `just clients`. Do not edit.

"""The client: settings, and the parts of the API."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

import httpx

from cutroom_client import models
from cutroom_client._sync.account import CreditAccount, Events, Speech, WebhookEndpoints
from cutroom_client._sync.jobs import Jobs
from cutroom_client._sync.library import Cast, Folders, Glossary, Reviews
from cutroom_client._sync.operations import Operations
from cutroom_client._sync.products import Products
from cutroom_client._sync.transport import Transport
from cutroom_client._sync.videos import Videos
from cutroom_client.calls import Credits
from cutroom_client.retrying import RetryPolicy
from cutroom_client.settings import resolve


class Cutroom:
    """A client of one library.

    `api_key` and `base_url` default to CUTROOM_API_KEY and CUTROOM_BASE_URL. With `max_credits`, the service refuses
    every single request that would cost more; a call's own `max_credits` takes precedence. `state_dir` is where
    unfinished uploads are remembered. An `http_client` of yours is used for every request, and stays open.
    """

    def __init__(
        self,
        api_key: str | None = None,
        base_url: str | None = None,
        max_credits: Credits | None = None,
        *,
        timeout: float | httpx.Timeout | None = None,
        retry: RetryPolicy | None = None,
        state_dir: str | Path | None = None,
        http_client: httpx.Client | None = None,
    ) -> None:
        self.settings = resolve(
            api_key=api_key,
            base_url=base_url,
            max_credits=max_credits,
            timeout=timeout,
            retry=retry,
            state_dir=state_dir,
        )
        self.transport = Transport(self.settings, http_client)
        self.operations = Operations(self.transport)
        self.videos = Videos(self)
        self.jobs = Jobs(self)
        self.products = Products(self)
        self.folders = Folders(self.operations)
        self.glossary = Glossary(self.operations)
        self.cast = Cast(self.operations)
        self.reviews = Reviews(self.operations)
        self.credits = CreditAccount(self.operations)
        self.speech = Speech(self.operations, self.transport)
        self.events = Events(self.operations, self.transport)
        self.webhooks = WebhookEndpoints(self.operations)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.settings.base_url}>"

    def __enter__(self) -> Cutroom:  # noqa: PYI034 (`Self` is not in Python 3.10)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections."""
        self.transport.close()

    def capabilities(self) -> models.Capabilities:
        """What this installation can make: languages, voices, engines and limits."""
        return self.operations.get_capabilities()

    def library(self) -> models.LibrarySummary:
        """The library of the key: plan, limits, usage and credits."""
        return self.operations.get_library()

    def health(self) -> models.Health:
        return self.operations.get_health()
