"""The clients: nothing is created twice, resent in vain, retried against the contract, or spent beyond a limit."""

import ast
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from cutroom.errors import Code
from dev.environment import PROJECT
from proofs.clients.coverage import cover
from proofs.clients.drivers import Kind, driver, kinds
from proofs.clients.fault_proxy import FaultProxy, fault_proxy
from proofs.clients.traffic import duplicates, send_traffic, spend
from proofs.clients.uploads import KilledUploads, kill_uploads
from proofs.contract.stage import OWNER, Stage, open_stage
from proofs.stage.report import Report, prove

RECIPE = PROJECT / "clients" / "python" / "examples" / "dub.py"
MAX_LINES = 12
MAX_RESENT = 0.1


@dataclass(frozen=True, slots=True)
class Form:
    """How much is sent."""

    calls: int
    files: int
    megabytes: int
    kills: int


LONG = Form(calls=2_400, files=4, megabytes=48, kills=5)
SHORT = Form(calls=120, files=1, megabytes=16, kills=2)


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    form = SHORT if short else LONG
    async with (
        fault_proxy(0, seed=0, faulty=False) as proxy,
        open_stage("proof_clients", public_url=f"http://127.0.0.1:{proxy.port}") as stage,
    ):
        proxy.upstream_port = port_of(stage)
        for kind in kinds():
            with TemporaryDirectory(prefix="cutroom-clients-") as folder, report.timed(kind.name):
                await _prove_client(report, stage, kind, proxy, Path(folder), form)
    lines = len(code_lines(RECIPE.read_text(encoding="utf-8")))
    report.claim("lines from an upload to a dub", expected=f"<= {MAX_LINES}", measured=lines, holds=lines <= MAX_LINES)
    report.figures(lines_upload_to_dub=lines)


async def _prove_client(report: Report, stage: Stage, kind: Kind, proxy: FaultProxy, folder: Path, form: Form) -> None:
    name, prefix = kind.name, "" if kind.name == "python" else f"{kind.name}_"
    key = stage.callers[OWNER].headers["Authorization"].split()[1]
    async with driver(kind, port_of(stage), key, folder / "state") as client:
        coverage = await cover(stage, client)
        overspent, limited = await spend(stage, client)
        classes = (await client.ask({"errors": True}))["result"]
    for operation, reason in coverage.missing.items():
        report.note(f"{name}: {operation}: {reason[:300]}")
    reached, total = len(coverage.reached), coverage.total
    report.claim(f"{name}: operations", expected=str(total), measured=reached, holds=reached == total)
    report.claim(
        f"{name}: charged above the limit", expected="0", measured=f"{overspent} of {limited}", holds=not overspent
    )
    missing = sorted({each.value for each in Code} - classes.keys())
    distinct = len(set(classes.values())) == len(classes)
    report.claim(
        f"{name}: error codes without a class", expected="0", measured=missing or 0, holds=not missing and distinct
    )
    report.figures(
        **{
            f"{prefix}operations_covered": reached,
            f"{prefix}operations_total": total,
            f"{prefix}overspent": overspent,
            f"{prefix}typed_errors_missing": len(missing),
        }
    )
    await _prove_traffic(report, stage, kind, folder, form)
    uploads = await kill_uploads(
        stage, kind, proxy, folder, files=form.files, megabytes=form.megabytes, kills=form.kills
    )
    _prove_uploads(report, kind, uploads, form)


async def _prove_traffic(report: Report, stage: Stage, kind: Kind, folder: Path, form: Form) -> None:
    name, prefix = kind.name, "" if kind.name == "python" else f"{kind.name}_"
    traffic = await send_traffic(stage, kind, folder / "state", calls=form.calls)
    twice, lost = await duplicates(stage, kind, traffic.created)
    faults = traffic.attempts - traffic.faults.get("none", 0)  # type: ignore[call-overload]
    report.claim(
        f"{name}: calls through the proxy",
        expected=f">= {form.calls}, with faults",
        measured=f"{traffic.calls} calls, {traffic.attempts} attempts, {faults} faults, {traffic.failed} failed",
        holds=traffic.calls >= form.calls and faults > form.calls // 10,
    )
    report.claim(f"{name}: created twice", expected="0", measured=twice, holds=not twice and bool(traffic.created))
    report.claim(f"{name}: reported as created, and absent", expected="0", measured=lost, holds=not lost)
    for line in traffic.wrong[:10]:
        report.note(f"{name}: {line}")
    wrong = len(traffic.wrong)
    report.claim(f"{name}: retried against the contract", expected="0", measured=wrong, holds=not wrong)
    report.figures(
        **{
            f"{prefix}calls": traffic.calls,
            f"{prefix}attempts": traffic.attempts,
            f"{prefix}faults": faults,
            f"{prefix}calls_failed": traffic.failed,
            f"{prefix}duplicates": twice,
            f"{prefix}retried_wrongly": wrong,
        }
    )


def _prove_uploads(report: Report, kind: Kind, uploads: KilledUploads, form: Form) -> None:
    name, prefix = kind.name, "" if kind.name == "python" else f"{kind.name}_"
    share, planned = round(uploads.resent_share, 4), form.files * form.kills
    report.claim(
        f"{name}: uploads killed with SIGKILL",
        expected=str(planned),
        measured=uploads.kills,
        holds=uploads.kills == planned,
    )
    report.claim(
        f"{name}: ... that arrived, as one video each",
        expected=f"{form.files}, {form.files}",
        measured=f"{uploads.stored}, {uploads.videos}",
        holds=uploads.stored == uploads.videos == form.files,
    )
    report.claim(
        f"{name}: bytes sent again", expected=f"<= {MAX_RESENT}", measured=share, holds=0 <= share <= MAX_RESENT
    )
    report.figures(**{f"{prefix}bytes_resent_share": share, f"{prefix}uploads_killed": uploads.kills})


def port_of(stage: Stage) -> int:
    return int(stage.url.rpartition(":")[2])


def code_lines(source: str) -> list[str]:
    """The lines of a program without blank lines, comments and its docstring."""
    tree = ast.parse(source)
    docstring = tree.body[0].end_lineno if ast.get_docstring(tree) is not None else 0
    lines = source.splitlines()[docstring or 0 :]
    return [each for each in lines if each.strip() and not each.strip().startswith("#")]


if __name__ == "__main__":
    sys.exit(prove("Clients", proof))
