// `npm run artifacts`: builds all files of a release in dist/release, and their changes in dist/CHANGES.md.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";

import packageJson from "../package.json";
import { build, type Target } from "./build.ts";
import { describeLibraries, FILE_NAME } from "./licences.ts";
import { makePackage } from "./package.ts";

const root = resolve(import.meta.dir, "..");
const TARGETS: readonly Target[] = ["bun-linux-x64", "bun-linux-arm64", "bun-darwin-x64", "bun-darwin-arm64"];

/** A package in package-lock.json. */
interface LockedPackage {
  readonly version: string;
  readonly license: string;
  readonly integrity: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

/**
 * Lists the program's libraries: a software bill of materials, in CycloneDX. `npm sbom` isn't in every npm that comes with Node 20,
 * and leaves out libraries that the program and a development tool both need. It has no serial number or time, so that the same
 * source always gives the same file.
 */
export function listMaterials() {
  const lock = JSON.parse(readFileSync(resolve(root, "package-lock.json"), "utf8")) as {
    readonly packages: Readonly<Record<string, LockedPackage>>;
  };
  const packageAt = (folder: string) => {
    const locked = lock.packages[folder];
    if (locked === undefined) throw new Error(`package-lock.json has no ${folder}`);
    return locked;
  };
  /** Resolves it like Node: in the folder of the package that needs it, then above. */
  const findFolder = (name: string, from: string): string => {
    const folder = join(from, "node_modules", name);
    if (folder in lock.packages || from === "") return folder;
    return findFolder(name, from.slice(0, Math.max(0, from.lastIndexOf("/node_modules/"))));
  };
  const neededBy = (folder: string) => {
    const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } = packageAt(folder);
    return Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })
      .filter((name) => peerDependenciesMeta?.[name]?.optional !== true)
      .map((name) => findFolder(name, folder));
  };
  const describe = (folder: string, type: "application" | "library") => {
    const name = folder === "" ? packageJson.name : folder.replace(/.*node_modules\//, "");
    const { version, license } = packageAt(folder);
    return {
      "bom-ref": `${name}@${version}`,
      type,
      name,
      version,
      purl: `pkg:npm/${name.replace("@", "%40")}@${version}`,
      licenses: [{ expression: license }],
    };
  };
  const refOf = (folder: string) => describe(folder, "library")["bom-ref"];

  const folders = new Set([""]);
  for (const folder of folders) for (const needed of neededBy(folder)) folders.add(needed);
  return {
    $schema: "http://cyclonedx.org/schema/bom-1.5.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.5",
    version: 1,
    metadata: {
      lifecycles: [{ phase: "pre-build" }],
      component: describe("", "application"),
    },
    components: [...folders].slice(1).map((folder) => ({
      ...describe(folder, "library"),
      hashes: [{ alg: "SHA-512", content: sha512Of(packageAt(folder)) }],
    })),
    dependencies: [...folders].map((folder) => ({
      ref: refOf(folder),
      dependsOn: neededBy(folder).map(refOf),
    })),
  };
}

function sha512Of({ integrity }: LockedPackage): string {
  return Buffer.from(integrity.replace("sha512-", ""), "base64").toString("hex");
}

/** Returns the changelog's section of a version. Throws if there is none. */
export function changesOf(changelog: string, version: string): string {
  const [, section = ""] = changelog.split(new RegExp(`\\n## ${version}(?: \\([-0-9]{10}\\))?\\n`));
  const changes = (section.split(/^## /m, 1)[0] ?? "").trim();
  if (changes === "") throw new Error(`CHANGELOG.md has no changes of ${version}`);
  return changes;
}

/** Returns the lines of a file of checksums, which `sha256sum --check` reads. */
export function checksums(folder: string): string {
  const sumOf = (file: string) =>
    new Bun.CryptoHasher("sha256").update(readFileSync(resolve(folder, file))).digest("hex");
  return readdirSync(folder)
    .toSorted()
    .map((file) => `${sumOf(file)}  ${file}\n`)
    .join("");
}

async function makeArtifacts(): Promise<string> {
  const { version } = packageJson;
  const folder = resolve(root, "dist/release");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const target of TARGETS)
    await build(resolve(folder, `curt-${version}-${target.replace("bun-", "")}`), target);
  await makePackage(folder);
  copyFileSync(resolve(root, "examples/curt.service"), resolve(folder, "curt.service"));
  await Bun.write(resolve(folder, `curt-${version}.cdx.json`), JSON.stringify(listMaterials(), undefined, 2));
  await Bun.write(resolve(folder, FILE_NAME), describeLibraries());
  await Bun.write(resolve(folder, "SHA256SUMS"), checksums(folder));
  const changes = changesOf(readFileSync(resolve(root, "CHANGELOG.md"), "utf8"), version);
  await Bun.write(resolve(root, "dist/CHANGES.md"), `${changes}\n`);
  return folder;
}

if (import.meta.main) console.log(await makeArtifacts());
