"""`upload` and `import`: files and URLs become videos."""

from __future__ import annotations

import mimetypes
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

from cutroom_client.cli.commands import Interrupted
from cutroom_client.cli.exits import CommandError
from cutroom_client.cli.output import printable
from cutroom_client.cli.products import split
from cutroom_client.cli.service import Json, reported
from cutroom_client.cli.session import Session
from cutroom_client.cli.spending import AcceptDraft, MaxCredits
from cutroom_client.cli.waiting import Wait, check_jobs, job_rows, wait_for_jobs

Progress = Callable[[int, int], object]
DubTo = Annotated[list[str] | None, typer.Option("--dub", metavar="LANG", help="Then dub into this language.")]
Shorts = Annotated[int, typer.Option("--shorts", min=0, max=10, metavar="COUNT", help="Then cut this many shorts.")]
Title = Annotated[str, typer.Option("--title", metavar="STYLE", help="Then write a title in this style.")]
Folder = Annotated[str | None, typer.Option("--folder", metavar="ID", help="Folder of the library.")]


def upload(
    session: Session,
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Video or audio files.")],
    *,
    folder: Folder = None,
    dub: DubTo = None,
    shorts: Shorts = 0,
    title: Title = "",
    accept_draft: AcceptDraft = False,
    wait: Wait = True,
    max_credits: MaxCredits = None,
) -> None:
    """Upload files. An upload that was interrupted continues when the same command runs again."""
    for file in files:
        check_file(file)
    products = recipe(dub=dub, shorts=shorts, title=title, accept_draft=accept_draft)
    done: list[Json] = []
    for file in files:
        video_id = send_file(session, file, folder=folder, products=products, max_credits=max_credits)
        done.append({"videoId": video_id, "file": str(file)})
    _finish(session, done, wait=wait)


def import_url(
    session: Session,
    urls: Annotated[list[str], typer.Argument(metavar="URL...", help="https, YouTube, Dropbox or Google Drive.")],
    *,
    folder: Folder = None,
    dub: DubTo = None,
    shorts: Shorts = 0,
    title: Title = "",
    accept_draft: AcceptDraft = False,
    wait: Wait = True,
    max_credits: MaxCredits = None,
) -> None:
    """Import videos from URLs."""
    products = recipe(dub=dub, shorts=shorts, title=title, accept_draft=accept_draft)
    done = []
    for url in urls:
        body = new_video({"type": "url", "url": url}, folder=folder, products=products)
        created = session.service.spend("/v1/videos", body=body, max_credits=session.limit(max_credits))
        done.append({"videoId": created["videoId"], "url": url})
    _finish(session, done, wait=wait)


def recipe(*, dub: list[str] | None, shorts: int, title: str, accept_draft: bool) -> Json:
    """What is made as soon as the transcript is ready."""
    found: Json = {}
    if dub:
        found["dubs"] = [{"languages": split(dub), **({"acceptDraft": True} if accept_draft else {})}]
    if shorts:
        found["shorts"] = {"numClips": shorts}
    if title:
        found["packaging"] = {"title": {"style": title}}
    return found


def new_video(source: Json, *, folder: str | None, products: Json) -> Json:
    """The request that creates a video."""
    return {
        "source": source,
        **({"folderId": folder} if folder else {}),
        **({"products": products} if products else {}),
    }


def check_file(file: Path) -> None:
    """Raises if a file cannot be uploaded, before anything is."""
    try:
        if not file.is_file():
            raise CommandError(f"{file} is not a file.")
        if not file.stat().st_size:
            raise CommandError(f"{file} is empty.")
        with file.open("rb"):
            pass
    except OSError as error:
        raise CommandError(f"{file} cannot be read: {error.strerror}.") from None


def upload_source(file: Path, *, folder: str | None, products: Json) -> Any:  # noqa: ANN401 (loaded late)
    """What the client uploads; its state file is named after all of this."""
    from cutroom_client._sync.uploads import UploadSource  # noqa: PLC0415 (slow to load)

    kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    source = {"type": "upload", "fileName": file.name, "contentType": kind}
    return UploadSource(file, file.name, kind, new_video(source, folder=folder, products=products))


def send_file(
    session: Session,
    file: Path,
    *,
    folder: str | None,
    products: Json,
    max_credits: float | None,
    progress: Progress | None = None,
) -> str:
    """Uploads a file, or the rest of it, and returns the video."""
    from cutroom_client._sync.uploads import Upload  # noqa: PLC0415 (slow to load)

    source = upload_source(file, folder=folder, products=products)
    transport = session.service.limited(session.limit(max_credits)) if products else session.service.transport
    try:
        with ExitStack() as stack:
            bar = stack.enter_context(Bar(file.name)) if session.output.shows_progress else None
            stack.enter_context(reported())

            def report(stored: int, total: int) -> None:
                if progress is not None:
                    progress(stored, total)
                if bar is not None:
                    bar.show(stored, total)

            return Upload(transport, source, report).run()
    except KeyboardInterrupt:
        raise Interrupted("What has arrived is kept: run the same command again to continue.") from None
    except OSError as error:
        raise CommandError(f"{file} cannot be read: {error.strerror}.") from None


class Bar:
    """A progress bar of one file, on standard error."""

    def __init__(self, name: str) -> None:
        from rich.console import Console  # noqa: PLC0415 (slow to load)
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn  # noqa: PLC0415

        columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn(), TransferSpeedColumn())
        self._progress: Any = Progress(*columns, console=Console(stderr=True, highlight=False))
        self._task = self._progress.add_task(printable(name), total=None)

    def __enter__(self) -> Bar:  # noqa: PYI034 (no Self before 3.11)
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def show(self, done: int, total: int) -> None:
        self._progress.update(self._task, completed=done, total=total)


def _finish(session: Session, done: list[Json], *, wait: bool) -> None:
    """Waits for the imports and transcripts, and prints the videos with their jobs."""
    ids = [str(each["videoId"]) for each in done]
    listed = [job for each in ids for job in session.service.get("/v1/videos/{}/jobs", each).get("jobs", [])]
    jobs = wait_for_jobs(session, [str(each["id"]) for each in listed]) if wait else listed
    session.output.result({"videos": done, "jobs": jobs}, rows=job_rows(jobs))
    if not session.output.as_json:
        session.output.note(
            "\n".join(f"{each.get('file') or each.get('url')}: video {each['videoId']}" for each in done)
        )
    check_jobs(jobs)


COMMANDS = {"upload": upload, "import": import_url}
