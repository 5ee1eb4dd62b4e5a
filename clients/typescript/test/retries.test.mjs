import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import * as cutroom from "../dist/index.js";
import { answered, faulty, lost, open, refused, truncated } from "./stage.mjs";

const FOLDERS = "/v1/folders";
const unique = () => `Folder ${crypto.randomUUID().slice(0, 8)}`;
const named = async (client, name) => (await client.operations.listFolders()).folders.filter((each) => each.name === name);

test("a lost response is repeated with the same key, and the work is done once", async () => {
  const { fetch, requests } = faulty(lost(FOLDERS, "POST"), truncated(FOLDERS), answered(FOLDERS, 503, "<h1>Busy</h1>"));
  const client = open({ fetch });
  const name = unique();
  const folder = await client.operations.createFolder({ body: { name } });
  assert.deepEqual((await named(client, name)).map((each) => each.id), [folder.id]);
  const keys = requests.filter((each) => each.method === "POST").map((each) => each.headers.get("idempotency-key"));
  assert.equal(keys.length, 4);
  assert.equal(new Set(keys).size, 1);
});

test("separate calls have separate keys", async () => {
  const { fetch, requests } = faulty();
  const client = open({ fetch });
  await client.operations.createFolder({ body: { name: unique() } });
  await client.operations.createFolder({ body: { name: unique() } });
  assert.notEqual(requests[0].headers.get("idempotency-key"), requests[1].headers.get("idempotency-key"));
});

const refusals = [
  ["INSUFFICIENT_CREDITS, even with Retry-After", 429, "INSUFFICIENT_CREDITS", { "retry-after": "0" }, 1],
  ["RATE_LIMITED without Retry-After", 429, "RATE_LIMITED", {}, 1],
  ["RATE_LIMITED with Retry-After", 429, "RATE_LIMITED", { "retry-after": "0" }, 2],
  ["RATE_LIMITED with a Retry-After of an hour", 429, "RATE_LIMITED", { "retry-after": "3600" }, 1],
  ["CONFLICT without Retry-After", 409, "CONFLICT", {}, 1],
  ["CONFLICT with Retry-After", 409, "CONFLICT", { "retry-after": "0" }, 2],
  ["FAILED_PRECONDITION", 409, "FAILED_PRECONDITION", { "retry-after": "0" }, 1],
  ["a stored 500", 500, "INTERNAL", {}, 1],
];
for (const [name, status, code, headers, attempts] of refusals) {
  test(`a POST that gets ${name} is sent ${attempts === 1 ? "once" : "again"}`, async () => {
    const { fetch, requests } = faulty(refused(FOLDERS, status, code, headers));
    const call = open({ fetch }).operations.createFolder({ body: { name: unique() } });
    if (attempts === 1) await assert.rejects(call, (error) => error.code === code && error.status === status);
    else await call;
    assert.equal(requests.length, attempts);
  });
}

test("a GET that gets a 500 is repeated", async () => {
  const { fetch, requests } = faulty(refused(FOLDERS, 500, "INTERNAL"));
  await open({ fetch }).operations.listFolders();
  assert.equal(requests.length, 2);
});

test("speech has no idempotency key, and is sent once", async () => {
  const { fetch, requests } = faulty(lost("/v1/text-to-speech", "POST"));
  const call = open({ fetch }).operations.speak({ voiceId: "none", body: { text: "Hello." } });
  await assert.rejects(call, cutroom.ConnectionFailedError);
  assert.equal(requests.length, 1);
  assert.equal(requests[0].headers.has("idempotency-key"), false);
});

test("a change that may have been followed by another is sent once", async () => {
  const client = open();
  const folder = await client.operations.createFolder({ body: { name: unique() } });
  const { fetch, requests } = faulty(lost(FOLDERS, "PATCH"));
  const call = open({ fetch }).operations.updateFolder({ folderId: folder.id, body: { name: unique() } });
  await assert.rejects(call, cutroom.ConnectionFailedError);
  assert.equal(requests.length, 1);
});

test("a deletion whose response was lost has succeeded", async () => {
  const client = open();
  const folder = await client.operations.createFolder({ body: { name: unique() } });
  const { fetch, requests } = faulty(lost(FOLDERS, "DELETE"));
  await open({ fetch }).operations.deleteFolder({ folderId: folder.id });
  assert.equal(requests.length, 2);
  await assert.rejects(client.operations.deleteFolder({ folderId: folder.id }), cutroom.NotFoundError);
});

test("a service that is not there is reported after the retries", async () => {
  const { fetch, requests } = faulty(...Array.from({ length: 9 }, () => lost(FOLDERS)));
  await assert.rejects(open({ fetch }).operations.listFolders(), cutroom.ConnectionFailedError);
  assert.equal(requests.length, 6);
});

test("the key is sent to no other origin", async () => {
  const seen = [];
  const other = createServer((request, response) => {
    seen.push(request.headers.authorization);
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  });
  await new Promise((resolve) => other.listen(0, "127.0.0.1", resolve));
  const target = `http://127.0.0.1:${other.address().port}/`;
  const redirecting = createServer((_, response) => response.writeHead(307, { location: target }).end());
  await new Promise((resolve) => redirecting.listen(0, "127.0.0.1", resolve));
  const client = open({ baseUrl: `http://127.0.0.1:${redirecting.address().port}`, apiKey: "cr_secret" });
  await assert.rejects(client.operations.listFolders(), cutroom.UnexpectedResponseError);
  await client.download(target);
  assert.deepEqual(seen, [undefined]);
  other.close();
  redirecting.close();
});

test("ids cannot lead to another operation", async () => {
  const { fetch, requests } = faulty();
  const client = open({ fetch });
  for (const videoId of ["..", ".", "", undefined]) await assert.rejects(client.operations.getVideo({ videoId }), TypeError);
  assert.equal(requests.length, 0);
  await assert.rejects(client.operations.getVideo({ videoId: "a/../../v1/folders" }), cutroom.NotFoundError);
  assert.equal(requests[0].url.pathname, "/v1/videos/a%2F..%2F..%2Fv1%2Ffolders");
});

test("the spending limit is sent with what can be charged, and the call's own comes first", async () => {
  const { fetch, requests } = faulty();
  const client = open({ fetch, maxCredits: 2.5 });
  await assert.rejects(client.operations.createDubs({ videoId: "none", body: { languages: ["pt"] } }), cutroom.NotFoundError);
  const call = client.operations.createDubs({ videoId: "none", body: { languages: ["pt"] }, maxCredits: 0.1239 });
  await assert.rejects(call, cutroom.NotFoundError);
  await client.operations.listFolders();
  const limits = requests.map((each) => each.headers.get("cutroom-max-credits"));
  assert.deepEqual(limits, ["2.5", "0.123", null]);
  assert.throws(() => open({ maxCredits: -1 }), RangeError);
});
