"""The bundled model manifest, and validation of manifests."""

from dataclasses import astuple
from pathlib import Path

import pytest

from cutroom.engines.errors import EngineUnavailableError
from cutroom.engines.models.manifest import ModelPackage, ModelTask, PackageRegistry
from cutroom.engines.models.manifest_reader import BUNDLED_MANIFEST, FIREFOX_CATALOG, load_manifest, read_manifest
from tests.support.tiny_models import manifest_text

# As published by the model authors, to catch typos in the manifest.
PUBLISHED = [
    ("whisper-base", "model.bin", 145217532, "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9"),
    ("whisper-tiny.en", "model.bin", 75537502, "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a"),
    (
        "kokoro-int8",
        "kokoro-v1.0.int8.onnx",
        92361271,
        "6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb",
    ),
    ("kokoro-voices", "af_heart.bin", 522240, "d583ccff3cdca2f7fae535cb998ac07e9fcb90f09737b9a41fa2734ec44a8f0b"),
    (
        "yunet",
        "face_detection_yunet_2023mar.onnx",
        232589,
        "8f2383e4dd3cfbb4553ea8718107fc0423210dc964f9f4280604804ed2552fa4",
    ),
    (
        "mediapipe-face",
        "face_landmark.tflite",
        1242398,
        "1055cb9d4a9ca8b8c688902a3a5194311138ba256bcc94e336d8373a5f30c814",
    ),
    (
        "mediapipe-face",
        "iris_landmark.tflite",
        2640568,
        "d1744d2a09c25f501d39eba4faff47e53ecca8852c5ce19bce8eeac39357521f",
    ),
    ("isnet-medium", "isnet-medium.onnx", 88188479, "b6e8497ba978a6f5fbb647e419d2696cd80df5a23cb6a8ea532021911bd76acb"),
    ("isnet-small", "isnet-small.onnx", 44342436, "7001d60734fdc112dd9c062635fb59cd401fb82a9d4213134bce4dbd655c803a"),
    (
        "firefox-en-pt",
        "model.enpt.intgemm.alphas.bin",
        17140836,
        "d968735704c75e33c2e183b9241f14c0b2a560d01d88a2728e5c0119a4d7fb22",
    ),
    ("firefox-en-pt", "vocab.enpt.spm", 812781, "633a3d782c79f7d5e4b94ab96848f47c2fdf8ba82dd99efd1742b8a696bbd0cc"),
    (
        "firefox-pt-en",
        "model.pten.intgemm.alphas.bin",
        17140836,
        "6c3b7af01772022a19712410c63342ba581468c2f1aac34d7488409c4043e697",
    ),
    ("firefox-pt-en", "vocab.pten.spm", 812889, "8389979e3c965688b07aeb712a7e44406e5dcdb2b84087229d26fcc71448c4ed"),
]

# Torch files in packages, of which only the arrays are kept.
PICKLED = {
    "model.safetensors": (5905440, "da85c29829d4002daedd676e012936488234d9255e65e86dfab9bec6b1729298"),
    "vocals.safetensors": (59050239, "385ea3372c6a3ceee01f6ded5504bb7ee1e9f0101950ae58869dc18382deb75c"),
    "accompaniment.safetensors": (59033471, "3e4d6ede1ecad091468550773e77934aac3f1e039c0697fc9039aba9b935e344"),
}

PIN = f'{{ size_bytes = 1, sha256 = "{"0" * 64}" }}'

