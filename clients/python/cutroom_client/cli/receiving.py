"""`download`: videos, bundles, subtitles, sound, shorts and thumbnails as files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from cutroom_client.cli.commands import Interrupted
from cutroom_client.cli.exits import CommandError, Exit
from cutroom_client.cli.sending import Bar
from cutroom_client.cli.service import Json, reported
from cutroom_client.cli.session import Session
from cutroom_client.cli.waiting import check_jobs, wait_for_jobs

KINDS = ("video", "source", "bundle", "subtitles", "audio", "shorts", "thumbnails")
MAX_NAME = 150
_UNSAFE = re.compile(r"[^\w.\-]+")
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
_SUFFIX = re.compile(r"\.[A-Za-z0-9]{1,5}")


Notes = dict[str, str]  # what finds the same file again after an interruption


@dataclass(frozen=True)
class RemoteFile:
    """A file of the service: its name here, and how to get a signed URL of it, also after one has expired."""

    name: str
    identity: str
    find_url: Callable[[Notes], str]


def download(
    session: Session,
    video: Annotated[str, typer.Argument(metavar="VIDEO", help="Id of the video.")],
    *,
    kind: Annotated[str, typer.Option("--as", metavar="KIND", help=f"One of: {', '.join(KINDS)}.")] = "video",
    language: Annotated[
        str, typer.Option("--language", "-l", metavar="LANG", help="Of the video, subtitles or sound.")
    ] = "",
    text_format: Annotated[str, typer.Option("--format", help="Of subtitles: srt or vtt.")] = "srt",
    premium: Annotated[bool, typer.Option("--premium", help="Sound of the premium dub.")] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File, or folder for several; here by default.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", "-f", help="Replace files that exist.")] = False,
) -> None:
    """Download files of a video. A download that was interrupted continues when the same command runs again."""
    if kind not in KINDS:
        raise CommandError(f"--as is one of: {', '.join(KINDS)}.")
    found = session.service.get("/v1/videos/{}", video)
    stem = safe_name(Path(str(found.get("title") or video)).stem)
    files = list(
        _files(session, found, stem, kind=kind, language=language, variant="premium" if premium else text_format)
    )
    if not files:
        raise CommandError("There is nothing of this kind.", exit_code=Exit.NOT_FOUND, code="NOT_FOUND")
    targets = [(each, _target(output, each.name, several=len(files) > 1)) for each in files]
    if existing := [target for _, target in targets if target.exists() and not force]:
        raise CommandError(f"{existing[0]} exists.", hint="Use --force to replace it, or --output for another name.")
    saved = [_fetch(session, each, target) for each, target in targets]
    session.output.result({"files": saved}, rows=[{"File": each["path"], "Bytes": each["size"]} for each in saved])


def _files(session: Session, video: Json, stem: str, *, kind: str, language: str, variant: str) -> Iterator[RemoteFile]:
    video_id, service = str(video["id"]), session.service
    language = language or str(video.get("defaultLanguageCode") or "")
    ending = f"-{safe_name(language)}" if language else ""
    if kind in {"video", "source", "bundle"}:
        yield _prepared(session, video, stem, kind=kind, language=language, ending=ending)
    elif kind == "subtitles":

        def subtitles() -> Json:
            return service.get("/v1/videos/{}/subtitles/{}", video_id, _known(language), format=variant)

        yield RemoteFile(
            f"{stem}{ending}.{safe_name(variant)}", f"{video_id} {kind} {language}", _signed(subtitles, "downloadUrl")
        )
    elif kind == "audio":
        product = variant if variant == "premium" else "plus"

        def dub() -> Json:
            return service.get("/v1/videos/{}/dubs/{}", video_id, _known(language), product=product)

        yield RemoteFile(f"{stem}{ending}.m4a", f"{video_id} {product} {language}", _signed(dub, "audioUrl"))
    elif kind == "shorts":
        yield from _shorts(session, video_id, stem)
    else:
        yield from _thumbnails(session, video_id, stem)


def _prepared(session: Session, video: Json, stem: str, *, kind: str, language: str, ending: str) -> RemoteFile:
    """A file that a job prepares; an interrupted download continues with the one that was prepared for it."""
    artifact, video_id = "language_video" if kind == "video" else kind, str(video["id"])
    body = {"artifact": artifact, **({"language": _known(language)} if kind == "video" else {})}

    def find(notes: Notes) -> str:
        known = notes.get("downloadRequestId")
        if known is not None and session.service.get("/v1/downloads/{}", known).get("status") == "failed":
            known = None  # it has expired
        if known is None:
            asked = session.service.post("/v1/videos/{}/downloads", video_id, body=body)
            known = notes["downloadRequestId"] = str(asked["downloadRequestId"])
            check_jobs(wait_for_jobs(session, [str(asked["jobId"])]))
        return _signed(lambda: session.service.get("/v1/downloads/{}", known), "url")(notes)

    original = Path(str(video.get("title") or "")).suffix
    suffix = {"video": ".mp4", "bundle": ".zip"}.get(kind) or (original if _SUFFIX.fullmatch(original) else ".mp4")
    return RemoteFile(f"{stem}{ending if kind == 'video' else ''}{suffix}", f"{video_id} {artifact} {language}", find)


def _shorts(session: Session, video_id: str, stem: str) -> Iterator[RemoteFile]:
    """The outputs of the newest request that has any."""
    for listed in session.service.get("/v1/videos/{}/shorts", video_id).get("requests", []):
        request_id = str(listed["id"])
        ready = listed.get("status") == "ready"
        outputs = session.service.get("/v1/shorts/{}", request_id).get("outputs", []) if ready else []
        for number, each in enumerate(outputs, 1):

            def output(request_id: str = request_id, position: int = number - 1) -> Json:
                found: Json = session.service.get("/v1/shorts/{}", request_id)["outputs"][position]
                return found

            yield RemoteFile(
                f"{stem}-{safe_name(str(each.get('type')))}-{number}.mp4",
                str(each["outputId"]),
                _signed(output, "videoUrl"),
            )
        if outputs:
            return


def _thumbnails(session: Session, video_id: str, stem: str) -> Iterator[RemoteFile]:
    """The images of the newest request that has any."""
    for listed in session.service.get("/v1/videos/{}/thumbnails", video_id).get("thumbnails", []):
        images = listed.get("outputImages", [])
        for number, each in enumerate(images, 1):
            ending = f"-{safe_name(str(each['language']))}" if each.get("language") else ""

            def image(request_id: str = str(listed["id"]), position: int = number - 1) -> Json:
                found: Json = session.service.get("/v1/thumbnails/{}", request_id)["outputImages"][position]
                return found

            yield RemoteFile(f"{stem}-thumbnail-{number}{ending}.jpg", str(each["thumbnailId"]), _signed(image, "url"))
        if images:
            return


def _signed(read: Callable[[], Json], field: str) -> Callable[[Notes], str]:
    def find(_: Notes) -> str:
        url = read().get(field)
        if not isinstance(url, str):
            raise CommandError("This is not ready yet.", exit_code=Exit.CONFLICT, code="NOT_READY")
        return url

    return find


def _known(language: str) -> str:
    if not language:
        raise CommandError("The language of the video is not known yet: say one with --language.")
    return language


def safe_name(text: str) -> str:
    """A part of a file name: no separators, no control characters, nothing that a system reserves."""
    name = _UNSAFE.sub("-", text).strip("-.")[:MAX_NAME] or "video"
    return f"_{name}" if _RESERVED.fullmatch(name) else name


def _target(output: Path | None, name: str, *, several: bool) -> Path:
    if output is None:
        return Path(name)
    return output / name if several or output.is_dir() or str(output).endswith("/") else output


def _fetch(session: Session, remote: RemoteFile, target: Path) -> dict[str, object]:
    from cutroom_client._sync.downloads import FileDownload  # noqa: PLC0415 (slow to load)
    from cutroom_client.download_plan import DownloadPlan  # noqa: PLC0415

    try:
        with ExitStack() as stack:
            bar = stack.enter_context(Bar(target.name)) if session.output.shows_progress else None
            stack.enter_context(reported())
            plan = DownloadPlan(target, f"{session.base_url} {remote.identity}")
            plan.load()
            find_url = partial(remote.find_url, plan.notes)
            saved = FileDownload(session.service.transport, find_url, plan, bar.show if bar else None).run()
    except KeyboardInterrupt:
        raise Interrupted("What has arrived is kept: run the same command again to continue.") from None
    except OSError as error:
        raise CommandError(f"{target} cannot be written: {error.strerror}.") from None
    return {"path": str(saved.path), "size": saved.size, "sha256": saved.sha256}


COMMANDS = {"download": download}
