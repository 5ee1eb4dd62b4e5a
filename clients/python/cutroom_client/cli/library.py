"""`videos`, `jobs`, `quote` and `usage`: what the library holds, does and costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from cutroom_client.cli.exits import CommandError
from cutroom_client.cli.output import credits_text, duration_text, printable
from cutroom_client.cli.products import split
from cutroom_client.cli.service import Json
from cutroom_client.cli.session import Session
from cutroom_client.cli.spending import ask, quote, show_quote
from cutroom_client.cli.waiting import check_jobs, job_rows, wait_for_jobs

SEARCHED = 10_000  # videos that a search looks at
LISTED_JOBS_OF = 20  # videos whose jobs are listed without an argument
Limit = Annotated[int, typer.Option("--limit", "-n", min=1, max=SEARCHED, help="How many.")]
VideoId = Annotated[str, typer.Argument(metavar="VIDEO", help="Id of the video.")]
Videos = Annotated[list[str], typer.Argument(metavar="VIDEO...", help="Ids of videos.")]


def list_videos(
    session: Session,
    *,
    limit: Limit = 20,
    label: Annotated[str | None, typer.Option(help="Only videos with this label.")] = None,
    trash: Annotated[bool, typer.Option("--trash", help="Only videos in the trash.")] = False,
) -> None:
    """List videos, newest first."""
    path, query = ("/v1/trash", {}) if trash else ("/v1/videos", {"label": label})
    found = list(session.service.pages(path, items="videos", limit=limit, **query))
    session.output.result({"videos": found}, rows=_video_rows(found))


def search_videos(
    session: Session,
    text: Annotated[str, typer.Argument(help="Words of the title or description, in any case.")],
    *,
    limit: Limit = 20,
) -> None:
    """Search titles, descriptions and labels of videos."""
    words = text.casefold().split()
    found: list[Json] = []
    for video in session.service.pages("/v1/videos", items="videos", limit=SEARCHED):
        labels = " ".join(video.get("labels", []))
        known = f"{video.get('title', '')} {video.get('description', '')} {labels}".casefold()
        if all(word in known for word in words):
            found.append(video)
            if len(found) == limit:
                break
    session.output.result({"videos": found}, rows=_video_rows(found))


def _video_rows(videos: Sequence[Json]) -> list[dict[str, object]]:
    return [
        {
            "Video": each.get("id"),
            "Title": each.get("title"),
            "Length": duration_text(each.get("duration")),
            "Status": each.get("status"),
            "Transcript": (each.get("transcript") or {}).get("status"),
            "Created": str(each.get("createdAt", ""))[:16].replace("T", " "),
            "Deleted": str(each.get("deletedAt", ""))[:16].replace("T", " "),
            "Removed for good": str(each.get("purgeAt", ""))[:10],
        }
        for each in videos
    ]


def show_video(session: Session, video: VideoId) -> None:
    """Show a video and its jobs."""
    found = session.service.get("/v1/videos/{}", video)
    listed = session.service.get("/v1/videos/{}/jobs", video).get("jobs", [])
    if session.output.as_json:
        session.output.line(found | {"jobs": listed})
        return
    shown = {
        "Video": found.get("id"),
        "Title": found.get("title"),
        "Description": found.get("description"),
        "Length": duration_text(found.get("duration")),
        "Language": found.get("defaultLanguageCode"),
        "Status": found.get("status"),
        "Labels": ", ".join(found.get("labels", [])),
        "Created": found.get("createdAt"),
    }
    session.output.fields({name: value for name, value in shown.items() if value})
    session.output.table(job_rows(listed))


def delete_videos(
    session: Session,
    videos: Videos,
    *,
    permanently: Annotated[bool, typer.Option("--permanently", help="Not to the trash, but for good.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Move videos to the trash, from which `videos restore` takes them back."""
    if permanently and not yes:
        if not session.output.is_interactive:
            raise CommandError("Deleting for good needs --yes where nobody can be asked.")
        ask(f"{len(videos)} of your videos will be deleted for good, with everything made of them.")
    for video in videos:
        session.service.delete("/v1/videos/{}", video, permanently=permanently or None)
    state = "deleted" if permanently else "trash"
    session.output.result(
        {"videos": [{"id": each, "state": state} for each in videos]},
        text="\n".join(
            f"{printable(each)}: {'deleted for good' if permanently else 'in the trash'}" for each in videos
        ),
    )


def restore_videos(session: Session, videos: Videos) -> None:
    """Take videos back from the trash."""
    found = [session.service.post("/v1/videos/{}/restore", each, body={}) for each in videos]
    session.output.result({"videos": found}, rows=_video_rows(found))


