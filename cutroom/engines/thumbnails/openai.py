"""Thumbnails out of pictures that a server behind OpenAI's protocol for images makes; the headline is our own.

Models write badly and move things about. So letters are written here, and plates are laid over what was made.
"""

import base64
import binascii
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from pydantic import BaseModel, ValidationError

from cutroom.engines.errors import EngineError, EngineUnavailableError
from cutroom.engines.remote_client import RemoteServer
from cutroom.engines.thumbnails.port import Figure, Pipeline, RenderedThumbnail, ThumbnailSpec
from cutroom.engines.vision.port import FaceDetector
from cutroom.media.images import check_size, encode_png, sniff_picture
from cutroom.media.process import MediaError

if TYPE_CHECKING:
    from cutroom.engines.thumbnails.compositor.maker import Make
    from cutroom.engines.types import Image

TIMEOUT_SECONDS = 300.0
SIZE = "1536x1024"  # the widest that the protocol's own models make
MAX_REFERENCES = 8
REFERENCE_SIDE = 1024  # pixels that a reference is sent in
MAX_PROMPT_CHARACTERS = 4_000
MAX_WISH_CHARACTERS = 2_000
MAX_PICTURE_BYTES = 24 * 1024 * 1024  # of one picture in the answer
_ALWAYS_INLINE = "gpt-image"  # models that give pictures in the answer, and refuse to be asked for it


class _Made(BaseModel):
    b64_json: str | None = None


class _Answer(BaseModel):
    """The part of the protocol's answer that is read; servers differ in the rest."""

    data: list[_Made]


class OpenAiImages:
    """`POST /images/edits` with the references, or `/images/generations` where there are none."""

    def __init__(
        self,
        base_url: str,
        *,
        api_key: str,
        model: str,
        finder: FaceDetector,
        timeout_seconds: float = TIMEOUT_SECONDS,
    ) -> None:
        self.name = f"openai-{model}"
        self._model = model
        self._finder = finder
        self._server = RemoteServer(base_url, api_key, timeout_seconds=timeout_seconds)

    def close(self) -> None:
        self._server.close()

    def draw(self, design: ThumbnailSpec, *, count: int) -> list[RenderedThumbnail]:
        try:
            from cutroom.engines.thumbnails.compositor.maker import check, choose, with_words  # noqa: PLC0415 - it loads numpy and OpenCV
        except ImportError as error:
            raise EngineUnavailableError("Install cutroom[vision] to make thumbnails.") from error
        check(design, count)
        design = with_words(design)
        made = self._ask(design, count)
        return choose(_ways(made, design, self._finder), design, self._finder, count=count)

    def _ask(self, design: ThumbnailSpec, count: int) -> "list[Image]":
        fields: dict[str, str | int] = {
            "model": self._model,
            "prompt": prompt_for(design),
            "n": count,
            "size": SIZE,
        }
        if not self._model.startswith(_ALWAYS_INLINE):
            fields["response_format"] = "b64_json"
        references = _references(design)
        limit = count * MAX_PICTURE_BYTES
        if not references:
            return _read(self._server.post("/images/generations", max_bytes=limit, json=fields), count)
        files = [
            ("image[]", (f"reference-{number}.png", _shrunk(each), "image/png"))
            for number, each in enumerate(references, start=1)
        ]
        form = {key: str(value) for key, value in fields.items()}
        return _read(self._server.post("/images/edits", max_bytes=limit, data=form, files=files), count)


def prompt_for(design: ThumbnailSpec) -> str:
    """What the model is told. The caller's words come last and between marks: they say what to show, not what to do."""
    lines = ["A picture for the thumbnail of a video, 16:9, one clear subject, strong light and colour."]
    lines.append("Without any text, letters, numbers, logos or watermarks.")
    if design.pipeline is Pipeline.PRECISION:
        lines = ["A calm background for the thumbnail of a video, 16:9, without text, people or objects."]
        lines.append("It matches the colours of the pictures that are given; they are laid over it later.")
    elif design.headline:
        lines.append("One third of the picture, at the left or right, is calm, for a headline that is added later.")
    at = 1
    for figure in design.figures:
        lines.append(_about(figure, at))
        at += 1
    frames = len(design.plates) or len(design.frames[:2])
    if frames:
        lines.append(f"The next {frames} of the pictures given are from the video.")
    for reference, meaning in (
        (design.style, "Another one shows the style to draw in."),
        (design.influence, "Another one shows the kind of composition to follow."),
        (design.brand, f"Another one shows the brand; follow its look with {design.brand_influence:.0%} weight."),
    ):
        if reference is not None:
            lines.append(meaning)
    if design.colors:
        lines.append(f"Use these colours: {', '.join(design.colors[:8])}.")
    if design.headline and design.pipeline is Pipeline.CREATIVE:
        lines.append(f"The headline will be: <<{design.headline[:200]}>>. Do not write it.")
    if design.prompt:
        lines.append(f"What it should show: <<{design.prompt[:MAX_WISH_CHARACTERS]}>>")
    return "\n".join(lines)[:MAX_PROMPT_CHARACTERS]


