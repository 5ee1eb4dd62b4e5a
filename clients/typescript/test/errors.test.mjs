import assert from "node:assert/strict";
import { test } from "node:test";
import * as cutroom from "../dist/index.js";
import { baseUrl, faulty, open, refused } from "./stage.mjs";

test("every error code of the service has a class of its own", async () => {
  const codes = JSON.parse(process.env.CUTROOM_ERROR_CODES);
  assert.ok(codes.length >= 20);
  const classes = new Set();
  for (const [code, status] of codes) {
    const { fetch } = faulty(refused("/v1/folders", status, code));
    const error = await open({ fetch, retries: { retries: 0 } }).operations.listFolders().catch((each) => each);
    assert.ok(error instanceof cutroom.ApiError, code);
    assert.notEqual(error.constructor, cutroom.ApiError, code);
    assert.equal(error.name, error.constructor.name);
    classes.add(error.constructor);
  }
  assert.equal(classes.size, codes.length);
});

test("a code of a later version is an ApiError", async () => {
  const { fetch } = faulty(refused("/v1/folders", 418, "TEAPOT"), refused("/v1/folders", 400, "constructor"));
  const client = open({ fetch });
  await assert.rejects(client.operations.listFolders(), (error) => error.constructor === cutroom.ApiError);
  await assert.rejects(client.operations.listFolders(), (error) => error.constructor === cutroom.ApiError);
});

test("invalid fields, unknown resources and wrong keys are told apart", async () => {
  const client = open();
  await assert.rejects(client.operations.createFolder({ body: { name: "All Videos" } }), (error) => {
    assert.ok(error instanceof cutroom.InvalidArgumentError);
    assert.deepEqual(error.fields.map((each) => each.path), ["name"]);
    assert.match(error.requestId, /^[0-9a-z]{26}$/);
    return true;
  });
  await assert.rejects(client.videos.get("none"), cutroom.NotFoundError);
  await assert.rejects(open({ apiKey: "cr_wrong" }).operations.listFolders(), cutroom.InvalidApiKeyError);
});

test("a request over the spending limit has an error of its own", async () => {
  const body = { error: { code: "FAILED_PRECONDITION", message: "No.", details: { reason: "over_limit" } } };
  const answer = () => Promise.resolve(Response.json(body, { status: 409 }));
  await assert.rejects(open({ fetch: answer }).operations.listFolders(), (error) => {
    return error instanceof cutroom.SpendingLimitError && error instanceof cutroom.FailedPreconditionError;
  });
});

test("settings are checked before a request is sent", () => {
  assert.throws(() => open({ baseUrl: "ftp://example.com" }), TypeError);
  assert.throws(() => open({ baseUrl: "https://example.com/other" }), TypeError);
  assert.throws(() => open({ apiKey: "cr_\n" }), TypeError);
  assert.doesNotThrow(() => open({ baseUrl: `${baseUrl}/v1` }));
});

test("the operations are those of the service", async () => {
  const document = await (await fetch(`${baseUrl}/v1/openapi.json`)).json();
  const known = Object.values(cutroom.OPERATIONS).map(({ method, path }) => `${method} ${path}`);
  const served = Object.entries(document.paths).flatMap(([path, verbs]) =>
    Object.keys(verbs).map((verb) => `${verb.toUpperCase()} ${path}`),
  );
  assert.deepEqual(known.sort(), served.sort());
});

test("lists are read page by page", async () => {
  const client = open();
  for (let index = 0; index < 5; index++) {
    await client.operations.createVideo({ body: { source: { type: "upload", fileName: `page-${index}.mp4` } } });
  }
  const { fetch, requests } = faulty();
  const titles = [];
  for await (const video of open({ fetch }).videos.list({ limit: 2 })) titles.push(video.data.title);
  for (let index = 0; index < 5; index++) assert.ok(titles.includes(`page-${index}.mp4`));
  assert.equal(requests.length, Math.ceil(titles.length / 2));
});
