"""Commands as a script runs them: JSON, exit codes, limits, files, and edits with conflicts."""

import hashlib
from pathlib import Path

from proofs.cli.shell import Shell
from proofs.cli.stage import CommandStage

UNKNOWN = "01m7txgz28qk4pxr9j8xwrehk5"  # the form of an id, and no video


async def prove_videos(shell: Shell, stage: CommandStage) -> str:
    """Uploads a video and finds it again; returns its id."""
    await shell.run("upload", "nosuch.mp4", code=2)
    (stage.folder / "empty.mp4").touch()
    await shell.run("upload", "empty.mp4", code=2)
    uploaded = await shell.run("upload", stage.video.name)
    video: str = uploaded.document["videos"][0]["videoId"]
    states = {each["type"]: each["status"] for each in uploaded.document["jobs"]}
    shell.expect("jobs of an upload", found=states, expected={"import": "ready", "transcript": "ready"})
    (stage.folder / "noise.mp4").write_bytes(b"no video at all" * 1000)
    broken = await shell.run("upload", "noise.mp4", code=11)
    shell.expect("code of a broken file", found=broken.error["code"], expected="UNSUPPORTED_SOURCE")
    await shell.run("import", "ftp://example.com/a.mp4", code=2)
    listed = await shell.run("videos", "list")
    shell.expect("videos are listed", found=video in {each["id"] for each in listed.document["videos"]})
    found = await shell.run("videos", "search", "LAUNCH")
    shell.expect("search", found=[each["id"] for each in found.document["videos"]], expected=[video])
    none = await shell.run("videos", "search", "nothing like it")
    shell.expect("search without a result", found=none.document, expected={"videos": []})
    shown = await shell.run("videos", "show", video)
    shell.expect("a video is shown", found=(shown.document["id"], len(shown.document["jobs"])), expected=(video, 2))
    await shell.run("videos", "show", UNKNOWN, code=5)
    await shell.run("videos", "show", "..", code=2)
    return video


async def prove_products(shell: Shell, video: str) -> None:
    """Quotes, limits, products and their jobs."""
    before = await _balance(shell)
    await shell.run("quote", video, code=2)
    price = (await shell.run("quote", video, "--captions", "pt")).document["total"]
    dry = await shell.run("captions", video, "--to", "pt", "--dry-run")
    shell.expect("a dry run quotes", found=dry.document["total"], expected=price)
    over = await shell.run("captions", video, "--to", "pt", "--max-credits", "0.001", code=8)
    shell.expect("the limit", found=over.error["details"].get("reason"), expected="over_limit")
    await shell.run("dub", video, "--to", "pt", "--max-credits", "-1", code=2)
    await shell.run("dub", UNKNOWN, "--to", "pt", code=5)
    await shell.run("dub", video, "--to", "xx", code=2)
    await shell.run("shorts", video, "--kind", "films", code=2)
    await shell.run("shorts", video, "--count", "1", code=6)  # of nine seconds
    await shell.run("thumbnails", video, "--prompt", "A rocket", "--dry-run", code=2)
    thumbnail = await shell.run("thumbnails", video, "--dry-run")
    shell.expect("price of a thumbnail", found=thumbnail.document["total"], expected=5.0)
    shell.expect("nothing was charged so far", found=await _balance(shell), expected=before)
    made = await shell.run("captions", video, "--to", "pt", "--max-credits", str(price))
    shell.expect("captions", found=[each["status"] for each in made.document["jobs"]], expected=["ready"])
    again = await shell.run("captions", video, "--to", "pt")
    shell.expect("the same captions are free", found=await _balance(shell), expected=round(before - price, 3))
    shell.expect("the same job", found=again.document["jobs"][0]["id"], expected=made.document["jobs"][0]["id"])
    titled = await shell.run("titles", video, "--overwrite")
    shell.expect("a title", found="title" in titled.document["jobs"][0]["result"])
    dub = (await shell.run("dub", video, "--to", "pt", "--no-wait", "--max-credits", "1")).document["jobs"][0]["id"]
    cancelled = await shell.run("jobs", dub, "--cancel")
    shell.expect("a cancelled job", found=cancelled.document["jobs"][0]["error"]["code"], expected="CANCELLED")
    await shell.run("jobs", dub, "--watch", code=11)
    watched = await shell.run("jobs", f"captions_{video}_pt", "--watch")
    shell.expect("a job is watched", found=watched.document["status"], expected="ready")
    everything = await shell.run("jobs")
    shell.expect("jobs are listed", found=dub in {each["id"] for each in everything.document["jobs"]})
    await shell.run("jobs", "--cancel", code=2)
    await shell.run("jobs", f"dub_{UNKNOWN}_pt_plus", code=5)
    shell.expect(
        "usage", found=(await shell.run("usage")).document["credits"]["balance"], expected=round(before - price, 3)
    )


