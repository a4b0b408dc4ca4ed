// The licences of all libraries that are built into the program, for a file beside every copy of it.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";

import packageJson from "../package.json";

const root = resolve(import.meta.dir, "..");

export const FILE_NAME = "THIRD-PARTY-LICENSES";
/** One licence of a choice is enough, such as "(MIT OR Apache-2.0)". */
export const ACCEPTED: readonly string[] = [
  "MIT",
  "Apache-2.0",
  "BSD-3-Clause",
  "ISC",
  "0BSD",
  // Public domain, like CC0: which country an address is in.
  "PDDL-1.0",
];

const MIT = (holder: string) => `The MIT License

Copyright (c) ${holder}

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation
files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy,
modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the
Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;

const textBeside = (name: string) => readFileSync(resolve(import.meta.dir, name), "utf8").trim();

const { webkit, tinycc } = process.versions;

/** The notice that sections 6 of the LGPL require with an executable. Commits are those of the Bun that runs this. */
const BUN = `${MIT("Oven")}

The executables of Curt, and its image, contain Bun. Its package for npm does not. Bun is linked with these libraries, whose use is
covered by the GNU Library General Public License, version 2, and the GNU Lesser General Public License, version 2.1. The texts of
both are below. Here is the source of what was linked:

  JavaScriptCore, WTF and bmalloc, parts of WebKit: https://github.com/oven-sh/WebKit/tree/${webkit}
  TinyCC: https://github.com/oven-sh/tinycc/tree/${tinycc}
  Bun: https://github.com/oven-sh/bun/tree/${Bun.revision}

You may change these libraries and make Curt's executable with them:

  1. Make a Bun with them, as https://github.com/oven-sh/bun/blob/bun-v${packageJson.dependencies.bun}/LICENSE.md says.
     That page also lists the other libraries that Bun contains, with their licences.
  2. In the sources of this version of Curt, run "npm ci", and then "/path/to/that/bun scripts/build.ts".

${textBeside("LGPL-2.0.txt")}

${textBeside("LGPL-2.1.txt")}`;

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly author?: string | { readonly name: string };
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

export interface Library {
  readonly name: string;
  readonly version: string;
  readonly licence: string;
  readonly text: string;
}

/** The installed libraries of the program and their dependencies, by name. Throws if one has no licence. */
export function listLibraries(): readonly Library[] {
  const libraries = new Map<string, Library>();
  function add(folder: string): void {
    const manifest = JSON.parse(readFileSync(resolve(folder, "package.json"), "utf8")) as Manifest;
    const { name, version, license: licence } = manifest;
    const id = `${name} ${version}`;
    if (libraries.has(id)) return;
    libraries.set(id, { name, version, licence, text: textOf(folder, manifest) });
    // Bun's own text lists its parts.
    if (name === "bun") return;
    for (const needed of Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })) {
      const at = find(needed, folder);
      if (at !== undefined) add(at);
    }
  }
  for (const name of Object.keys(packageJson.dependencies)) add(resolve(root, "node_modules", name));
  return [...libraries.values()].toSorted((a, b) =>
    `${a.name} ${a.version}` < `${b.name} ${b.version}` ? -1 : 1,
  );
}

/** Resolves a package like Node. Undefined if it is optional and not for this system. */
function find(name: string, from: string): string | undefined {
  for (let folder = from; folder.startsWith(root); folder = dirname(folder)) {
    const at = resolve(folder, "node_modules", name);
    if (existsSync(at)) return at;
  }
  return undefined;
}

/** The licence in its files. Some packages have it only in their README, or only name it. */
function textOf(folder: string, { name, license, author }: Manifest): string {
  if (name === "bun") return BUN;
  const files = readdirSync(folder).toSorted();
  const texts = files.filter((file) => /^(licen[cs]e|copying|notice|copyrightnotice)\b/i.test(file));
  if (texts.length > 0)
    return texts.map((file) => readFileSync(resolve(folder, file), "utf8").trim()).join("\n\n");
  const readme = files.find((file) => /^readme\b/i.test(file));
  const [, inReadme = ""] =
    readme === undefined
      ? []
      : (/^#*\s*licen[cs]e\b.*\n([^]*)/im.exec(readFileSync(resolve(folder, readme), "utf8")) ?? []);
  if (inReadme.includes("Permission is hereby granted")) return inReadme.trim();
  const holder = typeof author === "string" ? author : (author?.name ?? `the authors of ${name}`);
  if (license === "MIT") return MIT(holder);
  if (license === "PDDL-1.0") return "https://opendatacommons.org/licenses/pddl/1-0/";
  throw new Error(`${name} has no text of its licence, ${license}`);
}

/** The file. */
export function describeLibraries(): string {
  const parts = listLibraries().map(
    ({ name, version, licence, text }) => `${"=".repeat(80)}\n${name} ${version}: ${licence}\n\n${text}\n`,
  );
  return `Curt contains these libraries, which have licences of their own. Bun runs it, and is part of its executables.
With Bun, these contain JavaScriptCore and TinyCC, which are under the LGPL: see "bun" below.

Letters that look alike (src/pages/shared/look-alikes.ts) are from Unicode's confusables.txt: Unicode-3.0,
Copyright © 1991-2026 Unicode, Inc., https://www.unicode.org/license.txt

${parts.join("\n")}`;
}
