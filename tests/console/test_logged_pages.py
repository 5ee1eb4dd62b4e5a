"""Every page that changes something logs it: its code reaches an operation or an entry of the audit log."""

import ast
import inspect
from importlib import import_module
from types import ModuleType

import pytest
from starlette.routing import Route

from cutroom.console.app import console_routes

LOGGING = {
    "call_operation",
    "record",
    "append_event",
    "AuditEvent",
    "change_labels",
    "finish_sign_in",
}  # the last two are shared
# Selects a library for the session, and issues challenges of passkeys; changes nothing.
UNLOGGED = {"/switch", "/sign-in/passkey/options", "/account/passkeys/options"}
CHANGING = [
    route for route in console_routes() if isinstance(route, Route) and route.methods and "POST" in route.methods
]
PAGES = [route for route in CHANGING if route.name.startswith("cutroom.console.pages.")]


def references(module: ModuleType) -> dict[str, set[str]]:
    """The names that each function and constant of a module refers to."""
    found: dict[str, set[str]] = {}
    for node in ast.parse(inspect.getsource(module)).body:
        names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
        names |= {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)}
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found[node.name] = names
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found[node.target.id] = names
    return found


def is_logging(handler: str) -> bool:
    """Whether the handler calls one of LOGGING, itself or through functions of its module that run on success."""
    module, _, name = handler.rpartition(".")
    graph, seen, waiting = references(import_module(module)), set[str](), [name]
    while waiting:
        current = waiting.pop()
        if current in LOGGING:
            return True
        # `_page` only renders: it calls operations that read.
        reached = graph.get(current, set()) - seen - {"_page"}
        waiting += reached
        seen |= reached
    return False


def test_pages_are_found() -> None:
    assert len(PAGES) >= 35


@pytest.mark.parametrize("route", [page for page in PAGES if page.path not in UNLOGGED], ids=lambda page: page.path)
def test_page_that_changes_something_logs_it(route: Route) -> None:
    assert is_logging(route.name)


def test_a_handler_that_logs_nothing_is_found() -> None:
    assert not is_logging("cutroom.console.pages.sign_in.switch_library")
    assert not is_logging("cutroom.console.pages.keys.show_keys")
