"""Remote recognition passes the suite and maps server failures to permanent and transient errors."""

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
from cutroom.engines.recognition.silero import SileroVoiceActivityDetector
from cutroom.engines.recognition.whisper import WhisperRecognizer
from cutroom.engines.recognition.word_timestamps import INTERPOLATED_FACTOR
from cutroom.engines.types import SAMPLE_RATE, TimeSpan
from dev.fixtures.speech_clips import noise
from tests.engines.recognition.recognizer_suite import ProgressRecognizer, SpeechRecognizerSuite, model_folder
from tests.support.servers.openai_server import (
    KEY,
    MODEL,
    Fault,
    OpenAiServer,
    ReceivedRequest,
    free_port,
    verbose_json,
)

SAMPLES = noise(20)
SPEECH = [TimeSpan(1.0, 4.0), TimeSpan(10.0, 13.0)]
# Offsets of the speech in window time: the window holds 0.75 to 4.25, then 9.75 to 13.25.
FIRST, SECOND = 0.25, 3.75

WORDS: dict[str, Any] = {
    "text": "Hello, there.",
    "language": "english",
    "words": [
        {"word": "Hello", "start": FIRST + 0.5, "end": FIRST + 1.0},
        {"word": "there", "start": SECOND + 1.0, "end": SECOND + 1.5},
    ],
}


class TestRemoteWhisper(SpeechRecognizerSuite):
    """The conformance suite, with a real model behind the server."""

    max_error_rate = 0.08  # the small English model's own is 5.6 %

    @pytest.fixture(scope="class")
    @classmethod
    def recognizer(cls) -> Iterator[ProgressRecognizer]:
        model = WhisperRecognizer(model_folder("whisper-tiny.en"), cpu_threads=2)
        detector = SileroVoiceActivityDetector()

        def transcribe(request: ReceivedRequest) -> dict[str, Any]:
            speech = list(detector.detect([request.samples]))
            transcription = model.transcribe(request.samples, language=request.language, speech=speech)
            return verbose_json(transcription, seconds=len(request.samples) / SAMPLE_RATE)

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
    transcription = client.transcribe(SAMPLES, language=language, speech=SPEECH)
    return [(word.text, word.start_seconds, word.end_seconds) for word in transcription.words]


def test_words_have_punctuation_and_recording_times(client: OpenAiRecognizer) -> None:
    assert texts(client) == [("Hello,", 1.5, 2.0), ("there.", 11.0, 11.5)]


def test_request_asks_for_word_timestamps(server: OpenAiServer, client: OpenAiRecognizer) -> None:
    texts(client, language="pt-BR")
    (request,) = server.requests
    assert (request.model, request.language, request.response_format) == (MODEL, "pt", "verbose_json")
    assert set(request.granularities) == {"word", "segment"}


def test_request_contains_only_speech_samples(server: OpenAiServer, client: OpenAiRecognizer) -> None:
    texts(client)
    (request,) = server.requests
    given = np.concatenate([SAMPLES[12_000:68_000], SAMPLES[156_000:212_000]])
    assert np.abs(request.samples - given).max() < 1 / 16_000


def test_long_speech_is_split_and_first_window_sets_language(server: OpenAiServer) -> None:
    client = OpenAiRecognizer(server.base_url, api_key=KEY, model=MODEL, window_seconds=5.0)
    progress: list[float] = []
    transcription = client.transcribe(SAMPLES, language=None, speech=SPEECH, on_progress=progress.append)
    client.close()
    assert [request.language for request in server.requests] == [None, "en"]
    assert (transcription.language, transcription.language_probability) == ("en", UNKNOWN_PROBABILITY)
    assert progress == [0.5, 1.0]


@pytest.mark.parametrize(
    ("named", "expected"),
    [("english", "en"), ("en", "en"), ("Haitian Creole", "ht"), ("jw", "jv"), ("klingon", "und"), (None, "und")],
)
def test_language_names_map_to_codes(named: str | None, expected: str) -> None:
    with OpenAiServer(lambda _: {**WORDS, "language": named}) as server:
        client = OpenAiRecognizer(server.base_url, api_key=KEY, model=MODEL)
        assert client.transcribe(SAMPLES, language=None, speech=SPEECH).language == expected
        client.close()


