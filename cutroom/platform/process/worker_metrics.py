"""Metrics of the worker; the Temporal SDK serves them on the same port as its own."""

from collections.abc import Mapping, Sequence
from typing import Any

from opentelemetry import trace
from temporalio import activity
from temporalio.common import MetricMeter
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from cutroom.platform.process.cpu_time import measure_cpu_time

CORE = "core"  # the product of workflows that belong to none: sweeps, webhook deliveries

JOB_QUEUE_SECONDS = "cutroom_job_queue_seconds"
JOB_RUN_SECONDS = "cutroom_job_run_seconds"
JOB_MEDIA_SECONDS = "cutroom_job_media_seconds"
JOB_FAILURES = "cutroom_job_failures_total"
ACTIVITY_CPU_SECONDS = "cutroom_activity_cpu_seconds"
ACTIVITY_RETRIES = "cutroom_activity_retries_total"
TRANSLATION_LINES = "cutroom_translation_lines_total"
TRANSLATION_REQUESTS = "cutroom_translation_requests_total"
OUTBOX_WAITING = "cutroom_outbox_waiting"
OUTBOX_SET_ASIDE = "cutroom_outbox_set_aside"
RELAY_LAG_SECONDS = "cutroom_relay_lag_seconds"

_JOB_BUCKETS = (0.5, 1, 2, 5, 10, 20, 60, 120, 300, 600, 1_800, 3_600, 7_200, 14_400, 43_200)
_CPU_BUCKETS = (0.01, 0.1, 0.5, 1, 5, 10, 30, 60, 120, 300, 600)
HISTOGRAM_BUCKETS: Mapping[str, Sequence[float]] = {
    JOB_QUEUE_SECONDS: _JOB_BUCKETS,
    JOB_RUN_SECONDS: _JOB_BUCKETS,
    JOB_MEDIA_SECONDS: _JOB_BUCKETS,
    ACTIVITY_CPU_SECONDS: _CPU_BUCKETS,
}


class OutboxMetrics:
    """How many workflow starts wait for the relay, for how long, and how many were set aside."""

    def __init__(self, meter: MetricMeter) -> None:
        self._waiting = meter.create_gauge(OUTBOX_WAITING, "Workflow starts that wait to be relayed.")
        self._lag = meter.create_gauge_float(RELAY_LAG_SECONDS, "Age of the oldest that no cap holds back.", "s")
        self._set_aside = meter.create_gauge(OUTBOX_SET_ASIDE, "Workflow starts that Temporal keeps refusing.")

    def observe(self, *, waiting: int, lag_seconds: float, set_aside: int) -> None:
        self._waiting.set(waiting)
        self._lag.set(lag_seconds)
        self._set_aside.set(set_aside)


class ActivityMetrics(Interceptor):
    """Records the retries and the CPU time of every activity by product."""

    def __init__(self, products: Mapping[str, str]) -> None:
        """`products` names the product of each workflow."""
        self._products = products

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:  # noqa: A002
        return _MeasuredActivity(next, self._products)


class _MeasuredActivity(ActivityInboundInterceptor):
    def __init__(self, next: ActivityInboundInterceptor, products: Mapping[str, str]) -> None:  # noqa: A002
        super().__init__(next)
        self._products = products

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002, ANN401
        info = activity.info()
        meter = activity.metric_meter()
        product = {"product": self._products.get(info.workflow_type or "", CORE)}
        retries = meter.create_counter(ACTIVITY_RETRIES, "Attempts of activities after the first.")
        retries.add(int(info.attempt > 1), product)  # adding 0 creates the series, so that rates see its first increase
        seconds = meter.create_histogram_float(ACTIVITY_CPU_SECONDS, "CPU time of an attempt.", "s")
        with measure_cpu_time() as cpu:
            try:
                return await super().execute_activity(input)
            finally:
                seconds.record(cpu.seconds, product)
                trace.get_current_span().set_attribute("cutroom.cpu_seconds", cpu.seconds)


def record_translation(engine: str, *, lines: int, requests: int, retries: int, fallback_lines: int) -> None:
    """Counts the lines of a translated document and the requests for them; does nothing outside an activity."""
    if activity.in_activity():
        _add_translation(
            activity.metric_meter(),
            engine,
            lines=lines,
            requests=requests,
            retries=retries,
            fallback_lines=fallback_lines,
        )


def create_translation_series(meter: MetricMeter, engines: Sequence[str]) -> None:
    """Creates the series of each engine at 0, so that rates see their first increase."""
    for engine in engines:
        _add_translation(meter, engine, lines=0, requests=0, retries=0, fallback_lines=0)


def _add_translation(
    meter: MetricMeter, engine: str, *, lines: int, requests: int, retries: int, fallback_lines: int
) -> None:
    by_outcome = meter.create_counter(TRANSLATION_LINES, "Translated lines by engine and outcome.")
    by_outcome.add(lines - fallback_lines, {"engine": engine, "outcome": "translated"})
    by_outcome.add(fallback_lines, {"engine": engine, "outcome": "fallback"})
    by_kind = meter.create_counter(TRANSLATION_REQUESTS, "Requests to language models for translation.")
    by_kind.add(max(0, requests - retries), {"engine": engine, "kind": "first"})
    by_kind.add(retries, {"engine": engine, "kind": "retry"})
