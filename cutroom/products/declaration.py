"""What a product declares about itself; the worker, API, console and price checks are built from the declarations."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from fastapi import APIRouter

from cutroom.credits.pricing import Action
from cutroom.credits.schemas import CreditBundle
from cutroom.credits.service import BundleCheck
from cutroom.jobs.cancellation import JobHook
from cutroom.jobs.cancellation_activities import OutputPrefix
from cutroom.jobs.ids import JobKind
from cutroom.jobs.lifecycle import StartCheck
from cutroom.jobs.worker import Activities, WorkerContext
from cutroom.library.exported_files import ExportedFile
from cutroom.platform.db import Connection, Database
from cutroom.platform.storage.objects import Storage
from cutroom.platform.temporal import RecurringWorkflow
from cutroom.web.products import ProductInfo, Refusal, never_refused

# Removes what a product keeps of a video outside its own tables and the video's folder in the bucket.
PurgeHook = Callable[[WorkerContext, str, str], Awaitable[None]]
# What an export of the library contains of a product: files of one video, or files that belong to no video.
ExportVideo = Callable[[Connection, str, str], Awaitable[Sequence[ExportedFile]]]
ExportLibrary = Callable[[Connection, str], Awaitable[Sequence[ExportedFile]]]


@dataclass(frozen=True, slots=True)
class JobSpec:
    """One type of job: the workflow that runs it, and the actions of the price list that it may be charged for."""

    job_type: JobKind
    workflow: type[object]
    prices: frozenset[Action] = frozenset()
    check: StartCheck | None = None  # ends a job uncharged that turns out to be impossible
    discard: JobHook | None = None  # removes the rows that an unfinished job has published
    output_prefix: OutputPrefix | None = None  # of objects to delete when a job is canceled
    before_retry: JobHook | None = None  # refuses a job that cannot run again


class StaleKind(StrEnum):
    """What can be stale: made from a transcript that has been edited since."""

    PLAYBACK = "playback"
    CAPTIONS = "captions"
    DUB = "dub"
    SHORT = "short"
    PROMO = "promo"
    CLIP = "clip"
    TITLE = "title"
    DESCRIPTION = "description"
    THUMBNAIL = "thumbnail"
    DOWNLOAD = "download"


@dataclass(frozen=True, slots=True)
class StaleProduct:
    """A product that is no longer what it would be if it were made now."""

    kind: StaleKind
    id: str  # by which its operations know it
    reasons: tuple[str, ...]
    credits: float  # to make it again, or the stale parts of it
    estimated_seconds: float
    language: str | None = None
    product: str | None = None  # of a dub
    transcript_revision: int | None = None  # that it was made from; None if it has several
    segments: int | None = None  # that are stale, of a product that is made again in parts


# Takes a `StaleQuery` of the transcripts, and compares what a product has made of a video with the transcript of now.
FindStale = Callable[..., Awaitable[Sequence[StaleProduct]]]
# Deletes files of a library's video that nothing refers to any more; takes when each was changed, returns their paths.
DeleteReplaced = Callable[[Database, Storage, str, str, Mapping[str, datetime], datetime], Awaitable[frozenset[str]]]
DeleteOutputs = Callable[[Connection, str, str, datetime], Awaitable[None]]  # of a library's video, now


class StorageKind(StrEnum):
    """What a stored object is to the retention policy of its library."""

    ORIGINAL = "original"  # what was imported
    INTERMEDIATE = "intermediate"  # made again from the original when it is needed
    OUTPUT = "output"  # what a request has made, and what an edit of it needs
    DOCUMENT = "document"  # a small output that later requests read: counted as output, deleted with its video


@dataclass(frozen=True, slots=True)
class Ownership:
    """Tables that only this product writes, and the objects under a video or library that it stores, by kind.

    A name with a slash at its end is a prefix; any other is one object. The longest match decides.
    """

    tables: tuple[str, ...] = ()
    objects: Mapping[str, StorageKind] = field(default_factory=dict)


class VideoTab(StrEnum):
    """Tabs of the console's video page, in their order."""

    OVERVIEW = "overview"
    TRANSCRIPT = "transcript"
    DUBS = "dubs"
    SHORTS = "shorts"
    THUMBNAILS = "thumbnails"
    PUBLISH = "publish"
    ACTIVITY = "activity"


@dataclass(frozen=True, slots=True)
class ConsolePanel:
    """The product's form on one tab of the console's video page.

    `order` holds the form fields of the simplest order, whose price the overview shows; without it, the overview does
    not offer the product. The console adds a language where the product needs one. `unit` says what the price buys.
    """

    title: str
    tab: VideoTab
    template: str
    order: Mapping[str, str] | None = None
    unit: str = ""
    needs_transcript: bool = True


@dataclass(frozen=True, slots=True)
class Product:
    """One product. `depends_on` names the products whose services it calls."""

    name: str
    worker: Callable[[WorkerContext], Activities]
    jobs: tuple[JobSpec, ...] = ()
    workflows: tuple[type[object], ...] = ()  # beside those of jobs: sweeps and helpers
    recurring: tuple[RecurringWorkflow, ...] = ()
    routers: tuple[APIRouter, ...] = ()
    to_bundle: Callable[..., CreditBundle] | None = None  # the creation body as the bundle that prices it
    check_bundle: BundleCheck | None = None  # refuses in quotes and reservations what creation would refuse
    owns: Ownership = field(default_factory=Ownership)
    depends_on: tuple["Product", ...] = ()
    panels: tuple[ConsolePanel, ...] = ()
    limits: Mapping[str, float] = field(default_factory=dict)  # bounds that callers may want to know, by name
    models: tuple[str, ...] = ()  # ids that requests may name
    refusal: Refusal = never_refused
    delete_outputs: DeleteOutputs | None = None  # records that a video's outputs are deleted, before their objects are
    delete_replaced: DeleteReplaced | None = None  # called by the daily run of the retention policy
    find_stale: FindStale | None = None
    export: ExportVideo | None = None
    export_library: ExportLibrary | None = None
    before_cancel: Mapping[JobKind, JobHook] = field(
        default_factory=dict
    )  # ends what a job of another product waits for
    before_purge: PurgeHook | None = None  # takes the library and the video

    @property
    def info(self) -> ProductInfo:
        return ProductInfo(self.name, limits=self.limits, models=self.models, refusal=self.refusal)

    @property
    def all_workflows(self) -> tuple[type[object], ...]:
        return (*(job.workflow for job in self.jobs), *self.workflows)
