"""Valid requests for every operation and body variant; field promises are checked on them."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Any

from cutroom.platform.clock import system_clock
from cutroom.platform.ids import new_id
from proofs.contract.stage import OWNER, ApiResponse, Stage
from proofs.stage.access_fixtures import SPEECH
from proofs.stage.dub_lines import LINE_ID

UNIQUE, SHORT = "$UNIQUE", "$SHORT"  # replaced by a new value each time
NEW_LIBRARY = "a new library"  # whose only caller erases it
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
TERM = {
    "term": f"gate {SHORT}",
    "language": "en",
    "translations": {"pt": {"text": "comporta", "forms": ["comportas"]}},
    "pronunciations": {"pt": "com pórta"},
    "note": "Of a dam.",
}
IN_A_WEEK = (system_clock() + timedelta(days=7)).isoformat()
APPEARANCE = "/cast/members/{memberId}/videos/{videoId}/speakers/{speakerId}"
SPOKEN = SPEECH.model_dump(include={"text", "model_id"})


@dataclass(frozen=True, slots=True)
class Sample:
    """A request that succeeds."""

    body: Any = None
    of: str | None = None  # a state; by default, the caller's own ids
    query: Mapping[str, str] = field(default_factory=dict)
    caller: str = OWNER
    status: int = 200
    fresh: bool = False  # on a new video, because a repeated request would return the same job


def _source(type_: str, url: str) -> Sample:
    return Sample({"source": {"type": type_, "url": url}}, status=202)


NO_EXPORT = "no unfinished export"
STALE_CAPTIONS = "stale captions"
DESTINATION = "a destination"
BUCKET = {
    "endpoint": "https://store.example.com",
    "region": "eu-central-1",
    "bucket": "outputs",
    "prefix": "a/b",
    "accessKeyId": "example",
    "secretAccessKey": "a-secret",
    "enabled": False,
}
SRT = "1\n00:00:00,000 --> 00:00:01,000\nWords!\n"
EVERY_EDIT = {
    "revision": 4,
    "operations": [
        {"op": "replaceText", "id": "s1", "text": "One two."},
        {"op": "setTimes", "id": "s1", "start": 0, "end": 2},
        {"op": "split", "id": "s1", "at": 3, "seconds": 1},
        {"op": "insert", "start": 10, "end": 11.5, "text": "Three.", "speaker": "speaker_2"},
        {"op": "setSpeaker", "ids": ["s1"], "speaker": "speaker_2"},
        {"op": "renameSpeaker", "speaker": "speaker_2", "label": "Ada"},
        {"op": "mergeSpeakers", "speakers": ["speaker_1"], "into": "speaker_2"},
        {"op": "delete", "ids": ["s1"]},
        {"op": "restore", "ids": ["s1"]},
    ],
}
EVERY_CAPTION_EDIT = [
    {"op": "setText", "id": "s1", "text": "Eins zwei."},
    {"op": "accept", "ids": ["s1"]},
    {"op": "reset", "ids": ["s1"]},
    {"op": "setText", "id": "s1", "text": "Drei."},
]
EDITED_DUB = "an edited dub"  # a new one for each request
EVERY_LINE_EDIT = {
    "revision": 1,
    "changes": [
        {
            "id": LINE_ID,
            "text": "Guten Tag!",
            "voice": None,
            "speed": 1.1,
            "startOffset": 0,
            "gainDb": -1.5,
            "keepOriginal": None,
            "mute": True,
            "pronunciation": {"Tag": "Tahk"},
        }
    ],
}
SAMPLES: dict[str, Sequence[Sample]] = {
    "GET /health": [Sample(caller="anonymous")],
    "GET /capabilities": [Sample(), Sample(caller="a creator-plan caller")],
    "GET /library": [Sample(), Sample(caller="a member")],
    "GET /library/retention": [Sample(), Sample(caller="a member")],
    "PATCH /library/retention": [Sample({"originalsDays": 365}), Sample({"originalsDays": None, "outputsDays": 90})],
    "GET /library/retention/preview": [Sample(), Sample(query={"originalsDays": "1"}), Sample(caller="a member")],
    "GET /library/retention/report": [Sample(), Sample(caller="a member")],
    "DELETE /library": [Sample(of=NEW_LIBRARY, status=202)],
    "POST /videos": [
        Sample({"source": {"type": "upload", "fileName": f"{UNIQUE}.mp4"}, "products": RECIPES}, status=202),
        _source("https", f"https://media.example.com/{UNIQUE}.mp4"),
        _source("youtube", f"https://www.youtube.com/watch?v={SHORT}"),
        _source("dropbox", f"https://www.dropbox.com/s/{UNIQUE}/video.mp4"),
        _source("google_drive", f"https://drive.google.com/file/d/{UNIQUE}/view"),
    ],
    "GET /videos": [Sample(), Sample(query={"limit": "100"}), Sample(caller="a member")],
    "GET /videos/{videoId}": [
        Sample(),
        *(Sample(of=state) for state in ("full", "audio", "failed", "waiting", "hosted")),
        Sample(caller="a member"),
    ],
    "PATCH /videos/{videoId}": [
        Sample({"title": "How a lens sees", "labels": ["optics"]}),
        Sample({"folderIds": [], "description": None, "defaultLanguageCode": "pt-br"}, of="waiting"),
    ],
    "POST /videos/{videoId}/uploads": [Sample({"fileName": "video.mp4", "contentType": "video/mp4"}, of="an upload")],
    "DELETE /videos/{videoId}/uploads": [Sample(of="an upload", status=204)],
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
    "DELETE /videos/{videoId}/dubs/{lang}": [
        Sample(of="a new product", status=204),
        Sample(of="a new product", query={"product": "plus"}, status=204),
    ],
    "GET /videos/{videoId}/dubs/{lang}/segments": [Sample(of=EDITED_DUB)],
    "PATCH /videos/{videoId}/dubs/{lang}/segments": [Sample(EVERY_LINE_EDIT, of=EDITED_DUB)],
    "POST /videos/{videoId}/dubs/{lang}/segments/{segmentId}/preview": [
        Sample({"text": "Wort!"}, of=EDITED_DUB, status=202),
        Sample(
            {"text": "Wort!", "speed": 1.1, "pronunciation": {"Wort": "Wordt"}, "count": 3}, of=EDITED_DUB, status=202
        ),
    ],
    "GET /videos/{videoId}/dubs/{lang}/segments/{segmentId}/preview/{previewId}": [Sample(of=EDITED_DUB)],
    "POST /videos/{videoId}/dubs/{lang}/segments/{segmentId}/wordings": [
        Sample({"text": "Worte, ehrlich gesagt."}, of=EDITED_DUB),
    ],
    "GET /videos/{videoId}/dubs/{lang}/segments/{segmentId}/wordings/{wordingsId}": [Sample(of=EDITED_DUB)],
    "POST /videos/{videoId}/dubs/{lang}/regenerate/quote": [
        Sample({"revision": 1}, of=EDITED_DUB),
        Sample({"revision": 1, "transcriptRevision": 4, "segmentIds": [LINE_ID]}, of=EDITED_DUB),
    ],
    "POST /videos/{videoId}/dubs/{lang}/regenerate": [Sample({"revision": 1}, of=EDITED_DUB, status=202)],
    "DELETE /videos/{videoId}/captions/{lang}": [Sample(of="a new product", status=204)],
    "GET /videos/{videoId}/captions/{lang}/segments": [Sample(of=STALE_CAPTIONS), Sample(of="captions")],
    "PATCH /videos/{videoId}/captions/{lang}/segments": [
        Sample({"revision": 1, "operations": [{"op": "setText", "id": "s1", "text": "Worte!"}]}, of=STALE_CAPTIONS),
        Sample({"revision": 1, "operations": EVERY_CAPTION_EDIT}, of=STALE_CAPTIONS),
    ],
    "POST /videos/{videoId}/captions/{lang}/regenerate": [
        Sample({"revision": 1}, of=STALE_CAPTIONS, status=202),
        Sample({"revision": 1, "transcriptRevision": 4, "segmentIds": ["s1"]}, of=STALE_CAPTIONS, status=202),
    ],
    "POST /videos/{videoId}/captions/{lang}/import": [
        Sample({"revision": 1, "format": "srt", "content": SRT}, of=STALE_CAPTIONS),
        Sample({"revision": 1, "format": "vtt", "content": f"WEBVTT\n\n{SRT.replace(',', '.')}"}, of=STALE_CAPTIONS),
    ],
    "POST /videos/{videoId}/captions": [Sample({"languages": ["pt"]}, status=202, fresh=True)],
    "GET /videos/{videoId}/transcript": [
        Sample(),
        *(Sample(of=state) for state in ("transcribing", "transcription failed", "untranscribed")),
    ],
    "PATCH /videos/{videoId}/transcript": [
        Sample({"revision": 4, "operations": [{"op": "replaceText", "id": "s1", "text": "Words!"}]}, fresh=True),
        Sample(EVERY_EDIT, fresh=True),
    ],
    "POST /videos/{videoId}/transcript/undo": [Sample({"revision": 4}, fresh=True)],
    "POST /videos/{videoId}/transcript/redo": [Sample({"revision": 4}, fresh=True)],
    "POST /videos/{videoId}/transcript/import": [
        Sample({"revision": 4, "format": "srt", "content": SRT}, fresh=True),
        Sample({"revision": 4, "format": "text", "content": "Words."}, fresh=True),
    ],
    "POST /videos/{videoId}/transcript/recognize": [
        Sample({"revision": 4}, status=202, fresh=True),
        Sample({"revision": 4, "language": "pt"}, status=202, fresh=True),
    ],
    "GET /videos/{videoId}/transcript/edit-list": [
        Sample(),
        Sample(query={"format": "edl"}),
        Sample(caller="a member"),
    ],
    "POST /videos/{videoId}/transcript/optimize": [
        Sample({}, status=202, fresh=True),
        Sample({"transcriptRevision": 4}, status=202, fresh=True),
    ],
    "GET /videos/{videoId}/transcript/optimized": [Sample(), Sample(caller="a member")],
    "PATCH /videos/{videoId}/transcript/optimized": [
        Sample({"revision": 0, "changes": [{"id": "s1", "text": "Words!"}]}, fresh=True),
    ],
    "GET /videos/{videoId}/playback": [Sample(), Sample(of="untranscribed")],
    "POST /videos/{videoId}/playback": [Sample({"uncut": False, "transcriptRevision": 4}, status=202, fresh=True)],
    "GET /videos/{videoId}/stale-products": [
        Sample(),
        *(Sample(of=state) for state in (STALE_CAPTIONS, EDITED_DUB, "untranscribed")),
    ],
    "GET /videos/{videoId}/transcript/cut-suggestions": [Sample(), Sample(caller="a member")],
    "GET /videos/{videoId}/transcript/revisions": [Sample(), Sample(query={"limit": "2"}), Sample(caller="a member")],
    "GET /videos/{videoId}/transcript/revisions/{revision}": [Sample(), Sample(caller="a member")],
    "GET /videos/{videoId}/transcript/revisions/{revision}/comparison": [Sample(query={"to": "4"})],
    "POST /videos/{videoId}/transcript/revisions/{revision}/restore": [Sample({"revision": 4}, fresh=True)],
    "GET /videos/{videoId}/subtitles/{lang}": [
        Sample(),
        Sample(of="captions", query={"format": "vtt"}),
        Sample(of="captions", query={"format": "ttml"}),
        Sample(query={"format": "text"}),
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
            for state in ("complete shorts", "partial shorts", "processing shorts", "queued shorts", "pending shorts")
        ),
    ],
    "DELETE /shorts/{shortsRequestId}": [Sample(of="a new product", status=204)],
    "DELETE /shorts/{shortsRequestId}/outputs/{outputId}": [Sample(of="a new product", status=204)],
    "POST /videos/{videoId}/thumbnails": [
        Sample({"prompt": "The lens, close", "characters": [{"name": "Ana"}]}),
        Sample(DETECTED, status=202, fresh=True),
    ],
    "GET /videos/{videoId}/thumbnails": [Sample(), Sample(of="many thumbnails")],
    "GET /thumbnails/{thumbnailRequestId}": [Sample(), Sample(of="many thumbnails")],
    "DELETE /thumbnails/{thumbnailRequestId}": [Sample(of="a new product", status=204)],
    "DELETE /thumbnails/{thumbnailRequestId}/images/{thumbnailId}": [Sample(of="a new product", status=204)],
    "DELETE /downloads/{downloadRequestId}": [Sample(of="a new product", status=204)],
    "POST /videos/{videoId}/downloads": [Sample({"artifact": "source"}, status=202)],
    "GET /downloads/{downloadRequestId}": [
        Sample(),
        *(
            Sample(of=f"a {state}")
            for state in ("sample download", "failed download", "queued download", "processing download")
        ),
    ],
    "POST /videos/{videoId}/professional-hosting": [
        Sample(status=202, fresh=True),
        *(Sample(of=state) for state in ("queued hosting", "processing hosting", "hosted")),
        Sample(of="hosted before the plan changed", caller="a creator-plan caller"),
    ],
    "GET /videos/{videoId}/professional-hosting": [
        Sample(),
        *(Sample(of=state) for state in ("queued hosting", "processing hosting", "hosted", "a video without a file")),
        Sample(caller="a creator-plan caller"),
    ],
    "GET /videos/{videoId}/jobs": [Sample(), Sample(of="captions"), Sample(of="failed"), Sample(of="packaging")],
    "GET /jobs/{jobId}": [
        Sample(),
        *(Sample(of=state) for state in ("failed import", "captions", "dub job", "a deleted dub", "packaging")),
    ],
    "POST /jobs/{jobId}/cancel": [Sample(of="a running import")],
    "POST /jobs/{jobId}/retry": [Sample(of="an import to retry", status=202)],
    "GET /characters": [Sample(), Sample(caller="a member")],
    "GET /brand-voices": [Sample(), Sample(caller="a member")],
    "GET /characters/{characterId}": [Sample(), Sample(caller="a member")],
    "PATCH /characters/{characterId}": [Sample({"name": "Ada"}), Sample({"name": "Ada"}, caller="a member")],
    "DELETE /characters/{characterId}": [Sample(of="a new character", status=204)],
    "GET /brand-voices/{brandVoiceId}": [Sample(), Sample(of="a new brand voice"), Sample(caller="a member")],
    "PATCH /brand-voices/{brandVoiceId}": [
        Sample({"colors": ["#12ab9f"]}),
        Sample({"name": "Ours", "guidelines": "Plain words."}, caller="a member"),
    ],
    "DELETE /brand-voices/{brandVoiceId}": [Sample(of="a new brand voice", status=204)],
    "GET /glossary/terms": [Sample(), Sample(query={"language": "en"}), Sample(caller="a member")],
    "POST /glossary/terms": [Sample(TERM, status=201), Sample({**TERM, "keep": False}, status=201, caller="a member")],
    "GET /glossary/terms/{termId}": [Sample(), Sample(of="a new term"), Sample(caller="a member")],
    "PATCH /glossary/terms/{termId}": [
        Sample({"note": "Of a lock."}),
        Sample({"term": f"gate {SHORT}"}, of="a new term"),
        Sample({"note": None}, of="a new term"),
        Sample({"note": "Of a dam."}, caller="a member"),
    ],
    "DELETE /glossary/terms/{termId}": [Sample(of="a new term", status=204)],
    "POST /glossary/import": [Sample({"csv": f"term,language,keep\n{UNIQUE},en,true\n"})],
    "GET /glossary/export": [Sample(), Sample(caller="a member")],
    "GET /videos/{videoId}/review-links": [Sample(), Sample(of="a new link"), Sample(caller="a member")],
    "POST /videos/{videoId}/review-links": [
        Sample({"role": "view"}, status=201, fresh=True),
        Sample({"role": "edit", "expiresInDays": 90, "label": "Ana"}, status=201, fresh=True),
        Sample({"role": "comment", "expiresAt": IN_A_WEEK}, status=201, caller="a member"),
    ],
    "DELETE /videos/{videoId}/review-links/{linkId}": [Sample(of="a new link", status=204)],
    "GET /videos/{videoId}/comments": [Sample(), Sample(of="a new comment"), Sample(caller="a member")],
    "POST /videos/{videoId}/comments": [
        Sample({"time": 1.5, "text": "Louder."}, status=201, fresh=True),
        Sample({"time": 0, "text": "Here.", "segmentId": "s1", "language": "pt"}, status=201, caller="a member"),
    ],
    "GET /videos/{videoId}/comments/{commentId}": [Sample(), Sample(of="a new comment"), Sample(caller="a member")],
    "PATCH /videos/{videoId}/comments/{commentId}": [
        Sample({"text": "Softer.", "resolved": False}),
        Sample({"resolved": True}, of="a new comment"),
    ],
    "DELETE /videos/{videoId}/comments/{commentId}": [Sample(of="a new comment", status=204)],
    "GET /cast/members": [Sample(), Sample(caller="a member")],
    "POST /cast/members": [
        Sample({"name": "Ana"}, status=201),
        Sample({"name": "Ana", "voices": {"pt": "proof_pt"}}, status=201, caller="a member"),
    ],
    "GET /cast/members/{memberId}": [Sample(), Sample(of="a new cast member"), Sample(caller="a member")],
    "PATCH /cast/members/{memberId}": [
        Sample({"name": "Ana D."}),
        Sample({"name": "Ana Duarte"}, of="a new cast member"),
        Sample({"voices": {}}, caller="a member"),
    ],
    "DELETE /cast/members/{memberId}": [Sample(of="a new cast member", status=204)],
    "GET /cast/members/{memberId}/appearances": [
        Sample(),
        Sample(query={"limit": "1"}),
        Sample(of="a recognized speaker"),
        Sample(of="a failed voice print"),
        Sample(caller="a member"),
    ],
    f"POST {APPEARANCE}": [Sample(status=201)],
    f"DELETE {APPEARANCE}": [Sample(of="a new appearance", status=204)],
    "GET /cast/recognition": [Sample(), Sample(caller="a member")],
    "PUT /cast/recognition": [Sample({"recognizeSpeakers": False})],
    "POST /cast/recognition/run": [Sample({}, of="a voice print", status=202)],
    "GET /cast/recognition/run": [Sample(of="a voice print"), Sample(of="a voice print", caller="a member")],
    "DELETE /videos/{videoId}": [
        Sample(of="a new video", status=204),
        Sample(of="a trashed video", status=204, query={"permanently": "true"}),
    ],
    "POST /videos/{videoId}/restore": [Sample(of="a trashed video")],
    "GET /trash": [Sample(), Sample(caller="a member")],
    "GET /folders": [Sample(), Sample(caller="a member")],
    "GET /folders/{folderId}": [Sample(), Sample(caller="a member")],
    "POST /folders": [
        Sample({"name": f"Videos {UNIQUE}"}, status=201),
        Sample({"name": f"Videos {UNIQUE}"}, status=201, caller="a member"),
    ],
    "PATCH /folders/{folderId}": [Sample({"name": "Talks"}), Sample({"parentId": None}, caller="a member")],
    "DELETE /folders/{folderId}": [Sample(of="a new folder", status=204)],
    "GET /webhook-endpoints": [Sample()],
    "GET /webhook-endpoints/{endpointId}": [Sample(), Sample(caller="a member")],
    "PATCH /webhook-endpoints/{endpointId}": [
        Sample({"events": ["job.ready"]}),
        Sample({"enabled": False}, of="a new endpoint"),
    ],
    "POST /webhook-endpoints": [Sample({"url": f"https://hooks.example.com/{UNIQUE}"}, status=201)],
    "DELETE /webhook-endpoints/{endpointId}": [Sample(of="a new endpoint", status=204)],
    "POST /webhook-endpoints/{endpointId}/rotate-secret": [Sample({"overlapHours": 0})],
    "GET /webhook-endpoints/{endpointId}/deliveries": [
        Sample(),
        Sample(query={"status": "failed"}),
        Sample(caller="a member"),
    ],
    "GET /webhook-endpoints/{endpointId}/deliveries/{eventId}": [Sample(), Sample(caller="a member")],
    "POST /webhook-endpoints/{endpointId}/deliveries/{eventId}/redeliver": [Sample(status=202)],
    "POST /webhook-endpoints/{endpointId}/recover": [Sample({"since": "2026-01-01T00:00:00Z"}, status=202)],
    "POST /webhook-endpoints/{endpointId}/test": [Sample(status=202)],
    "GET /audit-log": [Sample(), Sample(query={"action": "folder.rename"}), Sample(caller="a member")],
    "GET /audit-log/export": [Sample()],
    "POST /library/exports": [Sample(of=NO_EXPORT, status=202)],
    "GET /library/exports": [Sample(), Sample(caller="a member")],
    "GET /library/exports/{exportId}": [Sample(), Sample(of="a failed export"), Sample(caller="a member")],
    "DELETE /library/exports/{exportId}": [Sample(of="a new export", status=204)],
    "GET /library/destination": [Sample(of=DESTINATION), Sample(of=DESTINATION, caller="a member")],
    "PUT /library/destination": [Sample(BUCKET, of=DESTINATION)],
    "DELETE /library/destination": [Sample(of=DESTINATION, status=204)],
    "GET /library/destination/copies": [Sample(), Sample(query={"status": "failed"}), Sample(caller="a member")],
    "POST /library/destination/copies/{copyId}/retry": [Sample(of="a failed copy", status=202)],
    "POST /voices/add": [Sample({"name": "Ana", "sample_url": "https://media.example.com/ana.wav"})],
    "GET /voices": [Sample(), Sample(query={"status": "ready"}), Sample(caller="a member")],
    "GET /voices/{voice_id}": [
        Sample(),
        *(Sample(of=state) for state in ("a ready voice", "a processing voice", "a failed voice")),
        Sample(caller="a member"),
    ],
    "PATCH /voices/{voice_id}": [
        Sample({"name": "Ana", "description": "Warm."}),
        Sample({"labels": {"language": "pt"}}, of="a failed voice"),
    ],
    "DELETE /voices/{voice_id}": [Sample(of="a new voice", status=204)],
    "POST /text-to-speech/{voice_id}": [Sample(SPOKEN)],
    "GET /models": [Sample()],
}
# Fields of speech requests are checked with this voice, which responds immediately because it is not ready.
UNREADY_VOICE = "a processing voice"


async def send(stage: Stage, operation: str, sample: Sample, *, body: Any = ..., **more: Any) -> ApiResponse:  # noqa: ANN401
    """Send a sample, optionally with another body."""
    ids = await ids_of(stage, sample)
    content = sample.body if body is ... else body
    options = {"query": sample.query, "caller": sample.caller, "ids": ids, **more}
    if sample.of == NEW_LIBRARY and "caller" not in more:
        caller = await stage.new_owner()
        options |= {"caller": caller, "query": {"confirm": caller.ids["libraryId"], **sample.query}}
    return await stage.call(operation, fill_placeholders(content), **options)


async def ids_of(stage: Stage, sample: Sample) -> Mapping[str, str]:
    if sample.fresh:
        return {"videoId": await stage.rows.video()}
    new_rows: dict[str | None, tuple[str, Callable[[], Awaitable[str]]]] = {
        "a new voice": ("voice_id", partial(stage.rows.voice, "ready")),
        "a new video": ("videoId", stage.rows.video),
        "a trashed video": ("videoId", stage.rows.trashed_video),
        "a new folder": ("folderId", stage.rows.folder),
        "a new character": ("characterId", stage.rows.character),
        "a new brand voice": ("brandVoiceId", stage.rows.brand_voice),
        "a new term": ("termId", stage.rows.glossary_term),
        "a new cast member": ("memberId", stage.rows.cast_member),
        "a failed copy": ("copyId", stage.rows.failed_copy),
        "a new export": ("exportId", stage.rows.failed_export),
    }
    if sample.of in new_rows:
        name, insert_row = new_rows[sample.of]
        return {name: await insert_row()}
    new_states = {
        "a new product": stage.rows.new_product,
        "a new link": stage.rows.review_link,
        "a new comment": stage.rows.review_comment,
        EDITED_DUB: stage.rows.edited_dub,
        STALE_CAPTIONS: stage.rows.stale_captions,
        "a new appearance": stage.rows.cast_appearance,
        "a voice print": stage.rows.cast_recognition,
    }
    if sample.of in new_states:
        return await new_states[sample.of]()
    if sample.of == NO_EXPORT:
        await stage.rows.remove_unfinished_exports()
    if sample.of == DESTINATION:
        await stage.rows.ensure_destination()
    if sample.of == "a new endpoint":
        made = await stage.call(
            "POST /webhook-endpoints", fill_placeholders({"url": f"https://hooks.example.com/{UNIQUE}"})
        )
        return {"endpointId": made.document["id"]}
    if sample.of == "an upload":
        made = await stage.call("POST /videos", {"source": {"type": "upload"}})
        return {"videoId": made.document["videoId"]}
    return {} if sample.of in {None, NEW_LIBRARY, NO_EXPORT, DESTINATION} else stage.states[str(sample.of)]


def fill_placeholders(body: Any) -> Any:  # noqa: ANN401 (any JSON value)
    """The body with new values in place of $UNIQUE and $SHORT."""
    fresh = new_id()
    return json.loads(json.dumps(body).replace(UNIQUE, fresh).replace(SHORT, fresh[-11:]))
