import { closeSync, openSync, writeSync } from "node:fs";

import { beginFile, explained } from "../backup/file.ts";
import { outputLost } from "./print.ts";

const STANDARD_OUTPUT = 1;
/** Whoever reads a pipe that does not block is given this long before the next try. */
const FULL_PAUSE_MS = 5;

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
      write: (bytes) =>
        writeAll(STANDARD_OUTPUT, bytes).catch((error: unknown) => {
          throw outputLost(error);
        }),
      async finish() {},
      [Symbol.dispose]() {},
    };
  const part = await explained(file, () => beginFile(file));
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

async function writeAll(descriptor: number, bytes: Uint8Array): Promise<void> {
  for (let written = 0; written < bytes.length;) {
    try {
      written += writeSync(descriptor, bytes, written);
    } catch (error) {
      if ((error as { code?: unknown }).code !== "EAGAIN") throw error;
      await Bun.sleep(FULL_PAUSE_MS);
    }
  }
}