async def _balance(shell: Shell) -> float:
    credits_ = (await shell.run("usage")).document["credits"]
    return round(float(credits_["balance"]), 3)


async def prove_files(shell: Shell, stage: CommandStage, video: str, *, short: bool) -> None:
    """Downloads, also over files that exist."""
    source = await shell.run("download", video, "--as", "source", "-o", "copy.mp4")
    expected = hashlib.sha256(stage.video.read_bytes()).hexdigest()
    shell.expect("checksum", found=source.document["files"][0]["sha256"], expected=expected)
    shell.expect("the file", found=(stage.folder / "copy.mp4").read_bytes() == stage.video.read_bytes())
    await shell.run("download", video, "--as", "source", "-o", "copy.mp4", code=2)
    if short:
        return
    await shell.run("download", video, "--as", "source", "-o", "copy.mp4", "--force")
    vtt = await shell.run("download", video, "--as", "subtitles", "-l", "pt", "--format", "vtt", "-o", "pt.vtt")
    shell.expect(
        "subtitles", found=Path(stage.folder / vtt.document["files"][0]["path"]).read_text()[:6], expected="WEBVTT"
    )
    await shell.run("download", video, "--as", "audio", "-l", "pt", code=6)  # its dub was cancelled
    await shell.run("download", video, "--as", "audio", "-l", "es", code=5)
    await shell.run("download", video, "--as", "shorts", code=5)
    await shell.run("download", video, "--as", "film", code=2)
    await shell.run("download", video, "--as", "subtitles", "-o", "/dev/null/a.srt", "--force", code=2)


async def prove_edits(shell: Shell, stage: CommandStage, video: str) -> None:
    """A transcript and captions as files, and two editors at a time."""
    await shell.run("edit", video, "--export", "talk.srt")
    text = (stage.folder / "talk.srt").read_text()
    shell.expect("the export", found="rocket" in text)
    await shell.run("edit", video, "--export", "talk.srt", code=2)
    await shell.run("edit", video, "--export", "other.srt")
    unchanged = await shell.run("edit", video, "--import", "talk.srt")
    shell.expect("nothing is changed", found=unchanged.document["totalChanges"], expected=0)
    (stage.folder / "talk.srt").write_text(text.replace("rocket", "spaceship", 1))
    edited = await shell.run("edit", video, "--import", "talk.srt")
    shell.expect("the change", found="spaceship" in edited.document["changes"][0]["after"]["text"])
    (stage.folder / "other.srt").write_text(text.replace("rocket", "balloon", 1))
    conflict = await shell.run("edit", video, "--import", "other.srt", code=6)
    shell.expect("the conflict", found=conflict.error["details"].get("revision"), expected=edited.document["revision"])
    shell.expect("how to go on", found="--revision" in conflict.error["hint"])
    over = await shell.run("edit", video, "--import", "other.srt", "--revision", str(edited.document["revision"]))
    shell.expect("replaced on purpose", found="balloon" in over.document["changes"][0]["after"]["text"])
    (stage.folder / "mail.srt").write_text(text)
    await shell.run("edit", video, "--import", "mail.srt", code=2)  # of an unknown revision
    await shell.run("edit", video, "-l", "pt", "--export", "pt.srt")
    pt = stage.folder / "pt.srt"
    pt.write_text(pt.read_text().replace("\n\n", "!\n\n", 1))
    captions = await shell.run("edit", video, "-l", "pt", "--import", "pt.srt")
    shell.expect("edited captions", found=captions.document["totalChanges"] >= 1)
    await shell.run("edit", video, code=2)  # an editor needs a terminal
    await shell.run("edit", UNKNOWN, "--export", "x.srt", code=5)


async def prove_deletion(shell: Shell, video: str) -> None:
    await shell.run("videos", "delete", video)
    trash = await shell.run("videos", "list", "--trash")
    shell.expect("the trash", found=video in {each["id"] for each in trash.document["videos"]})
    await shell.run("videos", "show", video, code=5)
    await shell.run("videos", "restore", video)
    await shell.run("videos", "show", video)
    await shell.run("videos", "delete", video, "--permanently", code=2)  # needs --yes
    await shell.run("videos", "delete", video, "--permanently", "--yes")
    await shell.run("videos", "restore", video, code=5)
