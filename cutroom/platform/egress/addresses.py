"""Resolves host names and denies private, reserved and operator-denied addresses."""

import asyncio
import socket
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

import httpcore
from httpcore import SOCKET_OPTION, AnyIOBackend, AsyncNetworkBackend, AsyncNetworkStream

RESOLVE_SECONDS = 5.0
MAX_CONCURRENT_LOOKUPS = 16  # a slow name server must not occupy every thread
MAX_CONNECT_TRIES = 4  # addresses tried per name
MAX_ADDRESSES = 64  # per name; longer responses are rejected

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

# Explicit tables, because `ipaddress.is_global` of Python 3.11 admits several of these.
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

# The only allocated global unicast block. Everything outside it is denied without an entry of its own:
# ::1, ::, mapped ::ffff:0:0/96, NAT64 64:ff9b::/96 and 64:ff9b:1::/48, discard 100::/64, segment routing 5f00::/16,
# unique local fc00::/7, link-local fe80::/10, site-local fec0::/10, multicast ff00::/8.
GLOBAL_V6 = IPv6Network("2000::/3")
DENIED_V6: tuple[tuple[IPv6Network, str], ...] = (
    (IPv6Network("2001::/23"), "protocol assignments: Teredo, ORCHID, benchmarking; Teredo carries an IPv4 address"),
    (IPv6Network("2001:db8::/32"), "documentation"),
    (IPv6Network("2002::/16"), "6to4: carries an IPv4 address"),
    (IPv6Network("3fff::/20"), "documentation"),
)


def denial_reason(address: Address, extra: Iterable[Network] = ()) -> str | None:
    """Returns why an address is denied, or None; `extra` lists networks denied by the operator."""
    if any(address.version == network.version and address in network for network in extra):
        return "denied by the operator"
    if isinstance(address, IPv4Address):
        return next((reason for network, reason in DENIED_V4 if address in network), None)
    if address.scope_id is not None or address not in GLOBAL_V6:
        return "not a global IPv6 address"
    return next((reason for network, reason in DENIED_V6 if address in network), None)


class AddressDeniedError(Exception):
    """The host has no allowed address; the message is only logged."""


class Resolver:
    """Resolves and checks a host once per connection, which then uses only these addresses (no DNS rebinding)."""

    def __init__(self, denied: Sequence[Network] = ()) -> None:
        self._denied = tuple(denied)
        self._threads = ThreadPoolExecutor(MAX_CONCURRENT_LOOKUPS, thread_name_prefix="resolve")

    async def resolve(self, host: str, port: int) -> list[Address]:
        """Returns all addresses of a host, in resolver order; a single denied address rejects the host."""
        addresses = await self._lookup(host, port)
        for address in addresses:
            if (reason := denial_reason(address, self._denied)) is not None:
                raise AddressDeniedError(f"{address}: {reason}")
        return addresses

    async def _lookup(self, host: str, port: int) -> list[Address]:
        try:
            return [ip_address(host)]
        except ValueError:
            pass
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(RESOLVE_SECONDS):
                results = await loop.run_in_executor(self._threads, _getaddrinfo, host, port)
        except (OSError, UnicodeError, TimeoutError) as error:
            raise AddressDeniedError(f"no address: {error!r}") from error
        addresses = list(dict.fromkeys(ip_address(sockaddr[0]) for *_, sockaddr in results))
        if not 1 <= len(addresses) <= MAX_ADDRESSES:
            raise AddressDeniedError(f"{len(addresses)} addresses")
        return addresses

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


class PinnedBackend(AsyncNetworkBackend):
    """Connects only to already checked addresses, regardless of the requested host."""

    def __init__(self, addresses: Sequence[Address]) -> None:
        self._addresses = tuple(addresses)
        self._sockets = AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,  # noqa: ARG002 - must not be resolved again
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's interface
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


def _getaddrinfo(host: str, port: int) -> list[tuple[int, int, int, str, tuple[str, int]]]:
    # Without AI_ADDRCONFIG both families are queried, so that a private AAAA beside a public A is seen. The trailing
    # dot disables the search list of resolv.conf: `db.prod` must not become `db.prod.cluster.local`.
    return socket.getaddrinfo(f"{host}.", port, type=socket.SOCK_STREAM)  # type: ignore[return-value]
