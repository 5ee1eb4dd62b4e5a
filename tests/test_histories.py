"""Workflows replay recorded histories, so that incompatible changes fail here."""

import json
from pathlib import Path

import pytest
from temporalio.client import WorkflowHistory
from temporalio.contrib.opentelemetry import TracingInterceptor
from temporalio.worker import Replayer
from temporalio.workflow import _Definition

from cutroom.entrypoints.worker import WORKFLOWS

FOLDER = Path(__file__).with_name("histories")
HISTORIES = sorted(FOLDER.glob("*.json"))
EVERY = [workflow for workflows in WORKFLOWS.values() for workflow in workflows]


@pytest.mark.parametrize("interceptors", [[], [TracingInterceptor()]], ids=["plain", "traced"])
@pytest.mark.parametrize("path", HISTORIES, ids=[path.stem for path in HISTORIES])
async def test_recorded_history_replays(path: Path, interceptors: list[TracingInterceptor]) -> None:
    history = WorkflowHistory.from_json(path.stem, path.read_text())
    await Replayer(workflows=EVERY, interceptors=interceptors).replay_workflow(history)


def test_every_workflow_has_a_history() -> None:
    started = [json.loads(path.read_text())["events"][0] for path in HISTORIES]
    recorded = {event["workflowExecutionStartedEventAttributes"]["workflowType"]["name"] for event in started}
    named = {definition.name for each in EVERY if (definition := _Definition.from_class(each)) is not None}
    assert recorded == named
