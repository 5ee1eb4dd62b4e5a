"""An OTLP collector over HTTP that keeps the spans it receives."""

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue


@dataclass(frozen=True, slots=True)
class ReceivedSpan:
    """A span with the service that exported it."""

    service: str
    name: str
    trace_id: str
    id: str
    parent_id: str
    attributes: dict[str, str | int | float]
    text: str  # everything that was sent about it


@dataclass
class OtlpCollector:
    """Spans received so far."""

    url: str
    requests: list[ExportTraceServiceRequest] = field(default_factory=list)

    @property
    def spans(self) -> list[ReceivedSpan]:
        return [
            ReceivedSpan(
                service=str(_values(resource.resource.attributes)["service.name"]),
                name=span.name,
                trace_id=span.trace_id.hex(),
                id=span.span_id.hex(),
                parent_id=span.parent_span_id.hex(),
                attributes=_values(span.attributes),
                text=str(span),
            )
            for request in list(self.requests)
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]


def _values(attributes: Iterable[KeyValue]) -> dict[str, str | int | float]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value") or "string_value") for each in attributes}


@contextmanager
def otlp_collector() -> Iterator[OtlpCollector]:
    """Serve on a free port of the loopback address."""
    requests: list[ExportTraceServiceRequest] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            requests.append(ExportTraceServiceRequest.FromString(body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield OtlpCollector(f"http://127.0.0.1:{server.server_port}/v1/traces", requests)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
