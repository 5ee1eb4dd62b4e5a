import assert from "node:assert/strict";
import { test } from "node:test";
import { JobCancelledError, NotFoundError, WaitTimeoutError } from "../dist/index.js";
import { EventParser } from "../dist/sse.js";
import { answered, faulty, open, refused, video } from "./stage.mjs";

const STREAM = "/v1/events/stream";
const count = (requests, path) => requests.filter((each) => each.url.pathname.startsWith(path)).length;
/** A job that stays queued: its upload is never sent. */
const queued = async (client) => {
  const { videoId } = await client.operations.createVideo({ body: { source: { type: "upload" } } });
  return client.jobs.get(`import_${videoId}`);
};

test("a job is waited for by the event stream, without polling", async () => {
  const { fetch, requests } = faulty();
  const client = open({ fetch });
  const progress = [];
  const uploaded = await client.videos.upload(video);
  const waits = [uploaded.wait({ onProgress: (job) => progress.push(job.status) }), uploaded.wait(), uploaded.wait()];
  await Promise.all(waits);
  assert.equal(uploaded.data.status, "ready");
  assert.equal(count(requests, STREAM), 1);
  assert.ok(count(requests, "/v1/jobs/") <= 15, String(count(requests, "/v1/jobs/")));
});

test("without the stream, the job is polled", async () => {
  const { fetch, requests } = faulty(refused(STREAM, 403, "INSUFFICIENT_SCOPE"));
  const uploaded = await open({ fetch }).videos.upload(video);
  await uploaded.wait();
  assert.equal(uploaded.data.status, "ready");
  assert.ok(requests.some((each) => each.url.searchParams.has("wait")));
});

test("a wait ends by its timeout, its signal and the cancellation of the job", async () => {
  const client = open();
  const job = await queued(client);
  await assert.rejects(job.wait({ timeout: 0.2 }), WaitTimeoutError);
  await assert.rejects(job.wait({ signal: AbortSignal.abort() }), { name: "AbortError" });
  const waiting = job.wait();
  await client.operations.deleteUpload({ videoId: job.videoId });
  await assert.rejects(waiting, JobCancelledError);
});

test("errors of a request reach whoever waits for its job", async () => {
  await assert.rejects(open().videos.handle("none").dub("pt").wait(), NotFoundError);
});

test("a stream that breaks goes on after its cursor: no event is missed or repeated", async () => {
  const publisher = open();
  const breaking = {
    matches: (url) => url.pathname === STREAM,
    act: async (send) => {
      const response = await send();
      const first = await readSome(response);
      return new Response(first, { headers: response.headers });
    },
  };
  const { fetch, requests } = faulty(breaking, answered(STREAM, 502, "bad gateway"));
  const stopping = new AbortController();
  const stream = open({ fetch }).events.stream({ types: ["video.updated"], signal: stopping.signal });
  const received = [];
  const reading = (async () => {
    for await (const event of stream) {
      received.push(event.data.title);
      if (received.length === 4) return stopping.abort();
    }
  })().catch((error) => error.name);
  const { videoId } = await publisher.operations.createVideo({ body: { source: { type: "upload" } } });
  const titles = ["one", "two", "three", "four"];
  while (count(requests, STREAM) === 0) await new Promise((resolve) => setImmediate(resolve));
  await connected(requests);
  for (const title of titles) await publisher.operations.updateVideo({ videoId, body: { title } });
  await reading;
  assert.deepEqual(received, titles);
  assert.ok(requests.filter((each) => each.headers.has("last-event-id")).length >= 1);
});

let opened;
async function connected() {
  await opened;
}
/** The beginning of a stream: up to its first event, then it ends. */
async function readSome(response) {
  let isOpen;
  opened ??= new Promise((resolve) => (isOpen = resolve));
  const reader = response.body.getReader();
  const stream = new ReadableStream({
    async pull(controller) {
      const { value } = await reader.read();
      isOpen?.();
      controller.enqueue(value);
      if (new TextDecoder().decode(value).includes("data:")) {
        await reader.cancel();
        controller.close();
      }
    },
  });
  return stream;
}

test("recorded events are listed once and in order, also after a cursor", async () => {
  const client = open();
  const expected = [];
  let after, second;
  for (let hasMore = true; hasMore; ) {
    const page = await client.operations.listEvents({ limit: 2, ...(after ? { after } : {}) });
    expected.push(...page.events.map((each) => each.id));
    ({ cursor: after, hasMore } = page);
    if (expected.length === 2) second = after;
  }
  assert.ok(expected.length >= 4);
  const listed = [];
  for await (const event of client.events.list()) listed.push(event.id);
  assert.deepEqual(listed.slice(0, expected.length), expected);
  for await (const event of client.events.list({ after: second })) {
    assert.equal(event.id, expected[2]);
    break;
  }
});

test("the stream is parsed wherever it is split", () => {
  const text = 'retry: 1000\nid: A\n\n: heartbeat\nevent: job.ready\r\ndata: {"a":\r\ndata: 1}\nid: B\n\ndata\n\nid: C\n\n';
  const expected = [
    { event: "message", data: "", id: "A" },
    { event: "job.ready", data: '{"a":\n1}', id: "B" },
    { event: "message", data: "", id: "B" },
    { event: "message", data: "", id: "C" },
  ];
  for (let size = 1; size <= text.length; size++) {
    const parser = new EventParser();
    const parts = text.match(new RegExp(`[^]{1,${size}}`, "g"));
    assert.deepEqual(parts.flatMap((part) => parser.push(part)), expected, `in parts of ${size}`);
  }
});
