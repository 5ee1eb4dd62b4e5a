// Generated from the OpenAPI document by `just clients`; do not edit.

import type { CallOptions, KeyedOptions, OperationDescription, PostOptions } from "../operation.js";
import type * as schemas from "./schemas.js";

export interface ActivateHostingInput extends KeyedOptions {
  /** The video's id. */
  videoId: string;
  body?: schemas.NewHosting | null;
}

export interface AddVoiceInput extends PostOptions {
  body: {
  name: string;
  /** An HTTPS URL of a recording; required if no files are sent. */
  sample_url?: string | null;
  description?: string | null;
  /** For example `language`, `gender` and `age`; null means none. */
  labels?: Record<string, string> | null;
  remove_background_noise?: boolean;
} | FormData;
}

export interface CancelJobInput extends KeyedOptions {
  /** The job's id. */
  jobId: string;
}

export interface CompareRevisionsInput extends CallOptions {
  /** The video's id. */
  videoId: string;
  /** The number of the revision. */
  revision: number;
  /** The revision to compare with. */
  to: number;
}

export interface CreateCaptionsInput extends KeyedOptions {
  /** The video's id. */
  videoId: string;
  body: schemas.NewCaptions;
}

export interface CreateCastAppearanceInput extends KeyedOptions {
  /** The id of the member of the cast. */
  memberId: string;
  /** The video's id. */
  videoId: string;
  /** The id of a speaker of its transcript. */
  speakerId: string;
}

export interface CreateCastMemberInput extends KeyedOptions {
  body: schemas.NewCastMember;
}

export interface CreateDownloadInput extends KeyedOptions {
  /** The video's id. */
  videoId: string;
  body: schemas.NewDownload;
}

export interface CreateDubsInput extends KeyedOptions {
  /** The video's id. */
  videoId: string;
  body: schemas.NewDubs;
}

export interface CreateFolderInput extends KeyedOptions {
  body: schemas.NewFolder;
}

export interface CreateGlossaryTermInput extends KeyedOptions {
  body: schemas.NewGlossaryTerm;
}

export interface CreateLibraryExportInput extends KeyedOptions {
}

export interface CreatePackagingInput extends KeyedOptions {
  /** The video's id. */
  videoId: string;
  body: schemas.NewPackaging;
}

export interface CreateReviewCommentInput extends KeyedOptions {
  /** The video's id. */
  videoId: string;
  body: schemas.NewReviewComment;
}

export interface CreateReviewLinkInput extends KeyedOptions {
  /** The video's id. */
  videoId: string;
  body: schemas.NewReviewLink;
}

export interface CreateShortsInput extends KeyedOptions {
  /** The video's id. */
  videoId: string;
  body: schemas.NewShorts | schemas.NewPromo | schemas.NewClips;
}

export interface CreateThumbnailInput extends KeyedOptions {
  /** The video's id. */
  videoId: string;
  body: schemas.NewThumbnail;
}

export interface CreateUploadInput extends KeyedOptions {
  /** The video's id. */
  videoId: string;
  body: schemas.NewUploadSession;
}

export interface CreateVideoInput extends KeyedOptions {
  body: schemas.NewVideo;
}

export interface CreateWebhookEndpointInput extends KeyedOptions {
  body: schemas.NewWebhookEndpoint;
}

export interface CutPlaybackInput extends KeyedOptions {
  /** The video's id. */
  videoId: string;
  body: schemas.NewPlaybackCut;
}

export interface DeleteBrandVoiceInput extends CallOptions {
  /** The brand voice's id. */
  brandVoiceId: string;
  /** The `ETag` of the revision to change. If there is a newer one, nothing is changed (409). */
  ifMatch?: string;
}

export interface DeleteCaptionsInput extends CallOptions {
  /** The video's id. */
  videoId: string;
  /** The language of the captions. */
  lang: string;
}

export interface DeleteCastAppearanceInput extends CallOptions {
  /** The id of the member of the cast. */
  memberId: string;
  /** The video's id. */
  videoId: string;
  /** The id of a speaker of its transcript. */
  speakerId: string;
}

export interface DeleteCastMemberInput extends CallOptions {
  /** The id of the member of the cast. */
  memberId: string;
  /** The `ETag` of the revision to change. If there is a newer one, nothing is changed (409). */
  ifMatch?: string;
}

export interface DeleteCharacterInput extends CallOptions {
  /** The character's id. */
  characterId: string;
  /** The `ETag` of the revision to change. If there is a newer one, nothing is changed (409). */
  ifMatch?: string;
}

export interface DeleteDestinationInput extends CallOptions {
  /** The `ETag` of the revision to change. If there is a newer one, nothing is changed (409). */
  ifMatch?: string;
}

export interface DeleteDownloadInput extends CallOptions {
  /** The request's id. */
  downloadRequestId: string;
}

export interface DeleteDubInput extends CallOptions {
  /** The video's id. */
  videoId: string;
  /** The language of the dub. */
  lang: string;
  /** `plus` or `premium`; both by default. */
  product?: schemas.DubProduct;
}

export interface DeleteFolderInput extends CallOptions {
  /** The folder's id. */
  folderId: string;
  /** The `ETag` of the revision to change. If there is a newer one, nothing is changed (409). */
  ifMatch?: string;
}

export interface DeleteGlossaryTermInput extends CallOptions {
  /** The term's id. */
  termId: string;
  /** The `ETag` of the revision to change. If there is a newer one, nothing is changed (409). */
  ifMatch?: string;
}

export interface DeleteLibraryExportInput extends CallOptions {
  /** The export's id. */
  exportId: string;
}

export interface DeleteReviewCommentInput extends CallOptions {
  /** The video's id. */
  videoId: string;
  /** The comment's id. */
  commentId: string;
  /** The `ETag` of the revision to change. If there is a newer one, nothing is changed (409). */
  ifMatch?: string;
}

export interface DeleteShortsInput extends CallOptions {
  /** The request's id. */
  shortsRequestId: string;
}

export interface DeleteShortsOutputInput extends CallOptions {
  /** The request's id. */
  shortsRequestId: string;
  /** The output's id. */
  outputId: string;
}

export interface DeleteThumbnailInput extends CallOptions {
  /** The request's id. */
  thumbnailRequestId: string;
}

export interface DeleteThumbnailImageInput extends CallOptions {
  /** The request's id. */
  thumbnailRequestId: string;
  /** The image's id. */
  thumbnailId: string;
}

export interface DeleteUploadInput extends CallOptions {
  /** The video's id. */
  videoId: string;
}

export interface DeleteVideoInput extends CallOptions {
  /** The video's id. */
  videoId: string;
  /** Remove the video for good instead of moving it to the trash. */
  permanently?: boolean;
  /** The `ETag` of the revision to change. If there is a newer one, nothing is changed (409). */
  ifMatch?: string;
}

export interface DeleteVoiceInput extends CallOptions {
  /** The voice's id. */
  voiceId: string;
  /** The `ETag` of the revision to change. If there is a newer one, nothing is changed (409). */
  ifMatch?: string;
}

export interface DeleteWebhookEndpointInput extends CallOptions {
  /** The endpoint's id. */
  endpointId: string;
  /** The `ETag` of the revision to change. If there is a newer one, nothing is changed (409). */
  ifMatch?: string;
}

export interface EditCaptionSegmentsInput extends CallOptions {
  /** The video's id. */
  videoId: string;
  /** The language of the captions. */
  lang: string;
  body: schemas.CaptionEdit;
}

export interface EditOptimizedTranscriptInput extends CallOptions {
  /** The video's id. */
  videoId: string;
  body: schemas.ScriptPatch;
}

export interface EditSegmentsInput extends CallOptions {
  /** The video's id. */
  videoId: string;
  /** The language of the dub. */
  lang: string;
  /** `plus` or `premium`. */
  product?: schemas.DubProduct;
  body: schemas.DubSegmentsPatch;
}

export interface EditTranscriptInput extends CallOptions {
  /** The video's id. */
  videoId: string;
  body: schemas.TranscriptEdit;
}

export interface EraseLibraryInput extends CallOptions {
  /** The id of the library, so that no other library is erased by mistake. */
  confirm: string;
}

export interface ExportAuditLogInput extends CallOptions {
  /** Only this action, such as `createFolder` or `key.revoke`. */
  action?: string;
  /** Only entries of this key, token, session or user, by id. */
  actor?: string;
  /** Only entries at or after this time. */
  since?: string;
  /** Only entries before this time. */
  until?: string;
}

export interface ExportGlossaryInput extends CallOptions {
}

export interface GetBrandVoiceInput extends CallOptions {
  /** The brand voice's id. */
  brandVoiceId: string;
}

export interface GetCapabilitiesInput extends CallOptions {
}

export interface GetCaptionSegmentsInput extends CallOptions {
  /** The video's id. */
  videoId: string;
  /** The language of the captions. */
  lang: string;
}

export interface GetCastMemberInput extends CallOptions {
  /** The id of the member of the cast. */
  memberId: string;
}

export interface GetCastRecognitionInput extends CallOptions {
}

export interface GetCastRecognitionRunInput extends CallOptions {
}

export interface GetCharacterInput extends CallOptions {
  /** The character's id. */
  characterId: string;
}

export interface GetDestinationInput extends CallOptions {
}

export interface GetDownloadInput extends CallOptions {
  /** The request's id. */
  downloadRequestId: string;
}

export interface GetDubInput extends CallOptions {
  /** The video's id. */
  videoId: string;
  /** The language of the dub. */
  lang: string;
  /** `plus` or `premium`. */
  product?: schemas.DubProduct;
}

export interface GetFolderInput extends CallOptions {
  /** The folder's id. */
  folderId: string;
}

export interface GetGlossaryTermInput extends CallOptions {
  /** The term's id. */
  termId: string;
}

export interface GetHealthInput extends CallOptions {
}

export interface GetHostingInput extends CallOptions {
  /** The video's id. */
  videoId: string;
}

export interface GetJobInput extends CallOptions {
  /** The job's id. */
  jobId: string;
  /** Seconds to wait for the end of an unfinished job; then it is returned as it is. */
  wait?: number;
}

export interface GetJobTimelineInput extends CallOptions {
  /** The job's id. */
  jobId: string;
}

export interface GetLibraryInput extends CallOptions {
}

export interface GetLibraryExportInput extends CallOptions {
  /** The export's id. */
  exportId: string;
}

export interface GetOptimizedTranscriptInput extends CallOptions {
  /** The video's id. */
  videoId: string;
}

export interface GetPackagingInput extends CallOptions {
  /** The video's id. */
  videoId: string;
}

export interface GetPlaybackInput extends CallOptions {
  /** The video's id. */
  videoId: string;
}

export interface GetRetentionInput extends CallOptions {
}

export interface GetRetentionReportInput extends CallOptions {
}

export interface GetReviewCommentInput extends CallOptions {
  /** The video's id. */
  videoId: string;
  /** The comment's id. */
  commentId: string;
}

export interface GetRevisionInput extends CallOptions {
  /** The video's id. */
  videoId: string;
  /** The number of the revision. */
  revision: number;
}

export interface GetSegmentPreviewInput extends CallOptions {
  /** The video's id. */
  videoId: string;
  /** The language of the dub. */
  lang: string;
  /** The id of the line. */
  segmentId: string;
  /** The id of the preview. */
  previewId: string;
  /** `plus` or `premium`. */
  product?: schemas.DubProduct;
}

export interface GetSegmentWordingsInput extends CallOptions {
  /** The video's id. */
  videoId: string;
  /** The language of the dub. */
  lang: string;
  /** The id of the line. */
  segmentId: string;
  /** The id of the wordings. */
  wordingsId: string;
  /** `plus` or `premium`. */
  product?: schemas.DubProduct;
}

export interface GetShortsInput extends CallOptions {
  /** The request's id. */
  shortsRequestId: string;
}

export interface GetStaleProductsInput extends CallOptions {
  /** The video's id. */
  videoId: string;
}

export interface GetSubtitlesInput extends CallOptions {
  /** The video's id. */
  videoId: string;
  /** The language of the transcript or of translated captions. */
  lang: string;
  /** SubRip, WebVTT, TTML (IMSC 1.1 Text Profile), or a plain script with the names of speakers. */
  format?: "srt" | "vtt" | "ttml" | "text";
}

export interface GetThumbnailInput extends CallOptions {
  /** The request's id. */
  thumbnailRequestId: string;
}

export interface GetTranscriptInput extends CallOptions {
  /** The video's id. */
  videoId: string;
}

export interface GetTranscriptEditListInput extends CallOptions {
  /** The video's id. */
  videoId: string;
  /** Frames per second; cuts are on the edges of frames. */
  frameRate?: "23.976" | "24" | "25" | "29.97" | "30" | "50" | "59.94" | "60";
  /** Shorten longer silences to this many seconds. */
  maxSilence?: number;
  /** Return a file for an editing program as well. */
  format?: schemas.EditorFormat;
}

export interface GetVideoInput extends CallOptions {
  /** The video's id. */
  videoId: string;
}

export interface GetVoiceInput extends CallOptions {
  /** The voice's id. */
  voiceId: string;
}

export interface GetWebhookDeliveryInput extends CallOptions {
  /** The endpoint's id. */
  endpointId: string;
  /** The event's id. */
  eventId: string;
}

export interface GetWebhookEndpointInput extends CallOptions {
  /** The endpoint's id. */
  endpointId: string;
}

export interface ImportCaptionsInput extends KeyedOptions {
  /** The video's id. */
  videoId: string;
  /** The language of the captions. */
  lang: string;
  body: schemas.CaptionImport;
}

export interface ImportGlossaryInput extends KeyedOptions {
  body: schemas.GlossaryImport;
}

export interface ImportTranscriptInput extends KeyedOptions {
  /** The video's id. */
  videoId: string;
  body: schemas.TranscriptImport;
}

export interface ListAuditLogInput extends CallOptions {
  /** Only this action, such as `createFolder` or `key.revoke`. */
  action?: string;
  /** Only entries of this key, token, session or user, by id. */
  actor?: string;
  /** Only entries at or after this time. */
  since?: string;
  /** Only entries before this time. */
  until?: string;
  /** Maximum number of entries to return. */
  limit?: number;
  /** The `nextPageToken` of the previous page. */
  pageToken?: string;
}

export interface ListBrandVoicesInput extends CallOptions {
}

export interface ListCastAppearancesInput extends CallOptions {
  /** The id of the member of the cast. */
  memberId: string;
  /** Maximum number of appearances to return. */
  limit?: number;
  /** The `nextPageToken` of the previous page. */
  pageToken?: string;
}

export interface ListCastMembersInput extends CallOptions {
  /** Maximum number of members to return. */
  limit?: number;
  /** The `nextPageToken` of the previous page. */
  pageToken?: string;
  /** Only members limited to this folder. */
  folderId?: string;
}

export interface ListCharactersInput extends CallOptions {
}

export interface ListDubsInput extends CallOptions {
  /** The video's id. */
  videoId: string;
}

export interface ListEventsInput extends CallOptions {
  /** The `cursor` of the previous page; only events after it are returned. */
  after?: string;
  /** Only these types, separated by commas, such as `job.ready,job.failed`. */
  types?: string;
  /** Maximum number of events to return. */
  limit?: number;
  /** Seconds to wait for an event if there is none; then none is returned. */
  wait?: number;
}

export interface ListFoldersInput extends CallOptions {
}

export interface ListGlossaryTermsInput extends CallOptions {
  /** Maximum number of terms to return. */
  limit?: number;
  /** The `nextPageToken` of the previous page. */
  pageToken?: string;
  /** Only terms of this language. */
  language?: string;
  /** Only terms limited to this folder. */
  folderId?: string;
}

export interface ListLibraryExportsInput extends CallOptions {
}

export interface ListModelsInput extends CallOptions {
}

