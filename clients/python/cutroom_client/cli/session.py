"""What every command has: its profile, its output, and the service, which is connected at the first call."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from cutroom_client.cli.credentials import checked_key, stored_key
from cutroom_client.cli.exits import CommandError, Exit
from cutroom_client.cli.output import Output
from cutroom_client.cli.profiles import Profile, config_dir, load_profile, profile_name
from cutroom_client.cli.service import Service
from cutroom_client.urls import checked_base_url, origin

DEFAULT_URL = "http://127.0.0.1:8700"  # an installation on this computer


@dataclass
class Session:
    """One invocation."""

    output: Output
    folder: Path
    profile: Profile
    given_url: str | None = None
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)

    @classmethod
    def open(cls, *, profile: str | None, base_url: str | None, as_json: bool | None, quiet: bool) -> Session:
        folder = config_dir()
        known = load_profile(folder, profile_name(profile))
        return cls(Output.choose(as_json=as_json, quiet=quiet), folder, known, base_url)

    @property
    def base_url(self) -> str:
        """The option, then the environment, then the profile."""
        url = self.given_url or self.environment.get("CUTROOM_BASE_URL") or self.profile.base_url or DEFAULT_URL
        try:
            return checked_base_url(url)
        except ValueError:
            raise CommandError("The URL of the service is an http:// or https:// URL without a query.") from None

    @cached_property
    def service(self) -> Service:
        key, base_url = self.api_key, self.base_url
        from cutroom_client.settings import resolve  # noqa: PLC0415 (slow to load)

        settings = resolve(
            api_key=key,
            base_url=base_url,
            max_credits=self.profile.max_credits,
            timeout=None,
            retry=None,
            state_dir=None,
        )
        return Service(settings)

    @property
    def api_key(self) -> str:
        """The environment, then the profile. A key is sent only to the service that has issued it."""
        if given := self.environment.get("CUTROOM_API_KEY"):
            return checked_key(given)
        key = stored_key(self.folder, self.profile)
        if key is None:
            profile = "" if self.profile.name == "default" else f" --profile {self.profile.name}"
            raise CommandError(
                "You are not logged in.",
                exit_code=Exit.AUTHENTICATION,
                code="NOT_LOGGED_IN",
                hint=f"Log in with: cutroom login{profile}",
            )
        self._check_origin()
        return key

    def _check_origin(self) -> None:
        stored = self.profile.base_url or DEFAULT_URL
        if origin(self.base_url) != origin(stored):
            raise CommandError(
                f"The key of profile {self.profile.name} is for {stored}, and is sent nowhere else.",
                exit_code=Exit.AUTHENTICATION,
                code="OTHER_SERVICE",
                hint="Log in there with a profile of its own, or set CUTROOM_API_KEY.",
            )

    def limit(self, given: float | None) -> float | None:
        """The spending limit of a command: its own, else that of the profile."""
        limit = given if given is not None else self.profile.max_credits
        return None if limit is None else math.floor(limit * 1000 + 1e-6) / 1000  # the service counts milli-credits

    def close(self) -> None:
        if "service" in self.__dict__:
            self.service.close()