# Text and its replacement, by what they make invalid.
INVALID = {
    "not TOML": ("[sets]", "[sets"),
    "file outside its folder": ('name = "weights.bin"', 'name = "../weights.bin"'),
    "absolute file path": ('name = "weights.bin"', 'name = "/weights.bin"'),
    "hidden file": ('name = "weights.bin"', 'name = ".verified.json"'),
    "torch file": ('name = "weights.bin"', 'name = "weights.pt"'),
    "checkpoint": ('name = "weights.bin"', 'name = "weights.CKPT"'),
    "pickle": ('name = "weights.bin"', 'name = "weights.pkl"'),
    "duplicate file name": ('name = "weights.bin"', 'name = "config.json"'),
    "file names differing in case only": ('name = "weights.bin"', 'name = "Config.json"'),
    "model outside the store": ('name = "small"', 'name = "../small"'),
    "hidden model": ('name = "small"', 'name = ".small"'),
    "duplicate model name": ('name = "other"', 'name = "small"'),
    "short sha256": (f'sha256 = "{"0" * 64}"', f'sha256 = "{"0" * 32}"'),
    "invalid sha256": (f'sha256 = "{"0" * 64}"', f'sha256 = "{"g" * 64}"'),
    "missing size": ("size_bytes = 1,", ""),
    "zero size": ("size_bytes = 1,", "size_bytes = 0,"),
    "size as string": ("size_bytes = 1,", 'size_bytes = "1",'),
    "size above the limit": ("size_bytes = 1,", f"size_bytes = {2**60},"),
    "unknown task": ('task = "synthesis"', 'task = "singing"'),
    "empty license": ('license = "MIT"', 'license = ""'),
    "unknown field": ('about = "for tests"', 'about = "for tests"\n        origin = "here"'),
    "missing field": ('about = "for tests"', ""),
    "string instead of list": ('files = [{ name = "other.onnx",', 'files = "other.onnx" #'),
    "no source": ('hub = { repository = "people/other" }', ""),
    "hub by URL": ('repository = "people/other"', 'repository = "https://hub.example/people/other"'),
    "folder outside the repository": ('folder = "onnx"', 'folder = "../onnx"'),
    "unknown registry": ('registry = "npm"', 'registry = "cpan"'),
    "package name is an option": ('name = "made-weights-1"', 'name = "--index-url=x"'),
    "package name is a URL": ('name = "made-weights-1"', 'name = "https://packages.example/x.whl"'),
    "package name is a path": ('name = "@made/config"', 'name = "../config"'),
    "version range": ('version = "2.0.0"', 'version = "^2.0.0"'),
    "latest version": ('version = "2.0.0"', 'version = "latest"'),
    "part of an unknown package": ('"npm:package/config.json"', '"cpan:package/config.json"'),
    "part without a package": ('"npm:package/config.json"', '"package/config.json"'),
    "part without a member": ('"npm:package/config.json"', '"npm:"'),
    "unused package": ('parts = ["npm:package/config.json"]', ""),
    "arrays_of without parts": (f'sha256 = "{"0" * 64}"', f'sha256 = "{"0" * 64}", arrays_of = {PIN}'),
    "arrays_of without safetensors": ('parts = ["npm:', f'arrays_of = {PIN}\nparts = ["npm:'),
    "arrays_of without a size": ('parts = ["npm:', 'arrays_of = { sha256 = "0" }\nparts = ["npm:'),
    "voices of another task": ('about = "for tests"', 'about = "for tests"\n        voices = [{ gender = "male" }]'),
    "unknown gender": (
        'about = "never installed"',
        'about = "never installed"\n        voices = [{ gender = "robot" }]',
    ),
    "pitch as string": (
        'about = "never installed"',
        'about = "never installed"\n        voices = [{ pitch_hz = "high" }]',
    ),
    "duplicate speaker": ('about = "never installed"', 'about = "never installed"\n        voices = [{}, {}]'),
    "set with an unknown model": ('ci = ["small"]', 'ci = ["small", "large"]'),
}


def test_bundled_manifest_pins_published_torch_files() -> None:
    models = [load_manifest().model(name) for name in ("spleeter-2stems", "pyannote-segmentation-3.0")]
    files = [file for model in models for file in model.files]
    assert {file.name: astuple(file.arrays_of) for file in files if file.arrays_of} == PICKLED


@pytest.mark.parametrize(("model", "file", "size_bytes", "sha256"), PUBLISHED)
def test_bundled_manifest_pins_published_files(model: str, file: str, size_bytes: int, sha256: str) -> None:
    found = {each.name: each for each in load_manifest().model(model).files}[file]
    assert (found.size_bytes, found.sha256) == (size_bytes, sha256)


def test_every_bundled_model_is_available_from_registries_or_a_mirror() -> None:
    models = load_manifest().models.values()
    assert [model.name for model in models if not model.in_registries and model.mirror is None] == []


@pytest.mark.parametrize("path", [BUNDLED_MANIFEST, FIREFOX_CATALOG], ids=lambda path: path.stem)
def test_bundled_manifests_contain_no_urls(path: Path) -> None:
    assert "://" not in path.read_text()


def test_catalog_has_every_direction_with_the_files_that_a_translator_needs() -> None:
    models = load_manifest(FIREFOX_CATALOG).models.values()
    directions = {(model.direction.source, model.direction.target) for model in models if model.direction}
    assert len(directions) == len(models) == 93
    assert all("en" in direction for direction in directions)
    for model in models:
        kinds = sorted(file.name.partition(".")[0] for file in model.files)
        assert kinds in (["lex", "model", "vocab"], ["lex", "model", "srcvocab", "trgvocab"])
        assert all(file.served.name.endswith(".gz") for file in model.files)
        assert [file.name.partition(".")[0] for file in model.files if file.gzip is not None] == ["model"]


def test_catalog_pins_published_files() -> None:
    files = {file.name: file for file in load_manifest().model("firefox-en-pt-base-memory").files}
    model = files["model.enpt.intgemm.alphas.bin"]
    assert model.gzip is not None
    assert (model.size_bytes, model.sha256[:12]) == (31561787, "07892fd2544e")
    assert (model.gzip.size_bytes, model.gzip.sha256[:12]) == (23340019, "afb5ae08a2e4")
    vocabulary = files["vocab.enpt.spm.gz"]
    assert (vocabulary.size_bytes, vocabulary.sha256[:12]) == (408686, "c2fbaf26f105")


def test_catalog_sets_divide_all_models() -> None:
    manifest = load_manifest()
    europe, asia, everything = (manifest.sets[f"translate-{name}"] for name in ("europe", "asia", "all"))
    assert len(europe) + len(asia) == len(everything)
    assert set(europe) | set(asia) == set(everything) == set(load_manifest(FIREFOX_CATALOG).models)
    assert "firefox-en-de-base-memory" in europe
    assert "firefox-en-ja-base-memory" in asia


