"""Kubernetes manifests match the code: queues, settings, pod security and network policies."""

import json
import re
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

from cutroom.platform.settings import Settings
from cutroom.platform.task_queues import TaskQueue
from dev.environment import PROJECT
from dev.kustomize import render
from dev.lint import MANIFESTS

DRAIN_SECONDS = 15  # after the grace time, to give tasks back and to close connections
KNOWN = {f"CUTROOM_{name.upper()}" for name in Settings.model_fields}
OPENS_MEDIA = frozenset({"media", "speech", "voice", "vision", "download"})


DOCUMENTS = [each for name in ("setup", "run") for each in render(MANIFESTS / "example" / name)]
PODS = {
    each["metadata"]["name"]: each["spec"]["template"]["spec"]
    for each in DOCUMENTS
    if each["kind"] in {"Deployment", "Job"}
}


def _of(kind: str) -> Iterator[dict[str, Any]]:
    return (each for each in DOCUMENTS if each["kind"] == kind)


def _queues(pod: dict[str, Any]) -> set[str]:
    found = [each["value"] for each in pod["containers"][0].get("env", ()) if each["name"] == "CUTROOM_WORKER_QUEUES"]
    return set(found[0].split(",")) if found else set()


def test_every_queue_is_served() -> None:
    served = {queue for pod in PODS.values() for queue in _queues(pod)}
    assert served == set(TaskQueue)


def test_every_variable_is_a_setting() -> None:
    named = {name for each in DOCUMENTS for name in (*each.get("data", ()), *each.get("stringData", ()))}
    for pod in PODS.values():
        named |= {each["name"] for each in pod["containers"][0].get("env", ()) if each["name"] != "HOME"}
    assert named <= KNOWN


def test_required_settings_are_provided() -> None:
    given = {name for each in DOCUMENTS for name in (*each.get("data", ()), *each.get("stringData", ()))}
    needed = {f"CUTROOM_{name.upper()}" for name, field in Settings.model_fields.items() if field.is_required()}
    assert needed <= given


@pytest.mark.parametrize("name", sorted(PODS))
class TestPod:
    def test_is_restricted(self, name: str) -> None:
        pod = PODS[name]
        (container,) = pod["containers"]
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["seccompProfile"]["type"] in {"RuntimeDefault", "Localhost"}
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }

    def test_has_resource_limits(self, name: str) -> None:
        resources = PODS[name]["containers"][0]["resources"]
        assert {"cpu", "memory"} <= set(resources["requests"])
        assert "memory" in resources["limits"]
        for volume in PODS[name]["volumes"]:
            assert "sizeLimit" in volume.get("emptyDir", {"sizeLimit": ""})

    def test_has_only_the_database_role_of_its_process(self, name: str) -> None:
        sources = {each["secretRef"]["name"] for each in _sources(name) if "secretRef" in each}
        assert ("cutroom-owner" in sources) is (name == "migrate")
        assert ("cutroom-api" in sources) is (name == "api")
        assert ("cutroom-worker" in sources) is name.startswith("worker-")

    def test_only_media_workers_use_the_wider_seccomp_profile(self, name: str) -> None:
        profile = PODS[name]["securityContext"]["seccompProfile"]
        wide = {"type": "Localhost", "localhostProfile": "cutroom-worker.json"}
        assert (profile == wide) is bool(_queues(PODS[name]) & OPENS_MEDIA)


