"""Only errors that are listed are retried until they pass."""

import errno

import asyncpg
import httpx
import pytest
from obstore.exceptions import GenericError, NotFoundError
from temporalio.service import RPCError, RPCStatusCode

from cutroom.platform.storage.multipart import StoreError
from cutroom.platform.transient import is_transient


@pytest.mark.parametrize(
    "error",
    [
        ConnectionResetError(),
        TimeoutError(),
        OSError(errno.ENOSPC, "no space left on the device"),
        asyncpg.CannotConnectNowError(),
        asyncpg.DeadlockDetectedError(),
        asyncpg.InterfaceError("the connection is closed"),
        asyncpg.InternalClientError("got result for unknown protocol state 0"),
        httpx.ConnectError("refused"),
        GenericError("the store answers 503"),
        StoreError(503, "SlowDown"),
        RPCError("unavailable", RPCStatusCode.UNAVAILABLE, b""),
        ExceptionGroup("both", [TimeoutError(), ConnectionResetError()]),
    ],
)
def test_outages_are_transient(error: Exception) -> None:
    assert is_transient(error)


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("CUDA error"),
        MemoryError(),
        OSError("cannot identify image file"),
        OSError(errno.EINVAL, "invalid argument"),
        asyncpg.UniqueViolationError(),
        NotFoundError("no such object"),
        StoreError(403, "AccessDenied"),
        RPCError("invalid", RPCStatusCode.INVALID_ARGUMENT, b""),
        ExceptionGroup("one", [TimeoutError(), ValueError()]),
    ],
)
def test_other_errors_are_not(error: Exception) -> None:
    assert not is_transient(error)
