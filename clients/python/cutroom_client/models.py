"""Requests and responses of the API, generated from its OpenAPI document by `just clients`. Do not edit."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, TypeAlias

from cutroom_client.model import Model, SnakeModel

Action: TypeAlias = (
    Literal[
        "dub",
        "captions",
        "transcript",
        "zero-prompt-thumbnail",
        "thumbnail-translate",
        "content-moment-detect",
        "lipsync",
        "shorts-clip",
        "promo",
        "longclip",
        "speech",
        "prompt-thumbnail",
    ]
    | str
)


ApprovalMode: TypeAlias = Literal["auto", "review"] | str


Artifact: TypeAlias = Literal["language_video", "source", "bundle"] | str


AspectRatio: TypeAlias = Literal["9:16", "16:9", "1:1"] | str


AutomationType: TypeAlias = Literal["generateTitle", "generateDescription", "zeroPromptThumbnail"] | str


CaptionPosition: TypeAlias = Literal["top", "middle", "bottom"] | str


CaptionStyle: TypeAlias = (
    Literal["default", "karaoke", "modern", "impact", "subtle", "highlight", "pro_highlight"] | str
)


CopyStatus: TypeAlias = Literal["pending", "copied", "failed"] | str


DeliveryOutcome: TypeAlias = Literal["delivered", "refused", "gone", "unreachable", "withdrawn"] | str


DeliveryState: TypeAlias = Literal["pending", "delivered", "failed"] | str


DescriptionKind: TypeAlias = (
    Literal["youtube-description", "social-post", "how-to-guide", "blog-post", "video-summary"] | str
)


DubProduct: TypeAlias = Literal["plus", "premium"] | str


EditorFormat: TypeAlias = Literal["edl", "fcpxml", "otio"] | str


GuestRole: TypeAlias = Literal["view", "comment", "edit"] | str


ImportFormat: TypeAlias = Literal["srt", "vtt", "ttml", "text"] | str


JobState: TypeAlias = Literal["queued", "processing", "ready", "failed"] | str


JobType: TypeAlias = (
    Literal["import", "transcript", "dub", "captions", "shorts", "thumbnail", "packaging", "download"] | str
)


LineStaleReason: TypeAlias = Literal["edited", "sourceChanged", "added", "removed"] | str


OverwriteMode: TypeAlias = Literal["fill-if-empty", "always", "never"] | str


Pipeline: TypeAlias = Literal["thumbnail-v2", "thumbnail-precision"] | str


PlanName: TypeAlias = Literal["free", "creator", "pro", "business"] | str


PrincipalKind: TypeAlias = Literal["key", "token", "person", "guest", "system"] | str


Provider: TypeAlias = Literal["shaka", "mux"] | str


Quality: TypeAlias = Literal["publishable", "review", "draft"] | str


RevisionKind: TypeAlias = Literal["recognition", "edit", "undo", "redo", "restore"] | str


ScriptStaleReason: TypeAlias = Literal["sourceChanged", "added", "removed"] | str


ShortsKind: TypeAlias = Literal["shorts", "promo", "clips"] | str


StaleKind: TypeAlias = (
    Literal["playback", "captions", "dub", "short", "promo", "clip", "title", "description", "thumbnail", "download"]
    | str
)


StaleReason: TypeAlias = Literal["sourceChanged", "timesChanged", "speakerChanged", "added", "removed"] | str


SubtitleFormat: TypeAlias = Literal["srt", "vtt", "ttml"] | str


SuggestionKind: TypeAlias = Literal["filler", "repeat"] | str


TakeVariation: TypeAlias = Literal["none", "sampling", "pace"] | str


ThumbnailMode: TypeAlias = Literal["prompt", "zero_prompt"] | str


Tier: TypeAlias = Literal["full", "sample"] | str


TimelineKind: TypeAlias = (
    Literal[
        "requested",
        "creditsHeld",
        "queued",
        "started",
        "step",
        "ready",
        "failed",
        "canceled",
        "creditsCharged",
        "creditsReturned",
        "delivery",
        "outputDeleted",
    ]
    | str
)


TitleStyle: TypeAlias = Literal["funny", "scary", "informational", "mysterious", "clickbait"] | str


TranslationSource: TypeAlias = Literal["machine", "captions"] | str


class AcceptOperation(Model):
    """Says that texts are right for what is said now: they are neither stale nor to be reviewed."""

    op: Literal["accept"]
    ids: list[str]
    """Ids of segments."""


class AddedVoice(SnakeModel):
    """A clone that is being created; poll it until its status is `ready` or `failed`."""

    voice_id: str
    requires_verification: bool


class AuditLogActor(Model):
    """Who performed an action."""

    kind: PrincipalKind
    """`guest` opened a review link; `system` is an operator's command."""
    id: str
    """The id of the key, token, session or review link."""
    user_id: str | None = None
    """The user to whom it belongs."""


class AuditLogEntry(Model):
    """One action."""

    sequence: int
    """Counts from 1 without gaps."""
    at: datetime
    action: str
    """The operation's id, or a name such as `member.remove`."""
    actor: AuditLogActor
    targets: dict[str, Any]
    """Ids of what was created, changed or deleted."""
    hash: str
    """Keyed hash over this entry and the hash before it."""
    client_address: str | None = None
    request_id: str | None = None
    """The response's `X-Request-Id`."""
    before: dict[str, Any] | None = None
    """Settings before the change."""
    after: dict[str, Any] | None = None
    """Settings after the change."""


class AuditLogHead(Model):
    """The last entry of the log. Note it elsewhere: the server can verify the log against it later."""

    sequence: int
    """0 if the log is empty."""
    hash: str


class AuditLogPage(Model):
    """A page of the audit log, newest first."""

    entries: list[AuditLogEntry]
    head: AuditLogHead
    next_page_token: str | None = None


class AutomationOptions(Model):
    """Automations to run."""

    brand_voice_id: str | None = None
    """Default for the description and the thumbnail."""
    generate_title: GenerateTitle | None = None
    generate_description: GenerateDescription | None = None
    zero_prompt_thumbnail: ZeroPromptThumbnail | None = None


class AutomationState(Model):
    """The current state of a run."""

    type: AutomationType
    status: Literal["queued", "processing", "review", "ready", "skipped", "failed"] | str
    job_id: str
    overwrite_mode: OverwriteMode | None = None
    error: JobError | None = None


class BrandVoice(Model):
    """Branding guidelines for thumbnails and descriptions. Not an audio voice."""

    id: str
    name: str
    guidelines: str
    created_at: datetime
    colors: list[str] | None = None
    workspace_id: str | None = None


class BrandVoiceList(Model):
    """All brand voices of the library."""

    brand_voices: list[BrandVoice]


class BrandVoicePatch(Model):
    """Changes to a brand voice."""

    name: str | None = None
    guidelines: str | None = None
    colors: list[str] | None = None


class BrokenTermItem(Model):
    """A glossary term of the source that a line does not have in its translation."""

    line: int
    """The number of the line, from 0."""
    start: float
    """When the line starts, in seconds."""
    term: str
    expected: str
    """The translation of the glossary."""


class Capabilities(Model):
    """What this installation can do now for the caller's library."""

    languages: list[LanguageCapability]
    pairs: list[PairCapability]
    voices: list[VoiceCapability]
    models: list[ModelCapability]
    limits: LimitCapability
    refuses_drafts: bool
    """Whether translations of `draft` quality need `acceptDraft` in this library."""
    products: list[ProductCapability]


class CaptionChange(Model):
    """The revision that a request made, and what it changed."""

    video_id: str
    language: str
    revision: int
    """The current revision. It stays the same if nothing has changed."""
    changes: list[ChangedCaptionSegment]
    """At most 1,000 changed segments."""
    total_changes: int
    """The number of changed segments."""


class CaptionEdit(Model):
    """Operations that are applied in order, all or none."""

    revision: int
    """The revision of the captions to change. If there is a newer one, this is a conflict."""
    operations: list[SetTextOperation | AcceptOperation | ResetOperation | UndoOperation]
    transcript_revision: int | None = None
    """The revision of the transcript that the editor has seen; by default, the current one."""


class CaptionImport(Model):
    """Translated subtitles that people have written or corrected elsewhere."""

    revision: int
    """The revision of the captions to change, or 0 if there are none in this language yet. If there is a newer
    one, this is a conflict.
    """
    format: SubtitleFormat
    """The format of the file."""
    content: str
    """The content of the file."""


class CaptionImportResult(Model):
    """The revision that an import made, what it changed, and what has found no place."""

    video_id: str
    language: str
    revision: int
    """The current revision. It stays the same if nothing has changed."""
    changes: list[ChangedCaptionSegment]
    """At most 1,000 changed segments."""
    total_changes: int
    """The number of changed segments."""
    placed_segments: int
    """The number of segments that have a text in the file."""
    empty_segments: int
    """The number of segments that have none, and keep what they had."""
    unplaced_cues: int
    """The number of cues at times when the transcript has no segment; they are left out."""


class CaptionJobs(Model):
    """One job per language."""

    jobs: list[Job]


class CaptionSegmentView(Model):
    """A segment of the captions, compared with the transcript; times are in seconds."""

    id: str
    start: float
    end: float
    speaker: str
    edited: bool
    """Whether the text was set by hand."""
    stale: list[StaleReason]
    """Why the segment no longer belongs to the transcript; empty if it does."""
    review: bool
    """Whether the transcript has changed since the text was set by hand, which is kept."""
    reasons: list[str]
    """Why the translation should be reviewed, as in the result of its job."""
    source: str | None = None
    """The text of the transcript; omitted if the segment is no longer in it."""
    text: str | None = None
    """The text of the captions; omitted if the segment is not in them yet."""
    translation: str | None = None
    """The translation that a text by hand replaces, if there is one."""
    engine: str | None = None
    """The engine that translated it."""
    via: list[str] | None = None
    """Intermediate languages."""
    transcript_revision: int | None = None
    """The revision of the transcript that it belongs to, if that is known."""


class CaptionSegments(Model):
    """The segments of captions in one language, in order."""

    video_id: str
    language: str
    revision: int
    """The current revision of the captions."""
    transcript_revision: int
    """The revision of the transcript compared with."""
    quality: Quality
    """The class of the translation."""
    segments: list[CaptionSegmentView]
    stale_segments: int
    review_segments: int
    regeneration: RegenerationQuote


class CaptionText(Model):
    """The text of a segment."""

    text: str
    edited: bool
    """Whether the text was set by hand."""


