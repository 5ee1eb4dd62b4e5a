"""Rows of a library, put there past the API: what ingest will do, it does not do yet."""

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
    """Insert a row of a library and say its id; the person's own library unless told otherwise."""

    async def add(table: str, **columns: Any) -> str:  # noqa: ANN401 (whatever a column holds)
        row = {"library_id": person.library_id, "id": new_id(), **columns}
        if table != "character_images":
            row.setdefault("created_at", system_clock())
        await insert(accounts.connection, table, row)
        return str(row["id"])

    return add
