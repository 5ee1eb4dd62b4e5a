// Generated from the OpenAPI document by `just clients`; do not edit.

/** Says that texts are right for what is said now: they are neither stale nor to be reviewed. */
export interface AcceptOperation {
  op: "accept";
  /** Ids of segments. */
  ids: string[];
}

/** Billable actions. */
export type Action = "dub" | "captions" | "transcript" | "zero-prompt-thumbnail" | "thumbnail-translate" | "content-moment-detect" | "lipsync" | "shorts-clip" | "promo" | "longclip" | "speech" | "prompt-thumbnail";

/** A clone that is being created; poll it until its status is `ready` or `failed`. */
export interface AddedVoice {
  voice_id: string;
  requires_verification: boolean;
}

/** Whether detections must be approved before they are used. */
export type ApprovalMode = "auto" | "review";

/** What can be downloaded. */
export type Artifact = "language_video" | "source" | "bundle";

/** Width to height. */
export type AspectRatio = "9:16" | "16:9" | "1:1";

/** Who performed an action. */
export interface AuditLogActor {
  /** `guest` opened a review link; `system` is an operator's command. */
  kind: PrincipalKind;
  /** The id of the key, token, session or review link. */
  id: string;
  /** The user to whom it belongs. */
  userId?: string;
}

/** One action. */
export interface AuditLogEntry {
  /** Counts from 1 without gaps. */
  sequence: number;
  at: string;
  /** The operation's id, or a name such as `member.remove`. */
  action: string;
  actor: AuditLogActor;
  /** Ids of what was created, changed or deleted. */
  targets: Record<string, unknown>;
  clientAddress?: string;
  /** The response's `X-Request-Id`. */
  requestId?: string;
  /** Settings before the change. */
  before?: Record<string, unknown>;
  /** Settings after the change. */
  after?: Record<string, unknown>;
  /** Keyed hash over this entry and the hash before it. */
  hash: string;
}

/** The last entry of the log. Note it elsewhere: the server can verify the log against it later. */
export interface AuditLogHead {
  /** 0 if the log is empty. */
  sequence: number;
  hash: string;
}

/** A page of the audit log, newest first. */
export interface AuditLogPage {
  entries: AuditLogEntry[];
  head: AuditLogHead;
  nextPageToken?: string;
}

/** Automations to run. */
export interface AutomationOptions {
  /** Default for the description and the thumbnail. */
  brandVoiceId?: string | null;
  generateTitle?: GenerateTitle | null;
  generateDescription?: GenerateDescription | null;
  zeroPromptThumbnail?: ZeroPromptThumbnail | null;
}

/** The current state of a run. */
export interface AutomationState {
  type: AutomationType;
  status: "queued" | "processing" | "review" | "ready" | "skipped" | "failed";
  jobId: string;
  overwriteMode?: OverwriteMode;
  error?: JobError;
}

/** Packaging job outputs. */
export type AutomationType = "generateTitle" | "generateDescription" | "zeroPromptThumbnail";

/** Branding guidelines for thumbnails and descriptions. Not an audio voice. */
export interface BrandVoice {
  id: string;
  name: string;
  guidelines: string;
  colors?: string[];
  createdAt: string;
  workspaceId?: string;
}

/** All brand voices of the library. */
export interface BrandVoiceList {
  brandVoices: BrandVoice[];
}

/** Changes to a brand voice. */
export interface BrandVoicePatch {
  name?: string;
  guidelines?: string;
  colors?: string[] | null;
}

/** A glossary term of the source that a line does not have in its translation. */
export interface BrokenTermItem {
  /** The number of the line, from 0. */
  line: number;
  /** When the line starts, in seconds. */
  start: number;
  term: string;
  /** The translation of the glossary. */
  expected: string;
}

/** What this installation can do now for the caller's library. */
export interface Capabilities {
  languages: LanguageCapability[];
  pairs: PairCapability[];
  voices: VoiceCapability[];
  models: ModelCapability[];
  limits: LimitCapability;
  /** Whether translations of `draft` quality need `acceptDraft` in this library. */
  refusesDrafts: boolean;
  products: ProductCapability[];
}

/** The revision that a request made, and what it changed. */
export interface CaptionChange {
  videoId: string;
  language: string;
  /** The current revision. It stays the same if nothing has changed. */
  revision: number;
  /** At most 1,000 changed segments. */
  changes: ChangedCaptionSegment[];
  /** The number of changed segments. */
  totalChanges: number;
}

/** Operations that are applied in order, all or none. */
export interface CaptionEdit {
  /** The revision of the captions to change. If there is a newer one, this is a conflict. */
  revision: number;
  /** The revision of the transcript that the editor has seen; by default, the current one. */
  transcriptRevision?: number;
  operations: (SetTextOperation | AcceptOperation | ResetOperation | UndoOperation)[];
}

/** Translated subtitles, or a script of captions that exist, that people have written or corrected elsewhere. */
export interface CaptionImport {
  /** `text` is plain text without times, such as a script. */
  format: ImportFormat;
  /** The content of the file. */
  content: string;
  /** The revision of the captions to change, or 0 if there are none in this language yet. If there is a newer one, this is a conflict. */
  revision: number;
}

/** The revision that an import made, what it changed, and what has found no place. */
export interface CaptionImportResult {
  videoId: string;
  language: string;
  /** The current revision. It stays the same if nothing has changed. */
  revision: number;
  /** At most 1,000 changed segments. */
  changes: ChangedCaptionSegment[];
  /** The number of changed segments. */
  totalChanges: number;
  /** The number of segments that have a text in the file. */
  placedSegments: number;
  /** The number of segments that have none, and keep what they had. */
  emptySegments: number;
  /** The number of cues or paragraphs that belong to no segment; they are left out. */
  unplacedCues: number;
}

/** One job per language. */
export interface CaptionJobs {
  jobs: Job[];
}

/** Requested caption position. */
export type CaptionPosition = "top" | "middle" | "bottom";

/** A segment of the captions, compared with the transcript; times are in seconds. */
export interface CaptionSegmentView {
  id: string;
  start: number;
  end: number;
  speaker: string;
  /** The text of the transcript; omitted if the segment is no longer in it. */
  source?: string;
  /** The text of the captions; omitted if the segment is not in them yet. */
  text?: string;
  /** Whether the text was set by hand. */
  edited: boolean;
  /** The translation that a text by hand replaces, if there is one. */
  translation?: string;
  /** Why the segment no longer belongs to the transcript; empty if it does. */
  stale: StaleReason[];
  /** Whether the transcript has changed since the text was set by hand, which is kept. */
  review: boolean;
  /** Why the translation should be reviewed, as in the result of its job. */
  reasons: string[];
  /** The engine that translated it. */
  engine?: string;
  /** Intermediate languages. */
  via?: string[];
  /** The revision of the transcript that it belongs to, if that is known. */
  transcriptRevision?: number;
}

/** The segments of captions in one language, in order. */
export interface CaptionSegments {
  videoId: string;
  language: string;
  /** The current revision of the captions. */
  revision: number;
  /** The revision of the transcript compared with. */
  transcriptRevision: number;
  /** The class of the translation. */
  quality: Quality;
  segments: CaptionSegmentView[];
  staleSegments: number;
  reviewSegments: number;
  regeneration: RegenerationQuote;
}

/** Caption styles of the API. */
export type CaptionStyle = "default" | "karaoke" | "modern" | "impact" | "subtle" | "highlight" | "pro_highlight";

/** The text of a segment. */
export interface CaptionText {
  text: string;
  /** Whether the text was set by hand. */
  edited: boolean;
}

/** A speaker of a video who is a member of the cast. */
export interface CastAppearance {
  videoId: string;
  speakerId: string;
  /** Whether it was set by a person, or recognized by the voice. Only the former have voice prints. */
  source: "confirmed" | "recognized";
  /** How similar the voice was to a voice print, at most 1, if recognized. */
  similarity?: number;
  /** The state of the voice print made from this speaker. There is none where speakers are not recognized. */
  embeddingStatus: "none" | "pending" | "ready" | "failed";
  /** Why the voice print could not be made. */
  failure?: "too_little_speech" | "no_audio" | "no_embedder" | "unusable";
  createdAt: string;
}

/** Speakers of videos who are this member, newest first. */
export interface CastAppearancePage {
  appearances: CastAppearance[];
  /** Pass it as `pageToken` for the next page; omitted on the last page. */
  nextPageToken?: string;
}

/** A person who speaks in videos of the library. */
export interface CastMember {
  id: string;
  /** What recognized speakers are called in new transcripts. */
  name: string;
  /** Where the member is recognized: in this folder and the folders inside it. Everywhere if it is absent. */
  folderId?: string;
  /** By language, the voice that speaks for the member in dubs: the id of a stock voice, or of a clone, which premium dubs use. */
  voices: Record<string, string>;
  /** How many voice prints of this person are stored. Without any, the member is not recognized. */
  speakerEmbeddings: number;
  createdAt: string;
}

/** Members of the cast, newest first. */
export interface CastMemberPage {
  members: CastMember[];
  /** Pass it as `pageToken` for the next page; omitted on the last page. */
  nextPageToken?: string;
}

/** Changes to a member of the cast. */
export interface CastMemberPatch {
  /** What recognized speakers are called in new transcripts. */
  name?: string;
  /** Where the member is recognized: in this folder and the folders inside it. Everywhere if it is absent. */
  folderId?: string | null;
  /** By language, the voice that speaks for the member in dubs: the id of a stock voice, or of a clone, which premium dubs use. Replaces all. */
  voices?: Record<string, string>;
}

/** Where speakers are recognized by their voices, which are biometric data: nowhere unless it is set. */
export interface CastRecognition {
  /** In all videos of the library. */
  recognizeSpeakers: boolean;
  /** In videos of these folders and of the folders inside them. */
  folderIds?: string[] | null;
}

/** A comparison of existing transcripts with the cast, and how far it is. */
export interface CastRecognitionRun {
  id: string;
  status: "running" | "finished";
  /** Whose videos are compared; all if it is absent. */
  folderId?: string;
  /** Videos in which all speakers were compared. */
  videosCompared: number;
  /** Videos whose speakers could not be compared. */
  videosFailed: number;
  /** Speakers who were given the name of a member. */
  speakersRecognized: number;
  createdAt: string;
  finishedAt?: string;
}

/** Where speakers are recognized by their voices. */
export interface CastRecognitionState {
  /** In all videos of the library. */
  recognizeSpeakers: boolean;
  /** In videos of these folders and of the folders inside them. */
  folderIds: string[];
}

/** A segment that differs: without `before` it was added, without `after` it was removed. */
export interface ChangedCaptionSegment {
  id: string;
  before?: CaptionText;
  after?: CaptionText;
}

/** A segment that differs: without `before` it was added, without `after` it was removed. */
export interface ChangedSegment {
  id: string;
  before?: EditableSegment;
  after?: EditableSegment;
}

/** A speaker whose label differs: without `before` it was added, without `after` it was removed. */
export interface ChangedSpeaker {
  id: string;
  /** The label before. */
  before?: string;
  /** The label after. */
  after?: string;
}