def _sources(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = PODS[name]["containers"][0].get("envFrom", [])
    return found


def test_every_deployment_has_probes_an_autoscaler_and_a_disruption_budget() -> None:
    names = {each["metadata"]["name"] for each in _of("Deployment")}
    scalers = [*_of("HorizontalPodAutoscaler"), *_of("ScaledObject")]
    assert sorted(names) == sorted(each["spec"]["scaleTargetRef"]["name"] for each in scalers)
    assert names == {each["spec"]["selector"]["matchLabels"]["part"] for each in _of("PodDisruptionBudget")}
    for name in names:
        assert {"startupProbe", "livenessProbe", "readinessProbe"} <= set(PODS[name]["containers"][0])


# The documented fields of KEDA's ScaledObject and of its scalers, as far as used: a typo is not ignored.
SCALED_OBJECT = {
    "type": "object",
    "additionalProperties": False,
    "required": ["scaleTargetRef", "minReplicaCount", "maxReplicaCount", "triggers"],
    "properties": {
        "scaleTargetRef": {"type": "object", "required": ["name"]},
        "pollingInterval": {"type": "integer"},
        "minReplicaCount": {"type": "integer", "minimum": 0},
        "maxReplicaCount": {"type": "integer", "minimum": 1},
        "advanced": {"type": "object"},
        "triggers": {
            "type": "array",
            "minItems": 1,
            "items": {
                "oneOf": [
                    {
                        "type": "object",
                        "additionalProperties": False,
                        "required": ["type", "metadata"],
                        "properties": {
                            "type": {"const": "temporal"},
                            "metadata": {
                                "type": "object",
                                "additionalProperties": {"type": "string"},
                                "propertyNames": {
                                    "enum": ["endpoint", "namespace", "taskQueue", "queueTypes", "targetQueueSize"]
                                },
                                "required": ["endpoint", "namespace", "taskQueue", "queueTypes", "targetQueueSize"],
                            },
                        },
                    },
                    {
                        "type": "object",
                        "additionalProperties": False,
                        "required": ["type", "metricType", "metadata"],
                        "properties": {
                            "type": {"const": "cpu"},
                            "metricType": {"const": "Utilization"},
                            "metadata": {"type": "object", "required": ["value"]},
                        },
                    },
                ]
            },
        },
    },
}


def _config() -> dict[str, str]:
    (config,) = (each["data"] for each in _of("ConfigMap") if each["metadata"]["name"] == "cutroom")
    return {str(name): str(value) for name, value in config.items()}


def test_each_worker_scales_on_the_depth_of_its_own_queue() -> None:
    queues = {}
    for each in _of("ScaledObject"):
        jsonschema.validate(each["spec"], SCALED_OBJECT)
        trigger = each["spec"]["triggers"][0]["metadata"]
        queues[each["spec"]["scaleTargetRef"]["name"]] = {trigger["taskQueue"]}
        assert trigger["endpoint"] == _config()["CUTROOM_TEMPORAL_ADDRESS"]
        assert trigger["namespace"] == _config()["CUTROOM_TEMPORAL_NAMESPACE"]
        serves_workflows = trigger["taskQueue"] in {TaskQueue.CONTROL, TaskQueue.EGRESS}
        assert ("workflow" in trigger["queueTypes"]) is serves_workflows
    assert queues == {name: _queues(pod) for name, pod in PODS.items() if name.startswith("worker-")}


@pytest.mark.parametrize("name", sorted(name for name in PODS if name.startswith("worker-")))
class TestWorkerPod:
    def test_has_time_to_drain(self, name: str) -> None:
        grace = float(_config()["CUTROOM_SHUTDOWN_GRACE_SECONDS"])
        assert PODS[name]["terminationGracePeriodSeconds"] >= grace + DRAIN_SECONDS

    def test_is_probed_where_the_worker_serves_its_health(self, name: str) -> None:
        (container,) = PODS[name]["containers"]
        ports = {each["name"]: str(each["containerPort"]) for each in container["ports"]}
        assert ports["health"] == _config()["CUTROOM_WORKER_HEALTH_PORT"]
        assert ports["metrics"] == _config()["CUTROOM_WORKER_METRICS_PORT"]
        paths = {probe: container[probe]["httpGet"] for probe in ("startupProbe", "livenessProbe", "readinessProbe")}
        assert paths == {
            "startupProbe": {"path": "/live", "port": "health"},
            "livenessProbe": {"path": "/live", "port": "health"},
            "readinessProbe": {"path": "/ready", "port": "health"},
        }


def test_selectors_of_deployments_are_disjoint() -> None:
    parts = [each["spec"]["selector"]["matchLabels"]["part"] for each in _of("Deployment")]
    assert len(parts) == len(set(parts))
    for each in _of("Deployment"):
        assert each["spec"]["selector"]["matchLabels"].items() <= each["spec"]["template"]["metadata"]["labels"].items()


def test_images_are_replaced_everywhere() -> None:
    images = {container["image"] for pod in PODS.values() for container in pod["containers"]}
    assert {each.partition("/")[0] for each in images} == {"registry.example.com"}


def test_network_access_is_denied_by_default() -> None:
    (closed,) = (each["spec"] for each in _of("NetworkPolicy") if each["metadata"]["name"] == "nothing")
    assert closed == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}


def test_only_three_deployments_reach_the_internet() -> None:
    (outside,) = (each["spec"] for each in _of("NetworkPolicy") if each["metadata"]["name"] == "outside")
    (expression,) = outside["podSelector"]["matchExpressions"]
    assert set(expression["values"]) == {"worker-egress", "worker-download", "pull-models"}


def test_seccomp_profile_allows_user_namespaces() -> None:
    profile = json.loads((MANIFESTS / "seccomp-worker.json").read_text())
    refused = {name for each in profile["syscalls"] for name in each["names"]}
    assert profile["defaultAction"] == "SCMP_ACT_ALLOW"
    assert not refused & {"clone", "clone3", "unshare", "mount", "umount2", "pivot_root", "setns"}
    assert {"bpf", "kexec_load", "init_module", "ptrace"} <= refused


def test_worker_image_installs_the_bootstrap_packages() -> None:
    bootstrap, image = (PROJECT / "dev" / "bootstrap").read_text(), (PROJECT / "Dockerfile").read_text()
    needed = {"bubblewrap", "espeak-ng", "ffmpeg", "fontconfig", "apertium"}
    needed |= set(re.findall(r"\b(fonts-[a-z-]+|apertium-[a-z-]+)\b", bootstrap))
    stage = image.partition("AS worker")[2].partition("FROM ")[0]
    assert {name for name in needed if not re.search(rf"(?<![\w-]){name}(?![\w-])", stage)} == set()
