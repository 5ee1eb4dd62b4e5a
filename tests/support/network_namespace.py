"""A network namespace with a fake internet: every address routes back to this machine, and no packet can leave."""

import asyncio
import ctypes
import functools
import os
import ssl
import struct
import subprocess
import threading
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryDirectory
from typing import Any, ParamSpec

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

CLONE_NEWNS, CLONE_NEWNET = 0x00020000, 0x40000000
PUBLIC, PUBLIC_2, PUBLIC_V6 = "8.8.4.4", "8.8.4.5", "2600:1901::4"
# Ports of services that SSRF attacks usually target, and a few arbitrary ones.
CANARY_PORTS = (22, 25, 80, 443, 1024, 2375, 3306, 5432, 6379, 7233, 8000, 8080, 8443, 9000, 9200, 11211, 27017, 65535)
_A, _CNAME, _AAAA = 1, 5, 28
MAX_ALIASES = 8  # a CNAME chain may loop
MAX_HEAD_BYTES = 64 * 1024

P = ParamSpec("P")


def unavailable_reason() -> str | None:
    """Why a namespace cannot be created here; None if it can."""
    if os.geteuid() != 0:
        return "creating a network namespace needs root"
    command = ["unshare", "--net", "--mount", "ip", "link", "set", "lo", "up"]
    tried = subprocess.run(command, capture_output=True, check=False)
    return None if tried.returncode == 0 else f"cannot create a network namespace: {tried.stderr.decode().strip()}"


