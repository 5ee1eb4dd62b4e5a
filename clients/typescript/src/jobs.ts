import type { Cutroom } from "./client.js";
import type { DownloadOptions, DownloadTarget } from "./downloads.js";
import { CutroomError, JobFailedError, RateLimitedError, WaitTimeoutError, jobError } from "./errors.js";
import type { Job, JobTimeline } from "./generated/schemas.js";
import { endingOf, filesOfJob, urlOfJob } from "./products.js";
import { pause } from "./retries.js";

/** Looks at the job even if no event comes. */
const SAFETY_MS = 30_000;
const LONG_POLL_SECONDS = 20;
const POLL_MS = 2_000;

export interface WaitOptions {
  /** Called with the job whenever its progress is known. */
  onProgress?: (job: Job) => void;
  /** Seconds after which `WaitTimeoutError` is thrown; by default, waits until the job ends. */
  timeout?: number;
  signal?: AbortSignal;
}

export interface FileOptions extends DownloadOptions {
  /** The form of a file without a name, such as `.m4a` or `.vtt`. */
  ending?: string;
}

/** A job, as the API last returned it. */
export class JobHandle {
  constructor(
    protected readonly client: Cutroom,
    public data: Job,
  ) {}

  get id(): string {
    return this.data.id;
  }

  get status(): Job["status"] {
    return this.data.status;
  }

  get language(): string | undefined {
    return this.data.language;
  }

  get videoId(): string {
    if (this.data.videoId === undefined) throw new CutroomError(`${this.id} belongs to no video.`);
    return this.data.videoId;
  }

  get result(): Readonly<Record<string, unknown>> {
    return this.data.result ?? {};
  }

  /** Waits until the job is ready; throws `JobFailedError` if it fails. */
  async wait(options: WaitOptions = {}): Promise<this> {
    this.data = await this.client.jobs.waitFor(this.data, options);
    return this;
  }

  async refresh(): Promise<this> {
    this.data = await this.client.operations.getJob({ jobId: this.id });
    return this;
  }

  async cancel(): Promise<this> {
    this.data = await this.client.operations.cancelJob({ jobId: this.id });
    return this;
  }

  async retry(options: { maxCredits?: number } = {}): Promise<this> {
    this.data = await this.client.operations.retryJob({ jobId: this.id, ...options });
    return this;
  }

  timeline(): Promise<JobTimeline> {
    return this.client.operations.getJobTimeline({ jobId: this.id });
  }

  /**
   * Waits for the job and fetches what it has made, in a form that follows from its type and the ending of the name.
   * A dub: the video in its language, or its audio for `.m4a`. Captions and transcripts: `.srt` or `.vtt`. A download:
   * its file. Jobs with several files have `downloadAll`.
   */
  download(target: string | URL, options?: FileOptions): Promise<string>;
  download(target: WritableStream<Uint8Array>, options?: FileOptions): Promise<void>;
  download(target?: undefined, options?: FileOptions): Promise<Blob>;
  async download(target?: DownloadTarget, options: FileOptions = {}): Promise<Blob | string | void> {
    const ending = options.ending ?? (typeof target === "string" ? endingOf(target) : "");
    await this.wait(options.signal ? { signal: options.signal } : {});
    const url = await urlOfJob(this.client, this, ending, options.signal ? { signal: options.signal } : {});
    return this.client.download(url, target, options);
  }

  /** Waits for the job and fetches every file of it into a folder: shorts with their covers, or thumbnails. */
  async downloadAll(folder: string, options: DownloadOptions = {}): Promise<string[]> {
    await this.wait(options.signal ? { signal: options.signal } : {});
    const saved: string[] = [];
    for (const [index, file] of (await filesOfJob(this.client, this)).entries()) {
      const target = `${folder}/${this.data.type}-${index + 1}${file.ending}`;
      saved.push(await this.client.download(file.url, target, options));
    }
    return saved;
  }
}

/** A job that was requested: waits for the request and the job alike, so that calls can be chained. */
export class PendingJob implements PromiseLike<JobHandle> {
  constructor(private readonly handle: Promise<JobHandle>) {}

  then<A = JobHandle, B = never>(
    onFulfilled?: ((job: JobHandle) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.handle.then(onFulfilled, onRejected);
  }

  async wait(options: WaitOptions = {}): Promise<JobHandle> {
    return (await this.handle).wait(options);
  }

  async download(target: string | URL, options: FileOptions = {}): Promise<string> {
    return (await this.handle).download(target, options);
  }

  async downloadAll(folder: string, options: DownloadOptions = {}): Promise<string[]> {
    return (await this.handle).downloadAll(folder, options);
  }
}

/** Jobs by id, and waiting for them. */
export class Jobs {
  constructor(private readonly client: Cutroom) {}

  async get(jobId: string): Promise<JobHandle> {
    return new JobHandle(this.client, await this.client.operations.getJob({ jobId }));
  }

  /** A job by id, without a request. */
  handle(jobId: string): JobHandle {
    return new JobHandle(this.client, { id: jobId, type: jobId.split("_")[0] as Job["type"], status: "queued" });
  }

  wait(jobId: string, options: WaitOptions = {}): Promise<JobHandle> {
    return this.handle(jobId).wait(options);
  }

  /** Waits for a job by the event stream, or by polling where the stream cannot be used. */
  async waitFor(job: Job, options: WaitOptions = {}): Promise<Job> {
    const expiry = new AbortController();
    const timer =
      options.timeout === undefined ? undefined : setTimeout(() => expiry.abort(), options.timeout * 1_000);
    const signal = options.signal ? AbortSignal.any([options.signal, expiry.signal]) : expiry.signal;
    try {
      return ended(await this.follow(job, signal, options.onProgress));
    } catch (error) {
      if (!expiry.signal.aborted || error instanceof JobFailedError) throw error;
      throw new WaitTimeoutError(`${job.id} has not ended within ${options.timeout} s; it continues.`);
    } finally {
      clearTimeout(timer);
    }
  }

  private async follow(job: Job, signal: AbortSignal, onProgress: WaitOptions["onProgress"]): Promise<Job> {
    if (hasEnded(job)) return job;
    const follower = this.client.watcher.follow(job.id);
    follower.onProgress = onProgress;
    try {
      for (;;) {
        const current = follower.isUnavailable
          ? await this.poll(job.id, signal)
          : await this.client.operations.getJob({ jobId: job.id, signal });
        if (hasEnded(current)) return current;
        onProgress?.(current);
        if (!follower.isUnavailable) await follower.sleep(SAFETY_MS, signal);
      }
    } finally {
      follower.close();
    }
  }

  /** Lets the API wait for the end of the job; if too many requests wait already, looks again a little later. */
  private async poll(jobId: string, signal: AbortSignal): Promise<Job> {
    const started = Date.now();
    let job: Job | undefined;
    try {
      job = await this.client.operations.getJob({ jobId, wait: LONG_POLL_SECONDS, signal });
    } catch (error) {
      if (!(error instanceof RateLimitedError)) throw error;
    }
    if (job && (hasEnded(job) || Date.now() - started >= POLL_MS)) return job;
    await pause(POLL_MS, signal);
    return job ?? this.client.operations.getJob({ jobId, signal });
  }
}

function hasEnded(job: Job): boolean {
  return job.status === "ready" || job.status === "failed";
}

function ended(job: Job): Job {
  if (job.status === "failed") throw jobError(job);
  return job;
}
