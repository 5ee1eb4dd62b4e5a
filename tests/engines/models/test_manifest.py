"""The list of models: what the bundled one says, and what is refused in any."""

from dataclasses import astuple

import pytest

from cutroom.engines.errors import EngineUnavailableError
from cutroom.engines.models.manifest import BUNDLED_MANIFEST, ModelTask, Package, Registry, load_manifest, read_manifest
from tests.support.tiny_models import manifest_text

# As the makers of the models publish them: a slip of the pen in the manifest shows here.
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

# Pickles that packages carry, of which only the arrays are kept.
PICKLED = {
    "vocals.safetensors": (59050239, "385ea3372c6a3ceee01f6ded5504bb7ee1e9f0101950ae58869dc18382deb75c"),
    "accompaniment.safetensors": (59033471, "3e4d6ede1ecad091468550773e77934aac3f1e039c0697fc9039aba9b935e344"),
}

PIN = f'{{ size_bytes = 1, sha256 = "{"0" * 64}" }}'

# (what is replaced, by what)
BAD = {
    "not TOML": ("[sets]", "[sets"),
    "a file that leaves its folder": ('name = "weights.bin"', 'name = "../weights.bin"'),
    "an absolute file": ('name = "weights.bin"', 'name = "/weights.bin"'),
    "a hidden file": ('name = "weights.bin"', 'name = ".verified.json"'),
    "a torch file": ('name = "weights.bin"', 'name = "weights.pt"'),
    "a checkpoint": ('name = "weights.bin"', 'name = "weights.CKPT"'),
    "a pickle": ('name = "weights.bin"', 'name = "weights.pkl"'),
    "two files of one name": ('name = "weights.bin"', 'name = "config.json"'),
    "names that differ in case only": ('name = "weights.bin"', 'name = "Config.json"'),
    "a model that leaves the store": ('name = "small"', 'name = "../small"'),
    "a hidden model": ('name = "small"', 'name = ".small"'),
    "two models of one name": ('name = "other"', 'name = "small"'),
    "half a sha256": (f'sha256 = "{"0" * 64}"', f'sha256 = "{"0" * 32}"'),
    "a sha256 that is none": (f'sha256 = "{"0" * 64}"', f'sha256 = "{"g" * 64}"'),
    "no size": ("size_bytes = 1,", ""),
    "a size of nothing": ("size_bytes = 1,", "size_bytes = 0,"),
    "a size in words": ("size_bytes = 1,", 'size_bytes = "1",'),
    "a size beyond the bound": ("size_bytes = 1,", f"size_bytes = {2**60},"),
    "a job that is none": ('job = "speak"', 'job = "sing"'),
    "no licence": ('licence = "MIT"', 'licence = ""'),
    "a field too many": ('about = "for tests"', 'about = "for tests"\n        origin = "here"'),
    "a field too few": ('about = "for tests"', ""),
    "a text instead of a list": ('files = [{ name = "other.onnx",', 'files = "other.onnx" #'),
    "no source at all": ('hub = { repository = "people/other" }', ""),
    "a hub by its URL": ('repository = "people/other"', 'repository = "https://hub.example/people/other"'),
    "a folder that leaves the repository": ('folder = "onnx"', 'folder = "../onnx"'),
    "a registry that is none": ('registry = "npm"', 'registry = "cpan"'),
    "a package that is an option": ('name = "made-weights-1"', 'name = "--index-url=x"'),
    "a package that is a URL": ('name = "made-weights-1"', 'name = "https://packages.example/x.whl"'),
    "a package that is a path": ('name = "@made/config"', 'name = "../config"'),
    "a range of versions": ('version = "2.0.0"', 'version = "^2.0.0"'),
    "the newest version": ('version = "2.0.0"', 'version = "latest"'),
    "a part of an unknown package": ('"npm:package/config.json"', '"cpan:package/config.json"'),
    "a part without a package": ('"npm:package/config.json"', '"package/config.json"'),
    "a part without a member": ('"npm:package/config.json"', '"npm:"'),
    "a package that nothing needs": ('parts = ["npm:package/config.json"]', ""),
    "arrays of nothing": (f'sha256 = "{"0" * 64}"', f'sha256 = "{"0" * 64}", arrays_of = {PIN}'),
    "arrays that are no safetensors": ('parts = ["npm:', f'arrays_of = {PIN}\nparts = ["npm:'),
    "arrays without a size": ('parts = ["npm:', 'arrays_of = { sha256 = "0" }\nparts = ["npm:'),
    "a set of an unknown model": ('ci = ["small"]', 'ci = ["small", "large"]'),
}


