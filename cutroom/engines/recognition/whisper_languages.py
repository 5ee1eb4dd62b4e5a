"""Maps between BCP 47 codes and the language names and codes of Whisper models and servers."""

# English language name in OpenAI API responses, by BCP 47 code.
NAMES = {
    "af": "afrikaans", "am": "amharic", "ar": "arabic", "as": "assamese", "az": "azerbaijani", "ba": "bashkir",
    "be": "belarusian", "bg": "bulgarian", "bn": "bengali", "bo": "tibetan", "br": "breton", "bs": "bosnian",
    "ca": "catalan", "cs": "czech", "cy": "welsh", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish", "fo": "faroese",
    "fr": "french", "gl": "galician", "gu": "gujarati", "ha": "hausa", "haw": "hawaiian", "he": "hebrew",
    "hi": "hindi", "hr": "croatian", "ht": "haitian creole", "hu": "hungarian", "hy": "armenian",
    "id": "indonesian", "is": "icelandic", "it": "italian", "ja": "japanese", "jv": "javanese", "ka": "georgian",
    "kk": "kazakh", "km": "khmer", "kn": "kannada", "ko": "korean", "la": "latin", "lb": "luxembourgish",
    "ln": "lingala", "lo": "lao", "lt": "lithuanian", "lv": "latvian", "mg": "malagasy", "mi": "maori",
    "mk": "macedonian", "ml": "malayalam", "mn": "mongolian", "mr": "marathi", "ms": "malay", "mt": "maltese",
    "my": "myanmar", "ne": "nepali", "nl": "dutch", "nn": "nynorsk", "no": "norwegian", "oc": "occitan",
    "pa": "punjabi", "pl": "polish", "ps": "pashto", "pt": "portuguese", "ro": "romanian", "ru": "russian",
    "sa": "sanskrit", "sd": "sindhi", "si": "sinhala", "sk": "slovak", "sl": "slovenian", "sn": "shona",
    "so": "somali", "sq": "albanian", "sr": "serbian", "su": "sundanese", "sv": "swedish", "sw": "swahili",
    "ta": "tamil", "te": "telugu", "tg": "tajik", "th": "thai", "tk": "turkmen", "tl": "tagalog", "tr": "turkish",
    "tt": "tatar", "uk": "ukrainian", "ur": "urdu", "uz": "uzbek", "vi": "vietnamese", "yi": "yiddish",
    "yo": "yoruba", "yue": "cantonese", "zh": "chinese",
}  # fmt: skip

# Deprecated and alternative codes.
_ALIASES = {"jw": "jv", "iw": "he", "in": "id", "ji": "yi", "nb": "no", "fil": "tl", "cmn": "zh", "burmese": "my"}
_CODES = {name: code for code, name in NAMES.items()}
_WHISPER_CODES = {"jv": "jw"}  # the only code in which Whisper deviates from the standard


def language_code(name_or_tag: str) -> str | None:
    """The primary language code for a name, code or regional tag such as `pt-BR`; None if unknown."""
    text = name_or_tag.strip().lower().replace("_", "-")
    for candidate in (text, text.split("-")[0]):
        code = _ALIASES.get(candidate) or _CODES.get(candidate) or candidate
        if code in NAMES:
            return code
    return None


def whisper_code(name_or_tag: str) -> str | None:
    """The code that Whisper models and servers accept."""
    code = language_code(name_or_tag)
    return _WHISPER_CODES.get(code, code) if code else None
