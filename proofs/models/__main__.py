"""Translation models: an operator pulls them from a mirror, over cut connections, and never gets wrong bytes."""

import sys
import threading
from collections.abc import Sequence
from contextlib import nullcontext
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from tempfile import TemporaryDirectory

from cutroom.engines.models.manifest_reader import load_manifest
from cutroom.engines.models.store import ModelStore, installed_directions
from cutroom.engines.registry import FIREFOX_PREFIX
from cutroom.engines.translation.firefox import FirefoxTranslator
from dev.environment import MODELS
from proofs.models.commands import Operator, write_manifest
from proofs.models.damage import damaged_mirror
from proofs.stage.report import Report, prove
from proofs.stage.requirements import Needs
from tests.support.tiny_models import FakeHub, respond
from tests.support.translation_mirror import MirrorContent, cut_after, model_files, translation_mirror

MIN_DIRECTIONS = 90
CUT_BYTES = 5_000_000
STALLED_BYTES = 6_000_000
KILL_BYTES = 1_000_000
SETTING = "CUTROOM_TRANSLATION_MODELS_URL"
SENTENCES = ("My sister has never seen the sea.", "How much does the ticket cost?", "We finished the work yesterday.")
ENGLISH_TO_PORTUGUESE = "/models/tiny/enpt/model.enpt.intgemm.alphas.bin.gz"
PORTUGUESE_TO_ENGLISH = "/models/tiny/pten/model.pten.intgemm.alphas.bin.gz"


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    with TemporaryDirectory() as name:
        folder = Path(name)
        _prove_catalog(report)
        await _prove_missing_mirror(report, Operator(folder / "unconfigured"))
        await _prove_damage(report, folder, rounds=1 if short else 6)
        await _prove_pull(report, folder, cuts=1 if short else 3)


def _prove_catalog(report: Report) -> None:
    models = [model for model in load_manifest().models.values() if model.mirror is not None and model.direction]
    directions = {(model.direction.source, model.direction.target) for model in models if model.direction}
    separate = sum(any(file.name.startswith("srcvocab.") for file in model.files) for model in models)
    report.claim(
        "directions that the manifest pins by SHA-256",
        expected=f">= {MIN_DIRECTIONS}",
        measured=f"{len(directions)}, {separate} with separate vocabularies",
        holds=len(directions) >= MIN_DIRECTIONS,
    )
    report.figures(catalogue_directions=len(directions), separate_vocabularies=separate)


async def _prove_missing_mirror(report: Report, operator: Operator) -> None:
    done = await operator.run("pull", "translate-europe")
    report.claim(
        "without a mirror, the command names the setting",
        expected=SETTING,
        measured=done.stderr.strip().splitlines()[-1].strip(),
        holds=done.returncode == 1 and SETTING in done.stderr,
    )


async def _prove_damage(report: Report, folder: Path, *, rounds: int) -> None:
    """Pulls a set in which every model is damaged; nothing may be installed."""
    damaged = damaged_mirror(rounds=rounds)
    manifest = folder / "damaged.toml"
    manifest.write_text(damaged.manifest_text, encoding="utf-8")
    with translation_mirror(MirrorContent(files=damaged.served)) as mirror:
        operator = Operator(folder / "damaged", manifest, mirror.address)
        done = await operator.run("pull", "translate-all")
    store = operator.store
    accepted = [name for name in damaged.damages if store.has_any_file(store.manifest.model(name))]
    refused = [name for name in damaged.damages if f"{name}: not pulled" in done.stderr]
    for name in damaged.damages:
        if name in accepted or name not in refused:
            report.note(f"accepted: {name} with {damaged.damages[name]}")
    report.claim(
        f"damaged models refused ({', '.join(dict.fromkeys(damaged.damages.values()))})",
        expected=f"{len(damaged.damages)}, exit code 1",
        measured=f"{len(refused)}, exit code {done.returncode}",
        holds=len(refused) == len(damaged.damages) and done.returncode == 1,
    )
    report.claim("wrong bytes accepted", expected="0", measured=len(accepted), holds=not accepted)
    report.figures(damaged=len(damaged.damages), wrong_bytes_accepted=len(accepted))


