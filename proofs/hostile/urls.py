"""Hostile URLs at every sink: each fails like an unreachable host, and no connection reaches a denied address."""

import asyncio
import sys
from collections.abc import Sequence

from cutroom.platform.egress.client import Egress
from proofs.stage.report import Report
from tests.support.hostile_urls import (
    CANARY_CALLS,
    GOOD_URL,
    UNREACHABLE_URLS,
    UrlSink,
    egress_sinks,
    hostile_urls,
    redirecting_urls,
    serve_hostile_names,
)
from tests.support.network_namespace import FakeInternet, count_outgoing_connections, enter_namespace, open_internet


async def prove_urls(report: Report, internet: FakeInternet, sinks: Sequence[UrlSink]) -> None:
    """Try every URL at every sink, after `serve_hostile_names(internet)`."""
    urls = list(dict.fromkeys(hostile_urls()))
    redirecting = frozenset(redirecting_urls())
    leaks: list[str] = []
    canaries = internet.canaries
    await _prove_canaries(report, internet)
    for sink in sinks:
        good, unreachable = await _controls(report, sink)
        for url in urls:
            internet.names.lookups.clear()  # restarts the rebinding names
            before = len(canaries.connections)
            response = await sink.fetch(url)
            malformed = sink.malformed_response and sink.find_fault(url)
            expected = sink.malformed_response if malformed else unreachable
            # A redirect that is not followed is a response of a public host: it only must not lead anywhere.
            same = response != good if url in redirecting and not sink.follows_redirects else response == expected
            if not same or len(canaries.connections) != before:
                leaks.append(f"{sink.name}: {url!r} -> {response[:80]!r} {canaries.connections[before:]}")
    for leak in leaks[:20]:
        report.note(leak)
    connections = len(canaries.connections)
    report.claim("hostile URLs", expected=">= 100", measured=len(urls), holds=len(urls) >= 100)
    report.claim(
        f"... leaked, of {len(urls) * len(sinks)} requests", expected="0", measured=len(leaks), holds=not leaks
    )
    report.claim("connections to canaries", expected="0", measured=connections, holds=connections == 0)
    report.figures(urls=len(urls), urls_leaked=len(leaks), sinks=len(sinks), canary_connections=connections)


async def _prove_canaries(report: Report, internet: FakeInternet) -> None:
    """Show first that the canaries detect connections; otherwise their silence proves nothing."""
    for host, port in CANARY_CALLS:
        _, writer = await asyncio.open_connection(host, port)
        writer.close()
        await asyncio.sleep(0.05)
    detected = len(internet.canaries.connections)
    report.claim(
        "control: connections the canaries detect",
        expected=str(len(CANARY_CALLS)),
        measured=detected,
        holds=detected == len(CANARY_CALLS),
    )
    internet.canaries.connections.clear()


async def _controls(report: Report, sink: UrlSink) -> tuple[str, str]:
    """The sink's responses to a good URL and to unreachable hosts, which must be the same for every reason."""
    good = await sink.fetch(GOOD_URL)
    unreachable = {await sink.fetch(url) for url in UNREACHABLE_URLS}
    holds = len(unreachable) == 1 and good not in unreachable
    report.claim(
        f"{sink.name}: a good URL and unreachable ones",
        expected="2 distinct responses",
        measured=[good, *unreachable],
        holds=holds,
    )
    return good, unreachable.pop()


async def _proof(report: Report) -> None:
    async with open_internet() as internet:
        await serve_hostile_names(internet)
        egress = Egress(tls=internet.authority.trust())
        sinks = egress_sinks(egress)
        await prove_urls(report, internet, sinks)
        egress.close()
        # Connections that no server accepts, as expected: the calls to the canaries, and two of the unreachable URLs
        # (a certificate for another name, and a closed port).
        stray = count_outgoing_connections() - internet.accepted - len(CANARY_CALLS) - 2 * len(sinks)
        report.claim(
            "outgoing connections to anything but public servers", expected="0", measured=stray, holds=stray == 0
        )


def main() -> int:
    enter_namespace()
    report = Report("Hostile URLs")
    asyncio.run(_proof(report))
    return report.close()


if __name__ == "__main__":
    sys.exit(main())