def jobs(
    session: Session,
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="[JOB|VIDEO]...", help="Jobs, or videos for all of their jobs.")
    ] = None,
    *,
    watch: Annotated[
        bool, typer.Option("--watch", "-w", help="Wait until the jobs have ended, and show progress.")
    ] = False,
    cancel: Annotated[bool, typer.Option("--cancel", help="Cancel the jobs; what they cost is returned.")] = False,
) -> None:
    """List jobs, watch them or cancel them. Without an argument, those of the newest videos."""
    service = session.service
    if ids:
        found = [job for each in ids for job in _jobs_of(session, each)]
    else:
        if cancel:
            raise CommandError("Say which jobs to cancel.")
        newest = list(service.pages("/v1/videos", items="videos", limit=LISTED_JOBS_OF))
        found = [job for each in newest for job in service.get("/v1/videos/{}/jobs", each["id"])["jobs"]]
    if cancel:
        unfinished = [each for each in found if each.get("status") in {"queued", "processing"}]
        found = [service.post("/v1/jobs/{}/cancel", each["id"], body={}) for each in unfinished]
    if not watch:
        session.output.result({"jobs": found}, rows=job_rows(found))
        return
    changed = session.output.line if session.output.as_json else None  # one line for each change
    ended = wait_for_jobs(session, [str(each["id"]) for each in found], changed=changed)
    if not session.output.as_json:
        session.output.table(job_rows(ended))
    check_jobs(ended)


def _jobs_of(session: Session, named: str) -> list[Json]:
    """A job id has an underscore between its parts; a video id has none."""
    if "_" in named:
        return [session.service.get("/v1/jobs/{}", named)]
    return list(session.service.get("/v1/videos/{}/jobs", named).get("jobs", []))


def quote_bundle(
    session: Session,
    video: VideoId,
    *,
    dub: Annotated[list[str] | None, typer.Option(metavar="LANG", help="Dubs into these languages.")] = None,
    premium: Annotated[bool, typer.Option("--premium", help="Dubs with cloned voices.")] = False,
    captions: Annotated[list[str] | None, typer.Option(metavar="LANG", help="Captions in these languages.")] = None,
    shorts: Annotated[int, typer.Option(min=0, max=10, metavar="COUNT", help="How many shorts.")] = 0,
    thumbnail: Annotated[bool, typer.Option("--thumbnail", help="A thumbnail without a prompt.")] = False,
) -> None:
    """Show the exact price of work on a video, without starting it."""
    bundle: dict[str, object] = {}
    if dub:
        bundle["dubs"] = [{"languages": split(dub), "product": "premium" if premium else "plus"}]
    if captions:
        bundle["captionLanguageCodes"] = split(captions)
    if shorts:
        bundle["shorts"] = {"kind": "shorts", "numClips": shorts}
    if thumbnail:
        bundle["zeroPromptThumbnail"] = {"enabled": True}
    if not bundle:
        raise CommandError("Say what to quote: --dub, --captions, --shorts or --thumbnail.")
    show_quote(session, quote(session, video, bundle))


def usage(session: Session) -> None:
    """Show the balance, and what of the quotas is used."""
    found = session.service.get("/v1/library")
    if session.output.as_json:
        session.output.line(
            {name: found[name] for name in ("plan", "credits", "usage", "quotas", "limits") if name in found}
        )
        return
    held, used, quotas = found.get("credits", {}), found.get("usage", {}), found.get("quotas", {})
    session.output.fields(
        {
            "Plan": found.get("plan"),
            "Balance": credits_text(held.get("balance")),
            "In escrow": credits_text(held.get("inEscrow")),
            "Storage": _of(_gigabytes(used.get("storageBytes")), _gigabytes(_quota(quotas, "storageBytes")), "GB"),
            "Imported": _of(used.get("importedMinutes"), _quota(quotas, "mediaMinutes"), "minutes this month"),
            "Unfinished jobs": _of(used.get("unfinishedJobs"), _quota(quotas, "unfinishedJobs"), ""),
        }
    )


def _quota(quotas: Json, name: str) -> object:
    quota = quotas.get(name)
    return quota.get("limit") if isinstance(quota, dict) else None


def _gigabytes(number: object) -> float | None:
    return round(number / 1e9, 2) if isinstance(number, (int, float)) else None


def _of(used: object, quota: object, unit: str) -> str:
    return f"{used}{'' if quota is None else f' of {quota}'} {unit}".rstrip()


COMMANDS = {
    "videos": {
        "list": list_videos,
        "search": search_videos,
        "show": show_video,
        "delete": delete_videos,
        "restore": restore_videos,
    },
    "jobs": jobs,
    "quote": quote_bundle,
    "usage": usage,
}
