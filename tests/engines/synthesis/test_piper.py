"""Piper voices: a tiny model of our own, and a real voice if it is installed."""

# ruff: noqa: RUF001 (phonemes look like letters)

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from cutroom.engines.errors import EngineError, EngineUnavailableError
from cutroom.engines.models.manifest import ModelVoice
from cutroom.engines.synthesis.piper import PiperModel, PiperSynthesizer, encode_phonemes, read_config
from cutroom.engines.synthesis.port import Gender, SpeechSynthesizer
from dev.environment import PROJECT
from tests.engines.synthesis.synthesizer_suite import SynthesizerSuite

SYMBOLS = ["_", "^", "$", " ", ".", ",", "!", "?", *"abdefhijklmnoprstuvwzŋɐɑɔəɛɡɪɹʃʊʌˈˌːɜθðæʒᵻ", "\u0303"]
RATE = 16_000
SAMPLES_PER_TOKEN = 400

INSTALLED = PROJECT / ".data" / "models" / "piper-en-us-joe-medium"


def tiny_graph(*, speakers: int) -> onnx.ModelProto:
    """A tone whose length depends on the tokens and the length scale, and whose pitch on the speaker."""
    inputs = [
        helper.make_tensor_value_info("input", TensorProto.INT64, ["batch", "tokens"]),
        helper.make_tensor_value_info("input_lengths", TensorProto.INT64, ["batch"]),
        helper.make_tensor_value_info("scales", TensorProto.FLOAT, [3]),
    ]
    constants = {"zero": 0.0, "one": 1.0, "size": float(SAMPLES_PER_TOKEN), "step": 0.05, "level": 0.5}
    initializers = [helper.make_tensor(name, TensorProto.FLOAT, [], [value]) for name, value in constants.items()]
    initializers += [
        helper.make_tensor("second", TensorProto.INT64, [], [1]),
        helper.make_tensor("axes", TensorProto.INT64, [3], [0, 1, 2]),
    ]
    nodes = [
        helper.make_node("Cast", ["input_lengths"], ["lengths"], to=TensorProto.FLOAT),
        helper.make_node("ReduceMax", ["lengths"], ["length"], keepdims=0),
        helper.make_node("Gather", ["scales", "second"], ["scale"]),
        helper.make_node("Mul", ["length", "size"], ["unscaled"]),
        helper.make_node("Mul", ["unscaled", "scale"], ["count"]),
        helper.make_node("Range", ["zero", "count", "one"], ["times"]),
        helper.make_node("Mul", ["times", "step"], ["slow"]),
    ]
    phase = "slow"
    if speakers > 1:
        inputs.append(helper.make_tensor_value_info("sid", TensorProto.INT64, ["batch"]))
        nodes += [
            helper.make_node("Cast", ["sid"], ["speaker"], to=TensorProto.FLOAT),
            helper.make_node("ReduceMax", ["speaker"], ["number"], keepdims=0),
            helper.make_node("Add", ["number", "one"], ["factor"]),
            helper.make_node("Mul", ["slow", "factor"], ["phase"]),
        ]
        phase = "phase"
    nodes += [
        helper.make_node("Sin", [phase], ["wave"]),
        helper.make_node("Mul", ["wave", "level"], ["quiet"]),
        helper.make_node("Unsqueeze", ["quiet", "axes"], ["output"]),
    ]
    output = helper.make_tensor_value_info("output", TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, "tiny", inputs, [output], initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def config(*, speakers: int = 1, **changes: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    return {
        "audio": {"sample_rate": RATE, "quality": "low"},
        "espeak": {"voice": "de"},
        "inference": {"noise_scale": 0.0, "length_scale": 1.0, "noise_w": 0.0},
        "phoneme_type": "espeak",
        "phoneme_id_map": {symbol: [number] for number, symbol in enumerate(SYMBOLS)},
        "num_speakers": speakers,
        "speaker_id_map": {f"s{number}": number for number in range(speakers)} if speakers > 1 else {},
        "language": {"code": "de_DE"},
    } | changes


def tiny_model(
    folder: Path,
    *,
    name: str = "piper-tiny",
    speakers: int = 1,
    voices: tuple[ModelVoice, ...] = (),
    **changes: Any,  # noqa: ANN401 - JSON
) -> PiperModel:
    folder.mkdir(exist_ok=True)
    onnx.save(tiny_graph(speakers=speakers), folder / "tiny.onnx")
    (folder / "tiny.onnx.json").write_text(json.dumps(config(speakers=speakers, **changes)))
    return PiperModel(name, folder, "tiny.onnx", "tiny.onnx.json", voices)


def synthesizer_of(*models: PiperModel) -> PiperSynthesizer:
    return PiperSynthesizer(models, cpu_threads=1)


@pytest.mark.skipif(not INSTALLED.is_dir(), reason="`cutroom-server models pull piper-en-us-joe-medium` installs it")
class TestRealVoice(SynthesizerSuite):
    """The conformance suite."""

    is_deterministic = False

    @pytest.fixture(scope="class")
    @classmethod
    def synthesizer(cls) -> SpeechSynthesizer:
        name = "en_US-joe-medium.onnx"
        return PiperSynthesizer([PiperModel("piper-joe", INSTALLED, name, f"{name}.json")], cpu_threads=2)


def test_tokens_are_padded_and_framed() -> None:
    token_ids = {"_": (0,), "^": (1,), "$": (2,), "a": (3,), "o": (4, 5), "\u0303": (6,), ".": (7,)}
    assert encode_phonemes("aõ…x^", token_ids) == [1, 0, 3, 0, 4, 5, 0, 6, 0, 7, 0, 2]


def test_length_follows_text_and_speed(tmp_path: Path) -> None:
    synthesizer = synthesizer_of(tiny_model(tmp_path))
    speak = synthesizer.synthesize
    short = speak("Guten Tag", voice="piper-tiny", language="de")
    long = speak("Guten Tag, wie geht es Ihnen heute", voice="piper-tiny", language="de-AT")
    fast = speak("Guten Tag", voice="piper-tiny", language="de", speed=2.0)
    assert short.sample_rate == RATE
    assert len(long.samples) > 2 * len(short.samples)
    assert len(fast.samples) == pytest.approx(len(short.samples) / 2, rel=0.05)
    assert np.array_equal(speak("Guten Tag", voice="piper-tiny", language="de").samples, short.samples)


def test_numbers_are_spelled_in_the_language_of_the_voice(tmp_path: Path) -> None:
    synthesizer = synthesizer_of(tiny_model(tmp_path))
    digits = synthesizer.synthesize("149 €", voice="piper-tiny", language="de")
    words = synthesizer.synthesize("einhundertneunundvierzig Euro", voice="piper-tiny", language="de")
    assert len(digits.samples) == len(words.samples)


def test_sentences_are_joined_with_pauses(tmp_path: Path) -> None:
    speech = synthesizer_of(tiny_model(tmp_path)).synthesize("Ja. Nein.", voice="piper-tiny", language="de")
    silent = np.flatnonzero(np.abs(speech.samples) < 1e-6)
    assert len(silent) > 0.2 * RATE


def test_every_speaker_is_a_voice(tmp_path: Path) -> None:
    synthesizer = synthesizer_of(tiny_model(tmp_path, speakers=3))
    assert [voice.name for voice in synthesizer.voices()] == ["piper-tiny/s0", "piper-tiny/s1", "piper-tiny/s2"]
    first, second = (synthesizer.synthesize("Hallo", voice=f"piper-tiny/s{at}", language="de").samples for at in (0, 1))
    crossings = [int(np.sum(np.diff(np.signbit(each)))) for each in (first, second)]
    assert crossings[1] == pytest.approx(2 * crossings[0], rel=0.1)


def test_manifest_describes_voices(tmp_path: Path) -> None:
    described = (ModelVoice("s1", "Anna", "female", "young", 210.0), ModelVoice("unknown"))
    (voice,) = synthesizer_of(tiny_model(tmp_path, speakers=3, voices=described)).voices()
    assert (voice.name, voice.title, voice.language) == ("piper-tiny/s1", "Anna", "de-DE")
    assert (voice.gender, voice.age, voice.pitch_hz) == (Gender.FEMALE, "young", 210.0)
    (plain,) = synthesizer_of(tiny_model(tmp_path)).voices()
    assert (plain.gender, plain.title, plain.pitch_hz > 0) == (Gender.NEUTRAL, "piper-tiny", True)


def test_models_are_verified_at_first_use(tmp_path: Path) -> None:
    verified: list[str] = []

    def verify(model: PiperModel) -> None:
        verified.append(model.name)

    models = [tiny_model(tmp_path / name, name=name) for name in ("piper-a", "piper-b")]
    synthesizer = PiperSynthesizer(models, cpu_threads=1, verify=verify)
    assert verified == []
    for _ in range(2):
        synthesizer.synthesize("Hallo", voice="piper-b", language="de")
    assert verified == ["piper-b"]


@pytest.mark.parametrize(
    ("text", "voice", "language", "speed", "message"),
    [
        ("Hallo", "nobody", "de", 1.0, "nobody"),
        ("Hallo", "piper-tiny", "en-US", 1.0, "does not speak the language en-US"),
        ("Hallo", "piper-tiny", "de", 3.0, "speed"),
        ("… —", "piper-tiny", "de", 1.0, "nothing to speak"),
    ],
)
def test_invalid_requests_are_rejected(
    tmp_path: Path, text: str, voice: str, language: str, speed: float, message: str
) -> None:
    with pytest.raises(EngineError, match=message):
        synthesizer_of(tiny_model(tmp_path)).synthesize(text, voice=voice, language=language, speed=speed)


@pytest.mark.parametrize(
    "changes",
    [
        {"espeak": {"voice": "--path=/etc"}},
        {"espeak": {}},
        {"phoneme_type": "pinyin"},
        {"audio": {"sample_rate": 0}},
        {"phoneme_id_map": {"a": [1]}},
        {"phoneme_id_map": []},
        {"inference": {"noise_scale": "loud"}},
    ],
)
def test_invalid_configuration_is_unavailable(tmp_path: Path, changes: dict[str, Any]) -> None:
    with pytest.raises(EngineUnavailableError, match="configuration of the voice piper-tiny"):
        synthesizer_of(tiny_model(tmp_path, **changes))


def test_missing_or_damaged_files_are_unavailable(tmp_path: Path) -> None:
    with pytest.raises(EngineUnavailableError, match="No Piper voices"):
        synthesizer_of()
    model = tiny_model(tmp_path)
    (tmp_path / "tiny.onnx").write_bytes(b"damaged")
    with pytest.raises(EngineUnavailableError, match="cannot be loaded"):
        synthesizer_of(model).synthesize("Hallo", voice="piper-tiny", language="de")
    (tmp_path / "tiny.onnx.json").unlink()
    with pytest.raises(EngineUnavailableError, match="configuration"):
        read_config(model)


def test_character_models_need_no_phonemes(tmp_path: Path) -> None:
    model = tiny_model(tmp_path, phoneme_type="text")
    program = tmp_path / "missing"
    speech = PiperSynthesizer([model], cpu_threads=1, program=program).synthesize(
        "hallo", voice="piper-tiny", language="de"
    )
    assert len(speech.samples) > 0
