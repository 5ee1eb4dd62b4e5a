"""Generated images become thumbnails with local text, and server failures are classified."""

import base64
import json
import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from cutroom.engines.errors import EngineError, EngineUnavailableError
from cutroom.engines.thumbnails import openai
from cutroom.engines.thumbnails.openai import MAX_PROMPT_CHARACTERS, OpenAiThumbnailRenderer, build_prompt
from cutroom.engines.thumbnails.port import CharacterSpec, Pipeline, RenderedThumbnail, ThumbnailSpec
from cutroom.engines.vision.yunet import YuNetFaceDetector
from cutroom.media.images import encode_png
from tests.engines.recognition.recognizer_suite import model_folder
from tests.engines.thumbnails.renderer_suite import (
    SPECS,
    RenderSpec,
    ThumbnailRendererSuite,
    cooking,
    lesson,
    portrait,
    talk,
)
from tests.support.servers.image_server import EDITS, GENERATIONS, ImageServer, image_server
from tests.support.servers.openai_server import KEY, Fault, free_port

MODEL = "gpt-image-1"
BLUE = np.full((90, 160, 3), (10, 20, 200), np.uint8)
SMALL = ThumbnailSpec(Pipeline.CREATIVE, None, frames=(BLUE,))


def client_of(server: ImageServer, *, model: str = MODEL, seconds: float = 60) -> OpenAiThumbnailRenderer:
    detector = YuNetFaceDetector(model_folder("yunet"))
    return OpenAiThumbnailRenderer(
        server.base_url, api_key=KEY, model=model, detector=detector, timeout_seconds=seconds
    )


class TestRemoteImages(ThumbnailRendererSuite):
    """The conformance suite; the server composes the first reference over photographs."""

    @pytest.fixture(scope="class")
    @classmethod
    def renderer(cls) -> Iterator[OpenAiThumbnailRenderer]:
        with image_server() as server:
            client = client_of(server)
            yield client
            client.close()

    @pytest.fixture(scope="class", params=["talk", "no headline", "one plate", "a character"])
    @classmethod
    def made(
        cls, request: pytest.FixtureRequest, render_spec: RenderSpec
    ) -> tuple[ThumbnailSpec, list[RenderedThumbnail]]:
        """Headlines are drawn by the compositor, whose tests have every script."""
        return SPECS[str(request.param)], render_spec(str(request.param))


@pytest.fixture
def server() -> Iterator[ImageServer]:
    with image_server() as server:
        yield server


@pytest.fixture
def client(server: ImageServer) -> Iterator[OpenAiThumbnailRenderer]:
    client = client_of(server)
    yield client
    client.close()


def test_references_are_sent_and_described(server: ImageServer, client: OpenAiThumbnailRenderer) -> None:
    character = CharacterSpec(portrait(), "Eileen", "left", "waves")
    client.render(replace(cooking(), characters=(character,), style=BLUE, brand=BLUE, prompt="a warm kitchen"), count=2)
    [request] = server.requests
    assert request.path == EDITS
    assert (request.fields["model"], request.fields["n"]) == (MODEL, "2")
    assert "response_format" not in request.fields
    assert len(request.references) == 5
    assert np.array_equal(request.references[0], portrait())
    for phrase in ("Eileen", "left", "waves", "warm kitchen", "50%", "Without any text"):
        assert phrase in request.fields["prompt"]


def test_large_references_are_downscaled(server: ImageServer, client: OpenAiThumbnailRenderer) -> None:
    large = np.repeat(np.repeat(portrait(), 4, axis=0), 4, axis=1)
    client.render(replace(talk(), frames=(large,)), count=1)
    assert server.requests[0].references[0].shape == (1024, 1024, 3)


def test_other_models_are_asked_for_inline_images(server: ImageServer) -> None:
    client = client_of(server, model="flux")
    client.render(talk(), count=1)
    client.close()
    assert server.requests[0].fields["response_format"] == "b64_json"


def test_image_is_generated_without_references(
    server: ImageServer, client: OpenAiThumbnailRenderer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openai, "MAX_REFERENCES", 0)
    [thumbnail] = client.render(cooking(), count=1)
    assert server.requests[0].path == GENERATIONS
    assert thumbnail.headline == "BETTER COFFEE AT HOME"


