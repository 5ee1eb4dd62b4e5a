"""Kubernetes manifests match the code: queues, settings, pod security and network policies."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from cutroom.platform.settings import Settings
from cutroom.platform.task_queues import TaskQueue
from dev.environment import PROJECT

FOLDER = PROJECT / "deploy" / "kubernetes"
KNOWN = {f"CUTROOM_{name.upper()}" for name in Settings.model_fields}
OPENS_MEDIA = frozenset({"media", "speech", "voice", "vision", "download"})


def _documents() -> list[dict[str, Any]]:
    return [each for path in sorted(FOLDER.glob("*.yaml")) for each in yaml.safe_load_all(path.read_text())]


DOCUMENTS = _documents()
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
    assert names == {each["spec"]["scaleTargetRef"]["name"] for each in _of("HorizontalPodAutoscaler")}
    assert names == {each["spec"]["selector"]["matchLabels"]["part"] for each in _of("PodDisruptionBudget")}
    for name in names:
        assert {"startupProbe", "livenessProbe", "readinessProbe"} <= set(PODS[name]["containers"][0])


def test_network_access_is_denied_by_default() -> None:
    (closed,) = (each["spec"] for each in _of("NetworkPolicy") if each["metadata"]["name"] == "nothing")
    assert closed == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}


def test_only_three_deployments_reach_the_internet() -> None:
    (outside,) = (each["spec"] for each in _of("NetworkPolicy") if each["metadata"]["name"] == "outside")
    (expression,) = outside["podSelector"]["matchExpressions"]
    assert set(expression["values"]) == {"worker-egress", "worker-download", "pull-models"}


def test_seccomp_profile_allows_user_namespaces() -> None:
    profile = json.loads((FOLDER / "seccomp-worker.json").read_text())
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
