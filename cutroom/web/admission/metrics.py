"""Makes waiting and shed requests visible, for less than a request costs."""

import logging
from collections import Counter as Counts

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

LOG_SECONDS = 1.0  # at most one line for a library in this time
LOGGED_LIBRARIES = 10  # in one such time: those with the most shed requests
_log = logging.getLogger(__name__)


class AdmissionMetrics:
    """Waiting, running and shed requests."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.shed = Counter("cutroom_requests_shed_total", "Requests shed under load.", ["reason"], registry=registry)
        self.full, self.late = self.shed.labels("full"), self.shed.labels("late")
        self.wait = Histogram("cutroom_request_wait_seconds", "Waits before requests start.", registry=registry)
        self.waiting = Gauge("cutroom_requests_waiting", "Requests that wait to start.", registry=registry)
        self.running = Gauge("cutroom_requests_running", "Requests that are running.", registry=registry)


class ShedLog:
    """Logs how many requests of a library were shed: now and then, because a line costs as much as a request."""

    def __init__(self) -> None:
        self._counts: Counts[str] = Counts()
        self._logged_at = 0.0

    @property
    def is_empty(self) -> bool:
        return not self._counts

    def count(self, name: str) -> None:
        self._counts[name] += 1

    def write(self, now: float) -> None:
        """Log what was shed since the last lines, unless these are recent."""
        if not self._counts or now - self._logged_at < LOG_SECONDS:
            return
        counts, self._counts, self._logged_at = self._counts, Counts(), now
        for name, shed in counts.most_common(LOGGED_LIBRARIES):
            # The name of a library, or the address of clients whose library is not known.
            _log.warning("requests shed", extra={"from": name, "shed": shed, "shed_in_total": counts.total()})
