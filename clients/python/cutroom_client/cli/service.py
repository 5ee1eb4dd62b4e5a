"""Calls of the API with JSON on both sides, through the transport of the client: its retries, keys and typed errors.

Not its models: they take longer to load than most commands run, and `--json` prints what the service has sent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from cutroom_client.cli.exits import CommandError, Exit, exit_code_of

if TYPE_CHECKING:
    from cutroom_client._sync.transport import Transport
    from cutroom_client.settings import ClientSettings

Json = dict[str, Any]
PAGE = 100


class Service:
    """The service of one profile."""

    def __init__(self, settings: ClientSettings) -> None:
        from cutroom_client._sync.transport import Transport  # noqa: PLC0415 (slow to load)

        self.settings = settings
        self.transport: Transport = Transport(settings)

    def close(self) -> None:
        self.transport.close()

    def limited(self, max_credits: float | None) -> Transport:
        """A transport whose priced calls have this limit."""
        if max_credits == self.settings.max_credits:
            return self.transport
        from dataclasses import replace  # noqa: PLC0415

        from cutroom_client._sync.transport import Transport  # noqa: PLC0415

        return Transport(replace(self.settings, max_credits=max_credits), self.transport.http)

    def get(self, template: str, *segments: object, **query: object) -> Json:
        return self._call("GET", template, segments, query=query)

    def post(self, template: str, *segments: object, body: Mapping[str, Any], key: str | None = None) -> Json:
        """A request that costs nothing."""
        return self._call("POST", template, segments, body=body, keyed=True, idempotency_key=key)

    def spend(
        self,
        template: str,
        *segments: object,
        body: Mapping[str, Any],
        max_credits: float | None,
        key: str | None = None,
    ) -> Json:
        """A request that costs credits; the service refuses it if the price is above the limit."""
        return self._call(
            "POST",
            template,
            segments,
            body=body,
            keyed=True,
            idempotency_key=key,
            priced=True,
            max_credits=max_credits,
        )

    def delete(self, template: str, *segments: object, **query: object) -> None:
        from cutroom_client.calls import Call, path  # noqa: PLC0415

        with reported():
            self.transport.nothing(Call("delete", "DELETE", path(template, *segments), query=query))

    def pages(self, template: str, *segments: object, items: str, limit: int | None, **query: object) -> Iterator[Json]:
        """The items of all pages, up to a limit."""
        token: object = None
        while limit is None or limit > 0:
            size = PAGE if limit is None else min(limit, PAGE)
            page = self.get(template, *segments, limit=size, pageToken=token, **query)
            yield from page.get(items, [])
            limit = None if limit is None else limit - size
            token = page.get("nextPageToken")
            if not token:
                return

    def _call(
        self,
        method: str,
        template: str,
        segments: tuple[object, ...],
        **options: Any,  # noqa: ANN401 (fields of Call)
    ) -> Json:
        from cutroom_client.calls import Call, path  # noqa: PLC0415

        with reported():
            try:
                call = Call(f"{method} {template}", method, path(template, *segments), **options)
            except ValueError as error:
                raise CommandError(f"{error}.") from None
            found = self.transport.send(call).json()
        if not isinstance(found, dict):
            raise CommandError("The service sent something other than a JSON object.", exit_code=Exit.UNEXPECTED)
        return found


@contextmanager
def reported() -> Iterator[None]:
    """Raises errors of the client as errors of a command."""
    from cutroom_client import errors  # noqa: PLC0415

    try:
        yield
    except errors.ApiError as error:
        raise api_failure(error.code, error.message, details=error.details, request_id=error.request_id) from None
    except errors.ConnectionFailedError as error:
        raise CommandError(
            f"The service cannot be reached: {error}.",
            exit_code=Exit.CONNECTION,
            code="CONNECTION",
            hint="Check the URL with `cutroom whoami`, or set another one with --base-url.",
        ) from None
    except errors.CutroomError as error:
        raise CommandError(f"{error}.", exit_code=Exit.UNEXPECTED) from None


_HINTS = {
    "UNAUTHENTICATED": "Log in with: cutroom login",
    "INVALID_API_KEY": "The key was revoked or is from another installation. Log in again with: cutroom login",
    "INSUFFICIENT_SCOPE": "The key may not do this. Log in again, and leave the scope ticked.",
    "INSUFFICIENT_CREDITS": "Nothing was charged. `cutroom usage` shows the balance.",
}


def api_failure(code: str, message: str, *, details: Mapping[str, Any], request_id: str | None = None) -> CommandError:
    """The failure for an error of the API."""
    exit_code = exit_code_of(code, details)
    hint = _HINTS.get(code, "")
    if code == "FAILED_PRECONDITION" and exit_code is Exit.CREDITS:
        hint = "Nothing was charged. Raise --max-credits, or ask for less."
    return CommandError(message, exit_code=exit_code, code=code, hint=hint, details=details, request_id=request_id)
