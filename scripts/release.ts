// `npm run release -- 0.2.0`: requires the repository's address, sets the version, runs the tests, builds all files of the release, and creates a commit and a tag. It
// publishes nothing: at the end it prints the command to push.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";

import packageJson from "../package.json";
import { changesOf } from "./artifacts.ts";
import { requireRepository } from "./repository.ts";

const root = resolve(import.meta.dir, "..");

async function run(...command: string[]): Promise<void> {
  const child = Bun.spawn(command, { cwd: root, stdio: ["ignore", "inherit", "inherit"] });
  if ((await child.exited) !== 0) throw new Error(`${command.join(" ")} failed`);
}

/** Throws if a folder has files that the tag would lack, or changes such as those of a release that failed. */
export function requireCommitted(folder: string): void {
  const { stdout, stderr, success } = Bun.spawnSync(["git", "status", "--porcelain"], { cwd: folder });
  if (!success) throw new Error(stderr.toString());
  const changes = stdout.toString();
  if (changes !== "") throw new Error(`commit or undo these changes first:\n${changes}`);
}

async function release(version: string): Promise<void> {
  requireRepository(packageJson.repository);
  if (!/^\d+\.\d+\.\d+$/.test(version) || Bun.semver.order(version, packageJson.version) < 0)
    throw new Error(`the version must be three numbers and not older than ${packageJson.version}`);
  if (Bun.spawnSync(["git", "rev-parse", "--verify", "--quiet", `v${version}`], { cwd: root }).success)
    throw new Error(`version ${version} has a tag already`);
  changesOf(readFileSync(resolve(root, "CHANGELOG.md"), "utf8"), version);
  requireCommitted(root);

  for (const folder of [".", "client"])
    await run("npm", "version", version, "--no-git-tag-version", "--allow-same-version", "--prefix", folder);
  // Downloads and images get its number, and the repository's address.
  await run("npm", "run", "reference");
  await run("npm", "run", "test:all");

  // In a process of its own, which reads the new version.
  await run("npm", "run", "artifacts");

  await run("git", "commit", "--all", "--allow-empty", "--message", `Curt ${version}`);
  await run("git", "tag", "--annotate", `v${version}`, "--message", `Curt ${version}`);
  console.log(
    "Push it with: git push --follow-tags. The workflow then builds dist/release again and publishes it.",
  );
}

if (import.meta.main) {
  try {
    await release(process.argv[2] ?? "");
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