class CastAppearance(Model):
    """A speaker of a video who is a member of the cast."""

    video_id: str
    speaker_id: str
    source: Literal["confirmed", "recognized"] | str
    """Whether it was set by a person, or recognized by the voice. Only the former have voice prints."""
    embedding_status: Literal["none", "pending", "ready", "failed"] | str
    """The state of the voice print made from this speaker. There is none where speakers are not recognized."""
    created_at: datetime
    similarity: float | None = None
    """How similar the voice was to a voice print, at most 1, if recognized."""
    failure: Literal["too_little_speech", "no_audio", "no_embedder", "unusable"] | str | None = None
    """Why the voice print could not be made."""


class CastAppearancePage(Model):
    """Speakers of videos who are this member, newest first."""

    appearances: list[CastAppearance]
    next_page_token: str | None = None
    """Pass it as `pageToken` for the next page; omitted on the last page."""


class CastMember(Model):
    """A person who speaks in videos of the library."""

    id: str
    name: str
    """What recognized speakers are called in new transcripts."""
    voices: dict[str, str]
    """By language, the voice that speaks for the member in dubs: the id of a stock voice, or of a clone, which
    premium dubs use.
    """
    speaker_embeddings: int
    """How many voice prints of this person are stored. Without any, the member is not recognized."""
    created_at: datetime
    folder_id: str | None = None
    """Where the member is recognized: in this folder and the folders inside it. Everywhere if it is absent."""


class CastMemberPage(Model):
    """Members of the cast, newest first."""

    members: list[CastMember]
    next_page_token: str | None = None
    """Pass it as `pageToken` for the next page; omitted on the last page."""


class CastMemberPatch(Model):
    """Changes to a member of the cast."""

    name: str | None = None
    """What recognized speakers are called in new transcripts."""
    folder_id: str | None = None
    """Where the member is recognized: in this folder and the folders inside it. Everywhere if it is absent."""
    voices: dict[str, str] | None = None
    """By language, the voice that speaks for the member in dubs: the id of a stock voice, or of a clone, which
    premium dubs use. Replaces all.
    """


class CastRecognition(Model):
    """Where speakers are recognized by their voices, which are biometric data: nowhere unless it is set."""

    recognize_speakers: bool
    """In all videos of the library."""
    folder_ids: list[str] | None = None
    """In videos of these folders and of the folders inside them."""


class CastRecognitionState(Model):
    """Where speakers are recognized by their voices."""

    recognize_speakers: bool
    """In all videos of the library."""
    folder_ids: list[str]
    """In videos of these folders and of the folders inside them."""


class ChangedCaptionSegment(Model):
    """A segment that differs: without `before` it was added, without `after` it was removed."""

    id: str
    before: CaptionText | None = None
    after: CaptionText | None = None


class ChangedSegment(Model):
    """A segment that differs: without `before` it was added, without `after` it was removed."""

    id: str
    before: EditableSegment | None = None
    after: EditableSegment | None = None


class ChangedSpeaker(Model):
    """A speaker whose label differs: without `before` it was added, without `after` it was removed."""

    id: str
    before: str | None = None
    """The label before."""
    after: str | None = None
    """The label after."""


class Character(Model):
    """A saved character that thumbnails can show."""

    id: str
    name: str
    reference_images: list[ReferenceImage]
    created_at: datetime
    workspace_id: str | None = None


class CharacterList(Model):
    """All characters of the library."""

    characters: list[Character]


class CharacterPatch(Model):
    """Changes to a character."""

    name: str | None = None


class CharacterRange(Model):
    """A part of a text."""

    from_: int
    """The first character."""
    to: int
    """The character after the last one."""


class CharacterReference(Model):
    """A character to show: a saved one, image URLs, or a description."""

    character_id: str | None = None
    """A saved character of the library."""
    reference_image_ids: list[str] | None = None
    """Which of the character's images to use; all by default."""
    image_url: str | None = None
    image_urls: list[str] | None = None
    name: str | None = None
    position: str | None = None
    """Where in the image, such as `left`."""
    action: str | None = None


class CreatedReviewLink(Model):
    """A link with its URL, which is returned only once."""

    id: str
    video_id: str
    role: GuestRole
    """`view` opens the studio page of the video, `comment` also takes comments, and `edit` also takes
    corrections of the transcript, dubs and captions. None of them spends credits.
    """
    created_by: str
    """The user who created it."""
    created_at: datetime
    expires_at: datetime
    """When it stops working."""
    url: str
    """What to send to the reviewer. Everyone who has it can open the review."""
    label: str | None = None
    """For people: whom the link is for."""


class CreatedVideo(Model):
    """The created video and its jobs."""

    video_id: str
    status: Literal["queued", "processing", "ready", "failed"] | str
    jobs: list[Job]
    video: Video | None = None
    upload: UploadInstructions | None = None


class CreatedWebhookEndpoint(Model):
    """A new endpoint with its signing secret, which is not shown again."""

    id: str
    url: str
    events: list[
        Literal[
            "video.ready",
            "video.failed",
            "job.ready",
            "job.failed",
            "video.updated",
            "job.cancelled",
            "credits.low",
            "transcript.edited",
            "captions.edited",
            "dub.regenerated",
            "dub.regeneration_failed",
        ]
        | str
    ]
    """The event types sent to this endpoint."""
    enabled: bool
    """Whether events are sent. A 410 response or days of failures disable an endpoint."""
    secret: str
    """Used to sign deliveries. Store it; it is not shown again."""
    disabled_reason: str | None = None
    """Why the endpoint is disabled."""
    previous_secret_until: datetime | None = None
    """Until then, deliveries are signed with the previous secret too."""


class CreditBundle(Model):
    """Products to price together."""

    duration_seconds: float | None = None
    """The duration to bill; defaults to the video's duration."""
    dubs: list[DubWork] | None = None
    caption_language_codes: list[str] | None = None
    transcript_only: bool | None = None
    """A transcript only."""
    shorts: ShortsWork | None = None
    zero_prompt_thumbnail: ThumbnailWork | None = None
    accept_draft: bool | None = None
    """Accepts translations of `draft` quality in a library that refuses them otherwise."""


class CutSuggestions(Model):
    """Hesitations and repeated words, in order."""

    video_id: str
    revision: int
    """The revision whose texts the positions refer to."""
    suggestions: list[SuggestedCut]
    total_suggestions: int


class DeleteOperation(Model):
    """Marks segments as deleted: products leave them out."""

    op: Literal["delete"]
    ids: list[str]
    """Ids of segments."""


class DeleteWordsOperation(Model):
    """Marks parts of a segment as deleted. It is split around them; the first part keeps the id."""

    op: Literal["deleteWords"]
    id: str
    """The id of a segment."""
    ranges: list[CharacterRange]
    """Ranges of characters, in order and apart."""


class DeliveryRecovery(Model):
    """Which deliveries to start again."""

    since: datetime
    """Only events that happened at or after this time."""


class DeliveryRequest(Model):
    """The request of an attempt."""

    url: str
    headers: dict[str, str]
    """The headers, without the signature."""


class DeliveryResponse(Model):
    """The response to an attempt."""

    status: int
    truncated: bool
    """Whether the body may have been longer."""
    body: str | None = None
    """At most the first 1,024 bytes, as text."""


class DescriptionRecipe(Model):
    """A generated description."""

    type: DescriptionKind


class Destination(Model):
    """The bucket that outputs are copied to, without its secret access key."""

    endpoint: str
    region: str
    bucket: str
    prefix: str
    access_key_id: str
    enabled: bool


class DestinationSettings(Model):
    """A bucket to copy outputs to."""

    endpoint: str
    """The public HTTPS URL of the store, without the bucket."""
    region: str
    """The region of the bucket."""
    bucket: str
    """The name of the bucket."""
    access_key_id: str
    """The id of the access key."""
    prefix: str | None = None
    """Begins the key of every copy."""
    secret_access_key: str | None = None
    """Stored encrypted and never returned. Absent keeps it."""
    enabled: bool | None = None
    """Whether outputs are copied. A disabled bucket is not tested."""


class DetectedImage(Model):
    """Something detected in the video for a thumbnail."""

    id: str
    kind: Literal["character", "content"] | str
    url: str
    time: float | None = None
    """Time in the video, in seconds."""


class DetectionQueued(Model):
    """Detection in the video runs first; poll the packaging job."""

    job_id: str
    registered: bool
    """Whether a new run was created."""
    status: Literal["queued"] | None = None


class Download(Model):
    """A download; failed ones have the same shape."""

    id: str
    status: JobState
    tier: Tier
    truncated: bool
    """Whether only a sample is provided."""
    max_duration_seconds: float | None
    """Maximum length of a sample; null for the full tier."""
    url: str | None
    """URL of the file, valid for an hour and named after the title; null until ready."""
    error: dict[str, Any] | None
    """The error; null unless failed."""
    job_id: str


class DownloadAsked(Model):
    """A download that is being prepared."""

    download_request_id: str
    job_id: str
    artifact: Artifact
    language: str
    tier: Tier
    status: JobState


class Dub(Model):
    """A dub in its current state. A preview of the first minute may be available while it is processing."""

    status: Literal["processing", "ready", "failed"] | str
    user_video_id: str
    language_code: str
    dubbing_request_id: str
    dubbing_status: str
    audio_url: str | None
    """A temporary URL of the audio, saved as `title-language.m4a`."""
    audio_track_id: str | None
    job_id: str
    completion_status: str | None = None
    quality: Quality | None = None
    """The class of the translation; a `draft` has its own price. Omitted until it is known."""
    segments: list[Segment] | None = None
    speakers: list[Speaker] | None = None
    sync: dict[str, Any] | None = None
    """How well the lines match the source timing, worst first. `naturalFit` is the share of lines that are 10 %
    shorter to 20 % longer than their slot before their tempo is changed. `loudnessOutliers` lists the lines
    that are more than 6 dB below the median level of their speaker.
    """
    broken_terms: list[BrokenTermItem] | None = None
    """Glossary terms whose translation a line does not have, the first 200."""


class DubItem(Model):
    """A summary of a dub."""

    id: str
    language: str
    product: str
    status: str
    job_id: str
    completion: str | None = None
    quality: Quality | None = None
    """The class of the translation; a `draft` has its own price. Omitted until it is known."""


class DubJobs(Model):
    """One job per language, and the remaining credit balance."""

    video_id: str
    jobs: list[Job]
    balance: float


class DubLineFit(Model):
    """How much text fits: a text fits if its characters times `secondsPerCharacter` are at most
    `availableSeconds`.
    """

    available_seconds: float
    """From the start of the line to where the next one begins, or 3 s after its own end."""
    seconds_per_character: float
    """How long the voice takes for a character on average, at the speed of the line."""


class DubRecipe(Model):
    """Dubs to create when the transcript is ready."""

    languages: list[str]
    product: DubProduct | None = None
    accept_draft: bool | None = None
    """Accepts translations of `draft` quality in a library that refuses them otherwise."""


