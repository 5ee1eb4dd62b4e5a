"""A method for each operation, generated from the OpenAPI document by `just clients`. Do not edit."""

from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from typing import Any, Literal

from cutroom_client import models
from cutroom_client._async.transport import AsyncTransport
from cutroom_client.calls import Call, Credits, path
from cutroom_client.server_events import ServerEvent


class AsyncOperations:
    """Every operation of the API by its name; the other parts of the client use these methods."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def list_videos(
        self, *, limit: int | None = None, page_token: str | None = None, label: str | None = None
    ) -> models.VideoPage:
        """Returns the videos of the library, newest first. Results are paginated."""
        call = Call("listVideos", "GET", "/v1/videos", query={"limit": limit, "pageToken": page_token, "label": label})
        return await self._transport.parsed(call, models.VideoPage)

    async def create_video(
        self,
        body: models.NewVideo | Mapping[str, Any],
        *,
        max_credits: Credits | None = None,
        idempotency_key: str | None = None,
    ) -> models.CreatedVideo:
        """Imports from a URL or reserves an upload. Products are validated now and start when the transcript is
        ready.
        """
        call = Call(
            "createVideo",
            "POST",
            "/v1/videos",
            body=body,
            max_credits=max_credits,
            priced=True,
            idempotency_key=idempotency_key,
            keyed=True,
        )
        return await self._transport.parsed(call, models.CreatedVideo)

    async def get_video(self, video_id: str) -> models.Video:
        """Retrieves a video with its status and, once it is playable, its playback URLs."""
        call = Call("getVideo", "GET", path("/v1/videos/{}", video_id))
        return await self._transport.parsed(call, models.Video)

    async def update_video(
        self, video_id: str, body: models.VideoPatch | Mapping[str, Any], *, if_match: str | None = None
    ) -> models.Video:
        """Changes the title, description, language, folders or labels. Fields that are not sent stay; null clears."""
        call = Call("updateVideo", "PATCH", path("/v1/videos/{}", video_id), body=body, headers={"If-Match": if_match})
        return await self._transport.parsed(call, models.Video)

    async def delete_video(
        self, video_id: str, *, permanently: bool | None = None, if_match: str | None = None
    ) -> None:
        """Moves a video to the trash, from which it can be restored for 30 days; then it is removed for good. It
        leaves all lists, its signed URLs stop within a minute, and its unfinished jobs are canceled and refunded.
        Use `permanently` to remove a video for good, in the trash or not.
        """
        call = Call(
            "deleteVideo",
            "DELETE",
            path("/v1/videos/{}", video_id),
            query={"permanently": permanently},
            headers={"If-Match": if_match},
        )
        await self._transport.nothing(call)

    async def list_folders(self) -> models.FolderList:
        """Returns all folders of the library. Parents precede their children."""
        call = Call("listFolders", "GET", "/v1/folders")
        return await self._transport.parsed(call, models.FolderList)

    async def create_folder(
        self, body: models.NewFolder | Mapping[str, Any], *, idempotency_key: str | None = None
    ) -> models.Folder:
        """Creates a folder at the root or in another folder. Folders nest up to three levels deep."""
        call = Call("createFolder", "POST", "/v1/folders", body=body, idempotency_key=idempotency_key, keyed=True)
        return await self._transport.parsed(call, models.Folder)

    async def get_folder(self, folder_id: str) -> models.Folder:
        """Retrieves a folder with its path."""
        call = Call("getFolder", "GET", path("/v1/folders/{}", folder_id))
        return await self._transport.parsed(call, models.Folder)

    async def update_folder(
        self, folder_id: str, body: models.FolderPatch | Mapping[str, Any], *, if_match: str | None = None
    ) -> models.Folder:
        """Renames a folder, or moves it with everything in it. Folders nest up to three levels deep."""
        call = Call(
            "updateFolder", "PATCH", path("/v1/folders/{}", folder_id), body=body, headers={"If-Match": if_match}
        )
        return await self._transport.parsed(call, models.Folder)

    async def delete_folder(self, folder_id: str, *, if_match: str | None = None) -> None:
        """Deletes a folder. Its videos stay in the library. A folder that contains folders is not deleted (409)."""
        call = Call("deleteFolder", "DELETE", path("/v1/folders/{}", folder_id), headers={"If-Match": if_match})
        await self._transport.nothing(call)

    async def list_characters(self) -> models.CharacterList:
        """Returns the saved characters, which can appear in thumbnails."""
        call = Call("listCharacters", "GET", "/v1/characters")
        return await self._transport.parsed(call, models.CharacterList)

    async def get_character(self, character_id: str) -> models.Character:
        """Retrieves a character with its reference images."""
        call = Call("getCharacter", "GET", path("/v1/characters/{}", character_id))
        return await self._transport.parsed(call, models.Character)

    async def update_character(
        self, character_id: str, body: models.CharacterPatch | Mapping[str, Any], *, if_match: str | None = None
    ) -> models.Character:
        """Renames a character."""
        call = Call(
            "updateCharacter",
            "PATCH",
            path("/v1/characters/{}", character_id),
            body=body,
            headers={"If-Match": if_match},
        )
        return await self._transport.parsed(call, models.Character)

    async def delete_character(self, character_id: str, *, if_match: str | None = None) -> None:
        """Deletes a character and its images. Thumbnails made with it stay. While an unfinished job uses it, it is
        not deleted (409).
        """
        call = Call(
            "deleteCharacter", "DELETE", path("/v1/characters/{}", character_id), headers={"If-Match": if_match}
        )
        await self._transport.nothing(call)

    async def list_brand_voices(self) -> models.BrandVoiceList:
        """Returns the brand voices, which guide thumbnails and descriptions."""
        call = Call("listBrandVoices", "GET", "/v1/brand-voices")
        return await self._transport.parsed(call, models.BrandVoiceList)

    async def get_brand_voice(self, brand_voice_id: str) -> models.BrandVoice:
        """Retrieves a brand voice."""
        call = Call("getBrandVoice", "GET", path("/v1/brand-voices/{}", brand_voice_id))
        return await self._transport.parsed(call, models.BrandVoice)

    async def update_brand_voice(
        self, brand_voice_id: str, body: models.BrandVoicePatch | Mapping[str, Any], *, if_match: str | None = None
    ) -> models.BrandVoice:
        """Changes the name, guidelines or colors. Fields that are not sent stay; null clears the colors."""
        call = Call(
            "updateBrandVoice",
            "PATCH",
            path("/v1/brand-voices/{}", brand_voice_id),
            body=body,
            headers={"If-Match": if_match},
        )
        return await self._transport.parsed(call, models.BrandVoice)

    async def delete_brand_voice(self, brand_voice_id: str, *, if_match: str | None = None) -> None:
        """Deletes a brand voice. What was made with it stays. While an unfinished job uses it, it is not deleted
        (409).
        """
        call = Call(
            "deleteBrandVoice", "DELETE", path("/v1/brand-voices/{}", brand_voice_id), headers={"If-Match": if_match}
        )
        await self._transport.nothing(call)

    async def list_video_jobs(self, video_id: str) -> models.JobList:
        """Returns the jobs of a video, newest first."""
        call = Call("listVideoJobs", "GET", path("/v1/videos/{}/jobs", video_id))
        return await self._transport.parsed(call, models.JobList)

    async def get_job(self, job_id: str, *, wait: int | None = None) -> models.Job:
        """Retrieves a job: at once, or with `wait` when it has become `ready` or `failed`, or when the time is up.
        A request that waits does not count as a concurrent request. Webhooks and events tell of many jobs at once.
        """
        call = Call("getJob", "GET", path("/v1/jobs/{}", job_id), query={"wait": wait})
        return await self._transport.parsed(call, models.Job)

    async def get_job_timeline(self, job_id: str) -> models.JobTimeline:
        """Returns what happened to a job, when, in which step, for how long, what was repeated and what it cost.
        The texts are meant to be read and forwarded; branch on `kind` and `code`.
        """
        call = Call("getJobTimeline", "GET", path("/v1/jobs/{}/timeline", job_id))
        return await self._transport.parsed(call, models.JobTimeline)

    async def cancel_job(self, job_id: str, *, idempotency_key: str | None = None) -> models.Job:
        """Ends a queued or running job as `failed` with the error code `CANCELLED`, and returns its price in full.
        What it has published so far is removed, and its work stops within seconds. Queued jobs that depend on it
        fail; other jobs of the same request are not affected. Canceling a canceled job again has no effect.
        """
        call = Call(
            "cancelJob", "POST", path("/v1/jobs/{}/cancel", job_id), idempotency_key=idempotency_key, keyed=True
        )
        return await self._transport.parsed(call, models.Job)

    async def retry_job(
        self, job_id: str, *, max_credits: Credits | None = None, idempotency_key: str | None = None
    ) -> models.Job:
        """Runs a failed or canceled job again under the same id, and charges it at the current price. The key also
        needs the scope that creates such a job. Steps whose outputs are stored are not repeated. A job that is
        queued or processing is returned unchanged and uncharged.
        """
        call = Call(
            "retryJob",
            "POST",
            path("/v1/jobs/{}/retry", job_id),
            max_credits=max_credits,
            priced=True,
            idempotency_key=idempotency_key,
            keyed=True,
        )
        return await self._transport.parsed(call, models.Job)

    async def create_upload(
        self, video_id: str, body: models.NewUploadSession | Mapping[str, Any], *, idempotency_key: str | None = None
    ) -> models.UploadSession:
        """Returns a signed URL for uploading the file of a reserved video. POST to it with the header `x-goog-
        resumable: start` within 30 minutes; the response's `Location` then accepts the bytes for a week, in the
        resumable protocol of Google Cloud Storage. An upload of which nothing has arrived after a day expires.
        """
        call = Call(
            "createUpload",
            "POST",
            path("/v1/videos/{}/uploads", video_id),
            body=body,
            idempotency_key=idempotency_key,
            keyed=True,
        )
        return await self._transport.parsed(call, models.UploadSession)

    async def delete_upload(self, video_id: str) -> None:
        """Cancels an upload that has not finished: its import fails with `CANCELLED`, and what was received is
        deleted. Repeating the request has no further effect. Once the whole file has been received, it returns 409
        `FAILED_PRECONDITION`.
        """
        call = Call("deleteUpload", "DELETE", path("/v1/videos/{}/uploads", video_id))
        await self._transport.nothing(call)

    async def get_transcript(self, video_id: str) -> models.Transcript:
        """Returns the transcript with speakers and timing, or its status while it is processing: poll, or use a
        webhook.
        """
        call = Call("getTranscript", "GET", path("/v1/videos/{}/transcript", video_id))
        return await self._transport.parsed(call, models.Transcript)

    async def edit_transcript(
        self, video_id: str, body: models.TranscriptEdit | Mapping[str, Any]
    ) -> models.TranscriptChange:
        """Applies operations to a revision, all or none, and returns the new revision. If there is a newer revision
        than the given one, nothing is changed (409 `CONFLICT`): `details.revision` is the current one. Words of
        edited text are aligned with the sound in the background.
        """
        call = Call("editTranscript", "PATCH", path("/v1/videos/{}/transcript", video_id), body=body)
        return await self._transport.parsed(call, models.TranscriptChange)

    async def get_subtitles(
        self, video_id: str, lang: str, *, format: Literal["srt", "vtt"] | str | None = None
    ) -> models.Subtitles:
        """Returns a temporary URL of a subtitle file in one language."""
        call = Call("getSubtitles", "GET", path("/v1/videos/{}/subtitles/{}", video_id, lang), query={"format": format})
        return await self._transport.parsed(call, models.Subtitles)

    async def undo_edit(
        self, video_id: str, body: models.RevisionGuard | Mapping[str, Any], *, idempotency_key: str | None = None
    ) -> models.TranscriptChange:
        """Returns to what the transcript was before its last change, as a new revision. Repeat it to go back
        further.
        """
        call = Call(
            "undoEdit",
            "POST",
            path("/v1/videos/{}/transcript/undo", video_id),
            body=body,
            idempotency_key=idempotency_key,
            keyed=True,
        )
        return await self._transport.parsed(call, models.TranscriptChange)

    async def redo_edit(
        self, video_id: str, body: models.RevisionGuard | Mapping[str, Any], *, idempotency_key: str | None = None
    ) -> models.TranscriptChange:
        """Reverts the last undo, as a new revision."""
        call = Call(
            "redoEdit",
            "POST",
            path("/v1/videos/{}/transcript/redo", video_id),
            body=body,
            idempotency_key=idempotency_key,
            keyed=True,
        )
        return await self._transport.parsed(call, models.TranscriptChange)

    async def import_transcript(
        self, video_id: str, body: models.TranscriptImport | Mapping[str, Any], *, idempotency_key: str | None = None
    ) -> models.TranscriptChange:
        """Puts the words of subtitles or of a script in place of the recognized ones, as a new revision. The words
        are aligned with those that were recognized: segments keep their ids, times and speakers. Names of speakers
        in WebVTT are used.
        """
        call = Call(
            "importTranscript",
            "POST",
            path("/v1/videos/{}/transcript/import", video_id),
            body=body,
            idempotency_key=idempotency_key,
            keyed=True,
        )
        return await self._transport.parsed(call, models.TranscriptChange)

    async def list_revisions(
        self, video_id: str, *, limit: int | None = None, page_token: str | None = None
    ) -> models.RevisionPage:
        """Returns who changed the transcript, when and how, newest first. Results are paginated."""
        call = Call(
            "listRevisions",
            "GET",
            path("/v1/videos/{}/transcript/revisions", video_id),
            query={"limit": limit, "pageToken": page_token},
        )
        return await self._transport.parsed(call, models.RevisionPage)

    async def get_revision(self, video_id: str, revision: str) -> models.RevisionDocument:
        """Retrieves a revision with its segments, which have the ids that edits refer to."""
        call = Call("getRevision", "GET", path("/v1/videos/{}/transcript/revisions/{}", video_id, revision))
        return await self._transport.parsed(call, models.RevisionDocument)

    async def compare_revisions(self, video_id: str, revision: str, *, to: int) -> models.RevisionComparison:
        """Returns the segments that differ between two revisions, matched by their ids."""
        call = Call(
            "compareRevisions",
            "GET",
            path("/v1/videos/{}/transcript/revisions/{}/comparison", video_id, revision),
            query={"to": to},
        )
        return await self._transport.parsed(call, models.RevisionComparison)

    async def restore_revision(
        self,
        video_id: str,
        revision: str,
        body: models.RevisionGuard | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> models.TranscriptChange:
        """Returns to the content of an earlier revision, as a new revision."""
        call = Call(
            "restoreRevision",
            "POST",
            path("/v1/videos/{}/transcript/revisions/{}/restore", video_id, revision),
            body=body,
            idempotency_key=idempotency_key,
            keyed=True,
        )
        return await self._transport.parsed(call, models.TranscriptChange)

    async def get_transcript_edit_list(
        self,
        video_id: str,
        *,
        frame_rate: Literal["23.976", "24", "25", "29.97", "30", "50", "59.94", "60"] | str | None = None,
        max_silence: float | None = None,
        format: models.EditorFormat | None = None,
    ) -> models.TranscriptEditList:
        """Returns what remains of the recording without its deleted words. Cuts are in the silence beside the
        deleted words, never inside of a word that is kept.
        """
        call = Call(
            "getTranscriptEditList",
            "GET",
            path("/v1/videos/{}/transcript/edit-list", video_id),
            query={"frameRate": frame_rate, "maxSilence": max_silence, "format": format},
        )
        return await self._transport.parsed(call, models.TranscriptEditList)

    async def suggest_transcript_cuts(self, video_id: str) -> models.CutSuggestions:
        """Returns sounds of hesitation and words that were said twice. Delete them by the operation `deleteWords`."""
        call = Call("suggestTranscriptCuts", "GET", path("/v1/videos/{}/transcript/cut-suggestions", video_id))
        return await self._transport.parsed(call, models.CutSuggestions)

    async def recognize_transcript(
        self,
        video_id: str,
        body: models.RecognitionRequest | Mapping[str, Any],
        *,
        max_credits: Credits | None = None,
        idempotency_key: str | None = None,
    ) -> models.RecognitionJob:
        """Creates a job that recognizes the speech again, in another language or with engines that were installed
        since. The result is a new revision, in which segments of the same sound keep their ids; until then, the
        transcript stays as it is. The price is that of a transcript of the whole video.
        """
        call = Call(
            "recognizeTranscript",
            "POST",
            path("/v1/videos/{}/transcript/recognize", video_id),
            body=body,
            max_credits=max_credits,
            priced=True,
            idempotency_key=idempotency_key,
            keyed=True,
        )
        return await self._transport.parsed(call, models.RecognitionJob)

    async def create_cast_appearance(
        self, member_id: str, video_id: str, speaker_id: str, *, idempotency_key: str | None = None
    ) -> models.CastAppearance:
        """Confirms that a speaker of a transcript is this member, in place of any other member. Where speakers are
        recognized, a voice print is made from the speaker's segments in the background. A speaker who is this
        member already is returned unchanged; a voice print that failed is made again.
        """
        call = Call(
            "createCastAppearance",
            "POST",
            path("/v1/cast/members/{}/videos/{}/speakers/{}", member_id, video_id, speaker_id),
            idempotency_key=idempotency_key,
            keyed=True,
        )
        return await self._transport.parsed(call, models.CastAppearance)

    async def delete_cast_appearance(self, member_id: str, video_id: str, speaker_id: str) -> None:
        """Says that the speaker is not this member, and erases the voice print that was made from it. The name of
        the speaker in the transcript stays.
        """
        call = Call(
            "deleteCastAppearance",
            "DELETE",
            path("/v1/cast/members/{}/videos/{}/speakers/{}", member_id, video_id, speaker_id),
        )
        await self._transport.nothing(call)

    async def optimize_transcript(
        self, video_id: str, body: models.OptimizationRequest | Mapping[str, Any], *, idempotency_key: str | None = None
    ) -> models.StartedOptimization:
        """Creates a job that removes hesitations and repeated words, and tightens the wording if a language model
        is configured. Texts that were set by hand are kept. This costs no credits; requests are limited per day.
        Repeating the request for the same revision of the transcript returns the same job.
        """
        call = Call(
            "optimizeTranscript",
            "POST",
            path("/v1/videos/{}/transcript/optimize", video_id),
            body=body,
            idempotency_key=idempotency_key,
            keyed=True,
        )
        return await self._transport.parsed(call, models.StartedOptimization)

    async def get_optimized_transcript(self, video_id: str) -> models.OptimizedTranscript:
        """Returns the text of each segment for dubs of the optimized voiceover, and which are stale because the
        transcript has changed.
        """
        call = Call("getOptimizedTranscript", "GET", path("/v1/videos/{}/transcript/optimized", video_id))
        return await self._transport.parsed(call, models.OptimizedTranscript)

    async def edit_optimized_transcript(
        self, video_id: str, body: models.ScriptPatch | Mapping[str, Any]
    ) -> models.ScriptRevision:
        """Sets texts by hand, all or none, and returns the new revision. This costs no credits. If there is a newer
        revision than the given one, nothing is changed (409 `CONFLICT`): `details.revision` is the current one.
        """
        call = Call("editOptimizedTranscript", "PATCH", path("/v1/videos/{}/transcript/optimized", video_id), body=body)
        return await self._transport.parsed(call, models.ScriptRevision)

    async def create_captions(
        self,
        video_id: str,
        body: models.NewCaptions | Mapping[str, Any],
        *,
        max_credits: Credits | None = None,
        idempotency_key: str | None = None,
    ) -> models.CaptionJobs:
        """Creates one job per language. Unsupported languages are rejected with the list of supported ones.
        Requesting captions that are processing or ready returns their existing job without a charge.
        """
        call = Call(
            "createCaptions",
            "POST",
            path("/v1/videos/{}/captions", video_id),
            body=body,
            max_credits=max_credits,
            priced=True,
            idempotency_key=idempotency_key,
            keyed=True,
        )
        return await self._transport.parsed(call, models.CaptionJobs)

    async def delete_captions(self, video_id: str, lang: str) -> None:
        """Deletes the translated captions of a language, with their files and their track of the stream. While they
        are being made, they are not deleted (409): cancel their job first.
        """
        call = Call("deleteCaptions", "DELETE", path("/v1/videos/{}/captions/{}", video_id, lang))
        await self._transport.nothing(call)

    async def get_caption_segments(self, video_id: str, lang: str) -> models.CaptionSegments:
        """Returns the translated segments, which of them are stale because the transcript has changed, and what it
        costs to bring them up to date.
        """
        call = Call("getCaptionSegments", "GET", path("/v1/videos/{}/captions/{}/segments", video_id, lang))
        return await self._transport.parsed(call, models.CaptionSegments)

    async def edit_caption_segments(
        self, video_id: str, lang: str, body: models.CaptionEdit | Mapping[str, Any]
    ) -> models.CaptionChange:
        """Applies operations to a revision, all or none, and returns the new revision. This costs no credits. If
        there is a newer revision than the given one, nothing is changed (409 `CONFLICT`): `details.revision` is the
        current one. The subtitle files follow in the background.
        """
        call = Call(
            "editCaptionSegments", "PATCH", path("/v1/videos/{}/captions/{}/segments", video_id, lang), body=body
        )
        return await self._transport.parsed(call, models.CaptionChange)

    async def regenerate_caption_segments(
        self,
        video_id: str,
        lang: str,
        body: models.Regeneration | Mapping[str, Any],
        *,
        max_credits: Credits | None = None,
        idempotency_key: str | None = None,
    ) -> models.RegenerationJob:
        """Creates a job that translates stale segments again, and takes over changed times. All other segments stay
        as they are, and so do texts that were set by hand. The price is that of the changed seconds. Without a
        changed text there is nothing to charge.
        """
        call = Call(
            "regenerateCaptionSegments",
            "POST",
            path("/v1/videos/{}/captions/{}/regenerate", video_id, lang),
            body=body,
            max_credits=max_credits,
            priced=True,
            idempotency_key=idempotency_key,
            keyed=True,
        )
        return await self._transport.parsed(call, models.RegenerationJob)

    async def import_captions(
        self,
        video_id: str,
        lang: str,
        body: models.CaptionImport | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> models.CaptionImportResult:
        """Puts translated subtitles into the segments of the transcript, by their times. The texts count as set by
        hand. Captions of this language need not exist. This costs no credits; the subtitle files follow in the
        background.
        """
        call = Call(
            "importCaptions",
            "POST",
            path("/v1/videos/{}/captions/{}/import", video_id, lang),
            body=body,
            idempotency_key=idempotency_key,
            keyed=True,
        )
        return await self._transport.parsed(call, models.CaptionImportResult)

    async def create_dubs(
        self,
        video_id: str,
        body: models.NewDubs | Mapping[str, Any],
        *,
        max_credits: Credits | None = None,
        idempotency_key: str | None = None,
    ) -> models.DubJobs:
        """Creates one job per language. Unsupported languages are rejected with the list of supported ones.
        Requesting a dub that is processing or ready returns its existing job without a charge.
        """
        call = Call(
            "createDubs",
            "POST",
            path("/v1/videos/{}/dubs", video_id),
            body=body,
            max_credits=max_credits,
            priced=True,
            idempotency_key=idempotency_key,
            keyed=True,
        )
        return await self._transport.parsed(call, models.DubJobs)

    async def list_dubs(self, video_id: str) -> models.Dubs:
        """Lists the dubs of a video, newest first."""
        call = Call("listDubs", "GET", path("/v1/videos/{}/dubs", video_id))
        return await self._transport.parsed(call, models.Dubs)

    async def get_dub(self, video_id: str, lang: str, *, product: models.DubProduct | None = None) -> models.Dub:
        """Returns a dub with its audio URL, once available, its segments and its sync report."""
        call = Call("getDub", "GET", path("/v1/videos/{}/dubs/{}", video_id, lang), query={"product": product})
        return await self._transport.parsed(call, models.Dub)

    async def delete_dub(self, video_id: str, lang: str, *, product: models.DubProduct | None = None) -> None:
        """Deletes the dubs of a language, with their files and their track of the stream. While one is being made,
        nothing is deleted (409): cancel its job first.
        """
        call = Call("deleteDub", "DELETE", path("/v1/videos/{}/dubs/{}", video_id, lang), query={"product": product})
        await self._transport.nothing(call)

    async def list_segments(
        self, video_id: str, lang: str, *, product: models.DubProduct | None = None
    ) -> models.DubSegments:
        """Returns what each line should say and what the published audio says, which lines are outdated, and what
        it costs to regenerate them.
        """
        call = Call(
            "listSegments", "GET", path("/v1/videos/{}/dubs/{}/segments", video_id, lang), query={"product": product}
        )
        return await self._transport.parsed(call, models.DubSegments)

    async def edit_segments(
        self,
        video_id: str,
        lang: str,
        body: models.DubSegmentsPatch | Mapping[str, Any],
        *,
        product: models.DubProduct | None = None,
    ) -> models.DubSegmentsChange:
        """Changes what lines say and how, all or none. It is free; the published audio follows when it is
        regenerated. If there is a newer revision than the given one, nothing is changed (409 `CONFLICT`):
        `details.revision` is the current one.
        """
        call = Call(
            "editSegments",
            "PATCH",
            path("/v1/videos/{}/dubs/{}/segments", video_id, lang),
            body=body,
            query={"product": product},
        )
        return await self._transport.parsed(call, models.DubSegmentsChange)

    async def list_segment_wordings(
        self,
        video_id: str,
        lang: str,
        segment_id: str,
        body: models.WordingsRequest | Mapping[str, Any],
        *,
        product: models.DubProduct | None = None,
        idempotency_key: str | None = None,
    ) -> models.LineWordings:
        """Returns up to three wordings that are shorter than the text and fit the time of the line. Nothing is
        changed. Fillers and redundant words are left out; names, numbers, negations and terms of the glossary stay.
        """
        call = Call(
            "listSegmentWordings",
            "POST",
            path("/v1/videos/{}/dubs/{}/segments/{}/wordings", video_id, lang, segment_id),
            body=body,
            query={"product": product},
            idempotency_key=idempotency_key,
            keyed=True,
        )
        return await self._transport.parsed(call, models.LineWordings)

    async def quote_regeneration(
        self,
        video_id: str,
        lang: str,
        body: models.DubRegenerationRequest | Mapping[str, Any],
        *,
        product: models.DubProduct | None = None,
        idempotency_key: str | None = None,
    ) -> models.LineRegenerationQuote:
        """Returns the exact price of the same request to regenerate lines. Nothing is charged."""
        call = Call(
            "quoteRegeneration",
            "POST",
            path("/v1/videos/{}/dubs/{}/regenerate/quote", video_id, lang),
            body=body,
            query={"product": product},
            idempotency_key=idempotency_key,
            keyed=True,
        )
        return await self._transport.parsed(call, models.LineRegenerationQuote)

    async def regenerate(
        self,
        video_id: str,
        lang: str,
        body: models.DubRegenerationRequest | Mapping[str, Any],
        *,
        product: models.DubProduct | None = None,
        max_credits: Credits | None = None,
        idempotency_key: str | None = None,
    ) -> models.LineRegeneration:
        """Makes outdated lines again; all others stay as they are, to the sample. Only the time of the lines that
        are spoken again is charged. The published audio stays until the new one is ready; if that fails, nothing is
        charged.
        """
        call = Call(
            "regenerate",
            "POST",
            path("/v1/videos/{}/dubs/{}/regenerate", video_id, lang),
            body=body,
            query={"product": product},
            max_credits=max_credits,
            priced=True,
            idempotency_key=idempotency_key,
            keyed=True,
        )
        return await self._transport.parsed(call, models.LineRegeneration)

    async def preview_segment(
        self,
        video_id: str,
        lang: str,
        segment_id: str,
        body: models.NewLinePreview | Mapping[str, Any],
        *,
        product: models.DubProduct | None = None,
        idempotency_key: str | None = None,
    ) -> models.LinePreview:
        """Speaks a line as it stands now, or as the body says, up to three times, and changes nothing. It is free.
        The same request returns the same takes for 24 hours.
        """
        call = Call(
            "previewSegment",
            "POST",
            path("/v1/videos/{}/dubs/{}/segments/{}/preview", video_id, lang, segment_id),
            body=body,
            query={"product": product},
            idempotency_key=idempotency_key,
            keyed=True,
        )
        return await self._transport.parsed(call, models.LinePreview)

    async def get_segment_preview(
        self, video_id: str, lang: str, segment_id: str, preview_id: str, *, product: models.DubProduct | None = None
    ) -> models.LinePreview:
        """Returns the takes once they are ready. After 24 hours the preview is not found."""
        call = Call(
            "getSegmentPreview",
            "GET",
            path("/v1/videos/{}/dubs/{}/segments/{}/preview/{}", video_id, lang, segment_id, preview_id),
            query={"product": product},
        )
        return await self._transport.parsed(call, models.LinePreview)

    async def create_download(
        self, video_id: str, body: models.NewDownload | Mapping[str, Any], *, idempotency_key: str | None = None
    ) -> models.DownloadAsked:
        """Prepares a language video, the original file, or an archive of all files. The plan determines the tier.
        Waits for a dub in progress, unless its preview is available, which could be mistaken for the finished dub.
        """
        call = Call(
            "createDownload",
            "POST",
            path("/v1/videos/{}/downloads", video_id),
            body=body,
            idempotency_key=idempotency_key,
            keyed=True,
        )
        return await self._transport.parsed(call, models.DownloadAsked)

    async def get_download(self, download_request_id: str) -> models.Download:
        """Poll until `ready` or `failed`; both return 200."""
        call = Call("getDownload", "GET", path("/v1/downloads/{}", download_request_id))
        return await self._transport.parsed(call, models.Download)

    async def delete_download(self, download_request_id: str) -> None:
        """Deletes a prepared file; the original file stays with its video. While the file is being prepared, it is
        not deleted (409): cancel its job first.
        """
        call = Call("deleteDownload", "DELETE", path("/v1/downloads/{}", download_request_id))
        await self._transport.nothing(call)

    async def get_playback(self, video_id: str) -> models.PlaybackState:
        """Returns the state of the stream, and which parts of the recording it plays; its URL is that of the video."""
        call = Call("getPlayback", "GET", path("/v1/videos/{}/playback", video_id))
        return await self._transport.parsed(call, models.PlaybackState)

    async def cut_playback(
        self, video_id: str, body: models.NewPlaybackCut | Mapping[str, Any], *, idempotency_key: str | None = None
    ) -> models.PlaybackState:
        """Packages the stream without the words that are deleted in the transcript now, or the whole recording with
        `uncut`. Picture, sound, dubs and subtitles are cut in the same places; the recording itself is not changed.
        The stream plays as it is until the new one is ready. It is free.
        """
        call = Call(
            "cutPlayback",
            "POST",
            path("/v1/videos/{}/playback", video_id),
            body=body,
            idempotency_key=idempotency_key,
            keyed=True,
        )
        return await self._transport.parsed(call, models.PlaybackState)

    async def activate_hosting(
        self,
        video_id: str,
        body: models.NewHosting | Mapping[str, Any] | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> models.Hosting:
        """Sends the source file to the hosting provider. Idempotent while in progress or active."""
        call = Call(
            "activateHosting",
            "POST",
            path("/v1/videos/{}/professional-hosting", video_id),
            body=body,
            idempotency_key=idempotency_key,
            keyed=True,
        )
        return await self._transport.parsed(call, models.Hosting)

    async def get_hosting(self, video_id: str) -> models.Hosting:
        """The hosting status, and the reason if it cannot be activated."""
        call = Call("getHosting", "GET", path("/v1/videos/{}/professional-hosting", video_id))
        return await self._transport.parsed(call, models.Hosting)

    async def create_shorts(
        self,
        video_id: str,
        body: models.NewShorts | models.NewPromo | models.NewClips | Mapping[str, Any],
        *,
        max_credits: Credits | None = None,
        idempotency_key: str | None = None,
    ) -> models.ShortsAsked:
        """`kind` selects what to make; fields of other kinds are ignored. Outputs that cannot be made are not
        charged. Each call creates a new request with its own id.
        """
        call = Call(
            "createShorts",
            "POST",
            path("/v1/videos/{}/shorts", video_id),
            body=body,
            max_credits=max_credits,
            priced=True,
            idempotency_key=idempotency_key,
            keyed=True,
        )
        return await self._transport.parsed(call, models.ShortsAsked)

    async def list_shorts(self, video_id: str) -> models.ShortsRequests:
        """Every request, newest first."""
        call = Call("listShorts", "GET", path("/v1/videos/{}/shorts", video_id))
        return await self._transport.parsed(call, models.ShortsRequests)

    async def get_shorts(self, shorts_request_id: str) -> models.ShortsRequest:
        """At most five outputs, the best first. Poll until `complete`, `partial_failed` or a 422. A failed request
        returns 422 with the job's error, and the request itself in `details.request`.
        """
        call = Call("getShorts", "GET", path("/v1/shorts/{}", shorts_request_id))
        return await self._transport.parsed(call, models.ShortsRequest)

    async def delete_shorts(self, shorts_request_id: str) -> None:
        """Deletes a request with all of its outputs and their files. While they are being made, nothing is deleted
        (409): cancel their job first.
        """
        call = Call("deleteShorts", "DELETE", path("/v1/shorts/{}", shorts_request_id))
        await self._transport.nothing(call)

    async def delete_shorts_output(self, shorts_request_id: str, output_id: str) -> None:
        """Deletes one output of a request and its files; the others stay. While outputs of the request are being
        made, none is deleted (409): cancel their job first.
        """
        call = Call("deleteShortsOutput", "DELETE", path("/v1/shorts/{}/outputs/{}", shorts_request_id, output_id))
        await self._transport.nothing(call)

    async def create_thumbnail(
        self,
        video_id: str,
        body: models.NewThumbnail | Mapping[str, Any],
        *,
        max_credits: Credits | None = None,
        idempotency_key: str | None = None,
    ) -> models.DetectionQueued:
        """From a prompt, or from the transcript and frames of the video. Three candidates are rendered. Detection
        flags are for zero-prompt thumbnails only; such requests return 202 and a packaging job.
        """
        call = Call(
            "createThumbnail",
            "POST",
            path("/v1/videos/{}/thumbnails", video_id),
            body=body,
            max_credits=max_credits,
            priced=True,
            idempotency_key=idempotency_key,
            keyed=True,
        )
        return await self._transport.parsed(call, models.DetectionQueued)

    async def list_thumbnails(self, video_id: str) -> models.ThumbnailRequestList:
        """The 50 most recent requests, newest first."""
        call = Call("listThumbnails", "GET", path("/v1/videos/{}/thumbnails", video_id))
        return await self._transport.parsed(call, models.ThumbnailRequestList)

    async def get_thumbnail(self, thumbnail_request_id: str) -> models.ThumbnailRequest:
        """Images appear as they are rendered, best first; translations come last."""
        call = Call("getThumbnail", "GET", path("/v1/thumbnails/{}", thumbnail_request_id))
        return await self._transport.parsed(call, models.ThumbnailRequest)

    async def delete_thumbnail(self, thumbnail_request_id: str) -> None:
        """Deletes a request with all of its images; if one is the video's thumbnail, the frame that the import
        chose becomes it again. While images are being made, nothing is deleted (409): cancel their job first.
        """
        call = Call("deleteThumbnail", "DELETE", path("/v1/thumbnails/{}", thumbnail_request_id))
        await self._transport.nothing(call)

    async def delete_thumbnail_image(self, thumbnail_request_id: str, thumbnail_id: str) -> None:
        """Deletes one image of a request; if it is the video's thumbnail, the frame that the import chose becomes
        it again. While images of the request are being made, none is deleted (409): cancel their job first.
        """
        call = Call(
            "deleteThumbnailImage", "DELETE", path("/v1/thumbnails/{}/images/{}", thumbnail_request_id, thumbnail_id)
        )
        await self._transport.nothing(call)

    async def create_packaging(
        self,
        video_id: str,
        body: models.NewPackaging | Mapping[str, Any],
        *,
        max_credits: Credits | None = None,
        idempotency_key: str | None = None,
    ) -> models.PackagingCreated:
        """Each automation has one run per video. Pending runs are reported and not started again. Finished runs
        start again with `overwriteMode` `always`; failed and skipped runs always do.
        """
        call = Call(
            "createPackaging",
            "POST",
            path("/v1/videos/{}/packaging", video_id),
            body=body,
            max_credits=max_credits,
            priced=True,
            idempotency_key=idempotency_key,
            keyed=True,
        )
        return await self._transport.parsed(call, models.PackagingCreated)

    async def get_packaging(self, video_id: str) -> models.PackagingState:
        """All runs, and the current title, description and thumbnail."""
        call = Call("getPackaging", "GET", path("/v1/videos/{}/packaging", video_id))
        return await self._transport.parsed(call, models.PackagingState)

    async def review_packaging(
        self, video_id: str, body: models.ReviewDecision | Mapping[str, Any], *, idempotency_key: str | None = None
    ) -> models.PackagingState:
        """For thumbnails in approval mode `review`, which are not rendered before this call. A rejection ends the
        run and refunds its credits.
        """
        call = Call(
            "reviewPackaging",
            "POST",
            path("/v1/videos/{}/packaging/review", video_id),
            body=body,
            idempotency_key=idempotency_key,
            keyed=True,
        )
        return await self._transport.parsed(call, models.PackagingState)

    async def add_voice(self, body: dict[str, Any] | Mapping[str, Any]) -> models.AddedVoice:
        """Creates a voice clone from recordings of one speaker, or from the URL of a recording. Cloning is free. By
        calling this, you confirm that the speaker has given consent; the user, time and API key are recorded.
        """
        call = Call("addVoice", "POST", "/v1/voices/add", body=body)
        return await self._transport.parsed(call, models.AddedVoice)

    async def list_voices(self, *, status: Literal["ready"] | None = None) -> models.Voices:
        """Lists up to 100 clones of the library, newest first, in any status unless filtered."""
        call = Call("listVoices", "GET", "/v1/voices", query={"status": status})
        return await self._transport.parsed(call, models.Voices)

    async def get_voice(self, voice_id: str) -> models.Voice:
        """Returns a voice. Poll a new clone until its `status` is `ready` or `failed`. Stock voices have no `ETag`."""
        call = Call("getVoice", "GET", path("/v1/voices/{}", voice_id))
        return await self._transport.parsed(call, models.Voice)

    async def update_voice(
        self, voice_id: str, body: models.VoicePatch | Mapping[str, Any], *, if_match: str | None = None
    ) -> models.Voice:
        """Changes the name, description or labels of a clone. Fields that are not sent stay; null clears the last
        two.
        """
        call = Call("updateVoice", "PATCH", path("/v1/voices/{}", voice_id), body=body, headers={"If-Match": if_match})
        return await self._transport.parsed(call, models.Voice)

    async def delete_voice(self, voice_id: str, *, if_match: str | None = None) -> None:
        """Deletes a clone immediately; its samples are removed after a week."""
        call = Call("deleteVoice", "DELETE", path("/v1/voices/{}", voice_id), headers={"If-Match": if_match})
        await self._transport.nothing(call)

    async def list_models(self) -> list[models.SpeechModel]:
        """Lists the speech model and the languages of its voices."""
        call = Call("listModels", "GET", "/v1/models")
        return await self._transport.parsed(call, list[models.SpeechModel])

    async def speak(
        self,
        voice_id: str,
        body: models.NewSpeech | Mapping[str, Any],
        *,
        output_format: str | None = None,
        max_credits: Credits | None = None,
    ) -> bytes:
        """Synthesizes a text for one credit, refunded if the synthesis fails. Long texts are streamed. An identical
        request within a day returns the same audio without a charge.
        """
        call = Call(
            "speak",
            "POST",
            path("/v1/text-to-speech/{}", voice_id),
            body=body,
            query={"output_format": output_format},
            max_credits=max_credits,
            priced=True,
        )
        return await self._transport.content(call)

    def stream_speech(
        self,
        voice_id: str,
        body: models.NewSpeech | Mapping[str, Any],
        *,
        output_format: str | None = None,
        max_credits: Credits | None = None,
    ) -> AsyncIterator[bytes]:
        """Synthesizes a text and streams the audio from the first passage."""
        call = Call(
            "stream",
            "POST",
            path("/v1/text-to-speech/{}/stream", voice_id),
            body=body,
            query={"output_format": output_format},
            max_credits=max_credits,
            priced=True,
        )
        return self._transport.chunks(call)

    async def search_voices(
        self,
        *,
        page_size: int | None = None,
        search: str | None = None,
        category: str | None = None,
        next_page_token: str | None = None,
    ) -> models.FoundVoices:
        """Searches clones and stock voices."""
        call = Call(
            "searchVoices",
            "GET",
            "/v2/voices",
            query={"page_size": page_size, "search": search, "category": category, "next_page_token": next_page_token},
        )
        return await self._transport.parsed(call, models.FoundVoices)

    async def quote_credits(
        self, video_id: str, body: models.CreditBundle | Mapping[str, Any], *, idempotency_key: str | None = None
    ) -> models.Quote:
        """Returns the exact price of a bundle for this video. Nothing is charged; an empty bundle costs nothing. A
        quote is refused for the same reasons as the products it prices, such as a language that cannot be made.
        """
        call = Call(
            "quote",
            "POST",
            path("/v1/videos/{}/quote", video_id),
            body=body,
            idempotency_key=idempotency_key,
            keyed=True,
        )
        return await self._transport.parsed(call, models.Quote)

    async def reserve_credits(
        self,
        video_id: str,
        body: models.CreditBundle | Mapping[str, Any],
        *,
        max_credits: Credits | None = None,
        idempotency_key: str | None = None,
    ) -> models.Reservation:
        """Holds the price of a bundle in escrow for requests made within 24 hours. Pass `reservationId`, or a line
        item for each language, when you request the products. Unused credits return to the balance automatically.
        """
        call = Call(
            "reserve",
            "POST",
            path("/v1/videos/{}/reservations", video_id),
            body=body,
            max_credits=max_credits,
            priced=True,
            idempotency_key=idempotency_key,
            keyed=True,
        )
        return await self._transport.parsed(call, models.Reservation)

    async def list_glossary_terms(
        self,
        *,
        limit: int | None = None,
        page_token: str | None = None,
        language: str | None = None,
        folder_id: str | None = None,
    ) -> models.GlossaryPage:
        """Returns the terms of the library, newest first. Results are paginated."""
        call = Call(
            "listGlossaryTerms",
            "GET",
            "/v1/glossary/terms",
            query={"limit": limit, "pageToken": page_token, "language": language, "folderId": folder_id},
        )
        return await self._transport.parsed(call, models.GlossaryPage)

    async def create_glossary_term(
        self, body: models.NewGlossaryTerm | Mapping[str, Any], *, idempotency_key: str | None = None
    ) -> models.GlossaryTerm:
        """Adds a term to the glossary. Captions and dubs that are made from now on use it. A library has at most
        2,000 terms. A term with the same text, language and folder exists once.
        """
        call = Call(
            "createGlossaryTerm", "POST", "/v1/glossary/terms", body=body, idempotency_key=idempotency_key, keyed=True
        )
        return await self._transport.parsed(call, models.GlossaryTerm)

    async def get_glossary_term(self, term_id: str) -> models.GlossaryTerm:
        """Retrieves a term."""
        call = Call("getGlossaryTerm", "GET", path("/v1/glossary/terms/{}", term_id))
        return await self._transport.parsed(call, models.GlossaryTerm)

    async def update_glossary_term(
        self, term_id: str, body: models.GlossaryTermPatch | Mapping[str, Any], *, if_match: str | None = None
    ) -> models.GlossaryTerm:
        """Changes a term. Fields that are not sent stay. Captions and dubs that were made with it stay as they are."""
        call = Call(
            "updateGlossaryTerm",
            "PATCH",
            path("/v1/glossary/terms/{}", term_id),
            body=body,
            headers={"If-Match": if_match},
        )
        return await self._transport.parsed(call, models.GlossaryTerm)

    async def delete_glossary_term(self, term_id: str, *, if_match: str | None = None) -> None:
        """Deletes a term. Captions and dubs that were made with it stay as they are."""
        call = Call(
            "deleteGlossaryTerm", "DELETE", path("/v1/glossary/terms/{}", term_id), headers={"If-Match": if_match}
        )
        await self._transport.nothing(call)

    async def import_glossary(
        self, body: models.GlossaryImport | Mapping[str, Any], *, idempotency_key: str | None = None
    ) -> models.GlossaryImported:
        """Adds the terms of a CSV file, and replaces those with the same text, language and folder. All rows, or
        none. The columns are those of the export. An error names the line.
        """
        call = Call(
            "importGlossary", "POST", "/v1/glossary/import", body=body, idempotency_key=idempotency_key, keyed=True
        )
        return await self._transport.parsed(call, models.GlossaryImported)

    async def export_glossary(self) -> str:
        """Streams the glossary as a CSV file, which can be imported again. Cells that a spreadsheet would run as a
        formula start with an apostrophe.
        """
        call = Call("exportGlossary", "GET", "/v1/glossary/export")
        return await self._transport.text(call)

    async def list_review_links(self, video_id: str) -> models.ReviewLinks:
        """Returns the links of the video that work now, without their URLs."""
        call = Call("listReviewLinks", "GET", path("/v1/videos/{}/review-links", video_id))
        return await self._transport.parsed(call, models.ReviewLinks)

    async def create_review_link(
        self, video_id: str, body: models.NewReviewLink | Mapping[str, Any], *, idempotency_key: str | None = None
    ) -> models.CreatedReviewLink:
        """Creates a link for reviewers who have no account. Its URL is returned only once. The link opens the
        studio page of this video and nothing else, until it expires or is revoked, or until the user who created it
        leaves the library. A video has at most 50 active links.
        """
        call = Call(
            "createReviewLink",
            "POST",
            path("/v1/videos/{}/review-links", video_id),
            body=body,
            idempotency_key=idempotency_key,
            keyed=True,
        )
        return await self._transport.parsed(call, models.CreatedReviewLink)

    async def revoke_review_link(self, video_id: str, link_id: str) -> None:
        """Revokes a link. Everyone who has opened it loses access at once; their comments stay."""
        call = Call("revokeReviewLink", "DELETE", path("/v1/videos/{}/review-links/{}", video_id, link_id))
        await self._transport.nothing(call)

    async def list_review_comments(
        self, video_id: str, *, limit: int | None = None, page_token: str | None = None
    ) -> models.ReviewCommentPage:
        """Returns the comments of a video, newest first. Results are paginated."""
        call = Call(
            "listReviewComments",
            "GET",
            path("/v1/videos/{}/comments", video_id),
            query={"limit": limit, "pageToken": page_token},
        )
        return await self._transport.parsed(call, models.ReviewCommentPage)

    async def create_review_comment(
        self, video_id: str, body: models.NewReviewComment | Mapping[str, Any], *, idempotency_key: str | None = None
    ) -> models.ReviewComment:
        """Adds a comment at a time of the video. A video has at most 5,000 comments."""
        call = Call(
            "createReviewComment",
            "POST",
            path("/v1/videos/{}/comments", video_id),
            body=body,
            idempotency_key=idempotency_key,
            keyed=True,
        )
        return await self._transport.parsed(call, models.ReviewComment)

    async def get_review_comment(self, video_id: str, comment_id: str) -> models.ReviewComment:
        """Retrieves a comment."""
        call = Call("getReviewComment", "GET", path("/v1/videos/{}/comments/{}", video_id, comment_id))
        return await self._transport.parsed(call, models.ReviewComment)

    async def update_review_comment(
        self,
        video_id: str,
        comment_id: str,
        body: models.ReviewCommentPatch | Mapping[str, Any],
        *,
        if_match: str | None = None,
    ) -> models.ReviewComment:
        """Changes the text of a comment, which only its author can, or whether it is resolved."""
        call = Call(
            "updateReviewComment",
            "PATCH",
            path("/v1/videos/{}/comments/{}", video_id, comment_id),
            body=body,
            headers={"If-Match": if_match},
        )
        return await self._transport.parsed(call, models.ReviewComment)

    async def delete_review_comment(self, video_id: str, comment_id: str, *, if_match: str | None = None) -> None:
        """Deletes a comment."""
        call = Call(
            "deleteReviewComment",
            "DELETE",
            path("/v1/videos/{}/comments/{}", video_id, comment_id),
            headers={"If-Match": if_match},
        )
        await self._transport.nothing(call)

    async def list_cast_members(
        self, *, limit: int | None = None, page_token: str | None = None, folder_id: str | None = None
    ) -> models.CastMemberPage:
        """Returns the members of the library's cast, newest first. Results are paginated."""
        call = Call(
            "listCastMembers",
            "GET",
            "/v1/cast/members",
            query={"limit": limit, "pageToken": page_token, "folderId": folder_id},
        )
        return await self._transport.parsed(call, models.CastMemberPage)

    async def create_cast_member(
        self, body: models.NewCastMember | Mapping[str, Any], *, idempotency_key: str | None = None
    ) -> models.CastMember:
        """Adds a person to the cast. A cast has at most 200 members. The member is recognized in new transcripts
        once a speaker has been confirmed to be this person.
        """
        call = Call(
            "createCastMember", "POST", "/v1/cast/members", body=body, idempotency_key=idempotency_key, keyed=True
        )
        return await self._transport.parsed(call, models.CastMember)

    async def get_cast_member(self, member_id: str) -> models.CastMember:
        """Retrieves a member of the cast."""
        call = Call("getCastMember", "GET", path("/v1/cast/members/{}", member_id))
        return await self._transport.parsed(call, models.CastMember)

    async def update_cast_member(
        self, member_id: str, body: models.CastMemberPatch | Mapping[str, Any], *, if_match: str | None = None
    ) -> models.CastMember:
        """Changes a member. Fields that are not sent stay. Existing transcripts and dubs stay as they are."""
        call = Call(
            "updateCastMember",
            "PATCH",
            path("/v1/cast/members/{}", member_id),
            body=body,
            headers={"If-Match": if_match},
        )
        return await self._transport.parsed(call, models.CastMember)

    async def delete_cast_member(self, member_id: str, *, if_match: str | None = None) -> None:
        """Deletes a member, and erases the voice prints. Names of speakers in existing transcripts stay."""
        call = Call(
            "deleteCastMember", "DELETE", path("/v1/cast/members/{}", member_id), headers={"If-Match": if_match}
        )
        await self._transport.nothing(call)

    async def list_cast_appearances(
        self, member_id: str, *, limit: int | None = None, page_token: str | None = None
    ) -> models.CastAppearancePage:
        """Returns the speakers of videos who are this member, newest first. Results are paginated."""
        call = Call(
            "listCastAppearances",
            "GET",
            path("/v1/cast/members/{}/appearances", member_id),
            query={"limit": limit, "pageToken": page_token},
        )
        return await self._transport.parsed(call, models.CastAppearancePage)

    async def get_cast_recognition(self) -> models.CastRecognitionState:
        """Returns where speakers are recognized by their voices: nowhere by default."""
        call = Call("getCastRecognition", "GET", "/v1/cast/recognition")
        return await self._transport.parsed(call, models.CastRecognitionState)

    async def set_cast_recognition(
        self, body: models.CastRecognition | Mapping[str, Any]
    ) -> models.CastRecognitionState:
        """Sets where speakers are recognized by their voices, which are biometric data. For owners and admins.
        Voice prints of videos in which speakers are no longer recognized are erased at once.
        """
        call = Call("setCastRecognition", "PUT", "/v1/cast/recognition", body=body)
        return await self._transport.parsed(call, models.CastRecognitionState)

    async def list_webhook_endpoints(self) -> models.WebhookEndpointList:
        """Returns the webhook endpoints of the library, newest first."""
        call = Call("listWebhookEndpoints", "GET", "/v1/webhook-endpoints")
        return await self._transport.parsed(call, models.WebhookEndpointList)

    async def create_webhook_endpoint(
        self, body: models.NewWebhookEndpoint | Mapping[str, Any], *, idempotency_key: str | None = None
    ) -> models.CreatedWebhookEndpoint:
        """Registers a public HTTPS endpoint for events. The signing secret is returned only in this response."""
        call = Call(
            "createWebhookEndpoint",
            "POST",
            "/v1/webhook-endpoints",
            body=body,
            idempotency_key=idempotency_key,
            keyed=True,
        )
        return await self._transport.parsed(call, models.CreatedWebhookEndpoint)

    async def get_webhook_endpoint(self, endpoint_id: str) -> models.WebhookEndpoint:
        """Retrieves a webhook endpoint, without its signing secret."""
        call = Call("getWebhookEndpoint", "GET", path("/v1/webhook-endpoints/{}", endpoint_id))
        return await self._transport.parsed(call, models.WebhookEndpoint)

    async def update_webhook_endpoint(
        self, endpoint_id: str, body: models.WebhookEndpointPatch | Mapping[str, Any], *, if_match: str | None = None
    ) -> models.WebhookEndpoint:
        """Changes the URL or event types, or enables or disables the endpoint. The signing secret stays the same."""
        call = Call(
            "updateWebhookEndpoint",
            "PATCH",
            path("/v1/webhook-endpoints/{}", endpoint_id),
            body=body,
            headers={"If-Match": if_match},
        )
        return await self._transport.parsed(call, models.WebhookEndpoint)

    async def delete_webhook_endpoint(self, endpoint_id: str, *, if_match: str | None = None) -> None:
        """Deletes a webhook endpoint. No further events are sent to it."""
        call = Call(
            "deleteWebhookEndpoint",
            "DELETE",
            path("/v1/webhook-endpoints/{}", endpoint_id),
            headers={"If-Match": if_match},
        )
        await self._transport.nothing(call)

    async def rotate_webhook_secret(
        self, endpoint_id: str, body: models.SecretRotation | Mapping[str, Any], *, idempotency_key: str | None = None
    ) -> models.RotatedWebhookSecret:
        """Returns a new signing secret, only in this response. Until the overlap ends, deliveries carry two
        signatures. While an overlap lasts, the secret can only be replaced with `overlapHours` 0, which ends all
        earlier secrets.
        """
        call = Call(
            "rotateWebhookSecret",
            "POST",
            path("/v1/webhook-endpoints/{}/rotate-secret", endpoint_id),
            body=body,
            idempotency_key=idempotency_key,
            keyed=True,
        )
        return await self._transport.parsed(call, models.RotatedWebhookSecret)

    async def list_webhook_deliveries(
        self,
        endpoint_id: str,
        *,
        status: models.DeliveryState | None = None,
        limit: int | None = None,
        page_token: str | None = None,
    ) -> models.WebhookDeliveryPage:
        """Returns what was sent to an endpoint in the last 30 days, newest event first."""
        call = Call(
            "listWebhookDeliveries",
            "GET",
            path("/v1/webhook-endpoints/{}/deliveries", endpoint_id),
            query={"status": status, "limit": limit, "pageToken": page_token},
        )
        return await self._transport.parsed(call, models.WebhookDeliveryPage)

    async def get_webhook_delivery(self, endpoint_id: str, event_id: str) -> models.WebhookDelivery:
        """Retrieves a delivery with its body, and with the request, response and duration of each attempt."""
        call = Call("getWebhookDelivery", "GET", path("/v1/webhook-endpoints/{}/deliveries/{}", endpoint_id, event_id))
        return await self._transport.parsed(call, models.WebhookDelivery)

    async def redeliver_webhook_event(
        self, endpoint_id: str, event_id: str, *, idempotency_key: str | None = None
    ) -> models.WebhookDelivery:
        """Sends an event again, with the same `webhook-id` and body, and with all retries. Any event of the last 30
        days can be sent, including those that the endpoint was not registered for at the time.
        """
        call = Call(
            "redeliverWebhookEvent",
            "POST",
            path("/v1/webhook-endpoints/{}/deliveries/{}/redeliver", endpoint_id, event_id),
            idempotency_key=idempotency_key,
            keyed=True,
        )
        return await self._transport.parsed(call, models.WebhookDelivery)

    async def recover_webhook_deliveries(
        self, endpoint_id: str, body: models.DeliveryRecovery | Mapping[str, Any], *, idempotency_key: str | None = None
    ) -> models.RecoveredDeliveries:
        """Sends every event since a time again whose delivery has failed, oldest first, up to 1,000 in one request."""
        call = Call(
            "recoverWebhookDeliveries",
            "POST",
            path("/v1/webhook-endpoints/{}/recover", endpoint_id),
            body=body,
            idempotency_key=idempotency_key,
            keyed=True,
        )
        return await self._transport.parsed(call, models.RecoveredDeliveries)

    async def send_test_webhook(
        self, endpoint_id: str, *, idempotency_key: str | None = None
    ) -> models.WebhookDelivery:
        """Sends an event of type `endpoint.test` to this endpoint only, once. It is signed like any other."""
        call = Call(
            "sendTestWebhook",
            "POST",
            path("/v1/webhook-endpoints/{}/test", endpoint_id),
            idempotency_key=idempotency_key,
            keyed=True,
        )
        return await self._transport.parsed(call, models.WebhookDelivery)

    async def list_events(
        self, *, after: str | None = None, types: str | None = None, limit: int | None = None, wait: int | None = None
    ) -> models.EventPage:
        """Returns the events of the library, oldest first: without a cursor, from the oldest that is kept. Events
        are kept for 30 days. A later page never has an event that belongs before an earlier one. A cursor whose
        next events have been deleted is 410 `GONE`. A request that waits does not count as a concurrent request.
        """
        call = Call(
            "listEvents", "GET", "/v1/events", query={"after": after, "types": types, "limit": limit, "wait": wait}
        )
        return await self._transport.parsed(call, models.EventPage)

    def stream_events(
        self, *, after: str | None = None, types: str | None = None, last_event_id: str | None = None
    ) -> AsyncIterator[ServerEvent]:
        """Sends events as they happen, and those after the cursor first; without one, from now on. The progress of
        running jobs is sent too, as events of the type `job.progress` that have no id and are not kept. The
        connection ends after 15 minutes; connect again with the last id that you received.
        """
        call = Call(
            "streamEvents",
            "GET",
            "/v1/events/stream",
            query={"after": after, "types": types},
            headers={"Last-Event-ID": last_event_id},
        )
        return self._transport.events(call)

    async def restore_video(self, video_id: str, *, idempotency_key: str | None = None) -> models.Video:
        """Takes a video out of the trash, with everything made from it. Canceled jobs stay canceled and can be
        retried.
        """
        call = Call(
            "restoreVideo", "POST", path("/v1/videos/{}/restore", video_id), idempotency_key=idempotency_key, keyed=True
        )
        return await self._transport.parsed(call, models.Video)

    async def list_trash(self, *, limit: int | None = None, page_token: str | None = None) -> models.TrashPage:
        """Returns the videos in the trash, newest video first, with the time at which each is removed for good."""
        call = Call("listTrash", "GET", "/v1/trash", query={"limit": limit, "pageToken": page_token})
        return await self._transport.parsed(call, models.TrashPage)

    async def get_retention(self) -> models.RetentionPolicy:
        """Returns how long the library keeps originals, intermediates and outputs."""
        call = Call("getRetention", "GET", "/v1/library/retention")
        return await self._transport.parsed(call, models.RetentionPolicy)

    async def update_retention(
        self, body: models.RetentionPolicyPatch | Mapping[str, Any], *, if_match: str | None = None
    ) -> models.RetentionPolicy:
        """Changes how long the library keeps what it stores. Fields that are not sent stay; null keeps a kind for
        ever. Only owners and admins can change it. The next daily run applies it; preview it first.
        """
        call = Call("updateRetention", "PATCH", "/v1/library/retention", body=body, headers={"If-Match": if_match})
        return await self._transport.parsed(call, models.RetentionPolicy)

    async def preview_retention(
        self,
        *,
        originals_days: int | None = None,
        intermediates_days: int | None = None,
        outputs_days: int | None = None,
    ) -> models.RetentionPreview:
        """Returns what the policy, or the times given here, would delete now, without deleting anything. It is
        computed from the last daily scan. Videos in the trash are left out.
        """
        call = Call(
            "previewRetention",
            "GET",
            "/v1/library/retention/preview",
            query={
                "originalsDays": originals_days,
                "intermediatesDays": intermediates_days,
                "outputsDays": outputs_days,
            },
        )
        return await self._transport.parsed(call, models.RetentionPreview)

    async def get_retention_report(self) -> models.RetentionReport:
        """Returns what the last daily run that deleted something has deleted."""
        call = Call("getRetentionReport", "GET", "/v1/library/retention/report")
        return await self._transport.parsed(call, models.RetentionReport)

    async def create_library_export(self, *, idempotency_key: str | None = None) -> models.LibraryExport:
        """Starts an export of the whole library into one ZIP archive: media, products, transcripts, receipts and
        settings. The archive has a manifest with the checksum of every file. Poll the export until it is `ready` or
        `failed`. A library has one unfinished export at a time: another request returns 409 with its id. For owners
        and admins.
        """
        call = Call("createLibraryExport", "POST", "/v1/library/exports", idempotency_key=idempotency_key, keyed=True)
        return await self._transport.parsed(call, models.LibraryExport)

    async def list_library_exports(self) -> models.LibraryExportList:
        """Returns up to 50 exports of the library, newest first. For owners and admins."""
        call = Call("listLibraryExports", "GET", "/v1/library/exports")
        return await self._transport.parsed(call, models.LibraryExportList)

    async def get_library_export(self, export_id: str) -> models.LibraryExport:
        """Returns an export, with a URL of its archive once it is ready. For owners and admins."""
        call = Call("getLibraryExport", "GET", path("/v1/library/exports/{}", export_id))
        return await self._transport.parsed(call, models.LibraryExport)

    async def delete_library_export(self, export_id: str) -> None:
        """Removes an export and its archive, and stops the work of an unfinished one. For owners and admins."""
        call = Call("deleteLibraryExport", "DELETE", path("/v1/library/exports/{}", export_id))
        await self._transport.nothing(call)

    async def get_destination(self) -> models.Destination:
        """Returns the bucket that outputs are copied to, without its secret access key. For owners and admins."""
        call = Call("getDestination", "GET", "/v1/library/destination")
        return await self._transport.parsed(call, models.Destination)

    async def set_destination(
        self, body: models.DestinationSettings | Mapping[str, Any], *, if_match: str | None = None
    ) -> models.Destination:
        """Sets the S3-compatible bucket that the files of every job are copied to when the job is ready. If it is
        enabled, a small object is written and deleted first; if that fails, nothing changes and the response is 409
        with the store's code in `details.storeCode`. For owners and admins.
        """
        call = Call("setDestination", "PUT", "/v1/library/destination", body=body, headers={"If-Match": if_match})
        return await self._transport.parsed(call, models.Destination)

    async def delete_destination(self, *, if_match: str | None = None) -> None:
        """Forgets the bucket and its access key. What was copied to it stays there. For owners and admins."""
        call = Call("deleteDestination", "DELETE", "/v1/library/destination", headers={"If-Match": if_match})
        await self._transport.nothing(call)

    async def list_output_copies(
        self, *, status: models.CopyStatus | None = None, limit: int | None = None, page_token: str | None = None
    ) -> models.OutputCopyPage:
        """Returns the copies of jobs in the destination bucket, newest first. For owners and admins."""
        call = Call(
            "listOutputCopies",
            "GET",
            "/v1/library/destination/copies",
            query={"status": status, "limit": limit, "pageToken": page_token},
        )
        return await self._transport.parsed(call, models.OutputCopyPage)

    async def retry_output_copy(self, copy_id: str, *, idempotency_key: str | None = None) -> models.OutputCopy:
        """Copies the files of a job again that are missing in the bucket or have changed. A pending copy returns
        409. For owners and admins.
        """
        call = Call(
            "retryOutputCopy",
            "POST",
            path("/v1/library/destination/copies/{}/retry", copy_id),
            idempotency_key=idempotency_key,
            keyed=True,
        )
        return await self._transport.parsed(call, models.OutputCopy)

    async def erase_library(self, *, confirm: str) -> models.Erasure:
        """Destroys the library with everything in it, which cannot be undone; for its owners only. Keys, tokens and
        sessions stop working at once, and unfinished jobs are canceled. A personal library takes the account with
        it, unless the account is the only owner of a workspace (409).
        """
        call = Call("eraseLibrary", "DELETE", "/v1/library", query={"confirm": confirm})
        return await self._transport.parsed(call, models.Erasure)

    async def get_library(self) -> models.LibrarySummary:
        """Returns the library that the API key is bound to: its plan and limits, and its use of storage and
        credits.
        """
        call = Call("getLibrary", "GET", "/v1/library")
        return await self._transport.parsed(call, models.LibrarySummary)

    async def get_stale_products(self, video_id: str) -> models.StaleProductList:
        """Returns what was made of the video before its transcript was edited and would be different now, why, and
        what it costs to make it again. Captions and dubs are listed with their own reasons, which their segments
        have in detail.
        """
        call = Call("getStaleProducts", "GET", path("/v1/videos/{}/stale-products", video_id))
        return await self._transport.parsed(call, models.StaleProductList)

    async def list_audit_log(
        self,
        *,
        action: str | None = None,
        actor: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int | None = None,
        page_token: str | None = None,
    ) -> models.AuditLogPage:
        """Returns who changed what in the library, newest first. For owners and admins."""
        call = Call(
            "listAuditLog",
            "GET",
            "/v1/audit-log",
            query={
                "action": action,
                "actor": actor,
                "since": since,
                "until": until,
                "limit": limit,
                "pageToken": page_token,
            },
        )
        return await self._transport.parsed(call, models.AuditLogPage)

    async def export_audit_log(
        self,
        *,
        action: str | None = None,
        actor: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> str:
        """Streams the audit log as JSON Lines, oldest first. For owners and admins."""
        call = Call(
            "exportAuditLog",
            "GET",
            "/v1/audit-log/export",
            query={"action": action, "actor": actor, "since": since, "until": until},
        )
        return await self._transport.text(call)

    async def get_capabilities(self) -> models.Capabilities:
        """Returns the languages, language pairs, voices, models, limits and products that the caller can use now.
        Quotes and product requests are validated against the same data: a pair that is listed can be requested. It
        changes as workers start and stop.
        """
        call = Call("getCapabilities", "GET", "/v1/capabilities")
        return await self._transport.parsed(call, models.Capabilities)

    async def get_health(self) -> models.Health:
        """Returns whether the service is up. Needs no API key, so that load balancers can call it."""
        call = Call("getHealth", "GET", "/v1/health")
        return await self._transport.parsed(call, models.Health)
