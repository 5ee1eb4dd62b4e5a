/** One message of a stream of server-sent events. */
export interface ServerSentEvent {
  readonly event: string;
  readonly data: string;
  /** The last id that the stream has sent: where to continue. */
  readonly id: string;
}

/** Parses a stream as the HTML standard says. An `id` without data yields a message with empty `data`. */
export class EventParser {
  private buffer = "";
  private event = "";
  private data: string[] = [];
  private id = "";
  private hasId = false;

  /** Adds text and returns the messages that it completes. */
  push(text: string): ServerSentEvent[] {
    this.buffer += text;
    const messages: ServerSentEvent[] = [];
    for (;;) {
      const match = /\r\n|\n|\r(?!$)/.exec(this.buffer);
      if (!match) return messages;
      const line = this.buffer.slice(0, match.index);
      this.buffer = this.buffer.slice(match.index + match[0].length);
      const message = this.take(line);
      if (message) messages.push(message);
    }
  }

  private take(line: string): ServerSentEvent | null {
    if (line === "") return this.dispatch();
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") this.event = value;
    if (field === "data") this.data.push(value);
    if (field === "id" && !value.includes("\0")) {
      this.id = value;
      this.hasId = true;
    }
    return null;
  }

  private dispatch(): ServerSentEvent | null {
    const isEmpty = this.data.length === 0 && !this.hasId;
    const message = { event: this.event || "message", data: this.data.join("\n"), id: this.id };
    this.event = "";
    this.data = [];
    this.hasId = false;
    return isEmpty ? null : message;
  }
}