class DubRegenerationRequest(Model):
    """Which lines to make again."""

    revision: int
    """The revision of the dub. If there is a newer one, this is a conflict."""
    transcript_revision: int | None = None
    """The revision of the transcript. If there is a newer one, this is a conflict."""
    segment_ids: list[str] | None = None
    """Ids of lines; by default, all stale lines."""


class DubSegment(Model):
    """A line of a dub: one or more segments of the transcript, spoken by one voice."""

    id: str
    """Stays the same in later versions of the dub."""
    segment_ids: list[str]
    """The segments of the transcript that it is made of."""
    start: float
    """When the original line starts."""
    end: float
    """When the original line ends."""
    speaker: str
    source: str
    """What the original line says."""
    edits: DubSegmentEdits
    stale: list[LineStaleReason]
    """Why the published audio is outdated; empty if it is not."""
    review: bool
    """Whether the original was changed after the text of the line was written."""
    text: str | None = None
    """What the line says; omitted while it has yet to be translated."""
    voice: str | None = None
    """The id of the stock voice, or `clone`; omitted until one is assigned."""
    published: PublishedSpeech | None = None
    """Omitted if the published audio says nothing here."""
    fit: DubLineFit | None = None
    """How much text fits; omitted if the line was removed."""


class DubSegmentChange(Model):
    """What to set for a line. Null returns to what is automatic; a field that is absent stays as it is."""

    id: str
    """The id of a line."""
    text: str | None = None
    """What the line says, instead of the translation."""
    voice: str | None = None
    """The id of a stock voice that speaks the language of the dub."""
    speed: float | None = None
    """How fast the voice speaks, relative to its natural speed. By default, it fits the line."""
    start_offset: float | None = None
    """Seconds by which the line starts later, or earlier if negative, between its neighbors."""
    gain_db: float | None = None
    """How much louder the line is, in dB."""
    keep_original: bool | None = None
    """Plays the original sound instead of a voice."""
    mute: bool | None = None
    """Leaves out the line, so that only the background is heard."""
    pronunciation: dict[str, str] | None = None
    """Words of the text, spelled as they are to be spoken."""
    take: str | None = None
    """The id of a take: a regeneration uses exactly its audio."""


class DubSegmentEdits(Model):
    """What people have set for a line."""

    text: str | None = None
    voice: str | None = None
    speed: float | None = None
    start_offset: float | None = None
    gain_db: float | None = None
    keep_original: bool | None = None
    mute: bool | None = None
    pronunciation: dict[str, str] | None = None
    take: str | None = None
    """The chosen take, while the line says what it says."""


class DubSegments(Model):
    """The lines of a dub in the order of time, with what is outdated."""

    video_id: str
    language: str
    product: str
    revision: int
    """Of the edits; send it with a change."""
    transcript_revision: int
    """Of the transcript that the lines are compared with."""
    published_transcript_revision: int
    """Of the transcript that the published audio was made from."""
    segments: list[DubSegment]
    regeneration: LineRegenerationQuote
    """Of all stale lines."""
    job: LineRegenerationJob | None = None


class DubSegmentsChange(Model):
    """The changed lines, and what regenerating the dub costs now."""

    revision: int
    segments: list[DubSegment]
    regeneration: LineRegenerationQuote


class DubSegmentsPatch(Model):
    """Changes of lines, made all or none."""

    revision: int
    """The revision of the dub. If there is a newer one, this is a conflict."""
    changes: list[DubSegmentChange]


class DubWork(Model):
    """Dubs into one or more languages, priced per minute and language."""

    languages: list[str]
    product: Literal["plus", "premium"] | str | None = None
    source_voiceover: Literal["original", "optimized"] | str | None = None
    """The transcript to dub; does not change the price."""


class Dubs(Model):
    """A video's dubs."""

    dubs: list[DubItem]


class EditableSegment(Model):
    """A segment with the id that it keeps through edits; times are in seconds."""

    id: str
    start: float
    end: float
    speaker: str
    text: str
    deleted: bool
    """Left out by products."""


class EditorFile(Model):
    """A file for an editing program."""

    format: EditorFormat
    name: str
    content: str


class Erasure(Model):
    """A requested erasure. Keep the URL: no key or session of the library works any more."""

    erasure_id: str
    """The erasure's id, which is also on the certificate."""
    library_id: str
    """The library that is being erased."""
    status: Literal["erasing"]
    requested_at: datetime
    certificate_url: str
    """Needs no key and does not expire. Returns the status and, once finished, the signed certificate."""


class ErrorBody(Model):
    """An API error."""

    code: str
    """Error code; branch on this, not on the message."""
    message: str
    """Human-readable message."""
    details: dict[str, Any]
    """Machine-readable context; may be empty."""


class ErrorEnvelope(Model):
    """The body of every error response."""

    error: ErrorBody


class EventPage(Model):
    """Events in the order in which they were recorded."""

    events: list[LibraryEvent]
    cursor: str
    """Where the next page begins: pass it as `after`. Store it."""
    has_more: bool
    """Whether the next page has events already."""


class ExportSummary(Model):
    """What the archive contains; its `manifest.json` lists every file."""

    format_version: int
    videos: int
    """Videos with a folder in the archive, including those in the trash."""
    trashed_videos: int
    missing_files: int
    """Files that no longer existed; the manifest names them."""
    kinds: dict[str, ExportedKind]
    """Number and size of files, by kind."""


class ExportedKind(Model):
    """The files of one kind."""

    files: int
    bytes: int


class Folder(Model):
    """A folder. Folders nest up to three levels deep."""

    id: str
    name: str
    parent_id: str | None
    """null at the root."""
    path: list[str]
    """Names from the root through this folder."""
    workspace_id: str | None = None


class FolderList(Model):
    """All folders of the library."""

    folders: list[Folder]


class FolderPatch(Model):
    """Changes to a folder."""

    name: str | None = None
    """`All Videos` is reserved."""
    parent_id: str | None = None
    """The new parent; null moves the folder to the root."""


class FoundVoices(SnakeModel):
    """One page of search results over clones and stock voices."""

    voices: list[Voice]
    has_more: bool
    total_count: int
    next_page_token: str | None


class GenerateDescription(Model):
    """A description to generate."""

    enabled: bool
    description_type: DescriptionKind
    overwrite_mode: OverwriteMode | None = None
    """`fill-if-empty` writes only to empty fields, `always` replaces, `never` records a skip."""
    brand_voice_id: str | None = None


class GenerateTitle(Model):
    """A title to generate."""

    enabled: bool
    title_type: TitleStyle
    overwrite_mode: OverwriteMode | None = None
    """`fill-if-empty` writes only to empty fields, `always` replaces, `never` records a skip."""


class GlossaryImport(Model):
    """Terms to add or replace, as a CSV file."""

    csv: str
    """A header and one row per term, in the format of the export. The columns `term` and `language` are
    required.
    """


class GlossaryImported(Model):
    """What an import changed."""

    created: int
    updated: int
    unchanged: int


class GlossaryPage(Model):
    """Terms, newest first."""

    terms: list[GlossaryTerm]
    next_page_token: str | None = None
    """Pass it as `pageToken` for the next page; omitted on the last page."""


class GlossaryTerm(Model):
    """A term of a library's glossary."""

    id: str
    term: str
    language: str
    keep: bool
    """Whether the term stays as it is in every language."""
    case_sensitive: bool
    """Whether upper and lower case are distinguished."""
    translations: dict[str, TermTranslationItem]
    """The translation by language."""
    pronunciations: dict[str, str]
    """By language, how dubs spell the translation for the voice, or the term where it is not translated. Texts
    show it unchanged.
    """
    created_at: datetime
    folder_id: str | None = None
    """Where the term applies: to videos in this folder and the folders inside it. Everywhere if it is absent.
    """
    note: str | None = None


class GlossaryTermPatch(Model):
    """Changes to a term."""

    term: str | None = None
    language: str | None = None
    """The language of the term."""
    folder_id: str | None = None
    """Where the term applies: to videos in this folder and the folders inside it. Everywhere if it is absent.
    """
    keep: bool | None = None
    """Whether the term stays as it is in every language."""
    case_sensitive: bool | None = None
    """Whether upper and lower case are distinguished."""
    translations: dict[str, NewTermTranslation] | None = None
    """The translation by language. Replaces all."""
    pronunciations: dict[str, str] | None = None
    """By language, how dubs spell the translation for the voice, or the term where it is not translated. Texts
    show it unchanged. Replaces all.
    """
    note: str | None = None
    """For people; nothing else uses it."""


class Health(Model):
    """Service health."""

    ok: bool
    version: str


class Hosting(Model):
    """Hosting status of a video."""

    video_id: str
    status: Literal["inactive", "queued", "processing", "ready"] | str
    """`inactive`: packaged by Cutroom; `queued`, `processing`: being sent to the hosting provider."""
    can_activate: bool
    """Whether the plan allows hosting, a source file exists and a provider is configured."""
    packaging_provider: Provider
    reason: Literal["plan_required", "missing_input"] | str | None = None
    """Why hosting cannot be activated; present whenever `canActivate` is false."""
    message: str | None = None
    """The reason in words."""


class InsertOperation(Model):
    """Adds a segment where nothing is said yet."""

    op: Literal["insert"]
    start: float
    end: float
    text: str
    """What is said. White space counts as one space; control characters are refused."""
    speaker: str
    """The id of a speaker; a new one is added to the speakers."""


class Job(Model):
    """An asynchronous task with a deterministic id."""

    id: str
    type: JobType
    status: JobState
    video_id: str | None = None
    """The video the job belongs to."""
    language: str | None = None
    """The target language of a dub or of captions."""
    product: DubProduct | None = None
    """The quality tier of a dub."""
    automation_type: AutomationType | None = None
    """The output of a packaging job."""
    progress: int | None = None
    """Whole percent, which never decreases; present while the job is processing."""
    stage: str | None = None
    """The current step; present while the job is processing."""
    estimated_ready_at: datetime | None = None
    """When the job will probably be ready, estimated from its progress and from earlier jobs. Present while the
    job is processing, once there is something to go by; absent while it waits for a person.
    """
    result: dict[str, Any] | None = None
    """The job's output; present once it is ready."""
    output_deleted_at: datetime | None = None
    """When the output was deleted. The result then holds only the receipt, and requesting the same product
    again runs the job again, at its price.
    """
    error: JobError | None = None
    """Why the job failed; present once it has failed."""


class JobError(Model):
    """Why a job failed."""

    code: str
    """Error code to branch on."""
    message: str
    """Human-readable message."""
    details: dict[str, Any] | None = None


class JobList(Model):
    """The jobs of a video, newest first."""

    jobs: list[Job]


