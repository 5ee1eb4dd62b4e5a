"""What the router in front of several cells asks a cell about."""

from enum import StrEnum


class Subject(StrEnum):
    """What a request is routed by."""

    CREDENTIAL = "credential"  # an API key or an OAuth access token
    SESSION = "session"
    EMAIL = "email"
    LIBRARY = "library"
