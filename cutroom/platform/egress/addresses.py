"""Which addresses of the internet may be reached for a caller, and how a name becomes a vetted address."""

import asyncio
import socket
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

import httpcore
from httpcore import SOCKET_OPTION, AnyIOBackend, AsyncNetworkBackend, AsyncNetworkStream

RESOLVE_SECONDS = 5.0
MAX_RESOLVING = 16  # names at once; a slow name server must not take every thread of the process
MAX_CONNECT_TRIES = 4  # addresses of one name
MAX_ADDRESSES = 64  # of one name; more is no honest answer

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

# Own tables: `ipaddress.is_global` of Python 3.11 admits several of these.
DENIED_V4: tuple[tuple[IPv4Network, str], ...] = (
    (IPv4Network("0.0.0.0/8"), "this network; 0.0.0.0 reaches the machine itself"),
    (IPv4Network("10.0.0.0/8"), "private"),
    (IPv4Network("100.64.0.0/10"), "carrier-grade NAT, and metadata services of some clouds"),
    (IPv4Network("127.0.0.0/8"), "loopback"),
    (IPv4Network("169.254.0.0/16"), "link-local, and metadata services of most clouds"),
    (IPv4Network("172.16.0.0/12"), "private"),
    (IPv4Network("192.0.0.0/24"), "protocol assignments, and a metadata service"),
    (IPv4Network("192.0.2.0/24"), "documentation"),
    (IPv4Network("192.88.99.0/24"), "6to4 relays"),
    (IPv4Network("192.168.0.0/16"), "private"),
    (IPv4Network("198.18.0.0/15"), "benchmarking"),
    (IPv4Network("198.51.100.0/24"), "documentation"),
    (IPv4Network("203.0.113.0/24"), "documentation"),
    (IPv4Network("224.0.0.0/4"), "multicast"),
    (IPv4Network("240.0.0.0/4"), "reserved, and broadcast"),
)

# Of IPv6 only this block is handed out for the internet. Outside of it, and so refused without a line of their own:
# ::1, ::, mapped ::ffff:0:0/96, NAT64 64:ff9b::/96 and 64:ff9b:1::/48, discard 100::/64, segment routing 5f00::/16,
# unique local fc00::/7, link-local fe80::/10, site-local fec0::/10, multicast ff00::/8.
GLOBAL_V6 = IPv6Network("2000::/3")
DENIED_V6: tuple[tuple[IPv6Network, str], ...] = (
    (IPv6Network("2001::/23"), "protocol assignments: Teredo, ORCHID, benchmarking; Teredo carries an IPv4 address"),
    (IPv6Network("2001:db8::/32"), "documentation"),
    (IPv6Network("2002::/16"), "6to4: carries an IPv4 address"),
    (IPv6Network("3fff::/20"), "documentation"),
)


def why_denied(address: Address, extra: Iterable[Network] = ()) -> str | None:
    """What an address is, when it may not be reached; `extra` are the operator's own networks."""
    if any(address.version == network.version and address in network for network in extra):
        return "denied by the operator"
    if isinstance(address, IPv4Address):
        return next((why for network, why in DENIED_V4 if address in network), None)
    if address.scope_id is not None or address not in GLOBAL_V6:
        return "not a global IPv6 address"
    return next((why for network, why in DENIED_V6 if address in network), None)


def parse_networks(text: str | None) -> tuple[Network, ...]:
    """Read the operator's comma-separated list; a network that cannot be read stops the process from starting."""
    return tuple(ip_network(part.strip()) for part in (text or "").split(",") if part.strip())


class DeniedError(Exception):
    """A name has no address that may be reached; the message is for the log."""


class Resolver:
    """Asks the system's resolver once for each connection; what it returns is what gets connected to."""

    def __init__(self, denied: Sequence[Network] = ()) -> None:
        self._denied = tuple(denied)
        self._threads = ThreadPoolExecutor(MAX_RESOLVING, thread_name_prefix="resolve")

    async def vet(self, host: str, port: int) -> list[Address]:
        """All addresses of a name or literal, in the resolver's order; one that is denied condemns the name."""
        addresses = await self._look_up(host, port)
        for address in addresses:
            if (why := why_denied(address, self._denied)) is not None:
                raise DeniedError(f"{address}: {why}")
        return addresses

    async def _look_up(self, host: str, port: int) -> list[Address]:
        try:
            return [ip_address(host)]
        except ValueError:
            pass
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(RESOLVE_SECONDS):
                found = await loop.run_in_executor(self._threads, _ask_system, host, port)
        except (OSError, UnicodeError, TimeoutError) as error:
            raise DeniedError(f"no address: {error!r}") from error
        addresses = list(dict.fromkeys(ip_address(sockaddr[0]) for *_, sockaddr in found))
        if not 1 <= len(addresses) <= MAX_ADDRESSES:
            raise DeniedError(f"{len(addresses)} addresses")
        return addresses

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


class VettedBackend(AsyncNetworkBackend):
    """Opens connections to the addresses it was given, whatever name it is asked for."""

    def __init__(self, addresses: Sequence[Address]) -> None:
        self._addresses = tuple(addresses)
        self._sockets = AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,  # noqa: ARG002 (resolving it again is what must not happen)
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 (the form of every backend)
        local_address: str | None = None,
        socket_options: Iterable[SOCKET_OPTION] | None = None,
    ) -> AsyncNetworkStream:
        failure: Exception = httpcore.ConnectError("no address")
        for address in self._addresses[:MAX_CONNECT_TRIES]:
            try:
                return await self._sockets.connect_tcp(str(address), port, timeout, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure


def _ask_system(host: str, port: int) -> list[tuple[int, int, int, str, tuple[str, int]]]:
    # Without AI_ADDRCONFIG both families are asked for, so that a private AAAA beside a public A is seen. The dot at
    # the end keeps the search list of resolv.conf out: `db.prod` must not become `db.prod.cluster.local`.
    return socket.getaddrinfo(f"{host}.", port, type=socket.SOCK_STREAM)  # type: ignore[return-value]
