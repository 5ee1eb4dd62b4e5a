"""Thumbnail renderer on an OpenAI-compatible images API; text and plates are drawn locally.

Image models render text poorly and alter the plates they are given, so both are composited over the generated image.
"""

import base64
import binascii
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from pydantic import BaseModel, ValidationError

from cutroom.engines.errors import EngineError, EngineUnavailableError
from cutroom.engines.remote_client import RemoteClient
from cutroom.engines.thumbnails.port import CharacterSpec, Pipeline, RenderedThumbnail, ThumbnailSpec
from cutroom.engines.types import OnProgress
from cutroom.engines.vision.port import FaceDetector
from cutroom.media.images import check_size, encode_png, sniff_image
from cutroom.media.process import MediaError

if TYPE_CHECKING:
    from cutroom.engines.thumbnails.compositor.draft import DraftBuilder
    from cutroom.engines.types import Image

TIMEOUT_SECONDS = 300.0
SIZE = "1536x1024"  # the widest that OpenAI's own models generate
MAX_REFERENCES = 8
REFERENCE_SIDE = 1024  # maximum side of an uploaded reference, in pixels
MAX_PROMPT_CHARACTERS = 4_000
MAX_USER_PROMPT_CHARACTERS = 2_000
MAX_IMAGE_BYTES = 24 * 1024 * 1024  # per generated image in the response
_ALWAYS_INLINE = "gpt-image"  # models that always return b64_json and reject `response_format`


class _GeneratedImage(BaseModel):
    b64_json: str | None = None


class _ImagesResponse(BaseModel):
    """The fields that are used; servers differ in the rest."""

    data: list[_GeneratedImage]


class OpenAiThumbnailRenderer:
    """Calls `POST /images/edits` with reference images, or `/images/generations` without."""

    def __init__(
        self,
        base_url: str,
        *,
        api_key: str,
        model: str,
        detector: FaceDetector,
        timeout_seconds: float = TIMEOUT_SECONDS,
    ) -> None:
        self.name = f"openai-{model}"
        self._model = model
        self._detector = detector
        self._server = RemoteClient(base_url, api_key, timeout_seconds=timeout_seconds)

    def close(self) -> None:
        self._server.close()

    def render(
        self, spec: ThumbnailSpec, *, count: int, on_progress: OnProgress | None = None
    ) -> list[RenderedThumbnail]:
        try:
            from cutroom.engines.thumbnails.compositor.renderer import (  # noqa: PLC0415 - it loads numpy and OpenCV
                render_best,
                validate_spec,
                without_unreadable_headline,
            )
        except ImportError as error:
            raise EngineUnavailableError("Install cutroom[vision] to render thumbnails.") from error
        validate_spec(spec, count)
        spec = without_unreadable_headline(spec)
        generated = self._generate(spec, count)
        layouts = _layouts(generated, spec, self._detector)
        return render_best(layouts, spec, self._detector, count=count, on_progress=on_progress)

    def _generate(self, spec: ThumbnailSpec, count: int) -> "list[Image]":
        fields: dict[str, str | int] = {
            "model": self._model,
            "prompt": build_prompt(spec),
            "n": count,
            "size": SIZE,
        }
        if not self._model.startswith(_ALWAYS_INLINE):
            fields["response_format"] = "b64_json"
        references = _references(spec)
        limit = count * MAX_IMAGE_BYTES
        if not references:
            return _decode_response(self._server.post("/images/generations", max_bytes=limit, json=fields), count)
        files = [
            ("image[]", (f"reference-{number}.png", _encode_reference(each), "image/png"))
            for number, each in enumerate(references, start=1)
        ]
        form = {key: str(value) for key, value in fields.items()}
        return _decode_response(self._server.post("/images/edits", max_bytes=limit, data=form, files=files), count)


def build_prompt(spec: ThumbnailSpec) -> str:
    """The model's prompt. The caller's text comes last and delimited, as a description rather than instructions."""
    lines = ["An image for the thumbnail of a video, 16:9, one clear subject, strong light and color."]
    lines.append("Without any text, letters, numbers, logos or watermarks.")
    if spec.pipeline is Pipeline.PRECISION:
        lines = ["A calm background for the thumbnail of a video, 16:9, without text, people or objects."]
        lines.append("Match the colors of the reference images; they are laid over it later.")
    elif spec.headline:
        lines.append("Keep one third of the image, on the left or right, calm for a headline that is added later.")
    lines += [_describe(character, number) for number, character in enumerate(spec.characters, start=1)]
    frames = len(spec.plates) or len(spec.frames[:2])
    if frames:
        lines.append(f"The next {frames} of the reference images are from the video.")
    for reference, meaning in (
        (spec.style, "Another one shows the style to draw in."),
        (spec.influence, "Another one shows the kind of composition to follow."),
        (spec.brand, f"Another one shows the brand; follow its look with {spec.brand_influence:.0%} weight."),
    ):
        if reference is not None:
            lines.append(meaning)
    if spec.colors:
        lines.append(f"Use these colors: {', '.join(spec.colors[:8])}.")
    if spec.headline and spec.pipeline is Pipeline.CREATIVE:
        lines.append(f"The headline will be: <<{spec.headline[:200]}>>. Do not write it.")
    if spec.prompt:
        lines.append(f"What it should show: <<{spec.prompt[:MAX_USER_PROMPT_CHARACTERS]}>>")
    return "\n".join(lines)[:MAX_PROMPT_CHARACTERS]


