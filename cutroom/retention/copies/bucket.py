"""The customer's bucket: signed requests that reach public addresses only."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import httpx

from cutroom.platform.egress.client import Egress, TooLargeError, UnreachableError
from cutroom.platform.egress.transport import EgressTransport
from cutroom.platform.egress.urls import parse_url
from cutroom.platform.ids import new_id
from cutroom.platform.storage.multipart import Multipart, Signer, StoreError
from cutroom.retention.copies.rules import UNREACHABLE, StoreFault, store_fault

TEST_SECONDS = 10.0
TRANSFER_SECONDS = 120.0  # for one part


class BucketError(Exception):
    """The customer's store refused a request or could not be reached."""

    def __init__(self, fault: StoreFault) -> None:
        super().__init__(fault.message)
        self.fault = fault


@dataclass(frozen=True, slots=True)
class BucketAccess:
    """Where the bucket is, and the key to it."""

    endpoint: str
    region: str
    bucket: str
    prefix: str
    access_key_id: str
    secret_access_key: str = field(repr=False)


@asynccontextmanager
async def open_bucket(
    access: BucketAccess, egress: Egress, *, timeout_seconds: float = TRANSFER_SECONDS
) -> AsyncIterator[Multipart]:
    """Yields the calls of the bucket; their errors become BucketError."""
    target = parse_url(access.endpoint)
    signer = Signer(access.access_key_id, access.secret_access_key, access.region)
    transport = EgressTransport(egress, timeout_seconds=timeout_seconds)
    async with httpx.AsyncClient(transport=transport, trust_env=False, timeout=timeout_seconds) as client:
        try:
            yield Multipart(client, bucket_url=f"https://{target.authority}/{access.bucket}", signer=signer)
        except StoreError as error:
            raise BucketError(store_fault(error.status, error.code)) from error
        except (UnreachableError, TooLargeError) as error:
            raise BucketError(StoreFault("unreachable", UNREACHABLE, is_transient=True)) from error


async def check_access(access: BucketAccess, egress: Egress) -> None:
    """Writes and deletes a small object; raises BucketError."""
    name = f"cutroom-test-{new_id()}"
    path = f"{access.prefix}/{name}" if access.prefix else name
    async with open_bucket(access, egress, timeout_seconds=TEST_SECONDS) as bucket:
        await bucket.put(path, b"Cutroom can write to this bucket.\n", content_type="text/plain", owner="test")
        await bucket.delete(path)
