"""API schemas of the glossary."""

from datetime import datetime
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, ConfigDict, Field, StringConstraints, ValidatorFunctionWrapHandler, WrapValidator

from cutroom.glossary.rules import (
    MAX_CSV,
    MAX_FORMS,
    MAX_NOTE,
    MAX_RESPELLING,
    MAX_TERM,
    MAX_TRANSLATIONS,
    term_error,
)
from cutroom.text.glossary.matching import composed_phrase
from cutroom.text.phonetic_spelling import phonemes_of, unknown_phonemes
from cutroom.web.schema import ApiModel, LanguageCode, Omittable, PatchRequest, RequestModel

V = TypeVar("V")
_EXAMPLE: dict[str, Any] = {
    "term": "sluice gate",
    "language": "en",
    "translations": {"pt-BR": {"text": "comporta", "forms": ["comportas"]}},
    "pronunciations": {"pt-BR": "com pórta"},
}
_STORED = {
    "id": "01j9z3k4m5n6p7q8r9s0t1v2w3",
    "keep": False,
    "caseSensitive": False,
    "createdAt": "2026-11-02T09:30:00Z",
    **_EXAMPLE,
}


def _check_term(text: str) -> str:
    composed = composed_phrase(text)
    if problem := term_error(composed):
        raise ValueError(problem)
    return composed


def _check_phonemes(text: str) -> str:
    if phonemes_of(text) is not None and (unknown := unknown_phonemes(text)):
        raise ValueError(f"No voice knows these phonemes: {' '.join(unknown)}")
    return text


def _distinct_languages(value: Any, validate: ValidatorFunctionWrapHandler) -> Any:  # noqa: ANN401 (any JSON value)
    found = validate(value)
    if len(found) != len(value):
        raise ValueError("Languages must be unique.")
    return found


TermText = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_TERM), AfterValidator(_check_term)
]
Respelling = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_RESPELLING),
    AfterValidator(_check_term),
    AfterValidator(_check_phonemes),
]
Note = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_NOTE, pattern=r"^[^\x00]+$")
]
FolderId = Annotated[str, Field(min_length=1, max_length=128)]
ByLanguage = Annotated[dict[LanguageCode, V], Field(max_length=MAX_TRANSLATIONS), WrapValidator(_distinct_languages)]

_FOLDER = "Where the term applies: to videos in this folder and the folders inside it. Everywhere if it is absent."
_LANGUAGE = "The language of the term."
_KEEP = "Whether the term stays as it is in every language."
_CASE = "Whether upper and lower case are distinguished."
_TRANSLATIONS = "The translation by language."
_FORMS = "Inflected forms, which are accepted as well."
_PRONUNCIATIONS = (
    "By language, how dubs spell the translation for the voice, or the term where it is not translated. Texts show "
    "it unchanged."
)


class NewTermTranslation(RequestModel):
    """How a term is translated into one language."""

    text: TermText = Field(description="The translation.")
    forms: Annotated[list[TermText], Field(max_length=MAX_FORMS, description=_FORMS)] = Field(default_factory=list)


class TermTranslationItem(ApiModel):
    """How a term is translated into one language."""

    text: str = Field(description="The translation.")
    forms: list[str] = Field(description=_FORMS)


class NewGlossaryTerm(RequestModel):
    """A term to add. It needs a translation, a pronunciation, or `keep`."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    term: TermText
    language: Annotated[LanguageCode, Field(description=_LANGUAGE)]
    folder_id: Annotated[Omittable[FolderId], Field(description=_FOLDER)] = None
    keep: Annotated[bool, Field(description=_KEEP)] = False
    case_sensitive: Annotated[bool, Field(description=_CASE)] = False
    translations: Annotated[ByLanguage[NewTermTranslation], Field(description=_TRANSLATIONS)] = Field(
        default_factory=dict
    )
    pronunciations: Annotated[ByLanguage[Respelling], Field(description=_PRONUNCIATIONS)] = Field(default_factory=dict)
    note: Annotated[Omittable[Note], Field(description="For people; nothing else uses it.")] = None


class GlossaryTermPatch(PatchRequest):
    """Changes to a term."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"translations": _EXAMPLE["translations"]}]})

    term: TermText = ""
    language: Annotated[LanguageCode, Field(description=_LANGUAGE)] = ""
    folder_id: Annotated[FolderId | None, Field(description=_FOLDER)] = None
    keep: Annotated[bool, Field(description=_KEEP)] = False
    case_sensitive: Annotated[bool, Field(description=_CASE)] = False
    translations: Annotated[ByLanguage[NewTermTranslation], Field(description=f"{_TRANSLATIONS} Replaces all.")] = (
        Field(default_factory=dict)
    )
    pronunciations: Annotated[ByLanguage[Respelling], Field(description=f"{_PRONUNCIATIONS} Replaces all.")] = Field(
        default_factory=dict
    )
    note: Annotated[Note | None, Field(description="For people; nothing else uses it.")] = None


class GlossaryTerm(ApiModel):
    """A term of a library's glossary."""

    model_config = ConfigDict(json_schema_extra={"examples": [_STORED]})

    id: str
    term: str
    language: LanguageCode
    folder_id: Annotated[Omittable[str], Field(description=_FOLDER)] = None
    keep: bool = Field(description=_KEEP)
    case_sensitive: bool = Field(description=_CASE)
    translations: dict[str, TermTranslationItem] = Field(description=_TRANSLATIONS)
    pronunciations: dict[str, str] = Field(description=_PRONUNCIATIONS)
    note: Omittable[str] = None
    created_at: datetime


class GlossaryPage(ApiModel):
    """Terms, newest first."""

    terms: list[GlossaryTerm]
    next_page_token: Annotated[
        Omittable[str], Field(description="Pass it as `pageToken` for the next page; omitted on the last page.")
    ] = None


class GlossaryImport(RequestModel):
    """Terms to add or replace, as a CSV file."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"csv": "term,language,translation pt-BR\nsluice gate,en,comporta\n"}]}
    )

    csv: Annotated[
        str,
        Field(
            min_length=1,
            max_length=MAX_CSV,
            description="A header and one row per term, in the format of the export. The columns `term` and `language` "
            "are required.",
        ),
    ]


class GlossaryImported(ApiModel):
    """What an import changed."""

    created: int
    updated: int
    unchanged: int


class BrokenTermItem(ApiModel):
    """A glossary term of the source that a line does not have in its translation."""

    line: int = Field(description="The number of the line, from 0.")
    start: float = Field(description="When the line starts, in seconds.")
    term: str
    expected: str = Field(description="The translation of the glossary.")
