"""The whole schema in one place, for migrations: importing a models file registers its tables."""

import cutroom.accounts.models
import cutroom.credits.models
import cutroom.jobs.models
import cutroom.library.models
import cutroom.platform.outbox
import cutroom.products.captions.models
import cutroom.products.dubs.models
import cutroom.products.hosting.models
import cutroom.products.ingest.models
import cutroom.products.playback.models
import cutroom.products.shorts.models
import cutroom.products.speech.models
import cutroom.products.thumbnails.models
import cutroom.products.transcripts.models
import cutroom.products.uploads.models
import cutroom.web.models
import cutroom.webhooks.models  # noqa: F401
from cutroom.platform.tables import Table

METADATA = Table.metadata