class JobTimeline(Model):
    """What happened to a job, oldest first."""

    job_id: str
    type: JobType
    status: JobState
    summary: str
    """The state of the job, how long it took and what it cost, in words."""
    attempts: int
    """How often the job has been run. The latest eleven are listed."""
    charged: float
    """Credits charged for the listed attempts."""
    entries: list[TimelineEntry]


class KeptRange(Model):
    """A part of the recording that the stream plays, in seconds of the recording."""

    start: float
    end: float


class LanguageCapability(Model):
    """What can be done with a language."""

    code: str
    name: str
    """The English name."""
    source: bool
    """Whether videos in this language can be translated."""
    captions: bool
    """Whether captions can be translated into it from some language."""
    dubs: bool
    """Whether dubs can be made in it from some language."""
    speech: bool
    """Whether a stock voice speaks it."""


class LibraryCredits(Model):
    """The library's credits."""

    balance: float
    """Credits that can be spent, without those in escrow."""
    in_escrow: float
    """Held for jobs and reservations."""
    usage_billing_active: bool
    """Whether the balance may go below zero."""
    overdraft: float
    """How far the balance may go below zero."""


class LibraryEvent(Model):
    """An event of the library's log."""

    id: str
    """The `webhook-id` of its deliveries."""
    type: (
        Literal[
            "video.ready",
            "video.failed",
            "job.ready",
            "job.failed",
            "video.updated",
            "job.cancelled",
            "credits.low",
            "transcript.edited",
            "captions.edited",
            "dub.regenerated",
            "dub.regeneration_failed",
        ]
        | str
    )
    timestamp: datetime
    """When it happened."""
    data: dict[str, Any]
    """The Video or Job as it was, without signed URLs; for `credits.low`, the balance, and for
    `transcript.edited` and `captions.edited`, the video and the revision. For `dub.regenerated` and
    `dub.regeneration_failed`, the dub, the lines and the error.
    """


class LibraryExport(Model):
    """An export of the library."""

    id: str
    status: JobState
    progress: float
    """Percent of the work that is done."""
    created_at: datetime
    finished_at: datetime | None
    """When it became ready or failed."""
    expires_at: datetime
    """When the export is removed."""
    file_count: int | None
    """Files in the archive; null until they are counted."""
    content_bytes: int | None
    """Size of all files in the archive."""
    archive_bytes: int | None
    """Size of the archive."""
    sha256: str | None
    """SHA-256 of the archive, hexadecimal; null until ready."""
    summary: ExportSummary | None
    """Null until the files are counted."""
    download_url: str | None
    """URL of the archive; null until ready. It is valid for an hour and supports `Range` requests. Get the
    export again for a new URL and resume with it.
    """
    error: dict[str, Any] | None = None
    """The error of a failed export."""


class LibraryExportList(Model):
    """Exports of the library, newest first."""

    exports: list[LibraryExport]


class LibraryQuotas(Model):
    """Quotas of the library, for all its API keys together. A request beyond one returns 409 with `reason:
    quota`.
    """

    storage_bytes: Quota
    """Originals, and outputs as of the last daily scan."""
    media_minutes: Quota
    """Media imported in this calendar month (UTC), in full minutes."""
    unfinished_jobs: Quota
    """Jobs that are queued or processing."""


class LibrarySummary(Model):
    """The library of the API key: its plan, limits and use."""

    id: str
    name: str
    kind: Literal["personal", "workspace"] | str
    plan: PlanName
    suspended: bool
    limits: PlanLimits
    quotas: LibraryQuotas
    usage: LibraryUsage
    storage: StorageUsage
    credits: LibraryCredits
    workspace_id: str | None = None


class LibraryUsage(Model):
    """What the library uses."""

    storage_bytes: int
    """Size of the original files."""
    imported_minutes: float
    """Duration of all imported media."""
    processed_minutes: float
    """Media in finished transcripts, captions and dubs; each language counts."""
    unfinished_jobs: int
    """Of the API key that sends the request."""


class LimitCapability(Model):
    """Limits of the plan, which apply to each API key, and of every request."""

    requests_per_minute: int
    concurrent_requests: int
    unfinished_jobs: int
    body_bytes: int
    """Of a JSON body."""
    languages: int
    """In one request."""
    page_items: int
    """On one page of a list."""


class LinePreview(Model):
    """Takes of a line; poll it until its status is `ready` or `failed`."""

    id: str
    segment_id: str
    status: Literal["queued", "processing", "ready", "failed"] | str
    takes: list[PreviewTake]
    """Empty until all are ready."""
    expires_at: datetime | None = None
    """When the takes can no longer be chosen."""
    error: dict[str, Any] | None = None
    """Why it failed."""


class LineRegeneration(Model):
    """A regeneration that was started; the published audio stays until it is ready."""

    video_id: str
    language: str
    product: str
    job: LineRegenerationJob
    quote: LineRegenerationQuote
    balance: float


class LineRegenerationJob(Model):
    """The last regeneration."""

    id: str
    status: Literal["queued", "processing", "ready", "failed"] | str
    progress: int
    """In percent."""
    error: dict[str, Any] | None = None
    """Why it failed; it was not charged then."""


class LineRegenerationQuote(Model):
    """What it costs to make stale lines again."""

    revision: int
    transcript_revision: int
    segment_ids: list[str]
    """The lines that are made again."""
    seconds: float
    """How long a voice has to speak, in the time of the original lines."""
    credits: float
    """The exact price."""
    estimated_seconds: float
    """About how long it takes."""


class LineWording(Model):
    """A shorter wording."""

    text: str
    seconds: float
    """About how long the voice speaks."""


class LineWordings(Model):
    """Shorter wordings of a line that fit its time."""

    segment_id: str
    text: str
    """The text that they shorten."""
    seconds: float
    """About how long the voice speaks the text."""
    fit: DubLineFit
    wordings: list[LineWording]
    """The longest one first; empty if there is none."""


class LoggedAttempt(Model):
    """One attempt to deliver an event."""

    number: int
    """Rises with every attempt; a redelivery may leave numbers out."""
    at: datetime
    outcome: DeliveryOutcome
    duration_ms: int
    request: DeliveryRequest
    response: DeliveryResponse | None = None
    """Absent if there was none in time."""


class MergeOperation(Model):
    """Merges neighboring segments. The first keeps its id, its speaker and its start."""

    op: Literal["merge"]
    ids: list[str]
    """Ids of neighbors."""


class MergeSpeakersOperation(Model):
    """Makes one speaker of some, who are the same person. The others are removed."""

    op: Literal["mergeSpeakers"]
    speakers: list[str]
    """Who is the same person."""
    into: str
    """The id of a speaker; a new one is added to the speakers."""


class ModelCapability(Model):
    """A model that requests can name."""

    id: str
    product: str


class NewCaptions(Model):
    """Languages to translate the transcript into."""

    languages: list[str]
    reservation_id: str | None = None
    """The credit reservation to charge."""
    reservation_line_item_id_by_language: dict[str, str] | None = None
    """The reservation line item to charge for each language."""
    accept_draft: bool | None = None
    """Accepts translations of `draft` quality in a library that refuses them otherwise."""


class NewCastMember(Model):
    """A person to add to the cast."""

    name: str
    """What recognized speakers are called in new transcripts."""
    folder_id: str | None = None
    """Where the member is recognized: in this folder and the folders inside it. Everywhere if it is absent."""
    voices: dict[str, str] | None = None
    """By language, the voice that speaks for the member in dubs: the id of a stock voice, or of a clone, which
    premium dubs use.
    """


class NewClips(Model):
    """Landscape excerpts of 5 to 25 minutes."""

    kind: Literal["clips"]
    num_clips: int | None = None
    """Clamped to 1 to 4."""
    clip_selection_prompt: str | None = None
    """What the chosen moments should be about."""
    include_generated_thumbnail: bool | None = None
    """Generates a thumbnail for each clip."""
    reservation_id: str | None = None
    """A reservation to charge."""


class NewDownload(Model):
    """What to prepare."""

    artifact: Artifact
    """`language_video`: a video with audio in the language; `source`: the original file; `bundle`: an archive
    of all files.
    """
    language: str | None = None
    """Required for `language_video`."""
    uncut: bool | None = None
    """Keep deleted words in a `language_video`, which leaves them out by default."""


class NewDubs(Model):
    """Languages to dub a video into."""

    languages: list[str]
    product: DubProduct | None = None
    """`plus` uses stock voices; `premium` clones each speaker."""
    source_voiceover: Literal["original", "optimized"] | str | None = None
    """The transcript to dub."""
    translation_source: TranslationSource | None = None
    """`captions` speaks the texts of the video's captions in these languages, which have to be finished; only
    what they lack is translated.
    """
    reservation_id: str | None = None
    """The credit reservation to charge."""
    reservation_line_item_id_by_language: dict[str, str] | None = None
    """The reservation line item to charge for each language."""
    accept_draft: bool | None = None
    """Accepts translations of `draft` quality in a library that refuses them otherwise."""


class NewFolder(Model):
    """A folder to create."""

    name: str
    """`All Videos` is reserved."""
    parent_id: str | None = None
    """The parent folder; omit for the root."""


class NewGlossaryTerm(Model):
    """A term to add. It needs a translation, a pronunciation, or `keep`."""

    term: str
    language: str
    """The language of the term."""
    folder_id: str | None = None
    """Where the term applies: to videos in this folder and the folders inside it. Everywhere if it is absent.
    """
    keep: bool | None = None
    """Whether the term stays as it is in every language."""
    case_sensitive: bool | None = None
    """Whether upper and lower case are distinguished."""
    translations: dict[str, NewTermTranslation] | None = None
    """The translation by language."""
    pronunciations: dict[str, str] | None = None
    """By language, how dubs spell the translation for the voice, or the term where it is not translated. Texts
    show it unchanged.
    """
    note: str | None = None
    """For people; nothing else uses it."""


class NewHosting(Model):
    """An empty request body."""


class NewLinePreview(Model):
    """What to speak; a field that is absent is as the line has it now."""

    text: str | None = None
    """What to say."""
    voice: str | None = None
    """The id of a stock voice that speaks the language of the dub."""
    speed: float | None = None
    """How fast the voice speaks, relative to its natural speed. By default, it fits the line."""
    pronunciation: dict[str, str] | None = None
    """Words of the text, spelled as they are to be spoken."""
    count: int | None = None
    """How many takes to speak."""


class NewPackaging(Model):
    """Automations to run, under `automationOptions` or at the top level."""

    brand_voice_id: str | None = None
    """Default for the description and the thumbnail."""
    generate_title: GenerateTitle | None = None
    generate_description: GenerateDescription | None = None
    zero_prompt_thumbnail: ZeroPromptThumbnail | None = None
    automation_options: AutomationOptions | None = None
    """Recommended instead of the top-level fields."""
    reservation_id: str | None = None
    """The credit reservation to charge for the thumbnail."""


