"""What a process tells of itself: JSON log lines without secrets, metrics, and traces when asked for."""

import json
import logging
import re
import sys
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from prometheus_client import CollectorRegistry, Counter, Histogram, start_http_server

from cutroom.platform.settings import Settings

request_id: ContextVar[str | None] = ContextVar("request_id", default=None)

# Whatever else goes wrong, a credential or the query of a URL does not get into a log.
# No word boundary before them: in encoded JSON a line break is the letter n, and would hide one.
_SECRET = re.compile(r"(cr_|oat_|whsec_|pb_)[0-9A-Za-z+/=]{8,}")
_QUERY = re.compile(r"(https?://[^\s\"?\\]+)\?[^\s\"\\]*", re.IGNORECASE)
_ENCODER = json.JSONEncoder(default=str, ensure_ascii=False)
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName", "temporal_log"}


def redact(text: str) -> str:
    return _QUERY.sub(r"\1?…", _SECRET.sub(r"\1…", text))


class JsonLines(logging.Formatter):
    """One JSON object a line; fields given as `extra` stand beside the message."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if (current := request_id.get()) is not None:
            line["request_id"] = current
        line.update((name, value) for name, value in vars(record).items() if name not in _STANDARD)
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return redact(_ENCODER.encode(line))


class AccessLog:
    """One line per request, in the same form. It goes past the logging machinery, which would cost more than it."""

    def __init__(self, level: str) -> None:
        self.enabled = logging.getLevelNamesMapping()[level] <= logging.INFO

    def write(self, fields: dict[str, Any]) -> None:
        if self.enabled:
            time = datetime.now(UTC).isoformat(timespec="milliseconds")
            line = {"time": time, "level": "INFO", "logger": "cutroom.access", "message": "request", **fields}
            sys.stdout.write(_ENCODER.encode(line) + "\n")
            sys.stdout.flush()


def configure_logging(level: str) -> None:
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=level, handlers=[handler], force=True)
    logging.captureWarnings(capture=True)


def configure_tracing(settings: Settings, service: str) -> TracerProvider | None:
    """Send spans to the collector that settings name; none named, none made. Shut it down to send the last ones."""
    if settings.otlp_endpoint is None:
        return None
    provider = TracerProvider(resource=Resource.create({"service.name": service}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=settings.otlp_endpoint)))
    trace.set_tracer_provider(provider)
    return provider


def serve_metrics(registry: CollectorRegistry, port: int | None, *, host: str) -> None:
    """Metrics have a port of their own, so that they need no key and are never public by accident."""
    if port is not None:
        start_http_server(port, addr=host, registry=registry)


class RequestMetrics:
    """Counts and times of HTTP requests, by route and not by path, so that their number is bounded."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.answered = Counter(
            "cutroom_requests_total", "Requests answered.", ["method", "route", "status"], registry=registry
        )
        self.refused = Counter("cutroom_errors_total", "Error answers by code.", ["code"], registry=registry)
        self.replayed = Counter("cutroom_replays_total", "Answers replayed.", registry=registry)
        self.seconds = Histogram("cutroom_request_seconds", "Time to answer.", ["method", "route"], registry=registry)
        self._known: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}

    def observe(self, method: str, route: str, *, status: int, seconds: float) -> None:
        """Count and time one answer; the children are kept, for finding one costs more than using it."""
        found = self._known.get((method, route, status))
        if found is None:
            found = self.answered.labels(method, route, str(status)), self.seconds.labels(method, route)
            self._known[method, route, status] = found
        found[0].inc()
        found[1].observe(seconds)
