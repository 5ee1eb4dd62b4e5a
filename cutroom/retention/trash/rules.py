"""How long videos stay in the trash."""

from datetime import datetime, timedelta

TRASH_DAYS = 30
TRASH_PERIOD = timedelta(days=TRASH_DAYS)


def purge_time(deleted_at: datetime) -> datetime:
    """When a video that went to the trash at a time is purged."""
    return deleted_at + TRASH_PERIOD
