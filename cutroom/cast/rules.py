"""Limits of a cast, and the voice of a member in a language."""

from collections.abc import Mapping

from cutroom.text.language_tags import language_of

MAX_MEMBERS = 200  # per library
MAX_APPEARANCES = 1_000  # per member
MAX_NAME = 80
MAX_VOICES = 40  # languages of one member
MAX_VOICE_ID = 64
MAX_FOLDERS = 100  # in which speakers are recognized
# Characters that no name has: the label of a speaker is shown in subtitles and documents.
UNUSABLE = "<>{}|\x00"


def name_error(text: str) -> str | None:
    """Why a trimmed text cannot be a name, if it cannot."""
    if not any(character.isalnum() for character in text):
        return "This needs a letter or a digit."
    if any(character in UNUSABLE or not character.isprintable() for character in text):
        return "Braces, angle brackets, vertical bars and control characters are not allowed."
    return None


def voice_for(voices: Mapping[str, str], language: str) -> str | None:
    """The voice of a member in a language: that of the exact locale, otherwise of the base language."""
    same = {tag: voice for tag, voice in voices.items() if language_of(tag) == language_of(language)}
    exact = next((voice for tag, voice in same.items() if tag.lower() == language.lower()), None)
    base = next((voice for tag, voice in same.items() if tag.lower() == language_of(language).lower()), None)
    return exact or base