/** A saved character that thumbnails can show. */
export interface Character {
  id: string;
  name: string;
  referenceImages: ReferenceImage[];
  createdAt: string;
  workspaceId?: string;
}

/** All characters of the library. */
export interface CharacterList {
  characters: Character[];
}

/** Changes to a character. */
export interface CharacterPatch {
  name?: string;
}

/** A part of a text. */
export interface CharacterRange {
  /** The first character. */
  from: number;
  /** The character after the last one. */
  to: number;
}

/** A character to show: a saved one, image URLs, or a description. */
export interface CharacterReference {
  /** A saved character of the library. */
  characterId?: string | null;
  /** Which of the character's images to use; all by default. */
  referenceImageIds?: string[] | null;
  imageUrl?: string | null;
  imageUrls?: string[] | null;
  name?: string | null;
  /** Where in the image, such as `left`. */
  position?: string | null;
  action?: string | null;
}

/** States of a copy. */
export type CopyStatus = "pending" | "copied" | "failed";

/** A link with its URL, which is returned only once. */
export interface CreatedReviewLink {
  id: string;
  videoId: string;
  /** `view` opens the studio page of the video, `comment` also takes comments, and `edit` also takes corrections of the transcript, dubs and captions. None of them spends credits. */
  role: GuestRole;
  /** For people: whom the link is for. */
  label?: string;
  /** The user who created it. */
  createdBy: string;
  createdAt: string;
  /** When it stops working. */
  expiresAt: string;
  /** What to send to the reviewer. Everyone who has it can open the review. */
  url: string;
}

/** The created video and its jobs. */
export interface CreatedVideo {
  videoId: string;
  status: "queued" | "processing" | "ready" | "failed";
  video?: Video;
  upload?: UploadInstructions;
  jobs: Job[];
}

/** A new endpoint with its signing secret, which is not shown again. */
export interface CreatedWebhookEndpoint {
  id: string;
  url: string;
  /** The event types sent to this endpoint. */
  events: ("video.ready" | "video.failed" | "job.ready" | "job.failed" | "video.updated" | "job.cancelled" | "credits.low" | "transcript.edited" | "captions.edited" | "dub.regenerated" | "dub.regeneration_failed")[];
  /** Whether events are sent. A 410 response or days of failures disable an endpoint. */
  enabled: boolean;
  /** Why the endpoint is disabled. */
  disabledReason?: string;
  /** Until then, deliveries are signed with the previous secret too. */
  previousSecretUntil?: string;
  /** Used to sign deliveries. Store it; it is not shown again. */
  secret: string;
}

/** Products to price together. */
export interface CreditBundle {
  /** The duration to bill; defaults to the video's duration. */
  durationSeconds?: number | null;
  dubs?: DubWork[] | null;
  captionLanguageCodes?: string[] | null;
  /** A transcript only. */
  transcriptOnly?: boolean | null;
  shorts?: ShortsWork | null;
  zeroPromptThumbnail?: ThumbnailWork | null;
  /** Accepts translations of `draft` quality in a library that refuses them otherwise. */
  acceptDraft?: boolean | null;
}

/** Hesitations and repeated words, in order. */
export interface CutSuggestions {
  videoId: string;
  /** The revision whose texts the positions refer to. */
  revision: number;
  suggestions: SuggestedCut[];
  totalSuggestions: number;
}

/** Marks segments as deleted: products leave them out. */
export interface DeleteOperation {
  op: "delete";
  /** Ids of segments. */
  ids: string[];
}

/** Marks parts of a segment as deleted. It is split around them; the first part keeps the id. */
export interface DeleteWordsOperation {
  op: "deleteWords";
  /** The id of a segment. */
  id: string;
  /** Ranges of characters, in order and apart. */
  ranges: CharacterRange[];
}

/** The outcome of an attempt. */
export type DeliveryOutcome = "delivered" | "refused" | "gone" | "unreachable" | "withdrawn";

/** Which deliveries to start again. */
export interface DeliveryRecovery {
  /** Only events that happened at or after this time. */
  since: string;
}

/** The request of an attempt. */
export interface DeliveryRequest {
  url: string;
  /** The headers, without the signature. */
  headers: Record<string, string>;
}

/** The response to an attempt. */
export interface DeliveryResponse {
  status: number;
  /** At most the first 1,024 bytes, as text. */
  body?: string;
  /** Whether the body may have been longer. */
  truncated: boolean;
}

/** The state of a delivery. */
export type DeliveryState = "pending" | "delivered" | "failed";

/** Purpose and format of a description. */
export type DescriptionKind = "youtube-description" | "social-post" | "how-to-guide" | "blog-post" | "video-summary";

/** A generated description. */
export interface DescriptionRecipe {
  type: DescriptionKind;
}

/** The bucket that outputs are copied to, without its secret access key. */
export interface Destination {
  endpoint: string;
  region: string;
  bucket: string;
  prefix: string;
  accessKeyId: string;
  enabled: boolean;
}

/** A bucket to copy outputs to. */
export interface DestinationSettings {
  /** The public HTTPS URL of the store, without the bucket. */
  endpoint: string;
  /** The region of the bucket. */
  region: string;
  /** The name of the bucket. */
  bucket: string;
  /** Begins the key of every copy. */
  prefix?: string | null;
  /** The id of the access key. */
  accessKeyId: string;
  /** Stored encrypted and never returned. Absent keeps it. */
  secretAccessKey?: string | null;
  /** Whether outputs are copied. A disabled bucket is not tested. */
  enabled?: boolean | null;
}

/** Something detected in the video for a thumbnail. */
export interface DetectedImage {
  id: string;
  kind: "character" | "content";
  url: string;
  /** Time in the video, in seconds. */
  time?: number;
}

/** Detection in the video runs first; poll the packaging job. */
export interface DetectionQueued {
  jobId: string;
  status?: "queued";
  /** Whether a new run was created. */
  registered: boolean;
}

/** A download; failed ones have the same shape. */
export interface Download {
  id: string;
  status: JobState;
  tier: Tier;
  /** Whether only a sample is provided. */
  truncated: boolean;
  /** Maximum length of a sample; null for the full tier. */
  maxDurationSeconds: number | null;
  /** URL of the file, valid for an hour and named after the title; null until ready. */
  url: string | null;
  /** The error; null unless failed. */
  error: Record<string, unknown> | null;
  jobId: string;
}

/** A download that is being prepared. */
export interface DownloadAsked {
  downloadRequestId: string;
  jobId: string;
  artifact: Artifact;
  language: string;
  tier: Tier;
  status: JobState;
}

/** A dub in its current state. A preview of the first minute may be available while it is processing. */
export interface Dub {
  status: "processing" | "ready" | "failed";
  userVideoId: string;
  languageCode: string;
  dubbingRequestId: string;
  dubbingStatus: string;
  completionStatus?: string;
  /** The class of the translation; a `draft` has its own price. Omitted until it is known. */
  quality?: Quality;
  /** A temporary URL of the audio, saved as `title-language.m4a`. */
  audioUrl: string | null;
  audioTrackId: string | null;
  segments?: Segment[];
  speakers?: Speaker[];
  /** How well the lines match the source timing, worst first. `naturalFit` is the share of lines that are 10 % shorter to 20 % longer than their slot before their tempo is changed. `loudnessOutliers` lists the lines that are more than 6 dB below the median level of their speaker. */
  sync?: Record<string, unknown>;
  /** Glossary terms whose translation a line does not have, the first 200. */
  brokenTerms?: BrokenTermItem[];
  jobId: string;
}

/** A summary of a dub. */
export interface DubItem {
  id: string;
  language: string;
  product: string;
  status: string;
  completion?: string;
  /** The class of the translation; a `draft` has its own price. Omitted until it is known. */
  quality?: Quality;
  jobId: string;
}

/** One job per language, and the remaining credit balance. */
export interface DubJobs {
  videoId: string;
  jobs: Job[];
  balance: number;
}

/** How much text fits: a text fits if its characters times `secondsPerCharacter` are at most `availableSeconds`. */
export interface DubLineFit {
  /** From the start of the line to where the next one begins, or 3 s after its own end. */
  availableSeconds: number;
  /** How long the voice takes for a character on average, at the speed of the line. */
  secondsPerCharacter: number;
}

/** Dub quality tiers. */
export type DubProduct = "plus" | "premium";

/** Dubs to create when the transcript is ready. */
export interface DubRecipe {
  languages: string[];
  product?: DubProduct | null;
  /** Accepts translations of `draft` quality in a library that refuses them otherwise. */
  acceptDraft?: boolean | null;
}

/** Which lines to make again. */
export interface DubRegenerationRequest {
  /** The revision of the dub. If there is a newer one, this is a conflict. */
  revision: number;
  /** The revision of the transcript. If there is a newer one, this is a conflict. */
  transcriptRevision?: number | null;
  /** Ids of lines; by default, all stale lines. */
  segmentIds?: string[] | null;
}

/** A line of a dub: one or more segments of the transcript, spoken by one voice. */
export interface DubSegment {
  /** Stays the same in later versions of the dub. */
  id: string;
  /** The segments of the transcript that it is made of. */
  segmentIds: string[];
  /** When the original line starts. */
  start: number;
  /** When the original line ends. */
  end: number;
  speaker: string;
  /** What the original line says. */
  source: string;
  /** What the line says; omitted while it has yet to be translated. */
  text?: string;
  /** The id of the stock voice, or `clone`; omitted until one is assigned. */
  voice?: string;
  edits: DubSegmentEdits;
  /** Omitted if the published audio says nothing here. */
  published?: PublishedSpeech;
  /** How much text fits; omitted if the line was removed. */
  fit?: DubLineFit;
  /** Why the published audio is outdated; empty if it is not. */
  stale: LineStaleReason[];
  /** Whether the original was changed after the text of the line was written. */
  review: boolean;
}

/** What to set for a line. Null returns to what is automatic; a field that is absent stays as it is. */
export interface DubSegmentChange {
  /** The id of a line. */
  id: string;
  /** What the line says, instead of the translation. */
  text?: string | null;
  /** The id of a stock voice that speaks the language of the dub. */
  voice?: string | null;
  /** How fast the voice speaks, relative to its natural speed. By default, it fits the line. */
  speed?: number | null;
  /** Seconds by which the line starts later, or earlier if negative, between its neighbors. */
  startOffset?: number | null;
  /** How much louder the line is, in dB. */
  gainDb?: number | null;
  /** Plays the original sound instead of a voice. */
  keepOriginal?: boolean | null;
  /** Leaves out the line, so that only the background is heard. */
  mute?: boolean | null;
  /** Words of the text, spelled as they are to be spoken. */
  pronunciation?: Record<string, string> | null;
  /** The id of a take: a regeneration uses exactly its audio. */
  take?: string | null;
}

/** What people have set for a line. */
export interface DubSegmentEdits {
  text?: string;
  voice?: string;
  speed?: number;
  startOffset?: number;
  gainDb?: number;
  keepOriginal?: boolean;
  mute?: boolean;
  pronunciation?: Record<string, string>;
  /** The chosen take, while the line says what it says. */
  take?: string;
}

