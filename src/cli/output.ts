import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from "node:fs";

/** Only its owner may read it: it holds the secret of all manage keys. */
const MODE = 0o600;
const STANDARD_OUTPUT = 1;
/** Whoever reads a pipe that does not block is given this long before the next try. */
const FULL_PAUSE_MS = 5;

interface Output extends Disposable {
  write(bytes: Uint8Array): Promise<void>;
  /** From now on, a file has its name. */
  finish(): void;
}

/** A new file, or standard output for "-". A text says why it cannot be written. */
export function openOutput(file: string): Output | string {
  if (file === "-")
    return { write: (bytes) => writeAll(STANDARD_OUTPUT, bytes), finish() {}, [Symbol.dispose]() {} };
  if (existsSync(file)) return `${file} is there already. Choose another name, or move it away.`;
  const part = `${file}.part`;
  let descriptor: number;
  try {
    rmSync(part, { force: true });
    descriptor = openSync(part, "wx", MODE);
  } catch (error) {
    return `${file} cannot be written: ${(error as Error).message}`;
  }
  return {
    write: (bytes) => writeAll(descriptor, bytes),
    finish() {
      fsyncSync(descriptor);
      renameSync(part, file);
    },
    [Symbol.dispose]() {
      closeSync(descriptor);
      rmSync(part, { force: true });
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
