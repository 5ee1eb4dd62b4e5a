/** A file to upload: a path or `file:` URL in Node.js, a `File` or `Blob` anywhere, or bytes in memory. */
export type UploadInput = string | URL | Blob | Uint8Array;

/** Random access to the bytes of a file. */
export interface ByteSource {
  readonly name: string | undefined;
  readonly type: string | undefined;
  readonly size: number;
  /** Milliseconds since 1970; tells whether a file has changed before its upload is resumed. */
  readonly modified: number | undefined;
  read(start: number, end: number): Promise<Uint8Array<ArrayBuffer>>;
  close(): Promise<void>;
}

export async function openSource(input: UploadInput): Promise<ByteSource> {
  if (typeof input === "string" || input instanceof URL) {
    const { openFile } = await import("./node_files.js");
    return openFile(input);
  }
  const blob = input instanceof Blob ? input : new Blob([input as Uint8Array<ArrayBuffer>]);
  const file = blob instanceof File ? blob : undefined;
  return {
    name: file?.name || undefined,
    type: blob.type || undefined,
    size: blob.size,
    modified: file?.lastModified,
    read: async (start, end) => new Uint8Array(await blob.slice(start, end).arrayBuffer()),
    close: async () => undefined,
  };
}
