"""`dub`, `captions`, `shorts`, `thumbnails` and `titles`: each asks for the price, starts the jobs and waits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from cutroom_client.cli.exits import CommandError
from cutroom_client.cli.service import Json
from cutroom_client.cli.session import Session
from cutroom_client.cli.spending import AcceptDraft, DryRun, MaxCredits, Spending, Yes, approve, quote, show_quote
from cutroom_client.cli.waiting import Wait, finish

Video = Annotated[str, typer.Argument(metavar="VIDEO", help="Id of the video.")]
Languages = Annotated[
    list[str], typer.Option("--to", metavar="LANG", help="Target language, such as pt or pt-BR; repeat, or use commas.")
]


def dub(
    session: Session,
    video: Video,
    to: Languages,
    *,
    premium: Annotated[bool, typer.Option("--premium", help="Speak with cloned voices.")] = False,
    optimized: Annotated[bool, typer.Option("--optimized", help="Speak the optimized script.")] = False,
    from_captions: Annotated[bool, typer.Option("--from-captions", help="Speak the captions as they are.")] = False,
    accept_draft: AcceptDraft = False,
    wait: Wait = True,
    max_credits: MaxCredits = None,
    yes: Yes = False,
    dry_run: DryRun = False,
) -> None:
    """Dub a video into other languages."""
    languages = split(to)
    work = {
        "languages": languages,
        "product": "premium" if premium else "plus",
        **({"sourceVoiceover": "optimized"} if optimized else {}),
    }
    draft = {"acceptDraft": True} if accept_draft else {}
    source = {"translationSource": "captions"} if from_captions else {}
    _make(
        session,
        video,
        path="/v1/videos/{}/dubs",
        body={**work, **source, **draft},
        bundle={"dubs": [work], **draft},
        what=f"Dubbing into {', '.join(languages)}",
        spending=Spending(max_credits, yes, dry_run),
        wait=wait,
    )


def captions(
    session: Session,
    video: Video,
    to: Languages,
    *,
    accept_draft: AcceptDraft = False,
    wait: Wait = True,
    max_credits: MaxCredits = None,
    yes: Yes = False,
    dry_run: DryRun = False,
) -> None:
    """Translate the captions of a video."""
    languages = split(to)
    draft = {"acceptDraft": True} if accept_draft else {}
    _make(
        session,
        video,
        path="/v1/videos/{}/captions",
        body={"languages": languages, **draft},
        bundle={"captionLanguageCodes": languages, **draft},
        what=f"Captions in {', '.join(languages)}",
        spending=Spending(max_credits, yes, dry_run),
        wait=wait,
    )


def shorts(
    session: Session,
    video: Video,
    *,
    kind: Annotated[str, typer.Option(help="`shorts`, `promo`, or `clips` of 5 minutes and more.")] = "shorts",
    count: Annotated[
        int | None, typer.Option("--count", "-n", min=1, max=10, help="How many; not for a promo.")
    ] = None,
    about: Annotated[str, typer.Option(metavar="TEXT", help="What the moments should be about.")] = "",
    aspect: Annotated[str, typer.Option(metavar="W:H", help="9:16, 1:1 or 16:9.")] = "",
    caption_style: Annotated[str, typer.Option(metavar="STYLE", help="Such as karaoke or modern.")] = "",
    watermark: Annotated[bool, typer.Option("--watermark", help="With a watermark, which costs less.")] = False,
    soundtrack: Annotated[bool, typer.Option("--soundtrack", help="With music, for a promo.")] = False,
    wait: Wait = True,
    max_credits: MaxCredits = None,
    yes: Yes = False,
    dry_run: DryRun = False,
) -> None:
    """Cut shorts, a promo or clips from a video."""
    if kind not in {"shorts", "promo", "clips"}:
        raise CommandError("--kind is shorts, promo or clips.")
    priced: dict[str, object] = {"kind": kind}
    if count is not None and kind != "promo":
        priced["numClips"] = count
    if watermark and kind == "shorts":
        priced["includeWatermark"] = True
    if soundtrack and kind == "promo":
        priced["includeSoundtrack"] = True
    other = {"clipSelectionPrompt": about, "aspectRatio": aspect, "captionStyle": caption_style}
    _make(
        session,
        video,
        path="/v1/videos/{}/shorts",
        body={**priced, **{name: value for name, value in other.items() if value}},
        bundle={"shorts": priced},
        what="A promo" if kind == "promo" else kind.capitalize(),
        spending=Spending(max_credits, yes, dry_run),
        wait=wait,
    )


def thumbnails(
    session: Session,
    video: Video,
    *,
    prompt: Annotated[
        str, typer.Option(metavar="TEXT", help="What to show; by default, what the video is about.")
    ] = "",
    text: Annotated[str, typer.Option(metavar="TEXT", help="Headline; by default, words of the video.")] = "",
    no_text: Annotated[bool, typer.Option("--no-text", help="Without a headline.")] = False,
    also_in: Annotated[
        list[str] | None,
        typer.Option("--also-in", metavar="LANG", help="Also in this language; repeat, or use commas."),
    ] = None,
    wait: Wait = True,
    max_credits: MaxCredits = None,
    yes: Yes = False,
    dry_run: DryRun = False,
) -> None:
    """Make three thumbnail candidates."""
    languages = split(also_in or [])
    body: dict[str, object] = {"mode": "prompt", "prompt": prompt} if prompt else {"mode": "zero_prompt"}
    body |= {"textOverlay": text} if text else {}
    body |= {"omitTextOverlay": True} if no_text else {}
    work: dict[str, object] = {"enabled": True}
    if languages:
        body |= {"autoTranslateThumbnail": True, "thumbnailTranslationLanguageCodes": languages}
        work["translateLanguageCodes"] = languages
    if prompt and dry_run:
        raise CommandError("Thumbnails from a prompt have no quote; see the price list in the documentation.")
    _make(
        session,
        video,
        path="/v1/videos/{}/thumbnails",
        body=body,
        bundle=None if prompt else {"zeroPromptThumbnail": work},
        what="A thumbnail",
        spending=Spending(max_credits, yes, dry_run),
        wait=wait,
    )


def titles(
    session: Session,
    video: Video,
    *,
    style: Annotated[str, typer.Option(help="informational, funny, scary, mysterious or clickbait.")] = "informational",
    description: Annotated[
        str, typer.Option(metavar="KIND", help="Also write a description, such as youtube-description or social-post.")
    ] = "",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the present title.")] = False,
    wait: Wait = True,
) -> None:
    """Write a title, and a description if asked for. This is free."""
    mode = {"overwriteMode": "always"} if overwrite else {}
    body: dict[str, object] = {"generateTitle": {"enabled": True, "titleType": style, **mode}}
    if description:
        body["generateDescription"] = {"enabled": True, "descriptionType": description, **mode}
    found = session.service.post("/v1/videos/{}/packaging", video, body=body)
    jobs = finish(session, found, job_ids_of(found), wait=wait)
    if wait and not session.output.as_json:
        if any("skipped" in (each.get("result") or {}) for each in jobs):
            session.output.note("The video has a title or description already: use --overwrite to replace it.")
        texts = session.service.get("/v1/videos/{}/packaging", video)
        session.output.fields(
            {name: texts[key] for name, key in (("Title", "title"), ("Description", "description")) if key in texts}
        )


def _make(
    session: Session,
    video: str,
    *,
    path: str,
    body: Mapping[str, Any],
    bundle: Mapping[str, Any] | None,
    what: str,
    spending: Spending,
    wait: bool,
) -> None:
    if spending.dry_run:
        show_quote(session, quote(session, video, bundle or {}))
        return
    limit = approve(session, video, bundle, spending, what=what)
    found = session.service.spend(path, video, body=body, max_credits=limit)
    finish(session, found, job_ids_of(found), wait=wait)


def job_ids_of(document: Json) -> list[str]:
    """The jobs that a request has started."""
    if "jobs" in document:
        return [str(each["id"]) for each in document["jobs"]]
    return [str(document["jobId"])]


def split(values: Sequence[str]) -> list[str]:
    """`--to pt --to es,fr` as three languages."""
    found = [part.strip() for value in values for part in value.split(",")]
    return list(dict.fromkeys(each for each in found if each))


COMMANDS = {"dub": dub, "captions": captions, "shorts": shorts, "thumbnails": thumbnails, "titles": titles}
