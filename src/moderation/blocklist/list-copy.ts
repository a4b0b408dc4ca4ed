import { copyFile, mkdir, rename, rm, stat, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Systems store times in different precision. */
const SAME_MS = 2;

/** The path of the copy of a list that is in effect. */
export function copyPath(folder: string, path: string): string {
  return join(folder, `${Bun.hash(path).toString(36)}.kept`);
}

/** Copies a list that has come into effect, unless another process has done that. */
export async function copyList(path: string, copy: string): Promise<void> {
  const { size, mtime } = await stat(path);
  const known = await stat(copy).catch(() => undefined);
  if (known?.size === size && Math.abs(known.mtimeMs - mtime.getTime()) < SAME_MS) return;
  await mkdir(dirname(copy), { recursive: true });
  const part = `${copy}.${process.pid}`;
  try {
    await copyFile(path, part);
    await utimes(part, mtime, mtime);
    await rename(part, copy);
  } finally {
    await rm(part, { force: true });
  }
}
