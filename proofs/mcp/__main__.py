"""Agents: every tool works with the official client, and nothing is spent without a confirmation within the limit."""

import random
import sys
import traceback
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.markup import escape

from proofs.contract.stage import open_stage
from proofs.mcp.adversary import Attack
from proofs.mcp.service import McpStage
from proofs.mcp.tools import CHECKS
from proofs.stage.report import Report, prove

ENOUGH = "100000"


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001, ARG001 (both forms are the same)
    failed: list[str] = []
    with TemporaryDirectory() as folder:
        async with open_stage("proof_mcp") as api:
            stage = McpStage(api, Path(folder))
            async with stage.stdio(ENOUGH) as tools:
                for check in CHECKS:
                    try:
                        await check(stage, tools)
                    except Exception:  # noqa: BLE001 (the other checks run)
                        failed.append(f"{check.__name__}: {traceback.format_exc(limit=-2)}")
                missing = sorted(set(tools.schemas) - set(tools.called))
                attack = Attack(stage, tools, random.Random(27))
                await attack.run()
    for note in (*failed, *missing, *attack.unconfirmed, *tools.mismatches):
        report.note(escape(note))
    report.claim("checks of tools that fail", expected="0", measured=str(len(failed)), holds=not failed)
    report.claim("tools never called", expected="0", measured=str(len(missing)), holds=not missing)
    report.claim(
        "adversarial calls that spend without a confirmation",
        expected="0 of >= 100",
        measured=f"{len(attack.unconfirmed)} of {attack.calls}",
        holds=not attack.unconfirmed and attack.calls >= 100,
    )
    mismatches = len(tools.mismatches)
    report.claim("results that break their schema", expected="0", measured=str(mismatches), holds=not mismatches)
    report.figures(
        tools=len(tools.schemas),
        tools_failed=len(failed) + len(missing),
        adversarial_calls=attack.calls,
        unconfirmed_spend=len(attack.unconfirmed),
        schema_mismatch=mismatches,
    )


if __name__ == "__main__":
    sys.exit(prove("MCP", proof))
