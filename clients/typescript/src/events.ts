import { ApiError, ConnectionFailedError } from "./errors.js";
import type { Job, LibraryEvent } from "./generated/schemas.js";
import type { Operations } from "./generated/operations.js";
import { backoff, pause } from "./retries.js";
import { EventParser } from "./sse.js";
import type { ServerSentEvent } from "./sse.js";
import type { Transport } from "./transport.js";

/** The server sends a heartbeat every 15 s; a longer silence means that the connection is lost. */
const SILENCE_MS = 30_000;
const PATH = "/v1/events/stream";

/** Progress of a running job. It is live only: not kept, and it may be lost. */
export interface JobProgressEvent {
  readonly type: "job.progress";
  readonly data: Job;
}

/** An event of the log, with the cursor that continues after it. */
export type StreamedEvent = (LibraryEvent | JobProgressEvent) & { readonly cursor: string };

export interface EventOptions {
  /** Only these types, such as `job.ready`. */
  types?: readonly string[];
  /** Continue after this cursor. */
  after?: string;
  signal?: AbortSignal;
}

/** The log of what happened in the library. */
export class Events {
  constructor(
    private readonly operations: Operations,
    private readonly transport: Transport,
  ) {}

  /** Events that are recorded already, oldest first. */
  async *list(options: EventOptions = {}): AsyncGenerator<LibraryEvent> {
    let after = options.after;
    for (;;) {
      const page = await this.operations.listEvents({
        ...(after === undefined ? {} : { after }),
        ...(options.types === undefined ? {} : { types: options.types.join(",") }),
        ...(options.signal === undefined ? {} : { signal: options.signal }),
        limit: 100,
      });
      yield* page.events;
      if (!page.hasMore) return;
      after = page.cursor;
    }
  }

  /** Events as they happen, until `signal` aborts. Connects again when the stream ends; nothing is missed or repeated. */
  async *stream(options: EventOptions = {}): AsyncGenerator<StreamedEvent> {
    for await (const message of this.messages(options)) {
      if (message.data) yield { ...(JSON.parse(message.data) as LibraryEvent | JobProgressEvent), cursor: message.id };
    }
  }

  /** The raw messages; `onConnect` is called whenever the stream is open. */
  async *messages(options: EventOptions & { onConnect?: () => void }): AsyncGenerator<ServerSentEvent> {
    let cursor = options.after;
    for (let attempt = 0; ; attempt++) {
      try {
        for await (const message of this.connection(cursor, options)) {
          attempt = 0;
          if (message.id) cursor = message.id;
          yield message;
        }
      } catch (error) {
        options.signal?.throwIfAborted();
        // Refused for good: the transport has retried what may be repeated.
        if (error instanceof ApiError && error.status < 500) throw error;
        if (error instanceof ApiError || error instanceof ConnectionFailedError) {
          if (attempt >= this.transport.options.policy.retries) throw error;
        }
      }
      options.signal?.throwIfAborted();
      await pause(backoff(Math.min(attempt, 5), this.transport.options.policy), options.signal);
    }
  }

  private async *connection(
    after: string | undefined,
    options: EventOptions & { onConnect?: () => void },
  ): AsyncGenerator<ServerSentEvent> {
    const closing = new AbortController();
    const signal = options.signal ? AbortSignal.any([options.signal, closing.signal]) : closing.signal;
    const headers = new Headers({ Accept: "text/event-stream" });
    if (after !== undefined) headers.set("Last-Event-ID", after);
    const query = options.types ? `?${new URLSearchParams({ types: options.types.join(",") })}` : "";
    const request = { method: "GET", path: PATH + query, headers, keyed: false, replayable: true, signal, streams: true };
    const { response } = await this.transport.send(request);
    options.onConnect?.();
    let silence = setTimeout(() => closing.abort(), SILENCE_MS);
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    const parser = new EventParser();
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        clearTimeout(silence);
        silence = setTimeout(() => closing.abort(), SILENCE_MS);
        yield* parser.push(value);
      }
    } finally {
      clearTimeout(silence);
      closing.abort();
    }
  }
}
