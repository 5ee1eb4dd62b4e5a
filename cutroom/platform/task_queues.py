"""Temporal task queues, separated by the resource that their activities need."""

from enum import StrEnum


class TaskQueue(StrEnum):
    """A worker process serves the queues listed in `CUTROOM_WORKER_QUEUES`."""

    CONTROL = "control"  # short database work
    MEDIA = "media"  # FFmpeg
    SPEECH = "speech"  # speech engines, batch
    VOICE = "voice"  # speech engines, interactive
    VISION = "vision"  # vision engines
    EGRESS = "egress"  # short network calls
    DOWNLOAD = "download"  # long downloads, kept apart so that they never delay short calls
