"""Parses voice clone requests, sent as a multipart form or as JSON."""

import json
from typing import Any

from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request

from cutroom.errors import invalid_field
from cutroom.platform.egress.client import MAX_URL_LENGTH, url_error
from cutroom.products.speech.schemas import NewVoice
from cutroom.web.body import is_form

_BOOLEANS = {"true": True, "false": False}


async def parse_new_voice(request: Request) -> tuple[NewVoice, list[UploadFile]]:
    """The requested voice and its uploaded files; either files or a URL is required."""
    if is_form(request):
        form = await request.form()
        document, files = _document(form), _files(form)
    else:
        document, files = await request.json(), []
    try:
        voice = NewVoice.model_validate(document)
    except ValidationError as error:
        errors = [{**each, "loc": ("body", *each["loc"])} for each in error.errors()]
        raise RequestValidationError(errors, body=document) from error
    if not files and voice.sample_url is None:
        raise invalid_field("files", "Send a recording as a file, or its URL as sample_url.")
    if not files and voice.sample_url is not None:
        fault = url_error(voice.sample_url) if len(voice.sample_url) <= MAX_URL_LENGTH else "The URL is too long."
        if fault is not None:
            raise invalid_field("sample_url", fault)
    return voice, files


def _document(form: FormData) -> dict[str, Any]:
    fields: dict[str, Any] = {name: value for name, value in form.multi_items() if isinstance(value, str)}
    if "labels" in fields:
        try:
            fields["labels"] = json.loads(fields["labels"] or "null")
        except ValueError as error:
            raise invalid_field("labels", "This must be JSON.") from error
    noise = fields.get("remove_background_noise")
    if isinstance(noise, str):
        fields["remove_background_noise"] = _BOOLEANS.get(noise.strip().lower(), noise)
    return fields


def _files(form: FormData) -> list[UploadFile]:
    return [
        value for name, value in form.multi_items() if isinstance(value, UploadFile) and name in {"files", "files[]"}
    ]
