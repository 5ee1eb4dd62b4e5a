"""What languages are called on pages."""

TITLES = {
    "ar": "Arabic",
    "bg": "Bulgarian",
    "ca": "Catalan",
    "cs": "Czech",
    "da": "Danish",
    "de": "German",
    "el": "Greek",
    "en": "English",
    "es": "Spanish",
    "et": "Estonian",
    "fa": "Persian",
    "fi": "Finnish",
    "fr": "French",
    "he": "Hebrew",
    "hi": "Hindi",
    "hu": "Hungarian",
    "id": "Indonesian",
    "it": "Italian",
    "ja": "Japanese",
    "ko": "Korean",
    "lt": "Lithuanian",
    "lv": "Latvian",
    "nb": "Norwegian Bokmål",
    "nl": "Dutch",
    "nn": "Norwegian Nynorsk",
    "no": "Norwegian",
    "pl": "Polish",
    "pt": "Portuguese",
    "ro": "Romanian",
    "ru": "Russian",
    "sk": "Slovak",
    "sl": "Slovenian",
    "sv": "Swedish",
    "tr": "Turkish",
    "uk": "Ukrainian",
    "vi": "Vietnamese",
    "zh": "Chinese",
}
REGIONS = {"BR": "Brazil", "GB": "Britain", "US": "United States", "PT": "Portugal", "MX": "Mexico", "CN": "China"}


def language_title(code: str | None) -> str:
    """`Portuguese (Brazil)`; a language that is not in the list is called by its code."""
    if not code:
        return "not known yet"
    language, _, rest = code.partition("-")
    title = TITLES.get(language, language)
    return f"{title} ({REGIONS.get(rest, rest)})" if rest else title
