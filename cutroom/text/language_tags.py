"""BCP 47 language tags: validation, spelling, comparison and display names."""

import re
from functools import lru_cache

from langcodes import Language, standardize_tag
from langcodes.tag_parser import LanguageTagError

LANGUAGE_PATTERN = r"^[A-Za-z]{2,3}(-[A-Za-z]{2,4})?$"  # what the API accepts
UNDETERMINED = "und"  # ISO 639-2, where a container needs a code and there is none
_MAX_LENGTH = 16
# Beyond the registry: engines label Norwegian and Mandarin by either code and mean the same language.
_EQUIVALENT = {"no": "nb", "cmn": "zh"}


def is_language(code: str) -> bool:
    return len(code) <= _MAX_LENGTH and re.fullmatch(LANGUAGE_PATTERN, code) is not None


def canonical_language(code: str) -> str:
    """Fixes the case only, `PT-br` to `pt-BR`: ids and responses must echo the language that was requested."""
    language, _, rest = code.partition("-")
    if not rest:
        return language.lower()
    return f"{language.lower()}-{rest.title() if len(rest) == 4 else rest.upper()}"


@lru_cache(maxsize=1024)
def canonical_tag(code: str) -> str:
    """Standardizes a tag from any engine: `PT_br` to `pt-BR`, the deprecated `iw` to `he`."""
    try:
        language, *rest = standardize_tag(code.strip()).split("-")
    except LanguageTagError:
        return canonical_language(code.strip().replace("_", "-"))
    return "-".join([_EQUIVALENT.get(language, language), *rest])


@lru_cache(maxsize=1024)
def language_of(code: str) -> str:
    """The tag without its region; the script stays, because readers of one script cannot read another."""
    language, *rest = canonical_tag(code).split("-")
    return "-".join([language, *(part for part in rest if len(part) == 4)])


def serves(offered: str, wanted: str) -> bool:
    """Whether one tag can stand for another: the same language, and not two different regions of it."""
    offered, wanted = canonical_tag(offered), canonical_tag(wanted)
    region_is_open = offered == language_of(offered) or wanted == language_of(wanted)
    return offered == wanted or (region_is_open and language_of(offered) == language_of(wanted))


def offers(offered: str, wanted: str) -> bool:
    """Whether output in one language is what a request for another names.

    A base language stands for its usual region only: output in `pt` is Brazilian, and is not offered as `pt-PT`.
    """
    if not serves(offered, wanted):
        return False
    is_base = canonical_tag(offered) == language_of(offered) != canonical_tag(wanted)
    return not is_base or canonical_tag(wanted) == with_usual_region(wanted)


@lru_cache(maxsize=1024)
def with_usual_region(code: str) -> str:
    """The tag with the region where the language is written most, by CLDR's likely subtags: `pt-BR` for `pt`."""
    language = language_of(code)
    region = Language.get(language, normalize=False).maximize().territory
    return f"{language}-{region}" if region else language


@lru_cache(maxsize=1024)
def display_name(code: str) -> str:
    """English name of a language: `Portuguese (Brazil)` for `pt-BR`; unknown codes stay as they are."""
    try:
        name = Language.get(code).display_name()
    except LanguageTagError:
        return code
    return code if name.startswith("Unknown language") else name


def alpha3(code: str) -> str:
    """ISO 639-2/T code of a tag, as MP4 tracks carry it: `por` for `pt-BR`."""
    try:
        return Language.get(code.partition("-")[0], normalize=False).to_alpha3()
    except LookupError:
        return UNDETERMINED
