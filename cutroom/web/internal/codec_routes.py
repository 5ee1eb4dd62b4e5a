"""Decodes payloads of workflows for operators, in the protocol of Temporal's remote codecs."""

import hmac
import logging

from fastapi import APIRouter
from google.protobuf.json_format import MessageToJson, Parse, ParseError
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from temporalio.api.common.v1 import Payload, Payloads
from temporalio.converter import PayloadCodec

from cutroom.errors import Code, CutroomError, invalid_field, not_found
from cutroom.platform.data_keys import ErasedKeyError
from cutroom.platform.ids import is_id
from cutroom.platform.payload_codec import LIBRARY_FIELD
from cutroom.web.body import read_at_most
from cutroom.web.error_responses import error_response
from cutroom.web.runtime import Runtime

PATH = "/operator/codec/decode"
MAX_BYTES = 8 * 1024 * 1024  # Temporal accepts payloads of 2 MB
MAX_PAYLOADS = 1_000
_METHODS = ("DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT")
_BEARER = "bearer "

_log = logging.getLogger(__name__)


async def decode(request: Request) -> Response:
    """Returns the payloads in plain text; those whose data key was deleted are returned as they are."""
    runtime: Runtime = request.app.state.runtime
    try:
        response = await _respond(request, runtime)
    except Exception as error:  # noqa: BLE001 (as in the middleware)
        response = error_response(error)
    if runtime.settings.codec_token is not None and runtime.settings.codec_origin is not None:
        response.headers.update(_cors(runtime.settings.codec_origin))
    response.headers["Cache-Control"] = "no-store"
    return response


async def _respond(request: Request, runtime: Runtime) -> Response:
    if runtime.settings.codec_token is None:
        raise not_found()
    if request.method == "OPTIONS":
        return Response(status_code=204)
    if request.method != "POST":
        raise CutroomError(Code.METHOD_NOT_ALLOWED, headers={"Allow": "OPTIONS, POST"})
    await _authenticate(request, runtime, runtime.settings.codec_token.get_secret_value())
    payloads = _parse(await read_at_most(request, MAX_BYTES, name="body"))
    codec = runtime.temporal.data_converter.payload_codec
    assert codec is not None
    decoded = Payloads(payloads=[await _decode(codec, each) for each in payloads.payloads])
    named = {each.metadata.get(LIBRARY_FIELD, b"").decode(errors="replace") for each in payloads.payloads}
    libraries = sorted(filter(is_id, named))
    _log.info("payloads decoded for an operator", extra={"count": len(payloads.payloads), "libraries": libraries})
    return Response(MessageToJson(decoded, indent=None), media_type="application/json")


async def _authenticate(request: Request, runtime: Runtime, token: str) -> None:
    header = request.headers.get("authorization", "")
    given = header[len(_BEARER) :] if header.lower().startswith(_BEARER) else ""
    if not hmac.compare_digest(given.encode(), token.encode()):
        await runtime.limits.count_failure(request.client.host if request.client else "unknown")
        raise CutroomError(Code.UNAUTHENTICATED, message="The operator's token is missing or wrong.")


def _parse(body: bytes) -> Payloads:
    try:
        payloads = Parse(body, Payloads(), ignore_unknown_fields=True)
    except (ParseError, UnicodeDecodeError, RecursionError) as error:
        raise invalid_field("body", "The body is not a list of payloads.") from error
    if len(payloads.payloads) > MAX_PAYLOADS:
        raise invalid_field("payloads", f"At most {MAX_PAYLOADS} payloads are decoded at once.")
    return payloads


async def _decode(codec: PayloadCodec, payload: Payload) -> Payload:
    try:
        [decoded] = await codec.decode([payload])
    except (ErasedKeyError, ValueError):
        return payload
    return decoded


def _cors(origin: str) -> dict[str, str]:
    return {
        "Access-Control-Allow-Origin": origin,
        "Access-Control-Allow-Methods": "POST",
        "Access-Control-Allow-Headers": "Authorization, Content-Type, X-Namespace",
        "Access-Control-Max-Age": "3600",
        "Vary": "Origin",
    }


router = APIRouter()
router.routes.append(Route(PATH, decode, methods=_METHODS))
