"""An API that dies with -9 at one chosen point of a POST, forked anew for each request of the proof.

The product has no such points: they are put around its functions here. The parent process imports everything once and
reads lines of `POINT PORT` from its standard input; for each it forks a child that serves until it dies.
"""

import functools
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import uvicorn

from cutroom.entrypoints.api import EnvelopeProtocol, build_service
from cutroom.platform.settings import Settings
from cutroom.web.idempotency import IdempotencyStore
from cutroom.web.middleware import OperationPipeline
from cutroom.web.outer_middleware import RequestContext

Function = Callable[..., Awaitable[Any]]


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def before(function: Function) -> Function:
    @functools.wraps(function)
    async def wrapped(*_arguments: object, **_named: object) -> None:
        die()

    return wrapped


def after(function: Function) -> Function:
    @functools.wraps(function)
    async def wrapped(*arguments: object, **named: object) -> None:
        await function(*arguments, **named)
        die()

    return wrapped


# In the order in which a POST passes them.
POINTS: dict[str, tuple[type, str, Callable[[Function], Function]]] = {
    "before the claim": (IdempotencyStore, "claim", before),
    "after the claim": (IdempotencyStore, "claim", after),
    "after the work": (OperationPipeline, "_document_work", after),
    "after the answer is retained": (IdempotencyStore, "retain", after),
    "after the commit": (OperationPipeline, "_once", after),
    "while the answer is sent": (RequestContext, "send", after),
}


def serve(point: str, port: int) -> None:
    owner, name, wrap = POINTS[point]
    setattr(owner, name, wrap(getattr(owner, name)))
    service = build_service(Settings())
    uvicorn.run(service, port=port, loop="uvloop", http=EnvelopeProtocol, log_config=None, access_log=False)


def main() -> None:
    for line in sys.stdin:
        point, _, port = line.strip().rpartition(" ")
        child = os.fork()
        if child == 0:
            serve(point, int(port))
            os._exit(0)
        os.waitpid(child, 0)
        print("died", flush=True)


if __name__ == "__main__":
    main()