class NewPlaybackCut(Model):
    """Which words the stream leaves out."""

    uncut: bool | None = None
    """Package the whole recording again."""
    transcript_revision: int | None = None
    """Refuse with 409 if the transcript has changed since this revision."""


class NewPromo(Model):
    """One edit of 45 to 60 seconds, made of several moments."""

    kind: Literal["promo"]
    aspect_ratio: Literal["9:16", "16:9"] | str | None = None
    """`9:16` or `16:9`."""
    caption_style: CaptionStyle | None = None
    """Style of the burned-in captions."""
    caption_position: CaptionPosition | None = None
    """Position of the captions, which avoid faces."""
    clip_selection_prompt: str | None = None
    """What the chosen moments should be about."""
    include_soundtrack: bool | None = None
    """Adds background music."""
    reservation_id: str | None = None
    """A reservation to charge."""


class NewReviewComment(Model):
    """A comment to add."""

    time: float
    """The position in the video, in seconds."""
    text: str
    segment_id: str | None = None
    """The segment or line that the comment is about."""
    language: str | None = None
    """The language of the dub or captions that the comment is about. Omitted if it is about the original."""


class NewReviewLink(Model):
    """A link to create."""

    role: GuestRole
    """`view` opens the studio page of the video, `comment` also takes comments, and `edit` also takes
    corrections of the transcript, dubs and captions. None of them spends credits.
    """
    expires_at: datetime | None = None
    """When the link stops working, 1 to 90 days from now."""
    expires_in_days: int | None = None
    """Days until the link stops working; 14 if neither this nor `expiresAt` is sent."""
    label: str | None = None
    """For people: whom the link is for."""


class NewShorts(Model):
    """Short clips of the best moments."""

    kind: Literal["shorts"] | None = None
    num_clips: int | None = None
    min_duration: float | None = None
    max_duration: float | None = None
    aspect_ratio: AspectRatio | None = None
    caption_style: CaptionStyle | None = None
    """Style of the burned-in captions."""
    caption_position: CaptionPosition | None = None
    """Position of the captions, which avoid faces."""
    clip_selection_prompt: str | None = None
    """What the chosen moments should be about."""
    include_watermark: bool | None = None
    """Watermarked shorts cost less."""
    reservation_id: str | None = None
    """A reservation to charge."""


class NewSpeech(SnakeModel):
    """A text to synthesize."""

    text: str
    model_id: str | None = None
    """`cutroom_speech_v1`; names that start with `eleven_` are accepted as aliases."""
    language_code: str | None = None
    """The language of the text; by default the voice's, or detected from the text."""
    voice_settings: SpeakingSettings | None = None


class NewTermTranslation(Model):
    """How a term is translated into one language."""

    text: str
    """The translation."""
    forms: list[str] | None = None
    """Inflected forms, which are accepted as well."""


class NewThumbnail(Model):
    """A thumbnail from a prompt, or from the video itself."""

    character_count: int | None = None
    """Must equal the number of `characters`; with detection, how many to look for."""
    characters: list[CharacterReference] | None = None
    """Creative only."""
    promote_to_primary: bool | None = None
    """Make the first image the video's poster."""
    reference_schema_version: Literal[1, 2] | int | None = None
    """2 for Precision."""
    pipeline_mode: Pipeline | None = None
    """`thumbnail-v2` is Creative, `thumbnail-precision` shows content plates."""
    content_reference_image_url: str | None = None
    content_reference_image_urls: list[str] | None = None
    design_influence_image_url: str | None = None
    style_reference_image_url: str | None = None
    brand_reference_image_url: str | None = None
    brand_influence: float | None = None
    """Weight of the brand image, 0 to 1; not with Precision."""
    auto_detect_characters: bool | None = None
    """Detect people in the video; Creative only."""
    character_detect_approval_mode: ApprovalMode | None = None
    auto_detect_content_references: bool | None = None
    """Detect content plates in the video; Precision only."""
    content_slot_count: int | None = None
    content_detect_approval_mode: ApprovalMode | None = None
    """`review` waits for approval before rendering."""
    content_detect_prompt: str | None = None
    text_overlay: str | None = None
    """The headline; generated from the transcript by default."""
    omit_text_overlay: bool | None = None
    """Render no headline."""
    auto_translate_thumbnail: bool | None = None
    thumbnail_translation_language_codes: list[str] | None = None
    """Used with `autoTranslateThumbnail`."""
    brand_voice_id: str | None = None
    mode: ThumbnailMode | None = None
    """`prompt` by default; `zero_prompt` if a detection flag is set."""
    prompt: str | None = None
    """What to show; quoted text becomes the headline."""
    reservation_id: str | None = None
    """The credit reservation to charge; not for thumbnails from a prompt."""


class NewUploadSession(Model):
    """The file to upload."""

    file_name: str
    content_type: str | None = None


class NewVideo(Model):
    """A video to create."""

    source: UrlSource | UploadSource
    workspace_id: str | None = None
    """The key's own workspace; may be left out."""
    folder_id: str | None = None
    """An existing folder of the library."""
    products: Recipes | None = None


class NewWebhookEndpoint(Model):
    """An endpoint to register."""

    url: str
    """A public HTTPS URL."""
    events: (
        list[
            Literal[
                "video.ready",
                "video.failed",
                "job.ready",
                "job.failed",
                "video.updated",
                "job.cancelled",
                "credits.low",
                "transcript.edited",
                "captions.edited",
                "dub.regenerated",
                "dub.regeneration_failed",
            ]
            | str
        ]
        | None
    ) = None
    """The event types to send to this endpoint."""


class OptimizationJob(Model):
    """The job that makes an optimized script."""

    id: str
    status: Literal["queued", "processing", "ready", "failed"] | str
    progress: int
    """In percent."""
    error: dict[str, Any] | None = None
    """Why it failed."""


class OptimizationRequest(Model):
    """What the caller has seen of the transcript."""

    transcript_revision: int | None = None
    """The revision of the transcript to optimize. A newer one is a conflict."""


class OptimizedSegment(Model):
    """A segment of the script, compared with the transcript; times are in seconds."""

    id: str
    edited: bool
    """Whether the text was set by hand."""
    stale: list[ScriptStaleReason]
    """Why the text does not belong to the transcript; voices say the transcript's then."""
    review: bool
    """Whether the transcript has changed since the text was set by hand, which is kept."""
    start: float | None = None
    """Omitted if the transcript no longer has the segment."""
    end: float | None = None
    speaker: str | None = None
    source: str | None = None
    """The text of the transcript."""
    text: str | None = None
    """The text of the script, which is empty for silence; omitted if it has none."""
    engine: str | None = None
    """`rules`, or the language model."""


class OptimizedTranscript(Model):
    """The optimized script of a transcript."""

    status: Literal["none", "processing", "ready", "failed"] | str
    """`ready` as soon as there is a script, also while stale segments are made again."""
    video_id: str
    revision: int
    """Of the script; 0 if there is none."""
    transcript_revision: int
    """The revision of the transcript compared with."""
    segments: list[OptimizedSegment]
    stale_segments: int
    review_segments: int
    job: OptimizationJob | None = None
    """The last job for this revision."""


class Output(Model):
    """One short, promo or clip."""

    output_id: str
    type: ShortsKind
    video_url: str | None = None
    thumbnail_url: str | None = None
    duration: float | None = None
    title: str | None = None
    description: str | None = None


class OutputCopy(Model):
    """The copy of one job's files."""

    id: str
    job_id: str
    video_id: str
    status: CopyStatus
    objects: int
    """Files in the bucket after the last complete run."""
    bytes: int
    """Size of these files."""
    created_at: datetime
    error: str | None = None
    """Why the copy failed."""
    copied_at: datetime | None = None
    """When the last complete run ended."""


class OutputCopyPage(Model):
    """A page of copies."""

    copies: list[OutputCopy]
    next_page_token: str | None = None
    """Pass it as `pageToken` to get the next page. Absent on the last page."""


class OutputImage(Model):
    """A rendered image."""

    thumbnail_id: str
    url: str
    language: str | None = None
    """The language of a translation."""


class PackagedThumbnail(Model):
    """The current thumbnail request of a video."""

    thumbnail_request_id: str
    output_image_urls: list[str]
    detected: list[DetectedImage] | None = None
    """What was detected in the video, for review."""


class PackagingCreated(Model):
    """Runs that were created, and those already pending."""

    registered: bool
    """Whether at least one new run was created."""
    already_pending: list[AutomationType]
    jobs: list[Job]
    """The new runs."""


class PackagingRecipe(Model):
    """Title, description and thumbnail to generate; each is generated if present."""

    title: TitleRecipe | None = None
    description: DescriptionRecipe | None = None
    thumbnail: Literal[True] | ThumbnailRecipe | None = None


class PackagingState(Model):
    """Packaging runs and results of a video."""

    video_id: str
    automations: list[AutomationState]
    title: str | None = None
    description: str | None = None
    thumbnail: PackagedThumbnail | None = None


class PairCapability(Model):
    """A translation that can be requested."""

    source: str
    target: str
    quality: Quality
    """`publishable`, `review` (check before publishing) or `draft`, as measured."""
    dubs: bool
    """Whether dubs can be made, as well as captions."""


class PlanLimits(Model):
    """What the plan allows. The first three apply to each API key, the others to the library."""

    requests_per_minute: int
    concurrent_requests: int
    unfinished_jobs: int
    library_requests_per_minute: int
    library_concurrent_requests: int
    library_free_work_per_day: int
    """Requests that start work which may cost nothing, such as imports and downloads."""
    library_failed_jobs_per_day: int
    """Jobs that may fail or be canceled; then no more can be created on that day (UTC)."""
    library_waits: int
    """Long polls and event streams at once."""
    speech: bool
    """Whether the speech operations can be used."""
    hosting: bool
    """Whether professional hosting can be activated."""
    downloads: Literal["full", "sample", "none"] | str
    """`sample` downloads hold the first minute."""


class PlaybackState(Model):
    """The stream of a video: its state, and what it leaves out."""

    video_id: str
    status: Literal["none", "processing", "ready", "failed"] | str
    transcript_revision: int | None = None
    """The revision whose deleted words the stream leaves out, if any was requested."""
    duration: float | None = None
    """Of the stream, in seconds."""
    kept: list[KeptRange] | None = None
    """What the stream plays of the recording, in order; absent if that is all of it."""
    requested: RequestedCut | None = None
    """What is packaged next."""


class PreviewTake(Model):
    """One take of a line."""

    id: str
    """Choose the take by sending this id as `take` of the line."""
    text: str
    """The wording that is spoken."""
    seconds: float
    tempo: float
    """How much the speech was sped up to fit its time."""
    fit: TakeFit
    variation: TakeVariation
    """How it differs from the first take: `sampling`, the engine speaks differently each time, or `pace`,
    slower or faster. `none` is what a regeneration would speak.
    """
    audio_url: str
    """A WAV file, signed for an hour."""


