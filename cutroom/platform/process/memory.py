"""Keeps memory that was freed for the next allocation, instead of returning it to the kernel at once."""

import ctypes
import logging

KEPT_BYTES = 512 * 1024 * 1024
LARGEST_BYTES = 256 * 1024 * 1024  # larger allocations are mapped and unmapped individually
# Parameters of mallopt, from malloc.h of glibc.
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8

_log = logging.getLogger(__name__)


def keep_freed_memory() -> bool:
    """Configures glibc's malloc for engines; returns whether that was possible. Call it before threads are started.

    Speech recognition allocates 550 MB for every 30 seconds of audio, in buffers of up to 72 MB. Each was mapped,
    cleared by the kernel page by page, and unmapped: a quarter of the CPU time of Whisper's encoder. There is one
    arena, because those of other threads have at most 64 MiB.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):  # another C library
        return False
    settings = {_ARENA_MAX: 1, _MMAP_THRESHOLD: LARGEST_BYTES, _TRIM_THRESHOLD: KEPT_BYTES}
    accepted = [mallopt(name, value) == 1 for name, value in settings.items()]
    if not all(accepted):
        _log.warning("malloc could not be configured", extra={"accepted": accepted})
    return all(accepted)
