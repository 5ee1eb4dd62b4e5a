"""Counts performed actions, and what is wrong with their entries."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass
class AuditTally:
    """Performed actions, operations that could not be performed, and a message for each fault."""

    actions: set[str] = field(default_factory=set)
    skipped: set[str] = field(default_factory=set)
    wrong: list[str] = field(default_factory=list)

    def check(
        self,
        action: str,
        entries: Sequence[Mapping[str, Any]],
        *,
        actor: Mapping[str, Any],
        targets: Mapping[str, Any],
        is_request: bool = True,
    ) -> None:
        """`entries` are those that appeared with the action; commands have no address and no request id."""
        self.actions.add(action)
        if [entry["action"] for entry in entries] != [action]:
            self.wrong.append(f"{action}: left {[entry['action'] for entry in entries]}")
            return
        (entry,) = entries
        if any(entry["actor"].get(name) != value for name, value in actor.items()):
            self.wrong.append(f"{action}: the actor is {entry['actor']}, not {actor}")
        if any(entry["targets"].get(name) != value for name, value in targets.items()) or not entry["targets"]:
            self.wrong.append(f"{action}: the targets are {entry['targets']}, not {targets}")
        if is_request and (entry.get("clientAddress") != "127.0.0.1" or "requestId" not in entry):
            self.wrong.append(f"{action}: the origin is missing: {entry}")

    def check_none(self, case: str, entries: Sequence[Mapping[str, Any]]) -> None:
        if entries:
            self.wrong.append(f"{case}: left {[entry['action'] for entry in entries]}")
