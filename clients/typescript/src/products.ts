import type { Cutroom } from "./client.js";
import { CutroomError } from "./errors.js";
import type { JobHandle } from "./jobs.js";
import type { CallOptions } from "./operation.js";

const AUDIO_ENDINGS = new Set([".m4a", ".aac", ".mp3", ".wav"]);

/** A file of a job that has several. */
export interface JobFile {
  readonly url: string;
  readonly ending: string;
}

/** The signed URL of what a finished job has made; `ending` chooses between its forms. */
export async function urlOfJob(client: Cutroom, job: JobHandle, ending: string, call: CallOptions): Promise<string> {
  const { type, language, product } = job.data;
  const video = client.videos.handle(job.videoId);
  switch (type) {
    case "dub": {
      if (!AUDIO_ENDINGS.has(ending)) return video.prepareDownload({ artifact: "language_video", language: language! }, call);
      const dub = await client.operations.getDub({ videoId: video.id, lang: language!, ...(product ? { product } : {}), ...call });
      return present(dub.audioUrl, "The dub has no audio.");
    }
    case "captions":
    case "transcript": {
      const lang = language ?? (await client.operations.getTranscript({ videoId: video.id, ...call })).language;
      return video.subtitlesUrl(present(lang, "There is no transcript."), ending === ".vtt" ? "vtt" : "srt", call);
    }
    case "import":
      return video.prepareDownload({ artifact: "source" }, call);
    case "download": {
      const downloadRequestId = job.id.slice("download_".length);
      return present((await client.operations.getDownload({ downloadRequestId, ...call })).url, "The file has expired.");
    }
    default:
      throw new CutroomError(`A job of type ${type} has no single file: use downloadAll.`);
  }
}

/** Every file of a finished job. */
export async function filesOfJob(client: Cutroom, job: JobHandle): Promise<JobFile[]> {
  const requestId = job.id.slice(job.id.indexOf("_") + 1);
  if (job.data.type === "shorts") {
    const { outputs } = await client.operations.getShorts({ shortsRequestId: requestId });
    const videos = outputs.map((each) => ({ url: each.videoUrl, ending: ".mp4" }));
    const covers = outputs.map((each) => ({ url: each.thumbnailUrl, ending: ".jpg" }));
    return [...videos, ...covers].filter((each): each is JobFile => Boolean(each.url));
  }
  if (job.data.type === "thumbnail") {
    const { outputImageUrls } = await client.operations.getThumbnail({ thumbnailRequestId: requestId });
    return (outputImageUrls ?? []).map((url) => ({ url, ending: ".jpg" }));
  }
  throw new CutroomError(`A job of type ${job.data.type} has no list of files: use download.`);
}

export function endingOf(name: string): string {
  return /\.[^./\\]+$/.exec(name)?.[0].toLowerCase() ?? "";
}

function present<T>(value: T | null | undefined, message: string): T {
  if (value === null || value === undefined) throw new CutroomError(message);
  return value;
}
