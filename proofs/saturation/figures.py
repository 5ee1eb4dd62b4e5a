"""The figures of the saturation proof, and what they must be."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field

from proofs.saturation.load import Outcome
from proofs.stage.report import Report

RECOVERY_WINDOW_SECONDS = 0.5
MIN_THROUGHPUT, MAX_P99_RATIO, MAX_RECOVERY_SECONDS, MAX_SLOWDOWN = 0.9, 5.0, 60.0, 1.5


@dataclass(slots=True)
class Round:
    """One comparison: the same load generator, minute and machine for all its figures."""

    knee_rps: float
    throughput: float  # at twice the knee, relative to it
    p99_ratio: float  # of accepted requests at twice the knee, relative to below the knee
    recovered_seconds: float
    waited: float  # share of the time at twice the knee in which other processes had the core of the API
    shed: int
    shed_cost: float  # CPU time of the API for a shed request, relative to an accepted one


@dataclass(slots=True)
class Tally:
    """What must hold for every response."""

    outcomes: list[Outcome] = field(default_factory=list)

    def add(self, outcome: Outcome) -> Outcome:
        self.outcomes.append(outcome)
        return outcome

    def count(self, low: int, high: int) -> int:
        return sum(low <= status <= high for each in self.outcomes for _, _, status in each.responses)


def accepted(outcome: Outcome, *, since: float = 0.0) -> list[float]:
    """Latencies of successful responses to requests that were sent at least this long after the start, sorted."""
    return sorted(latency for at, latency, status in outcome.responses if at >= since and status < 300)


def percentile(latencies: Sequence[float], share: float) -> float:
    return latencies[min(len(latencies) - 1, int(share * len(latencies)))]


def goodput(outcome: Outcome, seconds: float, *, since: float = 0.0) -> float:
    """Successful responses per second that arrived while the load lasted."""
    done = [at + latency for at, latency, status in outcome.responses if status < 300]
    return sum(since <= at < seconds for at in done) / (seconds - since)


def recovered_seconds(after: Outcome, seconds: float, normal: float) -> float | None:
    """From when nothing is shed any more and the 95th percentile is at most twice what it was before; None if never."""
    start = 0.0
    while start < seconds:
        window = [each for each in after.responses if start <= each[0] < start + RECOVERY_WINDOW_SECONDS]
        latencies = sorted(latency for _, latency, status in window if status < 300)
        if latencies and len(latencies) == len(window) and percentile(latencies, 0.95) <= 2 * normal:
            return start
        start += RECOVERY_WINDOW_SECONDS
    return None


def described(latencies: Sequence[float]) -> str:
    p50, p95 = percentile(latencies, 0.5) * 1000, percentile(latencies, 0.95) * 1000
    return f"p50 {p50:.1f} ms, p95 {p95:.1f} ms of {len(latencies)}"


def claim_responses(report: Report, tally: Tally) -> None:
    """What holds whatever else the machine does."""
    shed, errors = tally.count(429, 429), tally.count(500, 599)
    without_retry = sum(each.shed_without_retry_after for each in tally.outcomes)
    others = tally.count(0, 599) - tally.count(200, 299) - shed - errors
    broken = sum(each.broken for each in tally.outcomes)
    probes = [status for each in tally.outcomes for status in each.health]
    unhealthy = sum(status != 200 for status in probes)
    report.claim("requests shed", expected="some", measured=shed, holds=shed > 0)
    report.claim("… without Retry-After", expected="0", measured=without_retry, holds=without_retry == 0)
    report.claim("5xx responses", expected="0", measured=errors, holds=errors == 0)
    report.claim(
        "other errors, and connections without a response",
        expected="0",
        measured=others + broken,
        holds=others + broken == 0,
    )
    report.claim(
        "health checks at twice the knee that fail",
        expected="0 of some",
        measured=f"{unhealthy} of {len(probes)}",
        holds=bool(probes) and unhealthy == 0,
    )
    report.figures(shed=shed, shed_without_retry_after=without_retry, errors_5xx=errors, failed_health_checks=unhealthy)


def claim_times(report: Report, rounds: Sequence[Round], *, slowdown: float) -> None:
    knee = statistics.median(each.knee_rps for each in rounds)
    throughput = statistics.median(each.throughput for each in rounds)
    p99_ratio = statistics.median(each.p99_ratio for each in rounds)
    recovered = max(each.recovered_seconds for each in rounds)
    shed_cost = statistics.median(each.shed_cost for each in rounds)
    report.claim_time(
        "successful responses per second at twice the knee, relative to the knee",
        expected=f"at least {MIN_THROUGHPUT}",
        measured=f"{throughput:.2f} of {knee:.0f}/s",
        holds=throughput >= MIN_THROUGHPUT,
    )
    report.claim_time(
        "p99 of accepted requests at twice the knee, relative to below it",
        expected=f"at most {MAX_P99_RATIO}",
        measured=f"{p99_ratio:.2f}",
        holds=p99_ratio <= MAX_P99_RATIO,
    )
    report.claim_time(
        "until latencies are as before the load",
        expected=f"at most {MAX_RECOVERY_SECONDS:.0f} s",
        measured=f"{recovered:.1f} s",
        holds=recovered <= MAX_RECOVERY_SECONDS,
    )
    report.claim_time(
        "p95 of a library beside a greedy one, relative to alone",
        expected=f"at most {MAX_SLOWDOWN}",
        measured=f"{slowdown:.2f}",
        holds=slowdown <= MAX_SLOWDOWN,
    )
    report.figures(
        knee_rps=round(knee),
        throughput_at_2x=round(throughput, 2),
        p99_accepted_ratio=round(p99_ratio, 2),
        recovered_s=recovered,
        victim_slowdown=round(slowdown, 2),
        shed_cost=round(shed_cost, 3),
        waited_for_core=round(statistics.median(each.waited for each in rounds), 2),
    )
