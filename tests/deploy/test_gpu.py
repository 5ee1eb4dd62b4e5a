"""GPU workers in Compose and Kubernetes: settings, images and devices."""

from typing import Any

import yaml

from cutroom.platform.settings import Settings
from dev.environment import PROJECT
from dev.kustomize import render
from dev.lint import MANIFESTS

WORKER: dict[str, Any] = yaml.safe_load((PROJECT / "deploy" / "compose.gpu.yaml").read_text())["services"]["worker"]
IMAGE = "cutroom-worker-gpu"
DOCKERFILE = (PROJECT / "Dockerfile").read_text()


def _pods(name: str) -> dict[str, dict[str, Any]]:
    return {
        each["metadata"]["name"]: each["spec"]["template"]["spec"]
        for each in render(MANIFESTS / "example" / name)
        if each["kind"] == "Deployment"
    }


def _variables(pod: dict[str, Any]) -> dict[str, str]:
    return {each["name"]: each["value"] for each in pod["containers"][0]["env"]}


def _settings(variables: dict[str, str]) -> Settings:
    needed = {name: "x" * 32 for name, field in Settings.model_fields.items() if field.is_required()}
    given = {name.removeprefix("CUTROOM_").lower(): value for name, value in variables.items()}
    return Settings.model_validate({**needed, **given})


def test_compose_selects_the_gpu_for_the_worker() -> None:
    settings = _settings(WORKER["environment"])
    assert (settings.device, settings.video_encoder) == ("cuda", "h264_nvenc")
    assert (WORKER["image"], WORKER["build"]["target"]) == (IMAGE, "worker-gpu")
    (device,) = WORKER["deploy"]["resources"]["reservations"]["devices"]
    assert device["capabilities"] == ["gpu"]


def test_the_image_has_one_onnxruntime_and_asks_for_nvenc() -> None:
    build, image = (DOCKERFILE.partition(f"AS {name}\n")[2].partition("\nFROM ")[0] for name in STAGES)
    assert "--group gpu --no-install-package onnxruntime" in build
    assert "NVIDIA_DRIVER_CAPABILITIES=compute,utility,video" in image
    assert "USER 10001" in image


STAGES = ("build-worker-gpu", "worker-gpu")


def test_the_component_changes_three_deployments_and_nothing_else() -> None:
    before, after = _pods("run"), _pods("run-gpu")
    changed = {name for name, pod in after.items() if pod != before[name]}
    assert before.keys() == after.keys()
    assert changed == {"worker-speech", "worker-vision", "worker-media"}
    for name in changed:
        pod, old = after[name], before[name]["containers"][0]
        (container,) = pod["containers"]
        assert container["image"].startswith(f"registry.example.com/{IMAGE}:")
        assert container["resources"]["limits"] == {**old["resources"]["limits"], "nvidia.com/gpu": "1"}
        assert pod["nodeSelector"] == {"nvidia.com/gpu.present": "true"}
        assert [each["key"] for each in pod["tolerations"]] == ["nvidia.com/gpu"]


def test_engines_use_cuda_and_encodes_use_nvenc() -> None:
    pods, unchanged = _pods("run-gpu"), _pods("run")
    added = {
        name: dict(_variables(pod).items() - _variables(unchanged[name]).items())
        for name, pod in pods.items()
        if pod != unchanged[name]
    }
    assert added == {
        "worker-speech": {"CUTROOM_DEVICE": "cuda"},
        "worker-vision": {"CUTROOM_DEVICE": "cuda"},
        "worker-media": {"CUTROOM_VIDEO_ENCODER": "h264_nvenc"},
    }
    for variables in added.values():
        assert variables.keys() <= {f"CUTROOM_{name.upper()}" for name in _settings(variables).model_fields_set}
