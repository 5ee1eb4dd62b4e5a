// Receives webhooks, verifies them, and saves the video in the language of every dub that is ready.
//
//     CUTROOM_WEBHOOK_SECRET=whsec_… node webhook_receiver.mjs received/ 8080
//
// Put a server with TLS in front of it, and register its URL: POST /v1/webhook-endpoints. It responds at once and works
// afterwards, because Cutroom waits 15 seconds for a response. Needs CUTROOM_API_KEY and CUTROOM_BASE_URL.
import { mkdir } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { Cutroom, verifyWebhook } from "@cutroom/client";

const [folder, port] = process.argv.slice(2);
const secret = process.env.CUTROOM_WEBHOOK_SECRET;
const MAX_BYTES = 1024 * 1024;
const client = new Cutroom();
const seen = new Set(); // an event may arrive twice; keep the ids in a database if you run several receivers
await mkdir(folder, { recursive: true });

async function readBody(request) {
  const parts = [];
  let size = 0;
  for await (const part of request) {
    size += part.length;
    if (size > MAX_BYTES) throw new Error("The body is too large.");
    parts.push(part);
  }
  return Buffer.concat(parts);
}

async function save(job) {
  const file = join(folder, `${job.videoId}-${job.language}.mp4`);
  await client.jobs.handle(job.id).download(file);
  console.log(`saved ${file}`);
}

const server = createServer(async (request, response) => {
  let event;
  try {
    event = await verifyWebhook(await readBody(request), request.headers, secret);
  } catch (error) {
    console.error(`rejected: ${error.message}`);
    return response.writeHead(400).end();
  }
  response.writeHead(204).end();
  if (seen.has(event.id)) return;
  seen.add(event.id);
  if (event.type !== "job.ready" || event.data.type !== "dub") return;
  await save(event.data).catch((error) => {
    seen.delete(event.id); // a redelivery tries again
    console.error(`${event.data.id}: ${error.message}`);
  });
});
server.listen(Number(port), () => console.log(`listening on ${server.address().port}`));
