"""Voices and readings on the wire, named as clients of speech APIs name them."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, StringConstraints, field_validator
from pydantic_core import CoreSchema

from cutroom.products.speech.rules import MAX_SPEED, MAX_TEXT, MIN_SPEED, MODEL_ID, is_model
from cutroom.web.schema import Omittable, Uri, canonical_language, exact, is_language

MAX_LABELS = 16
VoiceStatus = Literal["processing", "ready", "failed"]

Label = Annotated[str, StringConstraints(max_length=100)]


class SpeechWire(BaseModel):
    """A body of the speech API. Its names keep their underscores; unknown fields are ignored."""

    model_config = ConfigDict(frozen=True, protected_namespaces=())

    @classmethod
    def __get_pydantic_core_schema__(cls, source: type[BaseModel], handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = handler(source)
        exact(schema)
        return schema


def _or_null(schema: dict[str, Any]) -> None:
    """Null is taken for none, and the document says so."""
    told: dict[str, Any] = {name: schema.pop(name) for name in ("title", "description", "default") if name in schema}
    solid = dict(schema)
    schema.clear()
    schema.update({**told, "anyOf": [solid, {"type": "null"}]})


class NewVoice(SpeechWire):
    """A voice to clone, from files or from a URL."""

    model_config = ConfigDict(
        frozen=True,
        protected_namespaces=(),
        json_schema_extra={"examples": [{"name": "Ana", "sample_url": "https://media.example.com/ana.wav"}]},
    )

    name: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100)]
    sample_url: Annotated[
        str | None, Field(description="An https URL of a recording; needed where no files are sent.")
    ] = None
    description: Annotated[str | None, StringConstraints(strip_whitespace=True, max_length=1_000)] = None
    labels: Annotated[
        dict[Label, Label],
        Field(
            max_length=MAX_LABELS,
            description="`language`, `gender`, `age` and the like. The official client sends null for none.",
            json_schema_extra=_or_null,
        ),
    ] = Field(default_factory=dict)
    remove_background_noise: bool = True

    @field_validator("labels", mode="before")
    @classmethod
    def _no_labels(cls, value: Any) -> Any:  # noqa: ANN401 (whatever was sent)
        return {} if value is None else value


class AddedVoice(SpeechWire):
    """A clone that is being made; ask for it until its status is `ready` or `failed`."""

    voice_id: str
    requires_verification: bool


class VoiceSettings(SpeechWire):
    """How a voice speaks unless a request says otherwise."""

    stability: float | None = None
    similarity_boost: float | None = None
    style: float | None = None
    use_speaker_boost: bool | None = None
    speed: float = 1


class Voice(SpeechWire):
    """A voice that text can be read in once it is ready."""

    voice_id: str
    name: str
    category: Annotated[str, Field(description="`generated` for a clone, `premade` for a voice of the engine.")]
    description: Omittable[str] = None
    labels: dict[str, str]
    preview_url: Annotated[Omittable[Uri], Field(description="A temporary URL of the voice speaking.")] = None
    status: VoiceStatus
    workspace_id: Omittable[str] = None
    error: Annotated[str | None, Field(description="Why a failed clone failed, in a sentence.")] = None
    available_for_tiers: list[str]
    settings: VoiceSettings


class Voices(SpeechWire):
    """Clones, newest first."""

    voices: list[Voice]


class FoundVoices(SpeechWire):
    """One page of a search over clones and the engine's own voices."""

    voices: list[Voice]
    has_more: bool
    total_count: int
    next_page_token: str | None


class DeletedVoice(SpeechWire):
    """What some clients need to hear when a voice is gone."""

    status: Literal["ok"] = "ok"


class SpeakingSettings(SpeechWire):
    """Of these only the speed changes anything; the others are taken and left alone."""

    speed: Annotated[float, Field(ge=MIN_SPEED, le=MAX_SPEED)] = 1.0


class NewSpeech(SpeechWire):
    """A text to read aloud."""

    model_config = ConfigDict(
        frozen=True,
        protected_namespaces=(),
        json_schema_extra={"examples": [{"text": "The last tram leaves at ten.", "model_id": MODEL_ID}]},
    )

    text: Annotated[str, StringConstraints(min_length=1, max_length=MAX_TEXT)]
    model_id: Annotated[
        str, Field(description=f"`{MODEL_ID}`; names that begin with `eleven_` mean it too.", max_length=80)
    ] = MODEL_ID
    language_code: Annotated[
        str | None, Field(description="The language to read in; the voice's own, or the text's, where it is left out.")
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
            raise ValueError("There is nothing to read in this.")
        return text

    @property
    def speed(self) -> float:
        return self.voice_settings.speed if self.voice_settings is not None else 1.0


class SpokenLanguage(SpeechWire):
    """A language that text can be read in."""

    language_id: str
    name: str


class SpeechModel(SpeechWire):
    """The speech model and what it can do."""

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
