import { DownloadError } from "./errors.js";
import { backoff, pause } from "./retries.js";
import type { RetryPolicy } from "./retries.js";
import type { Fetch } from "./transport.js";
import type { TransferProgress } from "./uploads.js";

/** Where the bytes go: a path in Node.js, any stream, or nothing for a `Blob`. */
export type DownloadTarget = string | URL | WritableStream<Uint8Array>;

/** Receives the bytes of a download in order. */
export interface DownloadSink<Result> {
  write(bytes: Uint8Array, position: number): Promise<void>;
  /** The file is sent again from its start. */
  restart(): Promise<void>;
  finish(): Promise<Result>;
  abort(): Promise<void>;
}

export interface DownloadOptions {
  onProgress?: ((progress: TransferProgress) => void) | undefined;
  signal?: AbortSignal | undefined;
}

interface FetchOptions extends DownloadOptions {
  readonly fetch: Fetch;
  readonly policy: RetryPolicy;
  readonly timeoutMs: number;
}

/** Fetches a signed URL, which needs no key. After an interruption, it continues where it stopped. */
export async function fetchFile<Result>(
  url: string,
  sink: DownloadSink<Result>,
  options: FetchOptions,
): Promise<Result> {
  const transfer = new Transfer(url, sink, options);
  try {
    await transfer.run();
    return await sink.finish();
  } catch (error) {
    await sink.abort();
    throw error;
  }
}

class Transfer {
  private position = 0;
  private total: number | undefined;

  constructor(
    private readonly url: string,
    private readonly sink: DownloadSink<unknown>,
    private readonly options: FetchOptions,
  ) {}

  async run(): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      const before = this.position;
      const failure = await this.attempt();
      if (failure === null) return;
      if (this.position > before) attempt = 0;
      if (attempt >= this.options.policy.retries) throw failure;
      await pause(backoff(attempt, this.options.policy), this.options.signal);
    }
  }

  /** Returns why the transfer is incomplete, or null once it is complete. */
  private async attempt(): Promise<DownloadError | null> {
    const stalled = new StallTimer(this.options.timeoutMs);
    const signal = this.options.signal ? AbortSignal.any([this.options.signal, stalled.signal]) : stalled.signal;
    try {
      const headers = { Range: `bytes=${this.position}-` };
      const response = await this.options.fetch(this.url, { headers, signal, credentials: "omit" });
      if (response.status === 416 && this.total === undefined && emptyFile(response)) return null;
      if (!response.ok) return refusal(response);
      await this.accept(response);
      for await (const chunk of chunks(response)) {
        stalled.restart();
        await this.sink.write(chunk, this.position);
        this.position += chunk.length;
        this.options.onProgress?.({ bytes: this.position, total: this.total ?? this.position });
      }
    } catch (error) {
      this.options.signal?.throwIfAborted();
      if (error instanceof DownloadError) throw error;
      return new DownloadError("The download was interrupted.", undefined, { cause: error });
    } finally {
      stalled.stop();
    }
    if (this.total === undefined || this.position === this.total) return null;
    return new DownloadError(`The download ended after ${this.position} of ${this.total} bytes.`);
  }

  /** Starts over if the server sends the whole file, or another one. */
  private async accept(response: Response): Promise<void> {
    const range = /^bytes (\d+)-\d+\/(\d+)$/.exec(response.headers.get("content-range") ?? "");
    const length = response.headers.get("content-length");
    const start = response.status === 206 && range ? Number(range[1]) : 0;
    const total = range ? Number(range[2]) : length === null ? undefined : Number(length);
    const changed = this.total !== undefined && total !== this.total;
    this.total = total;
    if (start === this.position && !changed) return;
    if (start !== 0) {
      await response.body?.cancel();
      this.position = 0;
      await this.sink.restart();
      throw new Error("The file has changed; it is fetched again from its start.");
    }
    this.position = 0;
    await this.sink.restart();
  }
}

function refusal(response: Response): DownloadError {
  const error = new DownloadError(`The file could not be fetched: HTTP ${response.status}.`, response.status);
  if (response.status >= 500 || response.status === 429 || response.status === 408) return error;
  throw error;
}

function emptyFile(response: Response): boolean {
  return response.headers.get("content-range") === "bytes */0";
}

async function* chunks(response: Response): AsyncGenerator<Uint8Array> {
  const reader = response.body?.getReader();
  if (!reader) return;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** Aborts a transfer in which nothing arrives, however long the whole takes. */
class StallTimer {
  private readonly controller = new AbortController();
  private timer: ReturnType<typeof setTimeout>;

  constructor(private readonly milliseconds: number) {
    this.timer = this.start();
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  restart(): void {
    clearTimeout(this.timer);
    this.timer = this.start();
  }

  stop(): void {
    clearTimeout(this.timer);
  }

  private start(): ReturnType<typeof setTimeout> {
    return setTimeout(() => this.controller.abort(), this.milliseconds);
  }
}

/** Collects the bytes in memory. */
export function blobSink(): DownloadSink<Blob> {
  let parts: Uint8Array<ArrayBuffer>[] = [];
  return {
    write: async (bytes) => void parts.push(bytes as Uint8Array<ArrayBuffer>),
    restart: async () => void (parts = []),
    finish: async () => new Blob(parts),
    abort: async () => void (parts = []),
  };
}

/** Writes to a stream, which cannot start over. */
export function streamSink(stream: WritableStream<Uint8Array>): DownloadSink<void> {
  const writer = stream.getWriter();
  let written = false;
  return {
    async write(bytes) {
      written = true;
      await writer.write(bytes);
    },
    async restart() {
      if (written) throw new DownloadError("The file changed while it was fetched.");
    },
    finish: () => writer.close(),
    abort: () => writer.abort().catch(() => undefined),
  };
}
