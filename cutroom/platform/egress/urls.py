"""Strict parsing of untrusted URLs, so that no later component interprets them differently."""

import re
import unicodedata
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from urllib.parse import quote, urljoin

import idna

from cutroom.platform.egress.addresses import denial_reason

MAX_URL_LENGTH = 4096  # presigned URLs of object stores are long
MAX_HOST_LENGTH = 253
HTTPS_PORT = 443
FIRST_UNPRIVILEGED_PORT = 1024  # lower ports, except 443, belong to mail, SSH and the like

# Top-level names that never resolve on the public internet.
PRIVATE_ENDINGS = frozenset(
    {"localhost", "localdomain", "local", "internal", "intranet", "lan", "test", "invalid", "onion", "arpa"}
)

_URL = re.compile(r"https://(?P<authority>[^/?#]*)(?P<path>/[^?#]*)?(?P<query>\?[^#]*)?(?:#.*)?", re.IGNORECASE)
_AUTHORITY = re.compile(r"(?:\[(?P<v6>[0-9A-Fa-f:.]+)\]|(?P<name>[^\[\]:@%]+))(?::(?P<port>[0-9]{1,5}))?", re.ASCII)
_LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")
_NUMERIC = re.compile(r"[0-9]+|0x[0-9a-f]*")  # a numeric last label makes the host an IPv4 address
_DOTS = re.compile("[\u3002\uff0e\uff61]")  # IDNA treats these as dots


class UrlError(ValueError):
    """The URL is malformed; the message may be shown to the caller."""


@dataclass(frozen=True, slots=True)
class Target:
    """A URL in its normalized form."""

    host: str
    port: int
    path: str  # including the query

    @property
    def authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == HTTPS_PORT else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        return f"https://{self.authority}{self.path}"

    @property
    def origin(self) -> tuple[str, int]:
        return self.host, self.port


def parse_url(url: str) -> Target:
    """Parses a URL, or raises UrlError; the fragment is dropped."""
    if not 0 < len(url) <= MAX_URL_LENGTH:
        raise UrlError(f"A URL has 1 to {MAX_URL_LENGTH} characters.")
    if "\\" in url or any(unicodedata.category(character)[0] in "CZ" for character in url):
        raise UrlError("A URL has no spaces, control characters or backslashes.")
    parts = _URL.fullmatch(url)
    if parts is None:
        raise UrlError("This is not an https:// URL.")
    authority = _AUTHORITY.fullmatch(parts["authority"])
    if authority is None:
        raise UrlError("After https:// comes a host name, and at most a port: no user name, password or zone.")
    host = _ipv6_literal(authority["v6"]) if authority["v6"] else _host(authority["name"])
    path = (parts["path"] or "/") + (parts["query"] or "")
    return Target(host, _port(authority["port"]), path=quote(path, safe=_KEPT))


# Printable ASCII is kept as written; the rest is percent-encoded UTF-8.
_KEPT = "".join(chr(code) for code in range(33, 127))


def url_error(url: str) -> str | None:
    """Returns what is wrong with a URL, or None; the host is not resolved until it is fetched."""
    try:
        target = parse_url(url)
    except UrlError as error:
        return str(error)
    if ":" in target.host or _NUMERIC.fullmatch(target.host.rpartition(".")[2]):
        address = IPv6Address(target.host) if ":" in target.host else IPv4Address(target.host)
        if denial_reason(address) is not None:
            return "The URL must be reachable from the public internet."
    return None


def join_url(base: Target, location: str) -> Target:
    """Resolves a redirect's Location, parsed as strictly as any URL."""
    if "\\" in location or any(unicodedata.category(character)[0] in "CZ" for character in location):
        raise UrlError("A URL has no spaces, control characters or backslashes.")
    try:
        return parse_url(urljoin(base.url, location))
    except UrlError:
        raise
    except ValueError as error:  # urljoin with an unbalanced bracket
        raise UrlError("This is not an https:// URL.") from error


def _port(text: str | None) -> int:
    port = HTTPS_PORT if text is None else int(text)
    if port != HTTPS_PORT and not FIRST_UNPRIVILEGED_PORT <= port <= 65535:
        raise UrlError(f"The port is {HTTPS_PORT}, or {FIRST_UNPRIVILEGED_PORT} and above.")
    return port


def _ipv6_literal(text: str) -> str:
    try:
        return str(IPv6Address(text))
    except AddressValueError as error:
        raise UrlError("This is not an IPv6 address.") from error


def _host(text: str) -> str:
    name = _ascii_host(text).removesuffix(".")  # a trailing root dot names the same host
    labels = name.split(".")
    if _NUMERIC.fullmatch(labels[-1]):
        try:
            return str(IPv4Address(name))  # dotted decimal without leading zeros only
        except AddressValueError as error:
            raise UrlError("An IPv4 address is written as four decimal numbers.") from error
    if len(name) > MAX_HOST_LENGTH or not all(_LABEL.fullmatch(label) for label in labels):
        raise UrlError("This is not a host name.")
    if len(labels) == 1 or labels[-1] in PRIVATE_ENDINGS:
        raise UrlError("The URL must be reachable from the public internet.")
    return name


def _ascii_host(text: str) -> str:
    if text.isascii():
        return text.lower()
    if _DOTS.search(text):
        raise UrlError("The dots of a host name are plain dots.")
    try:
        # Without UTS 46 mapping, compatibility characters (fullwidth digits, circled letters) are rejected.
        return idna.encode(text, uts46=False).decode("ascii").lower()
    except (idna.IDNAError, UnicodeError) as error:
        raise UrlError("This is not a host name.") from error
