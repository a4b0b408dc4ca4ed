// `npm run package`: builds the npm package that `npx curt serve` needs, as dist/curt-<version>.tgz. Its only dependency is
// Bun: all libraries are built in, in the versions that were tested.
import { copyFileSync, mkdirSync, rmSync } from "node:fs";
import { resolve } from "node:path";

import packageJson from "../package.json";
import { buildModules } from "./build.ts";
import { describeLibraries, FILE_NAME } from "./licences.ts";

const root = resolve(import.meta.dir, "..");

/** One package for each system. npm installs the one that fits, and no install script has to run. */
const SYSTEMS = [
  "linux-x64",
  "linux-aarch64",
  "linux-x64-musl",
  "linux-aarch64-musl",
  "darwin-x64",
  "darwin-aarch64",
];

const { name, version, description, license, repository } = packageJson;
/** Its package.json. */
export const CONTENTS = {
  name,
  version,
  description,
  license,
  // npm's provenance compares it.
  ...(repository !== "" && { repository: { type: "git", url: `git+https://github.com/${repository}.git` } }),
  type: "module",
  bin: { curt: "curt.sh" },
  os: ["linux", "darwin"],
  optionalDependencies: Object.fromEntries(
    SYSTEMS.map((system) => [`@oven/bun-${system}`, packageJson.dependencies.bun]),
  ),
};

/** Returns the path of the package. */
export async function makePackage(folder = resolve(root, "dist")): Promise<string> {
  const contents = resolve(root, "dist/npm");
  rmSync(contents, { recursive: true, force: true });
  mkdirSync(contents, { recursive: true });
  await buildModules(contents);
  copyFileSync(resolve(root, "scripts/launcher.sh"), resolve(contents, "curt.sh"));
  for (const file of ["README.md", "LICENSE"]) copyFileSync(resolve(root, file), resolve(contents, file));
  await Bun.write(resolve(contents, FILE_NAME), describeLibraries());
  await Bun.write(resolve(contents, "bunfig.toml"), "# Nothing to configure.\n");
  await Bun.write(resolve(contents, "package.json"), `${JSON.stringify(CONTENTS, undefined, 2)}\n`);
  const pack = Bun.spawn(["npm", "pack", "--silent", "--pack-destination", folder, contents], {
    cwd: root,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const file = (await pack.stdout.text()).trim();
  if ((await pack.exited) !== 0) throw new Error("npm pack failed");
  return resolve(folder, file);
}

if (import.meta.main) console.log(await makePackage());
