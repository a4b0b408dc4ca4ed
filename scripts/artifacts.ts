// `npm run artifacts`: makes all files of a release in dist/release, and what changed in dist/CHANGES.md.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { resolve } from "node:path";

import packageJson from "../package.json";
import { build, type Target } from "./build.ts";
import { describeLibraries, FILE_NAME } from "./licences.ts";
import { makePackage } from "./package.ts";

const root = resolve(import.meta.dir, "..");
const TARGETS: readonly Target[] = ["bun-linux-x64", "bun-linux-arm64", "bun-darwin-x64", "bun-darwin-arm64"];

interface Component {
  readonly "bom-ref": string;
  readonly name: string;
}

/** A software bill of materials, in CycloneDX. */
interface Materials {
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

/**
 * Lists what the program is made of. npm leaves out what the program and a tool for development both need, so this asks
 * for everything and follows the dependencies of the program.
 */
export async function listMaterials(): Promise<Materials> {
  const npm = Bun.spawn(["npm", "sbom", "--package-lock-only", "--sbom-format=cyclonedx"], {
    cwd: root,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const all = (await npm.stdout.json()) as Materials;
  const edges = new Map(all.dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
  const { name, version, dependencies } = packageJson;
  const direct = Object.entries(dependencies).map(([library, exact]) => `${library}@${exact}`);
  const used = new Set(direct);
  for (const ref of used) for (const other of edges.get(ref) ?? []) used.add(other);
  const self = `${name}@${version}`;
  return {
    ...all,
    // npm calls it like the folder.
    metadata: { ...all.metadata, component: { ...all.metadata.component, "bom-ref": self, name } },
    components: all.components.filter((component) => used.has(component["bom-ref"])),
    dependencies: [{ ref: self, dependsOn: direct }, ...all.dependencies.filter(({ ref }) => used.has(ref))],
  };
}

/** Returns what the changelog says of a version. */
export function changesOf(changelog: string, version: string): string {
  const [, changes = ""] = changelog.split(`\n## ${version}\n`);
  return (changes.split(/^## /m, 1)[0] ?? "").trim();
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
  await Bun.write(
    resolve(folder, `curt-${version}.cdx.json`),
    JSON.stringify(await listMaterials(), undefined, 2),
  );
  await Bun.write(resolve(folder, FILE_NAME), describeLibraries());
  await Bun.write(resolve(folder, "SHA256SUMS"), checksums(folder));
  const changes = changesOf(readFileSync(resolve(root, "CHANGELOG.md"), "utf8"), version);
  await Bun.write(resolve(root, "dist/CHANGES.md"), `${changes}\n`);
  return folder;
}

if (import.meta.main) console.log(await makeArtifacts());
