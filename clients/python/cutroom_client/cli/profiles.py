"""Profiles: which service, with which spending limit. Stored as JSON, apart from the keys."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from cutroom_client.cli.exits import CommandError, Exit

DEFAULT_PROFILE = "default"
MAX_CONFIG_BYTES = 1_000_000
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_PRIVATE_FILE, _PRIVATE_DIR = 0o600, 0o700


@dataclass(frozen=True)
class Profile:
    """What one profile says; an omitted value is the default of the client."""

    name: str = DEFAULT_PROFILE
    base_url: str | None = None
    max_credits: float | None = None
    key_store: str | None = None  # "file" or "keyring"; None without a login


def config_dir(environment: Mapping[str, str] = os.environ) -> Path:
    """Where profiles and keys are stored."""
    if configured := environment.get("CUTROOM_CONFIG_DIR"):
        return Path(configured)
    base = environment.get("XDG_CONFIG_HOME") or environment.get("APPDATA")
    return (Path(base) if base else Path.home() / ".config") / "cutroom"


def profile_name(given: str | None, environment: Mapping[str, str] = os.environ) -> str:
    """The name of the profile to use."""
    name = given or environment.get("CUTROOM_PROFILE") or DEFAULT_PROFILE
    if not _NAME.fullmatch(name):
        raise CommandError("A profile name has at most 64 letters, digits, dots, dashes and underscores.")
    return name


def load_profiles(folder: Path) -> dict[str, Profile]:
    """All profiles that are stored."""
    found = read_json(folder / "config.json").get("profiles", {})
    if not isinstance(found, dict):
        raise CommandError(f"{folder / 'config.json'} is damaged: delete it, and log in again.")
    return {name: _profile(folder, name, each) for name, each in found.items()}


def _profile(folder: Path, name: str, stored: object) -> Profile:
    if isinstance(stored, dict):
        url, limit, key_store = stored.get("baseUrl"), stored.get("maxCredits"), stored.get("keyStore")
        is_limit = limit is None or (isinstance(limit, (int, float)) and not isinstance(limit, bool) and limit >= 0)
        if isinstance(url, (str, type(None))) and is_limit and key_store in {None, "file", "keyring"}:
            return Profile(name, url, limit, key_store)
    raise CommandError(f"Profile {name} in {folder / 'config.json'} is damaged.")


def load_profile(folder: Path, name: str) -> Profile:
    return load_profiles(folder).get(name, Profile(name))


def save_profile(folder: Path, profile: Profile) -> None:
    """Adds or replaces a profile."""
    with locked(folder):
        stored = {each.name: each for each in load_profiles(folder).values()} | {profile.name: profile}
        _save(folder, stored)


def forget_login(folder: Path, profile: Profile) -> None:
    """Keeps the profile, without a key."""
    save_profile(folder, replace(profile, key_store=None))


def _save(folder: Path, profiles: Mapping[str, Profile]) -> None:
    names = {"base_url": "baseUrl", "max_credits": "maxCredits", "key_store": "keyStore"}
    document = {
        name: {names[field]: value for field, value in asdict(profile).items() if field in names and value is not None}
        for name, profile in sorted(profiles.items())
    }
    write_private(folder / "config.json", json.dumps({"profiles": document}, indent=2) + "\n")


def read_json(path: Path) -> dict[str, Any]:
    """A file of the configuration; empty if there is none."""
    try:
        if path.stat().st_size > MAX_CONFIG_BYTES:
            raise CommandError(f"{path} is larger than any configuration.")
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise CommandError(f"{path} cannot be read: {type(error).__name__}.", exit_code=Exit.USAGE) from None
    if not isinstance(found, dict):
        raise CommandError(f"{path} is damaged: it has no JSON object.")
    return found


def write_private(path: Path, text: str) -> None:
    """Replaces a file as a whole, readable by its owner only at every moment."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=_PRIVATE_DIR)
    with NamedTemporaryFile("w", dir=path.parent, prefix=".", delete=False, encoding="utf-8") as file:  # mode 0600
        try:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
            Path(file.name).chmod(_PRIVATE_FILE)
            Path(file.name).replace(path)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Excludes other processes that change the configuration."""
    folder.mkdir(parents=True, exist_ok=True, mode=_PRIVATE_DIR)
    with (folder / ".lock").open("a+b") as file:
        lock_file(file.fileno())
        yield


def lock_file(descriptor: int, *, wait: bool = True) -> None:
    """Locks a file until it is closed; raises BlockingIOError if another process has it and `wait` is false."""
    try:
        import fcntl  # noqa: PLC0415 (not on Windows)
    except ImportError:  # pragma: no cover
        return
    fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
