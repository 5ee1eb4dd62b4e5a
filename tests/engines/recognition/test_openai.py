"""A server's words are as good as our own, and its failures are told apart."""

import json
import logging
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from cutroom.engines.errors import EngineError, EngineUnavailableError
from cutroom.engines.recognition import openai
from cutroom.engines.recognition.openai import UNKNOWN_PROBABILITY, OpenAiRecognizer
from cutroom.engines.recognition.silero import SileroDetector
from cutroom.engines.recognition.whisper import WhisperRecognizer
from cutroom.engines.recognition.word_timestamps import SPREAD_FACTOR
from cutroom.engines.types import SAMPLE_RATE, TimeSpan
from dev.fixtures.speech_clips import noise
from tests.engines.recognition.recognizer_suite import RecogniserSuite, Reporting, model_folder
from tests.support.openai_server import KEY, MODEL, Asked, Fault, OpenAiServer, as_answer, free_port

SAMPLES = noise(20)
SPEECH = [TimeSpan(1.0, 4.0), TimeSpan(10.0, 13.0)]
# As the window has it: 0.75 to 4.25, then 9.75 to 13.25.
FIRST, SECOND = 0.25, 3.75
# As the recording has it: what comes before the second word of `words()` there.
WORDS: dict[str, Any] = {
    "text": "Hello, there.",
    "language": "english",
    "words": [
        {"word": "Hello", "start": FIRST + 0.5, "end": FIRST + 1.0},
        {"word": "there", "start": SECOND + 1.0, "end": SECOND + 1.5},
    ],
}


class TestRemoteWhisper(RecogniserSuite):
    """The conformance suite, with a real model behind the server."""

    max_error_rate = 0.08  # the small English model's own is 5.6 %

    @pytest.fixture(scope="class")
    @classmethod
    def recogniser(cls) -> Iterator[Reporting]:
        model = WhisperRecognizer(model_folder("whisper-tiny.en"), cpu_threads=2)
        detector = SileroDetector()

        def transcribe(asked: Asked) -> dict[str, Any]:
            speech = list(detector.detect([asked.samples]))
            recognised = model.transcribe(asked.samples, language=asked.language, speech=speech)
            return as_answer(recognised, seconds=len(asked.samples) / SAMPLE_RATE)

        with OpenAiServer(transcribe) as server:
            client = OpenAiRecognizer(server.base_url, api_key=KEY, model=MODEL, timeout_seconds=100)
            yield client
            client.close()


@pytest.fixture
def server() -> Iterator[OpenAiServer]:
    with OpenAiServer(lambda _: WORDS) as server:
        yield server


@pytest.fixture
def client(server: OpenAiServer) -> Iterator[OpenAiRecognizer]:
    client = OpenAiRecognizer(server.base_url, api_key=KEY, model=MODEL, timeout_seconds=2, max_retries=1)
    yield client
    client.close()


def texts(client: OpenAiRecognizer, *, language: str | None = "en") -> list[tuple[str, float, float]]:
    recognised = client.transcribe(SAMPLES, language=language, speech=SPEECH)
    return [(word.text, word.start_seconds, word.end_seconds) for word in recognised.words]


def test_words_come_back_with_punctuation_and_times_of_the_recording(client: OpenAiRecognizer) -> None:
    assert texts(client) == [("Hello,", 1.5, 2.0), ("there.", 11.0, 11.5)]


def test_the_server_is_asked_for_words_with_times(server: OpenAiServer, client: OpenAiRecognizer) -> None:
    texts(client, language="pt-BR")
    (asked,) = server.asked
    assert (asked.model, asked.language, asked.response_format) == (MODEL, "pt", "verbose_json")
    assert set(asked.granularities) == {"word", "segment"}


def test_the_server_gets_the_samples_of_the_speech(server: OpenAiServer, client: OpenAiRecognizer) -> None:
    texts(client)
    (asked,) = server.asked
    given = np.concatenate([SAMPLES[12_000:68_000], SAMPLES[156_000:212_000]])
    assert np.abs(asked.samples - given).max() < 1 / 16_000


def test_long_speech_goes_in_several_requests_and_the_first_settles_the_language(server: OpenAiServer) -> None:
    client = OpenAiRecognizer(server.base_url, api_key=KEY, model=MODEL, window_seconds=5.0)
    told: list[float] = []
    recognised = client.transcribe(SAMPLES, language=None, speech=SPEECH, on_progress=told.append)
    client.close()
    assert [asked.language for asked in server.asked] == [None, "en"]
    assert (recognised.language, recognised.language_probability) == ("en", UNKNOWN_PROBABILITY)
    assert told == [0.5, 1.0]


@pytest.mark.parametrize(
    ("named", "expected"),
    [("english", "en"), ("en", "en"), ("Haitian Creole", "ht"), ("jw", "jv"), ("klingon", "und"), (None, "und")],
)
def test_languages_are_named_as_we_name_them(named: str | None, expected: str) -> None:
    with OpenAiServer(lambda _: {**WORDS, "language": named}) as server:
        client = OpenAiRecognizer(server.base_url, api_key=KEY, model=MODEL)
        assert client.transcribe(SAMPLES, language=None, speech=SPEECH).language == expected
        client.close()


