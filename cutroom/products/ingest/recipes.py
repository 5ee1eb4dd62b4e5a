"""Jobs and charges of the products requested together with an import."""

from dataclasses import dataclass
from typing import Any

from cutroom.capabilities.rules import REFUSES_DRAFTS
from cutroom.credits.rules import Charge
from cutroom.credits.schemas import CreditBundle
from cutroom.credits.service import billable_items
from cutroom.jobs.ids import AutomationType, JobKey, JobType
from cutroom.jobs.service import NewJob
from cutroom.platform.ids import new_id
from cutroom.products.dubs import service as dubs
from cutroom.products.dubs.schemas import NewDubs
from cutroom.products.ingest.schemas import NewVideo, PackagingRecipe, Recipes
from cutroom.products.packaging.rules import OverwriteMode
from cutroom.products.shorts import service as shorts
from cutroom.products.thumbnails import service as thumbnails
from cutroom.products.thumbnails.rules import ThumbnailMode

FREE = CreditBundle()


@dataclass(frozen=True, slots=True)
class RecipeRun:
    """One job of a recipe, and the bundle that the product charges for it."""

    key: JobKey
    plan: dict[str, Any]
    bundle: CreditBundle


def recipe_jobs(
    recipes: Recipes | None, video_id: str, *, after: str, is_subscriber: bool, refuses_drafts: bool
) -> list[NewJob]:
    """Returns one job per product; each depends on `after` and is charged when it starts."""
    jobs = []
    for run in _runs(recipes, video_id, refuses_drafts=refuses_drafts):
        items = tuple(billable_items(run.bundle))
        charge = Charge(items, is_subscriber) if items else None
        jobs.append(NewJob(run.key, video_id, plan=run.plan, depends_on=[after], charge=charge))
    return jobs


def credit_bundle(new_video: NewVideo) -> CreditBundle:
    """Returns the bundle that quotes and charges the recipes of an import."""
    return CreditBundle.of(run.bundle for run in _runs(new_video.products, video_id="", refuses_drafts=False))


def _runs(recipes: Recipes | None, video_id: str, *, refuses_drafts: bool) -> list[RecipeRun]:
    if recipes is None:
        return []
    runs = []
    for dub in recipes.dubs or []:
        for language in dub.languages:
            key = JobKey(JobType.DUB, video_id, language=language, product=dub.product)
            request = NewDubs(languages=[language], product=dub.product, accept_draft=dub.accept_draft)
            plan = {"recipe": True, REFUSES_DRAFTS: refuses_drafts and not dub.accept_draft}
            runs.append(RecipeRun(key, plan, dubs.credit_bundle(request)))
    if recipes.shorts is not None:
        plan = recipes.shorts.model_dump(mode="json", by_alias=True)
        runs.append(RecipeRun(JobKey(JobType.SHORTS, new_id()), plan, shorts.credit_bundle(plan)))
    runs += _packaging(recipes.packaging, video_id)
    return list({each.key.id: each for each in runs}.values())  # a repeated language is one dub


def _packaging(recipe: PackagingRecipe | None, video_id: str) -> list[RecipeRun]:
    """Titles and descriptions are free; thumbnails are charged."""
    if recipe is None:
        return []
    runs: list[tuple[AutomationType, dict[str, Any], CreditBundle]] = []
    # Text requested at import replaces the title or description of the source.
    overwrite = {"overwriteMode": OverwriteMode.ALWAYS.value}
    if recipe.title is not None:
        runs.append((AutomationType.TITLE, {"titleType": recipe.title.style.value, **overwrite}, FREE))
    if recipe.description is not None:
        runs.append((AutomationType.DESCRIPTION, {"descriptionType": recipe.description.type.value, **overwrite}, FREE))
    thumbnail = thumbnail_plan(recipe)
    if thumbnail is not None:
        plan = {**thumbnail, thumbnails.REQUEST_ID: new_id()}
        runs.append((AutomationType.THUMBNAIL, plan, thumbnails.credit_bundle(thumbnail)))
    return [
        RecipeRun(JobKey(JobType.PACKAGING, video_id, automation=automation), plan, bundle)
        for automation, plan, bundle in runs
    ]


def thumbnail_plan(packaging: PackagingRecipe | None) -> dict[str, Any] | None:
    """Returns the plan of the requested thumbnail; `true` requests one without options."""
    recipe = packaging.thumbnail if packaging is not None else None
    if recipe is None or (recipe is not True and not recipe.enabled):
        return None
    options = {} if recipe is True else recipe.model_dump(mode="json", by_alias=True, exclude={"enabled"})
    return {**options, "mode": ThumbnailMode.ZERO_PROMPT.value}
