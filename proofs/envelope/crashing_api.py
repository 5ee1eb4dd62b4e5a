"""An API that kills itself with SIGKILL at a chosen point of a POST, forked for each request of the proof.

The crash points are patched into the product's functions here. The parent process imports everything once and reads
lines of `POINT PORT` from its standard input; for each it forks a child that serves until it dies.
"""

import functools
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import uvicorn
from prometheus_client import CollectorRegistry

from cutroom.entrypoints.api import build_service
from cutroom.entrypoints.http_protocol import EnvelopeProtocol
from cutroom.platform.settings import Settings
from cutroom.web.idempotency import IdempotencyStore
from cutroom.web.middleware import OperationPipeline
from cutroom.web.outer_middleware import RequestContext
from dev.child_process import die_with_parent

Function = Callable[..., Awaitable[Any]]


def kill_process() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def before(function: Function) -> Function:
    @functools.wraps(function)
    async def wrapped(*_arguments: object, **_named: object) -> None:
        kill_process()

    return wrapped


def after(function: Function) -> Function:
    @functools.wraps(function)
    async def wrapped(*arguments: object, **named: object) -> None:
        await function(*arguments, **named)
        kill_process()

    return wrapped


# In the order of a POST.
POINTS: dict[str, tuple[type, str, Callable[[Function], Function]]] = {
    "before the claim": (IdempotencyStore, "claim", before),
    "after the claim": (IdempotencyStore, "claim", after),
    "after the handler": (OperationPipeline, "_run_json", after),
    "after the response is stored": (IdempotencyStore, "save", after),
    "after the commit": (OperationPipeline, "_run_once", after),
    "while the response is sent": (RequestContext, "send", after),
}


def serve(point: str, port: int) -> None:
    owner, name, wrap = POINTS[point]
    setattr(owner, name, wrap(getattr(owner, name)))
    service = build_service(Settings(), CollectorRegistry())
    uvicorn.run(service, port=port, loop="uvloop", http=EnvelopeProtocol, log_config=None, access_log=False)


def main() -> None:
    for line in sys.stdin:
        point, _, port = line.strip().rpartition(" ")
        child = os.fork()
        if child == 0:
            die_with_parent()
            serve(point, int(port))
            os._exit(0)
        os.waitpid(child, 0)
        print("died", flush=True)


if __name__ == "__main__":
    main()
