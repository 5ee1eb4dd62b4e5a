"""Credits, speech, events and webhook endpoints."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cutroom_client import models
from cutroom_client._async import runtime
from cutroom_client.calls import Call
from cutroom_client.errors import ConnectionFailedError

if TYPE_CHECKING:
    from cutroom_client._async.operations import AsyncOperations
    from cutroom_client._async.transport import AsyncTransport
    from cutroom_client.calls import Credits
    from cutroom_client.server_events import ServerEvent


class AsyncCreditAccount:
    """Prices, reservations and receipts."""

    def __init__(self, operations: AsyncOperations) -> None:
        self._operations = operations

    async def summary(self) -> models.LibraryCredits:
        """The balance, and what can be spent."""
        return (await self._operations.get_library()).credits

    async def quote(self, video_id: str, **work: Any) -> models.Quote:  # noqa: ANN401
        """What work on a video would cost: the fields of a credit bundle, such as `dubs`."""
        return await self._operations.quote_credits(video_id, models.CreditBundle(**work))

    async def reserve(
        self,
        video_id: str,
        *,
        max_credits: Credits | None = None,
        **work: Any,  # noqa: ANN401
    ) -> models.Reservation:
        """Sets credits aside for work on a video; what is not used returns after 24 hours."""
        return await self._operations.reserve_credits(video_id, models.CreditBundle(**work), max_credits=max_credits)

    async def receipt(self, job_id: str) -> Mapping[str, Any]:
        """What a job cost, by line."""
        job = await self._operations.get_job(job_id)
        receipt = (job.result or {}).get("receipt")
        return receipt if isinstance(receipt, Mapping) else {}


class AsyncSpeech:
    """Voices, and text spoken by them."""

    def __init__(self, operations: AsyncOperations, transport: AsyncTransport) -> None:
        self._operations = operations
        self._transport = transport

    async def list_models(self) -> list[models.SpeechModel]:
        return await self._operations.list_models()

    async def voices(self) -> list[models.Voice]:
        return (await self._operations.list_voices()).voices

    async def get_voice(self, voice_id: str) -> models.Voice:
        return await self._operations.get_voice(voice_id)

    async def delete_voice(self, voice_id: str) -> None:
        await self._operations.delete_voice(voice_id)

    async def clone_voice(
        self,
        name: str,
        files: Sequence[str | Path],
        **fields: Any,  # noqa: ANN401
    ) -> models.AddedVoice:
        """Adds a voice from recordings of one speaker."""
        paths = [Path(each) for each in files]
        contents = [await runtime.in_thread(each.read_bytes) for each in paths]
        kind = "application/octet-stream"
        parts = [("files", (each.name, content, kind)) for each, content in zip(paths, contents, strict=True)]
        values = {key: json.dumps(value) if isinstance(value, (dict, bool)) else value for key, value in fields.items()}
        call = Call(
            "addVoice",
            "POST",
            "/v1/voices/add",
            body={"name": name, **values},
            files=parts,
        )
        return await self._transport.parsed(call, models.AddedVoice)

    async def speak(
        self,
        text: str,
        voice_id: str,
        *,
        output_format: str | None = None,
        max_credits: Credits | None = None,
        **options: Any,  # noqa: ANN401
    ) -> bytes:
        """Speaks a text, and returns the sound."""
        body = models.NewSpeech(text=text, **options)
        return await self._operations.speak(voice_id, body, output_format=output_format, max_credits=max_credits)

    def stream(
        self,
        text: str,
        voice_id: str,
        *,
        output_format: str | None = None,
        max_credits: Credits | None = None,
        **options: Any,  # noqa: ANN401
    ) -> AsyncIterator[bytes]:
        """Speaks a text, and returns the sound while it is made."""
        body = models.NewSpeech(text=text, **options)
        return self._operations.stream_speech(voice_id, body, output_format=output_format, max_credits=max_credits)


class AsyncEvents:
    """What happens in the library."""

    def __init__(self, operations: AsyncOperations, transport: AsyncTransport) -> None:
        self._operations = operations
        self._transport = transport

    async def page(self, **options: Any) -> models.EventPage:  # noqa: ANN401
        """One page of events: `after`, `types`, `limit` and `wait`."""
        return await self._operations.list_events(**options)

    async def follow(
        self, *, after: str | None = None, types: Sequence[str] = ()
    ) -> AsyncIterator[models.LibraryEvent]:
        """Every event after a cursor, or from the oldest that is kept, without an end. Store the `cursor` of each page
        with `page` instead if a restart must not repeat events.
        """
        while True:
            page = await self._operations.list_events(after=after, types=",".join(types) or None, limit=100, wait=30)
            for each in page.events:
                yield each
            after = page.cursor

    async def stream(self, *, after: str | None = None, types: Sequence[str] = ()) -> AsyncIterator[ServerEvent]:
        """Events and the progress of jobs from now on, or after a cursor; a connection that ends is replaced.

        Raises ConnectionFailedError after several connections in a row that bring nothing.
        """
        failures, cursor, policy = 0, after, self._transport.settings.retry
        while True:
            query = {"types": ",".join(types) or None}
            call = Call("streamEvents", "GET", "/v1/events/stream", query=query, headers={"Last-Event-ID": cursor})
            try:
                async with self._transport.opened_stream(call) as events:
                    async for event in events:
                        cursor, failures = event.cursor or cursor, 0
                        yield event
            except ConnectionFailedError:
                if failures >= policy.retries:
                    raise
            await runtime.sleep(policy.wait(failures, None))
            failures += 1


class AsyncWebhookEndpoints:
    """Where events are delivered to."""

    def __init__(self, operations: AsyncOperations) -> None:
        self._operations = operations

    async def list(self) -> list[models.WebhookEndpoint]:
        return (await self._operations.list_webhook_endpoints()).webhook_endpoints

    async def get(self, endpoint_id: str) -> models.WebhookEndpoint:
        return await self._operations.get_webhook_endpoint(endpoint_id)

    async def create(self, url: str, **options: Any) -> models.CreatedWebhookEndpoint:  # noqa: ANN401
        """Adds an endpoint; its secret is returned only here."""
        return await self._operations.create_webhook_endpoint(models.NewWebhookEndpoint(url=url, **options))

    async def update(self, endpoint_id: str, **changes: Any) -> models.WebhookEndpoint:  # noqa: ANN401
        return await self._operations.update_webhook_endpoint(endpoint_id, models.WebhookEndpointPatch(**changes))

    async def delete(self, endpoint_id: str) -> None:
        await self._operations.delete_webhook_endpoint(endpoint_id)

    async def rotate_secret(self, endpoint_id: str, **options: Any) -> models.RotatedWebhookSecret:  # noqa: ANN401
        return await self._operations.rotate_webhook_secret(endpoint_id, models.SecretRotation(**options))

    async def test(self, endpoint_id: str) -> models.WebhookDelivery:
        """Sends an event to test the endpoint."""
        return await self._operations.send_test_webhook(endpoint_id)

    async def deliveries(
        self, endpoint_id: str, *, status: str | None = None
    ) -> AsyncIterator[models.WebhookDeliverySummary]:
        """Every delivery of an endpoint."""
        token: str | None = None
        while True:
            page = await self._operations.list_webhook_deliveries(
                endpoint_id, status=status, limit=100, page_token=token
            )
            for each in page.deliveries:
                yield each
            if (token := page.next_page_token) is None:
                return

    async def redeliver(self, endpoint_id: str, event_id: str) -> models.WebhookDelivery:
        return await self._operations.redeliver_webhook_event(endpoint_id, event_id)
