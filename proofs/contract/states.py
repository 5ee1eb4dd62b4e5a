"""Creates rows in every state that the API can return, by name; without a worker, they stay as they are."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.platform.ids import new_id
from cutroom.platform.storage.objects import Storage
from cutroom.products.dubs.editing.takes.service import ORDER, takes_path
from cutroom.products.speech.rules import new_voice_id
from dev.scratch import Accounts
from proofs.stage import dub_lines, review_rows, transcript_history
from proofs.stage.access_fixtures import VIDEO_SECONDS

FAILURE = {"error_code": "INTERNAL", "error_message": "Processing failed.", "error_details": {"step": "reading"}}
OUTPUTS = 7  # more than are returned
THUMBNAILS = 52
VOICES = 101
SEGMENT = {"start": 0, "end": 1, "speaker": "speaker_1", "text": "Words.", "deleted": False, "words": 0}
Ids = dict[str, str]


@dataclass(frozen=True, slots=True)
class StateFixtures:
    """Inserts rows into one library."""

    accounts: Accounts
    library_id: str
    user_id: str

    async def all(self) -> dict[str, Ids]:
        """Ids by the state names that promises use after `of`."""
        return {
            **await self._videos(),
            **await self._dubs(),
            **await self._shorts(),
            **await self._downloads(),
            **await self._voices(),
            **await self._hosting(),
            **await self._automations(),
            "many thumbnails": await self._many_thumbnails(),
            "a recognized speaker": await self.cast_appearance(source="recognized", similarity=0.81),
            "a failed voice print": await self.cast_appearance(embedding_status="failed", failure="too_little_speech"),
            "a failed export": {"exportId": await self.failed_export()},
        }

    async def video(self, **changes: Any) -> str:  # noqa: ANN401 (columns)
        """A ready video with a transcript."""
        video_id = new_id()
        row = {
            "id": video_id,
            "status": "ready",
            "title": "A video",
            "description": "About something.",
            "media_type": "video",
            "duration_seconds": VIDEO_SECONDS,
            "default_language_code": "en",
            "provider": "upload",
            "import_status": "ready",
            "import_language": "en",
            "transcript_status": "ready",
            "transcript_language": "en",
            **changes,
        }
        await self._insert("videos", row)
        source = {"video_id": video_id, "type": "upload", "storage_path": f"videos/{video_id}", "size_bytes": 9}
        await self._insert("sources", source)
        await self._job(f"import_{video_id}", "import", row["import_status"] or "queued", video_id=video_id)
        if (status := row["transcript_status"]) is not None:
            await self._job(f"transcript_{video_id}", "transcript", status, video_id=video_id)
        if row["transcript_status"] == "ready":
            transcript = {
                "video_id": video_id,
                "language": "en",
                "segments": [SEGMENT],
                "speakers": [{"id": "speaker_1", "label": "Speaker 1"}],
                "alignment_path": f"words/{video_id}",
                "engine": "none",
                **transcript_history.COLUMNS,
            }
            await self._insert("transcripts", transcript)
            for revision in transcript_history.revision_rows(SEGMENT, user_id=self.user_id):
                await self._insert("transcript_revisions", {"video_id": video_id, **revision})
        return video_id

    async def _videos(self) -> dict[str, Ids]:
        folder_id = await self.folder()
        await self.brand_voice()
        await self.glossary_term(folder_id=folder_id)
        await self.cast_member(folder_id=folder_id)
        await self._insert("folders", {"id": new_id(), "name": "Inside", "depth": 2, "parent_id": folder_id})
        full = {
            "poster_path": "poster",
            "playback_languages": ["en", "pt"],
            "folder_ids": [folder_id],
            "labels": ["talk"],
        }
        audio = {**full, "media_type": "audio"}
        waiting = {"status": "queued", "import_status": "queued", "transcript_status": "queued"}
        running = {"status": "processing", "import_status": "processing", "transcript_status": "queued"}
        broken = {"status": "failed", "import_status": "failed", "transcript_status": "failed"}
        known = {
            "full": await self.video(**full),
            "audio": await self.video(**audio),
            "failed": await self.video(**broken),
            "waiting": await self.video(**waiting, duration_seconds=None),
            "transcribing": await self.video(transcript_status="processing"),
            "transcription failed": await self.video(transcript_status="failed"),
            "untranscribed": await self.video(transcript_status=None),
        }
        found = {state: {"videoId": video_id} for state, video_id in known.items()}
        await self.trashed_video()
        scan = {"originals_bytes": 9, "intermediates_bytes": 0, "outputs_bytes": 0, "unknown_objects": 0}
        await self._insert("storage_scans", {**scan, "measured_at": system_clock()}, with_date=False)
        found["failed import"] = {"jobId": f"import_{known['failed']}"}
        found["a running import"] = {"jobId": f"import_{await self.video(**running)}"}
        found["an import to retry"] = {"jobId": f"import_{await self.video(**broken)}"}
        return found

    async def trashed_video(self) -> str:
        return await self.video(deleted_at=system_clock())

    async def folder(self) -> str:
        folder_id = new_id()
        await self._insert("folders", {"id": folder_id, "name": "Videos", "depth": 1})
        return folder_id

    async def character(self) -> str:
        character_id = new_id()
        await self._insert("characters", {"id": character_id, "name": "Ada"})
        image = {"id": new_id(), "character_id": character_id, "storage_path": "image"}
        await self._insert("character_images", image, with_date=False)
        return character_id

    async def brand_voice(self) -> str:
        brand = {"id": new_id(), "name": "Ours", "guidelines": "Plain words.", "colors": ["#12ab9f"]}
        await self._insert("brand_voices", brand)
        return str(brand["id"])

    async def glossary_term(self, *, folder_id: str | None = None) -> str:
        term_id = new_id()
        translations = {"pt": {"text": "comporta", "forms": ["comportas"]}}
        row = {"id": term_id, "term": "gate", "term_key": term_id, "language": "en", "folder_id": folder_id}
        more = {"keep": False, "case_sensitive": False, "pronunciations": {"pt": "com pórta"}, "note": "Of a dam."}
        await self._insert("glossary_terms", {**row, **more, "translations": translations})
        return term_id

    async def review_link(self) -> Ids:
        """A link of a new video."""
        link_id, video_id = new_id(), await self.video()
        row = {"id": link_id, **review_rows.link_row(video_id, user_id=self.user_id), "label": "Ana, Portuguese"}
        await self._insert("review_links", {**row, "expires_at": system_clock() + timedelta(days=1)})
        return {"videoId": video_id, "linkId": link_id}

    async def review_comment(self) -> Ids:
        """A comment of a guest at a new video."""
        comment_id, video_id = new_id(), await self.video()
        row = review_rows.comment_row(video_id, user_id=self.user_id, text="The name is wrong.")
        guest = {"author_kind": "guest", "user_id": None, "guest_id": new_id(), "guest_name": "Ana"}
        await self._insert("review_comments", {**row, **guest, "id": comment_id, "link_id": new_id()})
        return {"videoId": video_id, "commentId": comment_id}

    async def cast_member(self, *, folder_id: str | None = None) -> str:
        member_id = new_id()
        row = {"id": member_id, "name": "Ana Duarte", "folder_id": folder_id, "voices": {"pt": "proof_pt"}}
        await self._insert("cast_members", row)
        return member_id

    async def cast_appearance(self, **changes: Any) -> Ids:  # noqa: ANN401 (columns)
        """A confirmed speaker of a new video."""
        ids = {"memberId": await self.cast_member(), "videoId": await self.video(), "speakerId": "speaker_1"}
        row = {"id": new_id(), "member_id": ids["memberId"], "video_id": ids["videoId"], "speaker": ids["speakerId"]}
        state = {"source": "confirmed", "embedding_status": "none"}
        await self._insert("cast_appearances", {**row, **state, **changes})
        return ids

    async def cast_recognition(self) -> Ids:
        """Speakers are recognized, a member has a voice print, and existing transcripts were compared with it."""
        for table in ("cast_scopes", "cast_runs"):
            await self.accounts.connection.execute(
                f"DELETE FROM {table} WHERE library_id = $1",  # noqa: S608 (constants)
                self.library_id,
            )
        await self._insert("cast_scopes", {"id": new_id()})
        now, folder_id = system_clock(), await self.folder()
        run = {"id": new_id(), "folder_id": folder_id, "status": "finished", "updated_at": now, "finished_at": now}
        await self._insert("cast_runs", run)
        return await self.cast_appearance(embedding_status="ready", engine="wespeaker", sealed_embedding=b"sealed")

    async def remove_cast_runs(self) -> None:
        await self.accounts.connection.execute("DELETE FROM cast_runs WHERE library_id = $1", self.library_id)

    async def failed_export(self) -> str:
        export_id, now = new_id(), system_clock()
        times = {"finished_at": now, "expires_at": now + timedelta(days=7)}
        await self._insert("exports", {"id": export_id, "status": "failed", **FAILURE, **times})
        return export_id

    async def failed_copy(self) -> str:
        copy_id = new_id()
        row = {"id": copy_id, "job_id": f"shorts_{copy_id}", "video_id": new_id()}
        state = {"status": "failed", "error_message": "The bucket does not exist.", "copied_at": system_clock()}
        await self._insert("output_copies", {**row, **state})
        return copy_id

    async def ensure_destination(self) -> None:
        await self.accounts.connection.execute(
            """INSERT INTO destinations
                   (library_id, endpoint, region, bucket, prefix, access_key_id, sealed_secret, enabled, created_at)
               VALUES ($1, 'https://store.example.com', 'auto', 'outputs', '', 'example', '', false, now())
               ON CONFLICT DO NOTHING""",
            self.library_id,
        )

    async def remove_destination(self) -> None:
        await self.accounts.connection.execute("DELETE FROM destinations WHERE library_id = $1", self.library_id)

    async def remove_unfinished_exports(self) -> None:
        """A library has one unfinished export at a time."""
        await self.accounts.connection.execute(
            "DELETE FROM exports WHERE library_id = $1 AND status IN ('queued', 'processing')", self.library_id
        )

    async def _dubs(self) -> dict[str, Ids]:
        video_id, found = await self.video(), {}
        for state, language, status, completion in (
            ("a ready dub", "de", "ready", "complete"),
            ("a preview", "pt", "processing", "preview_ready"),
            ("a failed dub", "fr", "failed", "pending"),
        ):
            key = {"video_id": video_id, "language": language, "product": "plus"}
            result = {"result": {"quality": "draft"}} if status == "ready" else {}
            await self._job(f"dub_{video_id}_{language}_plus", "dub", status, **key, **result)
            dub = {
                "completion": completion,
                "segments": [SEGMENT],
                "speakers": [{"id": "speaker_1", "label": "Speaker 1"}],
                "edits": {},
                "sync": {},
                "audio_path": "audio",
                "preview_path": "audio",
                "updated_at": system_clock(),
            }
            await self._insert("dubs", {**key, **dub}, with_date=False)
            found[state] = {"videoId": video_id, "lang": language}
        await self._job(f"captions_{video_id}_de", "captions", "processing", video_id=video_id, language="de")
        found["captions in the making"] = {"videoId": video_id, "lang": "de"}
        await self._job(f"captions_{video_id}_pt-BR", "captions", "ready", video_id=video_id, language="pt-BR")
        transcript = {"video_id": video_id, "language": "pt-BR", "segments": [SEGMENT], "quality": "publishable"}
        await self._insert("captions", transcript)
        found["captions"] = {"videoId": video_id, "lang": "pt-BR", "jobId": f"captions_{video_id}_pt-BR"}
        found["dub job"] = {"jobId": f"dub_{video_id}_fr_plus"}
        deleted = {"video_id": video_id, "language": "es", "product": "plus", "output_deleted_at": system_clock()}
        await self._job(f"dub_{video_id}_es_plus", "dub", "ready", **deleted)
        found["a deleted dub"] = {"jobId": f"dub_{video_id}_es_plus"}
        return found

    async def _shorts(self) -> dict[str, Ids]:
        video_id, found = await self.video(), {}
        partial = {"result": {"failures": [{"number": 1}]}}
        dependent = {"depends_on": [f"transcript_{video_id}"]}
        for state, status, more in (
            ("complete shorts", "ready", {}),
            ("partial shorts", "ready", partial),
            ("failed shorts", "failed", {}),
            ("processing shorts", "processing", {}),
            ("queued shorts", "queued", {}),
            ("pending shorts", "queued", dependent),
        ):
            request_id = new_id()
            plan = {"kind": "shorts", "numClips": 3}
            await self._job(f"shorts_{request_id}", "shorts", status, video_id=video_id, plan=plan, **more)
            found[state] = {"shortsRequestId": request_id, "videoId": video_id, "outputId": new_id()}
        for number in range(OUTPUTS):
            await self._output(video_id, found["complete shorts"]["shortsRequestId"], number)
        return found

    async def _output(self, video_id: str, request_id: str, number: int) -> str:
        output = {
            "id": new_id(),
            "request_id": request_id,
            "video_id": video_id,
            "number": number,
            "kind": "shorts",
            "title": "A moment",
            "description": "About it.",
            "reason": "",
            "duration_seconds": 20.0,
            "moments": [],
            "video_path": "short",
            "thumbnail_path": "image",
            "plan_path": "plan",
        }
        await self._insert("shorts_outputs", output)
        return str(output["id"])

    async def edited_dub(self) -> Ids:
        """A video with a finished dub, of which a line was edited."""
        ids = {"videoId": await self.video(), "lang": "de"}
        key = {"video_id": ids["videoId"], "language": "de", "product": "plus"}
        await self._job(f"dub_{ids['videoId']}_de_plus", "dub", "ready", **key, result={"quality": "publishable"})
        dub = {
            "completion": "complete",
            "segments": [SEGMENT],
            "speakers": [],
            "sync": {},
            "audio_path": "audio",
            "updated_at": system_clock(),
            **dub_lines.dub_columns(SEGMENT),
        }
        await self._insert("dubs", {**key, **dub}, with_date=False)
        ids |= {"segmentId": dub_lines.LINE_ID, "previewId": new_id(), "wordingsId": new_id()}
        for name in ("previewId", "wordingsId"):
            job = dub_lines.takes_job(ids[name], ids["videoId"], "de")
            await self._job(job["id"], job["type"], job["status"], plan=job["plan"])
        path = takes_path(self.library_id, ids["videoId"], ids["wordingsId"], ORDER)
        order = dub_lines.wordings_order("Worte, ehrlich gesagt.", "de")
        await Storage.connect(self.accounts.settings).put(path, order.to_json())
        return ids

    async def new_product(self) -> Ids:
        """A video with one product of each kind, all ready."""
        ids = {"videoId": await self.video(), "lang": "de"}
        names = ("shortsRequestId", "thumbnailRequestId", "thumbnailId", "downloadRequestId")
        ids |= {name: new_id() for name in names}
        video_id, download = ids["videoId"], {"artifact": "bundle", "language": "en", "tier": "full"}
        plans = {"shorts": {"kind": "shorts"}, "thumbnail": {}, "download": download}
        for type_, plan in plans.items():
            request_id = ids[f"{type_}RequestId"]
            await self._job(f"{type_}_{request_id}", type_, "ready", video_id=video_id, plan=plan)
        language = {"video_id": video_id, "language": "de"}
        await self._job(f"dub_{video_id}_de_plus", "dub", "ready", **language, product="plus")
        await self._job(f"captions_{video_id}_de", "captions", "ready", **language)
        ids["outputId"] = await self._output(video_id, ids["shortsRequestId"], 0)
        request_id = ids["thumbnailRequestId"]
        request = {"id": request_id, "video_id": video_id, "job_id": f"thumbnail_{request_id}"}
        await self._insert("thumbnail_requests", request)
        image = {"number": 0, "layout": "left", "score": 0.5, "engine": "none", "path": "image"}
        keys = {"id": ids["thumbnailId"], "request_id": request_id, "video_id": video_id}
        await self._insert("thumbnails", {**keys, **image})
        return ids

    async def stale_captions(self) -> Ids:
        """Captions whose only segment has another text and other times than the transcript."""
        video_id = await self.video()
        await self._job(f"captions_{video_id}_de", "captions", "ready", video_id=video_id, language="de")
        segment = {**SEGMENT, "id": "s1", "end": 2, "source": "Other words.", "engine": "none"}
        captions = {"video_id": video_id, "language": "de", "segments": [segment], "quality": "publishable"}
        await self._insert("captions", captions)
        return {"videoId": video_id, "lang": "de"}

    async def _downloads(self) -> dict[str, Ids]:
        video_id, found = await self.video(), {}
        for state, status, tier in (
            ("a ready download", "ready", "full"),
            ("a sample download", "ready", "sample"),
            ("a failed download", "failed", "full"),
            ("a queued download", "queued", "full"),
            ("a processing download", "processing", "full"),
        ):
            request_id = new_id()
            more = {
                "plan": {"artifact": "source", "language": "en", "tier": tier},
                "result": {"storagePath": "video", "fileName": "video.mp4"} if status == "ready" else None,
            }
            await self._job(f"download_{request_id}", "download", status, video_id=video_id, **more)
            found[state] = {"downloadRequestId": request_id}
        return found

    async def _voices(self) -> dict[str, Ids]:
        found = {}
        for state, status in (
            ("a ready voice", "ready"),
            ("a processing voice", "processing"),
            ("a failed voice", "failed"),
        ):
            found[state] = {"voice_id": await self.voice(status)}
        found["a deleted voice"] = {"voice_id": await self.voice("ready", deleted_at=system_clock())}
        return found

    async def voice(self, status: str, **changes: Any) -> str:  # noqa: ANN401 (columns)
        voice_id, job_id = new_voice_id(), f"voice_{new_id()}"
        await self._job(job_id, "voice", status)
        voice = {
            "id": voice_id,
            "job_id": job_id,
            "name": "Ana",
            "description": "Warm.",
            "labels": {"language": "en"},
            "remove_noise": False,
            "sample_count": 1,
            "reference_path": "sample",
            "reference_sha256": "0" * 64,
            "preview_path": "sample",
            **changes,
        }
        await self._insert("voices", voice)
        return voice_id

    async def hosting(self, status: str) -> Ids:
        video_id = await self.video(hosted_url="https://host.example.com/video.m3u8" if status == "ready" else None)
        await self._job(f"hosting_{video_id}", "hosting", status, plan={"hosted_video_id": video_id})
        return {"videoId": video_id}

    async def _hosting(self) -> dict[str, Ids]:
        found = {"a hostable video": {"videoId": await self.video()}}
        for state, status in (("queued hosting", "queued"), ("processing hosting", "processing"), ("hosted", "ready")):
            found[state] = await self.hosting(status)
        video_id = await self.video(import_status="queued", status="queued")
        await self.accounts.connection.execute("UPDATE sources SET size_bytes = NULL WHERE video_id = $1", video_id)
        found["a video without a file"] = {"videoId": video_id}
        return found

    async def _automations(self) -> dict[str, Ids]:
        """One to read, one to request again, and a thumbnail in the making."""
        found = {state: await self._packaged() for state in ("packaging", "packaging again")}
        video_id, request_id = await self.video(), new_id()
        await self._job(f"thumbnail_{request_id}", "thumbnail", "processing", video_id=video_id)
        row = {"id": request_id, "video_id": video_id, "job_id": f"thumbnail_{request_id}"}
        await self._insert("thumbnail_requests", row)
        found["a processing thumbnail"] = {"thumbnailRequestId": request_id, "thumbnailId": new_id()}
        return found

    async def _packaged(self) -> Ids:
        video_id = await self.video()
        for automation, status in (
            ("generateTitle", "queued"),
            ("generateDescription", "failed"),
            ("zeroPromptThumbnail", "ready"),
        ):
            await self._job(
                f"packaging_{video_id}_{automation}",
                "packaging",
                status,
                video_id=video_id,
                automation_type=automation,
                plan={"overwriteMode": "always"},
            )
        request = {"id": new_id(), "video_id": video_id, "job_id": f"packaging_{video_id}_zeroPromptThumbnail"}
        await self._insert("thumbnail_requests", request)
        return {"videoId": video_id, "jobId": request["job_id"]}

    async def _many_thumbnails(self) -> Ids:
        video_id, request_id = await self.video(), ""
        for _ in range(THUMBNAILS):
            request_id = new_id()
            await self._job(f"thumbnail_{request_id}", "thumbnail", "ready", video_id=video_id)
            row = {"id": request_id, "video_id": video_id, "job_id": f"thumbnail_{request_id}"}
            await self._insert("thumbnail_requests", row)
        return {"videoId": video_id, "thumbnailRequestId": request_id}

    async def many_voices(self) -> None:
        for _ in range(VOICES):
            await self.voice("ready")

    async def _job(self, job_id: str, type_: str, status: str, **more: Any) -> None:  # noqa: ANN401 (columns)
        now = system_clock()
        row = {
            "id": job_id,
            "type": type_,
            "status": status,
            "attempt": 1,
            "plan": {},
            "depends_on": [],
            "progress": 0,
            "result": {} if status == "ready" else None,
            "updated_at": now,
            "finished_at": now if status in {"ready", "failed"} else None,
            **(FAILURE if status == "failed" else {}),
            **more,
        }
        await self._insert("jobs", row)

    async def _insert(self, table: str, row: Mapping[str, Any], *, with_date: bool = True) -> None:
        # In the past, so that rows created by requests are newer.
        when = {"created_at": system_clock() - timedelta(seconds=1)} if with_date else {}
        await insert(self.accounts.connection, table, {"library_id": self.library_id, **when, **row})
