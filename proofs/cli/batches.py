"""Batches that are killed with SIGKILL again and again: nothing is made or paid twice."""

import asyncio
import fcntl
import signal
from pathlib import Path

from proofs.cli.shell import Shell
from proofs.cli.stage import CommandStage

MOMENTS = ('"event": "video"', '"event": "key"', '"event": "requested"')  # records after which a run is killed
BUDGET = 2.0


async def prove_batch(shell: Shell, stage: CommandStage, *, count: int) -> int:
    """Returns how often the run was killed."""
    folder = stage.folder / "talks"
    folder.mkdir()
    for number in range(count):  # different files: the same one twice is refused
        (folder / f"talk-{number}.mp4").write_bytes(stage.video.read_bytes() + bytes([number]))
    command = (
        "batch",
        "talks",
        "--captions",
        "pt",
        "--title",
        "informational",
        "--at-once",
        "2",
        "--max-credits",
        str(BUDGET),
    )
    journal, kills = stage.folder / "talks.cutroom-state.jsonl", 0
    preview = await shell.run(*command, "--dry-run")
    shell.expect("a preview", found=[each["status"] for each in preview.document["items"]], expected=["new"] * count)
    before = await _counts(stage)
    for moment in MOMENTS:
        run = shell.start(*command)
        seen = _records(journal, moment)
        while _records(journal, moment) == seen and not run.has_ended():
            await asyncio.sleep(0.005)
        run.send(signal.SIGKILL)
        ran = await asyncio.to_thread(run.wait)
        shell.invocations += 1
        kills += ran.code == -signal.SIGKILL
    with journal.open("a") as file:
        file.write('{"item": "torn')
        file.flush()
        fcntl.flock(file, fcntl.LOCK_EX)  # as another run has it
        again = await shell.run(*command, code=6)
        shell.expect("one run at a time", found=again.error["code"], expected="RUNNING")
    done = await shell.run(*command)
    videos = {each["videoId"] for each in done.document["items"] if each["status"] == "done"}
    shell.expect("all are done", found=len(videos), expected=count)
    after = await _counts(stage)
    made = {name: after[name] - before[name] for name in after}
    # A title is a packaging job, and nothing else of the service makes these kinds of jobs.
    expected = {"videos": count, "captions": count, "packaging": count, "charges": count}
    shell.expect("nothing was made or paid twice", found=made, expected=expected)
    repeated = await shell.run(*command)
    shell.expect("a finished batch repeats nothing", found=await _counts(stage), expected=after)
    shell.expect("the same result", found=repeated.document["items"], expected=done.document["items"])
    return kills


async def prove_csv(shell: Shell, stage: CommandStage) -> None:
    """A CSV file with rows that fail, a budget, and rows that no recipe can be read from."""
    (stage.folder / "noise-2.mp4").write_bytes(b"also no video" * 1000)
    rows = "source,captions,title\ntalks/talk-0.mp4,es,\nnoise-2.mp4,,funny\n"
    (stage.folder / "talks.csv").write_text(rows)
    poor = await shell.run("batch", "talks.csv", "--max-credits", "0.001", code=8)
    shell.expect("the budget", found=poor.error["details"].get("reason"), expected="over_limit")
    partly = await shell.run("batch", "talks.csv", code=13)
    states = [each["status"] for each in partly.document["items"]]
    shell.expect("one row fails", found=states, expected=["done", "failed"])
    for name, text in {
        "columns": "file\na.mp4\n",
        "cells": "source,dub\na.mp4\n",
        "file": "source\nnosuch.mp4\n",
    }.items():
        (stage.folder / "wrong.csv").write_text(text)
        shell.expect(
            f"wrong {name}", found=(await shell.run("batch", "wrong.csv", code=2)).error["exitCode"], expected=2
        )
    await shell.run("batch", "nosuch", code=2)


def _records(journal: Path, text: str) -> int:
    return journal.read_text().count(text) if journal.exists() else 0


async def _counts(stage: CommandStage) -> dict[str, int]:
    """What the library has, from the database."""
    row = await stage.stage.accounts.connection.fetchrow(
        """SELECT (SELECT count(*) FROM videos WHERE library_id = $1) AS videos,
                  (SELECT count(*) FROM jobs WHERE library_id = $1 AND type = 'captions') AS captions,
                  (SELECT count(*) FROM jobs WHERE library_id = $1 AND type = 'packaging') AS packaging,
                  (SELECT count(*) FROM escrow_lines WHERE library_id = $1 AND state = 'captured') AS charges""",
        stage.stage.person.library_id,
    )
    assert row is not None
    return dict(row)