class ProductCapability(Model):
    """A product, and whether the caller's library can use it now."""

    name: str
    enabled: bool
    limits: dict[str, float]
    """Bounds on requests, by name."""
    reason: str | None = None
    """Why it is not enabled: `plan_required`, `no_provider`, `no_languages`, `no_voices`, …"""


class Progress(Model):
    """The status of one ingest stage."""

    status: Literal["queued", "processing", "ready", "failed"] | str
    language: str | None = None


class PublishedSpeech(Model):
    """What the published audio says; times are in seconds."""

    text: str
    start: float
    duration: float
    tempo: float
    """How much the speech was sped up to fit its time."""


class Quota(Model):
    """What the library may use and what it uses; `used` can exceed a limit that was lowered."""

    limit: int
    used: int


class Quote(Model):
    """The exact price of a bundle, and whether the balance covers it."""

    total: float
    duration_seconds: float
    """The billed duration; 0 if it is unknown and not needed."""
    pricing_version: str
    """The version of the price list."""
    balance: float
    """The wallet balance, excluding credits in escrow."""
    usage_billing_active: bool
    """Whether usage billing covers this bundle: the balance may then go below zero."""
    shortfall: float
    """The credits missing for this bundle; 0 with usage billing."""
    sufficient: bool
    """Whether the bundle could be reserved now."""
    breakdown: list[QuoteLine]


class QuoteLine(Model):
    """One priced item."""

    action_key: (
        Literal[
            "dub",
            "captions",
            "transcript",
            "zero-prompt-thumbnail",
            "thumbnail-translate",
            "content-moment-detect",
            "lipsync",
            "shorts-clip",
            "promo",
            "longclip",
        ]
        | str
    )
    product: str
    credits: float
    target_language_code: str | None = None
    quality: Quality | None = None
    """The class of the translation; a `draft` has its own price. Omitted until it is known."""
    description: str | None = None


class Recipes(Model):
    """Products that start when the transcript is ready."""

    dubs: list[DubRecipe] | None = None
    shorts: ShortsRecipe | None = None
    packaging: PackagingRecipe | None = None


class RecognitionJob(Model):
    """The job that recognizes the speech again."""

    job: Job


class RecognitionRequest(Model):
    """In which language to recognize the speech of a video again."""

    revision: int
    """The revision to change. If there is a newer one, this is a conflict."""
    language: str | None = None
    """The spoken language; by default, that of the transcript."""


class RecoveredDeliveries(Model):
    """What a recovery has started."""

    recovered: int
    """How many deliveries were started again."""
    has_more: bool
    """Whether there may be more; send the request again."""


class ReferenceImage(Model):
    """A reference image of a character."""

    id: str
    url: str
    """Signed URL, valid for one hour."""


class Regeneration(Model):
    """Which stale segments to bring up to date."""

    revision: int
    """The revision of the captions to change. If there is a newer one, this is a conflict."""
    transcript_revision: int | None = None
    """The revision of the transcript that was quoted. A newer one is a conflict."""
    segment_ids: list[str] | None = None
    """The segments to bring up to date; by default, every stale one."""
    accept_draft: bool | None = None
    """Accepts translations of `draft` quality in a library that refuses them otherwise."""


class RegenerationJob(Model):
    """The job that brings segments up to date."""

    job: Job


class RegenerationQuote(Model):
    """What bringing every stale segment up to date takes."""

    segments: int
    """The number of stale segments."""
    translated_segments: int
    """How many of them are translated again. The rest is free."""
    seconds: float
    """The length of what is translated again."""
    credits: float
    """The price, which is what will be charged."""
    estimated_seconds: float
    """How long it will take, once it has started."""
    quality: Quality | None = None
    """The class of the new translation."""


class RenameSpeakerOperation(Model):
    """Sets the label of a speaker. The id stays."""

    op: Literal["renameSpeaker"]
    speaker: str
    """The id of a speaker."""
    label: str
    """What people read."""


class ReplaceTextOperation(Model):
    """Sets the text of a segment."""

    op: Literal["replaceText"]
    id: str
    """The id of a segment."""
    text: str
    """What is said. White space counts as one space; control characters are refused."""


class RequestedCut(Model):
    """A cut that is not packaged yet."""

    transcript_revision: int
    uncut: bool


class Reservation(Model):
    """A bundle whose price is held in escrow. Unused credits return to the balance after 24 hours."""

    reservation_id: str
    total: float
    duration_seconds: float
    line_items: list[ReservationLine]


class ReservationLine(Model):
    """A line in escrow, consumed by one product request."""

    line_item_id: str
    action_key: (
        Literal[
            "dub",
            "captions",
            "transcript",
            "zero-prompt-thumbnail",
            "thumbnail-translate",
            "content-moment-detect",
            "lipsync",
            "shorts-clip",
            "promo",
            "longclip",
        ]
        | str
    )
    product: str
    credits: float
    target_language_code: str | None = None
    quality: Quality | None = None
    """The class of the translation; a `draft` has its own price. Omitted until it is known."""


class ResetOperation(Model):
    """Returns segments to their translation. A segment that was never translated loses its text."""

    op: Literal["reset"]
    ids: list[str]
    """Ids of segments."""


class RestoreOperation(Model):
    """Takes deleted segments back."""

    op: Literal["restore"]
    ids: list[str]
    """Ids of segments."""


class RetentionPolicy(Model):
    """How long the library keeps what it stores."""

    originals_days: int | None
    """Days to keep original files, from the import; null keeps them for ever."""
    intermediates_days: int | None
    """Days to keep what is made again from the original when it is needed."""
    outputs_days: int | None
    """Days to keep dubs, shorts and streams of a video after the last change of any."""


class RetentionPolicyPatch(Model):
    """Changes to the retention policy; null keeps a kind for ever."""

    originals_days: int | None = None
    intermediates_days: int | None = None
    outputs_days: int | None = None


class RetentionPreview(Model):
    """What the policy would delete now."""

    originals: StoredAmount
    intermediates: StoredAmount
    outputs: StoredAmount
    videos: list[VideoAmount]
    """Largest first, at most 20."""
    measured_at: datetime | None = None
    """The scan that this is computed from; absent before the first one."""


class RetentionReport(Model):
    """What the last daily run that deleted something has deleted."""

    originals: StoredAmount
    intermediates: StoredAmount
    outputs: StoredAmount
    videos: list[VideoAmount]
    """Largest first, at most 20."""
    run_at: datetime | None = None
    """Absent if nothing has been deleted yet."""


class ReviewComment(Model):
    """A comment at a time of a video."""

    id: str
    video_id: str
    time: float
    """The position in the video, in seconds."""
    text: str
    author_kind: Literal["person", "key", "guest"] | str
    """A member in the web app, an API key, or a guest who opened a review link."""
    resolved: bool
    """Whether what it says is done."""
    created_at: datetime
    segment_id: str | None = None
    """The segment or line that the comment is about."""
    language: str | None = None
    """The language of the dub or captions that the comment is about. Omitted if it is about the original."""
    author_name: str | None = None
    """The name of the member, or the one that the guest has entered."""
    user_id: str | None = None
    """The author, unless it was a guest."""
    link_id: str | None = None
    """The link that a guest has opened."""


class ReviewCommentPage(Model):
    """Comments, newest first."""

    comments: list[ReviewComment]
    next_page_token: str | None = None
    """Pass as `pageToken` for the next page; omitted on the last page."""


class ReviewCommentPatch(Model):
    """Changes to a comment."""

    text: str | None = None
    """Only its author can change it."""
    resolved: bool | None = None
    """Whether what it says is done."""


class ReviewDecision(Model):
    """A review decision on the detections."""

    approved: bool
    detected_ids: list[str] | None = None
    """Which of them to use; all by default."""


class ReviewLink(Model):
    """A link that opens the review of a video without an account."""

    id: str
    video_id: str
    role: GuestRole
    """`view` opens the studio page of the video, `comment` also takes comments, and `edit` also takes
    corrections of the transcript, dubs and captions. None of them spends credits.
    """
    created_by: str
    """The user who created it."""
    created_at: datetime
    expires_at: datetime
    """When it stops working."""
    label: str | None = None
    """For people: whom the link is for."""


class ReviewLinks(Model):
    """The active links of a video."""

    links: list[ReviewLink]
    """Newest first."""


class RevisionComparison(Model):
    """The segments that differ between two revisions."""

    from_: int
    """The revision whose segments are `before`."""
    to: int
    """The revision whose segments are `after`."""
    changes: list[ChangedSegment]
    """At most 1,000 changed segments."""
    total_changes: int
    """The number of changed segments."""
    speakers: list[ChangedSpeaker]
    """Speakers who were added, removed or renamed."""


class RevisionDocument(Model):
    """A revision with its content."""

    revision: int
    kind: RevisionKind
    """How it came about."""
    created_at: datetime
    actor_kind: Literal["key", "token", "person", "guest", "system", "engine"] | str
    """How its author was authenticated; a `guest` opened a review link."""
    operations: dict[str, int]
    """The number of operations of each kind."""
    segments: list[EditableSegment]
    speakers: list[Speaker]
    user_id: str | None = None
    """Its author, unless it was an engine or a guest."""
    restored_from: int | None = None
    """The revision whose content it took over, for undo, redo and restore."""


class RevisionGuard(Model):
    """The revision that the caller has seen."""

    revision: int
    """The revision to change. If there is a newer one, this is a conflict."""


class RevisionPage(Model):
    """Revisions, newest first."""

    revision: int
    """The current revision."""
    revisions: list[TranscriptRevision]
    next_page_token: str | None = None
    """Pass as `pageToken` for the next page; omitted on the last page."""


class RotatedWebhookSecret(Model):
    """A new signing secret, which is not shown again."""

    secret: str
    """Used to sign deliveries. Store it; it is not shown again."""
    previous_secret_until: datetime
    """Until then, the previous secret signs deliveries too."""


class ScriptChange(Model):
    """A text that is set by hand."""

    id: str
    """The id of a segment."""
    text: str | None
    """What voices say; empty is silence, and null returns to the text of the engine."""


class ScriptPatch(Model):
    """Changes that are made all or none."""

    revision: int
    """The revision of the script to change, or 0 if there is none. A newer one is a conflict."""
    changes: list[ScriptChange]


class ScriptRevision(Model):
    """The revision that a request made, and the changed segments."""

    video_id: str
    revision: int
    segments: list[OptimizedSegment]


class SecretRotation(Model):
    """How to replace a signing secret."""

    overlap_hours: int | None = None
    """How long the previous secret signs deliveries too."""