@pytest.mark.parametrize("status", [429, 500, 502, 503, 408])
def test_single_failure_is_retried(server: OpenAiServer, client: OpenAiRecognizer, status: int) -> None:
    server.faults.append(Fault(status=status))
    assert len(texts(client)) == 2
    assert server.calls == 2


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(Fault(status=429), id="busy"),
        pytest.param(Fault(status=500), id="broken"),
        pytest.param(Fault(keep=0.5), id="connection closed early"),
        pytest.param(Fault(body=json.dumps(WORDS).encode()[:-20]), id="truncated JSON"),
        pytest.param(Fault(body=b"<html>welcome</html>"), id="not JSON"),
        pytest.param(Fault(body=b"[]"), id="unexpected JSON"),
        pytest.param(Fault(body=b'{"words": [{"word": "a", "start": "soon", "end": 1}]}'), id="invalid time"),
        pytest.param(Fault(body=b'{"words": [{"word": "a", "start": NaN, "end": 1}]}'), id="NaN time"),
        pytest.param(Fault(delay_seconds=10), id="slow"),
        pytest.param(Fault(drip_seconds=0.3), id="trickling"),
    ],
)
def test_repeated_failure_is_transient(server: OpenAiServer, client: OpenAiRecognizer, fault: Fault) -> None:
    server.faults.extend([fault] * 5)
    started = time.monotonic()
    with pytest.raises(EngineUnavailableError):
        texts(client)
    assert time.monotonic() - started < 12
    assert server.calls <= 2


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
def test_rejected_request_is_not_retried(server: OpenAiServer, client: OpenAiRecognizer, status: int) -> None:
    server.faults.append(Fault(status=status))
    with pytest.raises(EngineError, match=str(status)) as caught:
        texts(client)
    assert not isinstance(caught.value, EngineUnavailableError)
    assert server.calls == 1


@pytest.mark.parametrize(("key", "model", "status"), [("wrong", MODEL, 401), (KEY, "unknown", 404)])
def test_wrong_key_and_unknown_model_are_rejected(
    server: OpenAiServer, key: str, model: str, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    client = OpenAiRecognizer(server.base_url, api_key=key, model=model)
    with caplog.at_level(logging.DEBUG), pytest.raises(EngineError, match=str(status)) as caught:
        texts(client)
    client.close()
    assert not isinstance(caught.value, EngineUnavailableError)
    assert "wrong" not in str(caught.value) + caplog.text


def test_unreachable_server_is_transient() -> None:
    client = OpenAiRecognizer(f"http://127.0.0.1:{free_port()}/v1", api_key=KEY, model=MODEL, max_retries=0)
    with pytest.raises(EngineUnavailableError):
        texts(client)
    client.close()


def test_oversized_response_is_aborted(
    server: OpenAiServer, client: OpenAiRecognizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openai, "MAX_RESPONSE_BYTES", 100)
    with pytest.raises(EngineUnavailableError, match="exceeds the size or time limit"):
        texts(client)
    assert server.calls == 1


def segment(text: str, start: float, end: float, **statistics: float) -> dict[str, Any]:
    return {"text": text, "start": start, "end": end, **statistics}


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        pytest.param({"text": "", "segments": [], "words": []}, [], id="no words"),
        pytest.param({}, [], id="empty response"),
        pytest.param(
            {"segments": [{**segment("Hello", FIRST, 2.0), "words": WORDS["words"]}]},
            [("Hello", 1.5, 2.0, UNKNOWN_PROBABILITY), ("there", 11.0, 11.5, UNKNOWN_PROBABILITY)],
            id="words inside segments",
        ),
        pytest.param(
            {"words": [{"word": " Hi", "start": 0.75, "end": 1.25, "probability": 0.75}]},
            [("Hi", 1.5, 2.0, 0.75)],
            id="word probability",
        ),
        pytest.param(
            {**WORDS, "segments": [segment("Hello,", 0.5, 2.0, avg_logprob=0.0)]},
            [("Hello,", 1.5, 2.0, 1.0), ("there.", 11.0, 11.5, UNKNOWN_PROBABILITY)],
            id="segment probability",
        ),
        pytest.param(
            {**WORDS, "segments": [segment("Hello,", 0.5, 2.0, avg_logprob=-1.5, no_speech_prob=0.9)]},
            [("there.", 11.0, 11.5, UNKNOWN_PROBABILITY)],
            id="hallucinated segment",
        ),
        pytest.param(
            {"segments": [segment("aaaa bbbb", FIRST, FIRST + 3.0, avg_logprob=0.0)]},
            [("aaaa", 1.0, 2.5, INTERPOLATED_FACTOR), ("bbbb", 2.5, 4.0, INTERPOLATED_FACTOR)],
            id="segments only: interpolated with lower probability",
        ),
        pytest.param({"segments": [segment("no " * 200, FIRST, FIRST + 3.0, compression_ratio=9.0)]}, [], id="runaway"),
    ],
)
def test_response_variants_are_parsed(
    response: dict[str, Any], expected: list[tuple[str, float, float, float]]
) -> None:
    with OpenAiServer(lambda _: response) as server:
        client = OpenAiRecognizer(server.base_url, api_key=KEY, model=MODEL)
        words = client.transcribe(SAMPLES, language="en", speech=SPEECH).words
        client.close()
    assert [(word.text, word.start_seconds, word.end_seconds, word.probability) for word in words] == expected


def test_text_without_timestamps_is_rejected() -> None:
    with OpenAiServer(lambda _: {"text": "Hello"}) as server:
        client = OpenAiRecognizer(server.base_url, api_key=KEY, model=MODEL)
        with pytest.raises(EngineError, match="no timestamps"):
            texts(client)
        client.close()
