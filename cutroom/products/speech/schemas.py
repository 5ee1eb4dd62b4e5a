"""Request and response bodies of the speech API, compatible with ElevenLabs clients."""

from typing import Annotated, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    StringConstraints,
    field_validator,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from cutroom.products.speech.rules import MAX_SPEED, MAX_TEXT, MIN_SPEED, MODEL_ID, is_model
from cutroom.text.language_tags import canonical_language, is_language
from cutroom.web.schema import Omittable, Uri, allow_null, describe_patch, make_strict, require_change

MAX_LABELS = 16
VoiceStatus = Literal["processing", "ready", "failed"]

Label = Annotated[str, StringConstraints(max_length=100)]
VoiceName = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100)]
VoiceDescription = Annotated[str | None, StringConstraints(strip_whitespace=True, max_length=1_000)]
VoiceLabels = Annotated[
    dict[Label, Label],
    Field(
        max_length=MAX_LABELS,
        description="For example `language`, `gender` and `age`; null means none.",
        json_schema_extra=allow_null,
    ),
    BeforeValidator(lambda value: {} if value is None else value),
]


class SpeechApiModel(BaseModel):
    """Base of speech API bodies. Field names are snake_case; unknown fields are ignored."""

    model_config = ConfigDict(frozen=True, protected_namespaces=())

    @classmethod
    def __get_pydantic_core_schema__(cls, source: type[BaseModel], handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = handler(source)
        make_strict(schema)
        return schema


class NewVoice(SpeechApiModel):
    """A voice to clone, from uploaded files or from a URL."""

    model_config = ConfigDict(
        frozen=True,
        protected_namespaces=(),
        json_schema_extra={"examples": [{"name": "Ana", "sample_url": "https://media.example.com/ana.wav"}]},
    )

    name: VoiceName
    sample_url: Annotated[
        str | None, Field(description="An HTTPS URL of a recording; required if no files are sent.")
    ] = None
    description: VoiceDescription = None
    labels: VoiceLabels = Field(default_factory=dict)
    remove_background_noise: bool = True


class VoicePatch(SpeechApiModel):
    """Changes to a clone; fields that are not sent stay."""

    model_config = ConfigDict(
        frozen=True,
        protected_namespaces=(),
        json_schema_extra={"examples": [{"name": "Ana", "labels": {"language": "pt"}}]},
    )

    name: VoiceName = ""
    description: VoiceDescription = None
    labels: VoiceLabels = Field(default_factory=dict)

    @model_validator(mode="after")
    def _require_change(self) -> Self:
        require_change(self)
        return self

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        schema = handler(core_schema)
        describe_patch(cls, handler.resolve_ref_schema(schema))
        return schema


class AddedVoice(SpeechApiModel):
    """A clone that is being created; poll it until its status is `ready` or `failed`."""

    voice_id: str
    requires_verification: bool


class VoiceSettings(SpeechApiModel):
    """Default settings of a voice."""

    stability: float | None = None
    similarity_boost: float | None = None
    style: float | None = None
    use_speaker_boost: bool | None = None
    speed: float = 1


class Voice(SpeechApiModel):
    """A voice for text-to-speech, usable once it is ready."""

    voice_id: str
    name: str
    category: Annotated[str, Field(description="`generated` for a clone, `premade` for a stock voice.")]
    description: Omittable[str] = None
    labels: dict[str, str]
    preview_url: Annotated[Omittable[Uri], Field(description="A temporary URL of a spoken preview.")] = None
    status: VoiceStatus
    workspace_id: Omittable[str] = None
    error: Annotated[str | None, Field(description="Why the clone failed.")] = None
    available_for_tiers: list[str]
    settings: VoiceSettings


class Voices(SpeechApiModel):
    """Voice clones, newest first."""

    voices: list[Voice]


class FoundVoices(SpeechApiModel):
    """One page of search results over clones and stock voices."""

    voices: list[Voice]
    has_more: bool
    total_count: int
    next_page_token: str | None


class DeletedVoice(SpeechApiModel):
    """Confirmation of a deletion, for clients that expect a body."""

    status: Literal["ok"] = "ok"


class SpeakingSettings(SpeechApiModel):
    """Only `speed` is supported; other settings are accepted and ignored."""

    speed: Annotated[float, Field(ge=MIN_SPEED, le=MAX_SPEED)] = 1.0


class NewSpeech(SpeechApiModel):
    """A text to synthesize."""

    model_config = ConfigDict(
        frozen=True,
        protected_namespaces=(),
        json_schema_extra={"examples": [{"text": "The last tram leaves at ten.", "model_id": MODEL_ID}]},
    )

    text: Annotated[str, StringConstraints(min_length=1, max_length=MAX_TEXT)]
    model_id: Annotated[
        str, Field(description=f"`{MODEL_ID}`; names that start with `eleven_` are accepted as aliases.", max_length=80)
    ] = MODEL_ID
    language_code: Annotated[
        str | None, Field(description="The language of the text; by default the voice's, or detected from the text.")
    ] = None
    voice_settings: SpeakingSettings | None = None

    @field_validator("model_id")
    @classmethod
    def _known(cls, model_id: str) -> str:
        if not is_model(model_id):
            raise ValueError(f"The speech model is {MODEL_ID}.")
        return model_id

    @field_validator("language_code")
    @classmethod
    def _canonical(cls, code: str | None) -> str | None:
        if code is None:
            return None
        if not is_language(code):
            raise ValueError("This must be a language code, like en or pt-BR.")
        return canonical_language(code)

    @field_validator("text")
    @classmethod
    def _has_words(cls, text: str) -> str:
        if not any(character.isalnum() for character in text):
            raise ValueError("The text contains no words.")
        return text

    @property
    def speed(self) -> float:
        return self.voice_settings.speed if self.voice_settings is not None else 1.0


class SpokenLanguage(SpeechApiModel):
    """A language supported by at least one voice."""

    language_id: str
    name: str


class SpeechModel(SpeechApiModel):
    """The speech model and its features."""

    model_id: str
    name: str
    description: str
    can_do_text_to_speech: bool
    can_do_voice_conversion: bool
    can_use_style: bool
    can_use_speaker_boost: bool
    serves_pro_voices: bool
    requires_alpha_access: bool
    max_characters_request_free_user: int
    max_characters_request_subscribed_user: int
    maximum_text_length_per_request: int
    token_cost_factor: float
    languages: list[SpokenLanguage]
