// Dubs all lessons of a course into several languages, and fetches every lesson in each of them.
//
//     node course_languages.mjs lessons/ translated/ pt,es 25
//
// The last argument is the most that the dubs of one lesson may cost, in credits. Needs CUTROOM_API_KEY and
// CUTROOM_BASE_URL. Run again after an interruption: lessons that were uploaded are found by their title, dubs that were
// made are not made again, and finished files are skipped.
import { access, mkdir, readdir } from "node:fs/promises";
import { join, parse } from "node:path";
import { Cutroom, SpendingLimitError } from "@cutroom/client";

const [source, target, list, maxCredits] = process.argv.slice(2);
const languages = list.split(",");
const client = new Cutroom();
await mkdir(target, { recursive: true });

const uploaded = new Map();
for await (const video of client.videos.list()) uploaded.set(video.title, video);

const exists = (path) => access(path).then(() => true, () => false);

for (const name of (await readdir(source)).filter((each) => /\.(mp4|mov|mkv|webm)$/i.test(each)).sort()) {
  const path = join(source, name);
  const onProgress = ({ bytes, total }) => process.stderr.write(`\r${name}: ${Math.round((100 * bytes) / total)} %`);
  const video = uploaded.get(name) ?? (await client.videos.upload(path, { onProgress }));
  await video.wait();
  try {
    const jobs = await video.dubs(languages, { maxCredits: Number(maxCredits), acceptDraft: true });
    for (const job of jobs) {
      const file = join(target, `${parse(name).name}-${job.language}.mp4`);
      if (!(await exists(file))) await job.download(file);
      console.log(`${name}: ${job.language} is in ${file}`);
    }
  } catch (error) {
    if (!(error instanceof SpendingLimitError)) throw error;
    console.log(`${name}: skipped, the dubs would cost more than ${maxCredits} credits`);
  }
}
