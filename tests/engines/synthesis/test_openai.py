"""Remote synthesis and cloning pass the suites and map server failures to permanent and transient errors."""

import struct
import time
from collections.abc import Iterator

import numpy as np
import pytest

from cutroom.engines.errors import EngineError, EngineUnavailableError
from cutroom.engines.synthesis import openai
from cutroom.engines.synthesis.openai import (
    MAX_CHARACTERS,
    OpenAiSynthesizer,
    OpenAiVoiceCloner,
    decode_wav,
    parse_voices,
)
from cutroom.engines.synthesis.port import Gender, SpeechSynthesizer, SynthesizedSpeech
from cutroom.engines.voice_conversion.port import REFERENCE_RATE, VoiceCloner
from tests.engines.synthesis.synthesizer_suite import SynthesizerSuite, kokoro_speech
from tests.engines.voice_conversion.cloner_suite import VoiceClonerSuite, reference
from tests.support.servers.openai_server import KEY, Fault, free_port
from tests.support.servers.voice_server import Fields, VoiceServer, encode_wav

MODEL = "tts-1"
VOICES = parse_voices(["af_heart:en-US:female", "am_michael:en-US:male"])
AUDIO = SynthesizedSpeech((0.5 * np.sin(np.arange(12_000) / 20)).astype(np.float32), 24_000)


class TestRemoteSynthesizer(SynthesizerSuite):
    """The conformance suite, with a real voice behind the server."""

    @pytest.fixture(scope="class")
    @classmethod
    def synthesizer(cls) -> Iterator[SpeechSynthesizer]:
        def synthesize(fields: Fields) -> bytes:
            return encode_wav(
                kokoro_speech(str(fields["input"]), str(fields["voice"]), speed=float(str(fields["speed"])))
            )

        with VoiceServer(synthesize) as server:
            client = OpenAiSynthesizer(server.base_url, api_key=KEY, model=MODEL, voices=VOICES, timeout_seconds=100)
            yield client
            client.close()

    @pytest.mark.parametrize("text", ["", "  \n"])
    def test_text_without_words_is_rejected(self, synthesizer: SpeechSynthesizer, text: str) -> None:
        super().test_text_without_words_is_rejected(synthesizer, text)


class TestRemoteVoiceCloner(VoiceClonerSuite):
    """The conformance suite; the server ignores the reference, so only the protocol is tested."""

    @pytest.fixture(scope="class")
    @classmethod
    def cloner(cls) -> Iterator[VoiceCloner]:
        with VoiceServer(lambda fields: encode_wav(kokoro_speech(str(fields["input"])), streamed=True)) as server:
            client = OpenAiVoiceCloner(server.base_url, api_key=KEY, model=MODEL, timeout_seconds=100)
            yield client
            client.close()


@pytest.fixture
def server() -> Iterator[VoiceServer]:
    with VoiceServer(lambda _: encode_wav(AUDIO)) as server:
        yield server


@pytest.fixture
def client(server: VoiceServer) -> Iterator[OpenAiSynthesizer]:
    client = OpenAiSynthesizer(server.base_url, api_key=KEY, model=MODEL, voices=VOICES, timeout_seconds=2)
    yield client
    client.close()


def synthesize(client: OpenAiSynthesizer) -> SynthesizedSpeech:
    return client.synthesize("Hello.", voice="af_heart", language="en", speed=1.25)


def test_request_has_the_api_fields(server: VoiceServer, client: OpenAiSynthesizer) -> None:
    speech = synthesize(client)
    expected = {"model": MODEL, "input": "Hello.", "voice": "af_heart", "response_format": "wav", "speed": 1.25}
    assert server.received == [("/v1/audio/speech", expected)]
    assert speech.sample_rate == 24_000
    assert np.abs(speech.samples - AUDIO.samples).max() < 0.001


