"""In creation bodies null means absent, and unknown fields are refused where credits are spent."""

from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.routing import APIRoute
from pydantic import BaseModel, TypeAdapter, ValidationError

from cutroom.cast.schemas import CastRecognition, NewCastMember
from cutroom.credits.schemas import CreditBundle
from cutroom.glossary.schemas import NewGlossaryTerm, NewTermTranslation
from cutroom.library.schemas import NewFolder
from cutroom.products.captions.editing.schemas import Regeneration
from cutroom.products.captions.schemas import NewCaptions
from cutroom.products.downloads.schemas import NewDownload
from cutroom.products.dubs.editing.schemas import DubRegenerationRequest, WordingsRequest
from cutroom.products.dubs.editing.takes.schemas import NewLinePreview
from cutroom.products.dubs.schemas import NewDubs
from cutroom.products.hosting.schemas import NewHosting
from cutroom.products.ingest.schemas import NewUploadSession, NewVideo
from cutroom.products.packaging.schemas import NewPackaging, ReviewDecision
from cutroom.products.playback.schemas import NewPlaybackCut
from cutroom.products.shorts.schemas import NewRequest
from cutroom.products.thumbnails.schemas import NewThumbnail
from cutroom.products.transcripts.recognition.schemas import RecognitionRequest
from cutroom.reviews.schemas import NewReviewComment, NewReviewLink
from cutroom.web.schema import PricedRequest, RequestModel
from cutroom.webhooks.schemas import NewWebhookEndpoint
from tests.support.api_document import APP, DOCUMENT

JSON = "application/json"
SPEECH = {"/v1/voices/add", "/v1/text-to-speech/{voice_id}", "/v1/text-to-speech/{voice_id}/stream"}
SPENDING = {
    "videos",
    "quote",
    "reservations",
    "dubs",
    "captions",
    "shorts",
    "thumbnails",
    "packaging",
    "regenerate",
    "recognize",
}

_THUMBNAIL = {"characters": [{"name": "Ana"}]}
_TITLE = {"enabled": True, "titleType": "funny"}
_DESCRIPTION = {"enabled": True, "descriptionType": "blog-post"}
# Bodies that contain every nested object, so that each optional field of each object can be set to null.
BODIES: list[tuple[Any, dict[str, Any]]] = [
    (NewVideo, {"source": {"type": "upload"}, "products": {"dubs": [{"languages": ["pt"]}], "shorts": {}}}),
    (NewVideo, {"source": {"type": "https", "url": "https://a.example/b.mp4"}}),
    (
        NewVideo,
        {
            "source": {"type": "upload"},
            "products": {
                "packaging": {
                    "title": {"style": "funny"},
                    "description": {"type": "blog-post"},
                    "thumbnail": _THUMBNAIL,
                }
            },
        },
    ),
    (NewUploadSession, {"fileName": "a.mp4"}),
    (NewReviewLink, {"role": "view"}),
    (NewReviewComment, {"time": 1.5, "text": "Louder."}),
    (
        CreditBundle,
        {
            "dubs": [{"languages": ["pt"]}],
            "shorts": {"kind": "promo"},
            "zeroPromptThumbnail": {"enabled": True},
        },
    ),
    (NewDubs, {"languages": ["pt"]}),
    (DubRegenerationRequest, {"revision": 1}),
    (NewLinePreview, {"text": "Words"}),
    (WordingsRequest, {}),
    (RecognitionRequest, {"revision": 1}),
    (NewCaptions, {"languages": ["pt"]}),
    (Regeneration, {"revision": 1}),
    (NewRequest, {}),
    (NewRequest, {"kind": "promo"}),
    (NewRequest, {"kind": "clips"}),
    (NewThumbnail, {"prompt": "A lens", **_THUMBNAIL}),
    (
        NewPackaging,
        {
            "automationOptions": {
                "generateTitle": _TITLE,
                "generateDescription": _DESCRIPTION,
                "zeroPromptThumbnail": {"enabled": True, **_THUMBNAIL},
            }
        },
    ),
    (NewPackaging, {"generateTitle": _TITLE}),
    (ReviewDecision, {"approved": True}),
    (NewDownload, {"artifact": "source"}),
    (NewPlaybackCut, {"uncut": True}),
    (NewFolder, {"name": "Interviews"}),
    (NewGlossaryTerm, {"term": "gate", "language": "en", "keep": True}),
    (NewTermTranslation, {"text": "comporta"}),
    (NewCastMember, {"name": "Ana"}),
    (CastRecognition, {"recognizeSpeakers": True}),
    (NewWebhookEndpoint, {"url": "https://hooks.example.com/cutroom"}),
    (NewHosting, {}),
]