class Segment(Model):
    """At most one sentence of one speaker; times are in seconds."""

    start: float
    end: float
    speaker: str
    text: str
    deleted: bool
    """Excluded from playback and subtitles."""


class SetSpeakerOperation(Model):
    """Says who speaks."""

    op: Literal["setSpeaker"]
    ids: list[str]
    """Ids of segments."""
    speaker: str
    """The id of a speaker; a new one is added to the speakers."""


class SetTextOperation(Model):
    """Sets the text of a segment by hand. A regeneration keeps it."""

    op: Literal["setText"]
    id: str
    """The id of a segment."""
    text: str
    """What is shown. White space counts as one space; control characters are refused."""


class SetTimesOperation(Model):
    """Sets when a segment starts and ends, without overlapping its neighbors."""

    op: Literal["setTimes"]
    id: str
    """The id of a segment."""
    start: float
    end: float


class ShortsAsked(Model):
    """An accepted request."""

    shorts_request_id: str
    job_id: str
    credits_spent: float
    """Credits held for it, or taken from its reservation."""
    balance: float


class ShortsItem(Model):
    """A request in a list."""

    id: str
    status: Literal["pending", "queued", "processing", "complete", "partial_failed", "failed"] | str
    output_type: ShortsKind
    job_id: str


class ShortsRecipe(Model):
    """Shorts, a promo or clips to create when the transcript is ready."""

    kind: Literal["shorts", "promo", "clips"] | str | None = None
    num_clips: int | None = None
    min_duration: float | None = None
    max_duration: float | None = None
    aspect_ratio: Literal["9:16", "16:9", "1:1"] | str | None = None
    caption_style: (
        Literal["default", "karaoke", "modern", "impact", "subtle", "highlight", "pro_highlight"] | str | None
    ) = None
    clip_selection_prompt: str | None = None
    include_watermark: bool | None = None
    """Watermarked shorts cost less."""


class ShortsRequest(Model):
    """A request and its finished outputs."""

    shorts_request_id: str
    status: Literal["pending", "queued", "processing", "complete", "partial_failed", "failed"] | str
    clips_expected: int
    job_id: str
    outputs: list[Output]


class ShortsRequests(Model):
    """Every request of a video, newest first."""

    requests: list[ShortsItem]


class ShortsWork(Model):
    """Short clips, a promo, or long clips."""

    kind: Literal["shorts", "promo", "clips"] | str
    num_clips: int | None = None
    """At most 10 shorts; a promo is one, and clips are at most 4."""
    min_duration: float | None = None
    """The shortest short, in seconds; does not change the price."""
    include_watermark: bool | None = None
    """Watermarked clips cost less."""
    is_subscriber: bool | None = None
    """Ignored; the discount depends on the library's plan."""
    include_soundtrack: bool | None = None
    """Adds a soundtrack to a promo."""
    include_generated_thumbnail: bool | None = None
    """Adds a thumbnail to each long clip."""


class Speaker(Model):
    """A speaker of the transcript."""

    id: str
    label: str


class SpeakingSettings(Model):
    """Only `speed` is supported; other settings are accepted and ignored."""

    speed: float | None = None


class SpeechModel(SnakeModel):
    """The speech model and its features."""

    model_id: str
    name: str
    description: str
    can_do_text_to_speech: bool
    can_do_voice_conversion: bool
    can_use_style: bool
    can_use_speaker_boost: bool
    serves_pro_voices: bool
    requires_alpha_access: bool
    max_characters_request_free_user: int
    max_characters_request_subscribed_user: int
    maximum_text_length_per_request: int
    token_cost_factor: float
    languages: list[SpokenLanguage]


class SplitOperation(Model):
    """Splits a segment in two. The first keeps the id."""

    op: Literal["split"]
    id: str
    """The id of a segment."""
    at: int
    """The character before which the second segment begins."""
    seconds: float | None = None
    """The time of the split; by default, between the words."""


class SpokenLanguage(SnakeModel):
    """A language supported by at least one voice."""

    language_id: str
    name: str


class StaleItem(Model):
    """A product that would be different if it were made now."""

    product: StaleKind
    id: str
    """Of the job of captions, a dub, a title or a description; of the output of shorts; of the request of a
    thumbnail or download; of the video for its playback.
    """
    reasons: list[str]
    """What has changed."""
    credits: float
    """What it costs to make it, or its stale parts, again."""
    estimated_seconds: float
    """How long that takes; 0 if it is not known."""
    language: str | None = None
    """Of captions, a dub or a download."""
    dub_product: DubProduct | None = None
    """The quality tier of a dub."""
    segments: int | None = None
    """How many segments of captions or lines of a dub."""
    transcript_revision: int | None = None
    """The revision of the transcript that it was made from."""


class StaleProductList(Model):
    """The stale products of a video."""

    video_id: str
    credits: float
    """What making all of them again costs."""
    products: list[StaleItem]
    transcript_revision: int | None = None
    """The current revision of the transcript; absent if there is none."""


class StartedOptimization(Model):
    """A job that was started, or one that has made the same script."""

    video_id: str
    transcript_revision: int
    segments: int
    """How many segments it makes texts for."""
    estimated_seconds: float
    """About how long it takes."""
    job: OptimizationJob


class StorageUsage(Model):
    """What is stored for the library by kind, as of the last daily scan."""

    originals_bytes: int
    """Size of the original files."""
    intermediates_bytes: int
    """What is made again from the originals when needed."""
    outputs_bytes: int
    """What requests have made, and what editing it needs."""
    measured_at: datetime | None = None
    """Absent before the first scan."""


class StoredAmount(Model):
    """A number of objects with their size."""

    objects: int | None = None
    bytes: int | None = None


class Subtitles(Model):
    """A subtitle file, or its processing status."""

    status: Literal["ready", "processing"] | str
    video_id: str
    language: str | None = None
    format: Literal["srt", "vtt"] | str | None = None
    quality: Quality | None = None
    """The class of the translation; omitted for the language of the video."""
    download_url: str | None = None
    """A URL of the file, valid for one hour, saved as `title-language.srt`."""


class SuggestedCut(Model):
    """A part of a text that could be deleted by `deleteWords`."""

    kind: SuggestionKind
    id: str
    """The id of the segment."""
    from_: int
    """The first character."""
    to: int
    """The character after the last one."""
    text: str


class TakeFit(Model):
    """Whether a take fits its time."""

    available_seconds: float
    excess_seconds: float
    """By how much it is too long; 0 if it fits."""


class TermTranslationItem(Model):
    """How a term is translated into one language."""

    text: str
    """The translation."""
    forms: list[str]
    """Inflected forms, which are accepted as well."""


class ThumbnailCreated(Model):
    """A thumbnail request that was accepted."""

    thumbnail_request_id: str
    job_id: str
    balance: float
    output_image_urls: list[str] | None = None
    """Rendered so far; prompt mode only."""


class ThumbnailRecipe(Model):
    """A thumbnail generated from the video."""

    character_count: int | None = None
    """Must equal the number of `characters`; with detection, how many to look for."""
    characters: list[CharacterReference] | None = None
    """Creative only."""
    promote_to_primary: bool | None = None
    """Make the first image the video's poster."""
    reference_schema_version: Literal[1, 2] | int | None = None
    """2 for Precision."""
    pipeline_mode: Pipeline | None = None
    """`thumbnail-v2` is Creative, `thumbnail-precision` shows content plates."""
    content_reference_image_url: str | None = None
    content_reference_image_urls: list[str] | None = None
    design_influence_image_url: str | None = None
    style_reference_image_url: str | None = None
    brand_reference_image_url: str | None = None
    brand_influence: float | None = None
    """Weight of the brand image, 0 to 1; not with Precision."""
    auto_detect_characters: bool | None = None
    """Detect people in the video; Creative only."""
    character_detect_approval_mode: ApprovalMode | None = None
    auto_detect_content_references: bool | None = None
    """Detect content plates in the video; Precision only."""
    content_slot_count: int | None = None
    content_detect_approval_mode: ApprovalMode | None = None
    """`review` waits for approval before rendering."""
    content_detect_prompt: str | None = None
    text_overlay: str | None = None
    """The headline; generated from the transcript by default."""
    omit_text_overlay: bool | None = None
    """Render no headline."""
    auto_translate_thumbnail: bool | None = None
    thumbnail_translation_language_codes: list[str] | None = None
    """Used with `autoTranslateThumbnail`."""
    brand_voice_id: str | None = None
    enabled: bool | None = None


class ThumbnailRequest(Model):
    """A request with the images rendered so far."""

    id: str
    status: Literal["queued", "processing", "complete", "failed"] | str
    output_image_urls: list[str]
    output_images: list[OutputImage]
    """The same images in the same order, with their ids."""
    job_id: str


class ThumbnailRequestList(Model):
    """Requests of a video, newest first."""

    thumbnails: list[ThumbnailRequest]


class ThumbnailWork(Model):
    """A thumbnail generated without a prompt."""

    enabled: bool
    """Priced only if `true`."""
    reference_products: list[str] | None = None
    """One entry for each reference image."""
    character_count: int | None = None
    translate_language_codes: list[str] | None = None
    auto_detect_content_moments: bool | None = None


class TimeRange(Model):
    """A part of the recording, in seconds."""

    start: float
    end: float


class TimelineEntry(Model):
    """One thing that happened to a job."""

    at: datetime
    kind: TimelineKind
    attempt: int
    """Which run of the job, from 1: a failed job can be run again."""
    text: str
    """What happened, in a sentence."""
    duration_seconds: float | None = None
    """How long a step took, or a job waited before it started."""
    step: str | None = None
    """The name of the step, as in the job's `stage`."""
    retries: int | None = None
    """How often parts of the step were repeated."""
    credits: float | None = None
    """Credits held, charged or returned."""
    code: str | None = None
    """The error code of a failure."""
    event_id: str | None = None
    """The delivered event."""
    endpoint_id: str | None = None
    """The webhook endpoint of a delivery."""


class TitleRecipe(Model):
    """A generated title that replaces the title of the source."""

    style: TitleStyle


class Transcript(Model):
    """A transcript, or its state if `status` is not `ready`."""

    status: Literal["not_found", "processing", "ready", "failed"] | str
    user_video_id: str
    word_alignment_url: str | None
    """A temporary URL of a JSON file with the timing of every word."""
    word_alignment_storage_path: str | None
    language: str | None = None
    """The detected language."""
    segments: list[Segment] | None = None
    speakers: list[TranscriptSpeaker] | None = None
    processing_status: str | None = None
    """The current stage, while it is processing."""


class TranscriptChange(Model):
    """The revision that a request made, and what it changed."""

    video_id: str
    revision: int
    """The current revision. It stays the same if nothing has changed."""
    changes: list[ChangedSegment]
    """At most 1,000 changed segments."""
    total_changes: int
    """The number of changed segments."""
    speakers: list[ChangedSpeaker]
    """Speakers who were added, removed or renamed."""


