"""JSON logging with redaction, Prometheus metrics and optional OpenTelemetry traces."""

import json
import logging
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

from opentelemetry import context, propagate, trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace import Status
from prometheus_client import CollectorRegistry, Counter, Histogram, start_http_server

from cutroom.platform.settings import Settings

request_id: ContextVar[str | None] = ContextVar("request_id", default=None)

# Credentials and URL queries are redacted from every log line.
# No word boundary in front: in encoded JSON, an escaped line break ends in the letter n.
_SECRET = re.compile(r"(cr_|oat_|whsec_|pb_|fl_|ecert_|ml_|inv_|rev_)[0-9A-Za-z+/=]{8,}")
_QUERY = re.compile(r"(https?://[^\s\"?\\]+)\?[^\s\"\\]*", re.IGNORECASE)
# PostgreSQL's details contain rows. In encoded JSON, they end with an escaped line break or with the string.
_DETAIL = re.compile(r'(DETAIL:)(?:[^\\"]|\\[^n])*')
_ENCODER = json.JSONEncoder(default=str, ensure_ascii=False)
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName", "temporal_log"}


def redact(text: str) -> str:
    return _DETAIL.sub(r"\1 …", _QUERY.sub(r"\1?…", _SECRET.sub(r"\1…", text)))


class JsonFormatter(logging.Formatter):
    """Formats a record as one JSON object; `extra` fields are added at the top level."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if (current := request_id.get()) is not None:
            line["request_id"] = current
        if (span := trace.get_current_span().get_span_context()).is_valid:
            line["trace_id"] = trace.format_trace_id(span.trace_id)
        line.update((name, value) for name, value in vars(record).items() if name not in _STANDARD)
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return redact(_ENCODER.encode(line))


class AccessLog:
    """Writes one JSON line per request, bypassing `logging`, whose overhead would exceed the work itself."""

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
    handler.setFormatter(JsonFormatter())
    logging.basicConfig(level=level, handlers=[handler], force=True)
    logging.captureWarnings(capture=True)


def configure_tracing(settings: Settings, service: str) -> TracerProvider | None:
    """Exports spans to the configured OTLP endpoint, if any; shut the provider down to flush."""
    if settings.otlp_endpoint is None:
        return None
    # An eighth of a second of every start that exports nothing.
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415

    provider = TracerProvider(resource=Resource.create({"service.name": service}))
    exporter = RedactingExporter(OTLPSpanExporter(endpoint=settings.otlp_endpoint))
    provider.add_span_processor(BatchSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    return provider


class RedactingExporter(SpanExporter):
    """Redacts messages and stack traces of exceptions, as in logs."""

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        return self._exporter.export([_redacted(span) for span in spans])

    def shutdown(self) -> None:
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self._exporter.force_flush(timeout_millis)


def _redacted(span: ReadableSpan) -> ReadableSpan:
    if not span.events and span.status.description is None:
        return span
    events = [
        Event(
            event.name,
            {
                key: redact(value) if isinstance(value, str) else value
                for key, value in (event.attributes or {}).items()
            },
            event.timestamp,
        )
        for event in span.events
    ]
    return ReadableSpan(
        name=span.name,
        context=span.context,
        parent=span.parent,
        resource=span.resource,
        attributes=span.attributes,
        events=events,
        links=span.links,
        kind=span.kind,
        status=Status(span.status.status_code, redact(span.status.description or "") or None),
        start_time=span.start_time,
        end_time=span.end_time,
        instrumentation_scope=span.instrumentation_scope,
    )


def current_trace_context() -> dict[str, str] | None:
    """Return the current trace as W3C headers, so that a later process can continue it."""
    carrier: dict[str, str] = {}
    propagate.inject(carrier)
    return carrier or None


@contextmanager
def continued_trace(trace_context: Mapping[str, str] | None) -> Iterator[None]:
    """Continues the trace of `current_trace_context` in the body; without one, the body belongs to no trace."""
    token = context.attach(propagate.extract(trace_context or {}, context=context.Context()))
    try:
        yield
    finally:
        context.detach(token)


def serve_metrics(registry: CollectorRegistry, port: int | None, *, host: str) -> None:
    """Serves metrics on a separate port, so that they need no API key and are not exposed publicly."""
    if port is not None:
        start_http_server(port, addr=host, registry=registry)


class RequestMetrics:
    """HTTP request counts and latencies, labeled by route instead of path to bound their cardinality."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.requests = Counter(
            "cutroom_requests_total", "HTTP requests.", ["method", "route", "status"], registry=registry
        )
        self.errors = Counter("cutroom_errors_total", "Error responses by code.", ["code"], registry=registry)
        self.replayed = Counter("cutroom_replays_total", "Replayed idempotent responses.", registry=registry)
        self.seconds = Histogram("cutroom_request_seconds", "Request latency.", ["method", "route"], registry=registry)
        self._children: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}

    def observe(self, method: str, route: str, *, status: int, seconds: float) -> None:
        """Records one response; label children are cached because looking them up is expensive."""
        children = self._children.get((method, route, status))
        if children is None:
            children = self.requests.labels(method, route, str(status)), self.seconds.labels(method, route)
            self._children[method, route, status] = children
        children[0].inc()
        children[1].observe(seconds)
