"""A server on loopback that speaks OpenAI's protocol for images, and fails as servers do."""

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
from tests.support.openai_server import KEY, RefusedError
from tests.support.voice_server import VoiceServer

if TYPE_CHECKING:
    from cutroom.engines.types import Image

EDITS, GENERATIONS = "/v1/images/edits", "/v1/images/generations"
WIDTH, HEIGHT = 1536, 1024


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that was well formed."""

    path: str
    fields: dict[str, str]
    references: "tuple[Image, ...]" = ()


def variation(asked: Asked, number: int) -> "Image":
    """The first reference before another ground each time, as a model would put somebody somewhere else."""
    grounds = ("rocket.jpg", "coffee.png", "chelsea.png")
    made = cv2.resize(photograph(grounds[number % 3]), (WIDTH, HEIGHT), interpolation=cv2.INTER_AREA).astype(np.uint8)
    if asked.references:
        shown = asked.references[0]
        height = 820
        width = min(WIDTH, round(shown.shape[1] * height / shown.shape[0]))
        x = round((WIDTH - width) * (1.0, 0.05, 0.6)[number % 3])
        made[HEIGHT - height :, x : x + width] = cv2.resize(shown, (width, height), interpolation=cv2.INTER_AREA)
    return made


@dataclass
class ImageServer(VoiceServer):
    """Answers with so many pictures as were asked for."""

    make: Callable[[Asked, int], "Image"] = variation
    asked_for: list[Asked] = field(default_factory=list)

    def answer(self, headers: Message, path: str, body: bytes) -> bytes:
        if path not in {EDITS, GENERATIONS}:
            raise RefusedError(404, "There is nothing here.")
        if headers.get("Authorization") != f"Bearer {KEY}":
            raise RefusedError(401, "Incorrect API key provided.")
        asked = _form(headers, path, body) if path == EDITS else Asked(path, json.loads(body))
        if path == EDITS and not asked.references:
            raise RefusedError(400, "There is no image to edit.")
        if not str(asked.fields.get("prompt", "")).strip() or asked.fields.get("size") != f"{WIDTH}x{HEIGHT}":
            raise RefusedError(400, "Unknown size, or no prompt.")
        self.asked_for.append(asked)
        pictures = (self.make(asked, number) for number in range(int(asked.fields["n"])))
        data = [{"b64_json": base64.b64encode(encode_png(each)).decode()} for each in pictures]
        return json.dumps({"created": 1, "data": data, "usage": {"total_tokens": 1}}).encode()


def image_server(make: "Callable[[Asked, int], Image]" = variation) -> ImageServer:
    return ImageServer(lambda _: b"", make=make)


def _form(headers: Message, path: str, body: bytes) -> Asked:
    head = f"Content-Type: {headers.get('Content-Type', '')}\r\n\r\n".encode()
    fields: dict[str, str] = {}
    references = []
    for part in BytesParser(policy=HTTP).parsebytes(head + body).iter_parts():
        content = part.get_payload(decode=True)
        assert isinstance(content, bytes)
        name = str(part.get_param("name", header="content-disposition"))
        if part.get_filename():
            if name != "image[]" or part.get_content_type() != "image/png":
                raise RefusedError(400, "That is no image.")
            read = cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_COLOR)
            assert read is not None
            references.append(cv2.cvtColor(read, cv2.COLOR_BGR2RGB).astype(np.uint8))
        else:
            fields[name] = content.decode()
    return Asked(path, fields, tuple(references))
