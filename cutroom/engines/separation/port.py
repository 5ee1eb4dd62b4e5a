"""Ports of source separation and noise reduction.

Calls block, so activities run them in threads; every adapter passes the conformance suite.
"""

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from cutroom.engines.types import Samples, Stereo


class Denoiser(Protocol):
    """Takes noise out of speech."""

    name: str

    def clean(self, samples: "Samples", *, sample_rate: int) -> "Samples":
        """As many samples as were given."""
        ...


class Separator(Protocol):
    """Takes speech apart from everything else that sounds."""

    name: str
    sample_rate: int  # of what it is given and gives

    def separate(self, stereo: "Stereo") -> "tuple[Stereo, Stereo]":
        """Speech and the rest, each with as many samples as were given; together they are what was given."""
        ...
