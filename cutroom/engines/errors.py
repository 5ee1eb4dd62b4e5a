"""Engine errors, classified by whether a retry can help."""


class EngineError(Exception):
    """Permanent failure: retrying the same input fails again."""


class EngineUnavailableError(EngineError):
    """Transient failure: the engine or its model is missing or not responding; a retry or another engine may work."""


class EngineBusyError(EngineUnavailableError):
    """A server asked us to come back later, if it says so after `retry_after_seconds`."""

    def __init__(self, message: str, *, retry_after_seconds: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class RequestRejectedError(EngineError):
    """A server rejected this request, for instance its content or its size; other requests may work."""


class UnsuitableInputError(EngineError):
    """The input cannot give a result. `reason` and message are shown to its owner; those of other errors are not."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class NoRouteError(EngineError):
    """No engine offers a translation route between the two languages."""