export interface ListOutputCopiesInput extends CallOptions {
  /** Only copies with this status. */
  status?: schemas.CopyStatus;
  /** Maximum number of copies to return. */
  limit?: number;
  /** The `nextPageToken` of the previous page. */
  pageToken?: string;
}

export interface ListReviewCommentsInput extends CallOptions {
  /** The video's id. */
  videoId: string;
  /** Maximum number of comments to return. */
  limit?: number;
  /** The `nextPageToken` of the previous page. */
  pageToken?: string;
}

export interface ListReviewLinksInput extends CallOptions {
  /** The video's id. */
  videoId: string;
}

export interface ListRevisionsInput extends CallOptions {
  /** The video's id. */
  videoId: string;
  /** Maximum number of revisions to return. */
  limit?: number;
  /** The `nextPageToken` of the previous page. */
  pageToken?: string;
}

export interface ListSegmentWordingsInput extends KeyedOptions {
  /** The video's id. */
  videoId: string;
  /** The language of the dub. */
  lang: string;
  /** The id of the line. */
  segmentId: string;
  /** `plus` or `premium`. */
  product?: schemas.DubProduct;
  body: schemas.WordingsRequest;
}

export interface ListSegmentsInput extends CallOptions {
  /** The video's id. */
  videoId: string;
  /** The language of the dub. */
  lang: string;
  /** `plus` or `premium`. */
  product?: schemas.DubProduct;
}

export interface ListShortsInput extends CallOptions {
  /** The video's id. */
  videoId: string;
}

export interface ListThumbnailsInput extends CallOptions {
  /** The video's id. */
  videoId: string;
}

export interface ListTrashInput extends CallOptions {
  /** Maximum number of videos to return. */
  limit?: number;
  /** The `nextPageToken` of the previous page. */
  pageToken?: string;
}

export interface ListVideoJobsInput extends CallOptions {
  /** The video's id. */
  videoId: string;
}

export interface ListVideosInput extends CallOptions {
  /** Maximum number of videos to return. */
  limit?: number;
  /** The `nextPageToken` of the previous page. */
  pageToken?: string;
  /** Only videos with this label. */
  label?: string;
}

export interface ListVoicesInput extends CallOptions {
  /** `ready` returns only clones that can be used. */
  status?: "ready";
}

export interface ListWebhookDeliveriesInput extends CallOptions {
  /** The endpoint's id. */
  endpointId: string;
  /** Only deliveries with this status. */
  status?: schemas.DeliveryState;
  /** Maximum number of deliveries. */
  limit?: number;
  /** The `nextPageToken` of the previous page. */
  pageToken?: string;
}

export interface ListWebhookEndpointsInput extends CallOptions {
}

export interface OptimizeTranscriptInput extends KeyedOptions {
  /** The video's id. */
  videoId: string;
  body: schemas.OptimizationRequest;
}

export interface PreviewRetentionInput extends CallOptions {
  /** Instead of the policy's own setting. */
  originalsDays?: number;
  /** Instead of the policy's own setting. */
  intermediatesDays?: number;
  /** Instead of the policy's own setting. */
  outputsDays?: number;
}

export interface PreviewSegmentInput extends KeyedOptions {
  /** The video's id. */
  videoId: string;
  /** The language of the dub. */
  lang: string;
  /** The id of the line. */
  segmentId: string;
  /** `plus` or `premium`. */
  product?: schemas.DubProduct;
  body: schemas.NewLinePreview;
}

export interface QuoteCreditsInput extends KeyedOptions {
  /** The video's id. */
  videoId: string;
  body: schemas.CreditBundle;
}

export interface QuoteRegenerationInput extends KeyedOptions {
  /** The video's id. */
  videoId: string;
  /** The language of the dub. */
  lang: string;
  /** `plus` or `premium`. */
  product?: schemas.DubProduct;
  body: schemas.DubRegenerationRequest;
}

export interface RecognizeTranscriptInput extends KeyedOptions {
  /** The video's id. */
  videoId: string;
  body: schemas.RecognitionRequest;
}

export interface RecoverWebhookDeliveriesInput extends KeyedOptions {
  /** The endpoint's id. */
  endpointId: string;
  body: schemas.DeliveryRecovery;
}

export interface RedeliverWebhookEventInput extends KeyedOptions {
  /** The endpoint's id. */
  endpointId: string;
  /** The event's id. */
  eventId: string;
}

export interface RedoEditInput extends KeyedOptions {
  /** The video's id. */
  videoId: string;
  body: schemas.RevisionGuard;
}

export interface RegenerateInput extends KeyedOptions {
  /** The video's id. */
  videoId: string;
  /** The language of the dub. */
  lang: string;
  /** `plus` or `premium`. */
  product?: schemas.DubProduct;
  body: schemas.DubRegenerationRequest;
}

export interface RegenerateCaptionSegmentsInput extends KeyedOptions {
  /** The video's id. */
  videoId: string;
  /** The language of the captions. */
  lang: string;
  body: schemas.Regeneration;
}

export interface ReserveCreditsInput extends KeyedOptions {
  /** The video's id. */
  videoId: string;
  body: schemas.CreditBundle;
}

export interface RestoreRevisionInput extends KeyedOptions {
  /** The video's id. */
  videoId: string;
  /** The number of the revision. */
  revision: number;
  body: schemas.RevisionGuard;
}

export interface RestoreVideoInput extends KeyedOptions {
  /** The video's id. */
  videoId: string;
}

export interface RetryJobInput extends KeyedOptions {
  /** The job's id. */
  jobId: string;
}

export interface RetryOutputCopyInput extends KeyedOptions {
  /** The copy's id. */
  copyId: string;
}

export interface ReviewPackagingInput extends KeyedOptions {
  /** The video's id. */
  videoId: string;
  body: schemas.ReviewDecision;
}

export interface RevokeReviewLinkInput extends CallOptions {
  /** The video's id. */
  videoId: string;
  /** The link's id. */
  linkId: string;
}

export interface RotateWebhookSecretInput extends KeyedOptions {
  /** The endpoint's id. */
  endpointId: string;
  body: schemas.SecretRotation;
}

export interface RunCastRecognitionInput extends KeyedOptions {
  body: schemas.NewCastRecognitionRun;
}

export interface SearchVoicesInput extends CallOptions {
  pageSize?: number;
  /** Words in the name, description or labels. */
  search?: string;
  /** `generated` or `premade`. */
  category?: string;
  nextPageToken?: string;
}

export interface SendTestWebhookInput extends KeyedOptions {
  /** The endpoint's id. */
  endpointId: string;
}

export interface SetCastRecognitionInput extends CallOptions {
  body: schemas.CastRecognition;
}

export interface SetDestinationInput extends CallOptions {
  /** The `ETag` of the revision to change. If there is a newer one, nothing is changed (409). */
  ifMatch?: string;
  body: schemas.DestinationSettings;
}

export interface SpeakInput extends PostOptions {
  /** The voice's id. */
  voiceId: string;
  /** The audio format: `wav` (default), `wav_16000`, `pcm_24000`, `mp3_44100_128`, … */
  outputFormat?: string;
  body: schemas.NewSpeech;
}

export interface StreamEventsInput extends CallOptions {
  /** The `cursor` of the previous page; only events after it are returned. */
  after?: string;
  /** Only these types, separated by commas, such as `job.ready,job.failed`. */
  types?: string;
  /** The `id` of the last event; overrides `after`. */
  lastEventId?: string;
}

export interface StreamSpeechInput extends PostOptions {
  /** The voice's id. */
  voiceId: string;
  /** The audio format: `wav` (default), `wav_16000`, `pcm_24000`, `mp3_44100_128`, … */
  outputFormat?: string;
  body: schemas.NewSpeech;
}

export interface SuggestTranscriptCutsInput extends CallOptions {
  /** The video's id. */
  videoId: string;
}

export interface UndoEditInput extends KeyedOptions {
  /** The video's id. */
  videoId: string;
  body: schemas.RevisionGuard;
}

export interface UpdateBrandVoiceInput extends CallOptions {
  /** The brand voice's id. */
  brandVoiceId: string;
  /** The `ETag` of the revision to change. If there is a newer one, nothing is changed (409). */
  ifMatch?: string;
  body: schemas.BrandVoicePatch;
}

export interface UpdateCastMemberInput extends CallOptions {
  /** The id of the member of the cast. */
  memberId: string;
  /** The `ETag` of the revision to change. If there is a newer one, nothing is changed (409). */
  ifMatch?: string;
  body: schemas.CastMemberPatch;
}

export interface UpdateCharacterInput extends CallOptions {
  /** The character's id. */
  characterId: string;
  /** The `ETag` of the revision to change. If there is a newer one, nothing is changed (409). */
  ifMatch?: string;
  body: schemas.CharacterPatch;
}

export interface UpdateFolderInput extends CallOptions {
  /** The folder's id. */
  folderId: string;
  /** The `ETag` of the revision to change. If there is a newer one, nothing is changed (409). */
  ifMatch?: string;
  body: schemas.FolderPatch;
}

export interface UpdateGlossaryTermInput extends CallOptions {
  /** The term's id. */
  termId: string;
  /** The `ETag` of the revision to change. If there is a newer one, nothing is changed (409). */
  ifMatch?: string;
  body: schemas.GlossaryTermPatch;
}

export interface UpdateRetentionInput extends CallOptions {
  /** The `ETag` of the revision to change. If there is a newer one, nothing is changed (409). */
  ifMatch?: string;
  body: schemas.RetentionPolicyPatch;
}

export interface UpdateReviewCommentInput extends CallOptions {
  /** The video's id. */
  videoId: string;
  /** The comment's id. */
  commentId: string;
  /** The `ETag` of the revision to change. If there is a newer one, nothing is changed (409). */
  ifMatch?: string;
  body: schemas.ReviewCommentPatch;
}

export interface UpdateVideoInput extends CallOptions {
  /** The video's id. */
  videoId: string;
  /** The `ETag` of the revision to change. If there is a newer one, nothing is changed (409). */
  ifMatch?: string;
  body: schemas.VideoPatch;
}

export interface UpdateVoiceInput extends CallOptions {
  /** The voice's id. */
  voiceId: string;
  /** The `ETag` of the revision to change. If there is a newer one, nothing is changed (409). */
  ifMatch?: string;
  body: schemas.VoicePatch;
}

export interface UpdateWebhookEndpointInput extends CallOptions {
  /** The endpoint's id. */
  endpointId: string;
  /** The `ETag` of the revision to change. If there is a newer one, nothing is changed (409). */
  ifMatch?: string;
  body: schemas.WebhookEndpointPatch;
}

