"""Credential format and last-used tracking."""

from datetime import datetime, timedelta

import pytest

from cutroom.accounts.keys import KEY_PREFIX, TOKEN_PREFIX, LastUsedRecorder, generate_credential, is_well_formed
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Keyring
from tests.accounts.conftest import NOON, MakeToken

# The format is public, because secret scanners use it, and must not change: a base-62 CRC-32 of the preceding text.
KNOWN = {
    "cr_00000000000000000000000000000000000000003vdCrr": KEY_PREFIX,
    "oat_Zz9Zz9Zz9Zz9Zz9Zz9Zz9Zz9Zz9Zz9Zz9Zz9Zz9A1s7mn7": TOKEN_PREFIX,
    "cr_abcdefghijklmnopqrstuvwxyz01234567890ABC1P5Xfw": KEY_PREFIX,
}
GOOD = next(iter(KNOWN))


@pytest.mark.parametrize("prefix", [KEY_PREFIX, TOKEN_PREFIX])
def test_credential_has_prefix_secret_and_checksum(prefix: str) -> None:
    credential = generate_credential(prefix)
    assert credential.startswith(prefix)
    assert len(credential) == len(prefix) + 46
    assert credential.removeprefix(prefix).isalnum()
    assert credential.isascii()
    assert is_well_formed(credential, prefix)


def test_credentials_are_unique() -> None:
    assert len({generate_credential(KEY_PREFIX) for _ in range(1_000)}) == 1_000


@pytest.mark.parametrize(("credential", "prefix"), KNOWN.items())
def test_existing_credentials_stay_well_formed(credential: str, prefix: str) -> None:
    assert is_well_formed(credential, prefix)


def test_checksum_detects_single_character_changes() -> None:
    for position, kept in enumerate(GOOD):
        other = "x" if kept != "x" else "y"
        assert not is_well_formed(GOOD[:position] + other + GOOD[position + 1 :], KEY_PREFIX)


@pytest.mark.parametrize(
    "credential",
    [
        "",
        "cr_",
        GOOD[:-1],
        GOOD + "0",
        GOOD + "\n",
        " " + GOOD,
        GOOD[3:],
        GOOD.upper(),
        GOOD.replace("cr_", "sk_"),
        GOOD[:-6] + "000000",
        GOOD[:10] + "é" + GOOD[11:],
        GOOD[:10] + "\x00" + GOOD[11:],
        "0" * len(GOOD),
        "cr_" + "0" * 100_000,
        "\ud800" * len(GOOD),
    ],
)
def test_malformed_key_is_rejected(credential: str) -> None:
    assert not is_well_formed(credential, KEY_PREFIX)


def test_prefixes_are_not_interchangeable() -> None:
    assert not is_well_formed(generate_credential(KEY_PREFIX), TOKEN_PREFIX)
    assert not is_well_formed(generate_credential(TOKEN_PREFIX), KEY_PREFIX)


async def last_used(accounts: Accounts, key: Keyring) -> datetime | None:
    found: datetime | None = await accounts.connection.fetchval(
        "SELECT last_used_at FROM api_keys WHERE id = $1", key.id
    )
    return found


async def test_unused_key_has_no_last_used_time(accounts: Accounts, key: Keyring) -> None:
    assert await last_used(accounts, key) is None


async def test_flush_writes_last_used_time(runtime: Runtime, accounts: Accounts, key: Keyring) -> None:
    last_use = LastUsedRecorder(runtime.database)
    last_use.record(key.id, NOON)
    last_use.record(key.id, NOON + timedelta(seconds=1))
    assert await last_used(accounts, key) is None
    await last_use.flush()
    assert await last_used(accounts, key) == NOON + timedelta(seconds=1)


async def test_last_used_time_never_decreases(runtime: Runtime, accounts: Accounts, key: Keyring) -> None:
    quick, slow = LastUsedRecorder(runtime.database), LastUsedRecorder(runtime.database)  # two processes
    slow.record(key.id, NOON)
    quick.record(key.id, NOON + timedelta(minutes=1))
    await quick.flush()
    await slow.flush()
    assert await last_used(accounts, key) == NOON + timedelta(minutes=1)


async def test_flush_writes_many_keys(runtime: Runtime, accounts: Accounts, key: Keyring) -> None:
    person = await accounts.person()
    keys = [key, *[await accounts.key(person) for _ in range(4)]]
    last_use = LastUsedRecorder(runtime.database)
    for hour, each in enumerate(keys):
        last_use.record(each.id, NOON + timedelta(hours=hour))
    await last_use.flush()
    assert [await last_used(accounts, each) for each in keys] == [NOON + timedelta(hours=hour) for hour in range(5)]


async def test_flush_writes_each_use_once(runtime: Runtime, accounts: Accounts, key: Keyring) -> None:
    last_use = LastUsedRecorder(runtime.database)
    last_use.record(key.id, NOON)
    await last_use.flush()
    await accounts.connection.execute("UPDATE api_keys SET last_used_at = NULL WHERE id = $1", key.id)
    await last_use.flush()
    assert await last_used(accounts, key) is None


async def test_unknown_credentials_are_ignored_by_flush(
    runtime: Runtime, accounts: Accounts, key: Keyring, make_token: MakeToken
) -> None:
    last_use = LastUsedRecorder(runtime.database)
    for each in ((await make_token()).id, "no such key", key.id):
        last_use.record(each, NOON)
    await last_use.flush()
    assert await last_used(accounts, key) == NOON
