"""Runs every example, in a short form, against a real service."""

import csv
import io
import json
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import httpx
import pytest
from cutroom_client import Cutroom, VideoHandle

from cutroom.platform.clock import system_clock
from cutroom.webhooks.signing import new_secret, signed_headers
from dev.environment import PROJECT
from tests.examples.conftest import EXAMPLES, SAMPLE, Examples, MediaServer

PROGRAMS = sorted(path.name for path in EXAMPLES.iterdir() if path.suffix in {".py", ".mjs", ".sh"})
MAX_LINES = 60
CUE = re.compile(r"^\d+\n\d\d:\d\d:\d\d,\d{3} --> \d\d:\d\d:\d\d,\d{3}\n.+", re.MULTILINE)


def cues(path: Path) -> int:
    return len(CUE.findall(path.read_text()))


def streams(path: Path) -> list[str]:
    """Type and language of each stream of a media file."""
    entries = "stream=codec_type:stream_tags=language"
    command = ["ffprobe", "-v", "error", "-show_entries", entries, "-of", "json", str(path)]
    found = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["streams"]
    return [f"{each['codec_type']} {each.get('tags', {}).get('language', '')}" for each in found]


@pytest.mark.parametrize("program", PROGRAMS)
def test_examples_are_short_and_listed(program: str) -> None:
    assert len((EXAMPLES / program).read_text().splitlines()) <= MAX_LINES
    assert program in (PROJECT / "docs" / "recipes.md").read_text()
    assert f'"{program}"' in Path(__file__).read_text()  # run below


def test_a_feed_becomes_shorts(examples: Examples, media: MediaServer) -> None:
    shutil.copy(SAMPLE, media.folder / "episode.mp4")
    enclosure = f'<enclosure url="{media.public_url}/episode.mp4" type="video/mp4" length="1"/>'
    item = f"<item><title>Episode 1</title>{enclosure}</item>"
    (media.folder / "feed.xml").write_text(f'<rss version="2.0"><channel>{item}</channel></rss>')
    arguments = (f"{media.url}/feed.xml", "--clips", 1, "--folder", "shorts")
    assert "Episode 1: 2 files" in examples.run("podcast_to_shorts.py", *arguments)
    (short,) = (examples.folder / "shorts").glob("*/*.mp4")
    assert streams(short)[0].startswith("video")
    assert "already in the library" in examples.run("podcast_to_shorts.py", *arguments)


def test_a_course_is_dubbed(examples: Examples, video: VideoHandle, sample: Path) -> None:
    lessons = examples.folder / "lessons"
    lessons.mkdir()
    (lessons / sample.name).symlink_to(sample)
    assert video.title == sample.name
    output = examples.run("course_languages.mjs", lessons, "translated", "pt", 50)
    assert "launch-pt.mp4" in output
    languages = [each for each in streams(examples.folder / "translated" / "launch-pt.mp4") if each.startswith("audio")]
    assert languages == ["audio por", "audio eng"]


def test_a_folder_is_watched(examples: Examples, sample: Path) -> None:
    folder = examples.folder / "recordings"
    folder.mkdir()
    shutil.copy(sample, folder / "take.mp4")
    (folder / "notes.txt").write_text("not a video")
    (folder / "broken.mp4").write_text("not a video either")
    output = examples.run("watch_folder.py", folder, "--language", "pt", "--interval", 0.1, "--once")
    assert "take.mp4: subtitles are ready" in output
    assert "broken.mp4: transcript_" in output
    assert cues(folder / "take.srt") >= 3
    assert cues(folder / "take.pt.srt") >= 3


@pytest.mark.skipif(shutil.which("jq") is None, reason="needs jq")
def test_http_steps_of_a_no_code_tool(examples: Examples, client: Cutroom, media: MediaServer, sample: Path) -> None:
    shutil.copy(sample, examples.folder / "talk.mp4")
    hook = f"{media.public_url}/hook"
    output = examples.run("no_code_flow.sh", "talk.mp4", hook)
    assert "whsec_" in output
    assert cues(examples.folder / "talk.pt.srt") >= 3
    assert hook in [each.url for each in client.webhooks.list()]


def test_a_review_is_published_when_nothing_is_open(examples: Examples, client: Cutroom, video: VideoHandle) -> None:
    program, arguments = "review_and_publish.mjs", (video.id, "pt", "published")
    assert "/review/" in examples.run(program, *arguments)
    assert "0 comments are open, 0 were made" in examples.run(program, *arguments)
    comment = client.reviews.comment(video.id, {"time": 1.5, "text": "Too formal.", "language": "pt"})
    assert "1.5 s: Too formal." in examples.run(program, *arguments)
    client.operations.update_review_comment(video.id, comment.id, {"resolved": True})
    assert "Published" in examples.run(program, *arguments)
    assert "audio por" in streams(examples.folder / "published" / f"{video.id}-pt.mp4")
    assert client.reviews.links(video.id) == []