/** The lines of a dub in the order of time, with what is outdated. */
export interface DubSegments {
  videoId: string;
  language: string;
  product: string;
  /** Of the edits; send it with a change. */
  revision: number;
  /** Of the transcript that the lines are compared with. */
  transcriptRevision: number;
  /** Of the transcript that the published audio was made from. */
  publishedTranscriptRevision: number;
  segments: DubSegment[];
  /** Of all stale lines. */
  regeneration: LineRegenerationQuote;
  job?: LineRegenerationJob;
}

/** The changed lines, and what regenerating the dub costs now. */
export interface DubSegmentsChange {
  revision: number;
  segments: DubSegment[];
  regeneration: LineRegenerationQuote;
}

/** Changes of lines, made all or none. */
export interface DubSegmentsPatch {
  /** The revision of the dub. If there is a newer one, this is a conflict. */
  revision: number;
  changes: DubSegmentChange[];
}

/** Dubs into one or more languages, priced per minute and language. */
export interface DubWork {
  product?: "plus" | "premium" | null;
  languages: string[];
  /** The transcript to dub; does not change the price. */
  sourceVoiceover?: "original" | "optimized" | null;
}

/** A video's dubs. */
export interface Dubs {
  dubs: DubItem[];
}

/** A segment with the id that it keeps through edits; times are in seconds. */
export interface EditableSegment {
  id: string;
  start: number;
  end: number;
  speaker: string;
  text: string;
  /** Left out by products. */
  deleted: boolean;
}

/** A file for an editing program. */
export interface EditorFile {
  format: EditorFormat;
  name: string;
  content: string;
}

/** Formats that editing programs import. */
export type EditorFormat = "edl" | "fcpxml" | "otio";

/** A requested erasure. Keep the URL: no key or session of the library works any more. */
export interface Erasure {
  /** The erasure's id, which is also on the certificate. */
  erasureId: string;
  /** The library that is being erased. */
  libraryId: string;
  status: "erasing";
  requestedAt: string;
  /** Needs no key and does not expire. Returns the status and, once finished, the signed certificate. */
  certificateUrl: string;
}

/** An API error. */
export interface ErrorBody {
  /** Error code; branch on this, not on the message. */
  code: string;
  /** Human-readable message. */
  message: string;
  /** Machine-readable context; may be empty. */
  details: Record<string, unknown>;
}

/** The body of every error response. */
export interface ErrorEnvelope {
  error: ErrorBody;
}

/** Events in the order in which they were recorded. */
export interface EventPage {
  events: LibraryEvent[];
  /** Where the next page begins: pass it as `after`. Store it. */
  cursor: string;
  /** Whether the next page has events already. */
  hasMore: boolean;
}

/** What the archive contains; its `manifest.json` lists every file. */
export interface ExportSummary {
  formatVersion: number;
  /** Videos with a folder in the archive, including those in the trash. */
  videos: number;
  trashedVideos: number;
  /** Files that no longer existed; the manifest names them. */
  missingFiles: number;
  /** Number and size of files, by kind. */
  kinds: Record<string, ExportedKind>;
}

/** The files of one kind. */
export interface ExportedKind {
  files: number;
  bytes: number;
}

/** A folder. Folders nest up to three levels deep. */
export interface Folder {
  id: string;
  name: string;
  /** null at the root. */
  parentId: string | null;
  /** Names from the root through this folder. */
  path: string[];
  workspaceId?: string;
}

/** All folders of the library. */
export interface FolderList {
  folders: Folder[];
}

/** Changes to a folder. */
export interface FolderPatch {
  /** `All Videos` is reserved. */
  name?: string;
  /** The new parent; null moves the folder to the root. */
  parentId?: string | null;
}

/** One page of search results over clones and stock voices. */
export interface FoundVoices {
  voices: Voice[];
  has_more: boolean;
  total_count: number;
  next_page_token: string | null;
}

/** A description to generate. */
export interface GenerateDescription {
  enabled: boolean;
  descriptionType: DescriptionKind;
  /** `fill-if-empty` writes only to empty fields, `always` replaces, `never` records a skip. */
  overwriteMode?: OverwriteMode | null;
  brandVoiceId?: string | null;
}

/** A title to generate. */
export interface GenerateTitle {
  enabled: boolean;
  titleType: TitleStyle;
  /** `fill-if-empty` writes only to empty fields, `always` replaces, `never` records a skip. */
  overwriteMode?: OverwriteMode | null;
}

/** Terms to add or replace, as a CSV file. */
export interface GlossaryImport {
  /** A header and one row per term, in the format of the export. The columns `term` and `language` are required. */
  csv: string;
}

/** What an import changed. */
export interface GlossaryImported {
  created: number;
  updated: number;
  unchanged: number;
}

/** Terms, newest first. */
export interface GlossaryPage {
  terms: GlossaryTerm[];
  /** Pass it as `pageToken` for the next page; omitted on the last page. */
  nextPageToken?: string;
}

/** A term of a library's glossary. */
export interface GlossaryTerm {
  id: string;
  term: string;
  language: string;
  /** Where the term applies: to videos in this folder and the folders inside it. Everywhere if it is absent. */
  folderId?: string;
  /** Whether the term stays as it is in every language. */
  keep: boolean;
  /** Whether upper and lower case are distinguished. */
  caseSensitive: boolean;
  /** The translation by language. */
  translations: Record<string, TermTranslationItem>;
  /** By language, how dubs spell the translation for the voice, or the term where it is not translated. Texts show it unchanged. */
  pronunciations: Record<string, string>;
  note?: string;
  createdAt: string;
}

/** Changes to a term. */
export interface GlossaryTermPatch {
  term?: string;
  /** The language of the term. */
  language?: string;
  /** Where the term applies: to videos in this folder and the folders inside it. Everywhere if it is absent. */
  folderId?: string | null;
  /** Whether the term stays as it is in every language. */
  keep?: boolean;
  /** Whether upper and lower case are distinguished. */
  caseSensitive?: boolean;
  /** The translation by language. Replaces all. */
  translations?: Record<string, NewTermTranslation>;
  /** By language, how dubs spell the translation for the voice, or the term where it is not translated. Texts show it unchanged. Replaces all. */
  pronunciations?: Record<string, string>;
  /** For people; nothing else uses it. */
  note?: string | null;
}

/** What a review link allows, from the least to the most; each role includes those before it. */
export type GuestRole = "view" | "comment" | "edit";

/** Service health. */
export interface Health {
  ok: boolean;
  version: string;
}

/** Hosting status of a video. */
export interface Hosting {
  videoId: string;
  /** `inactive`: packaged by Cutroom; `queued`, `processing`: being sent to the hosting provider. */
  status: "inactive" | "queued" | "processing" | "ready";
  /** Whether the plan allows hosting, a source file exists and a provider is configured. */
  canActivate: boolean;
  packagingProvider: Provider;
  /** Why hosting cannot be activated; present whenever `canActivate` is false. */
  reason?: "plan_required" | "missing_input";
  /** The reason in words. */
  message?: string;
}

/** Formats of an imported text. */
export type ImportFormat = "srt" | "vtt" | "ttml" | "text";

/** Adds a segment where nothing is said yet. */
export interface InsertOperation {
  op: "insert";
  start: number;
  end: number;
  /** What is said. White space counts as one space; control characters are refused. */
  text: string;
  /** The id of a speaker; a new one is added to the speakers. */
  speaker: string;
}

/** An asynchronous task with a deterministic id. */
export interface Job {
  id: string;
  type: JobType;
  status: JobState;
  /** The video the job belongs to. */
  videoId?: string;
  /** The target language of a dub or of captions. */
  language?: string;
  /** The quality tier of a dub. */
  product?: DubProduct;
  /** The output of a packaging job. */
  automationType?: AutomationType;
  /** Whole percent, which never decreases; present while the job is processing. */
  progress?: number;
  /** The current step; present while the job is processing. */
  stage?: string;
  /** When the job will probably be ready, estimated from its progress and from earlier jobs. Present while the job is processing, once there is something to go by; absent while it waits for a person. */
  estimatedReadyAt?: string;
  /** The job's output; present once it is ready. */
  result?: Record<string, unknown>;
  /** When the output was deleted. The result then holds only the receipt, and requesting the same product again runs the job again, at its price. */
  outputDeletedAt?: string;
  /** Why the job failed; present once it has failed. */
  error?: JobError;
}

/** Why a job failed. */
export interface JobError {
  /** Error code to branch on. */
  code: string;
  /** Human-readable message. */
  message: string;
  details?: Record<string, unknown>;
}

/** The jobs of a video, newest first. */
export interface JobList {
  jobs: Job[];
}

/** `ready` and `failed` are terminal. */
export type JobState = "queued" | "processing" | "ready" | "failed";

/** What happened to a job, oldest first. */
export interface JobTimeline {
  jobId: string;
  type: JobType;
  status: JobState;
  /** The state of the job, how long it took and what it cost, in words. */
  summary: string;
  /** How often the job has been run. The latest eleven are listed. */
  attempts: number;
  /** Credits charged for the listed attempts. */
  charged: number;
  entries: TimelineEntry[];
}

/** Job types exposed by the API. */
export type JobType = "import" | "transcript" | "dub" | "captions" | "shorts" | "thumbnail" | "packaging" | "download";

/** A part of the recording that the stream plays, in seconds of the recording. */
export interface KeptRange {
  start: number;
  end: number;
}

/** What can be done with a language. */
export interface LanguageCapability {
  code: string;
  /** The English name. */
  name: string;
  /** Whether videos in this language can be translated. */
  source: boolean;
  /** Whether captions can be translated into it from some language. */
  captions: boolean;
  /** Whether dubs can be made in it from some language. */
  dubs: boolean;
  /** Whether a stock voice speaks it. */
  speech: boolean;
}

/** The library's credits. */
export interface LibraryCredits {
  /** Credits that can be spent, without those in escrow. */
  balance: number;
  /** Held for jobs and reservations. */
  inEscrow: number;
  /** Whether the balance may go below zero. */
  usageBillingActive: boolean;
  /** How far the balance may go below zero. */
  overdraft: number;
}

/** An event of the library's log. */
export interface LibraryEvent {
  /** The `webhook-id` of its deliveries. */
  id: string;
  type: "video.ready" | "video.failed" | "job.ready" | "job.failed" | "video.updated" | "job.cancelled" | "credits.low" | "transcript.edited" | "captions.edited" | "dub.regenerated" | "dub.regeneration_failed";
  /** When it happened. */
  timestamp: string;
  /** The Video or Job as it was, without signed URLs; for `credits.low`, the balance, and for `transcript.edited` and `captions.edited`, the video and the revision. For `dub.regenerated` and `dub.regeneration_failed`, the dub, the lines and the error. */
  data: Record<string, unknown>;
}