async def _prove_pull(report: Report, folder: Path, *, cuts: int) -> None:
    """Pulls two real models: one over cut connections, one by a command that is killed and run again."""
    content = MirrorContent()
    content.add("en", "pt", model_files(MODELS / "firefox-en-pt"))
    separate = model_files(MODELS / "firefox-pt-en", separate_vocabularies=True)
    content.add("pt", "en", separate, pins_unpacked=False)
    manifest = write_manifest(folder / "catalog.toml", content)
    with translation_mirror(content) as mirror:
        operator = Operator(folder / "store", manifest, mirror.address)
        resumed = [
            await _pull_with_cuts(operator, mirror, cuts=cuts),
            await _pull_with_kill(operator, mirror),
        ]
    verified = await operator.run("verify")
    report.claim(
        "downloads continue where a cut connection and a killed command left off",
        expected="[True, True]",
        measured=resumed,
        holds=all(resumed),
    )
    report.claim(
        "both models verify",
        expected="2 ok, exit code 0",
        measured=f"{verified.stdout.count('ok ')} ok, exit code {verified.returncode}",
        holds=verified.returncode == 0 and verified.stdout.count("ok ") == 2,
    )
    _prove_translation(report, operator.store)
    report.figures(resumed=all(resumed), pulled_models=verified.stdout.count("ok "))


async def _pull_with_cuts(operator: Operator, mirror: FakeHub, *, cuts: int) -> bool:
    paths = [path for path in mirror.files if "/enpt/" in path]
    before = paths.index(ENGLISH_TO_PORTUGUESE)
    mirror.faults += [lambda handler, body: respond(handler, 200, body)] * before
    mirror.faults += [cut_after(CUT_BYTES // cuts)] * cuts
    done = await operator.run("pull", "firefox-en-pt-tiny")
    ranges = [byte_range for path, byte_range in mirror.requests if path == ENGLISH_TO_PORTUGUESE]
    expected = [f"bytes={CUT_BYTES // cuts * cut}-" for cut in range(1, cuts + 1)]
    return done.returncode == 0 and ranges == [None, *expected]


async def _pull_with_kill(operator: Operator, mirror: FakeHub) -> bool:
    model = operator.store.manifest.model("firefox-pt-en-tiny")
    partial = operator.folder / model.name / f".{Path(PORTUGUESE_TO_ENGLISH).name}.part"
    killed = threading.Event()

    def stall(handler: BaseHTTPRequestHandler, body: bytes) -> None:
        respond(handler, 200, body, send_bytes=STALLED_BYTES)
        handler.wfile.flush()
        killed.wait()

    served = [path for path in mirror.files if "/pten/" in path]
    mirror.faults += [lambda handler, body: respond(handler, 200, body)] * served.index(PORTUGUESE_TO_ENGLISH)
    mirror.faults.append(stall)
    try:
        await operator.kill_when(
            lambda: partial.exists() and partial.stat().st_size >= KILL_BYTES, "pull", "firefox-pt-en-tiny"
        )
    finally:
        killed.set()
    installed = operator.store.has_any_file(model)
    left = partial.stat().st_size
    mirror.requests.clear()
    done = await operator.run("pull", "firefox-pt-en-tiny")
    resumed = (PORTUGUESE_TO_ENGLISH, f"bytes={left}-") in mirror.requests
    return resumed and not installed and done.returncode == 0


def _prove_translation(report: Report, store: ModelStore) -> None:
    """The pulled models translate like the ones that they were made from, there and back."""
    pulled = installed_directions(store, prefix=FIREFOX_PREFIX)
    folders = {pair: store.path(model.name) for pair, model in pulled.items()}
    originals = {("en", "pt"): MODELS / "firefox-en-pt", ("pt", "en"): MODELS / "firefox-pt-en"}
    translations, expected = _there_and_back(folders), _there_and_back(originals)
    for sentence in translations:
        report.note(sentence)
    report.claim(
        "sentences that the pulled models translate like the originals",
        expected=f"{2 * len(SENTENCES)}",
        measured=sum(one == other for one, other in zip(translations, expected, strict=True)),
        holds=translations == expected and not set(translations[: len(SENTENCES)]) & set(SENTENCES),
    )
    report.figures(translated=len(translations))


def _there_and_back(folders: dict[tuple[str, str], Path]) -> Sequence[str]:
    translator = FirefoxTranslator(folders)
    try:
        portuguese = translator.translate(SENTENCES, source="en", target="pt")
        return [*portuguese, *translator.translate(portuguese, source="pt", target="en")]
    finally:
        translator.close()


if __name__ == "__main__":
    sys.exit(prove("Translation models", proof, within=nullcontext, needs=Needs(model_set="ci")))