def resolve(schema: dict[str, Any]) -> dict[str, Any]:
    reference = schema.get("$ref")
    return resolve(DOCUMENT["components"]["schemas"][reference.rpartition("/")[2]]) if reference else schema


def objects(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every object in a body's schema, of every variant."""
    schema = resolve(schema)
    for option in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        yield from objects(option)
    if "items" in schema:
        yield from objects(schema["items"])
    if "properties" in schema:
        yield schema
        for field in schema["properties"].values():
            yield from objects(field)


CREATIONS = [
    pytest.param(path, operations["post"]["requestBody"]["content"][JSON]["schema"], id=path)
    for path, operations in DOCUMENT["paths"].items()
    if "post" in operations and "requestBody" in operations["post"] and path not in SPEECH
]


@pytest.mark.parametrize(("path", "schema"), CREATIONS)
def test_every_optional_field_is_documented_as_nullable(path: str, schema: dict[str, Any]) -> None:
    assert list(objects(schema)), path
    for each in objects(schema):
        optional = {name: field for name, field in each["properties"].items() if name not in each.get("required", ())}
        assert [name for name, field in optional.items() if {"type": "null"} not in field.get("anyOf", ())] == []


@pytest.mark.parametrize(("path", "schema"), CREATIONS)
def test_bodies_that_spend_credits_are_documented_as_closed(path: str, schema: dict[str, Any]) -> None:
    spends = path.rpartition("/")[2] in SPENDING
    for each in objects(schema):
        assert (each.get("additionalProperties") is False) == spends


def bodies_of_routes() -> Iterator[type[BaseModel]]:
    for route in APP.routes:
        if isinstance(route, APIRoute) and "POST" in (route.methods or ()) and route.path not in SPEECH:
            for parameter in route.dependant.body_params:
                yield from models_in(parameter.field_info.annotation)


def models_in(annotation: Any) -> Iterator[type[BaseModel]]:  # noqa: ANN401 (any annotation)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in getattr(annotation, "__args__", ()):
        yield from models_in(argument)


def test_every_creation_body_is_a_request_model() -> None:
    models = set(bodies_of_routes())
    assert {model.__name__ for model in models if not issubclass(model, RequestModel)} == set()
    assert {kind.__name__ for kind in (NewVideo, NewDubs, CreditBundle)} <= {model.__name__ for model in models}


def paths_in(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:  # noqa: ANN401 (JSON)
    """The paths of all objects in a body."""
    if isinstance(value, dict):
        yield path
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from paths_in(inner, (*path, key))


def with_field(body: Any, path: tuple[str | int, ...], name: str, value: Any) -> Any:  # noqa: ANN401 (JSON)
    if not path:
        return {**body, name: value}
    inner = with_field(body[path[0]], path[1:], name, value)
    if isinstance(body, list):
        return [*body[: int(path[0])], inner, *body[int(path[0]) + 1 :]]
    return {**body, path[0]: inner}


def model_at(model: Any, path: tuple[str | int, ...]) -> RequestModel:  # noqa: ANN401 (a model or a part of one)
    for key in path:
        is_index = isinstance(key, int)
        model = (
            model[key]
            if is_index
            else getattr(model, next(n for n, f in type(model).model_fields.items() if f.alias == key))
        )
    assert isinstance(model, RequestModel)
    return model


@pytest.mark.parametrize(("model", "body"), BODIES, ids=lambda value: getattr(value, "__name__", str(value)[:60]))
def test_null_means_absent(model: Any, body: dict[str, Any]) -> None:  # noqa: ANN401 (a model or a union)
    adapter: TypeAdapter[Any] = TypeAdapter(model)
    absent = adapter.validate_python(body)
    checked = 0
    for path in paths_in(body):
        part = model_at(absent, path)
        sent = _at(body, path)
        for name, field in type(part).model_fields.items():
            alias = field.alias or name
            if alias in sent or field.is_required():
                continue
            read = adapter.validate_python(with_field(body, path, alias, None))
            assert (read, model_at(read, path).model_fields_set) == (absent, part.model_fields_set), alias
            checked += 1
    assert checked or model in {NewWebhookEndpoint, NewHosting}


def _at(body: Any, path: tuple[str | int, ...]) -> Any:  # noqa: ANN401 (JSON)
    for key in path:
        body = body[key]
    return body


@pytest.mark.parametrize(("model", "body"), BODIES, ids=lambda value: getattr(value, "__name__", str(value)[:60]))
def test_null_for_a_required_field_is_rejected(model: Any, body: dict[str, Any]) -> None:  # noqa: ANN401
    adapter: TypeAdapter[Any] = TypeAdapter(model)
    absent = adapter.validate_python(body)
    for path in paths_in(body):
        for name, field in type(model_at(absent, path)).model_fields.items():
            if field.is_required() and model is not NewRequest:  # its `kind` is optional
                with pytest.raises(ValidationError):
                    adapter.validate_python(with_field(body, path, field.alias or name, None))


@pytest.mark.parametrize(("model", "body"), BODIES, ids=lambda value: getattr(value, "__name__", str(value)[:60]))
def test_unknown_fields_are_refused_where_credits_are_spent(model: Any, body: dict[str, Any]) -> None:  # noqa: ANN401
    adapter: TypeAdapter[Any] = TypeAdapter(model)
    absent = adapter.validate_python(body)
    for path in paths_in(body):
        changed = with_field(body, path, "colour", "red")
        if isinstance(model_at(absent, path), PricedRequest):
            with pytest.raises(ValidationError, match="Unknown field"):
                adapter.validate_python(changed)
        else:
            assert adapter.validate_python(changed) == absent


@pytest.mark.parametrize(
    ("model", "body", "hint"),
    [
        (NewThumbnail, {"prompt": "x", "pipelinMode": "thumbnail-precision"}, "Did you mean `pipelineMode`?"),
        (NewThumbnail, {"prompt": "x", "pipeline_Mode": "thumbnail-precision"}, "Did you mean `pipelineMode`?"),
        (NewRequest, {"kind": "promo", "numClip": 2}, "Did you mean `numClips`?"),
        (NewDubs, {"languages": ["pt"], "prodct": "premium"}, "Did you mean `product`?"),
        (CreditBundle, {"captionLanguages": ["pt"]}, "Did you mean `captionLanguageCodes`?"),
        (CreditBundle, {"zzz": 1}, "Unknown field. "),
    ],
)
def test_closest_known_field_is_named(model: Any, body: dict[str, Any], hint: str) -> None:  # noqa: ANN401
    with pytest.raises(ValidationError) as raised:
        TypeAdapter(model).validate_python(body)
    [error] = raised.value.errors()
    assert hint.strip() in error["msg"]
    assert ("Did you mean" in error["msg"]) == ("Did you mean" in hint)


KINDS = {"shorts": {}, "promo": {"kind": "promo"}, "clips": {"kind": "clips"}}


@pytest.mark.parametrize("kind", KINDS)
def test_fields_of_sibling_kinds_are_accepted_and_dropped(kind: str) -> None:
    adapter: TypeAdapter[Any] = TypeAdapter(NewRequest)
    plain = adapter.validate_python(KINDS[kind])
    siblings = {
        field.alias or name
        for each in KINDS
        for name, field in type(adapter.validate_python(KINDS[each])).model_fields.items()
    } - {field.alias or name for name, field in type(plain).model_fields.items()}
    assert siblings == type(plain).sibling_fields
    assert adapter.validate_python({**KINDS[kind], **dict.fromkeys(siblings, "anything")}) == plain


def test_fields_of_other_sources_and_modes_are_accepted_and_dropped() -> None:
    upload = NewVideo.model_validate({"source": {"type": "upload", "url": "https://a.example/b.mp4"}})
    assert upload == NewVideo.model_validate({"source": {"type": "upload"}})
    thumbnail = {"enabled": True, "mode": "zero_prompt", "prompt": "ignored"}
    body = NewPackaging.model_validate({"zeroPromptThumbnail": thumbnail})
    assert body == NewPackaging.model_validate({"zeroPromptThumbnail": {"enabled": True}})
