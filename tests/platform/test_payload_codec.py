"""Encrypted payloads: what Temporal stores, which key is used, and what is refused."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from temporalio.api.common.v1 import Payload
from temporalio.client import Client, WorkflowFailureError
from temporalio.converter import ActivitySerializationContext, PayloadCodec, WorkflowSerializationContext
from temporalio.exceptions import ApplicationError
from temporalio.worker import Replayer, Worker

from cutroom.platform.data_keys import SYSTEM
from cutroom.platform.ids import new_id
from cutroom.platform.payload_codec import ENCODING, payloads_of
from cutroom.platform.settings import Settings
from cutroom.platform.temporal import connect, data_converter
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Person
from tests.platform.canary_workflow import CanaryWorkflow, echo, fail_with
from tests.support.stored_payloads import stored_payloads

CANARY = "canary-7f3a91c2"
PLAIN = Payload(metadata={"encoding": b"json/plain"}, data=f'"{CANARY}"'.encode())


@pytest.fixture
def codec(runtime: Runtime) -> PayloadCodec:
    codec = data_converter(runtime.settings, database=runtime.database).payload_codec
    assert codec is not None
    return codec


def in_workflow(codec: PayloadCodec, workflow_id: str) -> PayloadCodec:
    context = WorkflowSerializationContext(namespace="default", workflow_id=workflow_id)
    return codec.with_context(context)  # type: ignore[attr-defined, no-any-return]


def in_activity(codec: PayloadCodec, workflow_id: str) -> PayloadCodec:
    context = ActivitySerializationContext(
        namespace="default",
        activity_id="1",
        activity_type="echo",
        activity_task_queue="control",
        workflow_id=workflow_id,
        workflow_type="canary",
        is_local=False,
    )
    return codec.with_context(context)  # type: ignore[attr-defined, no-any-return]


async def test_payload_round_trips_and_shows_nothing(codec: PayloadCodec, person: Person) -> None:
    with payloads_of(person.library_id):
        first, second = await codec.encode([PLAIN, PLAIN])
    assert dict(first.metadata) == {"encoding": ENCODING, "library": person.library_id.encode()}
    assert CANARY.encode() not in first.SerializeToString()
    assert first.data != second.data
    assert await codec.decode([first, second]) == [PLAIN, PLAIN]


async def test_plain_payload_of_an_old_history_is_left_as_it_is(codec: PayloadCodec) -> None:
    assert await codec.decode([PLAIN]) == [PLAIN]
    assert await codec.encode([]) == []


async def test_changed_payload_is_refused(codec: PayloadCodec, accounts: Accounts, person: Person) -> None:
    other = await accounts.person()
    await codec.encode([PLAIN])  # the system has a key, and so has another library
    with payloads_of(other.library_id):
        await codec.encode([PLAIN])
    with payloads_of(person.library_id):
        [sealed] = await codec.encode([PLAIN])
    for position in (0, 11, 12, len(sealed.data) - 1):
        data = bytearray(sealed.data)
        data[position] ^= 1
        with pytest.raises(ValueError, match="modified"):
            await codec.decode([Payload(metadata=sealed.metadata, data=bytes(data))])
    for library_id in (other.library_id.encode(), b"system", b"", b"\xff", b"a\0b"):
        metadata = {**sealed.metadata, "library": library_id}
        with pytest.raises(ValueError):  # noqa: PT011 (which one does not matter)
            await codec.decode([Payload(metadata=metadata, data=sealed.data)])


async def test_workflow_continues_with_the_key_of_its_input(codec: PayloadCodec, person: Person) -> None:
    workflow_id = new_id()
    with payloads_of(person.library_id):
        [given] = await in_workflow(codec, workflow_id).encode([PLAIN])
    await in_workflow(codec, workflow_id).decode([given])  # as a worker does before anything else
    for each in (in_workflow(codec, workflow_id), in_activity(codec, workflow_id)):
        [sent] = await each.encode([PLAIN])
        assert sent.metadata["library"] == person.library_id.encode()
    [system] = await in_workflow(codec, new_id()).encode([PLAIN])
    assert system.metadata["library"] == SYSTEM.encode()
    await in_workflow(codec, workflow_id).decode([system])  # such as a signal of a process that knows nothing of it
    [sent] = await in_workflow(codec, workflow_id).encode([PLAIN])
    assert sent.metadata["library"] == person.library_id.encode()


@pytest.fixture
async def client(settings: Settings, runtime: Runtime) -> AsyncIterator[Client]:
    client = await connect(settings, database=runtime.database)
    workers = Worker(client, task_queue="canary", workflows=[CanaryWorkflow], activities=[echo, fail_with])
    async with workers:
        yield client


async def test_temporal_stores_no_plain_text(client: Client, settings: Settings, person: Person) -> None:
    workflow_id = f"canary_{new_id()}"
    with payloads_of(person.library_id):
        handle = await client.start_workflow(
            CanaryWorkflow.run, args=[CANARY, True], id=workflow_id, task_queue="canary"
        )
        assert handle.first_execution_run_id is not None
        await handle.signal(CanaryWorkflow.set_text, CANARY)
    assert await handle.query(CanaryWorkflow.text) in {"", CANARY}  # of the first or of the second run
    with pytest.raises(WorkflowFailureError) as failed:
        await handle.result()
    assert isinstance(failed.value.cause, ApplicationError)
    assert failed.value.cause.message == f"at last: {CANARY}"
    plain_client = await Client.connect(settings.temporal_address, namespace=settings.temporal_namespace)
    stored: list[dict[str, Any]] = []
    for run_id in (handle.first_execution_run_id, None):
        history = await plain_client.get_workflow_handle(workflow_id, run_id=run_id).fetch_history()
        assert CANARY not in history.to_json()
        stored += stored_payloads(history)
        await Replayer(workflows=[CanaryWorkflow], data_converter=client.data_converter).replay_workflow(history)
    assert len(stored) >= 8
    assert {each["encoding"] for each in stored} == {ENCODING}
    assert {each["library"] for each in stored} == {person.library_id.encode()}
    assert not any(CANARY.encode() in each["data"] for each in stored)
