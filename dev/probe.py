"""Finds programs of this virtual environment and probes local HTTP endpoints."""

import sys
import urllib.request
from pathlib import Path
from urllib.error import URLError

TIMEOUT_SECONDS = 2.0
CHROMIUM = Path("/usr/bin/chromium")  # the browser of the proofs


def program_beside_python(name: str) -> Path:
    """Returns the path of a program installed by a Python package."""
    return Path(sys.executable).parent / name


def fetch(url: str) -> bytes | None:
    """Returns the body of a successful response, else None."""
    try:
        # Bypass proxies configured in the environment.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(url, timeout=TIMEOUT_SECONDS) as response:
            return bytes(response.read())
    except (URLError, OSError):
        return None
