"""Products that were asked for together with an import: which jobs they are, and what each costs."""

from cutroom.credits.rules import Bill
from cutroom.credits.schemas import CreditBundle, DubWork, ShortsWork, ThumbnailWork
from cutroom.credits.service import works_of
from cutroom.jobs.ids import AutomationType, JobKey, JobType
from cutroom.jobs.service import NewJob
from cutroom.platform.ids import new_id
from cutroom.products.ingest.schemas import PackagingRecipe, Recipes, ShortsRecipe, ThumbnailRecipe

SHORTS_UNLESS_SAID = 3  # clips, where a recipe does not say how many


def recipe_jobs(recipes: Recipes | None, video_id: str, *, after: str, is_subscriber: bool) -> list[NewJob]:
    """One job for each product; they wait for what they need, and are paid when they begin."""
    if recipes is None:
        return []

    def job(key: JobKey, plan: dict[str, object], bundle: CreditBundle) -> NewJob:
        works = tuple(works_of(bundle))
        bill = Bill(works, is_subscriber) if works else None
        return NewJob(key, video_id, plan=plan, waits_for=[after], bill=bill)

    jobs = []
    for dub in recipes.dubs or []:
        for language in dub.languages:
            key = JobKey(JobType.DUB, video_id, language=language, product=dub.product)
            bundle = CreditBundle(dubs=[DubWork(product=dub.product.value, languages=[language])])
            jobs.append(job(key, {"recipe": True}, bundle))
    if recipes.shorts is not None:
        plan = recipes.shorts.model_dump(mode="json", by_alias=True)
        bundle = CreditBundle(shorts=_shorts(recipes.shorts))
        jobs.append(job(JobKey(JobType.SHORTS, new_id()), plan, bundle))
    for automation, plan, bundle in _packaging(recipes.packaging):
        jobs.append(job(JobKey(JobType.PACKAGING, video_id, automation=automation), plan, bundle))
    unique = {one.key.id: one for one in jobs}  # a language asked for twice is one dub
    return list(unique.values())


def _shorts(recipe: ShortsRecipe) -> ShortsWork:
    unless_said = SHORTS_UNLESS_SAID if recipe.kind == "shorts" else 1
    return ShortsWork(kind=recipe.kind, num_clips=recipe.num_clips or unless_said)


def _packaging(asked: PackagingRecipe | None) -> list[tuple[AutomationType, dict[str, object], CreditBundle]]:
    """Titles and descriptions are free; a thumbnail is not."""
    if asked is None:
        return []
    runs: list[tuple[AutomationType, dict[str, object], CreditBundle]] = []
    if asked.title is not None:
        runs.append((AutomationType.TITLE, asked.title.model_dump(mode="json", by_alias=True), CreditBundle()))
    if asked.description is not None:
        plan = asked.description.model_dump(mode="json", by_alias=True)
        runs.append((AutomationType.DESCRIPTION, plan, CreditBundle()))
    thumbnail = ThumbnailRecipe() if asked.thumbnail is True else asked.thumbnail
    if thumbnail is not None and thumbnail.enabled:
        plan = {} if asked.thumbnail is True else thumbnail.model_dump(mode="json", by_alias=True)
        runs.append((AutomationType.THUMBNAIL, plan, CreditBundle(zero_prompt_thumbnail=_thumbnail(thumbnail))))
    return runs


def _thumbnail(recipe: ThumbnailRecipe) -> ThumbnailWork:
    languages = recipe.thumbnail_translation_language_codes if recipe.auto_translate_thumbnail else None
    return ThumbnailWork(
        enabled=True,
        character_count=recipe.character_count or len(recipe.characters or []),
        translate_language_codes=languages or [],
        auto_detect_content_moments=recipe.auto_detect_content_references,
    )