def test_ci_set_covers_all_products() -> None:
    manifest = load_manifest()
    tasks = [manifest.model(name).task for name in manifest.sets["ci"]]
    speech_tasks = [
        ModelTask.RECOGNITION,
        ModelTask.RECOGNITION,
        ModelTask.SPEAKER_EMBEDDING,
        ModelTask.SPEAKER_SEGMENTATION,
        ModelTask.TRANSLATION,
        ModelTask.TRANSLATION,
    ]
    assert tasks == [
        *speech_tasks,
        ModelTask.SYNTHESIS,
        ModelTask.SYNTHESIS,
        ModelTask.SOURCE_SEPARATION,
        ModelTask.FACE_DETECTION,
        ModelTask.FACE_LANDMARKS,
        ModelTask.TEXT_EMBEDDING,
        ModelTask.BACKGROUND_REMOVAL,
        ModelTask.TEXT_GENERATION,
    ]


def test_kokoro_voices_have_one_shape() -> None:
    voices = load_manifest().model("kokoro-voices").files
    assert len(voices) == 54
    assert {voice.size_bytes for voice in voices} == {510 * 1 * 256 * 4}
    assert len({voice.sha256 for voice in voices}) == 54


def test_manifest_is_parsed() -> None:
    model = read_manifest(manifest_text()).model("small")
    one = ModelPackage(PackageRegistry.PYPI, "made-weights-1", version="1.0")
    two = ModelPackage(PackageRegistry.PYPI, "made-weights-2", version="1.0")
    npm = ModelPackage(PackageRegistry.NPM, "@made/config", version="2.0.0")
    assert model.packages == (one, two, npm)
    assert [part.package for part in model.files[0].parts] == [one, two]
    assert model.files[0].parts[0].member == "made_weights_1/part"
    assert model.hub is not None
    assert (model.hub.repository, model.hub.folder) == ("people/small", "onnx")
    assert model.size_bytes == sum(file.size_bytes for file in model.files)


@pytest.mark.parametrize(("old", "new"), INVALID.values(), ids=INVALID)
def test_invalid_manifest_is_rejected(old: str, new: str) -> None:
    text = manifest_text()
    assert old in text
    with pytest.raises(ValueError, match=r"\S"):
        read_manifest(text.replace(old, new, 1))


MIRRORED = f"""
    [sets]
    translate-all = ["mirrored"]
    [[models]]
    name = "mirrored"
    task = "translation"
    license = "MPL-2.0"
    about = "for tests"
    mirror = "models/tiny/enpt"
    direction = {{ source = "en", target = "pt", flores_comet = 0.9 }}
    files = [{{ name = "model.bin", size_bytes = 2, sha256 = "{"0" * 64}", gzip = {PIN} }}]
"""

# Text and its replacement, by what they make invalid.
INVALID_MIRRORED = {
    "mirror by URL": ("models/tiny/enpt", "https://mirror.example/enpt"),
    "mirror outside its root": ("models/tiny/enpt", "../enpt"),
    "mirror and hub": ('mirror = "', 'hub = { repository = "people/small" }\n    mirror = "'),
    "gzip file without a mirror": ('mirror = "models/tiny/enpt"', 'hub = { repository = "people/small" }'),
    "gzip file without a size": (PIN, '{ sha256 = "0" }'),
    "direction of another task": ('task = "translation"', 'task = "synthesis"'),
    "direction without a target": (', target = "pt"', ""),
    "direction to its own language": ('target = "pt"', 'target = "en"'),
    "direction with a name": ('source = "en"', 'source = "English"'),
    "score above 1": ("0.9", "90.0"),
    "score as string": ("0.9", '"0.9"'),
    "set named like a model": ('translate-all = ["', 'mirrored = ["'),
}


def test_mirrored_model_is_parsed() -> None:
    model = read_manifest(MIRRORED).model("mirrored")
    (file,) = model.files
    assert (model.mirror, file.served.name) == ("models/tiny/enpt", "model.bin.gz")
    assert file.gzip is not None
    assert file.pull_bytes == file.size_bytes + file.gzip.size_bytes
    assert model.direction is not None
    assert (model.direction.source, model.direction.target) == ("en", "pt")


@pytest.mark.parametrize(("old", "new"), INVALID_MIRRORED.values(), ids=INVALID_MIRRORED)
def test_invalid_mirrored_model_is_rejected(old: str, new: str) -> None:
    assert old in MIRRORED
    with pytest.raises(ValueError, match=r"\S"):
        read_manifest(MIRRORED.replace(old, new, 1))


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (MIRRORED.replace('"mirrored"', '"second"'), "unique set names"),
        (MIRRORED.replace("translate-all", "rest"), "unique names"),
    ],
)
def test_names_are_unique_across_manifests(second: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_manifest(MIRRORED, second)


def test_unknown_model_is_unavailable() -> None:
    with pytest.raises(EngineUnavailableError, match="Unknown model: nothing"):
        load_manifest().model("nothing")
