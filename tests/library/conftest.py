"""Fixtures: library rows inserted directly."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.platform.ids import new_id
from dev.scratch import Accounts, Person

AddRow = Callable[..., Awaitable[str]]


@pytest.fixture
def add(accounts: Accounts, person: Person) -> AddRow:
    """Insert a row and return its id; by default into the user's personal library."""

    async def add(table: str, **columns: Any) -> str:  # noqa: ANN401 (column values)
        row = {"library_id": person.library_id, "id": new_id(), **columns}
        if table != "character_images":
            row.setdefault("created_at", system_clock())
        await insert(accounts.connection, table, row)
        return str(row["id"])

    return add
