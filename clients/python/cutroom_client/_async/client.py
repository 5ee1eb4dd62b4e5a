"""The client: settings, and the parts of the API."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

import httpx

from cutroom_client import models
from cutroom_client._async.account import AsyncCreditAccount, AsyncEvents, AsyncSpeech, AsyncWebhookEndpoints
from cutroom_client._async.jobs import AsyncJobs
from cutroom_client._async.library import AsyncCast, AsyncFolders, AsyncGlossary, AsyncReviews
from cutroom_client._async.operations import AsyncOperations
from cutroom_client._async.products import AsyncProducts
from cutroom_client._async.transport import AsyncTransport
from cutroom_client._async.videos import AsyncVideos
from cutroom_client.calls import Credits
from cutroom_client.retrying import RetryPolicy
from cutroom_client.settings import resolve


class AsyncCutroom:
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
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        self.settings = resolve(
            api_key=api_key,
            base_url=base_url,
            max_credits=max_credits,
            timeout=timeout,
            retry=retry,
            state_dir=state_dir,
        )
        self.transport = AsyncTransport(self.settings, http_client)
        self.operations = AsyncOperations(self.transport)
        self.videos = AsyncVideos(self)
        self.jobs = AsyncJobs(self)
        self.products = AsyncProducts(self)
        self.folders = AsyncFolders(self.operations)
        self.glossary = AsyncGlossary(self.operations)
        self.cast = AsyncCast(self.operations)
        self.reviews = AsyncReviews(self.operations)
        self.credits = AsyncCreditAccount(self.operations)
        self.speech = AsyncSpeech(self.operations, self.transport)
        self.events = AsyncEvents(self.operations, self.transport)
        self.webhooks = AsyncWebhookEndpoints(self.operations)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.settings.base_url}>"

    async def __aenter__(self) -> AsyncCutroom:  # noqa: PYI034 (`Self` is not in Python 3.10)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Closes the connections."""
        await self.transport.aclose()

    async def capabilities(self) -> models.Capabilities:
        """What this installation can make: languages, voices, engines and limits."""
        return await self.operations.get_capabilities()

    async def library(self) -> models.LibrarySummary:
        """The library of the key: plan, limits, usage and credits."""
        return await self.operations.get_library()

    async def health(self) -> models.Health:
        return await self.operations.get_health()
