"""What all tools of a connection share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from mcp_types import ToolAnnotations

from cutroom_client import models
from cutroom_client._async.client import AsyncCutroom
from cutroom_client.errors import ApiError
from cutroom_client.mcp.results import Spending, job_info
from cutroom_client.mcp.spending import LIFETIME_SECONDS, Confirmed, ConnectionBudget

READ = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
ADD = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False)
REPEAT = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
FETCH = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=True)
REPLACE = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)
SPEND = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=False)

Start = Callable[[Confirmed], Awaitable[Sequence[models.Job]]]


@dataclass(frozen=True)
class Connection:
    """A client, what may be spent through it, and the folder that files are read from and saved in."""

    client: AsyncCutroom
    budget: ConnectionBudget
    folder: Path | None = None

    async def spend(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        price: Callable[[], Awaitable[Decimal]],
        token: str | None,
        start: Start,
    ) -> Spending:
        """The price with a token, or with a token, the jobs. The service refuses to charge more than was confirmed."""
        if token is None:
            amount = await price()
            confirmation = self.budget.offer(tool, arguments, amount)
            return Spending(
                status="confirmation_required",
                price=float(amount),
                connection_remaining=float(self.budget.remaining),
                confirmation_token=confirmation,
                expires_in_seconds=LIFETIME_SECONDS,
            )
        confirmed = self.budget.confirm(tool, arguments, token)
        try:
            jobs = await start(confirmed)
        except ApiError as refused:
            if refused.status < 500:
                self.budget.give_back(confirmed)
            raise
        return self.started(confirmed.price, jobs)

    def started(self, price: Decimal, jobs: Sequence[models.Job]) -> Spending:
        """The result of a call that has started jobs."""
        return Spending(
            status="started",
            price=float(price),
            connection_remaining=float(self.budget.remaining),
            jobs=[job_info(each) for each in jobs],
        )

    def file(self, name: str) -> Path:
        """A file of the folder, and of no other: no separators, no links out of it."""
        if self.folder is None:
            raise ValueError("This connection has no folder: start the server with --folder.")
        path = self.folder / name
        if Path(name).name != name or name.startswith(".") or path.resolve().parent != self.folder.resolve():
            raise ValueError("Give the name of a file in the folder of this connection.")
        return path
