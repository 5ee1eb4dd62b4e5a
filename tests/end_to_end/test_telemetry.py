"""Metrics and traces of a real API and worker, read by a real Prometheus server and an OTLP collector."""

import asyncio
import json
import math
import re
import subprocess
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from cutroom.platform.temporal import connect
from dev.environment import PROJECT
from dev.fixtures.speech_clips import clips_folder, ensure_clips
from dev.server import free_port
from tests.support.servers.otlp_collector import OtlpCollector, ReceivedSpan, otlp_collector
from tests.support.servers.prometheus_server import MONITORING, PrometheusServer, prometheus_server
from tests.support.stage import Stage, make_video, open_stage, upload, wait_for_imports

TRACE_ID = "0af7651916cd43dd8448eb211c80319c"
CALLER_SPAN = "b7ad6b7169203331"
WAIT_SECONDS = 300.0
COMPARISON = re.compile(r"(.+) (?:<|>|==) [0-9.]+", re.DOTALL)
METRIC_ROW = re.compile(r"^\| `(cutroom_\w+)` \| (\w+) \| ([^;|]+?)(?:;[^|]*)? \|$", re.MULTILINE)
SAMPLE = re.compile(r"^(?!\w+_created)(cutroom_\w+?)(?:_bucket|_sum|_count)?(?:\{(.*)\})? \S+$", re.MULTILINE)
# Labels that the Temporal SDK adds to every metric recorded in an activity, and Prometheus's own for buckets.
SDK_LABELS = {"activity_type", "namespace", "service_name", "task_queue", "le"}


@dataclass(frozen=True)
class Telemetry:
    """What was observed of one run."""

    collector: OtlpCollector
    results: dict[str, list[dict[str, Any]]]  # series by query
    scraped: dict[str, str]  # exposition by process
    imported: str


def dashboard_queries() -> list[str]:
    dashboard = json.loads((MONITORING / "grafana" / "dashboards" / "cutroom.json").read_text())
    return [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]


def rule_queries() -> list[str]:
    """Expressions of recording rules, and of alerts without the comparison that is false in a healthy system."""
    groups = yaml.safe_load((MONITORING / "rules.yml").read_text())["groups"]
    rules = [rule for group in groups for rule in group["rules"]]
    recorded = [rule["expr"] for rule in rules if "record" in rule]
    alerts = [COMPARISON.fullmatch(rule["expr"]) for rule in rules if "alert" in rule]
    return [*recorded, *(match[1] for match in alerts if match is not None)]


QUERIES = [*dashboard_queries(), *rule_queries()]


@pytest.fixture(scope="module")
async def telemetry(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Telemetry]:
    folder = tmp_path_factory.mktemp("telemetry")
    ports = {"cutroom-api": free_port(), "cutroom-worker": free_port()}
    with otlp_collector() as collector:
        changes: dict[str, Any] = {
            "otlp_endpoint": collector.url,
            "metrics_port": ports["cutroom-api"],
            "worker_metrics_port": ports["cutroom-worker"],
            "asr_engines": ["whisper-missing"],  # transcripts of speech are retried, and fail
        }
        async with (
            open_stage("test_telemetry", folder / "stage", **changes) as stage,
            prometheus_server(folder, ports) as prometheus,
            httpx.AsyncClient(base_url=stage.api.url, headers=stage.key.headers, timeout=60) as client,
        ):
            imported = await run_jobs(stage, client, prometheus, folder)
            results = {query: await prometheus.query(query) for query in QUERIES}
            scraped = {
                name: (await client.get(f"http://127.0.0.1:{port}/metrics")).text for name, port in ports.items()
            }
            stage.worker.stop()  # also exports the last spans
            stage.api.stop()
        yield Telemetry(collector, results, scraped, imported)


async def run_jobs(stage: Stage, client: httpx.AsyncClient, prometheus: PrometheusServer, folder: Path) -> str:
    """Imports that succeed or fail and a transcript that is retried, with a scrape in between so that rates rise."""
    video = await asyncio.to_thread(make_video, folder / "video.mp4", 4)
    broken = folder / "broken.mp4"
    broken.write_text("this is not a video")
    first = await upload(client, video)
    await wait_for_imports(stage, [first], seconds=WAIT_SECONDS)
    poster = (await client.get(f"/v1/videos/{first}")).json()["posterUrl"]
    assert (await client.get(poster, headers={"Authorization": ""})).status_code == 200
    for name in ("a", "a", "", ""):
        await client.post("/v1/folders", json={"name": name}, headers={"Idempotency-Key": f"key{name}"})
    await prometheus.scrape_again()
    client.headers["traceparent"] = f"00-{TRACE_ID}-{CALLER_SPAN}-01"
    second = await upload(client, video)
    del client.headers["traceparent"]
    speech = ensure_clips(clips_folder()) / "0880.wav"
    rest = [await upload(client, speech, file_name="speech.wav"), await upload(client, broken)]
    await wait_for_imports(stage, [second, *rest], seconds=WAIT_SECONDS)
    await wait_for_all_jobs(stage)
    temporal = await connect(stage.settings.model_copy(update={"otlp_endpoint": None, "worker_metrics_port": None}))
    await temporal.get_schedule_handle("check-ledgers").trigger()
    await prometheus.wait_for("cutroom_ledger_faulty_libraries")
    await prometheus.scrape_again()
    return second


