"""Copies the objects of a library; repeated, it copies only what has changed."""

import asyncio
from dataclasses import dataclass, field

from cutroom.platform.storage.objects import ListedObject, ObjectChangedError, Storage

CONCURRENCY = 8


@dataclass
class ObjectCopies:
    """Remembers what it has copied, by size, ETag and time."""

    source: Storage
    target: Storage
    prefix: str
    copied: dict[str, ListedObject] = field(default_factory=dict)
    copied_bytes: int = 0

    async def skip_existing(self) -> None:
        """What an earlier attempt has copied since the original changed need not be copied again."""
        existing = {each.path: each async for each in self.target.list_objects(self.prefix)}
        async for each in self.source.list_objects(self.prefix):
            copy = existing.get(each.path)
            if copy is not None and copy.size_bytes == each.size_bytes and copy.changed_at > each.changed_at:
                self.copied[each.path] = each

    async def copy_changed(self) -> int:
        """Copy objects that are new or have changed, delete those that are gone; return how many."""
        listed = {each.path: each async for each in self.source.list_objects(self.prefix)}
        changed = [each for path, each in listed.items() if self.copied.get(path) != each]
        semaphore = asyncio.Semaphore(CONCURRENCY)

        async def copy(each: ListedObject) -> None:
            async with semaphore:
                await self._copy(each)

        async with asyncio.TaskGroup() as group:
            for each in changed:
                group.create_task(copy(each))
        gone = [path for path in self.copied if path not in listed]
        for path in gone:
            await self.target.delete(path)
            del self.copied[path]
        return len(changed) + len(gone)

    async def _copy(self, each: ListedObject) -> None:
        try:
            await self.target.put(each.path, self.source.read(each.path), expected_bytes=each.size_bytes)
        except (FileNotFoundError, ObjectChangedError):
            return  # the next pass sees what has become of it
        self.copied[each.path] = each
        self.copied_bytes += each.size_bytes
