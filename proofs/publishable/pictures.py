"""Thumbnails and shorts of the evaluation talks: the checks of a viewer, and the verdicts of readers.

The short form renders nothing. It checks what is decided by the text alone: headlines, clips, titles and caption lines.
"""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from cutroom.engines.types import Box
from dev.environment import MODELS
from eval.publishable import eye_checks, picture_checks, short_checks
from eval.publishable.page import PICTURE_KINDS
from eval.publishable.pictures import TalkDecisions, TalkPictures, decide, render_pictures
from eval.publishable.reference import open_engines
from eval.publishable.sheets import read_image
from eval.publishable.shorts import PlannedShort, boundary_lines, caption_lines
from eval.publishable.talk_video import FPS, TalkVideo, face_in
from eval.publishable.verdicts import (
    JudgedPicture,
    StaleVerdictError,
    load_picture_verdicts,
    picture_verdict_on,
)
from eval.talks import Half, load_talks
from proofs.stage.report import Report
from tests.support.ocr import headline_lines, read_lines

if TYPE_CHECKING:
    from cutroom.engines.types import Image

GOALS = {"thumbnail": 0.6, "short": 0.7}
ONLY_LONG = ("floating_cutouts", "subject_cropped", "same_covers", "closed_eyes")
SAMPLE_SECONDS = 2 / FPS  # between checked frames of a short, and from its ends; a plan is exact at frames only

Faults = dict[str, list[str]]


def prove_pictures(report: Report, *, short: bool) -> None:
    engines = open_engines(MODELS)
    decided = decide(load_talks(), engines)
    faults = _decision_faults(decided)
    judged = [each for talk in decided for each in talk.judged()]
    if not short:
        judged = []
        for talk in decided:
            with TemporaryDirectory() as folder:
                pictures = asyncio.run(render_pictures(talk, engines, folder=Path(folder)))
                for name, found in _picture_faults(pictures).items():
                    faults.setdefault(name, []).extend(found)
                judged += pictures.judged()
    for name, found in faults.items():
        where = "in captions" if short and name == "orphan_numbers" else "in thumbnails and shorts"
        measured = f"{len(found)} {'; '.join(found[:3])}".strip()
        report.claim(f"{name} {where}", expected="0", measured=measured, holds=not found)
        report.figures(**{name: len(found)})
    if short:
        report.note(f"Only the long form renders, and checks {', '.join(ONLY_LONG)}, layouts and what covers show.")
    _prove_verdicts(report, judged)


def _decision_faults(decided: Sequence[TalkDecisions]) -> Faults:
    faults: Faults = {"orphan_numbers": [], "starts_on_reply": [], "ends_before_point": []}
    for talk in decided:
        for number, clip in enumerate(talk.shorts, start=1):
            name = f"{talk.talk.slug}/short-{number}"
            before, first, last, after = boundary_lines(talk.talk, clip)
            assert first is not None
            assert last is not None
            if fault := short_checks.starts_on_reply(before, first):
                faults["starts_on_reply"].append(f"{name}: {fault}")
            if fault := short_checks.ends_before_point(last, after):
                faults["ends_before_point"].append(f"{name}: {fault}")
            orphans = picture_checks.orphan_numbers(caption_lines(talk.talk, clip))
            faults["orphan_numbers"] += [f"{name}: {each}" for each in orphans]
    return faults


def _picture_faults(pictures: TalkPictures) -> Faults:
    faults: Faults = {name: [] for name in (*ONLY_LONG, "orphan_numbers")}
    slug = pictures.decisions.talk.slug
    for number, each in enumerate(pictures.thumbnails, start=1):
        name = f"{slug}/thumbnail-{number}"
        faces = picture_checks.find_faces(each.image)
        faults["floating_cutouts"] += [name for _ in picture_checks.floating_cutouts(each.image, faces)]
        faults["subject_cropped"] += [name for _ in picture_checks.cut_faces(each.image, faces)]
        faults["closed_eyes"] += [name] if _is_blinking(each.image) else []
        lines = [line.text for line in headline_lines(each.headline, read_lines(each.image))]
        faults["orphan_numbers"] += [f"{name}: {pair}" for pair in picture_checks.orphan_numbers(lines)]
    for number, clip in enumerate(pictures.shorts, start=1):
        cropped = short_checks.subject_cropped(_known_faces(clip.planned, pictures.video), clip.planned.edit.crop)
        faults["subject_cropped"] += [f"{slug}/short-{number} at {seconds:.1f} s" for seconds in cropped]
    covers = [read_image(each.cover_path) for each in pictures.shorts]
    faults["closed_eyes"] += [f"{slug}/cover-{at + 1}" for at, cover in enumerate(covers) if _is_blinking(cover)]
    faults["same_covers"] += [f"{slug}: {one + 1} and {two + 1}" for one, two in picture_checks.same_covers(covers)]
    return faults


def _is_blinking(image: "Image") -> bool:
    """Whether the largest face has closed eyes."""
    face = eye_checks.main_face(picture_checks.find_faces(image))
    return face is not None and eye_checks.has_closed_eyes(image, face, MODELS)


def _known_faces(clip: PlannedShort, video: TalkVideo) -> list[tuple[float, Box | None]]:
    """The face that the video shows at each sampled time of a short, except within a frame of a cut."""
    count = int((clip.timeline.seconds - SAMPLE_SECONDS) / SAMPLE_SECONDS)
    found = []
    for seconds in (SAMPLE_SECONDS * (number + 1) for number in range(count)):
        at = clip.timeline.source_seconds(seconds)
        before, after = video.shot_at(at - 1 / FPS), video.shot_at(at + 1 / FPS)
        if before.name == after.name:
            found.append((seconds, face_in(before.name)))
    return found


def _prove_verdicts(report: Report, judged: Sequence[JudgedPicture]) -> None:
    """The share that two readers would publish, of what is made now."""
    verdicts = load_picture_verdicts()
    halves: Mapping[str, Half] = {talk.slug: talk.half for talk in load_talks()}
    for half in Half:
        for kind in PICTURE_KINDS:
            publishable, stale = [], 0
            for each in (one for one in judged if one.kind == kind and halves[one.talk] == half):
                try:
                    verdict = picture_verdict_on(each, verdicts)
                except StaleVerdictError as error:
                    report.note(str(error))
                    stale += 1
                    continue
                publishable.append(verdict.is_publishable)
                report.note(f"{each.id}: {verdict.first}, {verdict.second} ({verdict.reason})")
            report.claim(f"{kind}s without a verdict ({half})", expected="0", measured=stale, holds=stale == 0)
            share = round(sum(publishable) / max(1, len(publishable)), 2)
            report.note(f"{kind}s that both readers would publish ({half}): {share}, goal {GOALS[kind]}")
            report.figures(**{f"{kind}s_publishable{'' if half is Half.HELD_OUT else '_dev'}": share})
