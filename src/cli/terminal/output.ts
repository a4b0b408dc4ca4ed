import { closeSync, openSync, writeSync } from "node:fs";

import { createPartFile, explained } from "../../backup/new-file.ts";
import { printBytes } from "./print.ts";

interface Output extends Disposable {
  /** Rejects with a `StoreUnusable` if there is no room, or nobody reads any more. */
  write(bytes: Uint8Array): Promise<void>;
  /** From now on, a file has its name. */
  finish(): Promise<void>;
}

/** A new file, or standard output for "-". Rejects with a `StoreUnusable` if it cannot be written. */
export async function openOutput(file: string): Promise<Output> {
  if (file === "-")
    return {
      write: async (bytes) => printBytes(bytes),
      async finish() {},
      [Symbol.dispose]() {},
    };
  const part = await explained(file, () => createPartFile(file));
  const descriptor = openSync(part.path, "r+");
  return {
    write: (bytes) => explained(file, () => writeAll(descriptor, bytes)),
    finish: () => explained(file, part.name),
    [Symbol.dispose]() {
      closeSync(descriptor);
      part[Symbol.dispose]();
    },
  };
}

/** The system may write less than it is asked to. */
async function writeAll(descriptor: number, bytes: Uint8Array): Promise<void> {
  for (let written = 0; written < bytes.length;) written += writeSync(descriptor, bytes, written);
}
