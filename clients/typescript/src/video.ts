import type { Cutroom } from "./client.js";
import type { DownloadOptions, DownloadTarget } from "./downloads.js";
import { CutroomError } from "./errors.js";
import type * as schemas from "./generated/schemas.js";
import { JobHandle, PendingJob } from "./jobs.js";
import type { WaitOptions } from "./jobs.js";
import type { CallOptions, KeyedOptions } from "./operation.js";

export type DubOptions = KeyedOptions & Omit<schemas.NewDubs, "languages">;
export type CaptionOptions = KeyedOptions & Omit<schemas.NewCaptions, "languages">;
type ShortsBody = schemas.NewShorts | schemas.NewPromo | schemas.NewClips;

/** A video, as the API last returned it, and what can be made from it. */
export class VideoHandle {
  constructor(
    private readonly client: Cutroom,
    public data: schemas.Video,
  ) {}

  get id(): string {
    return this.data.id;
  }

  async refresh(): Promise<this> {
    this.data = await this.client.operations.getVideo({ videoId: this.id });
    return this;
  }

  get status(): schemas.Video["status"] {
    return this.data.status;
  }

  get title(): string | undefined {
    return this.data.title;
  }

  /** Waits until the video has been imported. Products can be requested before that: they start when they can. */
  async wait(options: WaitOptions = {}): Promise<this> {
    await this.client.jobs.wait(`import_${this.id}`, options);
    return this.refresh();
  }

  /** Changes the title and other details; `null` clears a field. */
  async update(changes: schemas.VideoPatch, options: CallOptions & { ifMatch?: string } = {}): Promise<this> {
    this.data = await this.client.operations.updateVideo({ videoId: this.id, body: changes, ...options });
    return this;
  }

  /** The job of the transcript, which every video gets. */
  transcribe(): PendingJob {
    return new PendingJob(this.client.jobs.get(`transcript_${this.id}`));
  }

  /** The transcript, or its status while it is being made. */
  transcript(): Promise<schemas.Transcript> {
    return this.client.operations.getTranscript({ videoId: this.id });
  }

  /** Dubs into one language. */
  dub(language: string, options: DubOptions = {}): PendingJob {
    return new PendingJob(this.dubs([language], options).then(([job]) => job!));
  }

  /** Dubs into several languages, as one request: one price, one spending limit. */
  async dubs(languages: string[], options: DubOptions = {}): Promise<JobHandle[]> {
    const [body, call] = splitOptions(options);
    const { jobs } = await this.client.operations.createDubs({ videoId: this.id, body: { languages, ...body }, ...call });
    return this.handles(jobs);
  }

  /** Captions in another language, or in that of the video. */
  captions(language: string, options: CaptionOptions = {}): PendingJob {
    return new PendingJob(this.captionsIn([language], options).then(([job]) => job!));
  }

  async captionsIn(languages: string[], options: CaptionOptions = {}): Promise<JobHandle[]> {
    const [body, call] = splitOptions(options);
    const { jobs } = await this.client.operations.createCaptions({ videoId: this.id, body: { languages, ...body }, ...call });
    return this.handles(jobs);
  }

  /** Shorts, a promo or clips. `getShorts` of the API lists their files. */
  shorts(options: KeyedOptions & ShortsBody = {}): PendingJob {
    const [body, call] = splitOptions(options);
    const request = this.client.operations.createShorts({ videoId: this.id, body, ...call });
    return new PendingJob(request.then(({ jobId }) => this.client.jobs.get(jobId)));
  }

  /** Thumbnails. */
  thumbnails(options: KeyedOptions & schemas.NewThumbnail = {}): PendingJob {
    const [body, call] = splitOptions(options);
    const request = this.client.operations.createThumbnail({ videoId: this.id, body, ...call });
    return new PendingJob(request.then(({ jobId }) => this.client.jobs.get(jobId)));
  }

  /** Writes a title, a description, or composes a thumbnail: one job for each. */
  async package(options: KeyedOptions & schemas.NewPackaging): Promise<JobHandle[]> {
    const [body, call] = splitOptions(options);
    const { jobs } = await this.client.operations.createPackaging({ videoId: this.id, body, ...call });
    return this.handles(jobs);
  }

  /** What a bundle of products would cost; nothing is charged. */
  quote(bundle: schemas.CreditBundle): Promise<schemas.Quote> {
    return this.client.operations.quoteCredits({ videoId: this.id, body: bundle });
  }

  async jobs(): Promise<JobHandle[]> {
    return this.handles((await this.client.operations.listVideoJobs({ videoId: this.id })).jobs);
  }

  /** The text of the subtitles in a language that has a transcript or captions. */
  async subtitles(language: string, format: "srt" | "vtt" = "srt"): Promise<string> {
    const blob = (await this.client.download(await this.subtitlesUrl(language, format))) as Blob;
    return blob.text();
  }

  async subtitlesUrl(language: string, format: "srt" | "vtt", call: CallOptions = {}): Promise<string> {
    const subtitles = await this.client.operations.getSubtitles({ videoId: this.id, lang: language, format, ...call });
    if (!subtitles.downloadUrl) throw new CutroomError(`The subtitles in ${language} are not ready yet.`);
    return subtitles.downloadUrl;
  }

  /** Prepares a file and fetches it: the source, the video in one language, or a ZIP of everything. */
  async download(
    request: schemas.NewDownload,
    target?: DownloadTarget,
    options: DownloadOptions = {},
  ): Promise<Blob | string | void> {
    const url = await this.prepareDownload(request, options.signal ? { signal: options.signal } : {});
    return this.client.download(url, target as string, options);
  }

  /** Has a file prepared; `download` of the job fetches it. */
  downloads(request: schemas.NewDownload, call: CallOptions = {}): PendingJob {
    const asked = this.client.operations.createDownload({ videoId: this.id, body: request, ...call });
    return new PendingJob(asked.then(({ jobId }) => this.client.jobs.get(jobId)));
  }

  /** Prepares a file and returns its signed URL, which is valid for an hour. */
  async prepareDownload(request: schemas.NewDownload, call: CallOptions = {}): Promise<string> {
    const job = await this.downloads(request, call).wait(call);
    const { url } = await this.client.operations.getDownload({ downloadRequestId: job.id.slice("download_".length), ...call });
    if (!url) throw new CutroomError("The prepared file has expired.");
    return url;
  }

  /** Moves the video to the trash. */
  async delete(): Promise<void> {
    await this.client.operations.deleteVideo({ videoId: this.id });
  }

  /** Takes the video out of the trash. */
  async restore(): Promise<this> {
    this.data = await this.client.operations.restoreVideo({ videoId: this.id });
    return this;
  }

  private handles(jobs: readonly schemas.Job[]): JobHandle[] {
    return jobs.map((job) => new JobHandle(this.client, job));
  }
}

/** Separates the fields of the request from those of the call. */
function splitOptions<Options extends KeyedOptions>(
  options: Options,
): [Omit<Options, keyof KeyedOptions>, KeyedOptions] {
  const { idempotencyKey, maxCredits, signal, ...body } = options;
  const call: KeyedOptions = {};
  if (idempotencyKey !== undefined) call.idempotencyKey = idempotencyKey;
  if (maxCredits !== undefined) call.maxCredits = maxCredits;
  if (signal !== undefined) call.signal = signal;
  return [body, call];
}