def _about(figure: Figure, number: int) -> str:
    told = [f"Image {number} of those given shows {figure.name or 'somebody'}, who must be recognised"]
    told += [f"is at the {figure.position}"] if figure.position else []
    told += [f"does this: {figure.action}"] if figure.action else []
    return ", ".join(told)[:400] + "."


def _references(design: ThumbnailSpec) -> "list[Image]":
    """In the order in which the prompt names them."""
    found = [figure.picture for figure in design.figures]
    found += design.plates or design.frames[:2]
    found += [each for each in (design.style, design.influence, design.brand) if each is not None]
    return found[:MAX_REFERENCES]


def _shrunk(picture: "Image") -> bytes:
    import cv2  # noqa: PLC0415 - the API process must be able to import this room without it
    import numpy as np  # noqa: PLC0415 - as above

    height, width = picture.shape[:2]
    scale = REFERENCE_SIDE / max(height, width)
    if scale < 1:
        size = max(1, round(width * scale)), max(1, round(height * scale))
        picture = cv2.resize(picture, size, interpolation=cv2.INTER_AREA).astype(np.uint8)
    return encode_png(picture)


def _read(body: bytes, count: int) -> "list[Image]":
    try:
        answer = _Answer.model_validate_json(body)
    except ValidationError:
        raise EngineUnavailableError("The server's answer does not follow the images protocol.") from None
    found = [_decoded(each.b64_json) for each in answer.data[:count] if each.b64_json]
    if not found:
        raise EngineError("The server gave no picture in its answer. It must send b64_json.")
    return found


def _decoded(text: str) -> "Image":
    """The server is the operator's own, but what it sends is still bounded before it is decoded."""
    import cv2  # noqa: PLC0415 - as above
    import numpy as np  # noqa: PLC0415 - as above

    broken = "The server's picture cannot be read."
    try:
        data = base64.b64decode(text, validate=True)
        head = sniff_picture(data)
        if head is None:
            raise EngineUnavailableError(broken)
        check_size(head)
    except (binascii.Error, MediaError) as error:
        raise EngineUnavailableError(broken) from error
    read = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    if read is None:
        raise EngineUnavailableError(broken)
    return cv2.cvtColor(read, cv2.COLOR_BGR2RGB).astype(np.uint8)


def _ways(made: "list[Image]", design: ThumbnailSpec, finder: FaceDetector) -> "Iterator[Make]":
    """Layouts for each picture: the headline where it hides nothing, or the plates before it."""
    from cutroom.engines.thumbnails.compositor import creative, precision  # noqa: PLC0415 - see above
    from cutroom.engines.thumbnails.compositor.material import Material, Shot, gather  # noqa: PLC0415 - see above
    from cutroom.engines.thumbnails.compositor.palette import palettes  # noqa: PLC0415 - see above
    from cutroom.engines.thumbnails.compositor.subjects import find_faces  # noqa: PLC0415 - see above

    for number, picture in enumerate(made):
        if design.pipeline is Pipeline.PRECISION:
            given = replace(gather(design, finder, None), backdrop=picture)
            makes = list(precision.layouts(given))
            # Another layout for each picture, the likeliest first; then whatever else there is.
            yield from makes[number % len(makes) :] + makes[: number % len(makes)]
            continue
        shot = Shot(picture, find_faces(picture, finder), None)
        material = Material(design, (shot,), (), (), tuple(palettes(design)))
        yield partial(creative.bleed, material, shot, at=0.5, layout=f"made-{number + 1}")
        if design.headline:
            yield partial(creative.labels, material, shot, palette=number)
            yield partial(creative.band, material, shot, palette=number)
