import type { Cutroom } from "./client.js";
import { UploadError } from "./errors.js";
import type * as schemas from "./generated/schemas.js";
import { paginate } from "./pages.js";
import { openSource } from "./sources.js";
import type { ByteSource, UploadInput } from "./sources.js";
import { UploadSession, startSession } from "./uploads.js";
import type { SendOptions, UploadState } from "./uploads.js";
import { VideoHandle } from "./video.js";

const DEFAULT_NAME = "upload.mp4";
/** Sessions that may end and be started again during one upload. */
const MAX_SESSIONS = 3;
const SESSION_ENDED = new Set([404, 410]);

export interface UploadOptions extends SendOptions {
  fileName?: string;
  contentType?: string;
  folderId?: string;
  /** Recipes: what to make as soon as the video has been imported. */
  products?: schemas.Recipes;
  maxCredits?: number;
  /** Identifies the new video across retries, and across runs of your program. */
  idempotencyKey?: string;
  /** Called with what is needed to resume; store it before the process may end. */
  onSession?: (state: UploadState) => void | Promise<void>;
  /** Continues an earlier upload of the same file. */
  resume?: UploadState;
}

export interface ImportOptions {
  folderId?: string;
  products?: schemas.Recipes;
  maxCredits?: number;
  idempotencyKey?: string;
}

/** The videos of the library. */
export class Videos {
  constructor(private readonly client: Cutroom) {}

  /** Uploads a file and returns its video, whose import goes on. Interruptions are resumed. */
  async upload(file: UploadInput, options: UploadOptions = {}): Promise<VideoHandle> {
    const source = await openSource(file);
    try {
      if (options.resume) checkUnchanged(source, options.resume);
      const state = options.resume ?? (await this.begin(source, options));
      await this.sendAll(source, state, options);
      return await this.get(state.videoId);
    } finally {
      await source.close();
    }
  }

  /** Imports a video from the URL of a file, Dropbox, Google Drive or YouTube. */
  async importUrl(url: string, options: ImportOptions = {}): Promise<VideoHandle> {
    const { folderId, products, ...call } = options;
    const source = { type: providerOf(url), url } as const;
    const body = { source, ...(folderId ? { folderId } : {}), ...(products ? { products } : {}) };
    const created = await this.client.operations.createVideo({ body, ...call });
    return created.video ? new VideoHandle(this.client, created.video) : this.get(created.videoId);
  }

  async get(videoId: string): Promise<VideoHandle> {
    return new VideoHandle(this.client, await this.client.operations.getVideo({ videoId }));
  }

  /** A video by id, without a request. */
  handle(videoId: string): VideoHandle {
    return new VideoHandle(this.client, { id: videoId, status: "queued" });
  }

  /** All videos, newest first. */
  async *list(options: { label?: string; limit?: number } = {}): AsyncGenerator<VideoHandle> {
    const pages = paginate(
      (page) => this.client.operations.listVideos({ ...options, ...page }),
      (page) => page.videos,
    );
    for await (const video of pages) yield new VideoHandle(this.client, video);
  }

  private async begin(source: ByteSource, options: UploadOptions): Promise<UploadState> {
    if (source.size === 0) throw new UploadError("The file is empty.");
    const fileName = options.fileName ?? source.name ?? DEFAULT_NAME;
    const contentType = options.contentType ?? source.type;
    const { folderId, products, maxCredits, idempotencyKey, signal } = options;
    const { videoId } = await this.client.operations.createVideo({
      body: {
        source: { type: "upload", fileName, ...(contentType ? { contentType } : {}) },
        ...(folderId ? { folderId } : {}),
        ...(products ? { products } : {}),
      },
      ...(maxCredits === undefined ? {} : { maxCredits }),
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
      ...(signal ? { signal } : {}),
    });
    return this.openSession(videoId, source, options);
  }

  private async openSession(videoId: string, source: ByteSource, options: UploadOptions): Promise<UploadState> {
    const contentType = options.contentType ?? source.type;
    const fileName = options.fileName ?? source.name ?? DEFAULT_NAME;
    const { url } = await this.client.operations.createUpload({
      videoId,
      body: { fileName, ...(contentType ? { contentType } : {}) },
      ...(options.signal ? { signal: options.signal } : {}),
    });
    const sessionUrl = await startSession(url, this.sessionOptions(options));
    const state = { videoId, sessionUrl, size: source.size, modified: source.modified };
    await options.onSession?.(state);
    return state;
  }

  private async sendAll(source: ByteSource, first: UploadState, options: UploadOptions): Promise<void> {
    let state = first;
    for (let sessions = 1; ; sessions++) {
      const session = new UploadSession(source, state.sessionUrl, this.sessionOptions(options));
      try {
        return await session.run(sessions === 1 && options.resume !== undefined);
      } catch (error) {
        const hasEnded = error instanceof UploadError && SESSION_ENDED.has(error.status ?? 0);
        if (!hasEnded || sessions >= MAX_SESSIONS) throw error;
        state = await this.openSession(state.videoId, source, options);
      }
    }
  }

  private sessionOptions(options: SendOptions): ConstructorParameters<typeof UploadSession>[2] {
    const { fetch, policy, timeoutMs } = this.client.transport.options;
    const { onProgress, signal, chunkBytes } = options;
    return { fetch, policy, timeoutMs, onProgress, signal, chunkBytes };
  }
}

function checkUnchanged(source: ByteSource, state: UploadState): void {
  const isSame = source.size === state.size && (state.modified === undefined || source.modified === state.modified);
  if (!isSame) throw new UploadError("The file has changed since its upload was started.");
}

function providerOf(url: string): schemas.UrlSource["type"] {
  const host = new URL(url).hostname.replace(/^www\./, "");
  if (host === "youtu.be" || host === "youtube.com" || host.endsWith(".youtube.com")) return "youtube";
  if (host === "dropbox.com" || host.endsWith(".dropbox.com")) return "dropbox";
  return host === "drive.google.com" ? "google_drive" : "https";
}
