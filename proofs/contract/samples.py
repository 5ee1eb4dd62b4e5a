"""A good request to every operation, and to each of its variants; a promise about a field is tried on one of them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cutroom.platform.ids import new_id
from proofs.contract.stage import OWNER, Answer, Stage
from proofs.stage.access_fixtures import SPEECH

UNIQUE, SHORT = "$UNIQUE", "$SHORT"  # replaced by something new each time
THUMBNAIL = {"enabled": True, "pipelineMode": "thumbnail-v2", "characters": [{"name": "Ana"}]}
RECIPES = {
    "dubs": [{"languages": ["pt"], "product": "plus"}],
    "shorts": {"kind": "shorts", "numClips": 2, "minDuration": 20, "maxDuration": 60},
    "packaging": {"title": {"style": "funny"}, "description": {"type": "blog-post"}, "thumbnail": THUMBNAIL},
}
BUNDLE = {
    "dubs": [{"product": "plus", "languages": ["pt"]}],
    "captionLanguageCodes": ["fr"],
    "transcriptOnly": True,
    "shorts": {"kind": "shorts", "numClips": 2},
    "zeroPromptThumbnail": {"enabled": True, "translateLanguageCodes": ["pt"], "autoDetectContentMoments": True},
}
AUTOMATIONS = {
    "generateTitle": {"enabled": True, "titleType": "funny"},
    "generateDescription": {"enabled": True, "descriptionType": "blog-post"},
    "zeroPromptThumbnail": THUMBNAIL,
}
DETECTED = {"mode": "zero_prompt", "autoDetectCharacters": True}
SPOKEN = SPEECH.model_dump(include={"text", "model_id"})


@dataclass(frozen=True, slots=True)
class Sample:
    """A request that succeeds."""

    body: Any = None
    of: str | None = None  # a state; the caller's own things where nothing is said
    query: Mapping[str, str] = field(default_factory=dict)
    caller: str = OWNER
    status: int = 200
    fresh: bool = False  # on a video of its own, for the same again would be the same job


def _source(type_: str, url: str) -> Sample:
    return Sample({"source": {"type": type_, "url": url}}, status=202)


SAMPLES: dict[str, Sequence[Sample]] = {
    "GET /health": [Sample(caller="nobody")],
    "POST /videos": [
        Sample({"source": {"type": "upload", "fileName": f"{UNIQUE}.mp4"}, "products": RECIPES}, status=202),
        _source("https", f"https://media.example.com/{UNIQUE}.mp4"),
        _source("youtube", f"https://www.youtube.com/watch?v={SHORT}"),
        _source("dropbox", f"https://www.dropbox.com/s/{UNIQUE}/film.mp4"),
        _source("google_drive", f"https://drive.google.com/file/d/{UNIQUE}/view"),
    ],
    "GET /videos": [Sample(), Sample(query={"limit": "100"}), Sample(caller="a member")],
    "GET /videos/{videoId}": [
        Sample(),
        *(Sample(of=state) for state in ("full", "audio", "failed", "waiting", "hosted")),
        Sample(caller="a member"),
    ],
    "POST /videos/{videoId}/uploads": [Sample({"fileName": "film.mp4", "contentType": "video/mp4"}, of="an upload")],
    "POST /videos/{videoId}/quote": [Sample(BUNDLE), Sample({})],
    "POST /videos/{videoId}/reservations": [Sample(BUNDLE, status=201)],
    "POST /videos/{videoId}/packaging": [
        Sample({"automationOptions": AUTOMATIONS}, status=202, fresh=True),
        Sample(AUTOMATIONS, status=202, fresh=True),
        Sample({"automationOptions": AUTOMATIONS}, status=202, of="packaging again"),
    ],
    "GET /videos/{videoId}/packaging": [Sample(), Sample(of="packaging")],
    "POST /videos/{videoId}/dubs": [Sample({"languages": ["pt"]}, status=202, fresh=True)],
    "GET /videos/{videoId}/dubs": [Sample(), Sample(of="a preview")],
    "GET /videos/{videoId}/dubs/{lang}": [
        Sample(),
        *(Sample(of=state) for state in ("a ready dub", "a preview", "a failed dub")),
    ],
    "POST /videos/{videoId}/captions": [Sample({"languages": ["pt"]}, status=202, fresh=True)],
    "GET /videos/{videoId}/transcript": [
        Sample(),
        *(Sample(of=state) for state in ("transcribing", "mute", "untranscribed")),
    ],
    "GET /videos/{videoId}/subtitles/{lang}": [
        Sample(),
        Sample(of="captions", query={"format": "vtt"}),
        Sample(of="transcribing"),
    ],
    "POST /videos/{videoId}/shorts": [
        Sample({"kind": "shorts", "minDuration": 20, "maxDuration": 60}, status=202),
        Sample({"kind": "promo"}, status=202),
        Sample({"kind": "clips", "numClips": 2}, status=202),
    ],
    "GET /videos/{videoId}/shorts": [Sample(), Sample(of="complete shorts")],
    "GET /shorts/{shortsRequestId}": [
        Sample(),
        *(
            Sample(of=state)
            for state in ("complete shorts", "partial shorts", "shorts at work", "queued shorts", "pending shorts")
        ),
    ],
    "POST /videos/{videoId}/thumbnails": [
        Sample({"prompt": "The lens, close", "characters": [{"name": "Ana"}]}),
        Sample(DETECTED, status=202, fresh=True),
    ],
    "GET /videos/{videoId}/thumbnails": [Sample(), Sample(of="many thumbnails")],
    "GET /thumbnails/{thumbnailRequestId}": [Sample(), Sample(of="many thumbnails")],
    "POST /videos/{videoId}/downloads": [Sample({"artifact": "source"}, status=202)],
    "GET /downloads/{downloadRequestId}": [
        Sample(),
        *(
            Sample(of=f"a {state}")
            for state in ("sample download", "failed download", "queued download", "download at work")
        ),
    ],
    "POST /videos/{videoId}/professional-hosting": [
        Sample(status=202, fresh=True),
        *(Sample(of=state) for state in ("hosting queued", "hosting at work", "hosted")),
    ],
    "GET /videos/{videoId}/professional-hosting": [
        Sample(),
        *(Sample(of=state) for state in ("hosting queued", "hosting at work", "hosted", "without a file")),
        Sample(caller="somebody on creator"),
    ],
    "GET /videos/{videoId}/jobs": [Sample(), Sample(of="captions"), Sample(of="failed"), Sample(of="packaging")],
    "GET /jobs/{jobId}": [
        Sample(),
        *(Sample(of=state) for state in ("failed import", "captions", "dub job", "packaging")),
    ],
    "GET /characters": [Sample(), Sample(caller="a member")],
    "GET /brand-voices": [Sample(), Sample(caller="a member")],
    "GET /folders": [Sample(), Sample(caller="a member")],
    "GET /folders/{folderId}": [Sample(), Sample(caller="a member")],
    "POST /folders": [
        Sample({"name": f"Films {UNIQUE}"}, status=201),
        Sample({"name": f"Films {UNIQUE}"}, status=201, caller="a member"),
    ],
    "GET /webhook-endpoints": [Sample()],
    "POST /webhook-endpoints": [Sample({"url": f"https://hooks.example.com/{UNIQUE}"}, status=201)],
    "DELETE /webhook-endpoints/{endpointId}": [Sample(of="a new endpoint", status=204)],
    "POST /voices/add": [Sample({"name": "Ana", "sample_url": "https://media.example.com/ana.wav"})],
    "GET /voices": [Sample(), Sample(query={"status": "ready"}), Sample(caller="a member")],
    "GET /voices/{voice_id}": [
        Sample(),
        *(Sample(of=state) for state in ("a ready voice", "a voice in the making", "a failed voice")),
        Sample(caller="a member"),
    ],
    "DELETE /voices/{voice_id}": [Sample(of="a new voice", status=204)],
    "POST /text-to-speech/{voice_id}": [Sample(SPOKEN)],
    "GET /models": [Sample()],
}
# Fields are tried here: nothing is said in a voice that is not ready, so nobody has to wait for it.
SILENT = "a voice in the making"


async def send(stage: Stage, operation: str, sample: Sample, *, body: Any = ..., **more: Any) -> Answer:  # noqa: ANN401
    """Send a sample, or another body in its place."""
    ids = await ids_of(stage, sample)
    wanted = sample.body if body is ... else body
    said = {"query": sample.query, "caller": sample.caller, "ids": ids, **more}
    return await stage.ask(operation, renewed(wanted), **said)


async def ids_of(stage: Stage, sample: Sample) -> Mapping[str, str]:
    if sample.fresh:
        return {"videoId": await stage.rows.video()}
    if sample.of == "a new voice":
        return {"voice_id": await stage.rows.voice("ready")}
    if sample.of == "a new endpoint":
        made = await stage.ask("POST /webhook-endpoints", renewed({"url": f"https://hooks.example.com/{UNIQUE}"}))
        return {"endpointId": made.document["id"]}
    if sample.of == "an upload":
        made = await stage.ask("POST /videos", {"source": {"type": "upload"}})
        return {"videoId": made.document["videoId"]}
    return stage.states[sample.of] if sample.of is not None else {}


def renewed(body: Any) -> Any:  # noqa: ANN401 (any JSON value)
    """The body with something new in place of its marks."""
    fresh = new_id()
    return json.loads(json.dumps(body).replace(UNIQUE, fresh).replace(SHORT, fresh[-11:]))
