# Generated from `cutroom_client._async.library` by `just clients`. Do not edit.

"""Folders, the glossary, the cast and capabilities of a library."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from cutroom_client import models

if TYPE_CHECKING:
    from cutroom_client._sync.operations import Operations


class Folders:
    """The folders of the library."""

    def __init__(self, operations: Operations) -> None:
        self._operations = operations

    def list(self) -> list[models.Folder]:
        """All folders; parents precede their children."""
        return (self._operations.list_folders()).folders

    def get(self, folder_id: str) -> models.Folder:
        return self._operations.get_folder(folder_id)

    def create(self, name: str, *, parent_id: str | None = None) -> models.Folder:
        body = models.NewFolder(name=name)
        if parent_id is not None:
            body.parent_id = parent_id
        return self._operations.create_folder(body)

    def update(self, folder_id: str, *, if_match: str | None = None, **changes: Any) -> models.Folder:  # noqa: ANN401
        return self._operations.update_folder(folder_id, models.FolderPatch(**changes), if_match=if_match)

    def delete(self, folder_id: str) -> None:
        self._operations.delete_folder(folder_id)


class Glossary:
    """Terms that translations keep or translate in one way."""

    def __init__(self, operations: Operations) -> None:
        self._operations = operations

    def list(self, *, language: str | None = None, folder_id: str | None = None) -> Iterator[models.GlossaryTerm]:
        """Every term; pages are read as they are needed."""
        token: str | None = None
        while True:
            page = self._operations.list_glossary_terms(
                limit=100, page_token=token, language=language, folder_id=folder_id
            )
            for each in page.terms:
                yield each
            if (token := page.next_page_token) is None:
                return

    def get(self, term_id: str) -> models.GlossaryTerm:
        return self._operations.get_glossary_term(term_id)

    def create(self, term: str, language: str, **options: Any) -> models.GlossaryTerm:  # noqa: ANN401
        body = models.NewGlossaryTerm(term=term, language=language, **options)
        return self._operations.create_glossary_term(body)

    def update(self, term_id: str, **changes: Any) -> models.GlossaryTerm:  # noqa: ANN401
        return self._operations.update_glossary_term(term_id, models.GlossaryTermPatch(**changes))

    def delete(self, term_id: str) -> None:
        self._operations.delete_glossary_term(term_id)

    def export(self) -> str:
        """The glossary as CSV."""
        return self._operations.export_glossary()

    def import_(self, body: models.GlossaryImport | dict[str, Any]) -> models.GlossaryImported:
        return self._operations.import_glossary(body)


class Cast:
    """People who appear in several videos, and the voices that speak for them."""

    def __init__(self, operations: Operations) -> None:
        self._operations = operations

    def list(self, *, folder_id: str | None = None) -> Iterator[models.CastMember]:
        """Every member; pages are read as they are needed."""
        token: str | None = None
        while True:
            page = self._operations.list_cast_members(limit=100, page_token=token, folder_id=folder_id)
            for each in page.members:
                yield each
            if (token := page.next_page_token) is None:
                return

    def get(self, member_id: str) -> models.CastMember:
        return self._operations.get_cast_member(member_id)

    def create(self, name: str, **options: Any) -> models.CastMember:  # noqa: ANN401
        return self._operations.create_cast_member(models.NewCastMember(name=name, **options))

    def update(self, member_id: str, **changes: Any) -> models.CastMember:  # noqa: ANN401
        return self._operations.update_cast_member(member_id, models.CastMemberPatch(**changes))

    def delete(self, member_id: str) -> None:
        self._operations.delete_cast_member(member_id)

    def assign(self, member_id: str, video_id: str, speaker_id: str) -> models.CastAppearance:
        """States that a speaker of a video is this member."""
        return self._operations.create_cast_appearance(member_id, video_id, speaker_id)

    def unassign(self, member_id: str, video_id: str, speaker_id: str) -> None:
        self._operations.delete_cast_appearance(member_id, video_id, speaker_id)

    def appearances(self, member_id: str) -> Iterator[models.CastAppearance]:
        """Every video in which a member speaks."""
        token: str | None = None
        while True:
            page = self._operations.list_cast_appearances(member_id, limit=100, page_token=token)
            for each in page.appearances:
                yield each
            if (token := page.next_page_token) is None:
                return


class Reviews:
    """Review links and comments of a video."""

    def __init__(self, operations: Operations) -> None:
        self._operations = operations

    def links(self, video_id: str) -> list[models.ReviewLink]:
        return (self._operations.list_review_links(video_id)).links

    def create_link(self, video_id: str, role: str = "comment", **options: Any) -> models.CreatedReviewLink:  # noqa: ANN401
        """A link that lets a guest `view`, `comment` or `edit`; its URL is returned only here."""
        return self._operations.create_review_link(video_id, models.NewReviewLink(role=role, **options))

    def revoke_link(self, video_id: str, link_id: str) -> None:
        self._operations.revoke_review_link(video_id, link_id)

    def comments(self, video_id: str) -> Iterator[models.ReviewComment]:
        """Every comment of a video."""
        token: str | None = None
        while True:
            page = self._operations.list_review_comments(video_id, limit=100, page_token=token)
            for each in page.comments:
                yield each
            if (token := page.next_page_token) is None:
                return

    def comment(self, video_id: str, body: models.NewReviewComment | dict[str, Any]) -> models.ReviewComment:
        return self._operations.create_review_comment(video_id, body)
