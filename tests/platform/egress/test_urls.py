"""URL parsing and address denial."""

from ipaddress import ip_address, ip_network

import pytest

from cutroom.platform.egress.addresses import DENIED_V4, denial_reason
from cutroom.platform.egress.client import url_error
from cutroom.platform.egress.urls import MAX_URL_LENGTH, UrlError, join_url, parse_url
from tests.support.hostile_urls import DENIED_ADDRESSES, DENIED_AUTHORITIES, DENIED_HOSTS, DENIED_URLS

READ = {
    "https://example.com": "https://example.com/",
    "HTTPS://EXAMPLE.com/Path?Q=1#fragment": "https://example.com/Path?Q=1",
    "https://example.com?q": "https://example.com/?q",
    "https://example.com./": "https://example.com/",
    "https://example.com:443/": "https://example.com/",
    "https://example.com:00443/": "https://example.com/",
    "https://example.com:8443/a": "https://example.com:8443/a",
    "https://bücher.example.com/é?ü": "https://xn--bcher-kva.example.com/%C3%A9?%C3%BC",
    "https://my_bucket.example.com/a%20b": "https://my_bucket.example.com/a%20b",
    "https://8.8.8.8/": "https://8.8.8.8/",
    "https://[2606:4700:0::1111]:1024/x": "https://[2606:4700::1111]:1024/x",
    "https://1.example.com/": "https://1.example.com/",
    "https://0x.example.com/": "https://0x.example.com/",
    "https://example.com/?next=http://127.0.0.1/": "https://example.com/?next=http://127.0.0.1/",
    "https://example.com/a@b:c": "https://example.com/a@b:c",
}


@pytest.mark.parametrize(("url", "wire"), READ.items())
def test_url_is_normalized(url: str, wire: str) -> None:
    assert parse_url(url).url == wire
    assert parse_url(wire).url == wire
    assert url_error(url) is None


@pytest.mark.parametrize(
    "url", [*DENIED_URLS, *(f"https://{authority}/" for authority in (*DENIED_HOSTS, *DENIED_AUTHORITIES))]
)
def test_hostile_url_is_rejected_without_resolving(url: str) -> None:
    assert url_error(url) is not None


@pytest.mark.parametrize("address", DENIED_ADDRESSES)
def test_non_public_address_is_denied(address: str) -> None:
    assert denial_reason(ip_address(address)) is not None
    literal = f"[{address}]" if ":" in address else address
    assert url_error(f"https://{literal}/") is not None


@pytest.mark.parametrize("network", [network for network, _ in DENIED_V4], ids=str)
def test_denied_range_includes_both_ends_and_mapped_addresses(network: str) -> None:
    for address in (ip_network(network)[0], ip_network(network)[-1]):
        assert denial_reason(address) is not None
        assert denial_reason(ip_address(f"::ffff:{address}")) is not None


@pytest.mark.parametrize(
    "address",
    [
        "1.1.1.1",
        "8.8.8.8",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "128.0.0.0",
        "169.253.255.255",
        "172.15.255.255",
        "172.32.0.0",
        "192.0.1.0",
        "192.167.255.255",
        "198.17.255.255",
        "198.20.0.0",
        "223.255.255.255",
        "2001:200::",
        "2001:4860::1",
        "2003::",
        "2600::",
        "2a00:1450::1",
    ],
)
def test_public_address_is_allowed(address: str) -> None:
    assert denial_reason(ip_address(address)) is None


def test_operator_networks_are_denied() -> None:
    own = (ip_network("8.8.4.0/24"), ip_network("2600:1901::/32"))
    assert denial_reason(ip_address("8.8.4.4"), own) == "denied by the operator"
    assert denial_reason(ip_address("2600:1901::4"), own) == "denied by the operator"
    assert denial_reason(ip_address("8.8.5.5"), own) is None


def test_url_length_is_limited() -> None:
    start = "https://example.com/"
    assert url_error(start + "a" * (MAX_URL_LENGTH - len(start))) is None
    assert url_error(start + "a" * (MAX_URL_LENGTH - len(start) + 1)) is not None


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("/b?c", "https://example.com:8443/b?c"),
        ("b", "https://example.com:8443/a/b"),
        ("../b", "https://example.com:8443/b"),
        ("?x=1", "https://example.com:8443/a/x?x=1"),
        ("//other.example.com/b", "https://other.example.com/b"),
        ("https://other.example.com", "https://other.example.com/"),
    ],
)
def test_redirect_is_resolved_relative_to_its_page(location: str, target: str) -> None:
    assert join_url(parse_url("https://example.com:8443/a/x"), location).url == target


@pytest.mark.parametrize(
    "location", ["http://example.com/", "//user@example.com/", "/\\x", "https://[::1", "ftp://a.com", "/\t"]
)
def test_redirect_is_parsed_strictly(location: str) -> None:
    with pytest.raises(UrlError):
        join_url(parse_url("https://example.com/"), location)
