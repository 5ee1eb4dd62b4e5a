"""Two cells on the shared services: each with a database, a Temporal namespace and a bucket; and a directory."""

import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass

import asyncpg
import pytest

from cutroom.cells.directory import Directory
from cutroom.cells.move.cell_access import CellAccess, open_cell
from cutroom.platform.db import Database
from cutroom.platform.settings import Settings
from cutroom.platform.storage.multipart import StoreError
from cutroom.platform.storage.versions import ObjectVersions
from dev.scratch import Accounts, drop_scratch, scratch
from dev.services import control

BUCKET = "media-of-the-other-cell"
CONFLICT = 409  # the bucket exists


@dataclass(frozen=True)
class TestCell:
    """A cell with what its processes and its operator use."""

    __test__ = False

    access: CellAccess
    accounts: Accounts
    api: Database
    worker: Database
    relay: Database

    @property
    def settings(self) -> Settings:
        return self.access.settings


@dataclass(frozen=True)
class TestCells:
    """An installation of two cells."""

    __test__ = False

    red: TestCell
    blue: TestCell
    directory: Directory


@pytest.fixture(scope="session")
async def cells() -> AsyncIterator[TestCells]:
    control.start_all()
    async with AsyncExitStack() as stack:
        red = await _open(stack, f"red_{os.getpid()}")
        blue = await _open(stack, f"blue_{os.getpid()}", s3_bucket=BUCKET)
        await _create_bucket(blue.settings)
        directory = await stack.enter_async_context(Directory.open(await _directory_url(stack, red.settings)))
        await directory.create_schema()
        await directory.add_cell("red", "http://red.test")
        await directory.add_cell("blue", "http://blue.test")
        yield TestCells(red, blue, directory)


async def _open(stack: AsyncExitStack, name: str, **changes: str) -> TestCell:
    settings = (await scratch(name)).model_copy(update=changes)
    stack.push_async_callback(drop_scratch, name)
    access = await stack.enter_async_context(open_cell(name.partition("_")[0], settings))
    accounts = await Accounts.open(settings)
    stack.push_async_callback(accounts.close)
    pools = []
    for url in (settings.api_database, settings.worker_database, settings.relay_database):
        pools.append(await Database.connect(url, 3, application="cutroom-tests"))
        stack.push_async_callback(pools[-1].close)
    return TestCell(access, accounts, *pools)


async def _create_bucket(settings: Settings) -> None:
    versions = ObjectVersions.connect(settings)
    try:
        await versions._call("PUT", "", "")
    except StoreError as error:
        if error.status != CONFLICT:
            raise
    finally:
        await versions.close()


async def _directory_url(stack: AsyncExitStack, settings: Settings) -> str:
    assert settings.owner_database_url is not None
    url, name = settings.owner_database_url.get_secret_value(), f"cutroom_directory_{os.getpid()}"
    connection = await asyncpg.connect(url.rpartition("/")[0] + "/postgres")
    stack.push_async_callback(connection.close)
    await connection.execute(f"DROP DATABASE IF EXISTS {name}")
    await connection.execute(f"CREATE DATABASE {name}")
    stack.push_async_callback(connection.execute, f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
    return url.rpartition("/")[0] + f"/{name}"
