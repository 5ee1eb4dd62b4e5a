"""Bodies of the studio's requests: a JSON object in a field of a form, which is checked as every form is."""

import json
from typing import Any

from cutroom.console.framework.page_context import PageContext
from cutroom.errors import invalid_field


def read_document(context: PageContext) -> dict[str, Any]:
    """The JSON object in the field `body`."""
    try:
        document = json.loads(context.form.text("body"))
    except ValueError as error:
        raise invalid_field("body", "This is not a JSON document.") from error
    if not isinstance(document, dict):
        raise invalid_field("body", "This must be a JSON object.")
    return document
