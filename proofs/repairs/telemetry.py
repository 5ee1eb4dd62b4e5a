"""Metrics and traces of the jobs of a caller, as an operator reads them."""

import asyncio
import re

import httpx

from proofs.repairs.stage import RepairsStage, Rows
from proofs.stage.recorded_speech import make_speech
from proofs.stage.transcript_stage import upload_file, write_wav
from tests.support.servers.otlp_collector import OtlpCollector, ReceivedSpan
from tests.support.stage import wait_for_imports

NUMBER = 21
CLIP_SECONDS = 2.0
CLIP_SEED = 21
WAIT_SECONDS = 300.0
TRACE_ID = "5af7651916cd43dd8448eb211c80319c"
EXPECTED_TRACE = "POST /v1/videos > StartWorkflow:import > StartActivity > RunActivity > ffprobe"
TRANSCRIPT_METRICS = {
    "queue": "cutroom_job_queue_seconds_sum",
    "run": "cutroom_job_run_seconds_sum",
    "media": "cutroom_job_media_seconds_sum",
    "CPU": "cutroom_activity_cpu_seconds_sum",
}
RETRIES = "cutroom_activity_retries_total"


async def check(stage: RepairsStage, rows: Rows) -> None:
    await _check_metrics(stage, rows)
    await _check_trace(stage, rows)


async def _check_metrics(stage: RepairsStage, rows: Rows) -> None:
    settings = stage.running.settings
    async with httpx.AsyncClient(timeout=30) as operator:
        worker = await operator.get(f"http://127.0.0.1:{settings.worker_metrics_port}/metrics")
        api = await operator.get(f"http://127.0.0.1:{settings.metrics_port}/metrics")
    seconds = {name: _total(worker.text, metric) for name, metric in TRANSCRIPT_METRICS.items()}
    rows.check(
        NUMBER,
        "transcripts are measured: queue, run, media and CPU seconds, and retries",
        expected="each above 0, and a count of retries",
        measured={
            **{name: round(value, 2) for name, value in seconds.items()},
            "retries": _total(worker.text, RETRIES),
        },
        holds=all(seconds.values()) and f"{RETRIES}{{" in worker.text,
    )
    requests = re.findall(r'^cutroom_requests_total\{.*route="/v1/videos".* (\S+)$', api.text, re.MULTILINE)
    rows.check(
        NUMBER,
        "requests are counted by route",
        expected="some on /v1/videos",
        measured=sum(map(float, requests)),
        holds=bool(requests),
    )


def _total(text: str, metric: str) -> float:
    """Sum of a metric of the product `transcripts`."""
    samples = [line for line in text.splitlines() if line.startswith(f"{metric}{{") and 'product="transcripts"' in line]
    return sum(float(line.rpartition(" ")[2]) for line in samples)


async def _check_trace(stage: RepairsStage, rows: Rows) -> None:
    clip = write_wav(stage.folder / "traced.wav", make_speech(CLIP_SECONDS, seed=CLIP_SEED).samples)
    stage.client.headers["traceparent"] = f"00-{TRACE_ID}-b7ad6b7169203331-01"
    try:
        video_id = await upload_file(stage.client, clip)
    finally:
        del stage.client.headers["traceparent"]
    await wait_for_imports(stage.running, [video_id], seconds=WAIT_SECONDS)
    measured = await _wait_for_trace(stage.collector)
    rows.check(
        NUMBER,
        "a request, its workflow, activities and programs are one trace",
        expected=EXPECTED_TRACE,
        measured=measured,
        holds=measured == EXPECTED_TRACE,
    )


async def _wait_for_trace(collector: OtlpCollector) -> str:
    """The names of the spans from the request to ffprobe; spans are exported every few seconds."""
    names: list[str] = []
    try:
        async with asyncio.timeout(WAIT_SECONDS):
            while not names or not names[0].startswith("POST"):
                await asyncio.sleep(0.2)
                names = _names([span for span in collector.spans if span.trace_id == TRACE_ID])
    except TimeoutError:
        pass
    return " > ".join(names)


def _names(spans: list[ReceivedSpan]) -> list[str]:
    by_id = {span.id: span for span in spans}
    span = next((span for span in spans if span.name == "ffprobe"), None)
    names: list[str] = []
    while span is not None:
        kind = span.name.partition(":")[0]
        names.insert(0, kind if kind.endswith("Activity") else span.name)
        span = by_id.get(span.parent_id)
    return names
