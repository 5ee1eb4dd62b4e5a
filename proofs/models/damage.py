"""A mirror whose files are all wrong, each in its own way."""

import gzip
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from dev.firefox_catalog import SETS
from tests.support.translation_mirror import MirrorContent, sha256

MODEL_BYTES = 200_000
BOMB_BYTES = 64 * 1024 * 1024
SEED = 20

Served = dict[str, bytes]


@dataclass(frozen=True, slots=True)
class DamagedMirror:
    """The pinned content, what the mirror serves instead, and the damage of each model by name."""

    content: MirrorContent
    manifest_text: str
    served: Served
    damages: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Damage:
    name: str
    # Changes the served files; returns replacements of pins, so that the damage is found only after unpacking.
    apply: Callable[[Served, str, random.Random], Mapping[str, str]]


def damaged_mirror(*, rounds: int) -> DamagedMirror:
    """One direction per damage and round."""
    generator = random.Random(SEED)
    content, replacements = MirrorContent(), dict[str, str]()
    damages: dict[str, str] = {}
    served: Served = {}
    languages = iter(sorted(SETS["translate-all"]))
    for _ in range(rounds):
        for damage in _DAMAGES:
            language = next(languages)
            path = _add_direction(content, language, generator)
            served |= {name: data for name, data in content.files.items() if f"/en{language}/" in name}
            replacements |= damage.apply(served, path, generator)
            damages[f"firefox-en-{language}-tiny"] = damage.name
    text = content.manifest_text()
    for old, new in replacements.items():
        if old not in text:
            raise RuntimeError(f"{old} is not in the manifest")
        text = text.replace(old, new)
    return DamagedMirror(content, text, served, damages)


def _add_direction(content: MirrorContent, language: str, generator: random.Random) -> str:
    """Adds a direction from English and returns the path of its gzipped model on the mirror."""
    pair = f"en{language}"
    files = {
        f"model.{pair}.bin": generator.randbytes(MODEL_BYTES + len(content.files)),  # all sizes differ
        f"vocab.{pair}.spm": generator.randbytes(1000),
    }
    content.add("en", language, files)
    return f"/models/tiny/{pair}/model.{pair}.bin.gz"


def _flip_bit(served: Served, path: str, generator: random.Random) -> Mapping[str, str]:
    body = bytearray(served[path])
    body[generator.randrange(len(body))] ^= 1 << generator.randrange(8)
    served[path] = bytes(body)
    return {}


def _replace(served: Served, path: str, generator: random.Random) -> Mapping[str, str]:
    served[path] = generator.randbytes(len(served[path]))
    return {}


def _append(served: Served, path: str, generator: random.Random) -> Mapping[str, str]:
    served[path] += generator.randbytes(1_000_000)
    return {}


def _remove(served: Served, path: str, generator: random.Random) -> Mapping[str, str]:
    del generator
    del served[path]
    return {}


def _repin(served: Served, path: str, body: bytes) -> Mapping[str, str]:
    """Serves and pins another gzip file: only the pin of the unpacked file can reject it."""
    before, served[path] = served[path], body
    return {
        sha256(before): sha256(body),
        f"size_bytes = {len(before)},": f"size_bytes = {len(body)},",
    }


def _unpack_differently(served: Served, path: str, generator: random.Random) -> Mapping[str, str]:
    size = len(gzip.decompress(served[path]))
    return _repin(served, path, gzip.compress(generator.randbytes(size), 1, mtime=0))


def _bomb(served: Served, path: str, generator: random.Random) -> Mapping[str, str]:
    del generator
    return _repin(served, path, gzip.compress(bytes(BOMB_BYTES), 6, mtime=0))


def _truncate(served: Served, path: str, generator: random.Random) -> Mapping[str, str]:
    body = served[path]
    return _repin(served, path, body[: generator.randrange(100, len(body) - 1)])


_DAMAGES = (
    _Damage("one flipped bit", _flip_bit),
    _Damage("other bytes", _replace),
    _Damage("too many bytes", _append),
    _Damage("no file", _remove),
    _Damage("other bytes after unpacking", _unpack_differently),
    _Damage("gzip bomb", _bomb),
    _Damage("truncated gzip", _truncate),
)