def enter_namespace() -> None:
    """Move the calling thread, and everything it starts from now on, into a new network namespace."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET | CLONE_NEWNS) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    _run("mount", "--make-rprivate", "/")
    with NamedTemporaryFile("w", suffix=".conf") as file:
        file.write("nameserver 127.0.0.1\noptions timeout:1 attempts:1\n")
        file.flush()
        _run("mount", "--bind", file.name, "/etc/resolv.conf")  # the mount survives deletion of the file
    _run("ip", "link", "set", "lo", "up")
    # Every address is local: a wildcard listener accepts connections to any of them.
    _run("ip", "route", "add", "local", "default", "dev", "lo")
    _run("ip", "-6", "route", "add", "local", "default", "dev", "lo")
    _run("ip", "-6", "address", "add", f"{PUBLIC_V6}/128", "dev", "lo")  # binding needs an address, not only a route


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)


def in_namespace(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """Run a coroutine function in its own thread and network namespace."""

    @functools.wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        failures: list[BaseException] = []

        def body() -> None:
            try:
                enter_namespace()
                asyncio.run(test(*args, **kwargs))
            except BaseException as error:  # noqa: BLE001 (raised again in the calling thread)
                failures.append(error)

        thread = threading.Thread(target=body)
        thread.start()
        thread.join()
        if failures:
            raise failures[0]

    return run


def count_outgoing_connections() -> int:
    """TCP connections opened in this namespace to any address and port, as counted by the kernel."""
    lines = Path("/proc/thread-self/net/snmp").read_text().splitlines()
    names, values = (line.split() for line in lines if line.startswith("Tcp:"))
    return int(values[names.index("ActiveOpens")])


class Canaries:
    """Listeners on every address without a server; they record each connection."""

    def __init__(self) -> None:
        self.connections: list[str] = []
        self._servers: list[asyncio.Server] = []

    async def open(self, ports: Sequence[int] = CANARY_PORTS) -> None:
        for port in ports:
            for host in ("0.0.0.0", "::"):
                self._servers.append(await asyncio.start_server(self._record_connection, host, port, reuse_port=True))

    async def _record_connection(self, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections.append(str(writer.get_extra_info("sockname")))
        writer.close()

    def close(self) -> None:
        for server in self._servers:
            server.close()


@dataclass
class NameServer(asyncio.DatagramProtocol):
    """Answers A, AAAA and CNAME queries from a table; a name with several record sets returns them in turn."""

    records: dict[str, list[list[str]]] = field(default_factory=dict)
    lookups: Counter[str] = field(default_factory=Counter)  # A queries, by name
    transport: asyncio.DatagramTransport | None = None

    def set(self, name: str, *sets: Sequence[str]) -> None:
        """Addresses, or one name for a CNAME. Of several sets, each lookup returns the next; the last one repeats."""
        self.records[name] = [list(addresses) for addresses in sets]

    async def open(self) -> None:
        loop = asyncio.get_running_loop()
        self.transport, _ = await loop.create_datagram_endpoint(lambda: self, local_addr=("127.0.0.1", 53))

    def close(self) -> None:
        if self.transport is not None:
            self.transport.close()

    def datagram_received(self, data: bytes, addr: tuple[str | Any, int]) -> None:
        end = data.index(0, 12)
        name, kind = _name(data[12:end]), struct.unpack_from("!H", data, end + 1)[0]
        answers = self._answers(name, kind)
        code = 0 if name in self.records else 3  # NXDOMAIN
        header = data[:2] + struct.pack("!HHHHH", 0x8580 | code, 1, len(answers), 0, 0)
        assert self.transport is not None
        self.transport.sendto(header + data[12 : end + 5] + b"".join(answers), addr)

    def _answers(self, name: str, kind: int) -> list[bytes]:
        turn = max(0, self.lookups[name] - (kind != _A))  # the AAAA query comes second in the same lookup
        if kind == _A:
            self.lookups[name] += 1
        answers: list[bytes] = []
        sets = self.records.get(name)
        while sets and len(answers) < MAX_ALIASES:
            chosen = sets[min(turn, len(sets) - 1)]
            alias = chosen[0] if len(chosen) == 1 and not _is_address(chosen[0]) else None
            if alias is None:
                return answers + [_record(name, address) for address in chosen if _kind(address) == kind]
            answers.append(_record(name, alias))
            name, sets = alias, self.records.get(alias)
        return answers


def _name(wire: bytes) -> str:
    labels, place = [], 0
    while place < len(wire):
        labels.append(wire[place + 1 : place + 1 + wire[place]].decode())
        place += 1 + wire[place]
    return ".".join(labels).lower()


def _wire(name: str) -> bytes:
    return b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\0"


def _kind(text: str) -> int:
    with suppress(ValueError):
        return {4: _A, 6: _AAAA}[ip_address(text).version]
    return _CNAME


def _is_address(text: str) -> bool:
    return _kind(text) != _CNAME


def _record(name: str, value: str) -> bytes:
    data = ip_address(value).packed if _is_address(value) else _wire(value)
    return _wire(name) + struct.pack("!HHIH", _kind(value), 1, 0, len(data)) + data


class CertificateAuthority:
    """A certificate authority that only clients of this fake internet trust."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Proof CA")])
        constraints = x509.BasicConstraints(ca=True, path_length=0)
        certificate = self._sign(self._name, self._key.public_key(), (constraints, True))
        self.file = folder / "authority.pem"
        self.file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))

    def trust(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(self.file))

    def server_context(self, names: Sequence[str]) -> ssl.SSLContext:
        key = ec.generate_private_key(ec.SECP256R1())
        subjects = [x509.IPAddress(ip_address(name)) if _is_address(name) else x509.DNSName(name) for name in names]
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "server")])
        certificate = self._sign(subject, key.public_key(), (x509.SubjectAlternativeName(subjects), False))
        plain = serialization.NoEncryption()
        file = self._folder / "server.pem"
        file.write_bytes(
            key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
            + certificate.public_bytes(serialization.Encoding.PEM)
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        return context

    def _sign(
        self, subject: x509.Name, key: ec.EllipticCurvePublicKey, extension: tuple[x509.ExtensionType, bool]
    ) -> x509.Certificate:
        now = datetime.now(UTC)
        builder = x509.CertificateBuilder().subject_name(subject).issuer_name(self._name).public_key(key)
        builder = builder.serial_number(x509.random_serial_number()).add_extension(extension[0], critical=extension[1])
        builder = builder.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
        return builder.sign(self._key, hashes.SHA256())


@dataclass(frozen=True)
class ReceivedRequest:
    """An HTTP request as a server received it."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def host(self) -> str:
        return self.headers.get("host", "")


Handler = Callable[[ReceivedRequest, asyncio.StreamWriter], Awaitable[None]]


def reply(status: int, body: bytes = b"", **headers: str) -> bytes:
    """A complete HTTP response; underscores in header names become hyphens."""
    lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode("utf-8", "surrogateescape") + b"\r\n\r\n" + body


class FakeInternet:
    """Name server, certificates, HTTPS servers and canaries of one namespace."""

    def __init__(self, folder: Path, stack: AsyncExitStack) -> None:
        self.names, self.canaries, self.authority = NameServer(), Canaries(), CertificateAuthority(folder)
        self.accepted = 0  # connections to servers
        self.requests: list[ReceivedRequest] = []
        self._stack = stack
        self._tasks: set[asyncio.Task[Any] | None] = set()

    async def serve(self, names: Sequence[str], handler: Handler, *, address: str = PUBLIC, port: int = 443) -> None:
        """Point names at an address and serve HTTPS there with a certificate for them."""
        for name in names:
            if not _is_address(name) and not name.startswith("*"):
                self.names.set(name, [address])
        context = self.authority.server_context(names)
        served = functools.partial(self._serve, handler)
        server = await asyncio.start_server(served, address, port, ssl=context, reuse_port=True)
        self._stack.callback(server.close)

    async def _serve(self, handler: Handler, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.accepted += 1
        self._tasks.add(asyncio.current_task())
        with suppress(asyncio.CancelledError, ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            head = (await reader.readuntil(b"\r\n\r\n"))[:MAX_HEAD_BYTES].decode("latin-1").split("\r\n")
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
            body = await reader.readexactly(int(headers.get("content-length", "0")))
            method, path, _ = head[0].split(" ", 2)
            request = ReceivedRequest(method, path, headers, body)
            self.requests.append(request)
            await handler(request, writer)
            await writer.drain()
        writer.close()

    async def close(self) -> None:
        """Cancel open connections and release the sockets."""
        self.names.close()
        self.canaries.close()
        for task in filter(None, self._tasks):
            task.cancel()
        await asyncio.sleep(0.01)


@asynccontextmanager
async def open_internet() -> AsyncIterator[FakeInternet]:
    """Start a fake internet with its name server and canaries; call it inside a namespace."""
    with TemporaryDirectory() as folder:
        async with AsyncExitStack() as stack:
            internet = FakeInternet(Path(folder), stack)
            stack.push_async_callback(internet.close)
            await internet.names.open()
            await internet.canaries.open()
            yield internet
