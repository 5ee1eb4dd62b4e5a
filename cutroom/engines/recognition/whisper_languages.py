"""The languages of the Whisper models, by the codes that we use and the names and codes that they and servers use."""

# The English name that servers of the OpenAI protocol answer with, for each BCP 47 code.
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

# What others write for the same language.
_SAME = {"jw": "jv", "iw": "he", "in": "id", "ji": "yi", "nb": "no", "fil": "tl", "cmn": "zh", "burmese": "my"}
_CODES = {name: code for code, name in NAMES.items()}
_OF_WHISPER = {"jv": "jw"}  # the one code in which the models differ from the standard


def language_code(name_or_tag: str) -> str | None:
    """The code that we use for a name, a code, or a tag with a region such as `pt-BR`; nothing where it is unknown."""
    text = name_or_tag.strip().lower().replace("_", "-")
    for candidate in (text, text.split("-")[0]):
        code = _SAME.get(candidate) or _CODES.get(candidate) or candidate
        if code in NAMES:
            return code
    return None


def whisper_code(name_or_tag: str) -> str | None:
    """The code that the models and their servers understand."""
    code = language_code(name_or_tag)
    return _OF_WHISPER.get(code, code) if code else None
