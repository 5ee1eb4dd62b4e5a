"""Limits of a glossary."""

MAX_TERMS = 2_000  # per library
MAX_TERM = 80  # characters of a term, a translation or a form
MAX_FORMS = 10  # accepted inflected forms of one translation
MAX_TRANSLATIONS = 20  # languages of one term
MAX_RESPELLING = 120
MAX_NOTE = 500
MAX_CSV = 900_000  # characters; a body has at most 1 MiB
# Characters that no term has: braces mark placeholders in translation, and the others mark up text.
UNUSABLE = "{}<>|\x00"


def term_error(text: str) -> str | None:
    """Why a trimmed text cannot be a term or a translation, if it cannot."""
    if not any(character.isalnum() for character in text):
        return "This needs a letter or a digit."
    if any(character in UNUSABLE or not character.isprintable() for character in text):
        return "Braces, angle brackets, vertical bars and control characters are not allowed."
    return None
