"""Workflows replay recorded histories, so that incompatible changes fail here."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from temporalio.client import WorkflowHistory
from temporalio.contrib.opentelemetry import TracingInterceptor
from temporalio.worker import Replayer
from temporalio.workflow import _Definition

from cutroom.entrypoints.worker import WORKFLOWS
from cutroom.platform.settings import Settings
from cutroom.platform.temporal import data_converter

FOLDER = Path(__file__).with_name("histories")
HISTORIES = sorted(FOLDER.glob("*.json"))
EVERY = [workflow for workflows in WORKFLOWS.values() for workflow in workflows]


async def histories() -> AsyncIterator[WorkflowHistory]:
    for path in HISTORIES:
        yield WorkflowHistory.from_json(path.stem, path.read_text())


@pytest.mark.parametrize("interceptors", [[], [TracingInterceptor()]], ids=["plain", "traced"])
async def test_recorded_histories_replay(interceptors: list[TracingInterceptor]) -> None:
    """All with one replayer, because it prepares the sandbox of every workflow."""
    await check(Replayer(workflows=EVERY, interceptors=interceptors))


async def test_histories_in_plain_text_replay_with_encryption(settings: Settings) -> None:
    await check(Replayer(workflows=EVERY, data_converter=data_converter(settings)))


async def check(replayer: Replayer) -> None:
    async with replayer.workflow_replay_iterator(histories()) as results:
        failures = {each.history.workflow_id: each.replay_failure async for each in results}
    assert failures == {path.stem: None for path in HISTORIES}


def test_every_workflow_has_a_history() -> None:
    started = [json.loads(path.read_text())["events"][0] for path in HISTORIES]
    recorded = {event["workflowExecutionStartedEventAttributes"]["workflowType"]["name"] for event in started}
    named = {definition.name for each in EVERY if (definition := _Definition.from_class(each)) is not None}
    assert recorded == named
