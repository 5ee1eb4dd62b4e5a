import { blobSink, fetchFile, streamSink } from "./downloads.js";
import type { DownloadOptions, DownloadTarget } from "./downloads.js";
import { Events } from "./events.js";
import { Operations } from "./generated/operations.js";
import { Jobs } from "./jobs.js";
import { buildPath } from "./operation.js";
import type { CallOptions, KeyedOptions, OperationDescription } from "./operation.js";
import { DEFAULT_RETRIES } from "./retries.js";
import type { RetryPolicy } from "./retries.js";
import { Transport } from "./transport.js";
import type { Fetch } from "./transport.js";
import { Videos } from "./videos.js";
import { JobWatcher } from "./watcher.js";

const DEFAULT_TIMEOUT_SECONDS = 60;

export interface CutroomOptions {
  /** An API key; `CUTROOM_API_KEY` by default. */
  apiKey?: string;
  /** Where the installation is; by default `CUTROOM_BASE_URL`, or in browsers the origin of the page. */
  baseUrl?: string;
  /** The most that each request may cost; a call may set its own. */
  maxCredits?: number;
  /** Seconds without a response after which an attempt has failed. */
  timeout?: number;
  retries?: Partial<RetryPolicy>;
  fetch?: Fetch;
}

/** A client of one installation of Cutroom, for one API key. */
export class Cutroom {
  readonly videos: Videos;
  readonly jobs: Jobs;
  readonly events: Events;
  /** Every operation of the API. */
  readonly operations: Operations;
  /** @internal */
  readonly transport: Transport;
  /** @internal */
  readonly watcher: JobWatcher;

  constructor(options: CutroomOptions = {}) {
    this.transport = new Transport({
      origin: originOf(options.baseUrl ?? environment("CUTROOM_BASE_URL") ?? pageOrigin()),
      apiKey: checkedKey(options.apiKey ?? environment("CUTROOM_API_KEY")),
      fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
      timeoutMs: (options.timeout ?? DEFAULT_TIMEOUT_SECONDS) * 1_000,
      policy: { ...DEFAULT_RETRIES, ...options.retries },
    });
    if (options.maxCredits !== undefined) formatCredits(options.maxCredits);
    this.operations = new ApiOperations(this.transport, options.maxCredits);
    this.videos = new Videos(this);
    this.jobs = new Jobs(this);
    this.events = new Events(this.operations, this.transport);
    this.watcher = new JobWatcher(this.events);
  }

  /** Fetches a signed URL of the API into a file (Node.js), a stream, or a `Blob`. The key is not sent to it. */
  download(url: string, target: string | URL, options?: DownloadOptions): Promise<string>;
  download(url: string, target: WritableStream<Uint8Array>, options?: DownloadOptions): Promise<void>;
  download(url: string, target?: DownloadTarget, options?: DownloadOptions): Promise<Blob | string | void>;
  async download(url: string, target?: DownloadTarget, options: DownloadOptions = {}): Promise<Blob | string | void> {
    const transfer = { ...this.transport.options, ...options };
    if (target === undefined) return fetchFile(url, blobSink(), transfer);
    if (target instanceof WritableStream) return fetchFile(url, streamSink(target), transfer);
    const { openTarget } = await import("./node_files.js");
    return fetchFile(url, await openTarget(target), transfer);
  }
}

/** Sends the generated operations. */
class ApiOperations extends Operations {
  constructor(
    private readonly transport: Transport,
    private readonly maxCredits: number | undefined,
  ) {
    super();
  }

  protected override async call<T>(operation: OperationDescription, input: CallOptions): Promise<T> {
    const fields = input as KeyedOptions & { body?: unknown; wait?: unknown } & Record<string, unknown>;
    const { response, json } = await this.transport.send({
      method: operation.method,
      path: buildPath(operation, input),
      headers: this.headers(operation, fields),
      body: encodeBody(fields.body),
      replayable: operation.replayable,
      keyed: operation.keyed,
      signal: input.signal,
      waitMs: typeof fields.wait === "number" ? fields.wait * 1_000 : 0,
      streams: operation.name === "streamEvents",
    });
    return (operation.name === "streamEvents" ? response : json) as T;
  }

  private headers(operation: OperationDescription, input: KeyedOptions & Record<string, unknown>): Headers {
    const headers = new Headers({ Accept: "application/json" });
    for (const [field, name] of operation.headerParameters) {
      const value = input[field];
      if (value !== undefined) headers.set(name, String(value));
    }
    const hasJson = input["body"] !== undefined && !(input["body"] instanceof FormData);
    if (hasJson) headers.set("Content-Type", "application/json");
    if (operation.keyed) headers.set("Idempotency-Key", input.idempotencyKey ?? randomKey());
    const limit = input.maxCredits ?? this.maxCredits;
    // Sent with every POST: operations without a price ignore it.
    if (operation.method === "POST" && limit !== undefined) headers.set("Cutroom-Max-Credits", formatCredits(limit));
    return headers;
  }
}

function encodeBody(body: unknown): BodyInit | undefined {
  return body === undefined || body instanceof FormData ? body : JSON.stringify(body);
}

/** `crypto.randomUUID` exists only on pages served over HTTPS. */
function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** At most three decimals, rounded down: a limit never becomes higher than it was given. */
function formatCredits(credits: number): string {
  if (!Number.isFinite(credits) || credits < 0) throw new RangeError("maxCredits must be a number of credits, 0 or more.");
  return String(Math.floor(credits * 1_000 + 1e-6) / 1_000);
}

function originOf(baseUrl: string | undefined): string {
  if (!baseUrl) throw new TypeError("An address is needed: pass baseUrl, or set CUTROOM_BASE_URL.");
  const url = new URL(baseUrl);
  const isBare = /^\/?(v1\/?)?$/.test(url.pathname) && !url.search && !url.hash && !url.username && !url.password;
  if (!/^https?:$/.test(url.protocol) || !isBare) {
    throw new TypeError("baseUrl must be the origin of an installation, such as https://cutroom.example.com.");
  }
  return url.origin;
}

function checkedKey(key: string | undefined): string {
  if (!key) throw new TypeError("An API key is needed: pass apiKey, or set CUTROOM_API_KEY.");
  if (!/^[\x21-\x7e]+$/.test(key)) throw new TypeError("The API key has characters that no key has.");
  return key;
}

function environment(name: string): string | undefined {
  return typeof process === "undefined" ? undefined : process.env?.[name];
}

function pageOrigin(): string | undefined {
  return typeof location === "undefined" ? undefined : location.origin;
}
