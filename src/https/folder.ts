import { mkdir, open, readFile, rename } from "node:fs/promises";
import { dirname, join } from "node:path";

import { createKey } from "./acme.ts";

const ACCOUNT = "account.pem";
const ATTEMPTS = "attempts.json";

/** When the authority may be asked again, so that a restart does not ask sooner. */
export interface Attempts {
  readonly failures: number;
  readonly nextMs: number;
}

/** Resolves with the key of the account at the authority; makes it if there is none. */
export async function accountKey(folder: string): Promise<string> {
  const path = join(folder, ACCOUNT);
  const stored = await readFile(path, "utf8").catch(ifMissing);
  if (stored !== undefined) return stored;
  const key = createKey();
  await writeSafely(path, key);
  return key;
}

export async function readAttempts(folder: string): Promise<Attempts> {
  const text = await readFile(join(folder, ATTEMPTS), "utf8").catch(ifMissing);
  try {
    const { failures, nextMs } = JSON.parse(text ?? "{}") as Partial<Attempts>;
    return { failures: Number(failures) || 0, nextMs: Number(nextMs) || 0 };
  } catch {
    return { failures: 0, nextMs: 0 };
  }
}

export const writeAttempts = (folder: string, attempts: Attempts) =>
  writeSafely(join(folder, ATTEMPTS), JSON.stringify(attempts));

/** After a power cut, the file has its old or its new content. Only its owner can read it. */
export async function writeSafely(path: string, text: string): Promise<void> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const temporary = `${path}.new`;
  await write(temporary, text);
  await rename(temporary, path);
  const opened = await open(folder);
  try {
    await opened.sync();
  } finally {
    await opened.close();
  }
}

async function write(path: string, text: string): Promise<void> {
  const file = await open(path, "w", 0o600);
  try {
    await file.chmod(0o600);
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

function ifMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}