export const OPERATIONS = {
  activateHosting: {
    name: "activateHosting",
    method: "POST",
    path: "/v1/videos/{videoId}/professional-hosting",
    takesBody: true,
    keyed: true,
    replayable: true,
    pathParameters: [["videoId", "videoId"]],
    queryParameters: [],
    headerParameters: [],
  },
  addVoice: {
    name: "addVoice",
    method: "POST",
    path: "/v1/voices/add",
    takesBody: true,
    keyed: false,
    replayable: false,
    pathParameters: [],
    queryParameters: [],
    headerParameters: [],
  },
  cancelJob: {
    name: "cancelJob",
    method: "POST",
    path: "/v1/jobs/{jobId}/cancel",
    takesBody: false,
    keyed: true,
    replayable: true,
    pathParameters: [["jobId", "jobId"]],
    queryParameters: [],
    headerParameters: [],
  },
  compareRevisions: {
    name: "compareRevisions",
    method: "GET",
    path: "/v1/videos/{videoId}/transcript/revisions/{revision}/comparison",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["videoId", "videoId"], ["revision", "revision"]],
    queryParameters: [["to", "to"]],
    headerParameters: [],
  },
  createCaptions: {
    name: "createCaptions",
    method: "POST",
    path: "/v1/videos/{videoId}/captions",
    takesBody: true,
    keyed: true,
    replayable: true,
    pathParameters: [["videoId", "videoId"]],
    queryParameters: [],
    headerParameters: [],
  },
  createCastAppearance: {
    name: "createCastAppearance",
    method: "POST",
    path: "/v1/cast/members/{memberId}/videos/{videoId}/speakers/{speakerId}",
    takesBody: false,
    keyed: true,
    replayable: true,
    pathParameters: [["memberId", "memberId"], ["videoId", "videoId"], ["speakerId", "speakerId"]],
    queryParameters: [],
    headerParameters: [],
  },
  createCastMember: {
    name: "createCastMember",
    method: "POST",
    path: "/v1/cast/members",
    takesBody: true,
    keyed: true,
    replayable: true,
    pathParameters: [],
    queryParameters: [],
    headerParameters: [],
  },
  createDownload: {
    name: "createDownload",
    method: "POST",
    path: "/v1/videos/{videoId}/downloads",
    takesBody: true,
    keyed: true,
    replayable: true,
    pathParameters: [["videoId", "videoId"]],
    queryParameters: [],
    headerParameters: [],
  },
  createDubs: {
    name: "createDubs",
    method: "POST",
    path: "/v1/videos/{videoId}/dubs",
    takesBody: true,
    keyed: true,
    replayable: true,
    pathParameters: [["videoId", "videoId"]],
    queryParameters: [],
    headerParameters: [],
  },
  createFolder: {
    name: "createFolder",
    method: "POST",
    path: "/v1/folders",
    takesBody: true,
    keyed: true,
    replayable: true,
    pathParameters: [],
    queryParameters: [],
    headerParameters: [],
  },
  createGlossaryTerm: {
    name: "createGlossaryTerm",
    method: "POST",
    path: "/v1/glossary/terms",
    takesBody: true,
    keyed: true,
    replayable: true,
    pathParameters: [],
    queryParameters: [],
    headerParameters: [],
  },
  createLibraryExport: {
    name: "createLibraryExport",
    method: "POST",
    path: "/v1/library/exports",
    takesBody: false,
    keyed: true,
    replayable: true,
    pathParameters: [],
    queryParameters: [],
    headerParameters: [],
  },
  createPackaging: {
    name: "createPackaging",
    method: "POST",
    path: "/v1/videos/{videoId}/packaging",
    takesBody: true,
    keyed: true,
    replayable: true,
    pathParameters: [["videoId", "videoId"]],
    queryParameters: [],
    headerParameters: [],
  },
  createReviewComment: {
    name: "createReviewComment",
    method: "POST",
    path: "/v1/videos/{videoId}/comments",
    takesBody: true,
    keyed: true,
    replayable: true,
    pathParameters: [["videoId", "videoId"]],
    queryParameters: [],
    headerParameters: [],
  },
  createReviewLink: {
    name: "createReviewLink",
    method: "POST",
    path: "/v1/videos/{videoId}/review-links",
    takesBody: true,
    keyed: true,
    replayable: true,
    pathParameters: [["videoId", "videoId"]],
    queryParameters: [],
    headerParameters: [],
  },
  createShorts: {
    name: "createShorts",
    method: "POST",
    path: "/v1/videos/{videoId}/shorts",
    takesBody: true,
    keyed: true,
    replayable: true,
    pathParameters: [["videoId", "videoId"]],
    queryParameters: [],
    headerParameters: [],
  },
  createThumbnail: {
    name: "createThumbnail",
    method: "POST",
    path: "/v1/videos/{videoId}/thumbnails",
    takesBody: true,
    keyed: true,
    replayable: true,
    pathParameters: [["videoId", "videoId"]],
    queryParameters: [],
    headerParameters: [],
  },
  createUpload: {
    name: "createUpload",
    method: "POST",
    path: "/v1/videos/{videoId}/uploads",
    takesBody: true,
    keyed: true,
    replayable: true,
    pathParameters: [["videoId", "videoId"]],
    queryParameters: [],
    headerParameters: [],
  },
  createVideo: {
    name: "createVideo",
    method: "POST",
    path: "/v1/videos",
    takesBody: true,
    keyed: true,
    replayable: true,
    pathParameters: [],
    queryParameters: [],
    headerParameters: [],
  },
  createWebhookEndpoint: {
    name: "createWebhookEndpoint",
    method: "POST",
    path: "/v1/webhook-endpoints",
    takesBody: true,
    keyed: true,
    replayable: true,
    pathParameters: [],
    queryParameters: [],
    headerParameters: [],
  },
  cutPlayback: {
    name: "cutPlayback",
    method: "POST",
    path: "/v1/videos/{videoId}/playback",
    takesBody: true,
    keyed: true,
    replayable: true,
    pathParameters: [["videoId", "videoId"]],
    queryParameters: [],
    headerParameters: [],
  },
  deleteBrandVoice: {
    name: "deleteBrandVoice",
    method: "DELETE",
    path: "/v1/brand-voices/{brandVoiceId}",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["brandVoiceId", "brandVoiceId"]],
    queryParameters: [],
    headerParameters: [["ifMatch", "If-Match"]],
  },
  deleteCaptions: {
    name: "deleteCaptions",
    method: "DELETE",
    path: "/v1/videos/{videoId}/captions/{lang}",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["videoId", "videoId"], ["lang", "lang"]],
    queryParameters: [],
    headerParameters: [],
  },
  deleteCastAppearance: {
    name: "deleteCastAppearance",
    method: "DELETE",
    path: "/v1/cast/members/{memberId}/videos/{videoId}/speakers/{speakerId}",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["memberId", "memberId"], ["videoId", "videoId"], ["speakerId", "speakerId"]],
    queryParameters: [],
    headerParameters: [],
  },
  deleteCastMember: {
    name: "deleteCastMember",
    method: "DELETE",
    path: "/v1/cast/members/{memberId}",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["memberId", "memberId"]],
    queryParameters: [],
    headerParameters: [["ifMatch", "If-Match"]],
  },
  deleteCharacter: {
    name: "deleteCharacter",
    method: "DELETE",
    path: "/v1/characters/{characterId}",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["characterId", "characterId"]],
    queryParameters: [],
    headerParameters: [["ifMatch", "If-Match"]],
  },
  deleteDestination: {
    name: "deleteDestination",
    method: "DELETE",
    path: "/v1/library/destination",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [],
    queryParameters: [],
    headerParameters: [["ifMatch", "If-Match"]],
  },
  deleteDownload: {
    name: "deleteDownload",
    method: "DELETE",
    path: "/v1/downloads/{downloadRequestId}",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["downloadRequestId", "downloadRequestId"]],
    queryParameters: [],
    headerParameters: [],
  },
  deleteDub: {
    name: "deleteDub",
    method: "DELETE",
    path: "/v1/videos/{videoId}/dubs/{lang}",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["videoId", "videoId"], ["lang", "lang"]],
    queryParameters: [["product", "product"]],
    headerParameters: [],
  },
  deleteFolder: {
    name: "deleteFolder",
    method: "DELETE",
    path: "/v1/folders/{folderId}",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["folderId", "folderId"]],
    queryParameters: [],
    headerParameters: [["ifMatch", "If-Match"]],
  },
  deleteGlossaryTerm: {
    name: "deleteGlossaryTerm",
    method: "DELETE",
    path: "/v1/glossary/terms/{termId}",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["termId", "termId"]],
    queryParameters: [],
    headerParameters: [["ifMatch", "If-Match"]],
  },
  deleteLibraryExport: {
    name: "deleteLibraryExport",
    method: "DELETE",
    path: "/v1/library/exports/{exportId}",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["exportId", "exportId"]],
    queryParameters: [],
    headerParameters: [],
  },
  deleteReviewComment: {
    name: "deleteReviewComment",
    method: "DELETE",
    path: "/v1/videos/{videoId}/comments/{commentId}",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["videoId", "videoId"], ["commentId", "commentId"]],
    queryParameters: [],
    headerParameters: [["ifMatch", "If-Match"]],
  },
  deleteShorts: {
    name: "deleteShorts",
    method: "DELETE",
    path: "/v1/shorts/{shortsRequestId}",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["shortsRequestId", "shortsRequestId"]],
    queryParameters: [],
    headerParameters: [],
  },
  deleteShortsOutput: {
    name: "deleteShortsOutput",
    method: "DELETE",
    path: "/v1/shorts/{shortsRequestId}/outputs/{outputId}",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["shortsRequestId", "shortsRequestId"], ["outputId", "outputId"]],
    queryParameters: [],
    headerParameters: [],
  },
  deleteThumbnail: {
    name: "deleteThumbnail",
    method: "DELETE",
    path: "/v1/thumbnails/{thumbnailRequestId}",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["thumbnailRequestId", "thumbnailRequestId"]],
    queryParameters: [],
    headerParameters: [],
  },
  deleteThumbnailImage: {
    name: "deleteThumbnailImage",
    method: "DELETE",
    path: "/v1/thumbnails/{thumbnailRequestId}/images/{thumbnailId}",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["thumbnailRequestId", "thumbnailRequestId"], ["thumbnailId", "thumbnailId"]],
    queryParameters: [],
    headerParameters: [],
  },
  deleteUpload: {
    name: "deleteUpload",
    method: "DELETE",
    path: "/v1/videos/{videoId}/uploads",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["videoId", "videoId"]],
    queryParameters: [],
    headerParameters: [],
  },
  deleteVideo: {
    name: "deleteVideo",
    method: "DELETE",
    path: "/v1/videos/{videoId}",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["videoId", "videoId"]],
    queryParameters: [["permanently", "permanently"]],
    headerParameters: [["ifMatch", "If-Match"]],
  },
  deleteVoice: {
    name: "deleteVoice",
    method: "DELETE",
    path: "/v1/voices/{voice_id}",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["voiceId", "voice_id"]],
    queryParameters: [],
    headerParameters: [["ifMatch", "If-Match"]],
  },
  deleteWebhookEndpoint: {
    name: "deleteWebhookEndpoint",
    method: "DELETE",
    path: "/v1/webhook-endpoints/{endpointId}",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["endpointId", "endpointId"]],
    queryParameters: [],
    headerParameters: [["ifMatch", "If-Match"]],
  },
  editCaptionSegments: {
    name: "editCaptionSegments",
    method: "PATCH",
    path: "/v1/videos/{videoId}/captions/{lang}/segments",
    takesBody: true,
    keyed: false,
    replayable: false,
    pathParameters: [["videoId", "videoId"], ["lang", "lang"]],
    queryParameters: [],
    headerParameters: [],
  },
  editOptimizedTranscript: {
    name: "editOptimizedTranscript",
    method: "PATCH",
    path: "/v1/videos/{videoId}/transcript/optimized",
    takesBody: true,
    keyed: false,
    replayable: false,
    pathParameters: [["videoId", "videoId"]],
    queryParameters: [],
    headerParameters: [],
  },
  editSegments: {
    name: "editSegments",
    method: "PATCH",
    path: "/v1/videos/{videoId}/dubs/{lang}/segments",
    takesBody: true,
    keyed: false,
    replayable: false,
    pathParameters: [["videoId", "videoId"], ["lang", "lang"]],
    queryParameters: [["product", "product"]],
    headerParameters: [],
  },
  editTranscript: {
    name: "editTranscript",
    method: "PATCH",
    path: "/v1/videos/{videoId}/transcript",
    takesBody: true,
    keyed: false,
    replayable: false,
    pathParameters: [["videoId", "videoId"]],
    queryParameters: [],
    headerParameters: [],
  },
  eraseLibrary: {
    name: "eraseLibrary",
    method: "DELETE",
    path: "/v1/library",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [],
    queryParameters: [["confirm", "confirm"]],
    headerParameters: [],
  },
  exportAuditLog: {
    name: "exportAuditLog",
    method: "GET",
    path: "/v1/audit-log/export",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [],
    queryParameters: [["action", "action"], ["actor", "actor"], ["since", "since"], ["until", "until"]],
    headerParameters: [],
  },
  exportGlossary: {
    name: "exportGlossary",
    method: "GET",
    path: "/v1/glossary/export",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [],
    queryParameters: [],
    headerParameters: [],
  },
  getBrandVoice: {
    name: "getBrandVoice",
    method: "GET",
    path: "/v1/brand-voices/{brandVoiceId}",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["brandVoiceId", "brandVoiceId"]],
    queryParameters: [],
    headerParameters: [],
  },
  getCapabilities: {
    name: "getCapabilities",
    method: "GET",
    path: "/v1/capabilities",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [],
    queryParameters: [],
    headerParameters: [],
  },
  getCaptionSegments: {
    name: "getCaptionSegments",
    method: "GET",
    path: "/v1/videos/{videoId}/captions/{lang}/segments",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["videoId", "videoId"], ["lang", "lang"]],
    queryParameters: [],
    headerParameters: [],
  },
  getCastMember: {
    name: "getCastMember",
    method: "GET",
    path: "/v1/cast/members/{memberId}",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["memberId", "memberId"]],
    queryParameters: [],
    headerParameters: [],
  },
  getCastRecognition: {
    name: "getCastRecognition",
    method: "GET",
    path: "/v1/cast/recognition",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [],
    queryParameters: [],
    headerParameters: [],
  },
  getCastRecognitionRun: {
    name: "getCastRecognitionRun",
    method: "GET",
    path: "/v1/cast/recognition/run",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [],
    queryParameters: [],
    headerParameters: [],
  },
  getCharacter: {
    name: "getCharacter",
    method: "GET",
    path: "/v1/characters/{characterId}",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["characterId", "characterId"]],
    queryParameters: [],
    headerParameters: [],
  },
  getDestination: {
    name: "getDestination",
    method: "GET",
    path: "/v1/library/destination",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [],
    queryParameters: [],
    headerParameters: [],
  },
  getDownload: {
    name: "getDownload",
    method: "GET",
    path: "/v1/downloads/{downloadRequestId}",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["downloadRequestId", "downloadRequestId"]],
    queryParameters: [],
    headerParameters: [],
  },
  getDub: {
    name: "getDub",
    method: "GET",
    path: "/v1/videos/{videoId}/dubs/{lang}",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["videoId", "videoId"], ["lang", "lang"]],
    queryParameters: [["product", "product"]],
    headerParameters: [],
  },
  getFolder: {
    name: "getFolder",
    method: "GET",
    path: "/v1/folders/{folderId}",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["folderId", "folderId"]],
    queryParameters: [],
    headerParameters: [],
  },
  getGlossaryTerm: {
    name: "getGlossaryTerm",
    method: "GET",
    path: "/v1/glossary/terms/{termId}",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["termId", "termId"]],
    queryParameters: [],
    headerParameters: [],
  },
  getHealth: {
    name: "getHealth",
    method: "GET",
    path: "/v1/health",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [],
    queryParameters: [],
    headerParameters: [],
  },
  getHosting: {
    name: "getHosting",
    method: "GET",
    path: "/v1/videos/{videoId}/professional-hosting",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["videoId", "videoId"]],
    queryParameters: [],
    headerParameters: [],
  },
  getJob: {
    name: "getJob",
    method: "GET",
    path: "/v1/jobs/{jobId}",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["jobId", "jobId"]],
    queryParameters: [["wait", "wait"]],
    headerParameters: [],
  },
  getJobTimeline: {
    name: "getJobTimeline",
    method: "GET",
    path: "/v1/jobs/{jobId}/timeline",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["jobId", "jobId"]],
    queryParameters: [],
    headerParameters: [],
  },
  getLibrary: {
    name: "getLibrary",
    method: "GET",
    path: "/v1/library",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [],
    queryParameters: [],
    headerParameters: [],
  },
  getLibraryExport: {
    name: "getLibraryExport",
    method: "GET",
    path: "/v1/library/exports/{exportId}",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["exportId", "exportId"]],
    queryParameters: [],
    headerParameters: [],
  },
  getOptimizedTranscript: {
    name: "getOptimizedTranscript",
    method: "GET",
    path: "/v1/videos/{videoId}/transcript/optimized",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["videoId", "videoId"]],
    queryParameters: [],
    headerParameters: [],
  },
  getPackaging: {
    name: "getPackaging",
    method: "GET",
    path: "/v1/videos/{videoId}/packaging",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["videoId", "videoId"]],
    queryParameters: [],
    headerParameters: [],
  },
  getPlayback: {
    name: "getPlayback",
    method: "GET",
    path: "/v1/videos/{videoId}/playback",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["videoId", "videoId"]],
    queryParameters: [],
    headerParameters: [],
  },
  getRetention: {
    name: "getRetention",
    method: "GET",
    path: "/v1/library/retention",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [],
    queryParameters: [],
    headerParameters: [],
  },
  getRetentionReport: {
    name: "getRetentionReport",
    method: "GET",
    path: "/v1/library/retention/report",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [],
    queryParameters: [],
    headerParameters: [],
  },
  getReviewComment: {
    name: "getReviewComment",
    method: "GET",
    path: "/v1/videos/{videoId}/comments/{commentId}",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["videoId", "videoId"], ["commentId", "commentId"]],
    queryParameters: [],
    headerParameters: [],
  },
  getRevision: {
    name: "getRevision",
    method: "GET",
    path: "/v1/videos/{videoId}/transcript/revisions/{revision}",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["videoId", "videoId"], ["revision", "revision"]],
    queryParameters: [],
    headerParameters: [],
  },
  getSegmentPreview: {
    name: "getSegmentPreview",
    method: "GET",
    path: "/v1/videos/{videoId}/dubs/{lang}/segments/{segmentId}/preview/{previewId}",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["videoId", "videoId"], ["lang", "lang"], ["segmentId", "segmentId"], ["previewId", "previewId"]],
    queryParameters: [["product", "product"]],
    headerParameters: [],
  },
  getSegmentWordings: {
    name: "getSegmentWordings",
    method: "GET",
    path: "/v1/videos/{videoId}/dubs/{lang}/segments/{segmentId}/wordings/{wordingsId}",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["videoId", "videoId"], ["lang", "lang"], ["segmentId", "segmentId"], ["wordingsId", "wordingsId"]],
    queryParameters: [["product", "product"]],
    headerParameters: [],
  },
  getShorts: {
    name: "getShorts",
    method: "GET",
    path: "/v1/shorts/{shortsRequestId}",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["shortsRequestId", "shortsRequestId"]],
    queryParameters: [],
    headerParameters: [],
  },
  getStaleProducts: {
    name: "getStaleProducts",
    method: "GET",
    path: "/v1/videos/{videoId}/stale-products",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["videoId", "videoId"]],
    queryParameters: [],
    headerParameters: [],
  },
  getSubtitles: {
    name: "getSubtitles",
    method: "GET",
    path: "/v1/videos/{videoId}/subtitles/{lang}",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["videoId", "videoId"], ["lang", "lang"]],
    queryParameters: [["format", "format"]],
    headerParameters: [],
  },
  getThumbnail: {
    name: "getThumbnail",
    method: "GET",
    path: "/v1/thumbnails/{thumbnailRequestId}",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["thumbnailRequestId", "thumbnailRequestId"]],
    queryParameters: [],
    headerParameters: [],
  },
  getTranscript: {
    name: "getTranscript",
    method: "GET",
    path: "/v1/videos/{videoId}/transcript",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["videoId", "videoId"]],
    queryParameters: [],
    headerParameters: [],
  },
  getTranscriptEditList: {
    name: "getTranscriptEditList",
    method: "GET",
    path: "/v1/videos/{videoId}/transcript/edit-list",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["videoId", "videoId"]],
    queryParameters: [["frameRate", "frameRate"], ["maxSilence", "maxSilence"], ["format", "format"]],
    headerParameters: [],
  },
  getVideo: {
    name: "getVideo",
    method: "GET",
    path: "/v1/videos/{videoId}",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["videoId", "videoId"]],
    queryParameters: [],
    headerParameters: [],
  },
  getVoice: {
    name: "getVoice",
    method: "GET",
    path: "/v1/voices/{voice_id}",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["voiceId", "voice_id"]],
    queryParameters: [],
    headerParameters: [],
  },
  getWebhookDelivery: {
    name: "getWebhookDelivery",
    method: "GET",
    path: "/v1/webhook-endpoints/{endpointId}/deliveries/{eventId}",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["endpointId", "endpointId"], ["eventId", "eventId"]],
    queryParameters: [],
    headerParameters: [],
  },
  getWebhookEndpoint: {
    name: "getWebhookEndpoint",
    method: "GET",
    path: "/v1/webhook-endpoints/{endpointId}",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["endpointId", "endpointId"]],
    queryParameters: [],
    headerParameters: [],
  },
  importCaptions: {
    name: "importCaptions",
    method: "POST",
    path: "/v1/videos/{videoId}/captions/{lang}/import",
    takesBody: true,
    keyed: true,
    replayable: true,
    pathParameters: [["videoId", "videoId"], ["lang", "lang"]],
    queryParameters: [],
    headerParameters: [],
  },
  importGlossary: {
    name: "importGlossary",
    method: "POST",
    path: "/v1/glossary/import",
    takesBody: true,
    keyed: true,
    replayable: true,
    pathParameters: [],
    queryParameters: [],
    headerParameters: [],
  },
  importTranscript: {
    name: "importTranscript",
    method: "POST",
    path: "/v1/videos/{videoId}/transcript/import",
    takesBody: true,
    keyed: true,
    replayable: true,
    pathParameters: [["videoId", "videoId"]],
    queryParameters: [],
    headerParameters: [],
  },
  listAuditLog: {
    name: "listAuditLog",
    method: "GET",
    path: "/v1/audit-log",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [],
    queryParameters: [["action", "action"], ["actor", "actor"], ["since", "since"], ["until", "until"], ["limit", "limit"], ["pageToken", "pageToken"]],
    headerParameters: [],
  },
  listBrandVoices: {
    name: "listBrandVoices",
    method: "GET",
    path: "/v1/brand-voices",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [],
    queryParameters: [],
    headerParameters: [],
  },
  listCastAppearances: {
    name: "listCastAppearances",
    method: "GET",
    path: "/v1/cast/members/{memberId}/appearances",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["memberId", "memberId"]],
    queryParameters: [["limit", "limit"], ["pageToken", "pageToken"]],
    headerParameters: [],
  },
  listCastMembers: {
    name: "listCastMembers",
    method: "GET",
    path: "/v1/cast/members",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [],
    queryParameters: [["limit", "limit"], ["pageToken", "pageToken"], ["folderId", "folderId"]],
    headerParameters: [],
  },
  listCharacters: {
    name: "listCharacters",
    method: "GET",
    path: "/v1/characters",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [],
    queryParameters: [],
    headerParameters: [],
  },
  listDubs: {
    name: "listDubs",
    method: "GET",
    path: "/v1/videos/{videoId}/dubs",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["videoId", "videoId"]],
    queryParameters: [],
    headerParameters: [],
  },
  listEvents: {
    name: "listEvents",
    method: "GET",
    path: "/v1/events",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [],
    queryParameters: [["after", "after"], ["types", "types"], ["limit", "limit"], ["wait", "wait"]],
    headerParameters: [],
  },
  listFolders: {
    name: "listFolders",
    method: "GET",
    path: "/v1/folders",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [],
    queryParameters: [],
    headerParameters: [],
  },
  listGlossaryTerms: {
    name: "listGlossaryTerms",
    method: "GET",
    path: "/v1/glossary/terms",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [],
    queryParameters: [["limit", "limit"], ["pageToken", "pageToken"], ["language", "language"], ["folderId", "folderId"]],
    headerParameters: [],
  },
  listLibraryExports: {
    name: "listLibraryExports",
    method: "GET",
    path: "/v1/library/exports",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [],
    queryParameters: [],
    headerParameters: [],
  },
  listModels: {
    name: "listModels",
    method: "GET",
    path: "/v1/models",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [],
    queryParameters: [],
    headerParameters: [],
  },
  listOutputCopies: {
    name: "listOutputCopies",
    method: "GET",
    path: "/v1/library/destination/copies",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [],
    queryParameters: [["status", "status"], ["limit", "limit"], ["pageToken", "pageToken"]],
    headerParameters: [],
  },
  listReviewComments: {
    name: "listReviewComments",
    method: "GET",
    path: "/v1/videos/{videoId}/comments",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["videoId", "videoId"]],
    queryParameters: [["limit", "limit"], ["pageToken", "pageToken"]],
    headerParameters: [],
  },
  listReviewLinks: {
    name: "listReviewLinks",
    method: "GET",
    path: "/v1/videos/{videoId}/review-links",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["videoId", "videoId"]],
    queryParameters: [],
    headerParameters: [],
  },
  listRevisions: {
    name: "listRevisions",
    method: "GET",
    path: "/v1/videos/{videoId}/transcript/revisions",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["videoId", "videoId"]],
    queryParameters: [["limit", "limit"], ["pageToken", "pageToken"]],
    headerParameters: [],
  },
  listSegmentWordings: {
    name: "listSegmentWordings",
    method: "POST",
    path: "/v1/videos/{videoId}/dubs/{lang}/segments/{segmentId}/wordings",
    takesBody: true,
    keyed: true,
    replayable: true,
    pathParameters: [["videoId", "videoId"], ["lang", "lang"], ["segmentId", "segmentId"]],
    queryParameters: [["product", "product"]],
    headerParameters: [],
  },
  listSegments: {
    name: "listSegments",
    method: "GET",
    path: "/v1/videos/{videoId}/dubs/{lang}/segments",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["videoId", "videoId"], ["lang", "lang"]],
    queryParameters: [["product", "product"]],
    headerParameters: [],
  },
  listShorts: {
    name: "listShorts",
    method: "GET",
    path: "/v1/videos/{videoId}/shorts",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["videoId", "videoId"]],
    queryParameters: [],
    headerParameters: [],
  },
  listThumbnails: {
    name: "listThumbnails",
    method: "GET",
    path: "/v1/videos/{videoId}/thumbnails",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["videoId", "videoId"]],
    queryParameters: [],
    headerParameters: [],
  },
  listTrash: {
    name: "listTrash",
    method: "GET",
    path: "/v1/trash",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [],
    queryParameters: [["limit", "limit"], ["pageToken", "pageToken"]],
    headerParameters: [],
  },
  listVideoJobs: {
    name: "listVideoJobs",
    method: "GET",
    path: "/v1/videos/{videoId}/jobs",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["videoId", "videoId"]],
    queryParameters: [],
    headerParameters: [],
  },
  listVideos: {
    name: "listVideos",
    method: "GET",
    path: "/v1/videos",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [],
    queryParameters: [["limit", "limit"], ["pageToken", "pageToken"], ["label", "label"]],
    headerParameters: [],
  },
  listVoices: {
    name: "listVoices",
    method: "GET",
    path: "/v1/voices",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [],
    queryParameters: [["status", "status"]],
    headerParameters: [],
  },
  listWebhookDeliveries: {
    name: "listWebhookDeliveries",
    method: "GET",
    path: "/v1/webhook-endpoints/{endpointId}/deliveries",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["endpointId", "endpointId"]],
    queryParameters: [["status", "status"], ["limit", "limit"], ["pageToken", "pageToken"]],
    headerParameters: [],
  },
  listWebhookEndpoints: {
    name: "listWebhookEndpoints",
    method: "GET",
    path: "/v1/webhook-endpoints",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [],
    queryParameters: [],
    headerParameters: [],
  },
  optimizeTranscript: {
    name: "optimizeTranscript",
    method: "POST",
    path: "/v1/videos/{videoId}/transcript/optimize",
    takesBody: true,
    keyed: true,
    replayable: true,
    pathParameters: [["videoId", "videoId"]],
    queryParameters: [],
    headerParameters: [],
  },
  previewRetention: {
    name: "previewRetention",
    method: "GET",
    path: "/v1/library/retention/preview",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [],
    queryParameters: [["originalsDays", "originalsDays"], ["intermediatesDays", "intermediatesDays"], ["outputsDays", "outputsDays"]],
    headerParameters: [],
  },
  previewSegment: {
    name: "previewSegment",
    method: "POST",
    path: "/v1/videos/{videoId}/dubs/{lang}/segments/{segmentId}/preview",
    takesBody: true,
    keyed: true,
    replayable: true,
    pathParameters: [["videoId", "videoId"], ["lang", "lang"], ["segmentId", "segmentId"]],
    queryParameters: [["product", "product"]],
    headerParameters: [],
  },
  quoteCredits: {
    name: "quoteCredits",
    method: "POST",
    path: "/v1/videos/{videoId}/quote",
    takesBody: true,
    keyed: true,
    replayable: true,
    pathParameters: [["videoId", "videoId"]],
    queryParameters: [],
    headerParameters: [],
  },
  quoteRegeneration: {
    name: "quoteRegeneration",
    method: "POST",
    path: "/v1/videos/{videoId}/dubs/{lang}/regenerate/quote",
    takesBody: true,
    keyed: true,
    replayable: true,
    pathParameters: [["videoId", "videoId"], ["lang", "lang"]],
    queryParameters: [["product", "product"]],
    headerParameters: [],
  },
  recognizeTranscript: {
    name: "recognizeTranscript",
    method: "POST",
    path: "/v1/videos/{videoId}/transcript/recognize",
    takesBody: true,
    keyed: true,
    replayable: true,
    pathParameters: [["videoId", "videoId"]],
    queryParameters: [],
    headerParameters: [],
  },
  recoverWebhookDeliveries: {
    name: "recoverWebhookDeliveries",
    method: "POST",
    path: "/v1/webhook-endpoints/{endpointId}/recover",
    takesBody: true,
    keyed: true,
    replayable: true,
    pathParameters: [["endpointId", "endpointId"]],
    queryParameters: [],
    headerParameters: [],
  },
  redeliverWebhookEvent: {
    name: "redeliverWebhookEvent",
    method: "POST",
    path: "/v1/webhook-endpoints/{endpointId}/deliveries/{eventId}/redeliver",
    takesBody: false,
    keyed: true,
    replayable: true,
    pathParameters: [["endpointId", "endpointId"], ["eventId", "eventId"]],
    queryParameters: [],
    headerParameters: [],
  },
  redoEdit: {
    name: "redoEdit",
    method: "POST",
    path: "/v1/videos/{videoId}/transcript/redo",
    takesBody: true,
    keyed: true,
    replayable: true,
    pathParameters: [["videoId", "videoId"]],
    queryParameters: [],
    headerParameters: [],
  },
  regenerate: {
    name: "regenerate",
    method: "POST",
    path: "/v1/videos/{videoId}/dubs/{lang}/regenerate",
    takesBody: true,
    keyed: true,
    replayable: true,
    pathParameters: [["videoId", "videoId"], ["lang", "lang"]],
    queryParameters: [["product", "product"]],
    headerParameters: [],
  },
  regenerateCaptionSegments: {
    name: "regenerateCaptionSegments",
    method: "POST",
    path: "/v1/videos/{videoId}/captions/{lang}/regenerate",
    takesBody: true,
    keyed: true,
    replayable: true,
    pathParameters: [["videoId", "videoId"], ["lang", "lang"]],
    queryParameters: [],
    headerParameters: [],
  },
  reserveCredits: {
    name: "reserveCredits",
    method: "POST",
    path: "/v1/videos/{videoId}/reservations",
    takesBody: true,
    keyed: true,
    replayable: true,
    pathParameters: [["videoId", "videoId"]],
    queryParameters: [],
    headerParameters: [],
  },
  restoreRevision: {
    name: "restoreRevision",
    method: "POST",
    path: "/v1/videos/{videoId}/transcript/revisions/{revision}/restore",
    takesBody: true,
    keyed: true,
    replayable: true,
    pathParameters: [["videoId", "videoId"], ["revision", "revision"]],
    queryParameters: [],
    headerParameters: [],
  },
  restoreVideo: {
    name: "restoreVideo",
    method: "POST",
    path: "/v1/videos/{videoId}/restore",
    takesBody: false,
    keyed: true,
    replayable: true,
    pathParameters: [["videoId", "videoId"]],
    queryParameters: [],
    headerParameters: [],
  },
  retryJob: {
    name: "retryJob",
    method: "POST",
    path: "/v1/jobs/{jobId}/retry",
    takesBody: false,
    keyed: true,
    replayable: true,
    pathParameters: [["jobId", "jobId"]],
    queryParameters: [],
    headerParameters: [],
  },
  retryOutputCopy: {
    name: "retryOutputCopy",
    method: "POST",
    path: "/v1/library/destination/copies/{copyId}/retry",
    takesBody: false,
    keyed: true,
    replayable: true,
    pathParameters: [["copyId", "copyId"]],
    queryParameters: [],
    headerParameters: [],
  },
  reviewPackaging: {
    name: "reviewPackaging",
    method: "POST",
    path: "/v1/videos/{videoId}/packaging/review",
    takesBody: true,
    keyed: true,
    replayable: true,
    pathParameters: [["videoId", "videoId"]],
    queryParameters: [],
    headerParameters: [],
  },
  revokeReviewLink: {
    name: "revokeReviewLink",
    method: "DELETE",
    path: "/v1/videos/{videoId}/review-links/{linkId}",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["videoId", "videoId"], ["linkId", "linkId"]],
    queryParameters: [],
    headerParameters: [],
  },
  rotateWebhookSecret: {
    name: "rotateWebhookSecret",
    method: "POST",
    path: "/v1/webhook-endpoints/{endpointId}/rotate-secret",
    takesBody: true,
    keyed: true,
    replayable: true,
    pathParameters: [["endpointId", "endpointId"]],
    queryParameters: [],
    headerParameters: [],
  },
  runCastRecognition: {
    name: "runCastRecognition",
    method: "POST",
    path: "/v1/cast/recognition/run",
    takesBody: true,
    keyed: true,
    replayable: true,
    pathParameters: [],
    queryParameters: [],
    headerParameters: [],
  },
  searchVoices: {
    name: "searchVoices",
    method: "GET",
    path: "/v2/voices",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [],
    queryParameters: [["pageSize", "page_size"], ["search", "search"], ["category", "category"], ["nextPageToken", "next_page_token"]],
    headerParameters: [],
  },
  sendTestWebhook: {
    name: "sendTestWebhook",
    method: "POST",
    path: "/v1/webhook-endpoints/{endpointId}/test",
    takesBody: false,
    keyed: true,
    replayable: true,
    pathParameters: [["endpointId", "endpointId"]],
    queryParameters: [],
    headerParameters: [],
  },
  setCastRecognition: {
    name: "setCastRecognition",
    method: "PUT",
    path: "/v1/cast/recognition",
    takesBody: true,
    keyed: false,
    replayable: true,
    pathParameters: [],
    queryParameters: [],
    headerParameters: [],
  },
  setDestination: {
    name: "setDestination",
    method: "PUT",
    path: "/v1/library/destination",
    takesBody: true,
    keyed: false,
    replayable: true,
    pathParameters: [],
    queryParameters: [],
    headerParameters: [["ifMatch", "If-Match"]],
  },
  speak: {
    name: "speak",
    method: "POST",
    path: "/v1/text-to-speech/{voice_id}",
    takesBody: true,
    keyed: false,
    replayable: false,
    pathParameters: [["voiceId", "voice_id"]],
    queryParameters: [["outputFormat", "output_format"]],
    headerParameters: [],
  },
  streamEvents: {
    name: "streamEvents",
    method: "GET",
    path: "/v1/events/stream",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [],
    queryParameters: [["after", "after"], ["types", "types"]],
    headerParameters: [["lastEventId", "Last-Event-ID"]],
  },
  streamSpeech: {
    name: "streamSpeech",
    method: "POST",
    path: "/v1/text-to-speech/{voice_id}/stream",
    takesBody: true,
    keyed: false,
    replayable: false,
    pathParameters: [["voiceId", "voice_id"]],
    queryParameters: [["outputFormat", "output_format"]],
    headerParameters: [],
  },
  suggestTranscriptCuts: {
    name: "suggestTranscriptCuts",
    method: "GET",
    path: "/v1/videos/{videoId}/transcript/cut-suggestions",
    takesBody: false,
    keyed: false,
    replayable: true,
    pathParameters: [["videoId", "videoId"]],
    queryParameters: [],
    headerParameters: [],
  },
  undoEdit: {
    name: "undoEdit",
    method: "POST",
    path: "/v1/videos/{videoId}/transcript/undo",
    takesBody: true,
    keyed: true,
    replayable: true,
    pathParameters: [["videoId", "videoId"]],
    queryParameters: [],
    headerParameters: [],
  },
  updateBrandVoice: {
    name: "updateBrandVoice",
    method: "PATCH",
    path: "/v1/brand-voices/{brandVoiceId}",
    takesBody: true,
    keyed: false,
    replayable: false,
    pathParameters: [["brandVoiceId", "brandVoiceId"]],
    queryParameters: [],
    headerParameters: [["ifMatch", "If-Match"]],
  },
  updateCastMember: {
    name: "updateCastMember",
    method: "PATCH",
    path: "/v1/cast/members/{memberId}",
    takesBody: true,
    keyed: false,
    replayable: false,
    pathParameters: [["memberId", "memberId"]],
    queryParameters: [],
    headerParameters: [["ifMatch", "If-Match"]],
  },
  updateCharacter: {
    name: "updateCharacter",
    method: "PATCH",
    path: "/v1/characters/{characterId}",
    takesBody: true,
    keyed: false,
    replayable: false,
    pathParameters: [["characterId", "characterId"]],
    queryParameters: [],
    headerParameters: [["ifMatch", "If-Match"]],
  },
  updateFolder: {
    name: "updateFolder",
    method: "PATCH",
    path: "/v1/folders/{folderId}",
    takesBody: true,
    keyed: false,
    replayable: false,
    pathParameters: [["folderId", "folderId"]],
    queryParameters: [],
    headerParameters: [["ifMatch", "If-Match"]],
  },
  updateGlossaryTerm: {
    name: "updateGlossaryTerm",
    method: "PATCH",
    path: "/v1/glossary/terms/{termId}",
    takesBody: true,
    keyed: false,
    replayable: false,
    pathParameters: [["termId", "termId"]],
    queryParameters: [],
    headerParameters: [["ifMatch", "If-Match"]],
  },
  updateRetention: {
    name: "updateRetention",
    method: "PATCH",
    path: "/v1/library/retention",
    takesBody: true,
    keyed: false,
    replayable: false,
    pathParameters: [],
    queryParameters: [],
    headerParameters: [["ifMatch", "If-Match"]],
  },
  updateReviewComment: {
    name: "updateReviewComment",
    method: "PATCH",
    path: "/v1/videos/{videoId}/comments/{commentId}",
    takesBody: true,
    keyed: false,
    replayable: false,
    pathParameters: [["videoId", "videoId"], ["commentId", "commentId"]],
    queryParameters: [],
    headerParameters: [["ifMatch", "If-Match"]],
  },
  updateVideo: {
    name: "updateVideo",
    method: "PATCH",
    path: "/v1/videos/{videoId}",
    takesBody: true,
    keyed: false,
    replayable: false,
    pathParameters: [["videoId", "videoId"]],
    queryParameters: [],
    headerParameters: [["ifMatch", "If-Match"]],
  },
  updateVoice: {
    name: "updateVoice",
    method: "PATCH",
    path: "/v1/voices/{voice_id}",
    takesBody: true,
    keyed: false,
    replayable: false,
    pathParameters: [["voiceId", "voice_id"]],
    queryParameters: [],
    headerParameters: [["ifMatch", "If-Match"]],
  },
  updateWebhookEndpoint: {
    name: "updateWebhookEndpoint",
    method: "PATCH",
    path: "/v1/webhook-endpoints/{endpointId}",
    takesBody: true,
    keyed: false,
    replayable: false,
    pathParameters: [["endpointId", "endpointId"]],
    queryParameters: [],
    headerParameters: [["ifMatch", "If-Match"]],
  },
} as const satisfies Record<string, OperationDescription>;

