"""Forms that change one resource. They carry its revision, and keep the input if it was changed meanwhile."""

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

from starlette.responses import HTMLResponse, Response

from cutroom.console.framework.forms import Form
from cutroom.console.framework.page_context import PageContext, error_text, redirect
from cutroom.errors import Code, CutroomError

SAVED_EVENT = "saved"  # by this or another user: sections of the page that show the resource reload themselves
_SHOWN_CODES = frozenset({Code.INVALID_ARGUMENT, Code.CONFLICT, Code.ALREADY_EXISTS})


@dataclass(frozen=True, slots=True)
class EditField:
    """A field of a form: one line, several lines, or check boxes."""

    name: str
    label: str
    value: str = ""
    max_length: int | None = None
    rows: int = 1
    is_required: bool = True
    input_type: str = "text"
    choices: tuple[str, ...] = ()  # check boxes; the value lists the checked ones
    suggestions: tuple[str, ...] = ()

    def typed(self, form: Form) -> str:
        """What the user entered. Browsers send line breaks as CRLF."""
        return " ".join(form.all(self.name)) if self.choices else form.text(self.name).replace("\r\n", "\n")


@dataclass(frozen=True, slots=True)
class Editor:
    """A form with the current values of a resource and its revision."""

    title: str
    action: str  # GET shows the form, POST saves it
    back: str  # the page that shows the resource
    fields: tuple[EditField, ...]
    revision: str = ""
    button: str = "Save"

    @property
    def digest(self) -> str:
        """Identifies the values that the form shows, because other fields of the resource have the same revision."""
        return hashlib.sha256("\0".join(field.value for field in self.fields).encode()).hexdigest()[:16]

    def typed(self, form: Form) -> dict[str, str]:
        return {field.name: field.typed(form) for field in self.fields}


LoadEditor = Callable[[], Awaitable[Editor]]
Save = Callable[[str | None], Awaitable[object]]  # takes the revision to change


def show_editor(context: PageContext, editor: Editor) -> Response:
    """The form as a fragment of the page that shows the resource, or as a page of its own without scripts."""
    return _render(context, editor, current=editor)


async def submit(context: PageContext, load: LoadEditor, save: Save) -> Response | None:
    """Saves a form; returns it again with what is wrong, or None if it was saved."""
    problem = await _try_to_save(context, save, context.form.text("revision") or None)
    if problem is None:
        return None
    current = await load()
    if is_outdated(problem) and context.form.text("shown") == current.digest:  # other fields were changed
        problem = await _try_to_save(context, save, current.revision)
        if problem is None:
            return None
    typed = current.typed(context.form)
    kept = tuple(replace(field, value=typed[field.name]) for field in current.fields)
    return _render(context, replace(current, fields=kept), current=current, problem=problem)


async def submit_deletion(context: PageContext, load: LoadEditor, delete: Save) -> Response | None:
    """Deletes what the form shows, or asks for confirmation if that has changed. Returns None if it was deleted."""
    try:
        await delete(context.form.text("revision") or None)
    except CutroomError as error:
        if not is_outdated(error):
            raise
    else:
        return None
    return context.page("deletion_page.html", status=409, editor=await load(), action=context.request.url.path)


async def _try_to_save(context: PageContext, save: Save, revision: str | None) -> CutroomError | None:
    connection = context.connection
    assert connection is not None
    try:
        async with connection.transaction():
            await save(revision)
    except CutroomError as error:
        if error.code not in _SHOWN_CODES:
            raise
        return error
    return None


def is_outdated(problem: CutroomError) -> bool:
    """Whether the resource was changed since the form was shown."""
    return problem.code is Code.CONFLICT and "revision" in problem.details


def _render(
    context: PageContext, editor: Editor, *, current: Editor, problem: CutroomError | None = None
) -> HTMLResponse:
    outdated = problem is not None and is_outdated(problem)
    typed = {field.name: field.value for field in editor.fields}
    values: dict[str, Any] = {
        "editor": editor,
        "digest": current.digest,
        "is_fragment": context.is_fragment,
        "changed": [each for each in current.fields if typed[each.name] != each.value] if outdated else [],
        "is_outdated": outdated,
        "error": error_text(problem) if problem is not None and not outdated else None,
    }
    template = "editor.html" if context.is_fragment else "editor_page.html"
    response = context.page(template, status=problem.status if problem else 200, **values)
    if problem is not None:
        response.headers["HX-Reswap"] = "innerHTML"  # by which scripts recognize a form to show again
    if outdated:
        response.headers["HX-Trigger"] = SAVED_EVENT
    return response


def saved(context: PageContext, path: str, **query: str) -> Response:
    """Ends a successful change: the sections of the page reload, or the browser is redirected without scripts."""
    if not context.is_fragment:
        return redirect(path, **query)
    return HTMLResponse('<p class="hide" role="status">Saved.</p>', headers={"HX-Trigger": SAVED_EVENT})
