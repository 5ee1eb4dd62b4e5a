"""Products that were asked for together with an import: which jobs they are, and what each costs."""

from collections.abc import Iterable
from typing import Any

from cutroom.credits.pricing import BillableItem
from cutroom.credits.rules import Charge
from cutroom.credits.schemas import CreditBundle, DubWork, ShortsWork
from cutroom.credits.service import billable_items
from cutroom.jobs.ids import AutomationType, JobKey, JobType
from cutroom.jobs.service import NewJob
from cutroom.platform.ids import new_id
from cutroom.products.ingest.schemas import PackagingRecipe, Recipes, ShortsRecipe
from cutroom.products.packaging.rules import OverwriteMode
from cutroom.products.thumbnails.rules import ThumbnailMode
from cutroom.products.thumbnails.service import REQUEST_ID, items_for_plan

SHORTS_UNLESS_SAID = 3  # clips, where a recipe does not say how many


def recipe_jobs(recipes: Recipes | None, video_id: str, *, after: str, is_subscriber: bool) -> list[NewJob]:
    """One job for each product; they wait for what they need, and are paid when they begin."""
    if recipes is None:
        return []

    def job(key: JobKey, plan: dict[str, object], items: Iterable[BillableItem]) -> NewJob:
        billed = tuple(items)
        charge = Charge(billed, is_subscriber) if billed else None
        return NewJob(key, video_id, plan=plan, depends_on=[after], charge=charge)

    jobs = []
    for dub in recipes.dubs or []:
        for language in dub.languages:
            key = JobKey(JobType.DUB, video_id, language=language, product=dub.product)
            bundle = CreditBundle(dubs=[DubWork(product=dub.product.value, languages=[language])])
            jobs.append(job(key, {"recipe": True}, billable_items(bundle)))
    if recipes.shorts is not None:
        plan = recipes.shorts.model_dump(mode="json", by_alias=True)
        bundle = CreditBundle(shorts=_shorts(recipes.shorts))
        jobs.append(job(JobKey(JobType.SHORTS, new_id()), plan, billable_items(bundle)))
    jobs += [job(key, plan, items) for key, plan, items in _packaging(recipes.packaging, video_id)]
    unique = {one.key.id: one for one in jobs}  # a language asked for twice is one dub
    return list(unique.values())


def _shorts(recipe: ShortsRecipe) -> ShortsWork:
    unless_said = SHORTS_UNLESS_SAID if recipe.kind == "shorts" else 1
    return ShortsWork(kind=recipe.kind, num_clips=recipe.num_clips or unless_said)


def _packaging(
    asked: PackagingRecipe | None, video_id: str
) -> list[tuple[JobKey, dict[str, object], tuple[BillableItem, ...]]]:
    """Titles and descriptions are free; a thumbnail is not."""
    if asked is None:
        return []
    runs: list[tuple[AutomationType, dict[str, object]]] = []
    # Whoever asks for these at the door wants them in place of what comes with the source.
    if asked.title is not None:
        plan: dict[str, object] = {"titleType": asked.title.style.value, "overwriteMode": OverwriteMode.ALWAYS.value}
        runs.append((AutomationType.TITLE, plan))
    if asked.description is not None:
        plan = {"descriptionType": asked.description.type.value, "overwriteMode": OverwriteMode.ALWAYS.value}
        runs.append((AutomationType.DESCRIPTION, plan))
    thumbnail = thumbnail_plan(asked)
    if thumbnail is not None:
        runs.append((AutomationType.THUMBNAIL, {**thumbnail, REQUEST_ID: new_id()}))
    return [
        (
            JobKey(JobType.PACKAGING, video_id, automation=automation),
            plan,
            items_for_plan(plan) if automation is AutomationType.THUMBNAIL else (),
        )
        for automation, plan in runs
    ]


def thumbnail_plan(asked: PackagingRecipe | None) -> dict[str, Any] | None:
    """The thumbnail that a recipe asks for; `true` is one without figures."""
    recipe = asked.thumbnail if asked is not None else None
    if recipe is None or (recipe is not True and not recipe.enabled):
        return None
    given = {} if recipe is True else recipe.model_dump(mode="json", by_alias=True, exclude={"enabled"})
    return {**given, "mode": ThumbnailMode.ZERO_PROMPT.value}