/** Every operation of the API, as a method. */
export abstract class Operations {
  protected abstract call<T>(operation: OperationDescription, input: CallOptions): Promise<T>;

  /**
   * Activate professional hosting
   *
   * Sends the source file to the hosting provider. Idempotent while in progress or active.
   *
   * `POST /v1/videos/{videoId}/professional-hosting`
   */
  activateHosting(input: ActivateHostingInput): Promise<schemas.Hosting> {
    return this.call(OPERATIONS.activateHosting, input);
  }

  /**
   * Clone a voice
   *
   * Creates a voice clone from recordings of one speaker, or from the URL of a recording. Cloning is free.
   *
   * By calling this, you confirm that the speaker has given consent; the user, time and API key are recorded.
   *
   * `POST /v1/voices/add`
   */
  addVoice(input: AddVoiceInput): Promise<schemas.AddedVoice> {
    return this.call(OPERATIONS.addVoice, input);
  }

  /**
   * Cancel a job
   *
   * Ends a queued or running job as `failed` with the error code `CANCELLED`, and returns its price in full.
   *
   * What it has published so far is removed, and its work stops within seconds. Queued jobs that depend on it fail;
   * other jobs of the same request are not affected. Canceling a canceled job again has no effect.
   *
   * `POST /v1/jobs/{jobId}/cancel`
   */
  cancelJob(input: CancelJobInput): Promise<schemas.Job> {
    return this.call(OPERATIONS.cancelJob, input);
  }