def test_reference_is_uploaded_with_the_text(server: VoiceServer) -> None:
    client = OpenAiVoiceCloner(server.base_url, api_key=KEY, model=MODEL)
    client.synthesize("Olá.", reference=reference(seconds=4), language="pt-BR")
    client.close()
    ((path, fields),) = server.received
    assert path == "/v1/audio/speech/upload"
    assert (fields["input"], fields["language"], fields["response_format"]) == ("Olá.", "pt", "wav")
    sent = decode_wav(fields["voice_file"])
    assert sent.sample_rate == REFERENCE_RATE
    assert np.abs(sent.samples - reference(seconds=4).samples).max() < 0.001


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(Fault(status=429), id="busy"),
        pytest.param(Fault(status=500), id="broken"),
        pytest.param(Fault(status=302), id="redirect"),
        pytest.param(Fault(keep=0.5), id="connection closed early"),
        pytest.param(Fault(body=b""), id="empty body"),
        pytest.param(Fault(body=b"<html>welcome</html>"), id="not audio"),
        pytest.param(Fault(body=encode_wav(AUDIO)[:44]), id="no samples"),
        pytest.param(Fault(body=b"RIFF\x00\x00\x00\x00WAVEfmt \x04\x00\x00\x00abcd"), id="truncated header"),
        pytest.param(Fault(delay_seconds=10), id="slow"),
        pytest.param(Fault(drip_seconds=0.3), id="trickling"),
    ],
)
def test_server_failure_is_transient_and_not_retried(
    server: VoiceServer, client: OpenAiSynthesizer, fault: Fault
) -> None:
    server.faults.extend([fault] * 3)
    started = time.monotonic()
    with pytest.raises(EngineError) as caught:
        synthesize(client)
    assert isinstance(caught.value, EngineUnavailableError) or fault.status == 302
    assert time.monotonic() - started < 8
    assert server.calls == 1


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
def test_rejected_request_is_permanent(server: VoiceServer, client: OpenAiSynthesizer, status: int) -> None:
    server.faults.append(Fault(status=status))
    with pytest.raises(EngineError, match=str(status)) as caught:
        synthesize(client)
    assert not isinstance(caught.value, EngineUnavailableError)


def test_unreachable_server_is_unavailable() -> None:
    client = OpenAiSynthesizer(f"http://127.0.0.1:{free_port()}/v1", api_key="", model=MODEL, voices=VOICES)
    with pytest.raises(EngineUnavailableError):
        synthesize(client)
    client.close()


def test_response_size_and_duration_are_bounded(
    server: VoiceServer, client: OpenAiSynthesizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openai, "MAX_RESPONSE_BYTES", 10_000)
    with pytest.raises(EngineUnavailableError, match="exceeds the size or time limit"):
        synthesize(client)
    monkeypatch.undo()
    monkeypatch.setattr(openai, "MAX_SPEECH_SECONDS", 0.1)
    with pytest.raises(EngineUnavailableError, match="too long"):
        synthesize(client)
    assert server.calls == 2


def test_too_long_text_is_not_sent(server: VoiceServer, client: OpenAiSynthesizer) -> None:
    with pytest.raises(EngineError, match="longer"):
        client.synthesize("a" * (MAX_CHARACTERS + 1), voice="af_heart", language="en")
    assert server.calls == 0


def test_voices_are_parsed_from_the_setting() -> None:
    first, second = parse_voices(["alloy", "onyx:pt-BR:male"])
    assert (first.name, first.title, first.language, first.gender) == ("alloy", "Alloy", "en", Gender.NEUTRAL)
    assert (second.name, second.language, second.gender) == ("onyx", "pt-BR", Gender.MALE)
    with pytest.raises(EngineUnavailableError, match="gender"):
        parse_voices(["alloy:en:robot"])
    with pytest.raises(EngineUnavailableError, match="No remote voices"):
        OpenAiSynthesizer("http://127.0.0.1:1/v1", api_key="", model=MODEL, voices=parse_voices([]))


def test_wav_formats_are_decoded() -> None:
    floats = struct.pack("<4f", 0.5, 0.25, -0.5, -0.25)
    head = b"fmt " + struct.pack("<IHHIIHH", 16, 3, 2, 44_100, 352_800, 8, 32)
    data = b"LIST" + struct.pack("<I", 3) + b"abc\x00" + head + b"data" + struct.pack("<I", 16) + floats
    speech = decode_wav(b"RIFF" + struct.pack("<I", len(data)) + b"WAVE" + data)
    assert speech.sample_rate == 44_100
    assert speech.samples.tolist() == [0.375, -0.375]
