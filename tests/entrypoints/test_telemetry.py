"""Tests the telemetry of a running API: spans, metrics, and log lines without secrets."""

import json

import httpx

from cutroom.platform.settings import Settings
from dev.scratch import Keyring, environment_of
from dev.server import Server, free_port
from tests.support.servers.otlp_collector import otlp_collector

TRACE_ID = "0af7651916cd43dd8448eb211c80319c"


def test_running_api_exports_spans_metrics_and_logs(settings: Settings, key: Keyring) -> None:
    metrics_port = free_port()
    with otlp_collector() as collector:
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

    assert {span.name: span.trace_id for span in collector.spans}["GET /v1/videos"] == TRACE_ID
    assert 'cutroom_requests_total{method="GET",route="/v1/videos",status="400"} 1.0' in metrics
    assert 'cutroom_errors_total{code="INVALID_ARGUMENT"} 1.0' in metrics
    assert "cutroom_replays_total 1.0" in metrics
    lines = [json.loads(line) for line in server.read_log().splitlines()]
    requests = [line for line in lines if line.get("logger") == "cutroom.access" and line["route"] == "/v1/videos"]
    assert [(line["status"], line["code"], line["key_id"]) for line in requests] == [(400, "INVALID_ARGUMENT", key.id)]
    assert key.secret not in server.read_log()
    assert "hidden" not in server.read_log()
