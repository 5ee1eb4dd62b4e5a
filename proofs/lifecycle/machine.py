"""Hypothesis chooses what happens to a library, and every response is compared with the model."""

import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import httpx
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from cutroom.platform.ids import new_id
from proofs.lifecycle.library import Library

STEPS_PER_RUN = 20
KILLED = frozenset({"api", "worker"})
KINDS = frozenset({"create", "patch", "race", "cancel", "retry", "delete", "restore", "purge", "refused"})
TITLES = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=40)
CHOICE = st.integers(min_value=0, max_value=1_000_000)
INSTANT = st.floats(min_value=0, max_value=0.03)  # seconds after which a process is killed


@dataclass
class Budget:
    """How often what takes seconds may still happen.

    The rules check it when they run: a precondition may only depend on what Hypothesis has drawn.
    """

    files: int
    dubs: int
    worker_kills: int
    api_kills: int


class LibraryMachine(RuleBasedStateMachine):
    """One run of steps; all runs share the library, as long-lived clients do."""

    library: ClassVar[Library]
    budget: ClassVar[Budget]
    file: ClassVar[Path]

    def _pick(self, choice: int, place: str = "library") -> str | None:
        found = self.library.at(place)
        return found[choice % len(found)] if found else None

    @rule()
    def create(self) -> None:
        self.library.create_upload()

    @rule()
    def create_with_file(self) -> None:
        if self.budget.files <= 0:
            return
        self.budget.files -= 1
        self.library.create_file(self.file)

    @rule(choice=CHOICE, title=TITLES, labels=st.lists(TITLES, max_size=3, unique=True))
    def patch(self, choice: int, title: str, labels: list[str]) -> None:
        if (video_id := self._pick(choice)) is not None:
            self._change(video_id, {"title": title, "labels": labels})

    def _change(self, video_id: str, change: dict[str, Any]) -> None:
        response = self.library.request("patch", "PATCH", f"/videos/{video_id}", json=change)
        if self.library.expect_status(response, 200, what="patch"):
            self._remember(video_id, change)

    def _remember(self, video_id: str, change: dict[str, Any]) -> None:
        known = self.library.videos[video_id].fields
        known.update({name: value for name, value in change.items() if value})
        for name in [name for name, value in change.items() if not value]:
            known.pop(name, None)

    @rule(choice=CHOICE, titles=st.lists(TITLES, min_size=2, max_size=4, unique=True))
    def race(self, choice: int, titles: list[str]) -> None:
        """Of several changes of one revision, exactly one wins."""
        video_id = self._pick(choice)
        if video_id is None:
            return
        etag = self.library.request("read", "GET", f"/videos/{video_id}").headers["ETag"]
        responses: dict[str, httpx.Response] = {}

        def change(title: str) -> None:
            responses[title] = self.library.request(
                "race", "PATCH", f"/videos/{video_id}", json={"title": title}, headers={"If-Match": etag}
            )

        threads = [threading.Thread(target=change, args=(title,)) for title in titles]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        known = self.library.videos[video_id].fields
        same = known.get("title") in titles  # setting the value it has is no new revision
        winners = [title for title, response in responses.items() if response.status_code == 200]
        new = [title for title in winners if title != known.get("title")]
        found = self.library.request("read", "GET", f"/videos/{video_id}").json()["title"]
        if not (len(new) == 1 and found == new[0]) and not (same and not new and found == known.get("title")):
            self.library.lost_updates.append(f"{winners} won, {found} is stored")
        known["title"] = found

    @rule()
    def create_folder(self) -> None:
        made = self.library.request("folder", "POST", "/folders", json={"name": new_id()})
        if self.library.expect_status(made, 201, what="create a folder"):
            self.library.folders[made.json()["id"]] = made.json()["name"]

    @rule(choice=CHOICE)
    def delete_folder(self, choice: int) -> None:
        if not self.library.folders:
            return
        folder_id = sorted(self.library.folders)[choice % len(self.library.folders)]
        response = self.library.request("folder", "DELETE", f"/folders/{folder_id}")
        self.library.expect_status(response, 204, what="delete a folder")
        del self.library.folders[folder_id]
        for video in self.library.videos.values():
            kept = [each for each in video.fields.get("folderIds", []) if each != folder_id]
            video.fields.pop("folderIds", None)
            if kept:
                video.fields["folderIds"] = kept

    @rule(choice=CHOICE, folder=CHOICE)
    def move(self, choice: int, folder: int) -> None:
        video_id, folders = self._pick(choice), sorted(self.library.folders)
        if video_id is not None and folders:
            self._change(video_id, {"folderIds": [folders[folder % len(folders)]]})

    @rule(language=st.sampled_from(("pt", "es")))
    def dub(self, language: str) -> None:
        if self.budget.dubs <= 0:
            return
        for video_id in self.library.at("library"):
            video = self.library.videos[video_id]
            if not video.is_spoken:
                continue
            made = self.library.request("dub", "POST", f"/videos/{video_id}/dubs", json={"languages": [language]})
            if made.status_code == 409:  # its transcript was canceled with an earlier deletion
                continue
            self.budget.dubs -= 1
            if self.library.expect_status(made, 202, what="dub"):
                video.jobs += [job["id"] for job in made.json()["jobs"] if job["id"] not in video.jobs]
            return

    @rule(choice=CHOICE, which=CHOICE)
    def cancel(self, choice: int, which: int) -> None:
        video_id = self._pick(choice)
        if video_id is None:
            return
        jobs = self.library.videos[video_id].jobs
        job_id = jobs[which % len(jobs)]
        response = self.library.request("cancel", "POST", f"/jobs/{job_id}/cancel")
        if self.library.expect_status(response, 200, 409, what="cancel") and response.status_code == 200:
            found = self.library.request("read", "GET", f"/jobs/{job_id}")
            error = found.json().get("error", {})
            self.library.expect(error.get("code") == "CANCELLED", "a canceled job", found)

    @rule(choice=CHOICE, which=CHOICE)
    def retry(self, choice: int, which: int) -> None:
        """Accepted for an ended job; refused if it is ready, or its file or a dependency is missing."""
        video_id = self._pick(choice)
        if video_id is None:
            return
        jobs = self.library.videos[video_id].jobs
        response = self.library.request("retry", "POST", f"/jobs/{jobs[which % len(jobs)]}/retry")
        self.library.expect_status(response, 202, 409, what="retry")

    @rule(choice=CHOICE)
    def delete(self, choice: int) -> None:
        if (video_id := self._pick(choice)) is not None:
            self.library.delete(video_id, permanently=False)

    @rule(choice=CHOICE, in_trash=st.booleans())
    def purge(self, choice: int, in_trash: bool) -> None:  # noqa: FBT001 (drawn)
        if (video_id := self._pick(choice, "trash" if in_trash else "library")) is not None:
            self.library.delete(video_id, permanently=True)

    @rule(choice=CHOICE)
    def restore(self, choice: int) -> None:
        video_id = self._pick(choice, "trash")
        if video_id is None:
            return
        response = self.library.request("restore", "POST", f"/videos/{video_id}/restore")
        if self.library.expect_status(response, 200, what="restore"):
            self.library.videos[video_id].place = "library"

    @rule(choice=CHOICE)
    def use_what_is_gone(self, choice: int) -> None:
        for place in ("trash", "gone"):
            video_id = self._pick(choice, place)
            if video_id is None:
                continue
            for method, path in (("PATCH", ""), ("GET", "/jobs"), ("GET", "/transcript"), ("POST", "/dubs")):
                body = {"json": {"languages": ["pt"]} if path else {"title": "x"}} if method != "GET" else {}
                response = self.library.request("refused", method, f"/videos/{video_id}{path}", **body)
                self.library.expect_status(response, 404, what=f"{method} {path} of a video in the {place}")
            if place == "gone":
                response = self.library.request("refused", "POST", f"/videos/{video_id}/restore")
                self.library.expect_status(response, 404, what="restore what is gone")

    @rule(choice=CHOICE)
    def read(self, choice: int) -> None:
        video_id = self._pick(choice)
        if video_id is None:
            return
        found = self.library.request("read", "GET", f"/videos/{video_id}")
        known = self.library.videos[video_id].fields
        names = ("title", "labels", "folderIds")
        same = {name: found.json().get(name) for name in names} == {name: known.get(name) for name in names}
        self.library.expect(same, f"a video differs from {known}", found)

    @rule()
    def compare_lists(self) -> None:
        for path, place in (("/videos", "library"), ("/trash", "trash")):
            found, known = self.library.listed(path), sorted(self.library.at(place), reverse=True)
            self.library.expect(found == known, f"{path} differs", sorted(set(found) ^ set(known)))

    @rule()
    def kill_worker(self) -> None:
        if self.budget.worker_kills <= 0:
            return
        self.budget.worker_kills -= 1
        self.library.kill_worker()

    @rule(choice=CHOICE, after=INSTANT, what=st.sampled_from(("create", "patch", "delete", "purge")))
    def kill_api(self, choice: int, after: float, what: str) -> None:
        """Kills the API while it handles a request, which is then repeated."""
        video_id = self._pick(choice)
        if video_id is None or self.budget.api_kills <= 0:
            return
        self.budget.api_kills -= 1
        if what == "create":
            body, key = {"name": new_id()}, {"Idempotency-Key": new_id()}
            made = self.library.interrupt("folder", "POST", "/folders", after=after, json=body, headers=key)
            if self.library.expect_status(made, 201, what="a repeated creation"):
                self.library.folders[made.json()["id"]] = made.json()["name"]
        elif what == "patch":
            change = {"title": new_id()}
            response = self.library.interrupt("patch", "PATCH", f"/videos/{video_id}", after=after, json=change)
            if self.library.expect_status(response, 200, what="a repeated patch"):
                self._remember(video_id, change)
        else:

            def send(name: str, method: str, path: str, **options: Any) -> httpx.Response:  # noqa: ANN401
                return self.library.interrupt(name, method, path, after=after, **options)

            self.library.delete(video_id, permanently=what == "purge", send=send)


def run_machine(library: Library, *, operations: int, budget: Budget, file: Path) -> None:
    """Run steps until there were enough operations, of every kind. Differences are noted, and the run continues."""
    LibraryMachine.library, LibraryMachine.budget, LibraryMachine.file = library, budget, file
    number = 0
    while (
        library.operations.total() < operations
        or not library.operations.keys() >= KINDS
        or not library.kills.keys() >= KILLED
    ):
        left = max(operations - library.operations.total(), STEPS_PER_RUN)
        chosen = settings(
            max_examples=1 + -(-left // STEPS_PER_RUN),  # the first is always the simplest one
            stateful_step_count=STEPS_PER_RUN,
            deadline=None,
            database=None,
            derandomize=False,
            phases=(Phase.generate,),
            suppress_health_check=list(HealthCheck),
        )
        run_state_machine_as_test(seed(number)(LibraryMachine), settings=chosen)
        number += 1