  /**
   * Compare revisions of a transcript
   *
   * Returns the segments that differ between two revisions, matched by their ids.
   *
   * `GET /v1/videos/{videoId}/transcript/revisions/{revision}/comparison`
   */
  compareRevisions(input: CompareRevisionsInput): Promise<schemas.RevisionComparison> {
    return this.call(OPERATIONS.compareRevisions, input);
  }

  /**
   * Translate captions
   *
   * Creates one job per language. Unsupported languages are rejected with the list of supported ones.
   *
   * Requesting captions that are processing or ready returns their existing job without a charge.
   *
   * `POST /v1/videos/{videoId}/captions`
   */
  createCaptions(input: CreateCaptionsInput): Promise<schemas.CaptionJobs> {
    return this.call(OPERATIONS.createCaptions, input);
  }

  /**
   * Add a speaker to a member of the cast
   *
   * Confirms that a speaker of a transcript is this member, in place of any other member.
   *
   * Where speakers are recognized, a voice print is made from the speaker's segments in the background. A speaker who
   * is this member already is returned unchanged; a voice print that failed is made again.
   *
   * `POST /v1/cast/members/{memberId}/videos/{videoId}/speakers/{speakerId}`
   */
  createCastAppearance(input: CreateCastAppearanceInput): Promise<schemas.CastAppearance> {
    return this.call(OPERATIONS.createCastAppearance, input);
  }

  /**
   * Create a member of the cast
   *
   * Adds a person to the cast. A cast has at most 200 members.
   *
   * The member is recognized in new transcripts once a speaker has been confirmed to be this person.
   *
   * `POST /v1/cast/members`
   */
  createCastMember(input: CreateCastMemberInput): Promise<schemas.CastMember> {
    return this.call(OPERATIONS.createCastMember, input);
  }

  /**
   * Prepare a download
   *
   * Prepares a language video, the original file, or an archive of all files. The plan determines the tier.
   *
   * Waits for a dub in progress, unless its preview is available, which could be mistaken for the finished dub.
   *
   * `POST /v1/videos/{videoId}/downloads`
   */
  createDownload(input: CreateDownloadInput): Promise<schemas.DownloadAsked> {
    return this.call(OPERATIONS.createDownload, input);
  }

  /**
   * Dub a video
   *
   * Creates one job per language. Unsupported languages are rejected with the list of supported ones.
   *
   * Requesting a dub that is processing or ready returns its existing job without a charge.
   *
   * `POST /v1/videos/{videoId}/dubs`
   */
  createDubs(input: CreateDubsInput): Promise<schemas.DubJobs> {
    return this.call(OPERATIONS.createDubs, input);
  }

  /**
   * Create a folder
   *
   * Creates a folder at the root or in another folder. Folders nest up to three levels deep.
   *
   * `POST /v1/folders`
   */
  createFolder(input: CreateFolderInput): Promise<schemas.Folder> {
    return this.call(OPERATIONS.createFolder, input);
  }

  /**
   * Create a glossary term
   *
   * Adds a term to the glossary. Captions and dubs that are made from now on use it.
   *
   * A library has at most 2,000 terms. A term with the same text, language and folder exists once.
   *
   * `POST /v1/glossary/terms`
   */
  createGlossaryTerm(input: CreateGlossaryTermInput): Promise<schemas.GlossaryTerm> {
    return this.call(OPERATIONS.createGlossaryTerm, input);
  }

  /**
   * Export the library
   *
   * Starts an export of the whole library into one ZIP archive: media, products, transcripts, receipts and settings.
   *
   * The archive has a manifest with the checksum of every file. Poll the export until it is `ready` or `failed`. A
   * library has one unfinished export at a time: another request returns 409 with its id. For owners and admins.
   *
   * `POST /v1/library/exports`
   */
  createLibraryExport(input: CreateLibraryExportInput = {}): Promise<schemas.LibraryExport> {
    return this.call(OPERATIONS.createLibraryExport, input);
  }

  /**
   * Generate a title, description and thumbnail
   *
   * Each automation has one run per video. Pending runs are reported and not started again.
   *
   * Finished runs start again with `overwriteMode` `always`; failed and skipped runs always do.
   *
   * `POST /v1/videos/{videoId}/packaging`
   */
  createPackaging(input: CreatePackagingInput): Promise<schemas.PackagingCreated> {
    return this.call(OPERATIONS.createPackaging, input);
  }

  /**
   * Add a comment
   *
   * Adds a comment at a time of the video. A video has at most 5,000 comments.
   *
   * `POST /v1/videos/{videoId}/comments`
   */
  createReviewComment(input: CreateReviewCommentInput): Promise<schemas.ReviewComment> {
    return this.call(OPERATIONS.createReviewComment, input);
  }

  /**
   * Create a review link
   *
   * Creates a link for reviewers who have no account. Its URL is returned only once.
   *
   * The link opens the studio page of this video and nothing else, until it expires or is revoked, or until the user
   * who created it leaves the library. A video has at most 50 active links.
   *
   * `POST /v1/videos/{videoId}/review-links`
   */
  createReviewLink(input: CreateReviewLinkInput): Promise<schemas.CreatedReviewLink> {
    return this.call(OPERATIONS.createReviewLink, input);
  }

  /**
   * Make shorts, a promo or clips
   *
   * `kind` selects what to make; fields of other kinds are ignored. Outputs that cannot be made are not charged.
   *
   * Each call creates a new request with its own id.
   *
   * `POST /v1/videos/{videoId}/shorts`
   */
  createShorts(input: CreateShortsInput): Promise<schemas.ShortsAsked> {
    return this.call(OPERATIONS.createShorts, input);
  }

  /**
   * Create a thumbnail
   *
   * From a prompt, or from the transcript and frames of the video. Three candidates are rendered.
   *
   * Detection flags are for zero-prompt thumbnails only; such requests return 202 and a packaging job.
   *
   * `POST /v1/videos/{videoId}/thumbnails`
   */
  createThumbnail(input: CreateThumbnailInput): Promise<schemas.ThumbnailCreated | schemas.DetectionQueued> {
    return this.call(OPERATIONS.createThumbnail, input);
  }

  /**
   * Create an upload session
   *
   * Returns a signed URL for uploading the file of a reserved video.
   *
   * POST to it with the header `x-goog-resumable: start` within 30 minutes; the response's `Location` then accepts
   * the bytes for a week, in the resumable protocol of Google Cloud Storage. An upload of which nothing has arrived
   * after a day expires.
   *
   * `POST /v1/videos/{videoId}/uploads`
   */
  createUpload(input: CreateUploadInput): Promise<schemas.UploadSession> {
    return this.call(OPERATIONS.createUpload, input);
  }

  /**
   * Create a video
   *
   * Imports from a URL or reserves an upload. Products are validated now and start when the transcript is ready.
   *
   * `POST /v1/videos`
   */
  createVideo(input: CreateVideoInput): Promise<schemas.CreatedVideo> {
    return this.call(OPERATIONS.createVideo, input);
  }

  /**
   * Register a webhook endpoint
   *
   * Registers a public HTTPS endpoint for events. The signing secret is returned only in this response.
   *
   * `POST /v1/webhook-endpoints`
   */
  createWebhookEndpoint(input: CreateWebhookEndpointInput): Promise<schemas.CreatedWebhookEndpoint> {
    return this.call(OPERATIONS.createWebhookEndpoint, input);
  }

  /**
   * Cut the stream of a video
   *
   * Packages the stream without the words that are deleted in the transcript now, or the whole recording with
   * `uncut`. Picture, sound, dubs and subtitles are cut in the same places; the recording itself is not changed.
   *
   * The stream plays as it is until the new one is ready. It is free.
   *
   * `POST /v1/videos/{videoId}/playback`
   */
  cutPlayback(input: CutPlaybackInput): Promise<schemas.PlaybackState> {
    return this.call(OPERATIONS.cutPlayback, input);
  }

  /**
   * Delete a brand voice
   *
   * Deletes a brand voice. What was made with it stays. While an unfinished job uses it, it is not deleted (409).
   *
   * `DELETE /v1/brand-voices/{brandVoiceId}`
   */
  deleteBrandVoice(input: DeleteBrandVoiceInput): Promise<void> {
    return this.call(OPERATIONS.deleteBrandVoice, input);
  }

  /**
   * Delete captions
   *
   * Deletes the translated captions of a language, with their files and their track of the stream. While they are
   * being made, they are not deleted (409): cancel their job first.
   *
   * `DELETE /v1/videos/{videoId}/captions/{lang}`
   */
  deleteCaptions(input: DeleteCaptionsInput): Promise<void> {
    return this.call(OPERATIONS.deleteCaptions, input);
  }

  /**
   * Remove a speaker from a member of the cast
   *
   * Says that the speaker is not this member, and erases the voice print that was made from it.
   *
   * The name of the speaker in the transcript stays. A comparison of existing transcripts does not add it again.
   *
   * `DELETE /v1/cast/members/{memberId}/videos/{videoId}/speakers/{speakerId}`
   */
  deleteCastAppearance(input: DeleteCastAppearanceInput): Promise<void> {
    return this.call(OPERATIONS.deleteCastAppearance, input);
  }

  /**
   * Delete a member of the cast
   *
   * Deletes a member, and erases the voice prints. Names of speakers in existing transcripts stay.
   *
   * `DELETE /v1/cast/members/{memberId}`
   */
  deleteCastMember(input: DeleteCastMemberInput): Promise<void> {
    return this.call(OPERATIONS.deleteCastMember, input);
  }

  /**
   * Delete a character
   *
   * Deletes a character and its images. Thumbnails made with it stay. While an unfinished job uses it, it is not
   * deleted (409).
   *
   * `DELETE /v1/characters/{characterId}`
   */
  deleteCharacter(input: DeleteCharacterInput): Promise<void> {
    return this.call(OPERATIONS.deleteCharacter, input);
  }

  /**
   * Remove the destination bucket
   *
   * Forgets the bucket and its access key. What was copied to it stays there. For owners and admins.
   *
   * `DELETE /v1/library/destination`
   */
  deleteDestination(input: DeleteDestinationInput = {}): Promise<void> {
    return this.call(OPERATIONS.deleteDestination, input);
  }

  /**
   * Delete a download
   *
   * Deletes a prepared file; the original file stays with its video. While the file is being prepared, it is not
   * deleted (409): cancel its job first.
   *
   * `DELETE /v1/downloads/{downloadRequestId}`
   */
  deleteDownload(input: DeleteDownloadInput): Promise<void> {
    return this.call(OPERATIONS.deleteDownload, input);
  }