@pytest.mark.parametrize("language", ["en", "pt"])
def test_subtitles_make_a_round_trip(examples: Examples, client: Cutroom, video: VideoHandle, language: str) -> None:
    editor = examples.folder / "editor.py"
    change = "path.write_text(path.read_text().replace('.', '!', 1))"
    editor.write_text(f"import sys, pathlib\npath = pathlib.Path(sys.argv[1])\n{change}\n")
    arguments = ("subtitle_round_trip.py", video.id, "--language", language)
    assert "nothing was changed" in examples.run(*arguments, EDITOR="true")
    output = examples.run(*arguments, EDITOR=f"{sys.executable} {editor}")
    assert output.startswith("1 lines changed")
    # The files of the subtitles follow a moment later.
    if language == "en":
        stored = client.operations.get_transcript(video.id).to_wire()
    else:
        stored = client.operations.get_caption_segments(video.id, language).to_wire()
    assert "!" in json.dumps(stored)


def test_a_catalogue_gets_captions(examples: Examples, sample: Path) -> None:
    shutil.copy(sample, examples.folder / "old.mp4")
    (examples.folder / "bad.mp4").write_text("not a video")
    (examples.folder / "catalogue.csv").write_text("file,url,languages\nold.mp4,,pt\nbad.mp4,,pt\n")
    arguments = ("caption_catalogue.py", "catalogue.csv", "results.csv", "--max-credits", 10)
    for _ in range(2):  # the second run only tries again what has failed
        examples.run(*arguments)
    rows = list(csv.DictReader(io.StringIO((examples.folder / "results.csv").read_text())))
    assert [(row["source"], row["status"]) for row in rows] == [
        ("old.mp4", "ready"),
        ("bad.mp4", "failed"),
        ("bad.mp4", "failed"),
    ]
    assert cues(examples.folder / rows[0]["detail"]) >= 3


def test_an_export_saves_what_has_changed(examples: Examples, video: VideoHandle) -> None:
    examples.run("nightly_export.py", "backup")
    path = examples.folder / "backup" / f"{video.id}.zip"
    with zipfile.ZipFile(path) as bundle:
        assert bundle.testzip() is None
        assert "subtitles/pt.srt" in bundle.namelist()
    path.unlink()
    assert video.id not in examples.run("nightly_export.py", "backup")
    video.update(description="Changed.")
    assert video.id in examples.run("nightly_export.py", "backup")
    assert path.exists()


def test_a_receiver_verifies_and_saves(examples: Examples, client: Cutroom, video: VideoHandle) -> None:
    secret = new_secret()
    job = client.jobs.get(f"dub_{video.id}_pt_plus").data.to_wire()
    body = json.dumps({"type": "job.ready", "timestamp": system_clock().isoformat(), "data": job}).encode()
    headers = signed_headers([secret], body, message_id="event", at=system_clock())
    command = examples.command("webhook_receiver.mjs", "received", 0)
    variables = {**examples.environment, "CUTROOM_WEBHOOK_SECRET": secret}
    with subprocess.Popen(command, cwd=examples.folder, env=variables, stdout=subprocess.PIPE, text=True) as receiver:
        try:
            assert receiver.stdout is not None
            port = receiver.stdout.readline().split()[-1]
            assert _post(port, body, {**headers, "webhook-id": "forged"}) == 400
            assert _post(port, body, headers) == 204
            assert _post(port, body, headers) == 204
            assert receiver.stdout.readline().startswith("saved ")
        finally:
            receiver.terminate()
        assert receiver.stdout.read() == ""  # the repeated event was not processed again
    assert "audio por" in streams(examples.folder / "received" / f"{video.id}-pt.mp4")


def _post(port: str, body: bytes, headers: dict[str, str]) -> int:
    return httpx.post(f"http://127.0.0.1:{port}/", content=body, headers=headers, timeout=60).status_code


def test_a_batch_is_priced_before_it_runs(examples: Examples, client: Cutroom, video: VideoHandle) -> None:
    before = client.credits.summary().balance
    arguments = ("price_check.py", video.id, "--dubs", "es", "--captions", "es")
    refused = examples.run(*arguments, "--budget", 0.01, succeeds=False)
    assert "not started" in refused
    assert client.credits.summary().balance == before
    started = examples.run(*arguments, "--budget", 50)
    assert f"dub_{video.id}_es_plus" in started
    total = float(re.search(r"total: ([\d.]+)", started)[1])  # type: ignore[index]  # a match
    assert client.credits.summary().balance == pytest.approx(before - total)
    for job in video.jobs():
        if job.language == "es" and job.status not in {"ready", "failed"}:
            job.cancel()


def test_one_line_of_a_dub_is_edited(examples: Examples, client: Cutroom, video: VideoHandle) -> None:
    lines = examples.run("edit_dub_line.py", video.id, "pt")
    assert len(lines.splitlines()) >= 2
    at = float(lines.splitlines()[1].split()[0])
    arguments = ("edit_dub_line.py", video.id, "pt", "--at", at, "--text", "Bom dia a todos.")
    output = examples.run(*arguments, "--yes")
    assert "credits for" in output
    assert "the dub is new" in output
    published = [each.published for each in client.operations.list_segments(video.id, "pt").segments]
    assert "Bom dia a todos." in [each.text for each in published if each is not None]
