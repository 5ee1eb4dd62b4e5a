"""Jobs and charges of the products requested together with an import."""

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

DEFAULT_SHORTS_COUNT = 3  # clips


def recipe_jobs(recipes: Recipes | None, video_id: str, *, after: str, is_subscriber: bool) -> list[NewJob]:
    """Returns one job per product; each depends on `after` and is charged when it starts."""
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
    unique = {each.key.id: each for each in jobs}  # a repeated language is one dub
    return list(unique.values())


def _shorts(recipe: ShortsRecipe) -> ShortsWork:
    default_count = DEFAULT_SHORTS_COUNT if recipe.kind == "shorts" else 1
    return ShortsWork(kind=recipe.kind, num_clips=recipe.num_clips or default_count)


def _packaging(
    recipe: PackagingRecipe | None, video_id: str
) -> list[tuple[JobKey, dict[str, object], tuple[BillableItem, ...]]]:
    """Titles and descriptions are free; thumbnails are charged."""
    if recipe is None:
        return []
    runs: list[tuple[AutomationType, dict[str, object]]] = []
    # Text requested at import replaces the title or description of the source.
    if recipe.title is not None:
        plan: dict[str, object] = {"titleType": recipe.title.style.value, "overwriteMode": OverwriteMode.ALWAYS.value}
        runs.append((AutomationType.TITLE, plan))
    if recipe.description is not None:
        plan = {"descriptionType": recipe.description.type.value, "overwriteMode": OverwriteMode.ALWAYS.value}
        runs.append((AutomationType.DESCRIPTION, plan))
    thumbnail = thumbnail_plan(recipe)
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


def thumbnail_plan(packaging: PackagingRecipe | None) -> dict[str, Any] | None:
    """Returns the plan of the requested thumbnail; `true` requests one without options."""
    recipe = packaging.thumbnail if packaging is not None else None
    if recipe is None or (recipe is not True and not recipe.enabled):
        return None
    options = {} if recipe is True else recipe.model_dump(mode="json", by_alias=True, exclude={"enabled"})
    return {**options, "mode": ThumbnailMode.ZERO_PROMPT.value}