/** An export of the library. */
export interface LibraryExport {
  id: string;
  status: JobState;
  /** Percent of the work that is done. */
  progress: number;
  createdAt: string;
  /** When it became ready or failed. */
  finishedAt: string | null;
  /** When the export is removed. */
  expiresAt: string;
  /** Files in the archive; null until they are counted. */
  fileCount: number | null;
  /** Size of all files in the archive. */
  contentBytes: number | null;
  /** Size of the archive. */
  archiveBytes: number | null;
  /** SHA-256 of the archive, hexadecimal; null until ready. */
  sha256: string | null;
  /** Null until the files are counted. */
  summary: ExportSummary | null;
  /** URL of the archive; null until ready. It is valid for an hour and supports `Range` requests. Get the export again for a new URL and resume with it. */
  downloadUrl: string | null;
  /** The error of a failed export. */
  error?: Record<string, unknown>;
}

/** Exports of the library, newest first. */
export interface LibraryExportList {
  exports: LibraryExport[];
}

/** Quotas of the library, for all its API keys together. A request beyond one returns 409 with `reason: quota`. */
export interface LibraryQuotas {
  /** Originals, and outputs as of the last daily scan. */
  storageBytes: Quota;
  /** Media imported in this calendar month (UTC), in full minutes. */
  mediaMinutes: Quota;
  /** Jobs that are queued or processing. */
  unfinishedJobs: Quota;
}

/** The library of the API key: its plan, limits and use. */
export interface LibrarySummary {
  id: string;
  name: string;
  kind: "personal" | "workspace";
  workspaceId?: string;
  plan: PlanName;
  suspended: boolean;
  limits: PlanLimits;
  quotas: LibraryQuotas;
  usage: LibraryUsage;
  storage: StorageUsage;
  credits: LibraryCredits;
}

/** What the library uses. */
export interface LibraryUsage {
  /** Size of the original files. */
  storageBytes: number;
  /** Duration of all imported media. */
  importedMinutes: number;
  /** Media in finished transcripts, captions and dubs; each language counts. */
  processedMinutes: number;
  /** Of the API key that sends the request. */
  unfinishedJobs: number;
}

/** Limits of the plan, which apply to each API key, and of every request. */
export interface LimitCapability {
  requestsPerMinute: number;
  concurrentRequests: number;
  unfinishedJobs: number;
  /** Of a JSON body. */
  bodyBytes: number;
  /** In one request. */
  languages: number;
  /** On one page of a list. */
  pageItems: number;
}

/** Takes of a line; poll it until its status is `ready` or `failed`. */
export interface LinePreview {
  id: string;
  segmentId: string;
  status: "queued" | "processing" | "ready" | "failed";
  /** Empty until all are ready. */
  takes: PreviewTake[];
  /** When the takes can no longer be chosen. */
  expiresAt?: string;
  /** Why it failed. */
  error?: Record<string, unknown>;
}

/** A regeneration that was started; the published audio stays until it is ready. */
export interface LineRegeneration {
  videoId: string;
  language: string;
  product: string;
  job: LineRegenerationJob;
  quote: LineRegenerationQuote;
  balance: number;
}

/** The last regeneration. */
export interface LineRegenerationJob {
  id: string;
  status: "queued" | "processing" | "ready" | "failed";
  /** In percent. */
  progress: number;
  /** Why it failed; it was not charged then. */
  error?: Record<string, unknown>;
}

/** What it costs to make stale lines again. */
export interface LineRegenerationQuote {
  revision: number;
  transcriptRevision: number;
  /** The lines that are made again. */
  segmentIds: string[];
  /** How long a voice has to speak, in the time of the original lines. */
  seconds: number;
  /** The exact price. */
  credits: number;
  /** About how long it takes. */
  estimatedSeconds: number;
}

/** Why a line has to be made again. */
export type LineStaleReason = "edited" | "sourceChanged" | "added" | "removed" | "cut" | "captionsChanged";

/** A shorter wording. */
export interface LineWording {
  text: string;
  /** About how long the voice speaks. */
  seconds: number;
  /** Whether it was made with the dub, by rules, or by the model. */
  origin: WordingOrigin;
}

/** Shorter wordings of a line that fit its time. */
export interface LineWordings {
  /** Get the wordings by it while `model` is `pending`; omitted without a model. */
  id?: string;
  segmentId: string;
  /** The text that they shorten. */
  text: string;
  /** About how long the voice speaks the text. */
  seconds: number;
  fit: DubLineFit;
  /** Whether the language model has answered: `none` if it was not asked, `late` if it takes more than 30 seconds. The other wordings are there in any case. */
  model: ModelAnswer;
  /** The longest one first; empty if there is none. */
  wordings: LineWording[];
}

/** One attempt to deliver an event. */
export interface LoggedAttempt {
  /** Rises with every attempt; a redelivery may leave numbers out. */
  number: number;
  at: string;
  outcome: DeliveryOutcome;
  durationMs: number;
  request: DeliveryRequest;
  /** Absent if there was none in time. */
  response?: DeliveryResponse;
}

/** Merges neighboring segments. The first keeps its id, its speaker and its start. */
export interface MergeOperation {
  op: "merge";
  /** Ids of neighbors. */
  ids: string[];
}

/** Makes one speaker of some, who are the same person. The others are removed. */
export interface MergeSpeakersOperation {
  op: "mergeSpeakers";
  /** Who is the same person. */
  speakers: string[];
  /** The id of a speaker; a new one is added to the speakers. */
  into: string;
}

/** Whether wordings of a language model are among those of a response. */
export type ModelAnswer = "none" | "pending" | "late" | "ready" | "failed";

/** A model that requests can name. */
export interface ModelCapability {
  id: string;
  product: string;
}

/** Languages to translate the transcript into. */
export interface NewCaptions {
  languages: string[];
  /** The credit reservation to charge. */
  reservationId?: string | null;
  /** The reservation line item to charge for each language. */
  reservationLineItemIdByLanguage?: Record<string, string> | null;
  /** Accepts translations of `draft` quality in a library that refuses them otherwise. */
  acceptDraft?: boolean | null;
}

/** A person to add to the cast. */
export interface NewCastMember {
  /** What recognized speakers are called in new transcripts. */
  name: string;
  /** Where the member is recognized: in this folder and the folders inside it. Everywhere if it is absent. */
  folderId?: string | null;
  /** By language, the voice that speaks for the member in dubs: the id of a stock voice, or of a clone, which premium dubs use. */
  voices?: Record<string, string> | null;
}

/** Which existing transcripts to compare with the cast. */
export interface NewCastRecognitionRun {
  /** Compares videos of this folder and of the folders inside it; all videos if it is absent. */
  folderId?: string | null;
}

/** Landscape excerpts of 5 to 25 minutes. */
export interface NewClips {
  kind: "clips";
  /** Clamped to 1 to 4. */
  numClips?: number | null;
  /** What the chosen moments should be about. */
  clipSelectionPrompt?: string | null;
  /** Generates a thumbnail for each clip. */
  includeGeneratedThumbnail?: boolean | null;
  /** A reservation to charge. */
  reservationId?: string | null;
}

/** What to prepare. */
export interface NewDownload {
  /** `language_video`: a video with audio in the language; `source`: the original file; `bundle`: an archive of all files. */
  artifact: Artifact;
  /** Required for `language_video`. */
  language?: string | null;
  /** Keep deleted words in a `language_video`, which leaves them out by default. */
  uncut?: boolean | null;
}

/** Languages to dub a video into. */
export interface NewDubs {
  languages: string[];
  /** `plus` uses stock voices; `premium` clones each speaker. */
  product?: DubProduct | null;
  /** The transcript to dub. */
  sourceVoiceover?: "original" | "optimized" | null;
  /** `captions` speaks the texts of the video's captions in these languages, which have to be finished; only what they lack is translated. */
  translationSource?: TranslationSource | null;
  /** The credit reservation to charge. */
  reservationId?: string | null;
  /** The reservation line item to charge for each language. */
  reservationLineItemIdByLanguage?: Record<string, string> | null;
  /** Accepts translations of `draft` quality in a library that refuses them otherwise. */
  acceptDraft?: boolean | null;
}

/** A folder to create. */
export interface NewFolder {
  /** `All Videos` is reserved. */
  name: string;
  /** The parent folder; omit for the root. */
  parentId?: string | null;
}

/** A term to add. It needs a translation, a pronunciation, or `keep`. */
export interface NewGlossaryTerm {
  term: string;
  /** The language of the term. */
  language: string;
  /** Where the term applies: to videos in this folder and the folders inside it. Everywhere if it is absent. */
  folderId?: string | null;
  /** Whether the term stays as it is in every language. */
  keep?: boolean | null;
  /** Whether upper and lower case are distinguished. */
  caseSensitive?: boolean | null;
  /** The translation by language. */
  translations?: Record<string, NewTermTranslation> | null;
  /** By language, how dubs spell the translation for the voice, or the term where it is not translated. Texts show it unchanged. */
  pronunciations?: Record<string, string> | null;
  /** For people; nothing else uses it. */
  note?: string | null;
}

/** An empty request body. */
export type NewHosting = Record<string, unknown>;

/** What to speak; a field that is absent is as the line has it now. */
export interface NewLinePreview {
  /** What to say. */
  text?: string | null;
  /** The id of a stock voice that speaks the language of the dub. */
  voice?: string | null;
  /** How fast the voice speaks, relative to its natural speed. By default, it fits the line. */
  speed?: number | null;
  /** Words of the text, spelled as they are to be spoken. */
  pronunciation?: Record<string, string> | null;
  /** How many takes to speak. */
  count?: number | null;
}

/** Automations to run, under `automationOptions` or at the top level. */
export interface NewPackaging {
  /** Default for the description and the thumbnail. */
  brandVoiceId?: string | null;
  generateTitle?: GenerateTitle | null;
  generateDescription?: GenerateDescription | null;
  zeroPromptThumbnail?: ZeroPromptThumbnail | null;
  /** Recommended instead of the top-level fields. */
  automationOptions?: AutomationOptions | null;
  /** The credit reservation to charge for the thumbnail. */
  reservationId?: string | null;
}

/** Which words the stream leaves out. */
export interface NewPlaybackCut {
  /** Package the whole recording again. */
  uncut?: boolean | null;
  /** Refuse with 409 if the transcript has changed since this revision. */
  transcriptRevision?: number | null;
}

/** One edit of 45 to 60 seconds, made of several moments. */
export interface NewPromo {
  kind: "promo";
  /** `9:16` or `16:9`. */
  aspectRatio?: "9:16" | "16:9" | null;
  /** Style of the burned-in captions. */
  captionStyle?: CaptionStyle | null;
  /** Position of the captions, which avoid faces. */
  captionPosition?: CaptionPosition | null;
  /** What the chosen moments should be about. */
  clipSelectionPrompt?: string | null;
  /** Adds background music. */
  includeSoundtrack?: boolean | null;
  /** A reservation to charge. */
  reservationId?: string | null;
}

/** A comment to add. */
export interface NewReviewComment {
  /** The position in the video, in seconds. */
  time: number;
  text: string;
  /** The segment or line that the comment is about. */
  segmentId?: string | null;
  /** The language of the dub or captions that the comment is about. Omitted if it is about the original. */
  language?: string | null;
}

/** A link to create. */
export interface NewReviewLink {
  /** `view` opens the studio page of the video, `comment` also takes comments, and `edit` also takes corrections of the transcript, dubs and captions. None of them spends credits. */
  role: GuestRole;
  /** When the link stops working, 1 to 90 days from now. */
  expiresAt?: string | null;
  /** Days until the link stops working; 14 if neither this nor `expiresAt` is sent. */
  expiresInDays?: number | null;
  /** For people: whom the link is for. */
  label?: string | null;
}

