"""Which sites can have passkeys."""

from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class PasskeySite:
    """The site that passkeys are bound to: its host, and the origin of its pages."""

    host: str
    origin: str

    @classmethod
    def of(cls, base_url: str) -> "PasskeySite | None":
        """None if browsers would refuse passkeys there: they need a host name, and TLS except on localhost."""
        parts = urlsplit(base_url)
        host = parts.hostname or ""
        try:
            ip_address(host)
        except ValueError:
            is_named = bool(host)
        else:
            is_named = False
        is_safe = parts.scheme == "https" or host == "localhost" or host.endswith(".localhost")
        return cls(host, f"{parts.scheme}://{parts.netloc}") if is_named and is_safe else None
