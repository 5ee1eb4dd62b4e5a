"""How a client is set up: arguments first, then the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import httpx
from pydantic import SecretStr

from cutroom_client.calls import Credits, format_credits
from cutroom_client.retrying import RetryPolicy
from cutroom_client.urls import checked_base_url

DEFAULT_BASE_URL = "http://127.0.0.1:8700"  # an installation on this machine


def default_timeout() -> httpx.Timeout:
    return httpx.Timeout(60.0, connect=10.0)


@dataclass(frozen=True)
class ClientSettings:
    """Everything a client needs to know. The key is in no `repr`."""

    api_key: SecretStr
    base_url: str
    max_credits: Credits | None = None
    timeout: httpx.Timeout = field(default_factory=default_timeout)
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    state_dir: Path = field(default_factory=lambda: default_state_dir(os.environ))


def resolve(
    *,
    api_key: str | None,
    base_url: str | None,
    max_credits: Credits | None,
    timeout: float | httpx.Timeout | None,
    retry: RetryPolicy | None,
    state_dir: str | Path | None,
) -> ClientSettings:
    """The settings of a client; raises ValueError if there is no key."""
    key = api_key or os.environ.get("CUTROOM_API_KEY")
    if not key:
        raise ValueError("an API key is needed: pass api_key, or set CUTROOM_API_KEY")
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ValueError("the API key has characters that no key has")
    if max_credits is not None:
        format_credits(max_credits)
    return ClientSettings(
        api_key=SecretStr(key),
        base_url=checked_base_url(base_url or os.environ.get("CUTROOM_BASE_URL") or DEFAULT_BASE_URL),
        max_credits=max_credits,
        timeout=default_timeout() if timeout is None else httpx.Timeout(timeout),
        retry=retry or RetryPolicy(),
        state_dir=Path(state_dir) if state_dir is not None else default_state_dir(os.environ),
    )


def default_state_dir(environment: Mapping[str, str]) -> Path:
    """Where the state of unfinished uploads is kept."""
    if configured := environment.get("CUTROOM_STATE_DIR"):
        return Path(configured)
    base = environment.get("XDG_STATE_HOME") or environment.get("LOCALAPPDATA")
    return (Path(base) if base else Path.home() / ".local" / "state") / "cutroom"
