import { ConnectionFailedError, CutroomError, UnexpectedResponseError, apiError } from "./errors.js";
import type { ApiError } from "./errors.js";
import { backoff, parseRetryAfter, pause, retryDelay } from "./retries.js";
import type { RetryPolicy } from "./retries.js";

export type Fetch = typeof globalThis.fetch;

export interface TransportOptions {
  readonly origin: string;
  readonly apiKey: string;
  readonly fetch: Fetch;
  readonly timeoutMs: number;
  readonly policy: RetryPolicy;
}

export interface ApiRequest {
  readonly method: string;
  /** Path and query; always of the API's own origin, so that the key is sent nowhere else. */
  readonly path: string;
  readonly headers: Headers;
  readonly body?: BodyInit | undefined;
  readonly replayable: boolean;
  readonly keyed: boolean;
  readonly signal?: AbortSignal | undefined;
  /** Added to the timeout: how long the API was asked to wait. */
  readonly waitMs?: number;
  /** Returns the response without reading its body. */
  readonly streams?: boolean;
}

/** A response whose body has been read, or is left to the caller. */
export interface ApiResponse {
  readonly response: Response;
  readonly json: unknown;
}

const MAX_ERROR_CHARACTERS = 200;
const NOT_SENT = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT"]);

/** Sends requests to the API, and repeats them where its contract allows. */
export class Transport {
  constructor(readonly options: TransportOptions) {}

  /** Returns the successful response, after as many attempts as the contract allows. */
  async send(request: ApiRequest): Promise<ApiResponse> {
    const { policy } = this.options;
    let isUncertain = false; // whether an attempt may have taken effect without a response
    for (let attempt = 0; ; attempt++) {
      request.signal?.throwIfAborted();
      let delay: number | null;
      try {
        const result = await this.attempt(request);
        if (result.response.ok) return result;
        if (isUncertain && request.method === "DELETE" && result.response.status === 404) {
          return { ...result, json: undefined };
        }
        const error = refusalOf(result);
        const code = error instanceof UnexpectedResponseError ? undefined : error.code;
        delay = retryDelay({ status: error.status, retryAfter: error.retryAfter, code }, attempt, { policy, ...request });
        if (delay === null) throw error;
        isUncertain ||= error.status >= 500;
      } catch (error) {
        if (!(error instanceof ConnectionFailedError) || attempt >= policy.retries) throw error;
        const wasSent = !isNotSent(error);
        if (wasSent && !request.replayable) throw error;
        isUncertain ||= wasSent;
        delay = backoff(attempt, policy);
      }
      await pause(delay, request.signal);
    }
  }

  private async attempt(request: ApiRequest): Promise<ApiResponse> {
    const expiry = new AbortController();
    const timer = setTimeout(() => expiry.abort(), this.options.timeoutMs + (request.waitMs ?? 0));
    const signal = request.signal ? AbortSignal.any([request.signal, expiry.signal]) : expiry.signal;
    try {
      const response = await this.options.fetch(new URL(request.path, this.options.origin), {
        method: request.method,
        headers: this.authorized(request.headers),
        body: request.body ?? null,
        redirect: "manual",
        credentials: "omit",
        signal,
      });
      refuseRedirect(response);
      if (response.ok && request.streams) return { response, json: undefined };
      return { response, json: await readBody(response) };
    } catch (error) {
      if (error instanceof CutroomError) throw error;
      request.signal?.throwIfAborted();
      throw new ConnectionFailedError(`${request.method} ${request.path}: ${describe(error)}`, { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }

  private authorized(headers: Headers): Headers {
    const result = new Headers(headers);
    result.set("Authorization", `Bearer ${this.options.apiKey}`);
    return result;
  }
}

/** Redirects are not followed: the API has none, and the key must not reach another origin. */
function refuseRedirect(response: Response): void {
  if (response.type === "opaqueredirect" || (response.status >= 300 && response.status < 400)) {
    throw new UnexpectedResponseError("The server redirected the request. Is `baseUrl` the API?", response.status);
  }
}

/** Parses JSON; leaves other successful content unread. A body that ends early counts as a lost response. */
async function readBody(response: Response): Promise<unknown> {
  if (response.status === 204) return undefined;
  const isJson = /[/+]json\b/.test(response.headers.get("content-type") ?? "");
  if (response.ok && !isJson) return response;
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch (error) {
    if (response.ok) throw error;
    return text.slice(0, MAX_ERROR_CHARACTERS);
  }
}

/** The typed error of a response; one that is not in the API's format comes from something in between. */
function refusalOf({ response, json }: ApiResponse): ApiError | UnexpectedResponseError {
  const error = (json as { error?: { code?: unknown; message?: unknown; details?: object } } | undefined)?.error;
  const retryAfter = parseRetryAfter(response.headers.get("retry-after"));
  if (typeof error?.code !== "string") {
    const message = `A response with status ${response.status} that is not Cutroom's.`;
    return new UnexpectedResponseError(message, response.status, retryAfter);
  }
  return apiError({
    status: response.status,
    code: error.code,
    message: String(error.message ?? ""),
    details: { ...error.details },
    requestId: response.headers.get("x-request-id") ?? undefined,
    retryAfter,
  });
}

/** The request did not leave this machine, so that any may be sent again. Browsers do not tell. */
function isNotSent(error: ConnectionFailedError): boolean {
  const cause = error.cause instanceof Error ? (error.cause.cause as { code?: unknown } | undefined) : undefined;
  return typeof cause?.code === "string" && NOT_SENT.has(cause.code);
}

function describe(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message : String(cause);
}

