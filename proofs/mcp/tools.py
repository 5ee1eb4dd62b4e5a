"""Every tool, called once as an agent would."""

from collections.abc import Awaitable, Callable
from typing import Any

from proofs.mcp.service import McpStage, ToolSession

# Without samples.
WAV = bytes.fromhex("524946462400000057415645666d74201000000001000100401f0000803e00000200100064617461") + bytes(4)
Check = Callable[[McpStage, ToolSession], Awaitable[None]]


def spending_calls(video_id: str) -> dict[str, dict[str, Any]]:
    """A call of every tool that costs credits, for a video; `retry_job` needs a failed job."""
    return {
        "dub_video": {"video_id": video_id, "languages": ["pt"]},
        "translate_captions": {"video_id": video_id, "languages": ["de"]},
        "make_shorts": {"video_id": video_id, "kind": "promo"},
        "make_thumbnails": {"video_id": video_id},
        "recognize_speech": {"video_id": video_id, "language": "en"},
    }


async def read(stage: McpStage, tools: ToolSession) -> None:
    video_id = await stage.video()
    listed = await tools.ok("search_videos", query="A VIDEO", limit=5)
    assert len(listed["videos"]) == 5, listed
    assert (await tools.ok("get_video", video_id=video_id))["transcript"] == "ready"
    page = await tools.ok("get_transcript", video_id=video_id)
    assert page["segments"]
    assert "Untrusted" in page["notice"], page
    await tools.ok("list_products", video_id=video_id)
    await tools.ok("get_titles", video_id=video_id)
    assert (await tools.ok("list_jobs", video_id=video_id))["jobs"]
    assert (await tools.ok("get_job", job_id=f"transcript_{video_id}"))["status"] == "ready"
    assert (await tools.ok("get_usage"))["connection_limit"] > 0
    text = (await tools.client.read_resource(f"cutroom://videos/{video_id}/transcript")).contents[0]
    assert "untrusted-" in getattr(text, "text", ""), text
    await tools.client.read_resource(f"cutroom://videos/{video_id}/products")


async def change(stage: McpStage, tools: ToolSession) -> None:
    video_id = await stage.video()
    (stage.folder / "talk.wav").write_bytes(WAV)
    assert (await tools.ok("upload_video", file_name="talk.wav"))["id"]
    assert (await tools.ok("import_video", url="https://example.com/talk.mp4"))["status"] == "queued"
    page = await tools.ok("get_transcript", video_id=video_id)
    edit = {"segment_id": page["segments"][0]["id"], "text": "Other words.", "revision": page["revision"]}
    edited = await tools.ok("edit_segment", video_id=video_id, **edit)
    reverted = await tools.ok("undo_edit", video_id=video_id, revision=edited["revision"])
    assert reverted["revision"] > edited["revision"] > page["revision"]
    stale = await tools.call("edit_segment", video_id=video_id, **edit)
    assert stale.is_error, stale
    assert (await tools.ok("write_titles", video_id=video_id, style="funny"))["jobs"]
    saved = await tools.ok("download", job_id=f"transcript_{video_id}", file_name="transcript.json")
    assert (stage.folder / "transcript.json").stat().st_size == saved["bytes"]
    absent = await tools.call("download_subtitles", video_id=video_id, language="en", file_name="talk")
    assert absent.is_error, "the file is not in the store"
    assert not (stage.folder / "talk.srt").exists(), "a file without content"
    again = await tools.call("download", job_id=f"transcript_{video_id}", file_name="transcript.json")
    assert again.is_error, "overwritten"
    for _ in range(2):  # repeating it has no further effect
        await tools.ok("delete_video", video_id=video_id)
    assert (await tools.ok("restore_video", video_id=video_id))["id"] == video_id


async def spend(stage: McpStage, tools: ToolSession) -> None:
    video_id = await stage.video()
    for tool, arguments in spending_calls(video_id).items():
        before = await stage.used()
        offered = await tools.ok(tool, **arguments)
        assert (offered["status"], await stage.used()) == ("confirmation_required", before), tool
        made = await tools.ok(tool, **arguments, confirmation_token=offered["confirmation_token"])
        assert (made["status"], len(made["jobs"])) == ("started", 1), made
        assert 0 < round(await stage.used() - before, 3) <= offered["price"], tool
    dub = f"dub_{video_id}_pt_plus"
    waited = await tools.call("wait_for_job", job_id=dub, timeout_seconds=1)
    assert not waited.is_error, waited
    assert (waited.meta or {})["progress"] >= 1, waited
    assert (await tools.ok("cancel_job", job_id=dub))["error_code"] == "CANCELLED"
    assert (await tools.ok("wait_for_job", job_id=dub, timeout_seconds=5))["status"] == "failed"
    offered = await tools.ok("retry_job", job_id=dub)
    retried = await tools.ok("retry_job", job_id=dub, confirmation_token=offered["confirmation_token"])
    assert retried["jobs"][0]["status"] == "queued"


CHECKS: tuple[Check, ...] = (read, change, spend)
