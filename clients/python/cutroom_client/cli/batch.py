"""`batch`: a folder or a CSV file to a recipe. Killed at any moment, the same command continues and repeats nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from cutroom_client.cli.batch_items import Item, Recipe, read_items
from cutroom_client.cli.batch_journal import Journal, open_journal
from cutroom_client.cli.commands import Interrupted
from cutroom_client.cli.exits import CommandError, Exit
from cutroom_client.cli.output import credits_text
from cutroom_client.cli.products import job_ids_of, split
from cutroom_client.cli.sending import new_video, send_file, upload_source
from cutroom_client.cli.service import Json
from cutroom_client.cli.session import Session
from cutroom_client.cli.spending import DryRun, Yes, ask, quote
from cutroom_client.cli.waiting import wait_for_jobs

# After these, the other items would fail in the same way.
_ENDING = frozenset({Exit.AUTHENTICATION, Exit.CONNECTION, Exit.CREDITS, Exit.RATE_LIMITED, Exit.UNEXPECTED})
# After these, it is not known whether the request took effect: the next run sends it again with the same key.
_UNCERTAIN = frozenset({Exit.CONNECTION, Exit.RATE_LIMITED, Exit.UNEXPECTED})


def batch(
    session: Session,
    source: Annotated[Path, typer.Argument(metavar="FOLDER|CSV", exists=True, help="Folder of media, or CSV file.")],
    *,
    dub: Annotated[list[str] | None, typer.Option(metavar="LANG", help="Dub into these languages.")] = None,
    captions: Annotated[list[str] | None, typer.Option(metavar="LANG", help="Captions in these languages.")] = None,
    shorts: Annotated[int, typer.Option(min=0, max=10, metavar="COUNT", help="Cut this many shorts.")] = 0,
    title: Annotated[str, typer.Option(metavar="STYLE", help="Write a title in this style.")] = "",
    thumbnail: Annotated[bool, typer.Option("--thumbnail", help="Make a thumbnail.")] = False,
    state: Annotated[
        Path | None, typer.Option(metavar="FILE", help="State file; beside the source by default.")
    ] = None,
    at_once: Annotated[int, typer.Option(min=1, max=20, help="How many videos are worked on at a time.")] = 4,
    max_credits: Annotated[
        float | None,
        typer.Option(min=0, metavar="CREDITS", help="Spend at most this in all runs of the batch together."),
    ] = None,
    yes: Yes = False,
    dry_run: DryRun = False,
) -> None:
    """Process all videos of a folder or CSV file. To continue after an interruption, run the same command again."""
    recipe = Recipe(tuple(split(dub or [])), tuple(split(captions or [])), shorts, title, thumbnail)
    items = read_items(source, recipe)
    path = state or source.absolute().with_name(f"{source.absolute().name}.cutroom-state.jsonl")
    library = str(session.service.get("/v1/library")["id"])
    with open_journal(path, library) as journal:
        run = BatchRun(session, journal, limit=session.limit(max_credits))
        if dry_run:
            run.preview(items)
            return
        left = [each for each in items if not journal.state(each.id).done]
        if left and not yes and session.output.is_interactive:
            budget = "without a limit" if run.limit is None else f"for at most {credits_text(run.limit)} in all"
            ask(f"{len(left)} of {len(items)} videos will be processed {budget}.")
        try:
            for start in range(0, len(left), at_once):
                run.process(left[start : start + at_once])
        except KeyboardInterrupt:
            raise Interrupted(f"The state is kept in {path}: run the same command again to continue.") from None
        run.report(items, path)


class BatchRun:
    """One run of a batch."""

    def __init__(self, session: Session, journal: Journal, *, limit: float | None) -> None:
        self._session = session
        self._journal = journal
        self.limit = limit

    def process(self, items: Sequence[Item]) -> None:
        """Sends some videos, requests their products, and waits for all of them."""
        going = list(items)
        for step in (self._send, self._request, self._complete):
            going = [each for each in going if self._succeeds(step, each)]

    def _succeeds(self, step: Callable[[Item], None], item: Item) -> bool:
        """Takes a step; a failure is in the journal, and ends the run only if others would fail in the same way."""
        try:
            step(item)
        except CommandError as error:
            self._journal.failed(item.id, error.message)
            self._session.output.note(f"{item.source}: {error.message}")
            if error.exit_code in _ENDING:
                raise
            return False
        return True

    def _send(self, item: Item) -> None:
        state = self._journal.state(item.id)
        if state.video_id is not None and state.uploaded:
            return
        self._session.output.note(f"{item.source}: sending")
        video_id = self._import(item) if item.file is None else self._upload(item, item.file)
        self._journal.video(item.id, video_id, uploaded=True)

    def _import(self, item: Item) -> str:
        key = self._journal.key(item.id, "video")
        body = new_video({"type": "url", "url": item.source}, folder=None, products={})
        try:
            return str(self._session.service.post("/v1/videos", body=body, key=key)["videoId"])
        except CommandError as error:
            if error.code == "ALREADY_EXISTS" and "videoId" in error.details:
                return str(error.details["videoId"])
            if error.exit_code not in _UNCERTAIN:
                self._journal.failed(item.id, error.message, step="video")
            raise

    def _upload(self, item: Item, file: Path) -> str:
        known = self._journal.state(item.id).video_id
        state_file = self._upload_state(file)
        if known is not None and not state_file.exists():
            return known  # it had arrived, and then the run was killed

        def note_video(_stored: int, _total: int) -> None:
            if self._journal.state(item.id).video_id is None:
                from cutroom_client.transfers import read_state  # noqa: PLC0415 (slow to load)

                video_id = (read_state(state_file) or {}).get("video_id")
                if isinstance(video_id, str):
                    self._journal.video(item.id, video_id, uploaded=False)

        return send_file(self._session, file, folder=None, products={}, max_credits=None, progress=note_video)

    def _upload_state(self, file: Path) -> Path:
        """Where the client keeps the state of the upload."""
        from cutroom_client.upload_state import state_name  # noqa: PLC0415 (slow to load)

        source, settings = upload_source(file, folder=None, products={}), self._session.service.settings
        options, key = json.dumps(source.request, sort_keys=True), settings.api_key.get_secret_value()
        name = state_name(file, base_url=settings.base_url, api_key=key, options=options)
        return settings.state_dir / "uploads" / f"{name}.json"

    def _request(self, item: Item) -> None:
        """Requests the products that were not requested before, once the length of the video is known."""
        state = self._journal.state(item.id)
        video_id = str(state.video_id)
        missing = [each for each in item.recipe.steps() if each[0] not in state.jobs]
        if not missing:
            return
        [imported] = wait_for_jobs(self._session, [f"import_{video_id}"])
        if imported.get("status") == "failed":
            self._journal.forget_video(item.id)
            raise CommandError(_reason(imported), exit_code=Exit.JOB_FAILED)
        for name, path, body, bundle in missing:
            key, price = self._reserved(item, name, video_id, bundle)
            try:
                found = self._session.service.spend(path, video_id, body=body, max_credits=price, key=key)
            except CommandError as error:
                if error.exit_code not in _UNCERTAIN:
                    self._journal.failed(item.id, error.message, step=name)
                raise
            self._journal.requested(item.id, name, job_ids_of(found))
            self._session.output.note(f"{item.source}: {name} requested")

    def _reserved(
        self, item: Item, step: str, video_id: str, bundle: dict[str, object] | None
    ) -> tuple[str, float | None]:
        """The key of a step and its price, which is in the journal before the request is sent."""
        state = self._journal.state(item.id)
        price = state.prices.get(step)
        if price is None:
            found = quote(self._session, video_id, bundle) if bundle is not None else None
            price = round(float(found["total"]), 3) if found is not None else 0.0
            if self.limit is not None and price and self._journal.spent() + price > self.limit:
                raise CommandError(
                    f"{step} costs {credits_text(price)}, and {credits_text(self._journal.spent())} of "
                    f"{credits_text(self.limit)} are spent.",
                    exit_code=Exit.CREDITS,
                    code="FAILED_PRECONDITION",
                    details={"reason": "over_limit", "price": price},
                    hint="Raise --max-credits, and run the same command again.",
                )
        return self._journal.key(item.id, step, price=price), price if bundle is not None else None

    def _complete(self, item: Item) -> None:
        state = self._journal.state(item.id)
        requested = {job: step for step, jobs in state.jobs.items() for job in jobs}
        ids = list(requested) or [f"import_{state.video_id}"]
        failed = [each for each in wait_for_jobs(self._session, ids) if each.get("status") == "failed"]
        for job in failed:
            if job["id"] in requested:
                self._journal.failed(item.id, _reason(job), step=requested[job["id"]])
            else:
                self._journal.forget_video(item.id)
        if failed:
            raise CommandError(_reason(failed[0]), exit_code=Exit.JOB_FAILED)
        self._journal.done(item.id)
        self._session.output.note(f"{item.source}: done")

    def preview(self, items: Sequence[Item]) -> None:
        """Shows what a run would do; prices as far as videos are imported."""
        rows: list[Json] = []
        for item in items:
            state = self._journal.state(item.id)
            steps = [each for each in item.recipe.steps() if each[0] not in state.jobs]
            price: float | None = 0.0
            for _, _, _, bundle in steps:
                found = quote(self._session, state.video_id, bundle) if state.video_id and bundle else None
                known = bundle is None or found is not None
                price = price + (float(found["total"]) if found else 0.0) if price is not None and known else None
            status = "done" if state.done else "new" if state.video_id is None else "begun"
            rows.append(
                {"source": item.source, "status": status, "steps": [each[0] for each in steps], "credits": price}
            )
        session_rows = [
            {
                "Source": each["source"],
                "Status": each["status"],
                "To do": ", ".join(each["steps"]),
                "Credits": each["credits"],
            }
            for each in rows
        ]
        self._session.output.result({"items": rows}, rows=session_rows)

    def report(self, items: Sequence[Item], path: Path) -> None:
        """Prints how every item ended; raises if one has failed."""
        states = [(each, self._journal.state(each.id)) for each in items]
        rows = [
            {
                "source": item.source,
                "videoId": state.video_id,
                "status": "done" if state.done else "failed",
                "error": state.error or None,
            }
            for item, state in states
        ]
        document = {"items": rows, "credits": round(self._journal.spent(), 3), "state": str(path)}
        shown = [
            {"Source": each["source"], "Video": each["videoId"], "Status": each["status"], "Error": each["error"]}
            for each in rows
        ]
        self._session.output.result(document, rows=shown)
        failed = sum(not state.done for _, state in states)
        if failed:
            raise CommandError(
                f"{failed} of {len(items)} videos failed.",
                exit_code=Exit.PARTLY_FAILED,
                code="PARTLY_FAILED",
                hint="Run the same command again to try them once more.",
            )


def _reason(job: Json) -> str:
    return f"{job.get('id')} failed: {(job.get('error') or {}).get('message', 'no reason was given')}"


COMMANDS = {"batch": batch}
