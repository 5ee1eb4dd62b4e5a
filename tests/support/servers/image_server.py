"""A fake OpenAI images server on loopback, with scripted faults."""

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from email.message import Message
from email.parser import BytesParser
from email.policy import HTTP
from typing import TYPE_CHECKING

import cv2
import numpy as np

from cutroom.media.images import encode_png
from dev.fixtures.photographs import photograph
from tests.support.servers.openai_server import KEY, RejectedError
from tests.support.servers.voice_server import VoiceServer

if TYPE_CHECKING:
    from cutroom.engines.types import Image

EDITS, GENERATIONS = "/v1/images/edits", "/v1/images/generations"
WIDTH, HEIGHT = 1536, 1024


@dataclass(frozen=True, slots=True)
class ImageRequest:
    """A well-formed request."""

    path: str
    fields: dict[str, str]
    references: "tuple[Image, ...]" = ()


def variation(request: ImageRequest, number: int) -> "Image":
    """The first reference over a different photograph each time."""
    backgrounds = ("rocket.jpg", "coffee.png", "chelsea.png")
    image = cv2.resize(photograph(backgrounds[number % 3]), (WIDTH, HEIGHT), interpolation=cv2.INTER_AREA).astype(
        np.uint8
    )
    if request.references:
        reference = request.references[0]
        height = 820
        width = min(WIDTH, round(reference.shape[1] * height / reference.shape[0]))
        x = round((WIDTH - width) * (1.0, 0.05, 0.6)[number % 3])
        image[HEIGHT - height :, x : x + width] = cv2.resize(reference, (width, height), interpolation=cv2.INTER_AREA)
    return image


@dataclass
class ImageServer(VoiceServer):
    """Responds with the requested number of images."""

    make: Callable[[ImageRequest, int], "Image"] = variation
    requests: list[ImageRequest] = field(default_factory=list)

    def respond(self, headers: Message, path: str, body: bytes) -> bytes:
        if path not in {EDITS, GENERATIONS}:
            raise RejectedError(404, "Not found.")
        if headers.get("Authorization") != f"Bearer {KEY}":
            raise RejectedError(401, "Incorrect API key provided.")
        request = _form(headers, path, body) if path == EDITS else ImageRequest(path, json.loads(body))
        if path == EDITS and not request.references:
            raise RejectedError(400, "An image is required.")
        if not str(request.fields.get("prompt", "")).strip() or request.fields.get("size") != f"{WIDTH}x{HEIGHT}":
            raise RejectedError(400, "Unknown size, or no prompt.")
        self.requests.append(request)
        images = (self.make(request, number) for number in range(int(request.fields["n"])))
        data = [{"b64_json": base64.b64encode(encode_png(each)).decode()} for each in images]
        return json.dumps({"created": 1, "data": data, "usage": {"total_tokens": 1}}).encode()


def image_server(make: "Callable[[ImageRequest, int], Image]" = variation) -> ImageServer:
    return ImageServer(lambda _: b"", make=make)


def _form(headers: Message, path: str, body: bytes) -> ImageRequest:
    head = f"Content-Type: {headers.get('Content-Type', '')}\r\n\r\n".encode()
    fields: dict[str, str] = {}
    references = []
    for part in BytesParser(policy=HTTP).parsebytes(head + body).iter_parts():
        content = part.get_payload(decode=True)
        assert isinstance(content, bytes)
        name = str(part.get_param("name", header="content-disposition"))
        if part.get_filename():
            if name != "image[]" or part.get_content_type() != "image/png":
                raise RejectedError(400, "Invalid image.")
            read = cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_COLOR)
            assert read is not None
            references.append(cv2.cvtColor(read, cv2.COLOR_BGR2RGB).astype(np.uint8))
        else:
            fields[name] = content.decode()
    return ImageRequest(path, fields, tuple(references))