/** Short clips of the best moments. */
export interface NewShorts {
  kind?: "shorts" | null;
  numClips?: number | null;
  minDuration?: number | null;
  maxDuration?: number | null;
  aspectRatio?: AspectRatio | null;
  /** Style of the burned-in captions. */
  captionStyle?: CaptionStyle | null;
  /** Position of the captions, which avoid faces. */
  captionPosition?: CaptionPosition | null;
  /** What the chosen moments should be about. */
  clipSelectionPrompt?: string | null;
  /** Watermarked shorts cost less. */
  includeWatermark?: boolean | null;
  /** A reservation to charge. */
  reservationId?: string | null;
}

/** A text to synthesize. */
export interface NewSpeech {
  text: string;
  /** `cutroom_speech_v1`; names that start with `eleven_` are accepted as aliases. */
  model_id?: string;
  /** The language of the text; by default the voice's, or detected from the text. */
  language_code?: string | null;
  voice_settings?: SpeakingSettings | null;
}

/** How a term is translated into one language. */
export interface NewTermTranslation {
  /** The translation. */
  text: string;
  /** Inflected forms, which are accepted as well. */
  forms?: string[] | null;
}

/** A thumbnail from a prompt, or from the video itself. */
export interface NewThumbnail {
  /** Must equal the number of `characters`; with detection, how many to look for. */
  characterCount?: number | null;
  /** Creative only. */
  characters?: CharacterReference[] | null;
  /** Make the first image the video's poster. */
  promoteToPrimary?: boolean | null;
  /** 2 for Precision. */
  referenceSchemaVersion?: 1 | 2 | null;
  /** `thumbnail-v2` is Creative, `thumbnail-precision` shows content plates. */
  pipelineMode?: Pipeline | null;
  contentReferenceImageUrl?: string | null;
  contentReferenceImageUrls?: string[] | null;
  designInfluenceImageUrl?: string | null;
  styleReferenceImageUrl?: string | null;
  brandReferenceImageUrl?: string | null;
  /** Weight of the brand image, 0 to 1; not with Precision. */
  brandInfluence?: number | null;
  /** Detect people in the video; Creative only. */
  autoDetectCharacters?: boolean | null;
  characterDetectApprovalMode?: ApprovalMode | null;
  /** Detect content plates in the video; Precision only. */
  autoDetectContentReferences?: boolean | null;
  contentSlotCount?: number | null;
  /** `review` waits for approval before rendering. */
  contentDetectApprovalMode?: ApprovalMode | null;
  contentDetectPrompt?: string | null;
  /** The headline; generated from the transcript by default. */
  textOverlay?: string | null;
  /** Render no headline. */
  omitTextOverlay?: boolean | null;
  autoTranslateThumbnail?: boolean | null;
  /** Used with `autoTranslateThumbnail`. */
  thumbnailTranslationLanguageCodes?: string[] | null;
  brandVoiceId?: string | null;
  /** `prompt` by default; `zero_prompt` if a detection flag is set. */
  mode?: ThumbnailMode | null;
  /** What to show; quoted text becomes the headline. */
  prompt?: string | null;
  /** The credit reservation to charge; not for thumbnails from a prompt. */
  reservationId?: string | null;
}

/** The file to upload. */
export interface NewUploadSession {
  fileName: string;
  contentType?: string | null;
}

/** A video to create. */
export interface NewVideo {
  source: UrlSource | UploadSource;
  /** The key's own workspace; may be left out. */
  workspaceId?: string | null;
  /** An existing folder of the library. */
  folderId?: string | null;
  products?: Recipes | null;
}

/** An endpoint to register. */
export interface NewWebhookEndpoint {
  /** A public HTTPS URL. */
  url: string;
  /** The event types to send to this endpoint. */
  events?: ("video.ready" | "video.failed" | "job.ready" | "job.failed" | "video.updated" | "job.cancelled" | "credits.low" | "transcript.edited" | "captions.edited" | "dub.regenerated" | "dub.regeneration_failed")[] | null;
}

/** The job that makes an optimized script. */
export interface OptimizationJob {
  id: string;
  status: "queued" | "processing" | "ready" | "failed";
  /** In percent. */
  progress: number;
  /** Why it failed. */
  error?: Record<string, unknown>;
}

/** What the caller has seen of the transcript. */
export interface OptimizationRequest {
  /** The revision of the transcript to optimize. A newer one is a conflict. */
  transcriptRevision?: number | null;
}

/** A segment of the script, compared with the transcript; times are in seconds. */
export interface OptimizedSegment {
  id: string;
  /** Omitted if the transcript no longer has the segment. */
  start?: number;
  end?: number;
  speaker?: string;
  /** The text of the transcript. */
  source?: string;
  /** The text of the script, which is empty for silence; omitted if it has none. */
  text?: string;
  /** Whether the text was set by hand. */
  edited: boolean;
  /** Why the text does not belong to the transcript; voices say the transcript's then. */
  stale: ScriptStaleReason[];
  /** Whether the transcript has changed since the text was set by hand, which is kept. */
  review: boolean;
  /** `rules`, or the language model. */
  engine?: string;
}

/** The optimized script of a transcript. */
export interface OptimizedTranscript {
  /** `ready` as soon as there is a script, also while stale segments are made again. */
  status: "none" | "processing" | "ready" | "failed";
  videoId: string;
  /** Of the script; 0 if there is none. */
  revision: number;
  /** The revision of the transcript compared with. */
  transcriptRevision: number;
  segments: OptimizedSegment[];
  staleSegments: number;
  reviewSegments: number;
  /** The last job for this revision. */
  job?: OptimizationJob;
}

/** One short, promo or clip. */
export interface Output {
  outputId: string;
  type: ShortsKind;
  videoUrl?: string;
  thumbnailUrl?: string;
  duration?: number;
  title?: string;
  description?: string;
}

/** The copy of one job's files. */
export interface OutputCopy {
  id: string;
  jobId: string;
  videoId: string;
  status: CopyStatus;
  /** Why the copy failed. */
  error?: string;
  /** Files in the bucket after the last complete run. */
  objects: number;
  /** Size of these files. */
  bytes: number;
  createdAt: string;
  /** When the last complete run ended. */
  copiedAt?: string;
}

/** A page of copies. */
export interface OutputCopyPage {
  copies: OutputCopy[];
  /** Pass it as `pageToken` to get the next page. Absent on the last page. */
  nextPageToken?: string;
}

/** A rendered image. */
export interface OutputImage {
  thumbnailId: string;
  url: string;
  /** The language of a translation. */
  language?: string;
}

/** What happens to an existing title or description. */
export type OverwriteMode = "fill-if-empty" | "always" | "never";

/** The current thumbnail request of a video. */
export interface PackagedThumbnail {
  thumbnailRequestId: string;
  outputImageUrls: string[];
  /** What was detected in the video, for review. */
  detected?: DetectedImage[];
}

/** Runs that were created, and those already pending. */
export interface PackagingCreated {
  /** Whether at least one new run was created. */
  registered: boolean;
  alreadyPending: AutomationType[];
  /** The new runs. */
  jobs: Job[];
}

/** Title, description and thumbnail to generate; each is generated if present. */
export interface PackagingRecipe {
  title?: TitleRecipe | null;
  description?: DescriptionRecipe | null;
  thumbnail?: true | ThumbnailRecipe | null;
}

/** Packaging runs and results of a video. */
export interface PackagingState {
  videoId: string;
  automations: AutomationState[];
  title?: string;
  description?: string;
  thumbnail?: PackagedThumbnail;
}

/** A translation that can be requested. */
export interface PairCapability {
  source: string;
  target: string;
  /** `publishable`, `review` (check before publishing) or `draft`, as measured. */
  quality: Quality;
  /** Whether dubs can be made, as well as captions. */
  dubs: boolean;
}

/** Thumbnail pipelines, by their names in the API. */
export type Pipeline = "thumbnail-v2" | "thumbnail-precision";

/** What the plan allows. The first three apply to each API key, the others to the library. */
export interface PlanLimits {
  requestsPerMinute: number;
  concurrentRequests: number;
  unfinishedJobs: number;
  libraryRequestsPerMinute: number;
  libraryConcurrentRequests: number;
  /** Requests that start work which may cost nothing, such as imports and downloads. */
  libraryFreeWorkPerDay: number;
  /** Jobs that may fail or be canceled; then no more can be created on that day (UTC). */
  libraryFailedJobsPerDay: number;
  /** Long polls and event streams at once. */
  libraryWaits: number;
  /** Whether the speech operations can be used. */
  speech: boolean;
  /** Whether professional hosting can be activated. */
  hosting: boolean;
  /** `sample` downloads hold the first minute. */
  downloads: "full" | "sample" | "none";
}

/** Plan names. */
export type PlanName = "free" | "creator" | "pro" | "business";

/** The stream of a video: its state, and what it leaves out. */
export interface PlaybackState {
  videoId: string;
  status: "none" | "processing" | "ready" | "failed";
  /** The revision whose deleted words the stream leaves out, if any was requested. */
  transcriptRevision?: number;
  /** Of the stream, in seconds. */
  duration?: number;
  /** What the stream plays of the recording, in order; absent if that is all of it. */
  kept?: KeptRange[];
  /** What is packaged next. */
  requested?: RequestedCut;
}

/** One take of a line. */
export interface PreviewTake {
  /** Choose the take by sending this id as `take` of the line. */
  id: string;
  /** The wording that is spoken. */
  text: string;
  seconds: number;
  /** How much the speech was sped up to fit its time. */
  tempo: number;
  fit: TakeFit;
  /** How it differs from the first take: `sampling`, the engine speaks differently each time, or `pace`, slower or faster. `none` is what a regeneration would speak. */
  variation: TakeVariation;
  /** A WAV file, signed for an hour. */
  audioUrl: string;
}

/** How an actor is authenticated; the system is an operator's command. */
export type PrincipalKind = "key" | "token" | "person" | "guest" | "system";

/** A product, and whether the caller's library can use it now. */
export interface ProductCapability {
  name: string;
  enabled: boolean;
  /** Why it is not enabled: `plan_required`, `no_provider`, `no_languages`, `no_voices`, … */
  reason?: string;
  /** Bounds on requests, by name. */
  limits: Record<string, number>;
}

/** The status of one ingest stage. */
export interface Progress {
  status: "queued" | "processing" | "ready" | "failed";
  language?: string;
}

/** Who packages the video: we, with Shaka Packager, or the hosting provider. */
export type Provider = "shaka" | "mux";

/** What the published audio says; times are in seconds. */
export interface PublishedSpeech {
  text: string;
  start: number;
  duration: number;
  /** How much the speech was sped up to fit its time. */
  tempo: number;
}

/** Class of a translation, by the share of lines right in meaning on held-out talks; best first. */
export type Quality = "publishable" | "review" | "draft";

/** What the library may use and what it uses; `used` can exceed a limit that was lowered. */
export interface Quota {
  limit: number;
  used: number;
}

