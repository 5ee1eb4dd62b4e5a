"""A server's voices are as good as our own, and its failures are told apart."""

import struct
import time
from collections.abc import Iterator

import numpy as np
import pytest

from cutroom.engines.errors import EngineError, EngineUnavailableError
from cutroom.engines.synthesis import openai
from cutroom.engines.synthesis.openai import MAX_CHARACTERS, OpenAiCloner, OpenAiSynthesizer, parse_voices, read_wav
from cutroom.engines.synthesis.port import Gender, SpeechSynthesizer, SynthesizedSpeech
from cutroom.engines.voice_conversion.port import REFERENCE_RATE, VoiceCloner
from tests.engines.synthesis.synthesizer_suite import SpeakerSuite, said
from tests.engines.voice_conversion.cloner_suite import ClonerSuite, reference
from tests.support.openai_server import KEY, Fault, free_port
from tests.support.voice_server import Fields, VoiceServer, as_wav

MODEL = "tts-1"
VOICES = parse_voices("af_heart:en-US:female, am_michael:en-US:male")
SOUND = SynthesizedSpeech((0.5 * np.sin(np.arange(12_000) / 20)).astype(np.float32), 24_000)


class TestRemoteSpeaker(SpeakerSuite):
    """The conformance suite, with a real voice behind the server."""

    @pytest.fixture(scope="class")
    @classmethod
    def speaker(cls) -> Iterator[SpeechSynthesizer]:
        def speak(fields: Fields) -> bytes:
            return as_wav(said(str(fields["input"]), str(fields["voice"]), speed=float(str(fields["speed"]))))

        with VoiceServer(speak) as server:
            client = OpenAiSynthesizer(server.base_url, api_key=KEY, model=MODEL, voices=VOICES, timeout_seconds=100)
            yield client
            client.close()

    @pytest.mark.parametrize("text", ["", "  \n"])
    def test_nothing_to_say_is_refused(self, speaker: SpeechSynthesizer, text: str) -> None:
        super().test_nothing_to_say_is_refused(speaker, text)


class TestRemoteCloner(ClonerSuite):
    """The conformance suite, with a voice behind the server that is not the sample's: only the protocol is tried."""

    @pytest.fixture(scope="class")
    @classmethod
    def cloner(cls) -> Iterator[VoiceCloner]:
        with VoiceServer(lambda fields: as_wav(said(str(fields["input"])), streamed=True)) as server:
            client = OpenAiCloner(server.base_url, api_key=KEY, model=MODEL, timeout_seconds=100)
            yield client
            client.close()


@pytest.fixture
def server() -> Iterator[VoiceServer]:
    with VoiceServer(lambda _: as_wav(SOUND)) as server:
        yield server


@pytest.fixture
def client(server: VoiceServer) -> Iterator[OpenAiSynthesizer]:
    client = OpenAiSynthesizer(server.base_url, api_key=KEY, model=MODEL, voices=VOICES, timeout_seconds=2)
    yield client
    client.close()


def speak(client: OpenAiSynthesizer) -> SynthesizedSpeech:
    return client.speak("Hello.", voice="af_heart", language="en", speed=1.25)


def test_the_server_gets_the_protocol_s_fields(server: VoiceServer, client: OpenAiSynthesizer) -> None:
    heard = speak(client)
    expected = {"model": MODEL, "input": "Hello.", "voice": "af_heart", "response_format": "wav", "speed": 1.25}
    assert server.asked == [("/v1/audio/speech", expected)]
    assert heard.sample_rate == 24_000
    assert np.abs(heard.samples - SOUND.samples).max() < 0.001


