"""Renders our Kustomize folders without Kustomize: the features that they use, and an error for any other.

`kubectl kustomize` is the reference: a test compares the two where it is installed.
"""

import sys
from collections.abc import Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import yaml

Resource = dict[str, Any]

FIELDS = frozenset(
    {"apiVersion", "kind", "resources", "components", "configurations", "patches", "nameSuffix", "labels", "images"}
)
COMPONENT_FIELDS = frozenset({"apiVersion", "kind", "patches"})
# What identifies an element of a list when a patch is merged; other lists are replaced. From Kubernetes' API.
MERGE_KEYS: Mapping[str, str] = {
    "containers": "name",
    "env": "name",
    "volumes": "name",
    "volumeMounts": "mountPath",
    "ports": "containerPort",
    "topologySpreadConstraints": "topologyKey",
}
# Custom resources have no merge keys: all their lists are replaced.
STRATEGIC_GROUPS = frozenset({"v1", "apps/v1", "batch/v1", "policy/v1", "networking.k8s.io/v1", "autoscaling/v2"})


class KustomizeError(Exception):
    """A folder uses what this renderer does not know."""


def render(folder: Path) -> list[Resource]:
    """The resources of a folder and of those that it builds on."""
    kustomization = yaml.safe_load((folder / "kustomization.yaml").read_text())
    if unknown := kustomization.keys() - FIELDS:
        raise KustomizeError(f"{folder}: {sorted(unknown)}")
    resources = [each for name in kustomization.get("resources", ()) for each in _resources(folder / name)]
    for name in kustomization.get("components", ()):
        _apply_component(resources, folder / name)
    _apply_patches(resources, kustomization, folder=folder)
    _add_suffix(resources, kustomization.get("nameSuffix", ""))
    for label in kustomization.get("labels", ()):
        if label.keys() != {"pairs", "includeSelectors"} or not label["includeSelectors"]:
            raise KustomizeError(f"{folder}: labels {label}")
        for resource in resources:
            _add_labels(resource, label["pairs"])
    for image in kustomization.get("images", ()):
        _replace_image(resources, image)
    return resources


def _apply_component(resources: list[Resource], folder: Path) -> None:
    """Patches what the folder that names the component has loaded."""
    component = yaml.safe_load((folder / "kustomization.yaml").read_text())
    if component["kind"] != "Component" or component.keys() - COMPONENT_FIELDS:
        raise KustomizeError(f"{folder}: {sorted(component)}")
    _apply_patches(resources, component, folder=folder)


def _apply_patches(resources: list[Resource], kustomization: Resource, *, folder: Path) -> None:
    for patch in kustomization.get("patches", ()):
        if patch.keys() != {"path"}:
            raise KustomizeError(f"{folder}: patch {patch}")
        for change in _documents(folder / patch["path"]):
            _target(resources, change, folder=folder).update(_patched(resources, change, folder=folder))


def _resources(path: Path) -> list[Resource]:
    return render(path) if path.is_dir() else _documents(path)


def _documents(path: Path) -> list[Resource]:
    return [each for each in yaml.safe_load_all(path.read_text()) if each is not None]


def _identity(resource: Resource) -> tuple[str, str, str, str]:
    metadata = resource["metadata"]
    return resource["apiVersion"], resource["kind"], metadata.get("namespace", ""), metadata["name"]


def _target(resources: Sequence[Resource], change: Resource, *, folder: Path) -> Resource:
    found = [each for each in resources if _identity(each) == _identity(change)]
    if len(found) != 1:
        raise KustomizeError(f"{folder}: {len(found)} resources are {_identity(change)}")
    return found[0]


def _patched(resources: Sequence[Resource], change: Resource, *, folder: Path) -> Resource:
    strategic = change["apiVersion"] in STRATEGIC_GROUPS
    merged: Resource = merge(_target(resources, change, folder=folder), change, strategic=strategic)
    return merged


def merge(current: Any, change: Any, *, field: str = "", strategic: bool = True) -> Any:  # noqa: ANN401 (YAML)
    """A strategic merge patch: maps are merged, null deletes, lists with a merge key are merged by it."""
    if isinstance(current, dict) and isinstance(change, dict):
        if "$patch" in change:
            raise KustomizeError(f"patch directive in {field}")
        result = dict(current)
        for name, value in change.items():
            if value is None:
                result.pop(name, None)
            else:
                result[name] = merge(current.get(name), value, field=name, strategic=strategic)
        return result
    key = MERGE_KEYS.get(field)
    if strategic and key is not None and isinstance(current, list) and isinstance(change, list):
        present = {each[key]: each for each in current}
        changed = [merge(present.get(each[key]), each, strategic=strategic) for each in change]
        return [*changed, *(each for each in current if each[key] not in {one[key] for one in change})]
    return deepcopy(change)


def _add_suffix(resources: Sequence[Resource], suffix: str) -> None:
    """Renames every resource, and scalers' references to the deployments among them."""
    deployments = {each["metadata"]["name"] for each in resources if each["kind"] == "Deployment"}
    for resource in resources:
        resource["metadata"]["name"] += suffix
        target = resource.get("spec", {}).get("scaleTargetRef")
        if target is not None and target["name"] in deployments:
            target["name"] += suffix


def _add_labels(resource: Resource, pairs: Mapping[str, str]) -> None:
    """Adds labels to the resource, its pods and its selectors."""
    resource["metadata"].setdefault("labels", {}).update(pairs)
    spec = resource.get("spec", {})
    if resource["kind"] in {"Deployment", "PodDisruptionBudget"}:
        spec["selector"]["matchLabels"].update(pairs)
    if resource["kind"] == "Deployment":
        spec["template"]["metadata"]["labels"].update(pairs)
        for constraint in spec["template"]["spec"].get("topologySpreadConstraints", ()):
            constraint["labelSelector"]["matchLabels"].update(pairs)


def _replace_image(resources: Sequence[Resource], image: Mapping[str, str]) -> None:
    if unknown := image.keys() - {"name", "newName", "newTag", "digest"}:
        raise KustomizeError(f"image {sorted(unknown)}")
    name = image.get("newName", image["name"])
    reference = f"{name}@{image['digest']}" if "digest" in image else f"{name}:{image['newTag']}"
    for resource in resources:
        for container in resource.get("spec", {}).get("template", {}).get("spec", {}).get("containers", ()):
            if container["image"].partition("@")[0].rpartition(":")[0] == image["name"]:
                container["image"] = reference


def main(folders: Sequence[str]) -> int:
    """Print the rendered folders, like `kubectl kustomize`."""
    yaml.safe_dump_all([each for name in folders for each in render(Path(name))], sys.stdout, sort_keys=False)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
