"""Metrics of a router."""

from prometheus_client import CollectorRegistry, Counter, Histogram

HELD_BUCKETS = (0.1, 0.25, 0.5, 1, 2, 5, 10, 20)


class RouterMetrics:
    """Requests by cell, requests that a cell did not answer, and how long requests waited for a move."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.requests = Counter(
            "cutroom_router_requests_total", "Requests forwarded.", ["cell", "status"], registry=registry
        )
        self.failures = Counter(
            "cutroom_router_failures_total", "Requests that a cell did not answer.", ["cell"], registry=registry
        )
        self.held_seconds = Histogram(
            "cutroom_router_held_seconds", "Waits for the end of a move.", registry=registry, buckets=HELD_BUCKETS
        )