def test_the_bundled_manifest_pins_the_pickles_that_were_published() -> None:
    files = load_manifest().model("spleeter-2stems").files
    assert {file.name: astuple(file.arrays_of) for file in files if file.arrays_of} == PICKLED


@pytest.mark.parametrize(("model", "file", "size_bytes", "sha256"), PUBLISHED)
def test_the_bundled_manifest_pins_the_files_that_were_published(
    model: str, file: str, size_bytes: int, sha256: str
) -> None:
    found = {each.name: each for each in load_manifest().model(model).files}[file]
    assert (found.size_bytes, found.sha256) == (size_bytes, sha256)


def test_every_bundled_model_can_be_had_from_registries_alone() -> None:
    assert [model.name for model in load_manifest().models.values() if not model.in_registries] == []


def test_the_bundled_manifest_names_no_host() -> None:
    assert "://" not in BUNDLED_MANIFEST.read_text()


def test_the_ci_set_has_all_that_transcripts_captions_speech_dubs_shorts_and_thumbnails_need() -> None:
    manifest = load_manifest()
    jobs = [manifest.model(name).job for name in manifest.sets["ci"]]
    heard = [
        ModelTask.RECOGNISE,
        ModelTask.RECOGNISE,
        ModelTask.PROFILE_VOICES,
        ModelTask.TRANSLATE,
        ModelTask.TRANSLATE,
    ]
    assert jobs == [
        *heard,
        ModelTask.SPEAK,
        ModelTask.SPEAK,
        ModelTask.SEPARATE,
        ModelTask.FIND_FACES,
        ModelTask.EMBED,
        ModelTask.CUT_OUT,
    ]


def test_there_are_54_kokoro_voices_of_one_shape() -> None:
    voices = load_manifest().model("kokoro-voices").files
    assert len(voices) == 54
    assert {voice.size_bytes for voice in voices} == {510 * 1 * 256 * 4}
    assert len({voice.sha256 for voice in voices}) == 54


def test_a_manifest_is_read_as_it_is_written() -> None:
    model = read_manifest(manifest_text()).model("small")
    one = Package(Registry.PYPI, "made-weights-1", version="1.0")
    two = Package(Registry.PYPI, "made-weights-2", version="1.0")
    npm = Package(Registry.NPM, "@made/config", version="2.0.0")
    assert model.packages == (one, two, npm)
    assert [part.package for part in model.files[0].parts] == [one, two]
    assert model.files[0].parts[0].member == "made_weights_1/part"
    assert model.hub is not None
    assert (model.hub.repository, model.hub.folder) == ("people/small", "onnx")
    assert model.size_bytes == sum(file.size_bytes for file in model.files)


@pytest.mark.parametrize(("old", "new"), BAD.values(), ids=BAD)
def test_a_manifest_with_an_error_anywhere_is_refused(old: str, new: str) -> None:
    text = manifest_text()
    assert old in text
    with pytest.raises(ValueError, match=r"\S"):
        read_manifest(text.replace(old, new, 1))


def test_an_unknown_model_is_unavailable() -> None:
    with pytest.raises(EngineUnavailableError, match="no model nothing"):
        load_manifest().model("nothing")
