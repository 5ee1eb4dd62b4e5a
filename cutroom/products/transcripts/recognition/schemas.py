"""Request and response bodies of a repeated recognition."""

from typing import Annotated

from pydantic import ConfigDict, Field, field_validator

from cutroom.engines.recognition.whisper_languages import whisper_code
from cutroom.jobs.schemas import Job
from cutroom.products.transcripts.editing.schemas import Revision
from cutroom.text.language_tags import canonical_language, is_language
from cutroom.web.schema import ApiModel, Omittable, PricedRequest


class RecognitionRequest(PricedRequest):
    """In which language to recognize the speech of a video again."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"revision": 4}]})

    revision: Revision
    language: Annotated[
        Omittable[str],
        Field(min_length=2, max_length=35, description="The spoken language; by default, that of the transcript."),
    ] = None

    @field_validator("language")
    @classmethod
    def _require_recognizable(cls, language: str | None) -> str | None:
        if language is None:
            return None
        if not is_language(language) or whisper_code(canonical_language(language)) is None:
            raise ValueError("This language cannot be recognized.")
        return canonical_language(language)


class RecognitionJob(ApiModel):
    """The job that recognizes the speech again."""

    job: Job