  /**
   * Delete a dub
   *
   * Deletes the dubs of a language, with their files and their track of the stream. While one is being made, nothing
   * is deleted (409): cancel its job first.
   *
   * `DELETE /v1/videos/{videoId}/dubs/{lang}`
   */
  deleteDub(input: DeleteDubInput): Promise<void> {
    return this.call(OPERATIONS.deleteDub, input);
  }

  /**
   * Delete a folder
   *
   * Deletes a folder. Its videos stay in the library. A folder that contains folders is not deleted (409).
   *
   * `DELETE /v1/folders/{folderId}`
   */
  deleteFolder(input: DeleteFolderInput): Promise<void> {
    return this.call(OPERATIONS.deleteFolder, input);
  }

  /**
   * Delete a glossary term
   *
   * Deletes a term. Captions and dubs that were made with it stay as they are.
   *
   * `DELETE /v1/glossary/terms/{termId}`
   */
  deleteGlossaryTerm(input: DeleteGlossaryTermInput): Promise<void> {
    return this.call(OPERATIONS.deleteGlossaryTerm, input);
  }

  /**
   * Delete an export
   *
   * Removes an export and its archive, and stops the work of an unfinished one. For owners and admins.
   *
   * `DELETE /v1/library/exports/{exportId}`
   */
  deleteLibraryExport(input: DeleteLibraryExportInput): Promise<void> {
    return this.call(OPERATIONS.deleteLibraryExport, input);
  }

  /**
   * Delete a comment
   *
   * Deletes a comment.
   *
   * `DELETE /v1/videos/{videoId}/comments/{commentId}`
   */
  deleteReviewComment(input: DeleteReviewCommentInput): Promise<void> {
    return this.call(OPERATIONS.deleteReviewComment, input);
  }

  /**
   * Delete a request for shorts
   *
   * Deletes a request with all of its outputs and their files. While they are being made, nothing is deleted (409):
   * cancel their job first.
   *
   * `DELETE /v1/shorts/{shortsRequestId}`
   */
  deleteShorts(input: DeleteShortsInput): Promise<void> {
    return this.call(OPERATIONS.deleteShorts, input);
  }

  /**
   * Delete a short, promo or clip
   *
   * Deletes one output of a request and its files; the others stay. While outputs of the request are being made,
   * none is deleted (409): cancel their job first.
   *
   * `DELETE /v1/shorts/{shortsRequestId}/outputs/{outputId}`
   */
  deleteShortsOutput(input: DeleteShortsOutputInput): Promise<void> {
    return this.call(OPERATIONS.deleteShortsOutput, input);
  }

  /**
   * Delete a thumbnail request
   *
   * Deletes a request with all of its images; if one is the video's thumbnail, the frame that the import chose
   * becomes it again. While images are being made, nothing is deleted (409): cancel their job first.
   *
   * `DELETE /v1/thumbnails/{thumbnailRequestId}`
   */
  deleteThumbnail(input: DeleteThumbnailInput): Promise<void> {
    return this.call(OPERATIONS.deleteThumbnail, input);
  }

  /**
   * Delete a thumbnail image
   *
   * Deletes one image of a request; if it is the video's thumbnail, the frame that the import chose becomes it
   * again. While images of the request are being made, none is deleted (409): cancel their job first.
   *
   * `DELETE /v1/thumbnails/{thumbnailRequestId}/images/{thumbnailId}`
   */
  deleteThumbnailImage(input: DeleteThumbnailImageInput): Promise<void> {
    return this.call(OPERATIONS.deleteThumbnailImage, input);
  }

  /**
   * Cancel an upload
   *
   * Cancels an upload that has not finished: its import fails with `CANCELLED`, and what was received is deleted.
   *
   * Repeating the request has no further effect. Once the whole file has been received, it returns 409
   * `FAILED_PRECONDITION`.
   *
   * `DELETE /v1/videos/{videoId}/uploads`
   */
  deleteUpload(input: DeleteUploadInput): Promise<void> {
    return this.call(OPERATIONS.deleteUpload, input);
  }

  /**
   * Delete a video
   *
   * Moves a video to the trash, from which it can be restored for 30 days; then it is removed for good.
   *
   * It leaves all lists, its signed URLs stop within a minute, and its unfinished jobs are canceled and refunded. Use
   * `permanently` to remove a video for good, in the trash or not.
   *
   * `DELETE /v1/videos/{videoId}`
   */
  deleteVideo(input: DeleteVideoInput): Promise<void> {
    return this.call(OPERATIONS.deleteVideo, input);
  }

  /**
   * Delete a voice clone
   *
   * Deletes a clone immediately; its samples are removed after a week.
   *
   * `DELETE /v1/voices/{voice_id}`
   */
  deleteVoice(input: DeleteVoiceInput): Promise<void> {
    return this.call(OPERATIONS.deleteVoice, input);
  }

  /**
   * Delete a webhook endpoint
   *
   * Deletes a webhook endpoint. No further events are sent to it.
   *
   * `DELETE /v1/webhook-endpoints/{endpointId}`
   */
  deleteWebhookEndpoint(input: DeleteWebhookEndpointInput): Promise<void> {
    return this.call(OPERATIONS.deleteWebhookEndpoint, input);
  }

  /**
   * Edit segments of captions
   *
   * Applies operations to a revision, all or none, and returns the new revision. This costs no credits.
   *
   * If there is a newer revision than the given one, nothing is changed (409 `CONFLICT`): `details.revision` is the
   * current one. The subtitle files follow in the background.
   *
   * `PATCH /v1/videos/{videoId}/captions/{lang}/segments`
   */
  editCaptionSegments(input: EditCaptionSegmentsInput): Promise<schemas.CaptionChange> {
    return this.call(OPERATIONS.editCaptionSegments, input);
  }

  /**
   * Edit the optimized script
   *
   * Sets texts by hand, all or none, and returns the new revision. This costs no credits.
   *
   * If there is a newer revision than the given one, nothing is changed (409 `CONFLICT`): `details.revision` is the
   * current one.
   *
   * `PATCH /v1/videos/{videoId}/transcript/optimized`
   */
  editOptimizedTranscript(input: EditOptimizedTranscriptInput): Promise<schemas.ScriptRevision> {
    return this.call(OPERATIONS.editOptimizedTranscript, input);
  }

  /**
   * Edit the lines of a dub
   *
   * Changes what lines say and how, all or none. It is free; the published audio follows when it is regenerated.
   *
   * If there is a newer revision than the given one, nothing is changed (409 `CONFLICT`): `details.revision` is the
   * current one.
   *
   * `PATCH /v1/videos/{videoId}/dubs/{lang}/segments`
   */
  editSegments(input: EditSegmentsInput): Promise<schemas.DubSegmentsChange> {
    return this.call(OPERATIONS.editSegments, input);
  }

  /**
   * Edit a transcript
   *
   * Applies operations to a revision, all or none, and returns the new revision.
   *
   * If there is a newer revision than the given one, nothing is changed (409 `CONFLICT`): `details.revision` is the
   * current one. Words of edited text are aligned with the sound in the background.
   *
   * `PATCH /v1/videos/{videoId}/transcript`
   */
  editTranscript(input: EditTranscriptInput): Promise<schemas.TranscriptChange> {
    return this.call(OPERATIONS.editTranscript, input);
  }

  /**
   * Erase the library
   *
   * Destroys the library with everything in it, which cannot be undone; for its owners only.
   *
   * Keys, tokens and sessions stop working at once, and unfinished jobs are canceled. A personal library takes the
   * account with it, unless the account is the only owner of a workspace (409).
   *
   * `DELETE /v1/library`
   */
  eraseLibrary(input: EraseLibraryInput): Promise<schemas.Erasure> {
    return this.call(OPERATIONS.eraseLibrary, input);
  }

  /**
   * Export the audit log
   *
   * Streams the audit log as JSON Lines, oldest first. For owners and admins.
   *
   * `GET /v1/audit-log/export`
   */
  exportAuditLog(input: ExportAuditLogInput = {}): Promise<Response> {
    return this.call(OPERATIONS.exportAuditLog, input);
  }

  /**
   * Export the glossary
   *
   * Streams the glossary as a CSV file, which can be imported again.
   *
   * Cells that a spreadsheet would run as a formula start with an apostrophe.
   *
   * `GET /v1/glossary/export`
   */
  exportGlossary(input: ExportGlossaryInput = {}): Promise<Response> {
    return this.call(OPERATIONS.exportGlossary, input);
  }

  /**
   * Get a brand voice
   *
   * Retrieves a brand voice.
   *
   * `GET /v1/brand-voices/{brandVoiceId}`
   */
  getBrandVoice(input: GetBrandVoiceInput): Promise<schemas.BrandVoice> {
    return this.call(OPERATIONS.getBrandVoice, input);
  }

  /**
   * Get capabilities
   *
   * Returns the languages, language pairs, voices, models, limits and products that the caller can use now.
   *
   * Quotes and product requests are validated against the same data: a pair that is listed can be requested. It changes
   * as workers start and stop.
   *
   * `GET /v1/capabilities`
   */
  getCapabilities(input: GetCapabilitiesInput = {}): Promise<schemas.Capabilities> {
    return this.call(OPERATIONS.getCapabilities, input);
  }

  /**
   * Get segments of captions
   *
   * Returns the translated segments, which of them are stale because the transcript has changed, and what it costs
   * to bring them up to date.
   *
   * `GET /v1/videos/{videoId}/captions/{lang}/segments`
   */
  getCaptionSegments(input: GetCaptionSegmentsInput): Promise<schemas.CaptionSegments> {
    return this.call(OPERATIONS.getCaptionSegments, input);
  }

  /**
   * Get a member of the cast
   *
   * Retrieves a member of the cast.
   *
   * `GET /v1/cast/members/{memberId}`
   */
  getCastMember(input: GetCastMemberInput): Promise<schemas.CastMember> {
    return this.call(OPERATIONS.getCastMember, input);
  }

  /**
   * Get where speakers are recognized
   *
   * Returns where speakers are recognized by their voices: nowhere by default.
   *
   * `GET /v1/cast/recognition`
   */
  getCastRecognition(input: GetCastRecognitionInput = {}): Promise<schemas.CastRecognitionState> {
    return this.call(OPERATIONS.getCastRecognition, input);
  }

  /**
   * Get the latest comparison with the cast
   *
   * Returns how far the latest comparison of existing transcripts with the cast is.
   *
   * `GET /v1/cast/recognition/run`
   */
  getCastRecognitionRun(input: GetCastRecognitionRunInput = {}): Promise<schemas.CastRecognitionRun> {
    return this.call(OPERATIONS.getCastRecognitionRun, input);
  }

  /**
   * Get a character
   *
   * Retrieves a character with its reference images.
   *
   * `GET /v1/characters/{characterId}`
   */
  getCharacter(input: GetCharacterInput): Promise<schemas.Character> {
    return this.call(OPERATIONS.getCharacter, input);
  }

  /**
   * Get the destination bucket
   *
   * Returns the bucket that outputs are copied to, without its secret access key. For owners and admins.
   *
   * `GET /v1/library/destination`
   */
  getDestination(input: GetDestinationInput = {}): Promise<schemas.Destination> {
    return this.call(OPERATIONS.getDestination, input);
  }

  /**
   * Get a download
   *
   * Poll until `ready` or `failed`; both return 200.
   *
   * `GET /v1/downloads/{downloadRequestId}`
   */
  getDownload(input: GetDownloadInput): Promise<schemas.Download> {
    return this.call(OPERATIONS.getDownload, input);
  }

  /**
   * Get a dub
   *
   * Returns a dub with its audio URL, once available, its segments and its sync report.
   *
   * `GET /v1/videos/{videoId}/dubs/{lang}`
   */
  getDub(input: GetDubInput): Promise<schemas.Dub> {
    return this.call(OPERATIONS.getDub, input);
  }

  /**
   * Get a folder
   *
   * Retrieves a folder with its path.
   *
   * `GET /v1/folders/{folderId}`
   */
  getFolder(input: GetFolderInput): Promise<schemas.Folder> {
    return this.call(OPERATIONS.getFolder, input);
  }

  /**
   * Get a glossary term
   *
   * Retrieves a term.
   *
   * `GET /v1/glossary/terms/{termId}`
   */
  getGlossaryTerm(input: GetGlossaryTermInput): Promise<schemas.GlossaryTerm> {
    return this.call(OPERATIONS.getGlossaryTerm, input);
  }

  /**
   * Health
   *
   * Returns whether the service is up. Needs no API key, so that load balancers can call it.
   *
   * `GET /v1/health`
   */
  getHealth(input: GetHealthInput = {}): Promise<schemas.Health> {
    return this.call(OPERATIONS.getHealth, input);
  }

  /**
   * Get professional hosting
   *
   * The hosting status, and the reason if it cannot be activated.
   *
   * `GET /v1/videos/{videoId}/professional-hosting`
   */
  getHosting(input: GetHostingInput): Promise<schemas.Hosting> {
    return this.call(OPERATIONS.getHosting, input);
  }

  /**
   * Get a job
   *
   * Retrieves a job: at once, or with `wait` when it has become `ready` or `failed`, or when the time is up.
   *
   * A request that waits does not count as a concurrent request. Webhooks and events tell of many jobs at once.
   *
   * `GET /v1/jobs/{jobId}`
   */
  getJob(input: GetJobInput): Promise<schemas.Job> {
    return this.call(OPERATIONS.getJob, input);
  }

  /**
   * Get the timeline of a job
   *
   * Returns what happened to a job, when, in which step, for how long, what was repeated and what it cost.
   *
   * The texts are meant to be read and forwarded; branch on `kind` and `code`.
   *
   * `GET /v1/jobs/{jobId}/timeline`
   */
  getJobTimeline(input: GetJobTimelineInput): Promise<schemas.JobTimeline> {
    return this.call(OPERATIONS.getJobTimeline, input);
  }

  /**
   * Get the library
   *
   * Returns the library that the API key is bound to: its plan and limits, and its use of storage and credits.
   *
   * `GET /v1/library`
   */
  getLibrary(input: GetLibraryInput = {}): Promise<schemas.LibrarySummary> {
    return this.call(OPERATIONS.getLibrary, input);
  }

  /**
   * Get an export
   *
   * Returns an export, with a URL of its archive once it is ready. For owners and admins.
   *
   * `GET /v1/library/exports/{exportId}`
   */
  getLibraryExport(input: GetLibraryExportInput): Promise<schemas.LibraryExport> {
    return this.call(OPERATIONS.getLibraryExport, input);
  }

  /**
   * Get the optimized script
   *
   * Returns the text of each segment for dubs of the optimized voiceover, and which are stale because the transcript
   * has changed.
   *
   * `GET /v1/videos/{videoId}/transcript/optimized`
   */
  getOptimizedTranscript(input: GetOptimizedTranscriptInput): Promise<schemas.OptimizedTranscript> {
    return this.call(OPERATIONS.getOptimizedTranscript, input);
  }

  /**
   * Get the packaging state
   *
   * All runs, and the current title, description and thumbnail.
   *
   * `GET /v1/videos/{videoId}/packaging`
   */
  getPackaging(input: GetPackagingInput): Promise<schemas.PackagingState> {
    return this.call(OPERATIONS.getPackaging, input);
  }

  /**
   * Get the stream of a video
   *
   * Returns the state of the stream, and which parts of the recording it plays; its URL is that of the video.
   *
   * `GET /v1/videos/{videoId}/playback`
   */
  getPlayback(input: GetPlaybackInput): Promise<schemas.PlaybackState> {
    return this.call(OPERATIONS.getPlayback, input);
  }

  /**
   * Get the retention policy
   *
   * Returns how long the library keeps originals, intermediates and outputs.
   *
   * `GET /v1/library/retention`
   */
  getRetention(input: GetRetentionInput = {}): Promise<schemas.RetentionPolicy> {
    return this.call(OPERATIONS.getRetention, input);
  }

