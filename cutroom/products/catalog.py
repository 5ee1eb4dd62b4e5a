"""The list of products: adding one here registers its routes, workflows, activities, panels and prices."""

from cutroom.products.captions.product import PRODUCT as CAPTIONS
from cutroom.products.characters.product import PRODUCT as CHARACTERS
from cutroom.products.declaration import Product
from cutroom.products.downloads.product import PRODUCT as DOWNLOADS
from cutroom.products.dubs.product import PRODUCT as DUBS
from cutroom.products.hosting.product import PRODUCT as HOSTING
from cutroom.products.ingest.product import PRODUCT as INGEST
from cutroom.products.packaging.product import PRODUCT as PACKAGING
from cutroom.products.playback.product import PRODUCT as PLAYBACK
from cutroom.products.shorts.product import PRODUCT as SHORTS
from cutroom.products.speech.product import PRODUCT as SPEECH
from cutroom.products.thumbnails.product import PRODUCT as THUMBNAILS
from cutroom.products.transcripts.product import PRODUCT as TRANSCRIPTS
from cutroom.products.uploads.product import PRODUCT as UPLOADS
from cutroom.web.products import JobHooks

# Routes are matched in this order: the most requested first.
PRODUCTS: tuple[Product, ...] = (
    INGEST,
    UPLOADS,
    TRANSCRIPTS,
    CAPTIONS,
    DUBS,
    DOWNLOADS,
    PLAYBACK,
    HOSTING,
    SHORTS,
    THUMBNAILS,
    PACKAGING,
    SPEECH,
    CHARACTERS,
)

_JOBS = tuple(job for product in PRODUCTS for job in product.jobs)
JOB_HOOKS = JobHooks(
    before_cancel={kind: hook for product in PRODUCTS for kind, hook in product.before_cancel.items()},
    discard={job.job_type: job.discard for job in _JOBS if job.discard is not None},
    before_retry={job.job_type: job.before_retry for job in _JOBS if job.before_retry is not None},
)
