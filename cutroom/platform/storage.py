"""The object store, through the S3 API."""

from dataclasses import dataclass
from datetime import timedelta

import obstore
from obstore.store import S3Store

from cutroom.platform.settings import Settings

READ_URL_LIFETIME = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Storage:
    """One bucket."""

    store: S3Store

    @classmethod
    def connect(cls, settings: Settings) -> "Storage":
        store = S3Store(
            settings.s3_bucket,
            endpoint=settings.s3_endpoint,
            region=settings.s3_region,
            access_key_id=settings.s3_access_key.get_secret_value(),
            secret_access_key=settings.s3_secret_key.get_secret_value(),
            client_options={"allow_http": bool((settings.s3_endpoint or "").startswith("http://"))},
        )
        return cls(store)

    async def read_url(self, path: str) -> str:
        """A temporary URL to download one object."""
        return await obstore.sign_async(self.store, "GET", path, READ_URL_LIFETIME)
