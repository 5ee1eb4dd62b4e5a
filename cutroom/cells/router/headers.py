"""Headers between callers, the router and the cells: those of one hop end there, and none of ours is forged."""

from collections.abc import Iterable

from cutroom.platform.moved import HEADER

RawHeaders = list[tuple[bytes, bytes]]

_HOP_BY_HOP = frozenset(
    {
        b"connection",
        b"expect",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    }
)
_INTERNAL_PREFIX = b"x-cutroom-"
_FORWARDING = (b"x-forwarded-", b"forwarded", b"x-real-ip")
MOVED = HEADER.lower().encode()


def to_cell(headers: Iterable[tuple[bytes, bytes]], *, address: str, scheme: str) -> RawHeaders:
    """The caller's headers without those of its connection, and with its address as the router sees it."""
    received = [(name.lower(), value) for name, value in headers]
    dropped = _HOP_BY_HOP | _nominated(received)
    kept = [
        (name, value)
        for name, value in received
        if name not in dropped and not name.startswith((_INTERNAL_PREFIX, *_FORWARDING))
    ]
    return [*kept, (b"x-forwarded-for", address.encode()), (b"x-forwarded-proto", scheme.encode())]


def to_caller(headers: Iterable[tuple[bytes, bytes]]) -> RawHeaders:
    """The cell's headers; the router's server sets the date itself."""
    received = [(name.lower(), value) for name, value in headers]
    dropped = _HOP_BY_HOP | _nominated(received) | {b"date"}
    return [(name, value) for name, value in received if name not in dropped and not name.startswith(_INTERNAL_PREFIX)]


def _nominated(headers: RawHeaders) -> frozenset[bytes]:
    """Headers that `Connection` names are of this hop too, except for those that frame the body or say who calls."""
    named = {each.strip().lower() for name, value in headers if name == b"connection" for each in value.split(b",")}
    return frozenset(named - {b"content-length", b"host", b"authorization", b"cookie"})
