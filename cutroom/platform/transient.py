"""Tells errors that pass by themselves from all others."""

import errno
import socket

import asyncpg
import httpx
from obstore.exceptions import GenericError, PermissionDeniedError, UnauthenticatedError
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError
from temporalio.service import RPCError, RPCStatusCode

from cutroom.platform.storage.multipart import StoreError

TRANSIENT = (
    ConnectionError,
    TimeoutError,
    socket.gaierror,
    asyncpg.InterfaceError,  # the connection was closed under a query
    asyncpg.InternalClientError,  # or while nothing was asked
    asyncpg.PostgresConnectionError,
    asyncpg.InsufficientResourcesError,
    asyncpg.OperatorInterventionError,  # the server is starting or stopping
    asyncpg.TransactionRollbackError,  # a deadlock or a conflict of serializable transactions
    asyncpg.LockNotAvailableError,
    httpx.TransportError,
    GenericError,  # what obstore raises if the store cannot be reached or answers 5xx
    PermissionDeniedError,  # a store that is starting refuses its keys
    UnauthenticatedError,
    RedisConnectionError,
    RedisTimeoutError,
)
# Limits of the machine: another one, or this one later, may have room.
TRANSIENT_ERRNOS = frozenset(
    {
        errno.EAGAIN,
        errno.EDQUOT,
        errno.EHOSTUNREACH,
        errno.EINTR,
        errno.EIO,
        errno.EMFILE,
        errno.ENETUNREACH,
        errno.ENFILE,
        errno.ENOMEM,
        errno.ENOSPC,
    }
)
TRANSIENT_RPC = frozenset(
    {
        RPCStatusCode.ABORTED,
        RPCStatusCode.CANCELLED,
        RPCStatusCode.DEADLINE_EXCEEDED,
        RPCStatusCode.RESOURCE_EXHAUSTED,
        RPCStatusCode.UNAVAILABLE,
        RPCStatusCode.UNKNOWN,
    }
)
SERVER_ERROR = 500


def is_transient(error: BaseException) -> bool:
    """Whether an attempt that failed with this error is worth repeating until it succeeds."""
    if isinstance(error, BaseExceptionGroup):
        return all(is_transient(each) for each in error.exceptions)
    if isinstance(error, RPCError):
        return error.status in TRANSIENT_RPC
    if isinstance(error, StoreError):
        return error.status >= SERVER_ERROR
    if isinstance(error, TRANSIENT):
        return True
    return isinstance(error, OSError) and error.errno in TRANSIENT_ERRNOS