/** The exact price of a bundle, and whether the balance covers it. */
export interface Quote {
  total: number;
  /** The billed duration; 0 if it is unknown and not needed. */
  durationSeconds: number;
  /** The version of the price list. */
  pricingVersion: string;
  /** The wallet balance, excluding credits in escrow. */
  balance: number;
  /** Whether usage billing covers this bundle: the balance may then go below zero. */
  usageBillingActive: boolean;
  /** The credits missing for this bundle; 0 with usage billing. */
  shortfall: number;
  /** Whether the bundle could be reserved now. */
  sufficient: boolean;
  breakdown: QuoteLine[];
}

/** One priced item. */
export interface QuoteLine {
  actionKey: "dub" | "captions" | "transcript" | "zero-prompt-thumbnail" | "thumbnail-translate" | "content-moment-detect" | "lipsync" | "shorts-clip" | "promo" | "longclip";
  product: string;
  targetLanguageCode?: string;
  credits: number;
  /** The class of the translation; a `draft` has its own price. Omitted until it is known. */
  quality?: Quality;
  description?: string;
}

/** Products that start when the transcript is ready. */
export interface Recipes {
  dubs?: DubRecipe[] | null;
  shorts?: ShortsRecipe | null;
  packaging?: PackagingRecipe | null;
}

/** The job that recognizes the speech again. */
export interface RecognitionJob {
  job: Job;
}

/** In which language to recognize the speech of a video again. */
export interface RecognitionRequest {
  /** The revision to change. If there is a newer one, this is a conflict. */
  revision: number;
  /** The spoken language; by default, that of the transcript. */
  language?: string | null;
}

/** What a recovery has started. */
export interface RecoveredDeliveries {
  /** How many deliveries were started again. */
  recovered: number;
  /** Whether there may be more; send the request again. */
  hasMore: boolean;
}

/** A reference image of a character. */
export interface ReferenceImage {
  id: string;
  /** Signed URL, valid for one hour. */
  url: string;
}

/** Which stale segments to bring up to date. */
export interface Regeneration {
  /** The revision of the captions to change. If there is a newer one, this is a conflict. */
  revision: number;
  /** The revision of the transcript that was quoted. A newer one is a conflict. */
  transcriptRevision?: number | null;
  /** The segments to bring up to date; by default, every stale one. */
  segmentIds?: string[] | null;
  /** Accepts translations of `draft` quality in a library that refuses them otherwise. */
  acceptDraft?: boolean | null;
}

/** The job that brings segments up to date. */
export interface RegenerationJob {
  job: Job;
}

/** What bringing every stale segment up to date takes. */
export interface RegenerationQuote {
  /** The number of stale segments. */
  segments: number;
  /** How many of them are translated again. The rest is free. */
  translatedSegments: number;
  /** The length of what is translated again. */
  seconds: number;
  /** The price, which is what will be charged. */
  credits: number;
  /** The class of the new translation. */
  quality?: Quality;
  /** How long it will take, once it has started. */
  estimatedSeconds: number;
}

/** Sets the label of a speaker. The id stays. */
export interface RenameSpeakerOperation {
  op: "renameSpeaker";
  /** The id of a speaker. */
  speaker: string;
  /** What people read. */
  label: string;
}

/** Sets the text of a segment. */
export interface ReplaceTextOperation {
  op: "replaceText";
  /** The id of a segment. */
  id: string;
  /** What is said. White space counts as one space; control characters are refused. */
  text: string;
}

/** A cut that is not packaged yet. */
export interface RequestedCut {
  transcriptRevision: number;
  uncut: boolean;
}

/** A bundle whose price is held in escrow. Unused credits return to the balance after 24 hours. */
export interface Reservation {
  reservationId: string;
  total: number;
  durationSeconds: number;
  lineItems: ReservationLine[];
}

/** A line in escrow, consumed by one product request. */
export interface ReservationLine {
  lineItemId: string;
  actionKey: "dub" | "captions" | "transcript" | "zero-prompt-thumbnail" | "thumbnail-translate" | "content-moment-detect" | "lipsync" | "shorts-clip" | "promo" | "longclip";
  product: string;
  targetLanguageCode?: string;
  credits: number;
  /** The class of the translation; a `draft` has its own price. Omitted until it is known. */
  quality?: Quality;
}

/** Returns segments to their translation. A segment that was never translated loses its text. */
export interface ResetOperation {
  op: "reset";
  /** Ids of segments. */
  ids: string[];
}

/** Takes deleted segments back. */
export interface RestoreOperation {
  op: "restore";
  /** Ids of segments. */
  ids: string[];
}

/** How long the library keeps what it stores. */
export interface RetentionPolicy {
  /** Days to keep original files, from the import; null keeps them for ever. */
  originalsDays: number | null;
  /** Days to keep what is made again from the original when it is needed. */
  intermediatesDays: number | null;
  /** Days to keep dubs, shorts and streams of a video after the last change of any. */
  outputsDays: number | null;
}

/** Changes to the retention policy; null keeps a kind for ever. */
export interface RetentionPolicyPatch {
  originalsDays?: number | null;
  intermediatesDays?: number | null;
  outputsDays?: number | null;
}

/** What the policy would delete now. */
export interface RetentionPreview {
  originals: StoredAmount;
  intermediates: StoredAmount;
  outputs: StoredAmount;
  /** Largest first, at most 20. */
  videos: VideoAmount[];
  /** The scan that this is computed from; absent before the first one. */
  measuredAt?: string;
}

/** What the last daily run that deleted something has deleted. */
export interface RetentionReport {
  originals: StoredAmount;
  intermediates: StoredAmount;
  outputs: StoredAmount;
  /** Largest first, at most 20. */
  videos: VideoAmount[];
  /** Absent if nothing has been deleted yet. */
  runAt?: string;
}

/** A comment at a time of a video. */
export interface ReviewComment {
  id: string;
  videoId: string;
  /** The position in the video, in seconds. */
  time: number;
  /** The segment or line that the comment is about. */
  segmentId?: string;
  /** The language of the dub or captions that the comment is about. Omitted if it is about the original. */
  language?: string;
  text: string;
  /** A member in the web app, an API key, or a guest who opened a review link. */
  authorKind: "person" | "key" | "guest";
  /** The name of the member, or the one that the guest has entered. */
  authorName?: string;
  /** The author, unless it was a guest. */
  userId?: string;
  /** The link that a guest has opened. */
  linkId?: string;
  /** Whether what it says is done. */
  resolved: boolean;
  createdAt: string;
}

/** Comments, newest first. */
export interface ReviewCommentPage {
  comments: ReviewComment[];
  /** Pass as `pageToken` for the next page; omitted on the last page. */
  nextPageToken?: string;
}

/** Changes to a comment. */
export interface ReviewCommentPatch {
  /** Only its author can change it. */
  text?: string;
  /** Whether what it says is done. */
  resolved?: boolean;
}

/** A review decision on the detections. */
export interface ReviewDecision {
  approved: boolean;
  /** Which of them to use; all by default. */
  detectedIds?: string[] | null;
}

/** A link that opens the review of a video without an account. */
export interface ReviewLink {
  id: string;
  videoId: string;
  /** `view` opens the studio page of the video, `comment` also takes comments, and `edit` also takes corrections of the transcript, dubs and captions. None of them spends credits. */
  role: GuestRole;
  /** For people: whom the link is for. */
  label?: string;
  /** The user who created it. */
  createdBy: string;
  createdAt: string;
  /** When it stops working. */
  expiresAt: string;
}

/** The active links of a video. */
export interface ReviewLinks {
  /** Newest first. */
  links: ReviewLink[];
}

/** The segments that differ between two revisions. */
export interface RevisionComparison {
  /** The revision whose segments are `before`. */
  from: number;
  /** The revision whose segments are `after`. */
  to: number;
  /** At most 1,000 changed segments. */
  changes: ChangedSegment[];
  /** The number of changed segments. */
  totalChanges: number;
  /** Speakers who were added, removed or renamed. */
  speakers: ChangedSpeaker[];
}

/** A revision with its content. */
export interface RevisionDocument {
  revision: number;
  /** How it came about. */
  kind: RevisionKind;
  createdAt: string;
  /** How its author was authenticated; a `guest` opened a review link. */
  actorKind: "key" | "token" | "person" | "guest" | "system" | "engine";
  /** Its author, unless it was an engine or a guest. */
  userId?: string;
  /** The number of operations of each kind. */
  operations: Record<string, number>;
  /** The revision whose content it took over, for undo, redo and restore. */
  restoredFrom?: number;
  segments: EditableSegment[];
  speakers: Speaker[];
}

/** The revision that the caller has seen. */
export interface RevisionGuard {
  /** The revision to change. If there is a newer one, this is a conflict. */
  revision: number;
}

/** How a revision came about. */
export type RevisionKind = "recognition" | "edit" | "undo" | "redo" | "restore";

/** Revisions, newest first. */
export interface RevisionPage {
  /** The current revision. */
  revision: number;
  revisions: TranscriptRevision[];
  /** Pass as `pageToken` for the next page; omitted on the last page. */
  nextPageToken?: string;
}

/** A new signing secret, which is not shown again. */
export interface RotatedWebhookSecret {
  /** Used to sign deliveries. Store it; it is not shown again. */
  secret: string;
  /** Until then, the previous secret signs deliveries too. */
  previousSecretUntil: string;
}

/** A text that is set by hand. */
export interface ScriptChange {
  /** The id of a segment. */
  id: string;
  /** What voices say; empty is silence, and null returns to the text of the engine. */
  text: string | null;
}

/** Changes that are made all or none. */
export interface ScriptPatch {
  /** The revision of the script to change, or 0 if there is none. A newer one is a conflict. */
  revision: number;
  changes: ScriptChange[];
}

/** The revision that a request made, and the changed segments. */
export interface ScriptRevision {
  videoId: string;
  revision: number;
  segments: OptimizedSegment[];
}

/** Why a segment of a script no longer belongs to the transcript. */
export type ScriptStaleReason = "sourceChanged" | "added" | "removed";

/** How to replace a signing secret. */
export interface SecretRotation {
  /** How long the previous secret signs deliveries too. */
  overlapHours?: number | null;
}

/** At most one sentence of one speaker; times are in seconds. */
export interface Segment {
  start: number;
  end: number;
  speaker: string;
  text: string;
  /** Excluded from playback and subtitles. */
  deleted: boolean;
}

/** Says who speaks. */
export interface SetSpeakerOperation {
  op: "setSpeaker";
  /** Ids of segments. */
  ids: string[];
  /** The id of a speaker; a new one is added to the speakers. */
  speaker: string;
}

/** Sets the text of a segment by hand. A regeneration keeps it. */
export interface SetTextOperation {
  op: "setText";
  /** The id of a segment. */
  id: string;
  /** What is shown. White space counts as one space; control characters are refused. */
  text: string;
}

/** Sets when a segment starts and ends, without overlapping its neighbors. */
export interface SetTimesOperation {
  op: "setTimes";
  /** The id of a segment. */
  id: string;
  start: number;
  end: number;
}

