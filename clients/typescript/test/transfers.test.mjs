import assert from "node:assert/strict";
import { appendFile, copyFile, mkdtemp, readFile, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { DownloadError, JobFailedError, UploadError } from "../dist/index.js";
import { answered, faulty, lost, open, video } from "./stage.mjs";

const CHUNK = 256 * 1024;
const UPLOADS = "/uploads/";
const folder = () => mkdtemp(join(tmpdir(), "cutroom-"));

/** A stream that fails after some bytes. */
function cut(response, bytes) {
  let left = bytes;
  const limit = new TransformStream({
    transform(chunk, controller) {
      if (chunk.length < left) {
        left -= chunk.length;
        return controller.enqueue(chunk);
      }
      controller.enqueue(chunk.subarray(0, left));
      controller.error(new Error("connection reset"));
    },
  });
  return new Response(response.body.pipeThrough(limit), { status: response.status, headers: response.headers });
}

test("an upload goes on after lost responses, and what is fetched is what was sent", async () => {
  const { fetch, requests } = faulty(
    lost(UPLOADS, "POST"),
    lost(UPLOADS, "PUT"),
    answered(UPLOADS, 503, { error: { code: 503, message: "busy" } }, { "retry-after": "0" }),
    lost("/v1/videos"),
  );
  const progress = [];
  const client = open({ fetch });
  const uploaded = await client.videos.upload(video, { chunkBytes: CHUNK, onProgress: ({ bytes }) => progress.push(bytes) });
  await uploaded.wait();
  const original = await readFile(video);
  assert.equal(progress.at(-1), original.length);
  const sent = requests.filter((each) => each.url.pathname.startsWith(UPLOADS)).reduce((sum, each) => sum + each.bytes, 0);
  assert.ok(sent <= original.length * 1.1 + CHUNK, `${sent} of ${original.length}`);
  assert.ok(requests.every((each) => each.url.pathname.startsWith("/v1/") === each.headers.has("authorization")));

  const target = join(await folder(), "source.mp4");
  await uploaded.download({ artifact: "source" }, target);
  assert.ok(original.equals(await readFile(target)));
  const blob = await uploaded.download({ artifact: "source" });
  assert.ok(original.equals(Buffer.from(await blob.arrayBuffer())));
});

test("an upload is resumed from its saved session by another client, and sends only what is missing", async () => {
  const stopping = new AbortController();
  let state;
  const first = open().videos.upload(video, {
    chunkBytes: CHUNK,
    signal: stopping.signal,
    onSession: (each) => void (state = JSON.parse(JSON.stringify(each))),
    onProgress: ({ bytes }) => bytes >= CHUNK && stopping.abort(),
  });
  await assert.rejects(first, { name: "AbortError" });
  const { fetch, requests } = faulty();
  const uploaded = await open({ fetch }).videos.upload(video, { chunkBytes: CHUNK, resume: state });
  assert.equal(uploaded.id, state.videoId);
  await uploaded.wait();
  const sent = requests.reduce((sum, each) => sum + each.bytes, 0);
  assert.equal(sent, state.size - CHUNK);
});

test("a file that has changed is not resumed", async () => {
  const path = join(await folder(), "video.mp4");
  await copyFile(video, path);
  let state;
  const uploaded = await open().videos.upload(path, { onSession: (each) => void (state = each) });
  await appendFile(path, "more");
  await assert.rejects(open().videos.upload(path, { resume: state }), UploadError);
  await uploaded.delete();
});

test("a session that has ended is started again", async () => {
  const { fetch } = faulty(answered(UPLOADS, 410, { error: { code: 410, message: "gone" } }));
  const stale = faulty({ matches: (url, init) => init.method === "PUT", act: async () => Response.json({}, { status: 410 }) });
  const sessions = [];
  const blob = new Blob([await readFile(video)], { type: "video/mp4" });
  const uploaded = await open({ fetch: stale.fetch }).videos.upload(blob, {
    fileName: "blob.mp4",
    onSession: (each) => void sessions.push(each.sessionUrl),
  });
  assert.equal(new Set(sessions).size, 2);
  assert.equal((await uploaded.wait()).data.title, "blob.mp4");
  await assert.rejects(open({ fetch }).videos.upload(new Uint8Array(0)), UploadError);
});

test("bytes that change on their way are rejected by the checksum", async () => {
  const bytes = new Uint8Array(await readFile(video));
  const corrupting = (input, init = {}) => {
    const body = init.method === "PUT" ? Uint8Array.from(init.body, (byte, index) => (index === 9 ? byte ^ 1 : byte)) : init.body;
    return fetch(input, { ...init, ...(body ? { body } : {}) });
  };
  await assert.rejects(open({ fetch: corrupting }).videos.upload(bytes), (error) => error.reason === "BadDigest");
});

test("a download goes on where it stopped", async () => {
  const client = open();
  const uploaded = await client.videos.upload(video);
  const url = await uploaded.prepareDownload({ artifact: "source" });
  const original = await readFile(video);
  const cutting = { matches: () => true, act: async (send) => cut(await send(), 300_000) };
  const { fetch, requests } = faulty(cutting, lost("/files/"), answered("/files/", 502, "bad gateway"));
  const directory = await folder();
  const target = join(directory, "source.mp4");
  await open({ fetch }).download(url, target);
  assert.ok(original.equals(await readFile(target)));
  assert.deepEqual(await readdir(directory), ["source.mp4"]);
  const ranges = requests.map((each) => each.headers.get("range"));
  assert.equal(ranges.length, 4);
  assert.equal(ranges[0], "bytes=0-");
  assert.ok(ranges.slice(1).every((each) => each === "bytes=300000-"), String(ranges));
  assert.ok(requests.every((each) => !each.headers.has("authorization")));
});

test("a URL that is not valid any more is reported, and leaves no file", async () => {
  const directory = await folder();
  const url = new URL("/files/fl_none/x.mp4", process.env.CUTROOM_BASE_URL).href;
  await assert.rejects(open().download(url, join(directory, "x.mp4")), (error) => error instanceof DownloadError && error.status === 403);
  assert.deepEqual(await readdir(directory), []);
});

test("a job that fails is a typed error with the reason", async () => {
  const uploaded = await open().videos.upload(new TextEncoder().encode("This is not a video."), { fileName: "notes.mp4" });
  await assert.rejects(uploaded.wait(), (error) => error instanceof JobFailedError && error.code === "UNSUPPORTED_SOURCE");
});
