"""Libraries for the access proof, each with a row behind every kind of path parameter, and keys to them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from cutroom.accounts.keys import TOKEN_PREFIX, mint_credential
from cutroom.accounts.principals import CREDENTIAL_PURPOSE
from cutroom.accounts.scopes import ALL_SCOPES, Scope
from cutroom.credits import ledger
from cutroom.credits.pricing import MILLICREDITS
from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.platform.ids import new_id
from cutroom.platform.secret_box import SecretBox
from cutroom.platform.storage.objects import Storage
from cutroom.products.speech.rules import DEFAULT_FORMAT, FORMATS, new_voice_id, reading_path
from cutroom.products.speech.schemas import NewSpeech
from cutroom.products.speech.synthesis import Wish, clone_sound, engines_of
from dev.scratch import Accounts, Keyring, Person

CREDITS = 10_000  # enough for whatever one request may cost
LANGUAGE = "en"  # what is spoken in every video
TOKEN_LIFETIME = timedelta(hours=1)

# What the document's own example asks for: it has been read already, for nobody works here.
SPEECH = NewSpeech.model_validate(NewSpeech.model_json_schema()["examples"][0])


@dataclass(frozen=True, slots=True)
class Holding:
    """A library, a key to it, and what is in it."""

    person: Person
    library_id: str
    key: Keyring
    ids: Mapping[str, str]  # by the name of the path parameter that takes them
    marks: frozenset[str]  # strings that only an answer about this library can hold


@dataclass(frozen=True, slots=True)
class Founder:
    """Makes libraries that are alike in everything but whose they are."""

    accounts: Accounts

    async def personal(self, scopes: Iterable[Scope] = ()) -> Holding:
        person = await self.accounts.person()
        return await self._fill(person, person.library_id, scopes)

    async def workspace(self, person: Person | None = None) -> Holding:
        """A shared library of this person, or of a new one."""
        founder = person or await self.accounts.person()
        return await self._fill(founder, await self.accounts.workspace(founder), ())

    async def _fill(self, person: Person, library_id: str, scopes: Iterable[Scope]) -> Holding:
        mark = f"mark{new_id()}"
        async with self.accounts.connection.transaction():
            ids = await self._seed(library_id, user_id=person.user_id, mark=mark)
            key = await self.accounts.key(person, library_id=library_id, scopes=scopes)
        marks = frozenset({mark, library_id, *ids.values()} - {LANGUAGE})
        return Holding(person=person, library_id=library_id, key=key, ids=ids, marks=marks)

    async def _seed(self, library_id: str, *, user_id: str, mark: str) -> dict[str, str]:
        """One row behind every path parameter, by the parameter's name; a paged list has at least two."""
        ids = {name: new_id() for name in ("videoId", "folderId", "endpointId")}
        character_id = new_id()
        here = {"library_id": library_id, "created_at": system_clock()}
        video = {**here, "status": "ready", "title": mark, "media_type": "video", "duration_seconds": 60.0}
        endpoint = {
            **here,
            "id": ids["endpointId"],
            "user_id": user_id,
            "url": f"https://{mark}.example.com/",
            "events": ["video.ready"],
            "sealed_secret": b"sealed",
        }
        source = {"video_id": ids["videoId"], "type": "upload", "storage_path": mark, "size_bytes": len(mark)}
        job = {
            **here,
            "id": f"import_{ids['videoId']}",
            "type": "import",
            "status": "queued",
            "video_id": ids["videoId"],
            "attempt": 1,
            "plan": {},
            "depends_on": [f"upload_{ids['videoId']}"],
            "progress": 0,
            "updated_at": here["created_at"],
        }
        transcript = {
            **here,
            "video_id": ids["videoId"],
            "language": LANGUAGE,
            "segments": [{"start": 0, "end": 1, "speaker": "speaker_1", "text": mark, "deleted": False, "words": 0}],
            "speakers": [{"id": "speaker_1", "label": mark}],
            "alignment_path": mark,
            "engine": "none",
        }
        captions = {
            **here,
            "video_id": ids["videoId"],
            "language": "de",
            "segments": transcript["segments"],
            "quality": "good",
        }
        voice_id, reading_id = new_voice_id(), new_id()
        voice = {
            **here,
            "id": voice_id,
            "job_id": f"voice_{new_id()}",
            "name": mark,
            "labels": {"language": "en"},
            "remove_noise": False,
            "samples": 1,
            "reference_path": mark,
            "reference_sha256": mark,
            "preview_path": mark,
        }
        wish = Wish(voice_id, SPEECH, FORMATS[DEFAULT_FORMAT], engines_of(self.accounts.settings))
        reading = {
            **here,
            "id": reading_id,
            "fingerprint": wish.fingerprint(clone_sound(voice_id, mark)),
            "voice_id": voice_id,
            "text": SPEECH.text,
            "speed": 1.0,
            "format": DEFAULT_FORMAT,
            "sizes": {"0": len(mark)},
        }
        ready: dict[str, Any] = {"status": "ready", "depends_on": [], "video_id": None}
        sound = reading_path(library_id, reading_id, "1/0")
        await Storage.connect(self.accounts.settings).put(sound, mark.encode())
        dub = {
            "library_id": library_id,
            "video_id": ids["videoId"],
            "language": LANGUAGE,
            "product": "plus",
            "completion": "complete",
            "segments": transcript["segments"],
            "speakers": transcript["speakers"],
            "edits": {},
            "sync": {},
            "audio_path": mark,
            "updated_at": here["created_at"],
        }
        dubbed = {
            "id": f"dub_{ids['videoId']}_{LANGUAGE}_plus",
            "type": "dub",
            "status": "ready",
            "depends_on": [],
            "language": LANGUAGE,
            "product": "plus",
        }
        ids["shortsRequestId"] = new_id()
        cut = {
            "id": f"shorts_{ids['shortsRequestId']}",
            "type": "shorts",
            "status": "ready",
            "depends_on": [],
            "plan": {"kind": "promo"},
        }
        short = {
            **here,
            "id": new_id(),
            "request_id": ids["shortsRequestId"],
            "video_id": ids["videoId"],
            "number": 0,
            "kind": "promo",
            "title": mark,
            "description": mark,
            "reason": mark,
            "duration_seconds": 50.0,
            "moments": [],
            "video_path": mark,
            "thumbnail_path": mark,
            "plan_path": mark,
        }
        ids["downloadRequestId"] = new_id()
        fetched = {
            "id": f"download_{ids['downloadRequestId']}",
            "type": "download",
            "status": "ready",
            "depends_on": [],
            "plan": {"artifact": "source", "language": LANGUAGE, "tier": "full"},
            "result": {"storagePath": mark, "fileName": "film.mp4"},
        }
        ids["thumbnailRequestId"] = new_id()
        drawn = {
            "id": f"packaging_{ids['videoId']}_zeroPromptThumbnail",
            "type": "packaging",
            "automation_type": "zeroPromptThumbnail",
            "status": "processing",
            "depends_on": [],
            "plan": {"autoDetectCharacters": True, "characterDetectApprovalMode": "review"},
        }
        pictured = {
            **here,
            "id": ids["thumbnailRequestId"],
            "video_id": ids["videoId"],
            "job_id": drawn["id"],
            "detected": [{"id": mark, "kind": "character", "path": mark}],
        }
        thumbnail = {
            **here,
            "id": new_id(),
            "request_id": ids["thumbnailRequestId"],
            "video_id": ids["videoId"],
            "number": 0,
            "headline": mark,
            "layout": mark,
            "score": 0.5,
            "engine": "none",
            "path": mark,
        }
        done = {"id": f"transcript_{ids['videoId']}", "type": "transcript", "status": "ready", "depends_on": []}
        image = {"library_id": library_id, "id": new_id(), "character_id": character_id, "storage_path": mark}
        rows: list[tuple[str, dict[str, Any]]] = [
            ("videos", {**video, "id": ids["videoId"], "import_status": "ready", "transcript_status": "ready"}),
            ("videos", {**video, "id": new_id()}),
            ("folders", {**here, "id": ids["folderId"], "name": mark, "depth": 1}),
            ("characters", {**here, "id": character_id, "name": mark}),
            ("character_images", image),
            ("brand_voices", {**here, "id": new_id(), "name": mark, "guidelines": mark}),
            ("webhook_endpoints", endpoint),
            ("sources", {**here, **source}),
            ("jobs", job),
            ("jobs", {**job, **done, "finished_at": here["created_at"]}),
            ("jobs", {**job, **ready, "id": voice["job_id"], "type": "voice", "finished_at": here["created_at"]}),
            ("voices", voice),
            (
                "jobs",
                {**job, **ready, "id": f"speech_{reading_id}", "type": "speech", "finished_at": here["created_at"]},
            ),
            ("syntheses", reading),
            ("jobs", {**job, **dubbed, "finished_at": here["created_at"]}),
            ("dubs", dub),
            ("jobs", {**job, **cut, "finished_at": here["created_at"]}),
            ("shorts_outputs", short),
            ("jobs", {**job, **drawn}),
            ("thumbnail_requests", pictured),
            ("thumbnails", thumbnail),
            ("jobs", {**job, **fetched, "finished_at": here["created_at"]}),
            ("transcripts", transcript),
            ("captions", captions),
        ]
        for table, row in rows:
            await insert(self.accounts.connection, table, row)
        await ledger.grant(
            self.accounts.connection,
            library_id,
            millicredits=CREDITS * MILLICREDITS,
            reference=mark,
            now=system_clock(),
        )
        await self.accounts.connection.execute(
            """INSERT INTO translation_routes (translator, source, target, quality, via, seen_at)
               VALUES ('proof', 'en', 'pt', 'good', '{}', now()) ON CONFLICT DO NOTHING"""
        )
        await self.accounts.connection.execute(
            """INSERT INTO service_voices (id, speaker, name, title, language, gender, age, seen_at)
               VALUES ('proof', 'proof', 'proof', 'Proof', 'pt-BR', 'female', 'young', now()) ON CONFLICT DO NOTHING"""
        )
        return {**ids, "voice_id": voice_id, "jobId": f"import_{ids['videoId']}", "lang": LANGUAGE}

    async def token(self, holding: Holding, lifetime: timedelta = TOKEN_LIFETIME) -> str:
        """An OAuth access token to the library, with every scope."""
        secret, now = mint_credential(TOKEN_PREFIX), system_clock()
        secrecy = SecretBox(self.accounts.settings.secret_key.get_secret_value())
        row = {
            "id": new_id(),
            "library_id": holding.library_id,
            "user_id": holding.person.user_id,
            "client_id": "proof",
            "hash": secrecy.keyed_hash(CREDENTIAL_PURPOSE, secret),
            "scopes": sorted(ALL_SCOPES),
            "created_at": now,
            "expires_at": now + lifetime,
        }
        await insert(self.accounts.connection, "oauth_tokens", row)
        return secret
