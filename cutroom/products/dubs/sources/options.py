"""Which texts a dub is made from."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class TranslationSource(StrEnum):
    """Where the words of a dub come from."""

    MACHINE = "machine"
    CAPTIONS = "captions"


class SourceVoiceover(StrEnum):
    """Which text of the recording is dubbed."""

    ORIGINAL = "original"
    OPTIMIZED = "optimized"


@dataclass(frozen=True, slots=True)
class DubTextOptions:
    """What was chosen when a dub was requested; kept in its job's plan and in its script."""

    translation_source: str = TranslationSource.MACHINE
    source_voiceover: str = SourceVoiceover.ORIGINAL

    @classmethod
    def of_plan(cls, plan: Mapping[str, Any]) -> "DubTextOptions":
        """The options of a job, whose plan has only those that differ from the defaults."""
        return cls(
            plan.get("translation_source", TranslationSource.MACHINE),
            plan.get("source_voiceover", SourceVoiceover.ORIGINAL),
        )

    def to_plan(self) -> dict[str, str]:
        """What a job's plan keeps."""
        chosen = {"translation_source": self.translation_source, "source_voiceover": self.source_voiceover}
        return {name: str(value) for name, value in chosen.items() if value != getattr(DEFAULT_OPTIONS, name)}

    @property
    def uses_captions(self) -> bool:
        return self.translation_source == TranslationSource.CAPTIONS

    @property
    def uses_script(self) -> bool:
        """Whether it says what the optimized script has."""
        return self.source_voiceover == SourceVoiceover.OPTIMIZED


DEFAULT_OPTIONS = DubTextOptions()
