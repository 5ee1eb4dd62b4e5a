"""Temporal's server in production: its databases, and its configuration in Kubernetes and in Compose."""

import json
from collections.abc import AsyncIterator
from importlib.resources import files
from itertools import pairwise
from typing import Any

import asyncpg
import jsonschema
import pytest
import yaml

from cutroom.platform.settings import Settings
from dev import environment
from dev.environment import PROJECT, Port
from dev.kustomize import render
from dev.lint import MANIFESTS
from dev.services import postgres, temporal

DOCUMENTS = render(MANIFESTS / "temporal")
SQL = PROJECT / "deploy" / "postgres" / "temporal.sql"
DROP = PROJECT / "tests" / "deploy" / "drop_temporal.sql"


class _Loader(yaml.SafeLoader):
    """Reads Compose's tags of merging."""


def _plain(loader: _Loader, node: yaml.Node) -> Any:  # noqa: ANN401 (YAML)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    return loader.construct_mapping(node, deep=True) if isinstance(node, yaml.MappingNode) else None


for tag in ("!reset", "!override"):
    _Loader.add_constructor(tag, _plain)


def _compose(path: str) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.load((PROJECT / path).read_text(), _Loader)  # noqa: S506 (a safe loader)
    return loaded


def _of(kind: str, name: str) -> dict[str, Any]:
    (found,) = (each for each in DOCUMENTS if each["kind"] == kind and each["metadata"]["name"] == name)
    return found


COMPOSE = _compose("deploy/compose.temporal.yaml")
PASSWORD = "for-a-test"


@pytest.fixture
async def databases(settings: Settings) -> AsyncIterator[str]:
    """The address of PostgreSQL with Temporal's role and databases, which the script has created twice."""
    assert settings.redis_url  # the services run
    local = environment.read()
    cluster = postgres.find_cluster(local)
    try:
        for _ in range(2):
            postgres.run_script(cluster, SQL, variables={"TEMPORAL_POSTGRES_PASSWORD": PASSWORD})
        yield local.address(Port.POSTGRES)
    finally:
        postgres.run_script(cluster, DROP, variables={})


async def test_databases_belong_to_a_role_without_other_rights(databases: str) -> None:
    for name in ("temporal", "temporal_visibility"):
        connection = await asyncpg.connect(f"postgresql://temporal:{PASSWORD}@{databases}/{name}")
        await connection.execute("CREATE TABLE schema_version (version int)")
        await connection.close()
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await asyncpg.connect(f"postgresql://temporal:{PASSWORD}@{databases}/cutroom")


def _dynamic_flags() -> dict[str, Any]:
    """What the development server is started with."""
    local = environment.read()
    flags = temporal.flags(local, local.data_dir)
    values = [value for name, value in pairwise(flags) if name == "--dynamic-config-value"]
    return {name: json.loads(value) for name, _, value in (each.partition("=") for each in values)}


@pytest.mark.parametrize("where", ["kubernetes", "compose"])
def test_the_dynamic_configuration_is_that_of_development(where: str) -> None:
    in_compose = (PROJECT / "deploy" / "temporal" / "dynamic.yaml").read_text()
    text = _of("ConfigMap", "temporal-dynamic")["data"]["cutroom.yaml"] if where == "kubernetes" else in_compose
    assert {name: entry["value"] for name, [entry] in yaml.safe_load(text).items()} == _dynamic_flags()


def test_every_role_runs_and_only_the_frontend_is_called() -> None:
    pods = {each["metadata"]["name"]: each for each in DOCUMENTS if each["kind"] == "Deployment"}
    containers = [pod["spec"]["template"]["spec"]["containers"][0] for pod in pods.values()]
    roles = {each["value"] for container in containers for each in container["env"] if each["name"] == "SERVICES"}
    assert roles == {"frontend", "history", "matching", "worker"}
    assert pods.keys() == {f"temporal-{role}" for role in roles}
    service = _of("Service", "temporal-frontend")["spec"]
    assert service["selector"].items() <= pods["temporal-frontend"]["spec"]["selector"]["matchLabels"].items()
    assert {each["metadata"]["name"] for each in DOCUMENTS if each["kind"] == "PodDisruptionBudget"} == pods.keys()


def test_cutroom_calls_the_frontend_that_the_manifests_create() -> None:
    (config,) = (each for each in render(MANIFESTS / "base" / "setup") if each["kind"] == "ConfigMap")
    assert config["data"]["CUTROOM_TEMPORAL_ADDRESS"] == _of("ConfigMap", "temporal")["data"]["PUBLIC_FRONTEND_ADDRESS"]


def _merged() -> dict[str, Any]:
    """Both files, as Compose merges what this one uses: mappings by key, everything else replaced."""
    merged = _compose("compose.yaml")
    for name, service in COMPOSE["services"].items():
        known = merged["services"].setdefault(name, {})
        for field, value in service.items():
            if value is None:
                known.pop(field, None)
            elif isinstance(value, dict) and isinstance(known.get(field), dict):
                known[field] = known[field] | value
            else:
                known[field] = value
    return merged


def test_compose_files_fit_together() -> None:
    merged = _merged()
    vendor = files("check_jsonschema") / "builtin_schemas" / "vendor" / "compose-spec.json"
    jsonschema.validate(merged, json.loads(vendor.read_text()))
    services = merged["services"]
    assert "build" not in services["temporal"]
    assert "command" not in services["temporal"]
    for name, service in services.items():
        assert set(service.get("depends_on", ())) <= services.keys(), name


def test_compose_sets_the_namespace_up_before_it_is_used() -> None:
    known = {f"CUTROOM_{name.upper()}" for name in Settings.model_fields}
    services = _merged()["services"]
    setup = services["temporal-setup"]["environment"]
    assert setup.keys() <= known
    assert setup["CUTROOM_TEMPORAL_NAMESPACE"] != "default"
    for name in ("api", "worker"):
        assert setup.items() <= services[name]["environment"].items()
        assert services[name]["depends_on"]["temporal-setup"] == {"condition": "service_completed_successfully"}
