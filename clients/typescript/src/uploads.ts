import { Crc32c } from "./crc32c.js";
import { UploadError } from "./errors.js";
import { backoff, parseRetryAfter, pause } from "./retries.js";
import type { RetryPolicy } from "./retries.js";
import type { ByteSource } from "./sources.js";
import type { Fetch } from "./transport.js";

/** The server accepts chunks in multiples of this. */
const CHUNK_STEP = 256 * 1024;
const DEFAULT_CHUNK = 8 * 1024 * 1024;
/** Attempts in a row that store nothing new. */
const MAX_FRUITLESS = 8;
const ENDED = new Set([404, 410]);

/** What is needed to continue an upload later. Whoever has it can send the file: store it as a secret. */
export interface UploadState {
  readonly videoId: string;
  readonly sessionUrl: string;
  readonly size: number;
  readonly modified?: number | undefined;
}

export interface TransferProgress {
  readonly bytes: number;
  readonly total: number;
}

export interface SendOptions {
  onProgress?: ((progress: TransferProgress) => void) | undefined;
  signal?: AbortSignal | undefined;
  /** Bytes per request, a multiple of 256 KiB; 8 MiB by default. */
  chunkBytes?: number | undefined;
}

interface SessionOptions extends SendOptions {
  readonly fetch: Fetch;
  readonly policy: RetryPolicy;
  readonly timeoutMs: number;
}

/** Starts a session at the URL of `POST …/uploads`. The URLs are credentials themselves: no key is sent to them. */
export async function startSession(url: string, options: SessionOptions): Promise<string> {
  for (let attempt = 0; ; attempt++) {
    const response = await exchange(url, { method: "POST", headers: { "x-goog-resumable": "start" } }, options);
    const location = response?.headers.get("location");
    if (response?.status === 201 && location) return new URL(location, url).href;
    if (attempt >= options.policy.retries || !isTransient(response)) throw await failure(response);
    await pause(delayOf(response, attempt, options.policy), options.signal);
  }
}

/** One upload session: sends what the server does not have yet, until it has everything. */
export class UploadSession {
  private readonly crc = new Crc32c();
  private hashed = 0;

  constructor(
    private readonly source: ByteSource,
    private readonly sessionUrl: string,
    private readonly options: SessionOptions,
  ) {
    const chunk = options.chunkBytes ?? DEFAULT_CHUNK;
    if (chunk <= 0 || chunk % CHUNK_STEP !== 0) throw new RangeError("chunkBytes must be a multiple of 256 KiB.");
  }

  /** Sends the file; a resumed session first asks the server how much it has. */
  async run(resumed: boolean): Promise<void> {
    let stored: number | null = resumed ? null : 0;
    let fruitless = 0;
    let furthest = 0;
    for (;;) {
      this.options.signal?.throwIfAborted();
      const response: Response | null = stored === null ? await this.ask() : await this.put(stored);
      if (response?.ok) return this.report(this.source.size);
      if (response?.status === 308) {
        stored = storedBytes(response);
        this.report(stored);
      } else if (isTransient(response)) {
        stored = null;
      } else {
        throw await failure(response);
      }
      if (stored !== null && stored > furthest) {
        furthest = stored;
        fruitless = 0;
      } else if (response?.status !== 308 || stored === furthest) {
        if (++fruitless > MAX_FRUITLESS) throw await failure(response);
        if (response?.status !== 308) await pause(delayOf(response, fruitless, this.options.policy), this.options.signal);
      }
    }
  }

  private ask(): Promise<Response | null> {
    const headers = { "Content-Range": `bytes */${this.source.size}` };
    return exchange(this.sessionUrl, { method: "PUT", headers }, this.options);
  }

  private async put(start: number): Promise<Response | null> {
    const end = Math.min(start + (this.options.chunkBytes ?? DEFAULT_CHUNK), this.source.size);
    const bytes = await this.source.read(start, end);
    await this.hash(start, bytes);
    const headers: Record<string, string> = { "Content-Range": `bytes ${start}-${end - 1}/${this.source.size}` };
    // The server compares it with the bytes it has received, and rejects the file if they differ.
    if (end === this.source.size) headers["X-Goog-Hash"] = `crc32c=${this.crc.base64()}`;
    return exchange(this.sessionUrl, { method: "PUT", headers, body: bytes }, this.options);
  }

  private async hash(start: number, bytes: Uint8Array): Promise<void> {
    while (this.hashed < start) {
      const end = Math.min(this.hashed + DEFAULT_CHUNK, start);
      this.crc.update(await this.source.read(this.hashed, end));
      this.hashed = end;
    }
    const fresh = bytes.subarray(this.hashed - start);
    this.crc.update(fresh);
    this.hashed += fresh.length;
  }

  private report(bytes: number): void {
    this.options.onProgress?.({ bytes, total: this.source.size });
  }
}

/** Sends one request; returns null if there was no response. A 308 without `Location` is not a redirect to fetch. */
async function exchange(url: string, init: RequestInit, options: SessionOptions): Promise<Response | null> {
  const expiry = new AbortController();
  const timer = setTimeout(() => expiry.abort(), options.timeoutMs);
  const signal = options.signal ? AbortSignal.any([options.signal, expiry.signal]) : expiry.signal;
  try {
    return await options.fetch(url, { ...init, signal, credentials: "omit" });
  } catch {
    options.signal?.throwIfAborted();
    return null;
  } finally {
    clearTimeout(timer);
  }
}

/** `Range: bytes=0-262143` says that 262,144 bytes are stored; without it, nothing is. */
function storedBytes(response: Response): number {
  const match = /^bytes=0-(\d+)$/.exec(response.headers.get("range") ?? "");
  return match ? Number(match[1]) + 1 : 0;
}

function isTransient(response: Response | null): boolean {
  return response === null || response.status === 408 || response.status === 429 || response.status >= 500;
}

function delayOf(response: Response | null, attempt: number, policy: RetryPolicy): number {
  const seconds = parseRetryAfter(response?.headers.get("retry-after") ?? null);
  const delay = seconds === undefined ? backoff(attempt, policy) : seconds * 1_000;
  return Math.min(delay, policy.maxRetryAfterMs);
}

/** The error in Google's format. */
async function failure(response: Response | null): Promise<UploadError> {
  if (response === null) return new UploadError("The upload was interrupted. Resume it with its state.");
  const body = (await response.json().catch(() => undefined)) as GoogleError | undefined;
  const message = body?.error?.message ?? `HTTP ${response.status}`;
  const ended = ENDED.has(response.status) ? "The upload session has ended: " : "The upload was refused: ";
  return new UploadError(ended + message, response.status, body?.error?.errors?.[0]?.reason);
}

interface GoogleError {
  error?: { message?: string; errors?: { reason?: string }[] };
}
