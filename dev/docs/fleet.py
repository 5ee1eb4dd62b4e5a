"""Fleets from figures: what was measured for a minute of media, what is assumed, and the arithmetic between them.

Pure: figures go in, Markdown comes out, so the page cannot say anything but what the figures say.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

DAY_SECONDS = 86_400
GB = 10**9
MIB = 1024 * 1024

FLEETS = (1_000, 100_000, 1_000_000)  # videos a day
VIDEO_MINUTES = 10
SOURCE_MEGABITS = 8.0  # of a typical camera's file, a second; the measured film is smaller
PEAK = 2.0  # the busiest hour beside the average one
BUSY = 0.6  # how full cores are planned to be
WORKER_CORES = 4
API_CORES = 1
LEAST_PODS = 2  # so that one may be away
READS_A_VIDEO, WRITES_A_VIDEO = 120, 30  # a caller who asks every few seconds, without webhooks
KEPT_DAYS = 365
POSTGRES_CORES = 32  # of one primary
PARTITION_GB = 100
TRANSITIONS_A_SHARD = 5.0  # state transitions a second that one shard of Temporal's history is planned for
TRANSITIONS_A_CELL = 4_000.0  # ... and one cluster of it
LEAST_SHARDS = 512

# What is made of each video, on average, and on which queue most of its work is done.
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

# Where larger models stand in for the small ones that were measured. Not measured here: seconds of one GPU.
GPU_SECONDS: Mapping[str, tuple[str, float, str]] = {
    "transcripts": ("a recognizer of 1.5 billion parameters", 2.0, "for a minute of speech"),
    "dubs": (
        "a voice that clones, a separator and a translator of 3 billion parameters",
        20.0,
        "for a minute of speech",
    ),
    "thumbnails": ("a picture model", 30.0, "for a request of three pictures"),
    "packaging": ("a language model of 8 billion parameters", 4.0, "for a video"),
}
ONCE_A_VIDEO = frozenset({"thumbnails", "packaging"})


@dataclass(frozen=True, slots=True)
class Video:
    """What one video asks of each part, with all products of the mix."""

    worker_seconds: Mapping[str, float]  # by kind
    api_seconds: float
    postgres_seconds: float
    transitions: float
    row_bytes: float
    stored_bytes: float


@dataclass(frozen=True, slots=True)
class Fleet:
    """What a number of videos a day needs."""

    videos: int
    workers: Mapping[str, int]
    worker_cores: float
    api_pods: int
    postgres_cores: float
    row_gb_a_day: float
    partitions: int
    transitions_a_second: float
    shards: int
    cells: int
    stored_tb_a_day: float
    upload_gbit: float
    gpus: Mapping[str, int]


def of_video(figures: Mapping[str, Any]) -> Video:
    workers = dict.fromkeys(KINDS, 0.0)
    api = postgres = transitions = rows = stored = 0.0
    for name, (count, kind) in _mixed(figures):
        told = figures["products"][name]
        minutes = count * VIDEO_MINUTES
        workers[kind] += minutes * told["cpu_seconds_a_minute"]["worker"]
        transitions += count * told["transitions"] * _pieces(told)
        # Rows hardly grow with a video's length, and of a young database every table and index takes a page at once.
        rows += count * max(0, told["row_bytes"])
        stored += minutes * max(0, told["stored_bytes_a_minute"])
    film = figures["film"]
    stored += VIDEO_MINUTES * (SOURCE_MEGABITS * 1e6 / 8 * 60 - film["bytes"] / film["minutes"])
    for name, count in (("read", READS_A_VIDEO), ("write", WRITES_A_VIDEO)):
        asked = figures["requests"]["cpu_seconds"][name]
        api += count * asked["api"]
        postgres += count * asked["postgres"]
    api += VIDEO_MINUTES * house(figures, "ingest", "api") * _source_share(film)
    postgres += sum(
        count * _pieces(figures["products"][name]) * house(figures, name, "postgres", whole=True)
        for name, (count, _) in _mixed(figures)
    )
    return Video(workers, api, postgres, transitions, rows, stored)


def house(figures: Mapping[str, Any], name: str, part: str, *, whole: bool = False) -> float:
    """Processor seconds of a part beside the worker, a minute or as a whole.

    Without what it uses when nothing runs, and without the answers to somebody who asked again and again how far it is.
    """
    told, idle = figures["products"][name], figures["requests"]["idle"]
    total = told["cpu_seconds_a_minute"][part] * told["minutes"]
    alone = idle["cpu_seconds"][part] / idle["wall_seconds"] * told["wall_seconds"]
    asked = told["polls"] * figures["requests"]["cpu_seconds"]["read"].get(part, 0.0)
    used = float(max(0.0, total - alone - asked))
    return used if whole else used / float(told["minutes"])


def plan(figures: Mapping[str, Any], videos: int) -> Fleet:
    video = of_video(figures)
    cores = {kind: _cores(videos * seconds) for kind, seconds in video.worker_seconds.items()}
    transitions = videos * video.transitions * PEAK / DAY_SECONDS
    rows = videos * video.row_bytes / GB
    return Fleet(
        videos=videos,
        workers={kind: max(LEAST_PODS, math.ceil(each / WORKER_CORES)) for kind, each in cores.items()},
        worker_cores=sum(cores.values()),
        api_pods=max(LEAST_PODS, math.ceil(_cores(videos * video.api_seconds) / API_CORES)),
        postgres_cores=_cores(videos * video.postgres_seconds),
        row_gb_a_day=rows,
        partitions=_power_of_two(max(1, math.ceil(rows * KEPT_DAYS / PARTITION_GB))),
        transitions_a_second=transitions,
        shards=max(LEAST_SHARDS, _power_of_two(math.ceil(transitions / TRANSITIONS_A_SHARD))),
        cells=max(
            1,
            math.ceil(transitions / TRANSITIONS_A_CELL),
            math.ceil(_cores(videos * video.postgres_seconds) / POSTGRES_CORES),
        ),
        stored_tb_a_day=videos * video.stored_bytes / 10**12,
        upload_gbit=videos * VIDEO_MINUTES * 60 * SOURCE_MEGABITS * PEAK / DAY_SECONDS / 1000,
        gpus={name: math.ceil(videos * _gpu_seconds(name) * PEAK / (DAY_SECONDS * BUSY)) for name in GPU_SECONDS},
    )


def _mixed(figures: Mapping[str, Any]) -> Iterator[tuple[str, tuple[float, str]]]:
    return ((name, share) for name, share in MIX.items() if name in figures["products"])


def _pieces(told: Mapping[str, Any]) -> float:
    """Work is cut into pieces of about a minute: a video of ten has ten times the steps of a film of one, at most."""
    return float(max(1.0, VIDEO_MINUTES / max(1.0, told["minutes"])))


def _source_share(film: Mapping[str, Any]) -> float:
    """How much larger a camera's file is than the measured one: the API hands its bytes on."""
    return SOURCE_MEGABITS * 1e6 / 8 * 60 / float(film["bytes"] / film["minutes"])


def _gpu_seconds(name: str) -> float:
    count = MIX[name][0]
    return count * GPU_SECONDS[name][1] * (1 if name in ONCE_A_VIDEO else VIDEO_MINUTES)


def _cores(seconds_a_day: float) -> float:
    return seconds_a_day * PEAK / (DAY_SECONDS * BUSY)


def _power_of_two(number: int) -> int:
    return 1 << max(0, number - 1).bit_length()


def memory_mib(figures: Mapping[str, Any], kind: str) -> float:
    """The most that one worker of this kind was seen to use, one product at a time."""
    found = [figures["products"][name]["peak_mib"] for name, (_, where) in _mixed(figures) if where == kind]
    return float(max(found, default=0.0))
