// Sends a dub to a native speaker for review, and publishes it once every comment is resolved.
//
//     node review_and_publish.mjs VIDEO_ID pt published/
//
// The first run prints a link for the reviewer, who needs no account. Run it again, for instance every hour: as long as
// comments are open it lists them, and when all are resolved it saves the video and revokes the link. A reviewer who has
// nothing to change comments "ok" and resolves the comment.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { Cutroom, paginate } from "@cutroom/client";

const [videoId, language, folder] = process.argv.slice(2);
const label = `Review of ${language}`;
const client = new Cutroom();
const video = await client.videos.get(videoId);

const { links } = await client.operations.listReviewLinks({ videoId });
const link = links.find((each) => each.label === label);
if (!link) {
  const body = { role: "edit", label, expiresInDays: 14 };
  const created = await client.operations.createReviewLink({ videoId, body });
  console.log(`Send this link to the reviewer: ${created.url}`);
  process.exit();
}

const comments = [];
const pages = (page) => client.operations.listReviewComments({ videoId, ...page });
for await (const comment of paginate(pages, (page) => page.comments)) {
  if (!comment.language || comment.language === language) comments.push(comment);
}
const open = comments.filter((each) => !each.resolved);
for (const { time, text } of open) console.log(`${time.toFixed(1)} s: ${text}`);
if (comments.length === 0 || open.length > 0) {
  console.log(`${open.length} comments are open, ${comments.length} were made.`);
  process.exit();
}

// Lines that the reviewer corrected are spoken again; the others stay as they are, and cost nothing.
const lines = await client.operations.listSegments({ videoId, lang: language });
if (lines.segments.some((each) => each.stale.length > 0)) {
  const body = { revision: lines.revision, transcriptRevision: lines.transcriptRevision };
  const types = ["dub.regenerated", "dub.regeneration_failed"];
  const { cursor: after } = await client.operations.listEvents({ types: types.join(","), limit: 100 });
  const { job } = await client.operations.regenerate({ videoId, lang: language, body, maxCredits: 5 });
  for await (const event of client.events.stream({ types, after })) {
    if (event.data.jobId === job.id) break;
  }
}
await mkdir(folder, { recursive: true });
const file = join(folder, `${videoId}-${language}.mp4`);
await video.download({ artifact: "language_video", language }, file);
await client.operations.revokeReviewLink({ videoId, linkId: link.id });
console.log(`Published ${file}`);
