// Imported only when a path is given, so that browsers never load it.
import { open, rename, rm } from "node:fs/promises";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import type { DownloadSink } from "./downloads.js";
import type { ByteSource } from "./sources.js";

export async function openFile(path: string | URL): Promise<ByteSource> {
  const handle = await open(path, "r");
  const { size, mtimeMs } = await handle.stat();
  return {
    name: basename(typeof path === "string" ? path : fileURLToPath(path)),
    type: undefined,
    size,
    modified: Math.trunc(mtimeMs),
    async read(start, end) {
      const buffer = new Uint8Array(end - start);
      let filled = 0;
      while (filled < buffer.length) {
        const { bytesRead } = await handle.read(buffer, filled, buffer.length - filled, start + filled);
        if (bytesRead === 0) throw new Error("The file has become shorter while it was read.");
        filled += bytesRead;
      }
      return buffer;
    },
    close: () => handle.close(),
  };
}

/** Writes next to the target and renames at the end, so that a file of that name is always complete. */
export async function openTarget(path: string | URL): Promise<DownloadSink<string>> {
  const target = typeof path === "string" ? path : fileURLToPath(path);
  const partial = `${target}.part`;
  const handle = await open(partial, "w");
  let closed = false;
  const close = async (): Promise<void> => {
    if (!closed) await handle.close();
    closed = true;
  };
  return {
    async write(bytes, position) {
      let written = 0;
      while (written < bytes.length) {
        const result = await handle.write(bytes, written, bytes.length - written, position + written);
        written += result.bytesWritten;
      }
    },
    restart: () => handle.truncate(0),
    async finish() {
      await handle.sync();
      await close();
      await rename(partial, target);
      return target;
    },
    async abort() {
      await close();
      await rm(partial, { force: true });
    },
  };
}
