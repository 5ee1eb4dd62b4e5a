"""Which destinations may be registered, judged by their spelling; where they lead is judged at delivery."""

import ipaddress
from urllib.parse import urlsplit

EVENTS = ("video.ready", "video.failed", "job.ready", "job.failed")
MAX_URL_LENGTH = 2048
MAX_ENDPOINTS = 20  # in one library


def fault_in_url(url: str) -> str | None:
    """What is wrong with a destination, if anything can be told from its spelling."""
    if len(url) > MAX_URL_LENGTH or any(not 32 < ord(character) < 127 for character in url):
        return f"A URL has at most {MAX_URL_LENGTH} characters, all of them printable ASCII."
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return "This is not a URL."
    if parts.scheme != "https" or not host or "\\" in url:
        return "An endpoint is an https:// URL."
    if parts.username is not None or parts.password is not None or parts.fragment:
        return "Leave user name, password and fragment out of the URL."
    if port == 0 or not _is_public_name(host):
        return "An endpoint must be reachable from the public internet."
    return None


def _is_public_name(host: str) -> bool:
    name = host.rstrip(".")
    try:
        return ipaddress.ip_address(name).is_global
    except ValueError:
        pass
    labels = name.lower().split(".")
    last = labels[-1]
    # A last label of digits is an address in one of its odd spellings (decimal, octal, short).
    return len(labels) > 1 and not last[:1].isdigit() and last not in {"localhost", "local", "internal", "test"}
