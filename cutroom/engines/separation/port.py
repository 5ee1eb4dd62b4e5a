"""Ports of source separation and noise reduction.

Calls block, so activities run them in threads; every adapter passes the conformance suite.
"""

from typing import TYPE_CHECKING, Protocol

from cutroom.engines.types import OnProgress

if TYPE_CHECKING:
    from cutroom.engines.types import Samples, Stereo


class Denoiser(Protocol):
    """Removes background noise from speech."""

    name: str

    def denoise(self, samples: "Samples", *, sample_rate: int) -> "Samples":
        """Returns as many samples as it is given."""
        ...


class SourceSeparator(Protocol):
    """Separates speech from music and effects."""

    name: str
    sample_rate: int  # of its input and output

    def separate(self, stereo: "Stereo", *, on_progress: OnProgress | None = None) -> "tuple[Stereo, Stereo]":
        """Returns speech and background, each as long as the input; their sum is the input."""
        ...
