"""API keys of profiles: in the keyring of the system, or in a file that only its owner can read."""

from __future__ import annotations

import json
import re
from pathlib import Path

from cutroom_client.cli.exits import CommandError
from cutroom_client.cli.profiles import Profile, locked, read_json, write_private

SERVICE = "cutroom"
FILE_STORE, KEYRING_STORE = "file", "keyring"
_KEY = re.compile(r"cr_[0-9A-Za-z]{46}")
_OTHERS_MAY_READ = 0o077


def checked_key(text: str) -> str:
    """A key as it was pasted. The message never repeats it."""
    key = text.strip()
    if not _KEY.fullmatch(key):
        raise CommandError("This is not an API key: it starts with `cr_` and has 49 characters.")
    return key


def store_key(folder: Path, profile: str, key: str, *, store: str) -> None:
    """Stores the key of a profile, and removes it from the other place."""
    if store == KEYRING_STORE:
        _keyring_set(_account(folder, profile), key)
        _change_file(folder, profile, None)
    else:
        _change_file(folder, profile, key)


def stored_key(folder: Path, profile: Profile) -> str | None:
    """The key of a profile; None without a login."""
    if profile.key_store == KEYRING_STORE:
        return _keyring_get(_account(folder, profile.name))
    if profile.key_store != FILE_STORE:
        return None
    path = folder / "credentials.json"
    found = read_json(path).get(profile.name)
    if found is None:
        return None
    if path.stat().st_mode & _OTHERS_MAY_READ:
        path.chmod(0o600)
    return checked_key(found) if isinstance(found, str) else None


def delete_key(folder: Path, profile: Profile) -> None:
    """Removes the key from this computer."""
    if profile.key_store == KEYRING_STORE:
        _keyring_delete(_account(folder, profile.name))
    _change_file(folder, profile.name, None)


def _change_file(folder: Path, profile: str, key: str | None) -> None:
    path = folder / "credentials.json"
    with locked(folder):
        stored = read_json(path)
        if key is None and profile not in stored:
            return
        stored = {name: each for name, each in stored.items() if name != profile} | ({profile: key} if key else {})
        write_private(path, json.dumps(stored, indent=2) + "\n")


def _account(folder: Path, profile: str) -> str:
    """Two configuration folders have keys of their own."""
    return f"{profile}@{folder.absolute()}"


def _keyring_set(account: str, key: str) -> None:
    try:
        import keyring  # noqa: PLC0415 (optional, and slow to load)

        keyring.set_password(SERVICE, account, key)
    except Exception as error:  # noqa: BLE001 (each backend has errors of its own)
        raise _no_keyring(error) from None


def _keyring_get(account: str) -> str | None:
    try:
        import keyring  # noqa: PLC0415

        found = keyring.get_password(SERVICE, account)
    except Exception as error:  # noqa: BLE001
        raise _no_keyring(error) from None
    return checked_key(found) if found else None


def _keyring_delete(account: str) -> None:
    try:
        import keyring  # noqa: PLC0415

        if keyring.get_password(SERVICE, account) is not None:
            keyring.delete_password(SERVICE, account)
    except Exception as error:  # noqa: BLE001
        raise _no_keyring(error) from None


def _no_keyring(error: Exception) -> CommandError:
    """Only the kind of the error: its text could repeat the key."""
    return CommandError(
        f"The keyring of this system cannot be used ({type(error).__name__}).",
        hint="Log in again with --store file, which stores the key in a file that only you can read.",
    )
