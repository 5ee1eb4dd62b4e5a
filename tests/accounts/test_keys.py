"""The format of credentials, and the record of their last use."""

from datetime import datetime, timedelta

import pytest

from cutroom.accounts.keys import KEY_PREFIX, TOKEN_PREFIX, LastUse, is_well_formed, mint_credential
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Keyring
from tests.accounts.conftest import NOON, MakeToken

# The format is public (secret scanners know it), so it never changes: CRC-32 in base 62, over all before it.
KNOWN = {
    "cr_00000000000000000000000000000000000000003vdCrr": KEY_PREFIX,
    "oat_Zz9Zz9Zz9Zz9Zz9Zz9Zz9Zz9Zz9Zz9Zz9Zz9Zz9A1s7mn7": TOKEN_PREFIX,
    "cr_abcdefghijklmnopqrstuvwxyz01234567890ABC1P5Xfw": KEY_PREFIX,
}
GOOD = next(iter(KNOWN))


@pytest.mark.parametrize("prefix", [KEY_PREFIX, TOKEN_PREFIX])
def test_a_new_credential_is_a_prefix_a_secret_and_a_checksum(prefix: str) -> None:
    credential = mint_credential(prefix)
    assert credential.startswith(prefix)
    assert len(credential) == len(prefix) + 46
    assert credential.removeprefix(prefix).isalnum()
    assert credential.isascii()
    assert is_well_formed(credential, prefix)


def test_no_two_credentials_are_the_same() -> None:
    assert len({mint_credential(KEY_PREFIX) for _ in range(1_000)}) == 1_000


@pytest.mark.parametrize(("credential", "prefix"), KNOWN.items())
def test_credentials_from_before_are_still_well_formed(credential: str, prefix: str) -> None:
    assert is_well_formed(credential, prefix)


def test_a_change_of_any_one_character_is_noticed() -> None:
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
def test_what_is_no_key_is_refused(credential: str) -> None:
    assert not is_well_formed(credential, KEY_PREFIX)


def test_a_key_is_no_token_and_a_token_is_no_key() -> None:
    assert not is_well_formed(mint_credential(KEY_PREFIX), TOKEN_PREFIX)
    assert not is_well_formed(mint_credential(TOKEN_PREFIX), KEY_PREFIX)


async def last_used(accounts: Accounts, key: Keyring) -> datetime | None:
    found: datetime | None = await accounts.connection.fetchval(
        "SELECT last_used_at FROM api_keys WHERE id = $1", key.id
    )
    return found


async def test_a_key_that_was_never_used_says_so(accounts: Accounts, key: Keyring) -> None:
    assert await last_used(accounts, key) is None


async def test_the_last_use_is_written_when_flushed(runtime: Runtime, accounts: Accounts, key: Keyring) -> None:
    last_use = LastUse(runtime.database)
    last_use.note(key.id, NOON)
    last_use.note(key.id, NOON + timedelta(seconds=1))
    assert await last_used(accounts, key) is None
    await last_use.flush()
    assert await last_used(accounts, key) == NOON + timedelta(seconds=1)


async def test_the_last_use_never_goes_backwards(runtime: Runtime, accounts: Accounts, key: Keyring) -> None:
    quick, slow = LastUse(runtime.database), LastUse(runtime.database)  # two processes
    slow.note(key.id, NOON)
    quick.note(key.id, NOON + timedelta(minutes=1))
    await quick.flush()
    await slow.flush()
    assert await last_used(accounts, key) == NOON + timedelta(minutes=1)


async def test_many_keys_are_written_at_once_each_with_its_own_time(
    runtime: Runtime, accounts: Accounts, key: Keyring
) -> None:
    person = await accounts.person()
    keys = [key, *[await accounts.key(person) for _ in range(4)]]
    last_use = LastUse(runtime.database)
    for hour, each in enumerate(keys):
        last_use.note(each.id, NOON + timedelta(hours=hour))
    await last_use.flush()
    assert [await last_used(accounts, each) for each in keys] == [NOON + timedelta(hours=hour) for hour in range(5)]


async def test_a_flush_writes_each_use_once(runtime: Runtime, accounts: Accounts, key: Keyring) -> None:
    last_use = LastUse(runtime.database)
    last_use.note(key.id, NOON)
    await last_use.flush()
    await accounts.connection.execute("UPDATE api_keys SET last_used_at = NULL WHERE id = $1", key.id)
    await last_use.flush()
    assert await last_used(accounts, key) is None


async def test_the_use_of_a_token_or_an_unknown_key_disturbs_nothing(
    runtime: Runtime, accounts: Accounts, key: Keyring, make_token: MakeToken
) -> None:
    last_use = LastUse(runtime.database)
    for each in ((await make_token()).id, "no such key", key.id):
        last_use.note(each, NOON)
    await last_use.flush()
    assert await last_used(accounts, key) == NOON
