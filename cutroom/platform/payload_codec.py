"""Encrypts the payloads of workflows with the data keys of their libraries, so that Temporal stores no plain text.

Codecs run outside of the workflow sandbox, before payloads are sent and after they are received.
"""

import secrets
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Self

from cryptography.exceptions import InvalidTag
from temporalio.api.common.v1 import Payload
from temporalio.converter import (
    ActivitySerializationContext,
    DataConverter,
    DefaultFailureConverterWithEncodedAttributes,
    PayloadCodec,
    SerializationContext,
    WithSerializationContext,
    WorkflowSerializationContext,
)

from cutroom.platform.data_keys import SYSTEM, DataKey, DataKeys
from cutroom.platform.ids import is_id

ENCODING = b"binary/encrypted"
ENCODING_FIELD, LIBRARY_FIELD = "encoding", "library"
# More than the SDK caches, in all task queues: a workflow that it has dropped is read from its beginning again.
MAX_WORKFLOWS = 20_000
_NONCE_BYTES = 12
_library: ContextVar[str | None] = ContextVar("payload_library", default=None)


@contextmanager
def payloads_of(library_id: str) -> Iterator[None]:
    """Encrypts what is sent inside the block with the key of this library; its workflows continue with it."""
    token = _library.set(library_id)
    try:
        yield
    finally:
        _library.reset(token)


class WorkflowLibraries:
    """The libraries of workflows, read from the payloads that they were started with."""

    def __init__(self) -> None:
        self._libraries: OrderedDict[str, str] = OrderedDict()

    def remember(self, workflow_id: str, library_id: str) -> None:
        self._libraries[workflow_id] = library_id
        self._libraries.move_to_end(workflow_id)
        if len(self._libraries) > MAX_WORKFLOWS:
            self._libraries.popitem(last=False)

    def find(self, workflow_id: str) -> str | None:
        return self._libraries.get(workflow_id)


class EncryptingCodec(PayloadCodec, WithSerializationContext):
    """Encrypts with AES-256-GCM; each payload says whose key it needs. Payloads in plain text are left as they are."""

    def __init__(
        self, keys: DataKeys, libraries: WorkflowLibraries | None = None, *, workflow_id: str | None = None
    ) -> None:
        self._keys = keys
        self._libraries = libraries if libraries is not None else WorkflowLibraries()
        self._workflow_id = workflow_id

    def with_context(self, context: SerializationContext) -> Self:
        if not isinstance(context, (WorkflowSerializationContext, ActivitySerializationContext)):
            return self
        return type(self)(self._keys, self._libraries, workflow_id=context.workflow_id)

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        if not payloads:
            return []
        key = await self._keys.for_encryption(self._library_id())
        return [_encrypt(each, key) for each in payloads]

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return [await self._decode(each) for each in payloads]

    def _library_id(self) -> str:
        known = self._libraries.find(self._workflow_id) if self._workflow_id is not None else None
        return _library.get() or known or SYSTEM

    async def _decode(self, payload: Payload) -> Payload:
        if payload.metadata.get(ENCODING_FIELD) != ENCODING:
            return payload
        library_id = payload.metadata.get(LIBRARY_FIELD, b"").decode()
        if library_id != SYSTEM and not is_id(library_id):
            raise ValueError("the payload does not say whose key it needs")
        plain = _decrypt(payload, await self._keys.for_decryption(library_id))
        if self._workflow_id is not None and library_id != SYSTEM:
            self._libraries.remember(self._workflow_id, library_id)
        return plain


def encrypting_converter(keys: DataKeys) -> DataConverter:
    """Converts as the SDK does, and encrypts; messages and stack traces of failures are payloads too."""
    return DataConverter(
        payload_codec=EncryptingCodec(keys), failure_converter_class=DefaultFailureConverterWithEncodedAttributes
    )


def _encrypt(payload: Payload, key: DataKey) -> Payload:
    nonce, library_id = secrets.token_bytes(_NONCE_BYTES), key.library_id.encode()
    sealed = nonce + key.cipher.encrypt(nonce, payload.SerializeToString(), library_id)
    return Payload(metadata={ENCODING_FIELD: ENCODING, LIBRARY_FIELD: library_id}, data=sealed)


def _decrypt(payload: Payload, key: DataKey) -> Payload:
    try:
        plain = key.cipher.decrypt(payload.data[:_NONCE_BYTES], payload.data[_NONCE_BYTES:], key.library_id.encode())
    except InvalidTag as error:
        raise ValueError("the payload was modified, or encrypted with another key") from error
    return Payload.FromString(plain)
