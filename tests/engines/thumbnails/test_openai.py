"""A server's pictures become thumbnails with our own letters, and its failures are told apart."""

import base64
import json
import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from cutroom.engines.errors import EngineError, EngineUnavailableError
from cutroom.engines.thumbnails import openai
from cutroom.engines.thumbnails.openai import MAX_PROMPT_CHARACTERS, OpenAiImages, prompt_for
from cutroom.engines.thumbnails.port import Figure, Pipeline, ThumbnailSpec
from cutroom.engines.vision.yunet import YuNetFaceDetector
from cutroom.media.images import encode_png
from tests.engines.recognition.recognizer_suite import model_folder
from tests.engines.thumbnails.renderer_suite import ThumbnailSuite, cooking, lesson, portrait, talk
from tests.support.image_server import EDITS, GENERATIONS, ImageServer, image_server
from tests.support.openai_server import KEY, Fault, free_port

MODEL = "gpt-image-1"
BLUE = np.full((90, 160, 3), (10, 20, 200), np.uint8)


def client_of(server: ImageServer, *, model: str = MODEL, seconds: float = 60) -> OpenAiImages:
    finder = YuNetFaceDetector(model_folder("yunet"))
    return OpenAiImages(server.base_url, api_key=KEY, model=model, finder=finder, timeout_seconds=seconds)


class TestRemoteImages(ThumbnailSuite):
    """The conformance suite; the server puts the first reference before photographs."""

    @pytest.fixture(scope="class")
    @classmethod
    def maker(cls) -> Iterator[OpenAiImages]:
        with image_server() as server:
            client = client_of(server)
            yield client
            client.close()


@pytest.fixture
def server() -> Iterator[ImageServer]:
    with image_server() as server:
        yield server


@pytest.fixture
def client(server: ImageServer) -> Iterator[OpenAiImages]:
    client = client_of(server, seconds=8)
    yield client
    client.close()


def test_the_server_gets_references_and_what_they_mean(server: ImageServer, client: OpenAiImages) -> None:
    figure = Figure(portrait(), "Eileen", "left", "waves")
    client.draw(replace(cooking(), figures=(figure,), style=BLUE, brand=BLUE, prompt="a warm kitchen"), count=2)
    [asked] = server.asked_for
    assert asked.path == EDITS
    assert (asked.fields["model"], asked.fields["n"]) == (MODEL, "2")
    assert "response_format" not in asked.fields
    assert len(asked.references) == 5
    assert np.array_equal(asked.references[0], portrait())
    for told in ("Eileen", "left", "waves", "warm kitchen", "50%", "Without any text"):
        assert told in asked.fields["prompt"]


def test_large_references_are_sent_smaller(server: ImageServer, client: OpenAiImages) -> None:
    large = np.repeat(np.repeat(portrait(), 4, axis=0), 4, axis=1)
    client.draw(replace(talk(), frames=(large,)), count=1)
    assert server.asked_for[0].references[0].shape == (1024, 1024, 3)


def test_other_models_are_asked_for_pictures_in_the_answer(server: ImageServer) -> None:
    client = client_of(server, model="flux")
    client.draw(talk(), count=1)
    client.close()
    assert server.asked_for[0].fields["response_format"] == "b64_json"


def test_without_references_a_picture_is_generated(
    server: ImageServer, client: OpenAiImages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openai, "MAX_REFERENCES", 0)
    [drawn] = client.draw(cooking(), count=1)
    assert server.asked_for[0].path == GENERATIONS
    assert drawn.headline == "BETTER COFFEE AT HOME"


def test_the_headline_is_ours_and_plates_are_as_they_were(server: ImageServer, client: OpenAiImages) -> None:
    server.make = lambda _asked, number: np.full((1024, 1536, 3), (30, 60 + 60 * number, 30), np.uint8)
    [drawn] = client.draw(lesson(), count=1)
    assert drawn.headline == "HOW THE QUARTER WENT"
    assert drawn.contrast is not None
    assert drawn.contrast >= 4.5


def test_prompts_are_bounded_and_keep_to_the_pipeline() -> None:
    wish = replace(talk(), prompt="x" * 100_000, headline="y" * 10_000, colors=("#ff0000",))
    assert len(prompt_for(wish)) <= MAX_PROMPT_CHARACTERS
    assert "#ff0000" in prompt_for(wish)
    assert "background" in prompt_for(lesson())
    assert "headline" not in prompt_for(ThumbnailSpec(Pipeline.CREATIVE, None, frames=(portrait(),)))


def picture_of(data: bytes) -> bytes:
    return json.dumps({"data": [{"b64_json": base64.b64encode(data).decode()}]}).encode()


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(Fault(status=429), id="busy"),
        pytest.param(Fault(status=500), id="broken"),
        pytest.param(Fault(body=b"<html>"), id="no json"),
        pytest.param(Fault(body=b'{"data": 3}'), id="another protocol"),
        pytest.param(Fault(body=b'{"data": [{"b64_json": "%%%"}]}'), id="no base64"),
        pytest.param(Fault(body=picture_of(b"no picture")), id="no picture"),
        pytest.param(Fault(body=picture_of(encode_png(BLUE)[:40])), id="half a picture"),
        pytest.param(Fault(body=picture_of(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\xff\xff\0\0\xff\xff")), id="bomb"),
        pytest.param(Fault(keep=0.5), id="cut off"),
        pytest.param(Fault(delay_seconds=16), id="slow"),
    ],
)
def test_a_server_that_fails_may_be_asked_again(server: ImageServer, client: OpenAiImages, fault: Fault) -> None:
    server.faults.append(fault)
    with pytest.raises(EngineUnavailableError):
        client.draw(talk(), count=1)
    assert server.calls == 1
    assert len(client.draw(talk(), count=1)) == 1


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422, 302])
def test_what_a_server_refuses_is_not_asked_again(server: ImageServer, client: OpenAiImages, status: int) -> None:
    server.faults.append(Fault(status=status))
    with pytest.raises(EngineError, match=str(status)) as caught:
        client.draw(talk(), count=1)
    assert not isinstance(caught.value, EngineUnavailableError)


@pytest.mark.parametrize("body", [b'{"data": []}', b'{"data": [{"url": "http://127.0.0.1/made.png"}]}'])
def test_addresses_are_not_fetched(server: ImageServer, client: OpenAiImages, body: bytes) -> None:
    server.faults.append(Fault(body=body))
    with pytest.raises(EngineError, match="b64_json"):
        client.draw(talk(), count=1)
    assert server.calls == 1


def test_a_drip_ends_in_time(server: ImageServer, client: OpenAiImages) -> None:
    server.faults.append(Fault(drip_seconds=0.2))
    started = time.monotonic()
    with pytest.raises(EngineUnavailableError):
        client.draw(talk(), count=1)
    assert time.monotonic() - started < 20


def test_answers_are_bounded(server: ImageServer, client: OpenAiImages, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai, "MAX_PICTURE_BYTES", 10_000)
    with pytest.raises(EngineUnavailableError, match="does not end"):
        client.draw(talk(), count=1)
    assert server.calls == 1


def test_a_server_that_is_not_there_may_be_asked_again() -> None:
    finder = YuNetFaceDetector(model_folder("yunet"))
    client = OpenAiImages(f"http://127.0.0.1:{free_port()}/v1", api_key="", model=MODEL, finder=finder)
    with pytest.raises(EngineUnavailableError, match="does not answer"):
        client.draw(talk(), count=1)
    client.close()
