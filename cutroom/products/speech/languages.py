"""What languages are called, for people."""

_NAMES = {
    "ar": "Arabic",
    "de": "German",
    "en": "English",
    "es": "Spanish",
    "fr": "French",
    "hi": "Hindi",
    "it": "Italian",
    "ja": "Japanese",
    "ko": "Korean",
    "nl": "Dutch",
    "pl": "Polish",
    "pt": "Portuguese",
    "ru": "Russian",
    "tr": "Turkish",
    "uk": "Ukrainian",
    "zh": "Chinese",
}


def language_name(code: str) -> str:
    """`pt-BR` is "Portuguese (BR)"; a language that has no name here goes by its code."""
    language, _, region = code.partition("-")
    name = _NAMES.get(language, language)
    return f"{name} ({region})" if region else name
