"""Tests the telemetry of a running API: spans, metrics, and log lines without secrets."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import httpx
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from cutroom.platform.settings import Settings
from dev.scratch import Keyring, environment_of
from dev.server import Server, free_port

TRACE_ID = "0af7651916cd43dd8448eb211c80319c"


class Collector:
    """A minimal OTLP collector."""

    def __init__(self) -> None:
        received: list[ExportTraceServiceRequest] = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                received.append(ExportTraceServiceRequest.FromString(body))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_arguments: object) -> None:
                pass

        self.received = received
        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/v1/traces"

    def spans(self) -> dict[str, str]:
        """Trace ids by span name."""
        return {
            span.name: span.trace_id.hex()
            for request in self.received
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        }


@pytest.fixture
def collector() -> Iterator[Collector]:
    opened = Collector()
    yield opened
    opened.server.shutdown()
    opened.server.server_close()


def test_running_api_exports_spans_metrics_and_logs(settings: Settings, key: Keyring, collector: Collector) -> None:
    metrics_port = free_port()
    changes = {"otlp_endpoint": collector.url, "metrics_port": metrics_port}
    server = Server(environment_of(settings.model_copy(update=changes)))
    server.start()
    traced = {**key.headers, "traceparent": f"00-{TRACE_ID}-b7ad6b7169203331-01"}
    with httpx.Client(base_url=f"{server.url}/v1") as client:
        client.get("/videos?pageToken=hidden", headers=traced)
        for _ in range(2):
            client.post("/folders", json={"name": "a"}, headers={**key.headers, "Idempotency-Key": "once"})
        metrics = client.get(f"http://127.0.0.1:{metrics_port}/metrics").text
    server.stop()  # also flushes pending spans

    assert collector.spans()["GET /v1/videos"] == TRACE_ID
    assert 'cutroom_requests_total{method="GET",route="/v1/videos",status="400"} 1.0' in metrics
    assert 'cutroom_errors_total{code="INVALID_ARGUMENT"} 1.0' in metrics
    assert "cutroom_replays_total 1.0" in metrics
    lines = [json.loads(line) for line in server.read_log().splitlines()]
    requests = [line for line in lines if line.get("logger") == "cutroom.access" and line["route"] == "/v1/videos"]
    assert [(line["status"], line["code"], line["key_id"]) for line in requests] == [(400, "INVALID_ARGUMENT", key.id)]
    assert key.secret not in server.read_log()
    assert "hidden" not in server.read_log()
