"""The kind of connection pooler between a process and PostgreSQL."""

from enum import StrEnum


class Pooler(StrEnum):
    """What the database URLs lead to; not PgBouncer in transaction mode, because the library is session state."""

    NONE = "none"  # PostgreSQL itself
    SESSION = "session"  # PgBouncer in session mode
