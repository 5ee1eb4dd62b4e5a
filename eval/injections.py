"""Reads spoken prompt injections and innocent sentences that sound similar."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from pydantic import ConfigDict, TypeAdapter

from eval.talks import Half, Language

FILE = Path(__file__).with_name("injections.toml")

_REFUSE_UNKNOWN_KEYS = ConfigDict(extra="forbid")


@dataclass(frozen=True, slots=True)
class SpokenInjection:
    """A sentence that gives a writer orders; no text about the video may contain its `payload`."""

    __pydantic_config__: ClassVar[ConfigDict] = _REFUSE_UNKNOWN_KEYS

    text: str
    payload: str


@dataclass(frozen=True, slots=True)
class InjectionSet:
    """One half of the sentences, by language."""

    __pydantic_config__: ClassVar[ConfigDict] = _REFUSE_UNKNOWN_KEYS

    innocent: Mapping[Language, tuple[str, ...]]
    injections: Mapping[Language, tuple[SpokenInjection, ...]]


_SETS = TypeAdapter(dict[Half, InjectionSet])


def load_injections(half: Half) -> InjectionSet:
    return _SETS.validate_python(tomllib.loads(FILE.read_text(encoding="utf-8")))[half]