def test_the_sample_goes_with_the_text(server: VoiceServer) -> None:
    client = OpenAiCloner(server.base_url, api_key=KEY, model=MODEL)
    client.speak("Olá.", reference=reference(seconds=4), language="pt-BR")
    client.close()
    ((path, fields),) = server.asked
    assert path == "/v1/audio/speech/upload"
    assert (fields["input"], fields["language"], fields["response_format"]) == ("Olá.", "pt", "wav")
    sent = read_wav(fields["voice_file"])
    assert sent.sample_rate == REFERENCE_RATE
    assert np.abs(sent.samples - reference(seconds=4).samples).max() < 0.001


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(Fault(status=429), id="busy"),
        pytest.param(Fault(status=500), id="broken"),
        pytest.param(Fault(status=302), id="elsewhere"),
        pytest.param(Fault(keep=0.5), id="ends in the middle"),
        pytest.param(Fault(body=b""), id="nothing"),
        pytest.param(Fault(body=b"<html>welcome</html>"), id="no sound"),
        pytest.param(Fault(body=as_wav(SOUND)[:44]), id="no samples"),
        pytest.param(Fault(body=b"RIFF\x00\x00\x00\x00WAVEfmt \x04\x00\x00\x00abcd"), id="half a head"),
        pytest.param(Fault(delay_seconds=10), id="slow"),
        pytest.param(Fault(drip_seconds=0.3), id="slow to the end"),
    ],
)
def test_a_server_that_fails_may_be_asked_later_and_is_asked_once(
    server: VoiceServer, client: OpenAiSynthesizer, fault: Fault
) -> None:
    server.faults.extend([fault] * 3)
    started = time.monotonic()
    with pytest.raises(EngineError) as caught:
        speak(client)
    assert isinstance(caught.value, EngineUnavailableError) or fault.status == 302
    assert time.monotonic() - started < 8
    assert server.calls == 1


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
def test_what_a_server_refuses_is_not_asked_again(server: VoiceServer, client: OpenAiSynthesizer, status: int) -> None:
    server.faults.append(Fault(status=status))
    with pytest.raises(EngineError, match=str(status)) as caught:
        speak(client)
    assert not isinstance(caught.value, EngineUnavailableError)


def test_a_server_that_is_not_there_is_unavailable() -> None:
    client = OpenAiSynthesizer(f"http://127.0.0.1:{free_port()}/v1", api_key="", model=MODEL, voices=VOICES)
    with pytest.raises(EngineUnavailableError):
        speak(client)
    client.close()


def test_answers_are_bounded(server: VoiceServer, client: OpenAiSynthesizer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai, "MAX_ANSWER_BYTES", 10_000)
    with pytest.raises(EngineUnavailableError, match="does not end"):
        speak(client)
    monkeypatch.undo()
    monkeypatch.setattr(openai, "MAX_SPEECH_SECONDS", 0.1)
    with pytest.raises(EngineUnavailableError, match="too long"):
        speak(client)
    assert server.calls == 2


def test_a_text_that_is_too_long_is_not_sent(server: VoiceServer, client: OpenAiSynthesizer) -> None:
    with pytest.raises(EngineError, match="longer"):
        client.speak("a" * (MAX_CHARACTERS + 1), voice="af_heart", language="en")
    assert server.calls == 0


def test_voices_are_read_from_the_setting() -> None:
    first, second = parse_voices("alloy, onyx:pt-BR:male,")
    assert (first.name, first.title, first.language, first.gender) == ("alloy", "Alloy", "en", Gender.NEUTRAL)
    assert (second.name, second.language, second.gender) == ("onyx", "pt-BR", Gender.MALE)
    with pytest.raises(EngineUnavailableError, match="gender"):
        parse_voices("alloy:en:robot")
    with pytest.raises(EngineUnavailableError, match="No voices"):
        OpenAiSynthesizer("http://127.0.0.1:1/v1", api_key="", model=MODEL, voices=parse_voices(""))


def test_wav_files_of_several_kinds_are_read() -> None:
    floats = struct.pack("<4f", 0.5, 0.25, -0.5, -0.25)
    head = b"fmt " + struct.pack("<IHHIIHH", 16, 3, 2, 44_100, 352_800, 8, 32)
    data = b"LIST" + struct.pack("<I", 3) + b"abc\x00" + head + b"data" + struct.pack("<I", 16) + floats
    heard = read_wav(b"RIFF" + struct.pack("<I", len(data)) + b"WAVE" + data)
    assert heard.sample_rate == 44_100
    assert heard.samples.tolist() == [0.375, -0.375]