def test_headline_and_plates_are_drawn_locally(server: ImageServer, client: OpenAiThumbnailRenderer) -> None:
    server.make = lambda _request, number: np.full((1024, 1536, 3), (30, 60 + 60 * number, 30), np.uint8)
    [thumbnail] = client.render(lesson(), count=1)
    assert thumbnail.headline == "HOW THE QUARTER WENT"
    assert thumbnail.contrast is not None
    assert thumbnail.contrast >= 4.5


def test_prompts_are_bounded_and_follow_the_pipeline() -> None:
    spec = replace(talk(), prompt="x" * 100_000, headline="y" * 10_000, colors=("#ff0000",))
    assert len(build_prompt(spec)) <= MAX_PROMPT_CHARACTERS
    assert "#ff0000" in build_prompt(spec)
    assert "background" in build_prompt(lesson())
    assert "headline" not in build_prompt(ThumbnailSpec(Pipeline.CREATIVE, None, frames=(portrait(),)))


def image_response(data: bytes) -> bytes:
    return json.dumps({"data": [{"b64_json": base64.b64encode(data).decode()}]}).encode()


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(Fault(status=429), id="busy"),
        pytest.param(Fault(status=500), id="broken"),
        pytest.param(Fault(body=b"<html>"), id="no json"),
        pytest.param(Fault(body=b'{"data": 3}'), id="other protocol"),
        pytest.param(Fault(body=b'{"data": [{"b64_json": "%%%"}]}'), id="no base64"),
        pytest.param(Fault(body=image_response(b"no image")), id="no image"),
        pytest.param(Fault(body=image_response(encode_png(BLUE)[:40])), id="truncated image"),
        pytest.param(Fault(body=image_response(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\xff\xff\0\0\xff\xff")), id="bomb"),
        pytest.param(Fault(keep=0.5), id="cut off"),
    ],
)
def test_server_failure_is_retryable(server: ImageServer, client: OpenAiThumbnailRenderer, fault: Fault) -> None:
    server.faults.append(fault)
    with pytest.raises(EngineUnavailableError):
        client.render(SMALL, count=1)
    assert server.calls == 1


def test_client_recovers_after_a_failure(server: ImageServer, client: OpenAiThumbnailRenderer) -> None:
    server.faults.append(Fault(keep=0.5))
    with pytest.raises(EngineUnavailableError):
        client.render(SMALL, count=1)
    assert len(client.render(SMALL, count=1)) == 1


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422, 302])
def test_client_error_is_not_retryable(server: ImageServer, client: OpenAiThumbnailRenderer, status: int) -> None:
    server.faults.append(Fault(status=status))
    with pytest.raises(EngineError, match=str(status)) as caught:
        client.render(SMALL, count=1)
    assert not isinstance(caught.value, EngineUnavailableError)


@pytest.mark.parametrize("body", [b'{"data": []}', b'{"data": [{"url": "http://127.0.0.1/made.png"}]}'])
def test_image_urls_are_not_fetched(server: ImageServer, client: OpenAiThumbnailRenderer, body: bytes) -> None:
    server.faults.append(Fault(body=body))
    with pytest.raises(EngineError, match="b64_json"):
        client.render(SMALL, count=1)
    assert server.calls == 1


@pytest.mark.parametrize("fault", [Fault(delay_seconds=60), Fault(drip_seconds=0.2)])
def test_slow_response_times_out(server: ImageServer, fault: Fault) -> None:
    server.faults.append(fault)
    client = client_of(server, seconds=2)
    started = time.monotonic()
    with pytest.raises(EngineUnavailableError):
        client.render(SMALL, count=1)
    assert time.monotonic() - started < 20
    assert server.calls == 1
    client.close()


def test_response_size_is_bounded(
    server: ImageServer, client: OpenAiThumbnailRenderer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openai, "MAX_IMAGE_BYTES", 10_000)
    with pytest.raises(EngineUnavailableError, match="exceeds the size or time limit"):
        client.render(SMALL, count=1)
    assert server.calls == 1


def test_unreachable_server_is_retryable() -> None:
    detector = YuNetFaceDetector(model_folder("yunet"))
    client = OpenAiThumbnailRenderer(f"http://127.0.0.1:{free_port()}/v1", api_key="", model=MODEL, detector=detector)
    with pytest.raises(EngineUnavailableError, match="not responding"):
        client.render(SMALL, count=1)
    client.close()
