"""Our renderer of Kustomize folders, compared with Kustomize itself where that is installed."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from dev.kustomize import KustomizeError, merge, render
from dev.lint import APPLIED, MANIFESTS


def _by_name(resources: list[dict[str, Any]]) -> dict[tuple[str, str], dict[str, Any]]:
    return {(each["kind"], each["metadata"]["name"]): each for each in resources}


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed")
@pytest.mark.parametrize("name", APPLIED)
def test_renders_as_kustomize_does(name: str) -> None:
    command = ["kubectl", "kustomize", str(MANIFESTS / name)]
    reference = subprocess.run(command, check=True, capture_output=True).stdout
    assert _by_name(render(MANIFESTS / name)) == _by_name(list(yaml.safe_load_all(reference)))


@pytest.mark.parametrize(
    ("current", "change", "merged"),
    [
        ({"a": 1, "b": 2}, {"b": 3}, {"a": 1, "b": 3}),
        ({"a": 1, "b": 2}, {"b": None}, {"a": 1}),
        ({"a": {"b": 1, "c": 2}}, {"a": {"c": 3}}, {"a": {"b": 1, "c": 3}}),
        ({"args": [1, 2]}, {"args": [3]}, {"args": [3]}),
        (
            {"env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]},
            {"env": [{"name": "B", "value": "3"}, {"name": "C", "value": "4"}]},
            {
                "env": [
                    {"name": "B", "value": "3"},
                    {"name": "C", "value": "4"},
                    {"name": "A", "value": "1"},
                ]
            },
        ),
    ],
)
def test_merges_by_key(current: Any, change: Any, merged: Any) -> None:  # noqa: ANN401 (YAML)
    assert merge(current, change) == merged


def test_lists_of_custom_resources_are_replaced() -> None:
    current, change = {"env": [{"name": "A"}]}, {"env": [{"name": "B"}]}
    assert merge(current, change, strategic=False) == change


@pytest.mark.parametrize(
    "kustomization",
    [
        {"resources": [], "namePrefix": "x-"},
        {"patches": [{"patch": "..."}]},
        {"resources": [], "labels": [{"pairs": {"a": "b"}}]},
    ],
)
def test_rejects_what_it_does_not_know(tmp_path: Path, kustomization: dict[str, Any]) -> None:
    (tmp_path / "kustomization.yaml").write_text(yaml.safe_dump(kustomization))
    with pytest.raises(KustomizeError):
        render(tmp_path)


@pytest.mark.parametrize("component", [{"kind": "Kustomization"}, {"kind": "Component", "resources": ["x.yaml"]}])
def test_rejects_components_that_it_does_not_know(tmp_path: Path, component: dict[str, Any]) -> None:
    (tmp_path / "kustomization.yaml").write_text(yaml.safe_dump({"components": ["part"]}))
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / "kustomization.yaml").write_text(yaml.safe_dump(component))
    with pytest.raises(KustomizeError):
        render(tmp_path)


def test_rejects_a_patch_of_something_else(tmp_path: Path) -> None:
    (tmp_path / "kustomization.yaml").write_text(yaml.safe_dump({"patches": [{"path": "patch.yaml"}]}))
    patch = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}}
    (tmp_path / "patch.yaml").write_text(yaml.safe_dump(patch))
    with pytest.raises(KustomizeError, match="0 resources"):
        render(tmp_path)
