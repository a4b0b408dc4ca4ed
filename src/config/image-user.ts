import { lchownSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

import { ConfigError } from "./config.ts";

/**
 * Gives DATA_DIR to the user of our image, and continues as that user. The image starts as root, because many platforms mount a
 * volume that belongs to root. Does nothing elsewhere, and nothing if the platform chose another user.
 */
export function becomeImageUser({ IMAGE_USER, DATA_DIR: folder }: NodeJS.ProcessEnv): void {
  if (!IMAGE_USER || process.getuid?.() !== 0) return;
  const id = Number(IMAGE_USER);
  try {
    if (folder) giveFolder(folder, id);
    process.setgroups?.([]);
    process.setgid?.(id);
    process.setuid?.(id);
  } catch (error) {
    throw new ConfigError([
      `can't continue as user ${id} (${String(error)}): start the container with --user ${id}:${id}, or with the capabilities CHOWN, SETGID and SETUID`,
    ]);
  }
}

/** Once: with millions of files, it would take long. The folder comes last, so that an interrupted start tries again. */
function giveFolder(folder: string, id: number): void {
  mkdirSync(folder, { recursive: true });
  if (statSync(folder).uid !== id) giveTree(folder, id);
}

/** Doesn't follow symbolic links. */
function giveTree(folder: string, id: number): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) giveTree(path, id);
    else lchownSync(path, id, id);
  }
  lchownSync(folder, id, id);
}
