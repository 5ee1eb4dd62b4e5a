import assert from "node:assert/strict";
import { test } from "node:test";
import { WebhookVerificationError, verifyWebhook } from "../dist/index.js";

// Signed by the service's own code.
const { body, headers, secret, now } = JSON.parse(process.env.CUTROOM_SIGNED_WEBHOOK);
const options = { now: new Date(now) };

test("a delivery of the service is verified, as text, bytes and with any kind of headers", async () => {
  const bytes = new TextEncoder().encode(body);
  for (const [each, sent] of [
    [body, headers],
    [bytes, new Headers(headers)],
    [Buffer.from(bytes), Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]))],
  ]) {
    const event = await verifyWebhook(each, sent, secret, options);
    assert.equal(event.id, headers["webhook-id"]);
    assert.equal(event.type, "job.ready");
  }
});

test("one valid signature of several is enough", async () => {
  const rotated = { ...headers, "webhook-signature": `v1,AAAA ${headers["webhook-signature"]} v2,x` };
  await verifyWebhook(body, rotated, secret, options);
});

const changes = {
  "another body": [body.replace("ready", "failed"), headers, secret],
  "another id": [body, { ...headers, "webhook-id": "other" }, secret],
  "another time": [body, { ...headers, "webhook-timestamp": String(Number(headers["webhook-timestamp"]) + 1) }, secret],
  "another secret": [body, headers, `whsec_${btoa("another secret of the same kind")}`],
  "no signature": [body, { ...headers, "webhook-signature": undefined }, secret],
  "a signature that is not base64": [body, { ...headers, "webhook-signature": "v1,%%%" }, secret],
  "an empty secret": [body, headers, "whsec_"],
};
for (const [name, [changedBody, changedHeaders, changedSecret]] of Object.entries(changes)) {
  test(`${name} is rejected`, async () => {
    await assert.rejects(verifyWebhook(changedBody, changedHeaders, changedSecret, options), WebhookVerificationError);
  });
}

test("an old delivery is rejected, and one from the future", async () => {
  for (const minutes of [-6, 6]) {
    const later = { now: new Date(now + minutes * 60_000) };
    await assert.rejects(verifyWebhook(body, headers, secret, later), WebhookVerificationError);
  }
});
