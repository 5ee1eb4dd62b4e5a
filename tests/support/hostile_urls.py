"""SSRF attack URLs; each must fail exactly like an unreachable host, without any connection."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass

from cutroom.platform.egress.client import Egress, UnreachableError, url_error
from cutroom.products.ingest.sources import HttpsSource, SourceError
from tests.support.network_namespace import (
    PUBLIC,
    PUBLIC_2,
    FakeInternet,
    ReceivedRequest,
    reply,
)

GOOD_BODY = b"\x00\x00\x00\x18ftypmp42"  # passes for media
GOOD_URL = "https://good.site.com/video.mp4"
UNREACHABLE_URLS = ("https://missing.site.com/video.mp4", f"https://{PUBLIC}:44444/", "https://untrusted.site.com/")

# One address of every range that is not public.
DENIED_ADDRESSES = (
    "0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.1.2.3", "169.254.0.1",
    "169.254.169.254", "169.254.170.2", "172.16.0.1", "172.31.255.254", "192.0.0.192", "192.0.2.1", "192.88.99.1",
    "192.168.0.1", "198.18.0.1", "198.19.255.254", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.250",
    "240.0.0.1", "255.255.255.255", "::", "::1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:a9fe:a9fe",
    "::ffff:0:127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::10.0.0.1", "64:ff9b:1::1", "100::1", "2001::1",
    "2001:0:7f00:1::", "2001:10::1", "2001:20::1", "2001:2::1", "2001:db8::1", "2002:7f00:1::", "2002:a9fe:a9fe::1",
    "3fff::1", "5f00::1", "fc00::1", "fd00:ec2::254", "fd20:ce::254", "fe80::1", "fec0::1", "ff02::1",
)  # fmt: skip

# Host spellings that some parsers resolve to loopback, private or metadata addresses.
DENIED_HOSTS = (
    "2130706433", "2852039166", "017700000001", "0177.0.0.1", "0177.0.0.0x1", "0x7f000001", "0x7f.0.0.1", "0x7f.1",
    "0X7F000001", "127.1", "127.0.1", "0", "0x0", "00", "10.1", "127.0.0.1.", "127.0.0.1..", "127.000.000.001",
    "169.254.43518", "0xa9fea9fe", "0251.0376.0251.0376", "425.510.425.510", "4294967297", "127.0.0.256", "1.2.3",
    "localhost", "localhost.", "LOCALHOST", "loopback.localhost", "localhost.localdomain", "ip6-localhost", "db",
    "printer.local", "metadata.google.internal", "instance-data.ec2.internal", "host.docker.internal", "redis.lan",
    "kubernetes.default.svc.cluster.local", "1.0.0.127.in-addr.arpa", "service.test", "x.onion", "wpad.intranet",
    "127\u30020.0.1", "127\uff0e0.0.1", "127\uff610\uff610\uff611", "\uff11\uff12\uff17.0.0.1", "\u2460\u2461.0.0.1",
    "loc\u00adalhost", "l\u24dec\u24d0lhost", "\uff4cocalhost", "good\u3002site\u3002com", "\u0661\u0662\u0667.0.0.1",
    "127.0.0.1%00.site.com", "127.0.0.1%2f.site.com", "%31%32%37.0.0.1", "127.0.0.1%0d%0a", "good.site.com%2e", "*",
    "[::1%25lo]", "[fe80::1%25eth0]", "[fe80::1%eth0]", "[::1%lo]", "[::1]x", "[::1", "::1", "[127.0.0.1]", "[]",
    "[0:0:0:0:0:0:0:1]", "[0000::1]", "[::127.0.0.1]", "[::ffff:7f00:1]", "[v1.fe80::1]", "-a.site.com", "a..site.com",
)  # fmt: skip

# URL authorities with more in them than a host.
DENIED_AUTHORITIES = (
    "good.site.com@127.0.0.1", "127.0.0.1@good.site.com", "user:pass@good.site.com", "@good.site.com",
    "good.site.com:80@127.0.0.1", "127.0.0.1:443\\@good.site.com", "good.site.com\\@127.0.0.1", "good.site.com\\.x.com",
    "127.0.0.1\t", "127.0.0.1\n", "\r\n127.0.0.1", "good.site.com\r\nHost: 127.0.0.1", "good.site.com\x00.x.com",
    "good.site.com\u202e", "good.site.com ", " 127.0.0.1", "good.site.com\u2028", "good.site.com:22",
    "good.site.com:25", "good.site.com:0", "good.site.com:80", "good.site.com:65536", "good.site.com:99999999",
    "good.site.com:-1",
    "good.site.com:+443", "good.site.com: 443", "good.site.com:443:443", "good.site.com:\uff14\uff14\uff13", "", ":443",
    "good.site.com:", "good.site.com:0x1bb", "good.site.com:6379\r\nFLUSHALL",
)  # fmt: skip

DENIED_URLS = (
    "", " ", "https:", "https:/", "https://", "https:///good.site.com/", "https:good.site.com", "//127.0.0.1/",
    "http://good.site.com/", "http://127.0.0.1/", "http://[::1]:6379/", "ftp://127.0.0.1/", "file:///etc/passwd",
    "FILE:///etc/passwd", "gopher://127.0.0.1:6379/_INFO", "dict://127.0.0.1:11211/stats", "data:video/mp4;base64,AAAA",
    "jar:https://127.0.0.1/a!/b", "ldap://127.0.0.1/", "unix:/var/run/docker.sock", "http+unix://%2Frun%2Fx.sock/a",
    "https+unix://%2Fvar%2Frun%2Fdocker.sock/", "javascript:alert(1)", "concat:https://127.0.0.1/a|b", "rtmp://10.0.0.1/",
    "view-source:https://127.0.0.1/", "https://good.site.com/\r\nHost: 127.0.0.1\r\n\r\n", "https://good.site.com/a b",
    "https://good.site.com/\x00", "https://good.site.com/\t", "https://good.site.com\\.\\127.0.0.1/", "http\u017f://127.0.0.1/",
    " https://good.site.com/", "https://good.site.com/ ", "https://good.site.com/" + "a" * 5000, "https:\\\\127.0.0.1",
)  # fmt: skip

# Redirect targets.
REDIRECT_TARGETS = (
    "https://127.0.0.1/", "https://[::1]/", "https://169.254.169.254/latest/meta-data/", "https://[fd00:ec2::254]/",
    "https://n2.hostile.com/", "//127.0.0.1/", "//[::1]:8443/", "///127.0.0.1/", "/\\127.0.0.1/", "\\\\127.0.0.1/",
    "http://good.site.com/video.mp4", "http://127.0.0.1/", "HTTP://10.0.0.1:80/", "file:///etc/passwd", "gopher://127.0.0.1/_",
    "ftp://127.0.0.1/", "https://2130706433/", "https://127.1/", "https://good.site.com@127.0.0.1/", "https://localhost/",
    "https://good.site.com:22/", "https://mixed.hostile.com/", "https://127.0.0.1\t/", "https://0x7f000001/", "data:,x",
    "https://\uff11\uff12\uff17.0.0.1/", "https://[::ffff:127.0.0.1]/", "https://hop.site.com/302/0", "https://[::1", "https:///",
)  # fmt: skip
CANARY_CALLS = (("127.0.0.1", 443), ("10.0.0.1", 8443), ("169.254.169.254", 80), ("fd00:ec2::254", 443), ("::1", 6379))
STATUSES = (301, 302, 303, 307, 308)


@dataclass(frozen=True)
class UrlSink:
    """An entry point that takes URLs; `fetch` returns what its caller sees."""

    name: str
    fetch: Callable[[str], Awaitable[str]]
    follows_redirects: bool = True
    malformed_response: str | None = None  # if malformed URLs are rejected immediately, with their own message
    find_fault: Callable[[str], str | None] = url_error  # what this sink considers malformed


def hostile_urls() -> Iterator[str]:
    """Every hostile URL, including those that need `serve_hostile_names`."""
    yield from DENIED_URLS
    yield from (f"https://{authority}/" for authority in (*DENIED_HOSTS, *DENIED_AUTHORITIES))
    for number, address in enumerate(DENIED_ADDRESSES):
        literal = f"[{address}]" if ":" in address else address
        yield f"https://{literal}/"
        yield f"https://{literal}:8443/latest/meta-data/"
        yield f"https://n{number}.hostile.com/"  # the same address behind a DNS name
    for name in ("mixed", "mixed-last", "private-v6", "mapped-v6", "alias", "chain", "ring", "empty", "many"):
        yield f"https://{name}.hostile.com/"
        yield f"https://{name}.hostile.com:8443/"
    yield from redirecting_urls()


def redirecting_urls() -> Iterator[str]:
    yield from (f"https://hop.site.com/302/{number}" for number in range(len(REDIRECT_TARGETS)))
    yield from (f"https://hop.site.com/{status}/{number}" for status in STATUSES for number in (0, 2, 4, 10))
    yield "https://hop.site.com/loop"
    yield "https://hop.site.com/long/0"
    yield "https://rebind.hostile.com/again"  # DNS rebinding: public at first, then private


async def serve_hostile_names(internet: FakeInternet) -> None:
    """Set up the DNS names and servers that the URLs refer to."""
    names = internet.names
    for number, address in enumerate(DENIED_ADDRESSES):
        names.set(f"n{number}.hostile.com", [address])
    names.set("mixed.hostile.com", [PUBLIC, "10.0.0.1"])
    names.set("mixed-last.hostile.com", [PUBLIC, PUBLIC_2, "127.0.0.1"])
    names.set("private-v6.hostile.com", [PUBLIC, "fd00::1"])
    names.set("mapped-v6.hostile.com", [PUBLIC, "::ffff:10.0.0.1"])
    names.set("alias.hostile.com", ["localhost.hostile.com"])
    names.set("localhost.hostile.com", ["127.0.0.1"])
    names.set("chain.hostile.com", ["alias.hostile.com"])
    names.set("ring.hostile.com", ["ring.hostile.com"])
    names.set("empty.hostile.com", [])
    names.set("many.hostile.com", [f"8.8.{third}.{fourth}" for third in (1, 2) for fourth in range(40)])
    certified = ["good.site.com", "hop.site.com", "*.hostile.com", "localhost", PUBLIC, "127.0.0.1"]
    await internet.serve(certified, _serve_public)
    names.set("localhost", ["127.0.0.1"])
    names.set("untrusted.site.com", [PUBLIC])  # reachable, but the certificate is for another name
    names.set("rebind.hostile.com", [PUBLIC], ["127.0.0.1"])


async def _serve_public(request: ReceivedRequest, writer: asyncio.StreamWriter) -> None:
    first, _, second = request.path.removeprefix("/").partition("/")
    if request.host == "rebind.hostile.com" and first == "again":
        writer.write(reply(302, Location="/video.mp4"))
    elif request.host != "hop.site.com":
        writer.write(reply(200, GOOD_BODY, Content_Type="video/mp4"))
    elif first == "loop":
        writer.write(reply(302, Location="/loop"))
    elif first == "long":
        ended = int(second) >= 6
        writer.write(reply(302, Location=GOOD_URL if ended else f"/long/{int(second) + 1}"))
    elif first.isdecimal():
        writer.write(reply(int(first), Location=REDIRECT_TARGETS[int(second)]))
    else:  # by RFC 3986, ///127.0.0.1/ is a path on the same host
        writer.write(reply(404))


def egress_sinks(egress: Egress) -> list[UrlSink]:
    """Sinks that need no API."""

    async def fetch(url: str) -> str:
        try:
            return repr(await egress.fetch(url, max_bytes=1000))
        except UnreachableError as error:
            return str(error)

    async def post(url: str) -> str:
        try:
            return str((await egress.post(url, b"{}", headers={})).status)
        except UnreachableError as error:
            return str(error)

    async def probe(url: str) -> str:
        try:
            return str(await HttpsSource(egress).probe(url))
        except SourceError as error:
            return f"{error.code} {error}"

    return [
        UrlSink("egress.fetch", fetch),
        UrlSink("egress.post", post, follows_redirects=False),
        UrlSink("https source", probe),
    ]
