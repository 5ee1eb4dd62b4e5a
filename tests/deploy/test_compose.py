"""compose.yaml matches the code: settings, and a database role per process."""

import re
from typing import Any

import yaml

from cutroom.platform.settings import Settings
from dev.environment import PROJECT

KNOWN = {f"CUTROOM_{name.upper()}" for name in Settings.model_fields}
COMPOSE: dict[str, Any] = yaml.safe_load((PROJECT / "compose.yaml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]


def _roles(name: str) -> dict[str, str]:
    """The database role in each variable of a service."""
    variables = SERVICES[name].get("environment", {})
    return {key: re.split(r"[/:]", value)[3] for key, value in variables.items() if key.endswith("DATABASE_URL")}


def test_every_variable_of_our_processes_is_a_setting() -> None:
    for name in ("api", "worker", "migrate", "operator"):
        assert {key for key in SERVICES[name]["environment"] if key != "HOME"} <= KNOWN


def test_each_process_has_only_its_own_database_role() -> None:
    assert _roles("api") == {"CUTROOM_DATABASE_URL": "cutroom_api"}
    assert _roles("worker") == {
        "CUTROOM_DATABASE_URL": "cutroom_worker",
        "CUTROOM_RELAY_DATABASE_URL": "cutroom_relay",
    }
    assert _roles("migrate") == {"CUTROOM_OWNER_DATABASE_URL": "cutroom_owner"}
    assert set(_roles("operator").values()) == {"cutroom_owner"}
    assert {name for name in SERVICES if _roles(name)} == {"migrate", "api", "worker", "operator"}
    assert SERVICES["operator"]["profiles"] == ["operator"]  # it runs only when it is asked for


def test_every_container_is_confined() -> None:
    for name, service in SERVICES.items():
        assert service["read_only"], name
        assert service["cap_drop"] == ["ALL"], name
        assert "no-new-privileges:true" in service["security_opt"], name


def test_only_caddy_has_ports_on_the_host_and_the_api_trusts_its_address_only() -> None:
    assert [name for name, service in SERVICES.items() if "ports" in service] == ["caddy"]
    address = SERVICES["caddy"]["networks"]["edge"]["ipv4_address"]
    assert SERVICES["api"]["environment"]["CUTROOM_TRUSTED_PROXIES"] == address
    assert [name for name, service in SERVICES.items() if "edge" in service.get("networks", ())] == ["api", "caddy"]


def test_only_the_database_gets_every_password_and_the_development_role_is_not_created() -> None:
    sql = (PROJECT / "deploy" / "postgres" / "roles.sql").read_text()
    passwords = set(re.findall(r"^\\getenv \w+ (\w+)$", sql, re.MULTILINE))
    assert passwords - {"CUTROOM_APP_PASSWORD"} == {
        name for name in SERVICES["postgres"]["environment"] if name.startswith("CUTROOM_")
    }
    named = set(re.findall(r"\$\{(\w+):\?", (PROJECT / "compose.yaml").read_text()))
    example = (PROJECT / "deploy" / "compose.env.example").read_text()
    assert named == set(re.findall(r"^(\w+)=", example, re.MULTILINE))