/** An accepted request. */
export interface ShortsAsked {
  shortsRequestId: string;
  jobId: string;
  /** Credits held for it, or taken from its reservation. */
  creditsSpent: number;
  balance: number;
}

/** A request in a list. */
export interface ShortsItem {
  id: string;
  status: "pending" | "queued" | "processing" | "complete" | "partial_failed" | "failed";
  outputType: ShortsKind;
  jobId: string;
}

/** Kind of output. */
export type ShortsKind = "shorts" | "promo" | "clips";

/** Shorts, a promo or clips to create when the transcript is ready. */
export interface ShortsRecipe {
  kind?: "shorts" | "promo" | "clips" | null;
  numClips?: number | null;
  minDuration?: number | null;
  maxDuration?: number | null;
  aspectRatio?: "9:16" | "16:9" | "1:1" | null;
  captionStyle?: "default" | "karaoke" | "modern" | "impact" | "subtle" | "highlight" | "pro_highlight" | null;
  clipSelectionPrompt?: string | null;
  /** Watermarked shorts cost less. */
  includeWatermark?: boolean | null;
}

/** A request and its finished outputs. */
export interface ShortsRequest {
  shortsRequestId: string;
  status: "pending" | "queued" | "processing" | "complete" | "partial_failed" | "failed";
  clipsExpected: number;
  jobId: string;
  outputs: Output[];
}

/** Every request of a video, newest first. */
export interface ShortsRequests {
  requests: ShortsItem[];
}

/** Short clips, a promo, or long clips. */
export interface ShortsWork {
  kind: "shorts" | "promo" | "clips";
  /** At most 10 shorts; a promo is one, and clips are at most 4. */
  numClips?: number | null;
  /** The shortest short, in seconds; does not change the price. */
  minDuration?: number | null;
  /** Watermarked clips cost less. */
  includeWatermark?: boolean | null;
  /** Ignored; the discount depends on the library's plan. */
  isSubscriber?: boolean | null;
  /** Adds a soundtrack to a promo. */
  includeSoundtrack?: boolean | null;
  /** Adds a thumbnail to each long clip. */
  includeGeneratedThumbnail?: boolean | null;
}

/** A speaker of the transcript. */
export interface Speaker {
  id: string;
  label: string;
}

/** Only `speed` is supported; other settings are accepted and ignored. */
export interface SpeakingSettings {
  speed?: number;
}

/** The speech model and its features. */
export interface SpeechModel {
  model_id: string;
  name: string;
  description: string;
  can_do_text_to_speech: boolean;
  can_do_voice_conversion: boolean;
  can_use_style: boolean;
  can_use_speaker_boost: boolean;
  serves_pro_voices: boolean;
  requires_alpha_access: boolean;
  max_characters_request_free_user: number;
  max_characters_request_subscribed_user: number;
  maximum_text_length_per_request: number;
  token_cost_factor: number;
  languages: SpokenLanguage[];
}

/** Splits a segment in two. The first keeps the id. */
export interface SplitOperation {
  op: "split";
  /** The id of a segment. */
  id: string;
  /** The character before which the second segment begins. */
  at: number;
  /** The time of the split; by default, between the words. */
  seconds?: number;
}

/** A language supported by at least one voice. */
export interface SpokenLanguage {
  language_id: string;
  name: string;
}

/** A product that would be different if it were made now. */
export interface StaleItem {
  product: StaleKind;
  /** Of the job of captions, a dub, a title or a description; of the output of shorts; of the request of a thumbnail or download; of the video for its playback. */
  id: string;
  /** Of captions, a dub or a download. */
  language?: string;
  /** The quality tier of a dub. */
  dubProduct?: DubProduct;
  /** What has changed. */
  reasons: string[];
  /** How many segments of captions or lines of a dub. */
  segments?: number;
  /** The revision of the transcript that it was made from. */
  transcriptRevision?: number;
  /** What it costs to make it, or its stale parts, again. */
  credits: number;
  /** How long that takes; 0 if it is not known. */
  estimatedSeconds: number;
}

/** What can be stale: made from a transcript that has been edited since. */
export type StaleKind = "playback" | "captions" | "dub" | "short" | "promo" | "clip" | "title" | "description" | "thumbnail" | "download";

/** The stale products of a video. */
export interface StaleProductList {
  videoId: string;
  /** The current revision of the transcript; absent if there is none. */
  transcriptRevision?: number;
  /** What making all of them again costs. */
  credits: number;
  products: StaleItem[];
}

/** Why a segment of a track no longer belongs to the transcript. */
export type StaleReason = "sourceChanged" | "timesChanged" | "speakerChanged" | "added" | "removed";

/** A job that was started, or one that has made the same script. */
export interface StartedOptimization {
  videoId: string;
  transcriptRevision: number;
  /** How many segments it makes texts for. */
  segments: number;
  /** About how long it takes. */
  estimatedSeconds: number;
  job: OptimizationJob;
}

/** What is stored for the library by kind, as of the last daily scan. */
export interface StorageUsage {
  /** Size of the original files. */
  originalsBytes: number;
  /** What is made again from the originals when needed. */
  intermediatesBytes: number;
  /** What requests have made, and what editing it needs. */
  outputsBytes: number;
  /** Absent before the first scan. */
  measuredAt?: string;
}

/** A number of objects with their size. */
export interface StoredAmount {
  objects?: number;
  bytes?: number;
}

/** A subtitle file, or its processing status. */
export interface Subtitles {
  status: "ready" | "processing";
  videoId: string;
  language?: string;
  format?: "srt" | "vtt" | "ttml" | "text";
  /** The class of the translation; omitted for the language of the video. */
  quality?: Quality;
  /** A URL of the file, valid for one hour, saved as `title-language.srt`. */
  downloadUrl?: string;
}

/** A part of a text that could be deleted by `deleteWords`. */
export interface SuggestedCut {
  kind: SuggestionKind;
  /** The id of the segment. */
  id: string;
  /** The first character. */
  from: number;
  /** The character after the last one. */
  to: number;
  text: string;
}

/** Why a part of a text could be cut. */
export type SuggestionKind = "filler" | "repeat";

/** Whether a take fits its time. */
export interface TakeFit {
  availableSeconds: number;
  /** By how much it is too long; 0 if it fits. */
  excessSeconds: number;
}

/** How a take differs from the first one. */
export type TakeVariation = "none" | "sampling" | "pace";

/** How a term is translated into one language. */
export interface TermTranslationItem {
  /** The translation. */
  text: string;
  /** Inflected forms, which are accepted as well. */
  forms: string[];
}

/** A thumbnail request that was accepted. */
export interface ThumbnailCreated {
  thumbnailRequestId: string;
  jobId: string;
  /** Rendered so far; prompt mode only. */
  outputImageUrls?: string[];
  balance: number;
}

/** Whether the caller's prompt or the video determines the content. */
export type ThumbnailMode = "prompt" | "zero_prompt";

/** A thumbnail generated from the video. */
export interface ThumbnailRecipe {
  /** Must equal the number of `characters`; with detection, how many to look for. */
  characterCount?: number | null;
  /** Creative only. */
  characters?: CharacterReference[] | null;
  /** Make the first image the video's poster. */
  promoteToPrimary?: boolean | null;
  /** 2 for Precision. */
  referenceSchemaVersion?: 1 | 2 | null;
  /** `thumbnail-v2` is Creative, `thumbnail-precision` shows content plates. */
  pipelineMode?: Pipeline | null;
  contentReferenceImageUrl?: string | null;
  contentReferenceImageUrls?: string[] | null;
  designInfluenceImageUrl?: string | null;
  styleReferenceImageUrl?: string | null;
  brandReferenceImageUrl?: string | null;
  /** Weight of the brand image, 0 to 1; not with Precision. */
  brandInfluence?: number | null;
  /** Detect people in the video; Creative only. */
  autoDetectCharacters?: boolean | null;
  characterDetectApprovalMode?: ApprovalMode | null;
  /** Detect content plates in the video; Precision only. */
  autoDetectContentReferences?: boolean | null;
  contentSlotCount?: number | null;
  /** `review` waits for approval before rendering. */
  contentDetectApprovalMode?: ApprovalMode | null;
  contentDetectPrompt?: string | null;
  /** The headline; generated from the transcript by default. */
  textOverlay?: string | null;
  /** Render no headline. */
  omitTextOverlay?: boolean | null;
  autoTranslateThumbnail?: boolean | null;
  /** Used with `autoTranslateThumbnail`. */
  thumbnailTranslationLanguageCodes?: string[] | null;
  brandVoiceId?: string | null;
  enabled?: boolean | null;
}

/** A request with the images rendered so far. */
export interface ThumbnailRequest {
  id: string;
  status: "queued" | "processing" | "complete" | "failed";
  outputImageUrls: string[];
  /** The same images in the same order, with their ids. */
  outputImages: OutputImage[];
  jobId: string;
}

/** Requests of a video, newest first. */
export interface ThumbnailRequestList {
  thumbnails: ThumbnailRequest[];
}

/** A thumbnail generated without a prompt. */
export interface ThumbnailWork {
  /** Priced only if `true`. */
  enabled: boolean;
  /** One entry for each reference image. */
  referenceProducts?: string[] | null;
  characterCount?: number | null;
  translateLanguageCodes?: string[] | null;
  autoDetectContentMoments?: boolean | null;
}

/** How much of the video can be downloaded. */
export type Tier = "full" | "sample";

/** A part of the recording, in seconds. */
export interface TimeRange {
  start: number;
  end: number;
}

/** One thing that happened to a job. */
export interface TimelineEntry {
  at: string;
  kind: TimelineKind;
  /** Which run of the job, from 1: a failed job can be run again. */
  attempt: number;
  /** What happened, in a sentence. */
  text: string;
  /** How long a step took, or a job waited before it started. */
  durationSeconds?: number;
  /** The name of the step, as in the job's `stage`. */
  step?: string;
  /** How often parts of the step were repeated. */
  retries?: number;
  /** Credits held, charged or returned. */
  credits?: number;
  /** The error code of a failure. */
  code?: string;
  /** The delivered event. */
  eventId?: string;
  /** The webhook endpoint of a delivery. */
  endpointId?: string;
}

/** What happened. */
export type TimelineKind = "requested" | "creditsHeld" | "queued" | "started" | "step" | "ready" | "failed" | "canceled" | "creditsCharged" | "creditsReturned" | "delivery" | "outputDeleted";

/** A generated title that replaces the title of the source. */
export interface TitleRecipe {
  style: TitleStyle;
}

/** Tone of a title; no style may claim what was not said. */
export type TitleStyle = "funny" | "scary" | "informational" | "mysterious" | "clickbait";

/** A transcript, or its state if `status` is not `ready`. */
export interface Transcript {
  status: "not_found" | "processing" | "ready" | "failed";
  userVideoId: string;
  /** The detected language. */
  language?: string;
  segments?: Segment[];
  speakers?: TranscriptSpeaker[];
  /** A temporary URL of a JSON file with the timing of every word. */
  wordAlignmentUrl: string | null;
  wordAlignmentStoragePath: string | null;
  /** The current stage, while it is processing. */
  processingStatus?: string;
}

