import { WebhookVerificationError } from "./errors.js";
import type { LibraryEvent } from "./generated/schemas.js";

/** Older deliveries could have been recorded and sent again by somebody else. */
const TOLERANCE_SECONDS = 300;

/** A verified webhook: the event, and the id by which repeated deliveries are recognized. */
export type WebhookEvent = Omit<LibraryEvent, "type"> & { readonly type: string };

type HeaderSource = Headers | Readonly<Record<string, string | string[] | undefined>>;

/**
 * Verifies a delivery as Standard Webhooks says, and returns its event. `body` must be the raw bytes or text: parsed
 * and serialized again, it has other bytes.
 */
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: HeaderSource,
  secret: string,
  options: { now?: Date } = {},
): Promise<WebhookEvent> {
  const id = header(headers, "webhook-id");
  const timestamp = header(headers, "webhook-timestamp");
  const now = (options.now ?? new Date()).getTime() / 1_000;
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(now - Number(timestamp)) > TOLERANCE_SECONDS) {
    throw new WebhookVerificationError("The delivery is too old, or from the future.");
  }
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const signed = concatenate(new TextEncoder().encode(`${id}.${timestamp}.`), bytes);
  const key = await importKey(secret);
  for (const each of header(headers, "webhook-signature").split(" ")) {
    // WebCrypto compares in constant time.
    if (each.startsWith("v1,") && (await matches(key, each.slice(3), signed))) return parse(bytes, id);
  }
  throw new WebhookVerificationError("No signature of the delivery is valid for this secret.");
}

async function importKey(secret: string): Promise<CryptoKey> {
  const bytes = decode(secret.replace(/^whsec_/, ""));
  if (!bytes || bytes.length === 0) throw new WebhookVerificationError("The secret is not one of a webhook endpoint.");
  return crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
}

async function matches(key: CryptoKey, signature: string, signed: Uint8Array<ArrayBuffer>): Promise<boolean> {
  const bytes = decode(signature);
  return bytes !== null && (await crypto.subtle.verify("HMAC", key, bytes, signed));
}

function decode(base64: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}

function parse(bytes: Uint8Array, id: string): WebhookEvent {
  const event = JSON.parse(new TextDecoder().decode(bytes)) as Omit<WebhookEvent, "id">;
  return { ...event, id };
}

function header(headers: HeaderSource, name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : lookup(headers, name);
  if (typeof value !== "string" || value === "") throw new WebhookVerificationError(`The header ${name} is missing.`);
  return value;
}

function lookup(headers: Readonly<Record<string, string | string[] | undefined>>, name: string): unknown {
  const found = Object.entries(headers).find(([each]) => each.toLowerCase() === name);
  return found?.[1];
}

function concatenate(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const result = new Uint8Array(first.length + second.length);
  result.set(first);
  result.set(second, first.length);
  return result;
}
