"""Commands as a person types them: tables, questions with prices, an editor, progress, and Ctrl-C."""

import json

from proofs.cli.shell import Shell

EDITOR = "sed -i s/balloon/airship/"


async def prove_terminal(shell: Shell, video: str) -> None:
    listed = await shell.type("videos", "list")
    shell.expect("a table", found=("Title" in listed.out, "{" in listed.out), expected=(True, False))
    as_json = await shell.type("videos", "list", "--json")
    shell.expect("JSON on request", found="videos" in json.loads(as_json.out))
    shell.expect("the balance for people", found="credits" in (await shell.type("usage")).out)
    await shell.type("whoami")
    await shell.type("jobs", video)
    await shell.type("videos", "show", video)
    missing = await shell.type("videos", "show", "01m7txgz28qk4pxr9j8xwrehk5", code=5)
    shell.expect("an error for people", found="Error: " in missing.out and "{" not in missing.out)
    titled = await shell.type("titles", video)
    shell.expect("the title", found="Title  " in titled.out)
    quoted = await shell.type("quote", video, "--captions", "es")
    shell.expect("a price for people", found="Total: " in quoted.out)


async def prove_questions(shell: Shell, video: str) -> None:
    """A price is confirmed, declined, above the limit, or not asked for."""
    declined = await shell.type("captions", video, "--to", "es", answers=[("[y/N]", "n\n")], code=12)
    shell.expect("the price is in the question", found="credits of" in declined.out)
    await shell.type("captions", video, "--to", "es", answers=[("[y/N]", "\x04")], code=12)
    above = await shell.type("captions", video, "--to", "es", "--max-credits", "0.001", code=8)
    shell.expect("no question above the limit", found="[y/N]" in above.out, expected=False)
    dry = await shell.type("captions", video, "--to", "es", "--dry-run")
    shell.expect("a dry run asks nothing", found="[y/N]" in dry.out, expected=False)
    made = await shell.type("captions", video, "--to", "es", answers=[("[y/N]", "y\n")])
    shell.expect("progress and a table", found=("captions" in made.out, "ready" in made.out), expected=(True, True))
    sure = await shell.type("captions", video, "--to", "es", "--yes")
    shell.expect("--yes asks nothing", found="[y/N]" in sure.out, expected=False)
    await shell.type("videos", "delete", video, "--permanently", answers=[("[y/N]", "no\n")], code=12)


async def prove_editor(shell: Shell, video: str) -> None:
    edited = await shell.type("edit", video, environment={"VISUAL": EDITOR})
    shell.expect("the change of the editor", found="airship" in edited.out)
    unchanged = await shell.type("edit", video, environment={"VISUAL": "true"})
    shell.expect("nothing was changed", found="Nothing was changed" in unchanged.out)
    failed = await shell.type("edit", video, environment={"VISUAL": "false"}, code=2)
    shell.expect("the text is kept", found="is kept in" in failed.out)
    await shell.type("edit", video, environment={"VISUAL": "/nosuch/editor"}, code=2)


async def prove_interruption(shell: Shell, video: str) -> None:
    """Ctrl-C ends a wait with the way to go on; the work continues."""
    stopped = await shell.type("dub", video, "--to", "es", "--yes", interrupt_at="dub es", code=130)
    shell.expect("how to go on", found="cutroom jobs dub_" in stopped.out)
    job = f"dub_{video}_es_plus"
    found = await shell.run("jobs", job)
    shell.expect("the work goes on", found=found.document["jobs"][0]["status"] in {"queued", "processing", "ready"})
    await shell.run("jobs", job, "--cancel")
