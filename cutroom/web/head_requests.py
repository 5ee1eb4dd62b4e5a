"""Serves HEAD wherever an API route serves GET."""

from fastapi.routing import APIRoute
from starlette.routing import Match
from starlette.types import Scope

IS_HEAD = "cutroom.is_head"  # ASGI scope key of HEAD requests, which routes see as GET


class HeadAwareRoute(APIRoute):
    """An API route that runs HEAD as GET; the server omits the body. The OpenAPI document lists GET only."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        if scope["method"] != "HEAD":
            return super().matches(scope)
        match, child_scope = super().matches({**scope, "method": "GET"})
        return match, {**child_scope, "method": "GET", IS_HEAD: True}
