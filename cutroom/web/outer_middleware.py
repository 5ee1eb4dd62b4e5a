"""The outermost layer: a request id, one spelling per path, one log line, and no way past the error envelope."""

import time

from opentelemetry import propagate, trace
from prometheus_client import CollectorRegistry
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cutroom.platform.ids import new_id
from cutroom.platform.telemetry import AccessLog, RequestMetrics, redact, request_id
from cutroom.web.error_responses import CODE, problem_of
from cutroom.web.idempotency import REPLAYED

MAX_LOGGED_PATH = 200


class RequestContext:
    """One request and what was answered."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self.scope = scope
        self.id = new_id()
        self.status = 0
        self._send = send

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message["headers"] = [*message.get("headers", ()), (b"x-request-id", self.id.encode())]
        await self._send(message)

    @property
    def route(self) -> str:
        """The template of the path, never the path itself: metrics need a bounded set."""
        return getattr(self.scope.get("route"), "path", "unmatched")


def _methods(scope: Scope) -> list[str]:
    """What the path allows: each method is a route of its own, so the one that was met knows only its own."""
    routes = [route for route in scope["app"].routes if isinstance(route, Route)]
    met = [route for route in routes if route.path_regex.match(scope["path"])]
    # `/voices/add` is its own path, and no voice.
    literal = [route for route in met if route.path == scope["path"]]
    return sorted({method for route in literal or met for method in route.methods or ()})


class RequestMiddleware:
    """Wraps the application."""

    def __init__(
        self, app: ASGIApp, *, registry: CollectorRegistry, tracer: trace.Tracer | None, access_log: AccessLog
    ) -> None:
        self._app = app
        self._access_log = access_log
        self._metrics = RequestMetrics(registry)
        self._tracer = tracer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        exchange, started = RequestContext(scope, send), time.perf_counter()
        request_id.set(exchange.id)
        if len(scope["path"]) > 1:
            scope["path"] = scope["path"].rstrip("/") or "/"
        try:
            await self._traced(exchange, receive)
        except Exception as error:
            if exchange.status:
                raise
            problem = problem_of(error)
            if problem.status_code == 405:
                problem.headers["Allow"] = ", ".join(_methods(scope))
            await problem(scope, receive, exchange.send)
        finally:
            self._record(exchange, time.perf_counter() - started)

    async def _traced(self, exchange: RequestContext, receive: Receive) -> None:
        if self._tracer is None:
            await self._app(exchange.scope, receive, exchange.send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in exchange.scope["headers"]}
        with self._tracer.start_as_current_span(
            exchange.scope["method"], context=propagate.extract(headers), kind=trace.SpanKind.SERVER
        ) as span:
            await self._app(exchange.scope, receive, exchange.send)
            span.update_name(f"{exchange.scope['method']} {exchange.route}")
            span.set_attribute("http.response.status_code", exchange.status)
            span.set_attribute("http.route", exchange.route)
            span.set_attribute("cutroom.request_id", exchange.id)

    def _record(self, exchange: RequestContext, seconds: float) -> None:
        scope, route = exchange.scope, exchange.route
        self._metrics.observe(scope["method"], route, status=exchange.status, seconds=seconds)
        path = scope["path"][:MAX_LOGGED_PATH]
        if (code := scope.get(CODE)) is not None:
            self._metrics.refused.labels(code.value).inc()
        if REPLAYED in scope:
            self._metrics.replayed.inc()
        principal = scope.get("cutroom.principal")
        self._access_log.write(
            {
                "request_id": exchange.id,
                "method": scope["method"],
                "route": route,
                "path": redact(path) if "_" in path else path,  # every credential has one
                "status": exchange.status,
                "code": code,
                "milliseconds": round(seconds * 1000, 1),
                "key_id": principal.id if principal else None,
                "library_id": principal.library_id if principal else None,
            }
        )