/** The revision that a request made, and what it changed. */
export interface TranscriptChange {
  videoId: string;
  /** The current revision. It stays the same if nothing has changed. */
  revision: number;
  /** At most 1,000 changed segments. */
  changes: ChangedSegment[];
  /** The number of changed segments. */
  totalChanges: number;
  /** Speakers who were added, removed or renamed. */
  speakers: ChangedSpeaker[];
}

/** Operations that are applied in order, all or none. */
export interface TranscriptEdit {
  /** The revision to change. If there is a newer one, this is a conflict. */
  revision: number;
  operations: (ReplaceTextOperation | SplitOperation | MergeOperation | SetSpeakerOperation | RenameSpeakerOperation | MergeSpeakersOperation | SetTimesOperation | DeleteOperation | RestoreOperation | InsertOperation | DeleteWordsOperation)[];
}

/** What remains of the recording without its deleted words. */
export interface TranscriptEditList {
  videoId: string;
  /** The revision of the transcript. */
  revision: number;
  frameRate: "23.976" | "24" | "25" | "29.97" | "30" | "50" | "59.94" | "60";
  /** Seconds of the recording, in whole frames. */
  duration: number;
  /** Seconds that remain. */
  keptDuration: number;
  kept: TimeRange[];
  cuts: TimeRange[];
  /** With `format`: the list as a file. */
  file?: EditorFile;
}

/** A text that becomes the transcript. */
export interface TranscriptImport {
  /** `text` is plain text without times, such as a script. */
  format: ImportFormat;
  /** The content of the file. */
  content: string;
  /** The revision to change. If there is a newer one, this is a conflict. */
  revision: number;
}

/** A change of a transcript. */
export interface TranscriptRevision {
  revision: number;
  /** How it came about. */
  kind: RevisionKind;
  createdAt: string;
  /** How its author was authenticated; a `guest` opened a review link. */
  actorKind: "key" | "token" | "person" | "guest" | "system" | "engine";
  /** Its author, unless it was an engine or a guest. */
  userId?: string;
  /** The number of operations of each kind. */
  operations: Record<string, number>;
  /** The revision whose content it took over, for undo, redo and restore. */
  restoredFrom?: number;
}

/** A speaker of the transcript. */
export interface TranscriptSpeaker {
  id: string;
  label: string;
  /** The member of the cast who this is, if it was recognized or confirmed. */
  castMemberId?: string;
}

/** Where the words of a dub come from. */
export type TranslationSource = "machine" | "captions";

/** A page of the trash. */
export interface TrashPage {
  videos: TrashedVideo[];
  /** Pass it as `pageToken` to get the next page. Absent on the last page. */
  nextPageToken?: string;
}

/** A video in the trash. */
export interface TrashedVideo {
  /** The video's id. */
  id: string;
  /** The video's title. */
  title?: string;
  /** Duration in seconds. */
  duration?: number;
  /** Whether the file is a video or only audio. */
  mediaType?: "video" | "audio";
  /** When the video was deleted. */
  deletedAt: string;
  /** When the video is removed for good, unless it is restored. */
  purgeAt: string;
}

/** Undoes the last change by hand; the next undo reverts it. It is the only operation of its request. */
export interface UndoOperation {
  op: "undo";
}

/** How to upload the file. */
export interface UploadInstructions {
  storagePath: string;
  /** POST here for a session URL; relative to the version prefix. */
  sessionPath: string;
}

/** A signed URL that starts a resumable upload; valid for 30 minutes. */
export interface UploadSession {
  url: string;
  videoId: string;
  storagePath: string;
  jobId: string;
}

/** A file the caller will upload. */
export interface UploadSource {
  type: "upload";
  fileName?: string | null;
  /** `audio/*` imports the file as audio. */
  contentType?: string | null;
}

/** A share link, a YouTube page, or a public media URL. */
export interface UrlSource {
  type: "youtube" | "dropbox" | "google_drive" | "https";
  /** Must belong to the provider in `type`. */
  url: string;
}

/** A video or audio file in a library. */
export interface Video {
  /** The video's id in the library. */
  id: string;
  /** Overall processing status. */
  status: "queued" | "processing" | "ready" | "failed";
  title?: string;
  description?: string;
  /** Duration in seconds. */
  duration?: number;
  posterUrl?: string;
  /** The provider of the source. */
  provider?: string;
  mediaType?: "video" | "audio";
  /** The language of the source, specified or detected. */
  defaultLanguageCode?: string;
  /** Playback URL. */
  url?: string;
  /** Playback URLs by language code. */
  urlMulti?: Record<string, string>;
  /** The workspace that owns the video, if any. */
  workspaceId?: string;
  folderIds?: string[];
  labels?: string[];
  createdAt?: string;
  /** When the retention policy of the library deleted the original file, if it has. */
  originalDeletedAt?: string;
  import?: Progress;
  transcript?: Progress;
}

/** What is deleted of one video. */
export interface VideoAmount {
  videoId: string;
  title?: string;
  originalsBytes: number;
  intermediatesBytes: number;
  outputsBytes: number;
}

/** Videos, newest first. */
export interface VideoPage {
  videos: Video[];
  /** Pass it as `pageToken` for the next page; omitted on the last page. */
  nextPageToken?: string;
}

/** Changes to a video. */
export interface VideoPatch {
  title?: string | null;
  description?: string | null;
  /** null selects the detected language again. */
  defaultLanguageCode?: string | null;
  /** Replaces all folders of the video. */
  folderIds?: string[] | null;
  /** Replaces all labels of the video. */
  labels?: string[] | null;
}

/** A voice for text-to-speech, usable once it is ready. */
export interface Voice {
  voice_id: string;
  name: string;
  /** `generated` for a clone, `premade` for a stock voice. */
  category: string;
  description?: string | null;
  labels: Record<string, string>;
  /** A temporary URL of a spoken preview. */
  preview_url?: string | null;
  status: "processing" | "ready" | "failed";
  workspace_id?: string | null;
  /** Why the clone failed. */
  error?: string | null;
  available_for_tiers: string[];
  settings: VoiceSettings;
}

/** A stock voice. */
export interface VoiceCapability {
  id: string;
  name: string;
  language: string;
  gender: string;
  age: string;
}

/** Changes to a clone; fields that are not sent stay. */
export interface VoicePatch {
  name?: string;
  description?: string | null;
  /** For example `language`, `gender` and `age`; null means none. */
  labels?: Record<string, string> | null;
}

/** Default settings of a voice. */
export interface VoiceSettings {
  stability?: number | null;
  similarity_boost?: number | null;
  style?: number | null;
  use_speaker_boost?: boolean | null;
  speed?: number;
}

/** Voice clones, newest first. */
export interface Voices {
  voices: Voice[];
}

/** The delivery of one event to one endpoint, with its attempts. */
export interface WebhookDelivery {
  /** The event's id, which is also the `webhook-id` of every attempt. */
  eventId: string;
  /** The event's type; `endpoint.test` for test events. */
  type: string;
  status: DeliveryState;
  /** When the event happened. */
  createdAt: string;
  /** When it is sent again. */
  nextAttemptAt?: string;
  /** The body of every attempt; absent once the event has expired. */
  body?: string;
  /** Newest first. */
  attempts: LoggedAttempt[];
}

/** A page of deliveries. */
export interface WebhookDeliveryPage {
  deliveries: WebhookDeliverySummary[];
  nextPageToken?: string;
}

/** The delivery of one event to one endpoint. */
export interface WebhookDeliverySummary {
  /** The event's id, which is also the `webhook-id` of every attempt. */
  eventId: string;
  /** The event's type; `endpoint.test` for test events. */
  type: string;
  status: DeliveryState;
  /** When the event happened. */
  createdAt: string;
  /** When it is sent again. */
  nextAttemptAt?: string;
  attemptCount: number;
  lastAttemptAt?: string;
  /** The HTTP status of the last response. */
  lastStatus?: number;
  lastOutcome?: DeliveryOutcome;
}

/** A registered webhook endpoint. */
export interface WebhookEndpoint {
  id: string;
  url: string;
  /** The event types sent to this endpoint. */
  events: ("video.ready" | "video.failed" | "job.ready" | "job.failed" | "video.updated" | "job.cancelled" | "credits.low" | "transcript.edited" | "captions.edited" | "dub.regenerated" | "dub.regeneration_failed")[];
  /** Whether events are sent. A 410 response or days of failures disable an endpoint. */
  enabled: boolean;
  /** Why the endpoint is disabled. */
  disabledReason?: string;
  /** Until then, deliveries are signed with the previous secret too. */
  previousSecretUntil?: string;
}

/** The webhook endpoints of the library. */
export interface WebhookEndpointList {
  webhookEndpoints: WebhookEndpoint[];
}

/** Changes to an endpoint. */
export interface WebhookEndpointPatch {
  /** A public HTTPS URL. */
  url?: string;
  /** The event types to send to this endpoint. */
  events?: ("video.ready" | "video.failed" | "job.ready" | "job.failed" | "video.updated" | "job.cancelled" | "credits.low" | "transcript.edited" | "captions.edited" | "dub.regenerated" | "dub.regeneration_failed")[];
  /** false stops deliveries, true resumes them with later events. */
  enabled?: boolean;
}

/** Where a shorter wording comes from. */
export type WordingOrigin = "translation" | "rules" | "model";

/** The text to shorten. */
export interface WordingsRequest {
  /** By default, what the line says. */
  text?: string | null;
}

/** A thumbnail to render from the video. */
export interface ZeroPromptThumbnail {
  /** Must equal the number of `characters`; with detection, how many to look for. */
  characterCount?: number | null;
  /** Creative only. */
  characters?: CharacterReference[] | null;
  /** Make the first image the video's poster. */
  promoteToPrimary?: boolean | null;
  /** 2 for Precision. */
  referenceSchemaVersion?: 1 | 2 | null;
  /** `thumbnail-v2` is Creative, `thumbnail-precision` shows content plates. */
  pipelineMode?: Pipeline | null;
  contentReferenceImageUrl?: string | null;
  contentReferenceImageUrls?: string[] | null;
  designInfluenceImageUrl?: string | null;
  styleReferenceImageUrl?: string | null;
  brandReferenceImageUrl?: string | null;
  /** Weight of the brand image, 0 to 1; not with Precision. */
  brandInfluence?: number | null;
  /** Detect people in the video; Creative only. */
  autoDetectCharacters?: boolean | null;
  characterDetectApprovalMode?: ApprovalMode | null;
  /** Detect content plates in the video; Precision only. */
  autoDetectContentReferences?: boolean | null;
  contentSlotCount?: number | null;
  /** `review` waits for approval before rendering. */
  contentDetectApprovalMode?: ApprovalMode | null;
  contentDetectPrompt?: string | null;
  /** The headline; generated from the transcript by default. */
  textOverlay?: string | null;
  /** Render no headline. */
  omitTextOverlay?: boolean | null;
  autoTranslateThumbnail?: boolean | null;
  /** Used with `autoTranslateThumbnail`. */
  thumbnailTranslationLanguageCodes?: string[] | null;
  brandVoiceId?: string | null;
  enabled: boolean;
}
