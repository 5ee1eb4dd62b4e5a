/** How often, and how long apart, requests are repeated. */
export interface RetryPolicy {
  /** Retries after the first attempt. */
  readonly retries: number;
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
  /** A longer `Retry-After` is the caller's to wait for. */
  readonly maxRetryAfterMs: number;
}

const TEMPORARY = new Set([502, 503, 504]);

export const DEFAULT_RETRIES: RetryPolicy = {
  retries: 5,
  firstDelayMs: 250,
  maxDelayMs: 8_000,
  maxRetryAfterMs: 60_000,
};

/** What decides about repeating a refused request. */
export interface Refusal {
  readonly status: number;
  /** The API's error code; undefined if the response comes from something in between. */
  readonly code: string | undefined;
  readonly retryAfter: number | undefined;
}

/**
 * Milliseconds after which the contract allows to repeat a refused request; `null` if it does not.
 *
 * - `INSUFFICIENT_CREDITS` never: waiting does not help.
 * - `RATE_LIMITED`, and `CONFLICT` of a request with the same key that is still running, only with `Retry-After`.
 * - 5xx only if repeating cannot run the work twice. A 500 of the API itself is stored with the idempotency key, and
 *   would only be returned again.
 */
export function retryDelay(
  refusal: Refusal,
  attempt: number,
  options: { policy: RetryPolicy; replayable: boolean; keyed: boolean },
): number | null {
  const { status, code, retryAfter } = refusal;
  if (attempt >= options.policy.retries) return null;
  if (status === 429 || status === 409) {
    const passes = status === 429 ? code === "RATE_LIMITED" : code === "CONFLICT" && options.keyed;
    return passes && retryAfter !== undefined ? retryAfterDelay(retryAfter, options.policy) : null;
  }
  if (status < 500 || !options.replayable) return null;
  if (options.keyed && code !== undefined && !TEMPORARY.has(status)) return null;
  return retryAfter === undefined ? backoff(attempt, options.policy) : retryAfterDelay(retryAfter, options.policy);
}

function retryAfterDelay(seconds: number, policy: RetryPolicy): number | null {
  const delay = seconds * 1_000;
  return delay > policy.maxRetryAfterMs ? null : delay + (0.5 + Math.random() / 2) * policy.firstDelayMs;
}

/** Exponential, with jitter so that clients that failed together do not return together. */
export function backoff(attempt: number, policy: RetryPolicy): number {
  const full = Math.min(policy.maxDelayMs, policy.firstDelayMs * 2 ** attempt);
  return full / 2 + (Math.random() * full) / 2;
}

/** Seconds of a `Retry-After` header; dates are supported too. */
export function parseRetryAfter(value: string | null, now: number = Date.now()): number | undefined {
  if (value === null || value.trim() === "") return undefined;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return Math.max(0, seconds);
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, (date - now) / 1_000);
}

/** Resolves after a delay; rejects as soon as the signal aborts. */
export function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
