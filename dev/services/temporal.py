"""The local Temporal server: the development server with a durable SQLite file."""

import json
from pathlib import Path

from dev.environment import HOST, Port, Settings
from dev.probe import fetch, program_beside_python
from dev.services.process import Service

NAMESPACE = "default"
SEARCH_ATTRIBUTE = "LibraryId"


def service(settings: Settings) -> Service:
    folder = settings.data_dir / "temporal"
    return Service(
        name="temporal",
        port=settings.port(Port.TEMPORAL),
        command=(str(program_beside_python("temporal")), "server", "start-dev", *flags(settings, folder)),
        prepare=lambda: folder.mkdir(mode=0o700, parents=True, exist_ok=True),
        healthy=lambda: has_search_attribute(settings),
        variables={"GOMEMLIMIT": "1GiB"},
    )


def flags(settings: Settings, folder: Path) -> tuple[str, ...]:
    return (
        "--headless",
        # Three more listeners, on loopback too, take ports that the server picks; no flag moves them.
        *("--ip", HOST),
        *("--port", str(settings.port(Port.TEMPORAL))),
        *("--http-port", str(settings.port(Port.TEMPORAL_HTTP))),
        *("--metrics-port", str(settings.port(Port.TEMPORAL_METRICS))),
        *("--db-filename", str(folder / "temporal.db")),
        # WAL is four times faster than the default journal; FULL keeps acknowledged starts through a power cut.
        *("--sqlite-pragma", "journal_mode=WAL"),
        *("--sqlite-pragma", "synchronous=FULL"),
        # Fairness: a library with a thousand jobs must not delay another library's first.
        *("--dynamic-config-value", "matching.enableFairness=true"),
        *("--dynamic-config-value", "matching.useNewMatcher=true"),
        *("--search-attribute", f"{SEARCH_ATTRIBUTE}=Keyword"),
        *("--log-level", "warn"),
    )


def has_search_attribute(settings: Settings) -> bool:
    """The search attribute is registered last, when the namespace is usable."""
    address = settings.address(Port.TEMPORAL_HTTP)
    response = fetch(f"http://{address}/cluster/namespaces/{NAMESPACE}/search-attributes")
    return response is not None and SEARCH_ATTRIBUTE in json.loads(response).get("customAttributes", {})
