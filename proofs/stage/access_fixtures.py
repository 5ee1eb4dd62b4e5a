"""Creates libraries with a row behind every kind of path parameter, and API keys for them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from cutroom.accounts.keys import TOKEN_PREFIX, generate_credential
from cutroom.accounts.principals import CREDENTIAL_PURPOSE, PrincipalKind
from cutroom.accounts.scopes import ALL_SCOPES, Scope
from cutroom.audit import service as audit
from cutroom.audit.service import AuditActor, AuditEvent, RequestOrigin
from cutroom.credits import ledger
from cutroom.credits.pricing import MILLICREDITS
from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.platform.ids import new_id
from cutroom.platform.secret_box import SecretBox
from cutroom.platform.storage.objects import Storage
from cutroom.products.dubs.editing.takes.service import ORDER, takes_path
from cutroom.products.speech.rules import DEFAULT_FORMAT, FORMATS, new_voice_id, synthesis_path
from cutroom.products.speech.schemas import NewSpeech
from cutroom.products.speech.synthesis import SynthesisRequest, clone_identity, engine_settings
from dev.scratch import Accounts, Keyring, Person
from proofs.stage import dub_lines, review_rows, transcript_history

CREDITS = 10_000  # enough for any single request
LANGUAGE = "en"  # spoken in every video
TARGET_LANGUAGES = ("es", "fr", "pt")  # of the examples in the OpenAPI document
VIDEO_SECONDS = 360.0  # long enough for every product
_RANDOM_IDS = (
    "videoId",
    "folderId",
    "endpointId",
    "characterId",
    "brandVoiceId",
    "termId",
    "linkId",
    "commentId",
    "memberId",
    "previewId",
    "wordingsId",
    "shortsRequestId",
    "outputId",
    "downloadRequestId",
    "thumbnailRequestId",
    "thumbnailId",
)
TOKEN_LIFETIME = timedelta(hours=1)
KINDS = {"source": {"files": 1, "bytes": 1}}  # of files in an export

# The OpenAPI example of a speech request. Its audio exists already, because no worker runs here.
SPEECH = NewSpeech.model_validate(NewSpeech.model_json_schema()["examples"][0])


@dataclass(frozen=True, slots=True)
class LibraryFixture:
    """A library, a key for it, and the ids of its rows."""

    person: Person
    library_id: str
    key: Keyring
    ids: Mapping[str, str]  # by path parameter name
    markers: frozenset[str]  # strings that only responses about this library may contain


@dataclass(frozen=True, slots=True)
class LibraryFactory:
    """Creates libraries that differ only in their owner."""

    accounts: Accounts

    async def personal(self, scopes: Iterable[Scope] = ()) -> LibraryFixture:
        person = await self.accounts.person()
        return await self._fill(person, person.library_id, scopes)

    async def workspace(self, person: Person | None = None) -> LibraryFixture:
        """A shared library of this person or of a new one."""
        owner_person = person or await self.accounts.person()
        return await self._fill(owner_person, await self.accounts.workspace(owner_person), ())

    async def _fill(self, person: Person, library_id: str, scopes: Iterable[Scope]) -> LibraryFixture:
        marker = f"mark{new_id()}"
        async with self.accounts.connection.transaction():
            ids = await self._seed(library_id, user_id=person.user_id, marker=marker)
            key = await self.accounts.key(person, library_id=library_id, scopes=scopes)
        markers = frozenset({marker, library_id, *ids.values()} - {LANGUAGE, ids["revision"], ids["speakerId"]})
        return LibraryFixture(person=person, library_id=library_id, key=key, ids=ids, markers=markers)

    async def _seed(self, library_id: str, *, user_id: str, marker: str) -> dict[str, str]:
        """Insert a row behind every path parameter, and at least two into paged lists; ids by parameter name."""
        ids = {"revision": "1", "speakerId": "speaker_1", "segmentId": dub_lines.LINE_ID}
        ids |= {name: new_id() for name in _RANDOM_IDS}
        base = {"library_id": library_id, "created_at": system_clock()}
        video = {**base, "status": "ready", "title": marker, "media_type": "video", "duration_seconds": VIDEO_SECONDS}
        endpoint = {
            **base,
            "id": ids["endpointId"],
            "user_id": user_id,
            "url": f"https://{marker}.example.com/",
            "events": ["video.ready"],
            "sealed_secret": b"sealed",
        }
        source = {"video_id": ids["videoId"], "type": "upload", "storage_path": marker, "size_bytes": len(marker)}
        job = {
            **base,
            "id": f"import_{ids['videoId']}",
            "type": "import",
            "status": "queued",
            "video_id": ids["videoId"],
            "attempt": 1,
            "plan": {},
            "depends_on": [f"upload_{ids['videoId']}"],
            "progress": 0,
            "updated_at": base["created_at"],
        }
        transcript = {
            **base,
            "video_id": ids["videoId"],
            "language": LANGUAGE,
            "segments": [_segment(marker)],
            "speakers": [{"id": "speaker_1", "label": marker}],
            "alignment_path": marker,
            "engine": "none",
            **transcript_history.COLUMNS,
        }
        captions = {
            **base,
            "video_id": ids["videoId"],
            "language": "de",
            "segments": [_segment(marker)],
            "quality": "publishable",
        }
        captions_job = {
            "id": f"captions_{ids['videoId']}_{LANGUAGE}",
            "type": "captions",
            "status": "ready",
            "depends_on": [],
            "language": LANGUAGE,
        }
        voice_id, synthesis_id = new_voice_id(), new_id()
        voice = {
            **base,
            "id": voice_id,
            "job_id": f"voice_{new_id()}",
            "name": marker,
            "labels": {"language": "en"},
            "remove_noise": False,
            "sample_count": 1,
            "reference_path": marker,
            "reference_sha256": marker,
            "preview_path": marker,
        }
        speech_request = SynthesisRequest(
            voice_id, SPEECH, FORMATS[DEFAULT_FORMAT], engine_settings(self.accounts.settings)
        )
        synthesis = {
            **base,
            "id": synthesis_id,
            "fingerprint": speech_request.fingerprint(clone_identity(voice_id, marker)),
            "voice_id": voice_id,
            "text": SPEECH.text,
            "speed": 1.0,
            "format": DEFAULT_FORMAT,
            "passage_sizes": {"0": len(marker)},
        }
        ready_job: dict[str, Any] = {"status": "ready", "depends_on": [], "video_id": None}
        audio_path = synthesis_path(library_id, synthesis_id, "1/0")
        storage = Storage.connect(self.accounts.settings)
        await storage.put(audio_path, marker.encode())
        order_path = takes_path(library_id, ids["videoId"], ids["wordingsId"], ORDER)
        await storage.put(order_path, dub_lines.wordings_order(marker, LANGUAGE).to_json())
        dub = {
            "library_id": library_id,
            "video_id": ids["videoId"],
            "language": LANGUAGE,
            "product": "plus",
            "completion": "complete",
            "segments": transcript["segments"],
            "speakers": transcript["speakers"],
            **dub_lines.dub_columns({"start": 0.0, "end": 1.0, "speaker": "speaker_1", "text": marker}),
            "sync": {},
            "audio_path": marker,
            "updated_at": base["created_at"],
        }
        dub_job = {
            "id": f"dub_{ids['videoId']}_{LANGUAGE}_plus",
            "type": "dub",
            "status": "ready",
            "depends_on": [],
            "language": LANGUAGE,
            "product": "plus",
        }
        shorts_job = {
            "id": f"shorts_{ids['shortsRequestId']}",
            "type": "shorts",
            "status": "ready",
            "depends_on": [],
            "plan": {"kind": "promo"},
        }
        short = {
            **base,
            "id": ids["outputId"],
            "request_id": ids["shortsRequestId"],
            "video_id": ids["videoId"],
            "number": 0,
            "kind": "promo",
            "title": marker,
            "description": marker,
            "reason": marker,
            "duration_seconds": 50.0,
            "moments": [],
            "video_path": marker,
            "thumbnail_path": marker,
            "plan_path": marker,
        }
        download_job = {
            "id": f"download_{ids['downloadRequestId']}",
            "type": "download",
            "status": "ready",
            "depends_on": [],
            "plan": {"artifact": "source", "language": LANGUAGE, "tier": "full"},
            "result": {"storagePath": marker, "fileName": "video.mp4"},
        }
        thumbnail_job = {
            "id": f"thumbnail_{ids['thumbnailRequestId']}",
            "type": "thumbnail",
            "status": "ready",
            "depends_on": [],
        }
        packaging_job = {
            "id": f"packaging_{ids['videoId']}_zeroPromptThumbnail",
            "type": "packaging",
            "automation_type": "zeroPromptThumbnail",
            "status": "processing",
            "depends_on": [],
            "plan": {"autoDetectCharacters": True, "characterDetectApprovalMode": "review"},
        }
        thumbnail_request = {
            **base,
            "id": ids["thumbnailRequestId"],
            "video_id": ids["videoId"],
            "job_id": thumbnail_job["id"],
        }
        reviewed_request = {
            **thumbnail_request,
            "id": new_id(),
            "job_id": packaging_job["id"],
            "detected": [{"id": marker, "kind": "character", "path": marker}],
        }
        thumbnail = {
            **base,
            "id": ids["thumbnailId"],
            "request_id": ids["thumbnailRequestId"],
            "video_id": ids["videoId"],
            "number": 0,
            "language": "pt",
            "headline": marker,
            "layout": marker,
            "score": 0.5,
            "engine": "none",
            "path": marker,
        }
        transcript_job = {
            "id": f"transcript_{ids['videoId']}",
            "type": "transcript",
            "status": "ready",
            "depends_on": [],
        }
        ids["eventId"] = new_id()
        event = {"id": ids["eventId"], "type": "video.ready", "payload": {"id": ids["videoId"], "title": marker}}
        delivery = {
            "library_id": library_id,
            "endpoint_id": ids["endpointId"],
            "event_id": ids["eventId"],
            "event_type": "video.ready",
            "event_at": base["created_at"],
            "state": "failed",
            "updated_at": base["created_at"],
        }
        attempt = {
            "library_id": library_id,
            "endpoint_id": ids["endpointId"],
            "event_id": ids["eventId"],
            "number": 1,
            "at": base["created_at"],
            "status": 500,
            "outcome": "refused",
            "milliseconds": 12,
            "response_body": marker,
        }
        ids["exportId"] = new_id()
        export = {
            **base,
            "id": ids["exportId"],
            "status": "ready",
            "progress": 100,
            "sha256": "0" * 64,
            "archive_bytes": 1,
            "summary": {"formatVersion": 1, "videos": 1, "trashedVideos": 0, "missingFiles": 0, "kinds": KINDS},
            "finished_at": base["created_at"],
            "expires_at": system_clock() + timedelta(days=7),
        }
        ids["copyId"] = new_id()
        copy = {
            **base,
            "id": ids["copyId"],
            "job_id": marker,
            "video_id": ids["videoId"],
            "status": "failed",
            "error_message": marker,
        }
        destination = {
            **base,
            "endpoint": "https://store.example.com",
            "region": "eu-central-1",
            "bucket": marker,
            "prefix": "",
            "access_key_id": marker,
            "sealed_secret": b"sealed",
            "enabled": False,
        }
        intermediates: dict[str, Any] = {
            "library_id": library_id,
            "video_id": ids["videoId"],
            "kind": "intermediate",
            "objects": 1,
            "bytes": 1_000,
        }
        image = {"library_id": library_id, "id": new_id(), "character_id": ids["characterId"], "storage_path": marker}
        rows: list[tuple[str, dict[str, Any]]] = [
            ("videos", {**video, "id": ids["videoId"], "import_status": "ready", "transcript_status": "ready"}),
            ("videos", {**video, "id": new_id()}),
            *(("folders", {**base, "id": each, "name": marker, "depth": 1}) for each in (ids["folderId"], marker)),
            ("cast_scopes", {**base, "id": new_id(), "folder_id": marker}),
            ("cast_runs", {**base, **_run(marker), "updated_at": base["created_at"]}),
            ("characters", {**base, "id": ids["characterId"], "name": marker}),
            ("character_images", image),
            ("brand_voices", {**base, "id": ids["brandVoiceId"], "name": marker, "guidelines": marker}),
            *(
                ("glossary_terms", {**base, **_term(marker), "id": each, "term_key": each})
                for each in (ids["termId"], new_id())
            ),
            *review_rows.rows_of(base, ids, user_id=user_id, marker=marker),
            *(("cast_members", {**base, "id": each, "name": marker}) for each in (ids["memberId"], new_id())),
            ("webhook_endpoints", endpoint),
            ("events", {**base, **event}),
            ("webhook_deliveries", delivery),
            ("webhook_deliveries", {**delivery, "event_id": new_id()}),
            ("delivery_attempts", attempt),
            ("sources", {**base, **source}),
            ("jobs", job),
            ("jobs", {**job, **transcript_job, "finished_at": base["created_at"]}),
            ("jobs", {**job, **ready_job, "id": voice["job_id"], "type": "voice", "finished_at": base["created_at"]}),
            ("voices", voice),
            (
                "jobs",
                {
                    **job,
                    **ready_job,
                    "id": f"speech_{synthesis_id}",
                    "type": "speech",
                    "finished_at": base["created_at"],
                },
            ),
            ("syntheses", synthesis),
            ("jobs", {**job, **dub_job, "finished_at": base["created_at"]}),
            ("jobs", {**job, "video_id": None, **dub_lines.takes_job(ids["previewId"], ids["videoId"], LANGUAGE)}),
            ("jobs", {**job, "video_id": None, **dub_lines.takes_job(ids["wordingsId"], ids["videoId"], LANGUAGE)}),
            ("dubs", dub),
            ("jobs", {**job, **shorts_job, "finished_at": base["created_at"]}),
            ("shorts_outputs", short),
            ("jobs", {**job, **packaging_job}),
            ("jobs", {**job, **thumbnail_job, "finished_at": base["created_at"]}),
            ("thumbnail_requests", thumbnail_request),
            ("thumbnail_requests", reviewed_request),
            ("thumbnails", thumbnail),
            ("jobs", {**job, **download_job, "finished_at": base["created_at"]}),
            ("transcripts", transcript),
            *transcript_history.revisions_of(transcript, user_id=user_id),
            *(("cast_appearances", {**base, **_appearance(ids, speaker=each)}) for each in ("speaker_1", marker)),
            ("cast_exclusions", {**base, **_exclusion(ids, speaker=marker)}),
            ("captions", captions),
            ("jobs", {**job, **captions_job, "finished_at": base["created_at"]}),
            # Its times are stale, which takes no translation.
            (
                "captions",
                {
                    **captions,
                    "language": LANGUAGE,
                    "segments": [{**_segment(marker), "id": "s1", "end": 2, "source": f"{marker} A"}],
                },
            ),
            ("exports", export),
            ("destinations", destination),
            ("output_copies", copy),
            ("output_copies", {**copy, "id": new_id(), "job_id": new_id()}),
            *(("videos", {**video, "id": new_id(), "deleted_at": base["created_at"]}) for _ in range(2)),
            ("storage_usage", {**intermediates, "changed_on": (system_clock() - timedelta(days=60)).date()}),
            ("retention_deletions", {**intermediates, "run_at": base["created_at"]}),
        ]
        for table, row in rows:
            await insert(self.accounts.connection, table, row)
        await self._append_audit_entries(library_id, user_id=user_id, marker=marker)
        await ledger.grant(
            self.accounts.connection,
            library_id,
            millicredits=CREDITS * MILLICREDITS,
            reference=marker,
            now=system_clock(),
        )
        for language in TARGET_LANGUAGES:
            await self.accounts.connection.execute(
                """INSERT INTO translation_routes (engine, source, target, quality, via, seen_at)
                   VALUES ('proof', $1, $2, 'publishable', '{}', now() + interval '1 day') ON CONFLICT DO NOTHING""",
                LANGUAGE,
                language,
            )
            await self.accounts.connection.execute(
                """INSERT INTO stock_voices (id, engine, name, title, language, gender, age, seen_at)
                   VALUES ($1, 'proof', $1, $1, $2, 'female', 'young', now() + interval '1 day')
                   ON CONFLICT DO NOTHING""",
                f"proof_{language}",
                language,
            )
        others = {"voice_id": voice_id, "jobId": f"import_{ids['videoId']}", "lang": LANGUAGE}
        return {**ids, **others, "confirm": library_id}

    async def _append_audit_entries(self, library_id: str, *, user_id: str, marker: str) -> None:
        secret_box = SecretBox(self.accounts.settings.secret_key.get_secret_value())
        for action in ("folder.rename", "folder.delete"):
            event = AuditEvent(
                library_id=library_id,
                action=action,
                actor=AuditActor(PrincipalKind.PERSON, new_id(), user_id),
                at=system_clock(),
                origin=RequestOrigin("192.0.2.1", new_id()),
                targets={"folderId": marker},
                before={"name": marker},
                after={"name": "Lectures"},
            )
            await audit.append(self.accounts.connection, event, secret_box=secret_box)

    async def token(self, holding: LibraryFixture, lifetime: timedelta = TOKEN_LIFETIME) -> str:
        """An OAuth access token for the library with every scope."""
        secret, now = generate_credential(TOKEN_PREFIX), system_clock()
        secret_box = SecretBox(self.accounts.settings.secret_key.get_secret_value())
        row = {
            "id": new_id(),
            "library_id": holding.library_id,
            "user_id": holding.person.user_id,
            "client_id": "proof",
            "hash": secret_box.keyed_hash(CREDENTIAL_PURPOSE, secret),
            "scopes": sorted(ALL_SCOPES),
            "created_at": now,
            "expires_at": now + lifetime,
        }
        await insert(self.accounts.connection, "oauth_tokens", row)
        return secret


def _segment(marker: str) -> dict[str, Any]:
    return {"start": 0, "end": 1, "speaker": "speaker_1", "text": marker, "deleted": False, "words": 0}


def _appearance(ids: Mapping[str, str], *, speaker: str) -> dict[str, Any]:
    """Columns of a speaker of the video who is a member of the cast."""
    print_made = {"embedding_status": "ready", "engine": "wespeaker", "sealed_embedding": b"sealed"}
    return {**_exclusion(ids, speaker=speaker), "source": "confirmed", **print_made}


def _run(folder_id: str) -> dict[str, Any]:
    """Columns of a comparison of existing transcripts."""
    return {"id": new_id(), "folder_id": folder_id, "status": "finished"}


def _exclusion(ids: Mapping[str, str], *, speaker: str) -> dict[str, Any]:
    """Columns of a speaker of the video who is not a member of the cast."""
    return {"id": new_id(), "member_id": ids["memberId"], "video_id": ids["videoId"], "speaker": speaker}


def _term(marker: str) -> dict[str, Any]:
    """Columns of a glossary term."""
    translations = {"pt": {"text": marker, "forms": []}}
    columns = {"term": marker, "language": LANGUAGE, "keep": False, "case_sensitive": False}
    return {**columns, "translations": translations, "note": marker}