class TranscriptEdit(Model):
    """Operations that are applied in order, all or none."""

    revision: int
    """The revision to change. If there is a newer one, this is a conflict."""
    operations: list[
        ReplaceTextOperation
        | SplitOperation
        | MergeOperation
        | SetSpeakerOperation
        | RenameSpeakerOperation
        | MergeSpeakersOperation
        | SetTimesOperation
        | DeleteOperation
        | RestoreOperation
        | InsertOperation
        | DeleteWordsOperation
    ]


class TranscriptEditList(Model):
    """What remains of the recording without its deleted words."""

    video_id: str
    revision: int
    """The revision of the transcript."""
    frame_rate: Literal["23.976", "24", "25", "29.97", "30", "50", "59.94", "60"] | str
    duration: float
    """Seconds of the recording, in whole frames."""
    kept_duration: float
    """Seconds that remain."""
    kept: list[TimeRange]
    cuts: list[TimeRange]
    file: EditorFile | None = None
    """With `format`: the list as a file."""


class TranscriptImport(Model):
    """A text that people have corrected or written elsewhere."""

    revision: int
    """The revision to change. If there is a newer one, this is a conflict."""
    format: ImportFormat
    """`text` is plain text without times, such as a script."""
    content: str
    """The content of the file."""


class TranscriptRevision(Model):
    """A change of a transcript."""

    revision: int
    kind: RevisionKind
    """How it came about."""
    created_at: datetime
    actor_kind: Literal["key", "token", "person", "guest", "system", "engine"] | str
    """How its author was authenticated; a `guest` opened a review link."""
    operations: dict[str, int]
    """The number of operations of each kind."""
    user_id: str | None = None
    """Its author, unless it was an engine or a guest."""
    restored_from: int | None = None
    """The revision whose content it took over, for undo, redo and restore."""


class TranscriptSpeaker(Model):
    """A speaker of the transcript."""

    id: str
    label: str
    cast_member_id: str | None = None
    """The member of the cast who this is, if it was recognized or confirmed."""


class TrashPage(Model):
    """A page of the trash."""

    videos: list[TrashedVideo]
    next_page_token: str | None = None
    """Pass it as `pageToken` to get the next page. Absent on the last page."""


class TrashedVideo(Model):
    """A video in the trash."""

    id: str
    """The video's id."""
    deleted_at: datetime
    """When the video was deleted."""
    purge_at: datetime
    """When the video is removed for good, unless it is restored."""
    title: str | None = None
    """The video's title."""
    duration: float | None = None
    """Duration in seconds."""
    media_type: Literal["video", "audio"] | str | None = None
    """Whether the file is a video or only audio."""


class UndoOperation(Model):
    """Undoes the last change by hand; the next undo reverts it. It is the only operation of its request."""

    op: Literal["undo"]


class UploadInstructions(Model):
    """How to upload the file."""

    storage_path: str
    session_path: str
    """POST here for a session URL; relative to the version prefix."""


class UploadSession(Model):
    """A signed URL that starts a resumable upload; valid for 30 minutes."""

    url: str
    video_id: str
    storage_path: str
    job_id: str


class UploadSource(Model):
    """A file the caller will upload."""

    type: Literal["upload"]
    file_name: str | None = None
    content_type: str | None = None
    """`audio/*` imports the file as audio."""


class UrlSource(Model):
    """A share link, a YouTube page, or a public media URL."""

    type: Literal["youtube", "dropbox", "google_drive", "https"] | str
    url: str
    """Must belong to the provider in `type`."""


class Video(Model):
    """A video or audio file in a library."""

    id: str
    """The video's id in the library."""
    status: Literal["queued", "processing", "ready", "failed"] | str
    """Overall processing status."""
    title: str | None = None
    description: str | None = None
    duration: float | None = None
    """Duration in seconds."""
    poster_url: str | None = None
    provider: str | None = None
    """The provider of the source."""
    media_type: Literal["video", "audio"] | str | None = None
    default_language_code: str | None = None
    """The language of the source, specified or detected."""
    url: str | None = None
    """Playback URL."""
    url_multi: dict[str, str] | None = None
    """Playback URLs by language code."""
    workspace_id: str | None = None
    """The workspace that owns the video, if any."""
    folder_ids: list[str] | None = None
    labels: list[str] | None = None
    created_at: datetime | None = None
    original_deleted_at: datetime | None = None
    """When the retention policy of the library deleted the original file, if it has."""
    import_: Progress | None = None
    transcript: Progress | None = None


class VideoAmount(Model):
    """What is deleted of one video."""

    video_id: str
    originals_bytes: int
    intermediates_bytes: int
    outputs_bytes: int
    title: str | None = None


class VideoPage(Model):
    """Videos, newest first."""

    videos: list[Video]
    next_page_token: str | None = None
    """Pass it as `pageToken` for the next page; omitted on the last page."""


class VideoPatch(Model):
    """Changes to a video."""

    title: str | None = None
    description: str | None = None
    default_language_code: str | None = None
    """null selects the detected language again."""
    folder_ids: list[str] | None = None
    """Replaces all folders of the video."""
    labels: list[str] | None = None
    """Replaces all labels of the video."""


class Voice(SnakeModel):
    """A voice for text-to-speech, usable once it is ready."""

    voice_id: str
    name: str
    category: str
    """`generated` for a clone, `premade` for a stock voice."""
    labels: dict[str, str]
    status: Literal["processing", "ready", "failed"] | str
    available_for_tiers: list[str]
    settings: VoiceSettings
    description: str | None = None
    preview_url: str | None = None
    """A temporary URL of a spoken preview."""
    workspace_id: str | None = None
    error: str | None = None
    """Why the clone failed."""


class VoiceCapability(Model):
    """A stock voice."""

    id: str
    name: str
    language: str
    gender: str
    age: str


class VoicePatch(Model):
    """Changes to a clone; fields that are not sent stay."""

    name: str | None = None
    description: str | None = None
    labels: dict[str, str] | None = None
    """For example `language`, `gender` and `age`; null means none."""


class VoiceSettings(SnakeModel):
    """Default settings of a voice."""

    stability: float | None = None
    similarity_boost: float | None = None
    style: float | None = None
    use_speaker_boost: bool | None = None
    speed: float | None = None


class Voices(Model):
    """Voice clones, newest first."""

    voices: list[Voice]


class WebhookDelivery(Model):
    """The delivery of one event to one endpoint, with its attempts."""

    event_id: str
    """The event's id, which is also the `webhook-id` of every attempt."""
    type: str
    """The event's type; `endpoint.test` for test events."""
    status: DeliveryState
    created_at: datetime
    """When the event happened."""
    attempts: list[LoggedAttempt]
    """Newest first."""
    next_attempt_at: datetime | None = None
    """When it is sent again."""
    body: str | None = None
    """The body of every attempt; absent once the event has expired."""


class WebhookDeliveryPage(Model):
    """A page of deliveries."""

    deliveries: list[WebhookDeliverySummary]
    next_page_token: str | None = None


class WebhookDeliverySummary(Model):
    """The delivery of one event to one endpoint."""

    event_id: str
    """The event's id, which is also the `webhook-id` of every attempt."""
    type: str
    """The event's type; `endpoint.test` for test events."""
    status: DeliveryState
    created_at: datetime
    """When the event happened."""
    attempt_count: int
    next_attempt_at: datetime | None = None
    """When it is sent again."""
    last_attempt_at: datetime | None = None
    last_status: int | None = None
    """The HTTP status of the last response."""
    last_outcome: DeliveryOutcome | None = None


class WebhookEndpoint(Model):
    """A registered webhook endpoint."""

    id: str
    url: str
    events: list[
        Literal[
            "video.ready",
            "video.failed",
            "job.ready",
            "job.failed",
            "video.updated",
            "job.cancelled",
            "credits.low",
            "transcript.edited",
            "captions.edited",
            "dub.regenerated",
            "dub.regeneration_failed",
        ]
        | str
    ]
    """The event types sent to this endpoint."""
    enabled: bool
    """Whether events are sent. A 410 response or days of failures disable an endpoint."""
    disabled_reason: str | None = None
    """Why the endpoint is disabled."""
    previous_secret_until: datetime | None = None
    """Until then, deliveries are signed with the previous secret too."""


class WebhookEndpointList(Model):
    """The webhook endpoints of the library."""

    webhook_endpoints: list[WebhookEndpoint]


class WebhookEndpointPatch(Model):
    """Changes to an endpoint."""

    url: str | None = None
    """A public HTTPS URL."""
    events: (
        list[
            Literal[
                "video.ready",
                "video.failed",
                "job.ready",
                "job.failed",
                "video.updated",
                "job.cancelled",
                "credits.low",
                "transcript.edited",
                "captions.edited",
                "dub.regenerated",
                "dub.regeneration_failed",
            ]
            | str
        ]
        | None
    ) = None
    """The event types to send to this endpoint."""
    enabled: bool | None = None
    """false stops deliveries, true resumes them with later events."""


class WordingsRequest(Model):
    """The text to shorten."""

    text: str | None = None
    """By default, what the line says."""


class ZeroPromptThumbnail(Model):
    """A thumbnail to render from the video."""

    enabled: bool
    character_count: int | None = None
    """Must equal the number of `characters`; with detection, how many to look for."""
    characters: list[CharacterReference] | None = None
    """Creative only."""
    promote_to_primary: bool | None = None
    """Make the first image the video's poster."""
    reference_schema_version: Literal[1, 2] | int | None = None
    """2 for Precision."""
    pipeline_mode: Pipeline | None = None
    """`thumbnail-v2` is Creative, `thumbnail-precision` shows content plates."""
    content_reference_image_url: str | None = None
    content_reference_image_urls: list[str] | None = None
    design_influence_image_url: str | None = None
    style_reference_image_url: str | None = None
    brand_reference_image_url: str | None = None
    brand_influence: float | None = None
    """Weight of the brand image, 0 to 1; not with Precision."""
    auto_detect_characters: bool | None = None
    """Detect people in the video; Creative only."""
    character_detect_approval_mode: ApprovalMode | None = None
    auto_detect_content_references: bool | None = None
    """Detect content plates in the video; Precision only."""
    content_slot_count: int | None = None
    content_detect_approval_mode: ApprovalMode | None = None
    """`review` waits for approval before rendering."""
    content_detect_prompt: str | None = None
    text_overlay: str | None = None
    """The headline; generated from the transcript by default."""
    omit_text_overlay: bool | None = None
    """Render no headline."""
    auto_translate_thumbnail: bool | None = None
    thumbnail_translation_language_codes: list[str] | None = None
    """Used with `autoTranslateThumbnail`."""
    brand_voice_id: str | None = None
