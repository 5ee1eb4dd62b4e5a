/** What every operation takes besides its own parameters. */
export interface CallOptions {
  signal?: AbortSignal;
}

export interface PostOptions extends CallOptions {
  /** The most that this request may cost; above it, the API refuses with `SpendingLimitError` and charges nothing. */
  maxCredits?: number;
}

export interface KeyedOptions extends PostOptions {
  /** Identifies the request across retries; a random one by default. */
  idempotencyKey?: string;
}

/** An operation of the API, as generated from its OpenAPI document. */
export interface OperationDescription {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly takesBody: boolean;
  /** Whether it takes an `Idempotency-Key`. */
  readonly keyed: boolean;
  /** Whether repeating the request cannot run the work twice. */
  readonly replayable: boolean;
  readonly pathParameters: readonly (readonly [field: string, name: string])[];
  readonly queryParameters: readonly (readonly [field: string, name: string])[];
  readonly headerParameters: readonly (readonly [field: string, name: string])[];
}

/** The path and query of a call. */
export function buildPath(operation: OperationDescription, input: object): string {
  const fields = input as Record<string, unknown>;
  let path = operation.path;
  for (const [field, name] of operation.pathParameters) {
    path = path.replace(`{${name}}`, pathSegment(operation.name, field, fields[field]));
  }
  const query = new URLSearchParams();
  for (const [field, name] of operation.queryParameters) {
    const value = fields[field];
    if (value !== undefined && value !== null) query.append(name, String(value));
  }
  const text = query.toString();
  return text ? `${path}?${text}` : path;
}

/** URL parsers resolve dot segments, so that `..` would call another operation. */
function pathSegment(operation: string, field: string, value: unknown): string {
  const text = typeof value === "number" ? String(value) : value;
  if (typeof text !== "string" || text === "" || text === "." || text === "..") {
    throw new TypeError(`${operation}: ${field} must be the id of a resource, not ${JSON.stringify(value)}.`);
  }
  return encodeURIComponent(text);
}
