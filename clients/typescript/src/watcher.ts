import type { Job } from "./generated/schemas.js";
import type { Events } from "./events.js";

const TYPES = ["job.ready", "job.failed", "job.progress"] as const;

/** Follows jobs by one event stream for all that are waited for, which is open only while somebody waits. */
export class JobWatcher {
  private readonly followers = new Map<string, Set<JobFollower>>();
  private closing: AbortController | undefined;
  private isConnected = false;
  private isUnavailable = false;

  constructor(private readonly events: Events) {}

  follow(jobId: string): JobFollower {
    const follower = new JobFollower(() => this.leave(jobId, follower));
    const others = this.followers.get(jobId) ?? new Set();
    this.followers.set(jobId, others.add(follower));
    if (this.isUnavailable) follower.isUnavailable = true;
    else if (this.isConnected) follower.wake();
    this.closing ??= this.open();
    return follower;
  }

  private leave(jobId: string, follower: JobFollower): void {
    const others = this.followers.get(jobId);
    others?.delete(follower);
    if (others?.size === 0) this.followers.delete(jobId);
    if (this.followers.size > 0) return;
    this.closing?.abort();
    this.closing = undefined;
    this.isConnected = false;
    this.isUnavailable = false;
  }

  private open(): AbortController {
    const closing = new AbortController();
    void this.read(closing.signal).catch(() => {
      if (closing.signal.aborted) return;
      this.isConnected = false;
      this.isUnavailable = true;
      for (const follower of this.everyone()) {
        follower.isUnavailable = true;
        follower.wake();
      }
    });
    return closing;
  }

  private async read(signal: AbortSignal): Promise<void> {
    // Whoever waits looks at the job again: it may have ended before the stream was open.
    const onConnect = (): void => {
      this.isConnected = true;
      for (const follower of this.everyone()) follower.wake();
    };
    for await (const message of this.events.messages({ types: TYPES, signal, onConnect })) {
      if (!message.data) continue;
      const event = JSON.parse(message.data) as { type: string; data: Job };
      for (const follower of this.followers.get(event.data.id) ?? []) {
        if (event.type === "job.progress") follower.onProgress?.(event.data);
        else follower.wake();
      }
    }
  }

  private *everyone(): Generator<JobFollower> {
    for (const followers of this.followers.values()) yield* followers;
  }
}

/** One wait for one job. */
export class JobFollower {
  /** The stream cannot be used; the job has to be polled. */
  isUnavailable = false;
  onProgress: ((job: Job) => void) | undefined;
  private isAwake = false;
  private resolve: (() => void) | undefined;

  constructor(readonly close: () => void) {}

  wake(): void {
    this.isAwake = true;
    this.resolve?.();
  }

  /** Resolves when the job may have ended, or after `milliseconds`. */
  async sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
    if (!this.isAwake) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const onAbort = (): void => this.resolve?.();
      await new Promise<void>((resolve) => {
        this.resolve = resolve;
        timer = setTimeout(resolve, milliseconds);
        signal?.addEventListener("abort", onAbort, { once: true });
        if (signal?.aborted) resolve();
      });
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      this.resolve = undefined;
    }
    this.isAwake = false;
    signal?.throwIfAborted();
  }
}