def _describe(character: CharacterSpec, number: int) -> str:
    clauses = [f"Reference image {number} shows {character.name or 'a person'}, who must be recognizable"]
    clauses += [f"is at the {character.position}"] if character.position else []
    clauses += [f"does this: {character.action}"] if character.action else []
    return ", ".join(clauses)[:400] + "."


def _references(spec: ThumbnailSpec) -> "list[Image]":
    """In the order in which the prompt mentions them."""
    found = [character.image for character in spec.characters]
    found += spec.plates or spec.frames[:2]
    found += [each for each in (spec.style, spec.influence, spec.brand) if each is not None]
    return found[:MAX_REFERENCES]


def _encode_reference(image: "Image") -> bytes:
    import cv2  # noqa: PLC0415 - keeps the import out of the API process
    import numpy as np  # noqa: PLC0415 - as above

    height, width = image.shape[:2]
    scale = REFERENCE_SIDE / max(height, width)
    if scale < 1:
        size = max(1, round(width * scale)), max(1, round(height * scale))
        image = cv2.resize(image, size, interpolation=cv2.INTER_AREA).astype(np.uint8)
    return encode_png(image)


def _decode_response(body: bytes, count: int) -> "list[Image]":
    try:
        response = _ImagesResponse.model_validate_json(body)
    except ValidationError:
        raise EngineUnavailableError("The server's response does not follow the images API.") from None
    found = [_decode(each.b64_json) for each in response.data[:count] if each.b64_json]
    if not found:
        raise EngineError("The server's response contains no image. It must send b64_json.")
    return found


def _decode(text: str) -> "Image":
    """Checks dimensions before decoding: the server is the operator's, but its output is still bounded."""
    import cv2  # noqa: PLC0415 - as above
    import numpy as np  # noqa: PLC0415 - as above

    invalid = "The server's image cannot be decoded."
    try:
        data = base64.b64decode(text, validate=True)
        head = sniff_image(data)
        if head is None:
            raise EngineUnavailableError(invalid)
        check_size(head)
    except (binascii.Error, MediaError) as error:
        raise EngineUnavailableError(invalid) from error
    decoded = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    if decoded is None:
        raise EngineUnavailableError(invalid)
    return cv2.cvtColor(decoded, cv2.COLOR_BGR2RGB).astype(np.uint8)


def _layouts(generated: "list[Image]", spec: ThumbnailSpec, detector: FaceDetector) -> "Iterator[DraftBuilder]":
    """Layouts on each generated image: the headline over it, or the plates in front of it."""
    from cutroom.engines.thumbnails.compositor import creative, precision  # noqa: PLC0415 - see above
    from cutroom.engines.thumbnails.compositor.cutouts import detect_faces  # noqa: PLC0415 - see above
    from cutroom.engines.thumbnails.compositor.inputs import (  # noqa: PLC0415 - see above
        AnalyzedImage,
        CompositorInputs,
        prepare_inputs,
    )
    from cutroom.engines.thumbnails.compositor.palette import candidate_palettes  # noqa: PLC0415 - see above

    for number, image in enumerate(generated):
        if spec.pipeline is Pipeline.PRECISION:
            with_backdrop = replace(prepare_inputs(spec, detector, None), backdrop=image)
            builders = list(precision.layouts(with_backdrop))
            # Starts with a different layout for each image.
            yield from builders[number % len(builders) :] + builders[: number % len(builders)]
            continue
        source = AnalyzedImage(image, detect_faces(image, detector), None)
        inputs = CompositorInputs(spec, (source,), (), (), tuple(candidate_palettes(spec)))
        yield partial(creative.full_bleed, inputs, source, at=0.5, layout=f"generated-{number + 1}")
        if spec.headline:
            yield partial(creative.label_lines, inputs, source, palette=number)
            yield partial(creative.bottom_band, inputs, source, palette=number)
