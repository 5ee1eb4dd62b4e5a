"""JSON bodies of the library's own bucket and of the copies in it."""

from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field, SecretStr
from pydantic.config import JsonDict

from cutroom.retention.copies.rules import (
    ACCESS_KEY_PATTERN,
    BUCKET_PATTERN,
    MAX_URL_LENGTH,
    PREFIX_PATTERN,
    REGION_PATTERN,
    CopyStatus,
    endpoint_error,
)
from cutroom.web.schema import ApiModel, ClosedModel, Omittable, RequestModel, Uri

MAX_PREFIX, MAX_SECRET = 200, 256
_EXAMPLE: JsonDict = {
    "endpoint": "https://s3.eu-central-1.amazonaws.com",
    "region": "eu-central-1",
    "bucket": "my-outputs",
    "prefix": "cutroom",
    "accessKeyId": "AKIAIOSFODNN7EXAMPLE",
    "enabled": False,
}


def _validate_endpoint(endpoint: str) -> str:
    if problem := endpoint_error(endpoint):
        raise ValueError(problem)
    return endpoint


def _validate_secret(secret: SecretStr) -> SecretStr:
    if not all(32 < ord(character) < 127 for character in secret.get_secret_value()):
        raise ValueError("A secret access key has printable ASCII characters only.")
    return secret


Endpoint = Annotated[
    str,
    AfterValidator(_validate_endpoint),
    Field(
        description="The public HTTPS URL of the store, without the bucket.",
        json_schema_extra={"format": "uri", "maxLength": MAX_URL_LENGTH, "pattern": "^https://"},
    ),
]
Secret = Annotated[
    SecretStr,
    AfterValidator(_validate_secret),
    Field(min_length=1, max_length=MAX_SECRET, description="Stored encrypted and never returned. Absent keeps it."),
]


class DestinationSettings(ClosedModel, RequestModel):
    """A bucket to copy outputs to."""

    model_config = ConfigDict(json_schema_extra={"examples": [{**_EXAMPLE, "secretAccessKey": "a-secret"}]})

    endpoint: Endpoint
    region: Annotated[str, Field(pattern=REGION_PATTERN, description="The region of the bucket.")]
    bucket: Annotated[str, Field(pattern=BUCKET_PATTERN, description="The name of the bucket.")]
    prefix: Annotated[
        str, Field(max_length=MAX_PREFIX, pattern=PREFIX_PATTERN, description="Begins the key of every copy.")
    ] = ""
    access_key_id: Annotated[str, Field(pattern=ACCESS_KEY_PATTERN, description="The id of the access key.")]
    secret_access_key: Secret | None = None
    enabled: Annotated[bool, Field(description="Whether outputs are copied. A disabled bucket is not tested.")] = True


class Destination(ApiModel):
    """The bucket that outputs are copied to, without its secret access key."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    endpoint: Uri
    region: str
    bucket: str
    prefix: str
    access_key_id: str
    enabled: bool


class OutputCopy(ApiModel):
    """The copy of one job's files."""

    id: str
    job_id: str
    video_id: str
    status: CopyStatus
    error: Annotated[Omittable[str], Field(description="Why the copy failed.")] = None
    objects: Annotated[int, Field(ge=0, description="Files in the bucket after the last complete run.")]
    bytes: Annotated[int, Field(ge=0, description="Size of these files.")]
    created_at: datetime
    copied_at: Annotated[Omittable[datetime], Field(description="When the last complete run ended.")] = None


class OutputCopyPage(ApiModel):
    """A page of copies."""

    copies: list[OutputCopy]
    next_page_token: Annotated[
        Omittable[str], Field(description="Pass it as `pageToken` to get the next page. Absent on the last page.")
    ] = None
