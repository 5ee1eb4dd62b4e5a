"""Finding a program of this environment, and asking an address."""

import sys
import urllib.request
from pathlib import Path
from urllib.error import URLError

TIMEOUT_SECONDS = 2.0


def program_beside_python(name: str) -> Path:
    """Return a program that a Python package put into this environment."""
    return Path(sys.executable).parent / name


def fetch(url: str) -> bytes | None:
    """Return the body of a successful answer."""
    try:
        # No proxy of the caller's environment may stand between us and the loopback address.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(url, timeout=TIMEOUT_SECONDS) as response:
            return bytes(response.read())
    except (URLError, OSError):
        return None