async def wait_for_all_jobs(stage: Stage) -> None:
    async with asyncio.timeout(WAIT_SECONDS):
        while await stage.accounts.connection.fetchval(
            "SELECT count(*) FROM jobs WHERE status IN ('queued', 'processing')"
        ):
            await asyncio.sleep(0.1)


@pytest.mark.parametrize("query", QUERIES)
def test_query_returns_a_series(telemetry: Telemetry, query: str) -> None:
    values = [float(series["value"][1]) for series in telemetry.results[query]]
    assert any(math.isfinite(value) for value in values), f"{query}: {values}"


def test_every_alert_compares_a_query_with_a_number() -> None:
    groups = yaml.safe_load((MONITORING / "rules.yml").read_text())["groups"]
    alerts = [rule["expr"] for group in groups for rule in group["rules"] if "alert" in rule]
    assert [expr for expr in alerts if COMPARISON.fullmatch(expr) is None] == []


@pytest.mark.parametrize("arguments", [("check", "config", "prometheus.yml"), ("test", "rules", "rules.test.yml")])
def test_promtool_accepts(arguments: tuple[str, ...]) -> None:
    done = subprocess.run(["promtool", *arguments], cwd=MONITORING, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_metrics_are_those_of_the_documentation(telemetry: Telemetry) -> None:
    page = (PROJECT / "docs" / "running.md").read_text()
    documented = {
        (process, name): set() if labels == "none" else set(labels.split(", "))
        for name, process, labels in METRIC_ROW.findall(page)
    }
    served: dict[tuple[str, str], set[str]] = {}
    for process, text in telemetry.scraped.items():
        for name, labels in SAMPLE.findall(text):
            metric = (process.removeprefix("cutroom-").replace("api", "API"), name)
            served.setdefault(metric, set()).update(set(re.findall(r"(\w+)=", labels)) - SDK_LABELS)
    assert served == documented


def test_metrics_say_what_the_jobs_did(telemetry: Telemetry) -> None:
    worker = telemetry.scraped["cutroom-worker"]

    def total(name: str, **labels: str) -> float:
        lines = [line for line in worker.splitlines() if line.startswith(f"{name}{{")]
        chosen = [line for line in lines if all(f'{key}="{value}"' in line for key, value in labels.items())]
        return sum(float(line.rpartition(" ")[2]) for line in chosen)

    assert total("cutroom_job_run_seconds_count", product="ingest", job_type="import", outcome="ready") == 3
    assert total("cutroom_job_failures_total", product="ingest", code="UNSUPPORTED_SOURCE") == 1
    assert total("cutroom_job_queue_seconds_count", product="ingest") == 4
    assert 8 < total("cutroom_job_media_seconds_sum", product="ingest") < 16
    assert total("cutroom_activity_cpu_seconds_sum", product="ingest") > 0.1
    assert total("cutroom_activity_retries_total", product="ingest") == 0
    assert total("cutroom_job_failures_total", product="transcripts", code="FAILED_PRECONDITION") >= 1
    assert total("cutroom_activity_retries_total", product="transcripts") >= 3


def test_a_request_and_its_work_are_one_trace(telemetry: Telemetry) -> None:
    spans = [span for span in telemetry.collector.spans if span.trace_id == TRACE_ID]
    request = one(spans, "POST /v1/videos")
    start = one(spans, "StartWorkflow:import")
    run = one(spans, "RunWorkflow:import")
    assert (request.service, request.parent_id) == ("cutroom-api", CALLER_SPAN)
    assert (start.service, start.parent_id) == ("cutroom-worker", request.id)
    assert start.attributes["temporalWorkflowID"] == f"import_{telemetry.imported}"
    assert run.parent_id == start.id
    scheduled = {span.id: activity for span in spans if span.parent_id == start.id if (activity := activity_of(span))}
    ran = {span.parent_id: activity for span in spans if span.parent_id in scheduled if (activity := activity_of(span))}
    assert {"start_job", "inspect_source", "complete_job"} <= set(scheduled.values())
    assert ran == scheduled


def test_programs_are_spans_of_their_activities(telemetry: Telemetry) -> None:
    spans = [span for span in telemetry.collector.spans if span.trace_id == TRACE_ID]
    programs = [span for span in spans if span.name in {"ffmpeg", "ffprobe"}]
    assert {span.name for span in programs} == {"ffmpeg", "ffprobe"}
    for span in programs:
        [parent] = [each for each in spans if each.id == span.parent_id]
        assert parent.name.startswith("RunActivity:")
        assert span.attributes["process.exit.code"] == 0
        assert 0 < float(span.attributes["cutroom.cpu_seconds"]) <= float(parent.attributes["cutroom.cpu_seconds"])


def test_spans_carry_no_arguments_or_secrets(telemetry: Telemetry) -> None:
    text = "\n".join(span.text for span in telemetry.collector.spans)
    assert "file:/in" not in text
    assert "cr_" not in text
    assert "fl_" not in text


def activity_of(span: ReceivedSpan) -> str | None:
    kind, _, name = span.name.partition(":")
    return name if kind in {"StartActivity", "RunActivity"} else None


def one(spans: list[ReceivedSpan], name: str) -> ReceivedSpan:
    [found] = [span for span in spans if span.name == name]
    return found
