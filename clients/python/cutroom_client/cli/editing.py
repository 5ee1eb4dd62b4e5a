"""`edit`: texts of a transcript or of captions as a subtitle file, through an editor and back as a revision."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from cutroom_client.cli.exits import CommandError, Exit
from cutroom_client.cli.output import printable
from cutroom_client.cli.profiles import write_private
from cutroom_client.cli.receiving import safe_name
from cutroom_client.cli.service import Json, reported
from cutroom_client.cli.session import Session

MAX_SUBTITLES = 20_000_000
SHOWN_CHANGES = 20
FORMATS = ("srt", "vtt")


def edit(
    session: Session,
    video: Annotated[str, typer.Argument(metavar="VIDEO", help="Id of the video.")],
    *,
    language: Annotated[
        str,
        typer.Option("--language", "-l", metavar="LANG", help="Captions of this language; the transcript by default."),
    ] = "",
    text_format: Annotated[str, typer.Option("--format", help="srt or vtt.")] = "srt",
    export: Annotated[Path | None, typer.Option("--export", help="Write the file, and the revision beside it.")] = None,
    import_: Annotated[Path | None, typer.Option("--import", help="Import a file that --export has written.")] = None,
    revision: Annotated[
        int | None,
        typer.Option(
            "--revision", min=0, help="The revision that the file was made from; else what --export has noted."
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", "-f", help="With --export, replace a file that exists.")] = False,
) -> None:
    """Correct a transcript or captions in your editor ($VISUAL, $EDITOR), or in a file."""
    if text_format not in FORMATS:
        raise CommandError("--format is srt or vtt.")
    texts = Texts(session, video, language)
    if import_ is not None:
        known = revision if revision is not None else _noted_revision(import_, texts)
        content_format = import_.suffix.removeprefix(".").lower() or text_format
        found = _import(session, texts, _read(import_), revision=known, text_format=content_format, kept=import_)
        _note_revision(import_, texts, int(found["revision"]))
        return
    current = texts.revision()
    content = texts.export(text_format)
    if export is not None:
        if export.exists() and not force:
            raise CommandError(f"{export} exists.", hint="Use --force to replace it.")
        _write(export, content)
        _note_revision(export, texts, current)
        document = {"file": str(export), "revision": current, "language": texts.name}
        session.output.result(document, text=f"{export}: revision {current} of the {texts.name}.")
        return
    _edit_here(session, texts, content, revision=current, text_format=text_format)


class Texts:
    """The transcript of a video, or its captions in one language."""

    def __init__(self, session: Session, video: str, language: str) -> None:
        self._service = session.service
        self.video = video
        found = self._service.get("/v1/videos/{}", video)
        spoken = str((found.get("transcript") or {}).get("language") or found.get("defaultLanguageCode") or "")
        self.is_transcript = not language or language.lower() == spoken.lower()
        self._language = language or spoken

    @property
    def name(self) -> str:
        return "transcript" if self.is_transcript else f"captions in {self._language}"

    def revision(self) -> int:
        """The current one."""
        if self.is_transcript:
            return int(self._service.get("/v1/videos/{}/transcript/revisions", self.video, limit=1)["revision"])
        return int(self._service.get("/v1/videos/{}/captions/{}/segments", self.video, self._language)["revision"])

    def export(self, text_format: str) -> str:
        if not self._language:
            raise CommandError("There is no transcript yet.", exit_code=Exit.CONFLICT, code="NOT_READY")
        found = self._service.get("/v1/videos/{}/subtitles/{}", self.video, self._language, format=text_format)
        url = found.get("downloadUrl")
        if not isinstance(url, str):
            raise CommandError("The subtitles are not ready yet.", exit_code=Exit.CONFLICT, code="NOT_READY")
        return self._fetched(url)

    def _fetched(self, url: str) -> str:
        """A small file by its signed URL, without the key."""
        import httpx  # noqa: PLC0415

        from cutroom_client.log_redaction import unlogged  # noqa: PLC0415 (slow to load)
        from cutroom_client.urls import checked_url  # noqa: PLC0415

        base_url = self._service.settings.base_url
        try:
            with reported(), unlogged():
                checked = checked_url(url, base_url=base_url)
                response = self._service.transport.http.get(checked, follow_redirects=False)
        except httpx.TransportError as error:
            raise CommandError(
                f"The file cannot be fetched ({type(error).__name__}).", exit_code=Exit.CONNECTION, code="CONNECTION"
            ) from None
        if not response.is_success or len(response.content) > MAX_SUBTITLES:
            raise CommandError(
                f"The file cannot be fetched (status {response.status_code}).", exit_code=Exit.UNEXPECTED
            )
        return response.content.decode("utf-8-sig")

    def replace(self, content: str, *, revision: int, text_format: str) -> Json:
        path = "/v1/videos/{}/transcript/import" if self.is_transcript else "/v1/videos/{}/captions/{}/import"
        segments = (self.video,) if self.is_transcript else (self.video, self._language)
        body = {"revision": revision, "format": text_format, "content": content}
        return self._service.post(path, *segments, body=body)


def _edit_here(session: Session, texts: Texts, content: str, *, revision: int, text_format: str) -> None:
    """Opens the editor, and imports what it has saved. The file stays if the import fails."""
    if not sys.stdin.isatty():
        raise CommandError("Without a terminal, use --export and --import.")
    name = f"{safe_name(texts.video)}-{safe_name(texts.name)}.{text_format}"
    file = Path(tempfile.mkdtemp(prefix="cutroom-")) / name
    _write(file, content)
    _note_revision(file, texts, revision)
    try:
        _run_editor(file)
    except BaseException:
        session.output.note(f"Your text is kept in {file}.")
        raise
    edited = _read(file)
    if edited == content:
        _forget(file)
        session.output.result({"revision": revision, "totalChanges": 0, "changes": []}, text="Nothing was changed.")
        return
    _import(session, texts, edited, revision=revision, text_format=text_format, kept=file)
    _forget(file)


def _run_editor(file: Path) -> None:
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    try:
        code = subprocess.run([*shlex.split(editor), str(file)], check=False).returncode  # noqa: S603 (the person's editor)
    except (OSError, ValueError):
        raise CommandError(f"The editor {editor!r} cannot be started.", hint="Set EDITOR.") from None
    if code:
        raise CommandError(f"The editor has ended with {code}; nothing was imported.")


def _import(session: Session, texts: Texts, content: str, *, revision: int, text_format: str, kept: Path) -> Json:
    try:
        found = texts.replace(content, revision=revision, text_format=text_format)
    except CommandError as error:
        error.hint = f"Your text is kept in {kept}."
        current = error.details.get("revision")
        if error.code == "CONFLICT" and current is not None:
            again = f"cutroom edit {texts.video} --import {shlex.quote(str(kept))} --revision {current}"
            error.message = (
                f"Somebody has changed the {texts.name} since: it is at revision {current}, your text is of {revision}."
            )
            error.hint += f" Compare it with the current text, then replace that with: {again}"
        raise
    session.output.result(found, text=_summary(texts, found))
    return found


def _summary(texts: Texts, found: Json) -> str:
    """The new revision, and what it has changed."""
    total = found.get("totalChanges", 0)
    lines = [f"Revision {found.get('revision')} of the {texts.name}: {total} change{'' if total == 1 else 's'}."]
    for each in found.get("changes", [])[:SHOWN_CHANGES]:
        for mark, side in (("-", "before"), ("+", "after")):
            if (value := each.get(side)) is not None:
                lines.append(f"  {mark} {printable(value.get('text'))}")
    if total > SHOWN_CHANGES:
        lines.append(f"  and {total - SHOWN_CHANGES} more")
    return "\n".join(lines)


def _revision_file(file: Path) -> Path:
    return file.with_name(f".{file.name}.revision")


def _note_revision(file: Path, texts: Texts, revision: int) -> None:
    write_private(_revision_file(file), f"{texts.video} {revision}\n")


def _noted_revision(file: Path, texts: Texts) -> int:
    try:
        video, _, revision = _revision_file(file).read_text(encoding="utf-8").strip().partition(" ")
    except OSError:
        video, revision = "", ""
    if video != texts.video or not revision.isdigit():
        raise CommandError(
            f"It is not known which revision {file} was made from.",
            hint=f"Export it with `cutroom edit {texts.video} --export {shlex.quote(str(file))}`, or say --revision.",
        )
    return int(revision)


def _forget(file: Path) -> None:
    file.unlink(missing_ok=True)
    _revision_file(file).unlink(missing_ok=True)
    file.parent.rmdir()


def _read(file: Path) -> str:
    try:
        if file.stat().st_size > MAX_SUBTITLES:
            raise CommandError(f"{file} is too large for subtitles.")
        return file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{file} cannot be read: {type(error).__name__}.") from None


def _write(file: Path, content: str) -> None:
    try:
        file.write_text(content, encoding="utf-8")
    except OSError as error:
        raise CommandError(f"{file} cannot be written: {error.strerror}.") from None


COMMANDS = {"edit": edit}
