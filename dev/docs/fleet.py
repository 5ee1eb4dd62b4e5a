"""Computes fleet sizes from the measured cost per minute of media and stated assumptions."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

DAY_SECONDS = 86_400
GB = 10**9
MIB = 1024 * 1024

FLEETS = (1_000, 100_000, 1_000_000)  # videos per day
VIDEO_MINUTES = 10
SOURCE_MEGABITS = 8.0  # typical camera file; the measured video has a lower bitrate
PEAK_FACTOR = 2.0  # busiest hour relative to the average
UTILIZATION = 0.6  # target CPU utilization
WORKER_CORES = 4
API_CORES = 1
MIN_PODS = 2  # tolerates the loss of one
READS_PER_VIDEO, WRITES_PER_VIDEO = 120, 30  # a client that polls every few seconds instead of using webhooks
RETENTION_DAYS = 365
POSTGRES_CORES = 32
PARTITION_GB = 100
TRANSITIONS_PER_SHARD = 5.0  # state transitions per second and Temporal history shard
TRANSITIONS_PER_CELL = 4_000.0  # state transitions per second and Temporal cluster
MIN_SHARDS = 512

# Average number of each product per video, and the queue that does most of its work.
MIX: Mapping[str, tuple[float, str]] = {
    "ingest": (1.0, "media"),
    "playback": (1.0, "media"),
    "transcripts": (1.0, "speech"),
    "captions": (2.0, "speech"),
    "dubs": (1.0, "speech"),
    "shorts": (1.0, "vision"),
    "promos": (0.2, "vision"),
    "thumbnails": (1.0, "vision"),
    "packaging": (1.0, "speech"),
    "downloads": (0.5, "media"),
    "bundles": (0.1, "media"),
    "hosting": (0.1, "media"),
    "speech": (0.1, "voice"),
    "voices": (0.01, "voice"),
}
KINDS = ("media", "speech", "vision", "voice")

# Estimated GPU seconds if larger models replace the small ones that were measured.
GPU_SECONDS: Mapping[str, tuple[str, float, str]] = {
    "transcripts": ("a 1.5B-parameter speech recognizer", 2.0, "per minute of speech"),
    "dubs": (
        "a voice cloning model, a source separator and a 3B-parameter translator",
        20.0,
        "per minute of speech",
    ),
    "thumbnails": ("an image generation model", 30.0, "per request with three images"),
    "packaging": ("an 8B-parameter language model", 4.0, "per video"),
}
ONCE_PER_VIDEO = frozenset({"thumbnails", "packaging"})


@dataclass(frozen=True, slots=True)
class VideoCost:
    """Resources that one video uses in each component, with the average product mix."""

    worker_seconds: Mapping[str, float]  # by kind
    api_seconds: float
    postgres_seconds: float
    transitions: float
    row_bytes: float
    stored_bytes: float


@dataclass(frozen=True, slots=True)
class Fleet:
    """Resources for a number of videos per day."""

    videos: int
    workers: Mapping[str, int]
    worker_cores: float
    api_pods: int
    postgres_cores: float
    row_gb_per_day: float
    partitions: int
    transitions_per_second: float
    shards: int
    cells: int
    stored_tb_per_day: float
    upload_gbit: float
    gpus: Mapping[str, int]


def video_cost(figures: Mapping[str, Any]) -> VideoCost:
    workers = dict.fromkeys(KINDS, 0.0)
    api = postgres = transitions = rows = stored = 0.0
    for name, (count, kind) in _measured_mix(figures):
        product = figures["products"][name]
        minutes = count * VIDEO_MINUTES
        workers[kind] += minutes * product["cpu_seconds_a_minute"]["worker"]
        transitions += count * product["transitions"] * _chunks(product)
        # Row size hardly depends on duration; in a new database every table and index occupies at least one page.
        rows += count * max(0, product["row_bytes"])
        stored += minutes * max(0, product["stored_bytes_a_minute"])
    video = figures["video"]
    stored += VIDEO_MINUTES * (SOURCE_MEGABITS * 1e6 / 8 * 60 - video["bytes"] / video["minutes"])
    for name, count in (("read", READS_PER_VIDEO), ("write", WRITES_PER_VIDEO)):
        request = figures["requests"]["cpu_seconds"][name]
        api += count * request["api"]
        postgres += count * request["postgres"]
    api += VIDEO_MINUTES * service_seconds(figures, "ingest", "api") * _source_ratio(video)
    postgres += sum(
        count * _chunks(figures["products"][name]) * service_seconds(figures, name, "postgres", total=True)
        for name, (count, _) in _measured_mix(figures)
    )
    return VideoCost(workers, api, postgres, transitions, rows, stored)


def service_seconds(figures: Mapping[str, Any], name: str, service: str, *, total: bool = False) -> float:
    """CPU seconds of a service other than the worker, per minute of media or in total.

    Excludes its idle usage and the cost of polling for job progress.
    """
    product, idle = figures["products"][name], figures["requests"]["idle"]
    measured = product["cpu_seconds_a_minute"][service] * product["minutes"]
    idle_share = idle["cpu_seconds"][service] / idle["wall_seconds"] * product["wall_seconds"]
    polling = product["polls"] * figures["requests"]["cpu_seconds"]["read"].get(service, 0.0)
    used = float(max(0.0, measured - idle_share - polling))
    return used if total else used / float(product["minutes"])


def plan(figures: Mapping[str, Any], videos: int) -> Fleet:
    video = video_cost(figures)
    cores = {kind: _cores(videos * seconds) for kind, seconds in video.worker_seconds.items()}
    transitions = videos * video.transitions * PEAK_FACTOR / DAY_SECONDS
    rows = videos * video.row_bytes / GB
    return Fleet(
        videos=videos,
        workers={kind: max(MIN_PODS, math.ceil(each / WORKER_CORES)) for kind, each in cores.items()},
        worker_cores=sum(cores.values()),
        api_pods=max(MIN_PODS, math.ceil(_cores(videos * video.api_seconds) / API_CORES)),
        postgres_cores=_cores(videos * video.postgres_seconds),
        row_gb_per_day=rows,
        partitions=_power_of_two(max(1, math.ceil(rows * RETENTION_DAYS / PARTITION_GB))),
        transitions_per_second=transitions,
        shards=max(MIN_SHARDS, _power_of_two(math.ceil(transitions / TRANSITIONS_PER_SHARD))),
        cells=max(
            1,
            math.ceil(transitions / TRANSITIONS_PER_CELL),
            math.ceil(_cores(videos * video.postgres_seconds) / POSTGRES_CORES),
        ),
        stored_tb_per_day=videos * video.stored_bytes / 10**12,
        upload_gbit=videos * VIDEO_MINUTES * 60 * SOURCE_MEGABITS * PEAK_FACTOR / DAY_SECONDS / 1000,
        gpus={
            name: math.ceil(videos * _gpu_seconds(name) * PEAK_FACTOR / (DAY_SECONDS * UTILIZATION))
            for name in GPU_SECONDS
        },
    )


def _measured_mix(figures: Mapping[str, Any]) -> Iterator[tuple[str, tuple[float, str]]]:
    return ((name, share) for name, share in MIX.items() if name in figures["products"])


def _chunks(product: Mapping[str, Any]) -> float:
    """Upper bound for the number of steps relative to the measured run: work is split into chunks of about a minute."""
    return float(max(1.0, VIDEO_MINUTES / max(1.0, product["minutes"])))


def _source_ratio(video: Mapping[str, Any]) -> float:
    """Size of a camera file relative to the measured one; uploads pass through the API."""
    return SOURCE_MEGABITS * 1e6 / 8 * 60 / float(video["bytes"] / video["minutes"])


def _gpu_seconds(name: str) -> float:
    count = MIX[name][0]
    return count * GPU_SECONDS[name][1] * (1 if name in ONCE_PER_VIDEO else VIDEO_MINUTES)


def _cores(seconds_per_day: float) -> float:
    return seconds_per_day * PEAK_FACTOR / (DAY_SECONDS * UTILIZATION)


def _power_of_two(number: int) -> int:
    return 1 << max(0, number - 1).bit_length()


def memory_mib(figures: Mapping[str, Any], kind: str) -> float:
    """Peak memory of one worker of this kind, running one product at a time."""
    peaks = [figures["products"][name]["peak_mib"] for name, (_, queue) in _measured_mix(figures) if queue == kind]
    return float(max(peaks, default=0.0))