  /**
   * Get the last retention report
   *
   * Returns what the last daily run that deleted something has deleted.
   *
   * `GET /v1/library/retention/report`
   */
  getRetentionReport(input: GetRetentionReportInput = {}): Promise<schemas.RetentionReport> {
    return this.call(OPERATIONS.getRetentionReport, input);
  }

  /**
   * Get a comment
   *
   * Retrieves a comment.
   *
   * `GET /v1/videos/{videoId}/comments/{commentId}`
   */
  getReviewComment(input: GetReviewCommentInput): Promise<schemas.ReviewComment> {
    return this.call(OPERATIONS.getReviewComment, input);
  }

  /**
   * Get a revision of a transcript
   *
   * Retrieves a revision with its segments, which have the ids that edits refer to.
   *
   * `GET /v1/videos/{videoId}/transcript/revisions/{revision}`
   */
  getRevision(input: GetRevisionInput): Promise<schemas.RevisionDocument> {
    return this.call(OPERATIONS.getRevision, input);
  }

  /**
   * Get a preview of a line
   *
   * Returns the takes once they are ready. After 24 hours the preview is not found.
   *
   * `GET /v1/videos/{videoId}/dubs/{lang}/segments/{segmentId}/preview/{previewId}`
   */
  getSegmentPreview(input: GetSegmentPreviewInput): Promise<schemas.LinePreview> {
    return this.call(OPERATIONS.getSegmentPreview, input);
  }

  /**
   * Get shorter wordings of a line
   *
   * Returns the wordings, with those of the model once it has answered. After 24 hours they are not found.
   *
   * `GET /v1/videos/{videoId}/dubs/{lang}/segments/{segmentId}/wordings/{wordingsId}`
   */
  getSegmentWordings(input: GetSegmentWordingsInput): Promise<schemas.LineWordings> {
    return this.call(OPERATIONS.getSegmentWordings, input);
  }

  /**
   * Get a request for shorts
   *
   * At most five outputs, the best first. Poll until `complete`, `partial_failed` or a 422.
   *
   * A failed request returns 422 with the job's error, and the request itself in `details.request`.
   *
   * `GET /v1/shorts/{shortsRequestId}`
   */
  getShorts(input: GetShortsInput): Promise<schemas.ShortsRequest> {
    return this.call(OPERATIONS.getShorts, input);
  }

  /**
   * List stale products
   *
   * Returns what was made of the video before its transcript was edited and would be different now, why, and what
   * it costs to make it again.
   *
   * Captions and dubs are listed with their own reasons, which their segments have in detail.
   *
   * `GET /v1/videos/{videoId}/stale-products`
   */
  getStaleProducts(input: GetStaleProductsInput): Promise<schemas.StaleProductList> {
    return this.call(OPERATIONS.getStaleProducts, input);
  }

  /**
   * Get subtitles
   *
   * Returns a temporary URL of a subtitle file in one language.
   *
   * `GET /v1/videos/{videoId}/subtitles/{lang}`
   */
  getSubtitles(input: GetSubtitlesInput): Promise<schemas.Subtitles> {
    return this.call(OPERATIONS.getSubtitles, input);
  }

  /**
   * Get a thumbnail request
   *
   * Images appear as they are rendered, best first; translations come last.
   *
   * `GET /v1/thumbnails/{thumbnailRequestId}`
   */
  getThumbnail(input: GetThumbnailInput): Promise<schemas.ThumbnailRequest> {
    return this.call(OPERATIONS.getThumbnail, input);
  }

  /**
   * Get a transcript
   *
   * Returns the transcript with speakers and timing, or its status while it is processing: poll, or use a webhook.
   *
   * `GET /v1/videos/{videoId}/transcript`
   */
  getTranscript(input: GetTranscriptInput): Promise<schemas.Transcript> {
    return this.call(OPERATIONS.getTranscript, input);
  }

  /**
   * Get the edit list of a transcript
   *
   * Returns what remains of the recording without its deleted words.
   *
   * Cuts are in the silence beside the deleted words, never inside of a word that is kept.
   *
   * `GET /v1/videos/{videoId}/transcript/edit-list`
   */
  getTranscriptEditList(input: GetTranscriptEditListInput): Promise<schemas.TranscriptEditList> {
    return this.call(OPERATIONS.getTranscriptEditList, input);
  }

  /**
   * Get a video
   *
   * Retrieves a video with its status and, once it is playable, its playback URLs.
   *
   * `GET /v1/videos/{videoId}`
   */
  getVideo(input: GetVideoInput): Promise<schemas.Video> {
    return this.call(OPERATIONS.getVideo, input);
  }

  /**
   * Get a voice
   *
   * Returns a voice. Poll a new clone until its `status` is `ready` or `failed`. Stock voices have no `ETag`.
   *
   * `GET /v1/voices/{voice_id}`
   */
  getVoice(input: GetVoiceInput): Promise<schemas.Voice> {
    return this.call(OPERATIONS.getVoice, input);
  }

  /**
   * Get a delivery
   *
   * Retrieves a delivery with its body, and with the request, response and duration of each attempt.
   *
   * `GET /v1/webhook-endpoints/{endpointId}/deliveries/{eventId}`
   */
  getWebhookDelivery(input: GetWebhookDeliveryInput): Promise<schemas.WebhookDelivery> {
    return this.call(OPERATIONS.getWebhookDelivery, input);
  }

  /**
   * Get a webhook endpoint
   *
   * Retrieves a webhook endpoint, without its signing secret.
   *
   * `GET /v1/webhook-endpoints/{endpointId}`
   */
  getWebhookEndpoint(input: GetWebhookEndpointInput): Promise<schemas.WebhookEndpoint> {
    return this.call(OPERATIONS.getWebhookEndpoint, input);
  }

  /**
   * Import translated captions
   *
   * Puts translated subtitles into the segments of the transcript, by their times. The texts count as set by hand.
   *
   * Captions of this language need not exist. This costs no credits; the subtitle files follow in the background.
   *
   * `POST /v1/videos/{videoId}/captions/{lang}/import`
   */
  importCaptions(input: ImportCaptionsInput): Promise<schemas.CaptionImportResult> {
    return this.call(OPERATIONS.importCaptions, input);
  }

  /**
   * Import glossary terms
   *
   * Adds the terms of a CSV file, and replaces those with the same text, language and folder. All rows, or none.
   *
   * The columns are those of the export. An error names the line.
   *
   * `POST /v1/glossary/import`
   */
  importGlossary(input: ImportGlossaryInput): Promise<schemas.GlossaryImported> {
    return this.call(OPERATIONS.importGlossary, input);
  }

  /**
   * Import a text as transcript
   *
   * Puts the words of subtitles or of a script in place of the recognized ones, as a new revision.
   *
   * The words are aligned with those that were recognized: segments keep their ids, times and speakers. Names of
   * speakers in WebVTT are used.
   *
   * `POST /v1/videos/{videoId}/transcript/import`
   */
  importTranscript(input: ImportTranscriptInput): Promise<schemas.TranscriptChange> {
    return this.call(OPERATIONS.importTranscript, input);
  }

  /**
   * List audit log entries
   *
   * Returns who changed what in the library, newest first. For owners and admins.
   *
   * `GET /v1/audit-log`
   */
  listAuditLog(input: ListAuditLogInput = {}): Promise<schemas.AuditLogPage> {
    return this.call(OPERATIONS.listAuditLog, input);
  }

  /**
   * List brand voices
   *
   * Returns the brand voices, which guide thumbnails and descriptions.
   *
   * `GET /v1/brand-voices`
   */
  listBrandVoices(input: ListBrandVoicesInput = {}): Promise<schemas.BrandVoiceList> {
    return this.call(OPERATIONS.listBrandVoices, input);
  }

  /**
   * List appearances of a member of the cast
   *
   * Returns the speakers of videos who are this member, newest first. Results are paginated.
   *
   * `GET /v1/cast/members/{memberId}/appearances`
   */
  listCastAppearances(input: ListCastAppearancesInput): Promise<schemas.CastAppearancePage> {
    return this.call(OPERATIONS.listCastAppearances, input);
  }

  /**
   * List members of the cast
   *
   * Returns the members of the library's cast, newest first. Results are paginated.
   *
   * `GET /v1/cast/members`
   */
  listCastMembers(input: ListCastMembersInput = {}): Promise<schemas.CastMemberPage> {
    return this.call(OPERATIONS.listCastMembers, input);
  }

  /**
   * List characters
   *
   * Returns the saved characters, which can appear in thumbnails.
   *
   * `GET /v1/characters`
   */
  listCharacters(input: ListCharactersInput = {}): Promise<schemas.CharacterList> {
    return this.call(OPERATIONS.listCharacters, input);
  }

  /**
   * List a video's dubs
   *
   * Lists the dubs of a video, newest first.
   *
   * `GET /v1/videos/{videoId}/dubs`
   */
  listDubs(input: ListDubsInput): Promise<schemas.Dubs> {
    return this.call(OPERATIONS.listDubs, input);
  }

  /**
   * List events
   *
   * Returns the events of the library, oldest first: without a cursor, from the oldest that is kept.
   *
   * Events are kept for 30 days. A later page never has an event that belongs before an earlier one. A cursor whose
   * next events have been deleted is 410 `GONE`. A request that waits does not count as a concurrent request.
   *
   * `GET /v1/events`
   */
  listEvents(input: ListEventsInput = {}): Promise<schemas.EventPage> {
    return this.call(OPERATIONS.listEvents, input);
  }

  /**
   * List folders
   *
   * Returns all folders of the library. Parents precede their children.
   *
   * `GET /v1/folders`
   */
  listFolders(input: ListFoldersInput = {}): Promise<schemas.FolderList> {
    return this.call(OPERATIONS.listFolders, input);
  }

  /**
   * List glossary terms
   *
   * Returns the terms of the library, newest first. Results are paginated.
   *
   * `GET /v1/glossary/terms`
   */
  listGlossaryTerms(input: ListGlossaryTermsInput = {}): Promise<schemas.GlossaryPage> {
    return this.call(OPERATIONS.listGlossaryTerms, input);
  }

  /**
   * List exports
   *
   * Returns up to 50 exports of the library, newest first. For owners and admins.
   *
   * `GET /v1/library/exports`
   */
  listLibraryExports(input: ListLibraryExportsInput = {}): Promise<schemas.LibraryExportList> {
    return this.call(OPERATIONS.listLibraryExports, input);
  }

  /**
   * List speech models
   *
   * Lists the speech model and the languages of its voices.
   *
   * `GET /v1/models`
   */
  listModels(input: ListModelsInput = {}): Promise<schemas.SpeechModel[]> {
    return this.call(OPERATIONS.listModels, input);
  }

  /**
   * List copies
   *
   * Returns the copies of jobs in the destination bucket, newest first. For owners and admins.
   *
   * `GET /v1/library/destination/copies`
   */
  listOutputCopies(input: ListOutputCopiesInput = {}): Promise<schemas.OutputCopyPage> {
    return this.call(OPERATIONS.listOutputCopies, input);
  }

  /**
   * List comments
   *
   * Returns the comments of a video, newest first. Results are paginated.
   *
   * `GET /v1/videos/{videoId}/comments`
   */
  listReviewComments(input: ListReviewCommentsInput): Promise<schemas.ReviewCommentPage> {
    return this.call(OPERATIONS.listReviewComments, input);
  }

  /**
   * List review links
   *
   * Returns the links of the video that work now, without their URLs.
   *
   * `GET /v1/videos/{videoId}/review-links`
   */
  listReviewLinks(input: ListReviewLinksInput): Promise<schemas.ReviewLinks> {
    return this.call(OPERATIONS.listReviewLinks, input);
  }

  /**
   * List revisions of a transcript
   *
   * Returns who changed the transcript, when and how, newest first. Results are paginated.
   *
   * `GET /v1/videos/{videoId}/transcript/revisions`
   */
  listRevisions(input: ListRevisionsInput): Promise<schemas.RevisionPage> {
    return this.call(OPERATIONS.listRevisions, input);
  }

  /**
   * Find shorter wordings of a line
   *
   * Returns up to three wordings that are shorter than the text and fit the time of the line. Nothing is changed.
   *
   * Fillers and redundant words are left out; names, numbers, negations and terms of the glossary stay. If a language
   * model is configured, it is asked as well: while `model` is `pending`, get the wordings by their `id`. Callers who
   * may not edit get the wordings without the model.
   *
   * `POST /v1/videos/{videoId}/dubs/{lang}/segments/{segmentId}/wordings`
   */
  listSegmentWordings(input: ListSegmentWordingsInput): Promise<schemas.LineWordings> {
    return this.call(OPERATIONS.listSegmentWordings, input);
  }

  /**
   * List the lines of a dub
   *
   * Returns what each line should say and what the published audio says, which lines are outdated, and what it costs
   * to regenerate them.
   *
   * `GET /v1/videos/{videoId}/dubs/{lang}/segments`
   */
  listSegments(input: ListSegmentsInput): Promise<schemas.DubSegments> {
    return this.call(OPERATIONS.listSegments, input);
  }

  /**
   * List a video's requests for shorts
   *
   * Every request, newest first.
   *
   * `GET /v1/videos/{videoId}/shorts`
   */
  listShorts(input: ListShortsInput): Promise<schemas.ShortsRequests> {
    return this.call(OPERATIONS.listShorts, input);
  }

  /**
   * List a video's thumbnails
   *
   * The 50 most recent requests, newest first.
   *
   * `GET /v1/videos/{videoId}/thumbnails`
   */
  listThumbnails(input: ListThumbnailsInput): Promise<schemas.ThumbnailRequestList> {
    return this.call(OPERATIONS.listThumbnails, input);
  }

  /**
   * List the trash
   *
   * Returns the videos in the trash, newest video first, with the time at which each is removed for good.
   *
   * `GET /v1/trash`
   */
  listTrash(input: ListTrashInput = {}): Promise<schemas.TrashPage> {
    return this.call(OPERATIONS.listTrash, input);
  }

  /**
   * List a video's jobs
   *
   * Returns the jobs of a video, newest first.
   *
   * `GET /v1/videos/{videoId}/jobs`
   */
  listVideoJobs(input: ListVideoJobsInput): Promise<schemas.JobList> {
    return this.call(OPERATIONS.listVideoJobs, input);
  }

  /**
   * List videos
   *
   * Returns the videos of the library, newest first. Results are paginated.
   *
   * `GET /v1/videos`
   */
  listVideos(input: ListVideosInput = {}): Promise<schemas.VideoPage> {
    return this.call(OPERATIONS.listVideos, input);
  }

  /**
   * List voice clones
   *
   * Lists up to 100 clones of the library, newest first, in any status unless filtered.
   *
   * `GET /v1/voices`
   */
  listVoices(input: ListVoicesInput = {}): Promise<schemas.Voices> {
    return this.call(OPERATIONS.listVoices, input);
  }

  /**
   * List deliveries
   *
   * Returns what was sent to an endpoint in the last 30 days, newest event first.
   *
   * `GET /v1/webhook-endpoints/{endpointId}/deliveries`
   */
  listWebhookDeliveries(input: ListWebhookDeliveriesInput): Promise<schemas.WebhookDeliveryPage> {
    return this.call(OPERATIONS.listWebhookDeliveries, input);
  }

  /**
   * List webhook endpoints
   *
   * Returns the webhook endpoints of the library, newest first.
   *
   * `GET /v1/webhook-endpoints`
   */
  listWebhookEndpoints(input: ListWebhookEndpointsInput = {}): Promise<schemas.WebhookEndpointList> {
    return this.call(OPERATIONS.listWebhookEndpoints, input);
  }

