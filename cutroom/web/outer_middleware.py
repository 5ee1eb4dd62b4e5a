"""Outermost ASGI middleware: request ids, paths, security headers, tracing, metrics, access log and error responses."""

import time

from opentelemetry import propagate, trace
from prometheus_client import CollectorRegistry
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cutroom.platform.ids import new_id
from cutroom.platform.telemetry import AccessLog, RequestMetrics, redact, request_id
from cutroom.web.error_responses import ERROR_CODE, error_response
from cutroom.web.idempotency import REPLAYED
from cutroom.web.security_headers import RawHeaders, default_headers, with_defaults
from cutroom.web.waiting import WAITED_SECONDS

MAX_LOGGED_PATH = 200


class RequestContext:
    """Tracks the response status of one request, and adds headers to the response."""

    def __init__(self, scope: Scope, send: Send, *, security_headers: RawHeaders) -> None:
        self.method = scope["method"]
        # The server must still see HEAD, to omit the body, when a route runs it as GET.
        self.scope = {**scope} if self.method == "HEAD" else scope
        self.id = new_id()
        self.status = 0
        self._send = send
        self._security_headers = security_headers

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = with_defaults(message.get("headers", ()), self._security_headers)
            message["headers"] = [*headers, (b"x-request-id", self.id.encode())]
        await self._send(message)

    @property
    def route(self) -> str:
        """The path template, which keeps the cardinality of metrics bounded."""
        return getattr(self.scope.get("route"), "path", "unmatched")


def _allowed_methods(scope: Scope) -> set[str]:
    """Return the methods allowed for a path; each method is a separate route, and HEAD is allowed with GET."""
    routes = [route for route in scope["app"].routes if isinstance(route, Route)]
    matching = [route for route in routes if route.path_regex.match(scope["path"])]
    # `/voices/add` is a path of its own and not a voice id.
    literal = [route for route in matching if route.path == scope["path"]]
    allowed = {method for route in literal or matching for method in route.methods or ()}
    return allowed | {"HEAD"} if "GET" in allowed else allowed


class RequestMiddleware:
    """Wraps the application; see the module docstring."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        registry: CollectorRegistry,
        tracer: trace.Tracer | None,
        access_log: AccessLog,
        is_secure: bool = False,
    ) -> None:
        self._app = app
        self._security_headers = default_headers(is_secure=is_secure)
        self._access_log = access_log
        self._metrics = RequestMetrics(registry)
        self._tracer = tracer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        context = RequestContext(scope, send, security_headers=self._security_headers)
        started = time.perf_counter()
        scope = context.scope
        request_id.set(context.id)
        if len(scope["path"]) > 1:
            scope["path"] = scope["path"].rstrip("/") or "/"
        try:
            await self._traced(context, receive)
        except Exception as error:
            if context.status:
                raise
            response = error_response(error)
            if response.status_code == 405 and (allowed := _allowed_methods(scope)):
                response.headers["Allow"] = ", ".join(sorted(allowed))
            await response(scope, receive, context.send)
        finally:
            waited = scope.get(WAITED_SECONDS, 0.0)
            self._record(context, time.perf_counter() - started - waited)

    async def _traced(self, context: RequestContext, receive: Receive) -> None:
        if self._tracer is None:
            await self._app(context.scope, receive, context.send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in context.scope["headers"]}
        with self._tracer.start_as_current_span(
            context.method, context=propagate.extract(headers), kind=trace.SpanKind.SERVER
        ) as span:
            await self._app(context.scope, receive, context.send)
            span.update_name(f"{context.method} {context.route}")
            span.set_attribute("http.response.status_code", context.status)
            span.set_attribute("http.route", context.route)
            span.set_attribute("cutroom.request_id", context.id)

    def _record(self, context: RequestContext, seconds: float) -> None:
        scope, route = context.scope, context.route
        self._metrics.observe(context.method, route, status=context.status, seconds=seconds)
        path = scope["path"][:MAX_LOGGED_PATH]
        if (code := scope.get(ERROR_CODE)) is not None:
            self._metrics.errors.labels(code.value).inc()
        if REPLAYED in scope:
            self._metrics.replayed.inc()
        principal = scope.get("cutroom.principal")
        self._access_log.write(
            {
                "request_id": context.id,
                "method": context.method,
                "route": route,
                "path": redact(path) if "_" in path else path,  # every credential contains an underscore
                "status": context.status,
                "code": code,
                "milliseconds": round(seconds * 1000, 1),
                "key_id": principal.id if principal else None,
                "library_id": principal.library_id if principal else None,
            }
        )
