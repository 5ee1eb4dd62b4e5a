"""How a URL of a caller is read: one strict grammar, so that nobody after us can read it differently."""

import re
import unicodedata
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from urllib.parse import quote, urljoin

import idna

from cutroom.platform.egress.addresses import why_denied

MAX_URL_LENGTH = 4096  # presigned URLs of object stores are long
MAX_HOST_LENGTH = 253
HTTPS_PORT = 443
FIRST_UNPRIVILEGED_PORT = 1024  # below it, only 443: what listens there speaks mail, shell or worse

# Names that never lead to the public internet, whatever a resolver says.
PRIVATE_ENDINGS = frozenset(
    {"localhost", "localdomain", "local", "internal", "intranet", "lan", "test", "invalid", "onion", "arpa"}
)

_URL = re.compile(r"https://(?P<authority>[^/?#]*)(?P<path>/[^?#]*)?(?P<query>\?[^#]*)?(?:#.*)?", re.IGNORECASE)
_AUTHORITY = re.compile(r"(?:\[(?P<v6>[0-9A-Fa-f:.]+)\]|(?P<name>[^\[\]:@%]+))(?::(?P<port>[0-9]{1,5}))?", re.ASCII)
_LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")
_NUMERIC = re.compile(r"[0-9]+|0x[0-9a-f]*")  # a last label like this makes the whole host an address
_DOTS = re.compile("[\u3002\uff0e\uff61]")  # IDNA would take these for dots


class UrlError(ValueError):
    """A URL is refused for its spelling; the message may be shown to whoever wrote it."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where a URL leads, in the one spelling that goes on the wire."""

    host: str
    port: int
    path: str  # with the query

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
    """Read a URL, or say what is wrong with it; a fragment is dropped, for it never goes on the wire."""
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
    host = _literal_v6(authority["v6"]) if authority["v6"] else _host(authority["name"])
    path = (parts["path"] or "/") + (parts["query"] or "")
    return Target(host, _port(authority["port"]), path=quote(path, safe=_KEPT))


# Every printable ASCII character stays as the caller wrote it; the rest becomes UTF-8 in percent signs.
_KEPT = "".join(chr(code) for code in range(33, 127))


def fault_in_url(url: str) -> str | None:
    """What is wrong with a URL as far as its spelling tells; where a name leads is judged when it is fetched."""
    try:
        target = parse_url(url)
    except UrlError as error:
        return str(error)
    if ":" in target.host or _NUMERIC.fullmatch(target.host.rpartition(".")[2]):
        address = IPv6Address(target.host) if ":" in target.host else IPv4Address(target.host)
        if why_denied(address) is not None:
            return "The URL must be reachable from the public internet."
    return None


def join_url(base: Target, location: str) -> Target:
    """Where a redirect leads; the result is read as strictly as any URL."""
    if "\\" in location or any(unicodedata.category(character)[0] in "CZ" for character in location):
        raise UrlError("A URL has no spaces, control characters or backslashes.")
    try:
        return parse_url(urljoin(base.url, location))
    except UrlError:
        raise
    except ValueError as error:  # urljoin on a broken bracket
        raise UrlError("This is not an https:// URL.") from error


def _port(text: str | None) -> int:
    port = HTTPS_PORT if text is None else int(text)
    if port != HTTPS_PORT and not FIRST_UNPRIVILEGED_PORT <= port <= 65535:
        raise UrlError(f"The port is {HTTPS_PORT}, or {FIRST_UNPRIVILEGED_PORT} and above.")
    return port


def _literal_v6(text: str) -> str:
    try:
        return str(IPv6Address(text))
    except AddressValueError as error:
        raise UrlError("This is not an IPv6 address.") from error


def _host(text: str) -> str:
    name = _ascii_host(text).removesuffix(".")  # with or without the dot of the root, it is the same name
    labels = name.split(".")
    if _NUMERIC.fullmatch(labels[-1]):
        try:
            return str(IPv4Address(name))  # four decimal numbers without leading zeros, and nothing else
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
        # Without UTS 46: characters that merely look like others (fullwidth digits, letters in circles) are refused.
        return idna.encode(text, uts46=False).decode("ascii").lower()
    except (idna.IDNAError, UnicodeError) as error:
        raise UrlError("This is not a host name.") from error