  /**
   * Optimize a transcript for voices
   *
   * Creates a job that removes hesitations and repeated words, and tightens the wording if a language model is
   * configured. Texts that were set by hand are kept. This costs no credits; requests are limited per day.
   *
   * Repeating the request for the same revision of the transcript returns the same job.
   *
   * `POST /v1/videos/{videoId}/transcript/optimize`
   */
  optimizeTranscript(input: OptimizeTranscriptInput): Promise<schemas.StartedOptimization> {
    return this.call(OPERATIONS.optimizeTranscript, input);
  }

  /**
   * Preview the retention policy
   *
   * Returns what the policy, or the times given here, would delete now, without deleting anything.
   *
   * It is computed from the last daily scan. Videos in the trash are left out.
   *
   * `GET /v1/library/retention/preview`
   */
  previewRetention(input: PreviewRetentionInput = {}): Promise<schemas.RetentionPreview> {
    return this.call(OPERATIONS.previewRetention, input);
  }

  /**
   * Preview a line of a dub
   *
   * Speaks a line as it stands now, or as the body says, up to three times, and changes nothing. It is free.
   *
   * The same request returns the same takes for 24 hours.
   *
   * `POST /v1/videos/{videoId}/dubs/{lang}/segments/{segmentId}/preview`
   */
  previewSegment(input: PreviewSegmentInput): Promise<schemas.LinePreview> {
    return this.call(OPERATIONS.previewSegment, input);
  }

  /**
   * Quote a bundle
   *
   * Returns the exact price of a bundle for this video. Nothing is charged; an empty bundle costs nothing.
   *
   * A quote is refused for the same reasons as the products it prices, such as a language that cannot be made.
   *
   * `POST /v1/videos/{videoId}/quote`
   */
  quoteCredits(input: QuoteCreditsInput): Promise<schemas.Quote> {
    return this.call(OPERATIONS.quoteCredits, input);
  }

  /**
   * Quote the regeneration of a dub
   *
   * Returns the exact price of the same request to regenerate lines. Nothing is charged.
   *
   * `POST /v1/videos/{videoId}/dubs/{lang}/regenerate/quote`
   */
  quoteRegeneration(input: QuoteRegenerationInput): Promise<schemas.LineRegenerationQuote> {
    return this.call(OPERATIONS.quoteRegeneration, input);
  }

  /**
   * Recognize speech again
   *
   * Creates a job that recognizes the speech again, in another language or with engines that were installed since.
   *
   * The result is a new revision, in which segments of the same sound keep their ids; until then, the transcript stays
   * as it is. The price is that of a transcript of the whole video.
   *
   * `POST /v1/videos/{videoId}/transcript/recognize`
   */
  recognizeTranscript(input: RecognizeTranscriptInput): Promise<schemas.RecognitionJob> {
    return this.call(OPERATIONS.recognizeTranscript, input);
  }

  /**
   * Redeliver failed events
   *
   * Sends every event since a time again whose delivery has failed, oldest first, up to 1,000 in one request.
   *
   * `POST /v1/webhook-endpoints/{endpointId}/recover`
   */
  recoverWebhookDeliveries(input: RecoverWebhookDeliveriesInput): Promise<schemas.RecoveredDeliveries> {
    return this.call(OPERATIONS.recoverWebhookDeliveries, input);
  }

  /**
   * Redeliver an event
   *
   * Sends an event again, with the same `webhook-id` and body, and with all retries.
   *
   * Any event of the last 30 days can be sent, including those that the endpoint was not registered for at the time.
   *
   * `POST /v1/webhook-endpoints/{endpointId}/deliveries/{eventId}/redeliver`
   */
  redeliverWebhookEvent(input: RedeliverWebhookEventInput): Promise<schemas.WebhookDelivery> {
    return this.call(OPERATIONS.redeliverWebhookEvent, input);
  }

  /**
   * Redo an edit of a transcript
   *
   * Reverts the last undo, as a new revision.
   *
   * `POST /v1/videos/{videoId}/transcript/redo`
   */
  redoEdit(input: RedoEditInput): Promise<schemas.TranscriptChange> {
    return this.call(OPERATIONS.redoEdit, input);
  }

  /**
   * Regenerate lines of a dub
   *
   * Makes outdated lines again; all others stay as they are, to the sample.
   *
   * Only the time of the lines that are spoken again is charged. The published audio stays until the new one is ready;
   * if that fails, nothing is charged.
   *
   * `POST /v1/videos/{videoId}/dubs/{lang}/regenerate`
   */
  regenerate(input: RegenerateInput): Promise<schemas.LineRegeneration> {
    return this.call(OPERATIONS.regenerate, input);
  }

  /**
   * Regenerate stale segments of captions
   *
   * Creates a job that translates stale segments again, and takes over changed times. All other segments stay as
   * they are, and so do texts that were set by hand.
   *
   * The price is that of the changed seconds. Without a changed text there is nothing to charge.
   *
   * `POST /v1/videos/{videoId}/captions/{lang}/regenerate`
   */
  regenerateCaptionSegments(input: RegenerateCaptionSegmentsInput): Promise<schemas.RegenerationJob> {
    return this.call(OPERATIONS.regenerateCaptionSegments, input);
  }

  /**
   * Reserve a bundle
   *
   * Holds the price of a bundle in escrow for requests made within 24 hours.
   *
   * Pass `reservationId`, or a line item for each language, when you request the products. Unused credits return to
   * the balance automatically.
   *
   * `POST /v1/videos/{videoId}/reservations`
   */
  reserveCredits(input: ReserveCreditsInput): Promise<schemas.Reservation> {
    return this.call(OPERATIONS.reserveCredits, input);
  }

  /**
   * Restore a revision of a transcript
   *
   * Returns to the content of an earlier revision, as a new revision.
   *
   * `POST /v1/videos/{videoId}/transcript/revisions/{revision}/restore`
   */
  restoreRevision(input: RestoreRevisionInput): Promise<schemas.TranscriptChange> {
    return this.call(OPERATIONS.restoreRevision, input);
  }

  /**
   * Restore a video
   *
   * Takes a video out of the trash, with everything made from it. Canceled jobs stay canceled and can be retried.
   *
   * `POST /v1/videos/{videoId}/restore`
   */
  restoreVideo(input: RestoreVideoInput): Promise<schemas.Video> {
    return this.call(OPERATIONS.restoreVideo, input);
  }

  /**
   * Retry a job
   *
   * Runs a failed or canceled job again under the same id, and charges it at the current price.
   *
   * The key also needs the scope that creates such a job. Steps whose outputs are stored are not repeated. A job that
   * is queued or processing is returned unchanged and uncharged.
   *
   * `POST /v1/jobs/{jobId}/retry`
   */
  retryJob(input: RetryJobInput): Promise<schemas.Job> {
    return this.call(OPERATIONS.retryJob, input);
  }

  /**
   * Copy again
   *
   * Copies the files of a job again that are missing in the bucket or have changed.
   *
   * A pending copy returns 409. For owners and admins.
   *
   * `POST /v1/library/destination/copies/{copyId}/retry`
   */
  retryOutputCopy(input: RetryOutputCopyInput): Promise<schemas.OutputCopy> {
    return this.call(OPERATIONS.retryOutputCopy, input);
  }

  /**
   * Approve or reject detections
   *
   * For thumbnails in approval mode `review`, which are not rendered before this call.
   *
   * A rejection ends the run and refunds its credits.
   *
   * `POST /v1/videos/{videoId}/packaging/review`
   */
  reviewPackaging(input: ReviewPackagingInput): Promise<schemas.PackagingState> {
    return this.call(OPERATIONS.reviewPackaging, input);
  }

  /**
   * Revoke a review link
   *
   * Revokes a link. Everyone who has opened it loses access at once; their comments stay.
   *
   * `DELETE /v1/videos/{videoId}/review-links/{linkId}`
   */
  revokeReviewLink(input: RevokeReviewLinkInput): Promise<void> {
    return this.call(OPERATIONS.revokeReviewLink, input);
  }

  /**
   * Replace the signing secret
   *
   * Returns a new signing secret, only in this response. Until the overlap ends, deliveries carry two signatures.
   *
   * While an overlap lasts, the secret can only be replaced with `overlapHours` 0, which ends all earlier secrets.
   *
   * `POST /v1/webhook-endpoints/{endpointId}/rotate-secret`
   */
  rotateWebhookSecret(input: RotateWebhookSecretInput): Promise<schemas.RotatedWebhookSecret> {
    return this.call(OPERATIONS.rotateWebhookSecret, input);
  }

  /**
   * Compare existing transcripts with the cast
   *
   * Compares the speakers of existing transcripts with the voice prints of the cast, in the background.
   *
   * Only videos in which speakers are recognized are compared. Speakers who are a member already stay as they are, and
   * so do their names and those that people have set. If the same videos are being compared, that comparison is
   * returned.
   *
   * `POST /v1/cast/recognition/run`
   */
  runCastRecognition(input: RunCastRecognitionInput): Promise<schemas.CastRecognitionRun> {
    return this.call(OPERATIONS.runCastRecognition, input);
  }

  /**
   * Search voices
   *
   * Searches clones and stock voices.
   *
   * `GET /v2/voices`
   */
  searchVoices(input: SearchVoicesInput = {}): Promise<schemas.FoundVoices> {
    return this.call(OPERATIONS.searchVoices, input);
  }

  /**
   * Send a test event
   *
   * Sends an event of type `endpoint.test` to this endpoint only, once. It is signed like any other.
   *
   * `POST /v1/webhook-endpoints/{endpointId}/test`
   */
  sendTestWebhook(input: SendTestWebhookInput): Promise<schemas.WebhookDelivery> {
    return this.call(OPERATIONS.sendTestWebhook, input);
  }

  /**
   * Set where speakers are recognized
   *
   * Sets where speakers are recognized by their voices, which are biometric data. For owners and admins.
   *
   * Voice prints of videos in which speakers are no longer recognized are erased at once.
   *
   * `PUT /v1/cast/recognition`
   */
  setCastRecognition(input: SetCastRecognitionInput): Promise<schemas.CastRecognitionState> {
    return this.call(OPERATIONS.setCastRecognition, input);
  }

  /**
   * Set the destination bucket
   *
   * Sets the S3-compatible bucket that the files of every job are copied to when the job is ready.
   *
   * If it is enabled, a small object is written and deleted first; if that fails, nothing changes and the response is
   * 409 with the store's code in `details.storeCode`. For owners and admins.
   *
   * `PUT /v1/library/destination`
   */
  setDestination(input: SetDestinationInput): Promise<schemas.Destination> {
    return this.call(OPERATIONS.setDestination, input);
  }

  /**
   * Convert text to speech
   *
   * Synthesizes a text for one credit, refunded if the synthesis fails.
   *
   * Long texts are streamed. An identical request within a day returns the same audio without a charge.
   *
   * `POST /v1/text-to-speech/{voice_id}`
   */
  speak(input: SpeakInput): Promise<Response> {
    return this.call(OPERATIONS.speak, input);
  }

  /**
   * Stream events
   *
   * Sends events as they happen, and those after the cursor first; without one, from now on.
   *
   * The progress of running jobs is sent too, as events of the type `job.progress` that have no id and are not kept.
   * The connection ends after 15 minutes; connect again with the last id that you received.
   *
   * `GET /v1/events/stream`
   */
  streamEvents(input: StreamEventsInput = {}): Promise<Response> {
    return this.call(OPERATIONS.streamEvents, input);
  }

  /**
   * Stream text to speech
   *
   * Synthesizes a text and streams the audio from the first passage.
   *
   * `POST /v1/text-to-speech/{voice_id}/stream`
   */
  streamSpeech(input: StreamSpeechInput): Promise<Response> {
    return this.call(OPERATIONS.streamSpeech, input);
  }

  /**
   * Suggest words to cut
   *
   * Returns sounds of hesitation and words that were said twice. Delete them by the operation `deleteWords`.
   *
   * `GET /v1/videos/{videoId}/transcript/cut-suggestions`
   */
  suggestTranscriptCuts(input: SuggestTranscriptCutsInput): Promise<schemas.CutSuggestions> {
    return this.call(OPERATIONS.suggestTranscriptCuts, input);
  }

  /**
   * Undo an edit of a transcript
   *
   * Returns to what the transcript was before its last change, as a new revision. Repeat it to go back further.
   *
   * `POST /v1/videos/{videoId}/transcript/undo`
   */
  undoEdit(input: UndoEditInput): Promise<schemas.TranscriptChange> {
    return this.call(OPERATIONS.undoEdit, input);
  }

  /**
   * Update a brand voice
   *
   * Changes the name, guidelines or colors. Fields that are not sent stay; null clears the colors.
   *
   * `PATCH /v1/brand-voices/{brandVoiceId}`
   */
  updateBrandVoice(input: UpdateBrandVoiceInput): Promise<schemas.BrandVoice> {
    return this.call(OPERATIONS.updateBrandVoice, input);
  }

  /**
   * Update a member of the cast
   *
   * Changes a member. Fields that are not sent stay. Existing transcripts and dubs stay as they are.
   *
   * `PATCH /v1/cast/members/{memberId}`
   */
  updateCastMember(input: UpdateCastMemberInput): Promise<schemas.CastMember> {
    return this.call(OPERATIONS.updateCastMember, input);
  }

  /**
   * Update a character
   *
   * Renames a character.
   *
   * `PATCH /v1/characters/{characterId}`
   */
  updateCharacter(input: UpdateCharacterInput): Promise<schemas.Character> {
    return this.call(OPERATIONS.updateCharacter, input);
  }

  /**
   * Update a folder
   *
   * Renames a folder, or moves it with everything in it. Folders nest up to three levels deep.
   *
   * `PATCH /v1/folders/{folderId}`
   */
  updateFolder(input: UpdateFolderInput): Promise<schemas.Folder> {
    return this.call(OPERATIONS.updateFolder, input);
  }

  /**
   * Update a glossary term
   *
   * Changes a term. Fields that are not sent stay. Captions and dubs that were made with it stay as they are.
   *
   * `PATCH /v1/glossary/terms/{termId}`
   */
  updateGlossaryTerm(input: UpdateGlossaryTermInput): Promise<schemas.GlossaryTerm> {
    return this.call(OPERATIONS.updateGlossaryTerm, input);
  }

  /**
   * Update the retention policy
   *
   * Changes how long the library keeps what it stores. Fields that are not sent stay; null keeps a kind for ever.
   *
   * Only owners and admins can change it. The next daily run applies it; preview it first.
   *
   * `PATCH /v1/library/retention`
   */
  updateRetention(input: UpdateRetentionInput): Promise<schemas.RetentionPolicy> {
    return this.call(OPERATIONS.updateRetention, input);
  }

  /**
   * Update a comment
   *
   * Changes the text of a comment, which only its author can, or whether it is resolved.
   *
   * `PATCH /v1/videos/{videoId}/comments/{commentId}`
   */
  updateReviewComment(input: UpdateReviewCommentInput): Promise<schemas.ReviewComment> {
    return this.call(OPERATIONS.updateReviewComment, input);
  }

  /**
   * Update a video
   *
   * Changes the title, description, language, folders or labels. Fields that are not sent stay; null clears.
   *
   * `PATCH /v1/videos/{videoId}`
   */
  updateVideo(input: UpdateVideoInput): Promise<schemas.Video> {
    return this.call(OPERATIONS.updateVideo, input);
  }

  /**
   * Update a voice clone
   *
   * Changes the name, description or labels of a clone. Fields that are not sent stay; null clears the last two.
   *
   * `PATCH /v1/voices/{voice_id}`
   */
  updateVoice(input: UpdateVoiceInput): Promise<schemas.Voice> {
    return this.call(OPERATIONS.updateVoice, input);
  }

  /**
   * Update a webhook endpoint
   *
   * Changes the URL or event types, or enables or disables the endpoint. The signing secret stays the same.
   *
   * `PATCH /v1/webhook-endpoints/{endpointId}`
   */
  updateWebhookEndpoint(input: UpdateWebhookEndpointInput): Promise<schemas.WebhookEndpoint> {
    return this.call(OPERATIONS.updateWebhookEndpoint, input);
  }

}
