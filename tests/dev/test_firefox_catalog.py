"""The catalog generator picks one model per direction and keeps every pin."""

import json
import sys
from pathlib import Path

import pytest

from cutroom.engines.models.manifest_reader import load_manifest, read_manifest
from dev import firefox_catalog
from tests.support.translation_mirror import MirrorContent, sha256


def files(pair: str, *extra: str) -> dict[str, bytes]:
    names = (f"model.{pair}.bin", f"vocab.{pair}.spm", f"lex.50.50.{pair}.s2t.bin", *extra)
    return {name: name.encode() for name in names}


def test_model_with_the_highest_score_of_each_pair_is_taken() -> None:
    content = MirrorContent()
    content.add("en", "de", files("ende"), architecture="tiny", comet=0.85)
    content.add("en", "de", files("ende"), architecture="base", comet=0.87)
    content.add("en", "de", files("ende"), architecture="base-memory", comet=None)
    content.add("ja", "en", files("jaen"), comet=None)
    manifest = read_manifest(content.manifest_text())
    assert list(manifest.models) == ["firefox-en-de-base", "firefox-ja-en-tiny"]
    assert manifest.sets == {
        "translate-europe": ("firefox-en-de-base",),
        "translate-asia": ("firefox-ja-en-tiny",),
        "translate-all": ("firefox-en-de-base", "firefox-ja-en-tiny"),
    }


def test_script_of_a_language_is_dropped_and_unused_files_are_left_out() -> None:
    content = MirrorContent()
    content.add("en", "zh-Hans", files("enzh", "qualityModel.enzh.bin", "trgvocab.enzh.spm"))
    (model,) = read_manifest(content.manifest_text()).models.values()
    assert model.direction is not None
    assert (model.direction.source, model.direction.target) == ("en", "zh")
    assert [file.name.partition(".")[0] for file in model.files] == ["model", "vocab", "lex", "trgvocab"]


def test_packed_and_unpacked_pins_are_kept() -> None:
    content = MirrorContent()
    content.add("en", "de", files("ende"), pins_unpacked=False)
    (model,) = read_manifest(content.manifest_text()).models.values()
    weights, vocabulary, _ = model.files
    packed = content.files["/models/tiny/ende/model.ende.bin.gz"]
    assert (weights.name, weights.sha256) == ("model.ende.bin", sha256(b"model.ende.bin"))
    assert weights.gzip is not None
    assert (weights.gzip.sha256, weights.gzip.size_bytes) == (sha256(packed), len(packed))
    assert vocabulary.name == "vocab.ende.spm.gz"
    assert vocabulary.sha256 == sha256(content.files["/models/tiny/ende/vocab.ende.spm.gz"])


def test_language_of_no_set_is_rejected() -> None:
    content = MirrorContent()
    content.add("en", "tlh", files("entlh"))
    with pytest.raises(ValueError, match="languages of no set: tlh"):
        content.manifest_text()


def test_command_writes_a_manifest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = MirrorContent()
    content.add("en", "de", files("ende"))
    (tmp_path / "catalog.json").write_text(json.dumps(content.catalog()))
    output = tmp_path / "catalog.toml"
    monkeypatch.setattr(sys, "argv", ["catalog", str(tmp_path / "catalog.json"), "--output", str(output)])
    assert firefox_catalog.main() == 0
    assert list(load_manifest(output).models) == ["firefox-en-de-tiny"]
