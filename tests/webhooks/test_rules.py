"""Endpoint URL validation."""

import pytest

from cutroom.events.rules import DEFAULT_TYPES
from cutroom.webhooks.rules import MAX_URL_LENGTH, url_error

GOOD = [
    "https://example.com",
    "https://example.com/",
    "https://hooks.example.com/cutroom",
    "https://hooks.example.com:8443/a/b?c=d&e=f%20g",
    "https://example.com:443/",
    "https://example.com:65535/",
    "HTTPS://EXAMPLE.COM/Path",
    "https://xn--bcher-kva.example.com/",
    "https://example.xn--p1ai/",
    "https://a.b.c.d.e.f.example.co.uk/x",
    "https://1.example.com/",
    "https://0x.example.com/",
    "https://example.com./",
    "https://8.8.8.8/hook",
    "https://93.184.216.34:8443/",
    "https://[2606:4700:4700::1111]/",
    "https://[2606:4700:4700::1111]:8443/hook",
    "https://example.com/" + "a" * (MAX_URL_LENGTH - 20),
    "https://localhost.example.com/",
    "https://local.example.com/",
    "https://example.com/?next=http://127.0.0.1/",
    "https://example.com/a@b:c",
]

BAD = {
    # not an https URL at all
    "empty": "",
    "a word": "hook",
    "no scheme": "example.com/hook",
    "only a scheme": "https:",
    "no host": "https:///hook",
    "no host but a port": "https://:443/",
    "no slashes": "https:example.com",
    "relative to a scheme": "//example.com/",
    "http": "http://example.com/",
    "ftp": "ftp://example.com/",
    "javascript": "javascript:alert(1)",
    "file": "file:///etc/passwd",
    "a longer scheme": "httpss://example.com/",
    # credentials and fragments
    "user and password": "https://user:pass@example.com/",
    "user": "https://user@example.com/",
    "empty user": "https://@example.com/",
    "a host before the host": "https://example.com@127.0.0.1/",
    "fragment": "https://example.com/#a",
    "empty fragment": "https://example.com/#",
    # ambiguous syntax
    "leading space": " https://example.com/",
    "trailing space": "https://example.com/ ",
    "space inside": "https://example.com/a b",
    "tab": "https://exa\tmple.com/",
    "newline": "https://example.com/\n",
    "header injection": "https://example.com/\r\nX-Evil: 1",
    "NUL": "https://example.com/\x00",
    "delete": "https://example.com/\x7f",
    "not ASCII": "https://bücher.example.com/",
    "full-width dots": "https://127\u30020\u30020\u30021/",
    "backslash": "https://example.com\\@127.0.0.1/",
    "backslash in the path": "https://example.com/a\\b",
    "too long": "https://example.com/" + "a" * (MAX_URL_LENGTH - 19),
    "percent in the host": "https://example%2ecom/",
    "percent-encoded local": "https://printer.%6cocal/",
    "percent-encoded localhost": "https://x.loc%61lhost/",
    "star": "https://*.example.com/",
    "brace": "https://{host}.example.com/",
    "quote": "https://exa'mple.com/",
    "angle": "https://exa<mple.com/",
    "empty label": "https://example..com/",
    "leading dot": "https://.example.com/",
    "label of a dash": "https://-.com/",
    "only dots": "https://../",
    "label too long": f"https://{'a' * 64}.example.com/",
    "host too long": f"https://{'a.' * 127}example.com/",
    # ports
    "port 0": "https://example.com:0/",
    "port too high": "https://example.com:65536/",
    "port negative": "https://example.com:-1/",
    "port a word": "https://example.com:https/",
    # loopback
    "localhost": "https://localhost/",
    "localhost with a port": "https://localhost:8443/",
    "localhost with a dot": "https://localhost./",
    "LOCALHOST": "https://LOCALHOST/",
    "below localhost": "https://a.localhost/",
    "loopback": "https://127.0.0.1/",
    "loopback elsewhere": "https://127.8.9.10/",
    "loopback with a dot": "https://127.0.0.1./",
    "loopback IPv6": "https://[::1]/",
    "loopback IPv6 in full": "https://[0:0:0:0:0:0:0:1]/",
    "unspecified": "https://0.0.0.0/",
    "unspecified IPv6": "https://[::]/",
    # private networks
    "10/8": "https://10.1.2.3/",
    "172.16/12": "https://172.16.0.1/",
    "172.31": "https://172.31.255.255/",
    "192.168/16": "https://192.168.1.1/",
    "link-local": "https://169.254.1.1/",
    "the cloud's metadata": "https://169.254.169.254/latest/meta-data/",
    "CGNAT": "https://100.64.0.1/",
    "CGNAT's end": "https://100.127.255.255/",
    "documentation": "https://192.0.2.1/",
    "benchmarking": "https://198.18.0.1/",
    "multicast": "https://224.0.0.1/",
    "global multicast": "https://239.255.255.250/",
    "reserved": "https://240.0.0.1/",
    "broadcast": "https://255.255.255.255/",
    "unique local IPv6": "https://[fd00::1]/",
    "link-local IPv6": "https://[fe80::1]/",
    "link-local IPv6 with a zone": "https://[fe80::1%25eth0]/",
    "site-local IPv6": "https://[fec0::1]/",
    "multicast IPv6": "https://[ff02::1]/",
    "multicast IPv6, global": "https://[ff0e::1]/",
    "documentation IPv6": "https://[2001:db8::1]/",
    # IPv4 inside IPv6
    "mapped loopback": "https://[::ffff:127.0.0.1]/",
    "mapped loopback in hexadecimal": "https://[::ffff:7f00:1]/",
    "mapped private": "https://[::ffff:10.0.0.1]/",
    "mapped metadata": "https://[::ffff:169.254.169.254]/",
    "compatible loopback": "https://[::127.0.0.1]/",
    "NAT64 of loopback": "https://[64:ff9b::7f00:1]/",
    "NAT64 of private": "https://[64:ff9b::10.0.0.1]/",
    "6to4 of loopback": "https://[2002:7f00:1::]/",
    "6to4 of private": "https://[2002:a00:1::1]/",
    # odd spellings of addresses
    "decimal": "https://2130706433/",
    "octal": "https://0177.0.0.1/",
    "octal whole": "https://017700000001/",
    "hexadecimal": "https://0x7f.0.0.1/",
    "hexadecimal whole": "https://0x7f000001/",
    "hexadecimal last": "https://127.0.0.0x1/",
    "short": "https://127.1/",
    "shorter": "https://127.0.1/",
    "zero": "https://0/",
    "leading zeros": "https://127.000.000.001/",
    "too large": "https://256.256.256.256/",
    "five parts": "https://1.2.3.4.5/",
    "broken brackets": "https://[::1/",
    "no address in brackets": "https://[example.com]/",
    # names that are not public
    "single label": "https://intranet/",
    "single label with a dot": "https://intranet./",
    ".local": "https://printer.local/",
    ".LOCAL": "https://printer.LOCAL/",
    ".local with a dot": "https://printer.local./",
    ".internal": "https://metadata.google.internal/",
    ".test": "https://example.test/",
}


@pytest.mark.parametrize("url", GOOD)
def test_public_https_url_is_accepted(url: str) -> None:
    assert url_error(url) is None


@pytest.mark.parametrize("url", BAD.values(), ids=BAD)
def test_other_urls_are_rejected_with_message(url: str) -> None:
    message = url_error(url)
    assert message is not None
    assert message.endswith(".")


def test_there_are_four_event_types() -> None:
    assert DEFAULT_TYPES == ("video.ready", "video.failed", "job.ready", "job.failed")
