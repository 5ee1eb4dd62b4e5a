// Runs the TypeScript client for `just prove clients`, whose docstring describes the protocol: one JSON request per line
// on standard input, one JSON response per line on standard output.
import { createHash } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { ApiError, Cutroom, ERROR_CLASSES, OPERATIONS } from "../dist/index.js";

const RENAMED = { stream: "streamSpeech", quote: "quoteCredits", reserve: "reserveCredits" };
const RETRIES = { firstDelayMs: 40, maxDelayMs: 200 };
const clients = new Map();

function client(apiKey) {
  if (!clients.has(apiKey)) clients.set(apiKey, new Cutroom({ retries: RETRIES, ...(apiKey ? { apiKey } : {}) }));
  return clients.get(apiKey);
}

/** Uploads a file; another process that is asked for the same file continues. */
async function upload(path, chunkBytes) {
  const name = createHash("sha256").update(path).digest("hex");
  const file = join(process.env.CUTROOM_STATE_DIR, `${name}.json`);
  await mkdir(process.env.CUTROOM_STATE_DIR, { recursive: true, mode: 0o700 });
  const resume = await readFile(file, "utf8").then(JSON.parse, () => undefined);
  const onSession = (state) => writeFile(file, JSON.stringify(state), { mode: 0o600 });
  const options = { chunkBytes, onSession, idempotencyKey: `upload-${name}`, ...(resume ? { resume } : {}) };
  const video = await client().videos.upload(path, options);
  await rm(file);
  return { videoId: video.id };
}

async function call(request) {
  const name = RENAMED[request.operation] ?? request.operation;
  const operation = OPERATIONS[name];
  const input = {};
  for (const place of ["path", "query"]) {
    const fields = new Map(operation[`${place}Parameters`].map(([field, wire]) => [wire, field]));
    for (const [wire, value] of Object.entries(request[place] ?? {})) input[fields.get(wire)] = value;
  }
  for (const [field, wire] of operation.headerParameters) {
    const given = Object.entries(request.headers ?? {}).find(([each]) => each.toLowerCase() === wire.toLowerCase());
    if (given) input[field] = given[1];
  }
  if (operation.takesBody) input.body = request.body ?? {};
  if (typeof request.maxCredits === "number") input.maxCredits = request.maxCredits;
  const result = await client(request.apiKey).operations[name](input);
  if (!(result instanceof Response)) return result ?? null;
  const reader = result.body.getReader(); // a stream: its first piece shows that it is one
  await reader.read();
  await reader.cancel();
  return null;
}

async function perform(request) {
  if (request.errors) return Object.fromEntries(Object.entries(ERROR_CLASSES).map(([code, each]) => [code, each.name]));
  if (request.upload) return upload(request.upload, request.chunkBytes);
  return call(request);
}

async function respond(request) {
  try {
    return { ok: true, result: await perform(request) };
  } catch (error) {
    const { code = null, status = null } = error instanceof ApiError ? error : {};
    return { ok: false, error: { class: error.name, code, status, message: error.message } };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await respond(JSON.parse(line)))}\n`);
}
