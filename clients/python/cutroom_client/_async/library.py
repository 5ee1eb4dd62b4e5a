"""Folders, the glossary, the cast and capabilities of a library."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from cutroom_client import models

if TYPE_CHECKING:
    from cutroom_client._async.operations import AsyncOperations


class AsyncFolders:
    """The folders of the library."""

    def __init__(self, operations: AsyncOperations) -> None:
        self._operations = operations

    async def list(self) -> list[models.Folder]:
        """All folders; parents precede their children."""
        return (await self._operations.list_folders()).folders

    async def get(self, folder_id: str) -> models.Folder:
        return await self._operations.get_folder(folder_id)

    async def create(self, name: str, *, parent_id: str | None = None) -> models.Folder:
        body = models.NewFolder(name=name)
        if parent_id is not None:
            body.parent_id = parent_id
        return await self._operations.create_folder(body)

    async def update(self, folder_id: str, *, if_match: str | None = None, **changes: Any) -> models.Folder:  # noqa: ANN401
        return await self._operations.update_folder(folder_id, models.FolderPatch(**changes), if_match=if_match)

    async def delete(self, folder_id: str) -> None:
        await self._operations.delete_folder(folder_id)


class AsyncGlossary:
    """Terms that translations keep or translate in one way."""

    def __init__(self, operations: AsyncOperations) -> None:
        self._operations = operations

    async def list(
        self, *, language: str | None = None, folder_id: str | None = None
    ) -> AsyncIterator[models.GlossaryTerm]:
        """Every term; pages are read as they are needed."""
        token: str | None = None
        while True:
            page = await self._operations.list_glossary_terms(
                limit=100, page_token=token, language=language, folder_id=folder_id
            )
            for each in page.terms:
                yield each
            if (token := page.next_page_token) is None:
                return

    async def get(self, term_id: str) -> models.GlossaryTerm:
        return await self._operations.get_glossary_term(term_id)

    async def create(self, term: str, language: str, **options: Any) -> models.GlossaryTerm:  # noqa: ANN401
        body = models.NewGlossaryTerm(term=term, language=language, **options)
        return await self._operations.create_glossary_term(body)

    async def update(self, term_id: str, **changes: Any) -> models.GlossaryTerm:  # noqa: ANN401
        return await self._operations.update_glossary_term(term_id, models.GlossaryTermPatch(**changes))

    async def delete(self, term_id: str) -> None:
        await self._operations.delete_glossary_term(term_id)

    async def export(self) -> str:
        """The glossary as CSV."""
        return await self._operations.export_glossary()

    async def import_(self, body: models.GlossaryImport | dict[str, Any]) -> models.GlossaryImported:
        return await self._operations.import_glossary(body)


class AsyncCast:
    """People who appear in several videos, and the voices that speak for them."""

    def __init__(self, operations: AsyncOperations) -> None:
        self._operations = operations

    async def list(self, *, folder_id: str | None = None) -> AsyncIterator[models.CastMember]:
        """Every member; pages are read as they are needed."""
        token: str | None = None
        while True:
            page = await self._operations.list_cast_members(limit=100, page_token=token, folder_id=folder_id)
            for each in page.members:
                yield each
            if (token := page.next_page_token) is None:
                return

    async def get(self, member_id: str) -> models.CastMember:
        return await self._operations.get_cast_member(member_id)

    async def create(self, name: str, **options: Any) -> models.CastMember:  # noqa: ANN401
        return await self._operations.create_cast_member(models.NewCastMember(name=name, **options))

    async def update(self, member_id: str, **changes: Any) -> models.CastMember:  # noqa: ANN401
        return await self._operations.update_cast_member(member_id, models.CastMemberPatch(**changes))

    async def delete(self, member_id: str) -> None:
        await self._operations.delete_cast_member(member_id)

    async def assign(self, member_id: str, video_id: str, speaker_id: str) -> models.CastAppearance:
        """States that a speaker of a video is this member."""
        return await self._operations.create_cast_appearance(member_id, video_id, speaker_id)

    async def unassign(self, member_id: str, video_id: str, speaker_id: str) -> None:
        await self._operations.delete_cast_appearance(member_id, video_id, speaker_id)

    async def appearances(self, member_id: str) -> AsyncIterator[models.CastAppearance]:
        """Every video in which a member speaks."""
        token: str | None = None
        while True:
            page = await self._operations.list_cast_appearances(member_id, limit=100, page_token=token)
            for each in page.appearances:
                yield each
            if (token := page.next_page_token) is None:
                return


class AsyncReviews:
    """Review links and comments of a video."""

    def __init__(self, operations: AsyncOperations) -> None:
        self._operations = operations

    async def links(self, video_id: str) -> list[models.ReviewLink]:
        return (await self._operations.list_review_links(video_id)).links

    async def create_link(self, video_id: str, role: str = "comment", **options: Any) -> models.CreatedReviewLink:  # noqa: ANN401
        """A link that lets a guest `view`, `comment` or `edit`; its URL is returned only here."""
        return await self._operations.create_review_link(video_id, models.NewReviewLink(role=role, **options))

    async def revoke_link(self, video_id: str, link_id: str) -> None:
        await self._operations.revoke_review_link(video_id, link_id)

    async def comments(self, video_id: str) -> AsyncIterator[models.ReviewComment]:
        """Every comment of a video."""
        token: str | None = None
        while True:
            page = await self._operations.list_review_comments(video_id, limit=100, page_token=token)
            for each in page.comments:
                yield each
            if (token := page.next_page_token) is None:
                return

    async def comment(self, video_id: str, body: models.NewReviewComment | dict[str, Any]) -> models.ReviewComment:
        return await self._operations.create_review_comment(video_id, body)