@pytest.mark.parametrize("status", [429, 500, 502, 503, 408])
def test_a_server_that_fails_once_is_asked_again(server: OpenAiServer, client: OpenAiRecognizer, status: int) -> None:
    server.faults.append(Fault(status=status))
    assert len(texts(client)) == 2
    assert server.calls == 2


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(Fault(status=429), id="busy"),
        pytest.param(Fault(status=500), id="broken"),
        pytest.param(Fault(keep=0.5), id="ends in the middle"),
        pytest.param(Fault(body=json.dumps(WORDS).encode()[:-20]), id="truncated JSON"),
        pytest.param(Fault(body=b"<html>welcome</html>"), id="no JSON"),
        pytest.param(Fault(body=b"[]"), id="another JSON"),
        pytest.param(Fault(body=b'{"words": [{"word": "a", "start": "soon", "end": 1}]}'), id="no time"),
        pytest.param(Fault(body=b'{"words": [{"word": "a", "start": NaN, "end": 1}]}'), id="no number"),
        pytest.param(Fault(delay_seconds=10), id="slow"),
        pytest.param(Fault(drip_seconds=0.3), id="slow to the end"),
    ],
)
def test_a_server_that_keeps_failing_may_be_asked_later(
    server: OpenAiServer, client: OpenAiRecognizer, fault: Fault
) -> None:
    server.faults.extend([fault] * 5)
    started = time.monotonic()
    with pytest.raises(EngineUnavailableError):
        texts(client)
    assert time.monotonic() - started < 12
    assert server.calls <= 2


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
def test_a_server_that_refuses_is_not_asked_again(server: OpenAiServer, client: OpenAiRecognizer, status: int) -> None:
    server.faults.append(Fault(status=status))
    with pytest.raises(EngineError, match=str(status)) as caught:
        texts(client)
    assert not isinstance(caught.value, EngineUnavailableError)
    assert server.calls == 1


@pytest.mark.parametrize(("key", "model", "status"), [("wrong", MODEL, 401), (KEY, "unknown", 404)])
def test_a_wrong_key_and_an_unknown_model_are_refused(
    server: OpenAiServer, key: str, model: str, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    client = OpenAiRecognizer(server.base_url, api_key=key, model=model)
    with caplog.at_level(logging.DEBUG), pytest.raises(EngineError, match=str(status)) as caught:
        texts(client)
    client.close()
    assert not isinstance(caught.value, EngineUnavailableError)
    assert "wrong" not in str(caught.value) + caplog.text


def test_a_server_that_is_not_there_may_be_asked_later() -> None:
    client = OpenAiRecognizer(f"http://127.0.0.1:{free_port()}/v1", api_key=KEY, model=MODEL, max_retries=0)
    with pytest.raises(EngineUnavailableError):
        texts(client)
    client.close()


def test_an_answer_that_is_too_long_is_not_read_to_its_end(
    server: OpenAiServer, client: OpenAiRecognizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openai, "MAX_ANSWER_BYTES", 100)
    with pytest.raises(EngineUnavailableError, match="does not end"):
        texts(client)
    assert server.calls == 1


def segment(text: str, start: float, end: float, **measures: float) -> dict[str, Any]:
    return {"text": text, "start": start, "end": end, **measures}


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param({"text": "", "segments": [], "words": []}, [], id="nothing"),
        pytest.param({}, [], id="an empty answer"),
        pytest.param(
            {"segments": [{**segment("Hello", FIRST, 2.0), "words": WORDS["words"]}]},
            [("Hello", 1.5, 2.0, UNKNOWN_PROBABILITY), ("there", 11.0, 11.5, UNKNOWN_PROBABILITY)],
            id="words inside segments",
        ),
        pytest.param(
            {"words": [{"word": " Hi", "start": 0.75, "end": 1.25, "probability": 0.75}]},
            [("Hi", 1.5, 2.0, 0.75)],
            id="a probability of its own",
        ),
        pytest.param(
            {**WORDS, "segments": [segment("Hello,", 0.5, 2.0, avg_logprob=0.0)]},
            [("Hello,", 1.5, 2.0, 1.0), ("there.", 11.0, 11.5, UNKNOWN_PROBABILITY)],
            id="the probability of its segment",
        ),
        pytest.param(
            {**WORDS, "segments": [segment("Hello,", 0.5, 2.0, avg_logprob=-1.5, no_speech_prob=0.9)]},
            [("there.", 11.0, 11.5, UNKNOWN_PROBABILITY)],
            id="a segment that nobody said",
        ),
        pytest.param(
            {"segments": [segment("aaaa bbbb", FIRST, FIRST + 3.0, avg_logprob=0.0)]},
            [("aaaa", 1.0, 2.5, SPREAD_FACTOR), ("bbbb", 2.5, 4.0, SPREAD_FACTOR)],
            id="segments only: words are spread, and trusted less",
        ),
        pytest.param(
            {"segments": [segment("no " * 200, FIRST, FIRST + 3.0, compression_ratio=9.0)]}, [], id="runs away"
        ),
    ],
)
def test_answers_of_several_kinds_are_understood(
    answer: dict[str, Any], expected: list[tuple[str, float, float, float]]
) -> None:
    with OpenAiServer(lambda _: answer) as server:
        client = OpenAiRecognizer(server.base_url, api_key=KEY, model=MODEL)
        words = client.transcribe(SAMPLES, language="en", speech=SPEECH).words
        client.close()
    assert [(word.text, word.start_seconds, word.end_seconds, word.probability) for word in words] == expected


def test_text_without_any_time_is_refused() -> None:
    with OpenAiServer(lambda _: {"text": "Hello"}) as server:
        client = OpenAiRecognizer(server.base_url, api_key=KEY, model=MODEL)
        with pytest.raises(EngineError, match="without times"):
            texts(client)
        client.close()
