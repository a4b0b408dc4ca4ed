import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

import { drawParts } from "../../scripts/parts-picture.ts";
import { MIGRATIONS as ofPostgres } from "../../src/store/postgres/schema.ts";
import { MIGRATIONS as ofSqlite } from "../../src/store/sqlite/file/schema.ts";
import { ROOT } from "../support/service.ts";
import importsByPart from "./imports.json";

const SOURCE = join(ROOT, "src");

/** The parts and packages that each part may import. A file belongs to the longest part that its path starts with. */
const ALLOWED = new Map(
  Object.entries(importsByPart).map(([part, list]) => [part, list.split(" ")] as const),
);

/** Global state, time, randomness and unbounded input, and the only files that may use them. */
const RESERVED: Readonly<Record<string, readonly string[]>> = {
  "process.env": ["main.ts"],
  "process.exit": ["main.ts", "cli/serve.ts"],
  "Date.now": [
    "cli/stats.ts",
    "mcp/stdio.ts",
    "pages/home/script/draft.ts",
    "pages/my-links/script/saved-links.ts",
    // Certificates are for the time that browsers have.
    "config/certificate.ts",
    "server/core.ts",
  ],
  "crypto.getRandomValues": ["lib/random.ts"],
  "Math.random": [],
  // Everything else reads headers, bodies and queries through lib/bounds.ts, and so within their bounds.
  "headers.get(": [
    "api/get-link.ts",
    "http/client.ts",
    "lib/bounds.ts",
    // Headers of responses.
    "cli/prove/kill-rounds.ts",
    "http/limits/rate-limit-headers.ts",
    "pages/preview/script.ts",
    "pages/reference/script.ts",
    "pages/shared/script.ts",
    "moderation/blocklist/download.ts",
    "pages/reference/samples.ts",
  ],
  "request.arrayBuffer(": ["http/body.ts"],
  "request.formData(": [],
  "request.json(": [],
  "request.text(": [],
  "new URLSearchParams(queryOf": [],
  "new Response": [
    "http/responses.ts",
    "redirect/redirect.ts",
    "server/listen.ts",
    "server/metrics-server.ts",
  ],
  "new Worker": [
    "events/events-thread.ts",
    "moderation/blocklist/blocklist.ts",
    "server/views-thread.ts",
    "store/sqlite/sqlite-store.ts",
    "visits/journal/folding.ts",
  ],
};

/** In the order of the names. */
const MIGRATIONS = { postgres: ofPostgres, sqlite: ofSqlite };

interface Import {
  readonly from: string;
  readonly to: string;
}

function sourceFiles(): string[] {
  return [...new Bun.Glob("**/*.{ts,tsx}").scanSync(SOURCE)].filter((file) => !file.endsWith(".d.ts"));
}

function partOf(file: string): string {
  // The browser's half of the pages.
  if (/^pages\/[\w-]+\/script\b/.test(file)) return "pages/*/script";
  let part = file;
  while (!ALLOWED.has(part) && part.includes("/")) part = dirname(part);
  return part;
}

/** The packages (without a path) and files below `src/` that a file imports, if only for types. */
function importedBy(file: string, text: string): { readonly name: string; readonly isFile: boolean }[] {
  const statements = text.matchAll(
    /^(?:import|export)\s[^;"'`=()]*?\bfrom\s+"([^"]+)"|^import\s+"([^"]+)"|\b(?:import|require)\("([^"]+)"\)/gm,
  );
  return [...statements].map(([, from, bare, dynamic]) => {
    const specifier = from ?? bare ?? dynamic ?? "";
    if (!specifier.startsWith("."))
      return { name: specifier.match(/^(@[^/]+\/)?[^/]+/)?.[0] ?? "", isFile: false };
    const name = relative(SOURCE, resolve(SOURCE, dirname(file), specifier));
    return { name, isFile: !name.startsWith("..") };
  });
}

function importsOf(file: string, text: string): Import[] {
  return importedBy(file, text).map(({ name, isFile }) => ({
    from: partOf(file),
    to: isFile ? partOf(name) : name,
  }));
}

/** The first cycle in a graph, such as "a → b → a". Undefined if there is none. */
function findCycle(graph: ReadonlyMap<string, ReadonlySet<string>>): string | undefined {
  const done = new Set<string>();
  const path: string[] = [];
  function visit(node: string): string | undefined {
    if (path.includes(node)) return [...path.slice(path.indexOf(node)), node].join(" → ");
    if (done.has(node)) return undefined;
    path.push(node);
    for (const next of graph.get(node) ?? []) {
      const cycle = visit(next);
      if (cycle !== undefined) return cycle;
    }
    path.pop();
    done.add(node);
    return undefined;
  }
  return [...graph.keys()].map(visit).find((cycle) => cycle !== undefined);
}

/** The imports between files, or between the groups that `groupOf` puts them in. */
function graphOf(groupOf: (file: string) => string): Map<string, Set<string>> {
  const graph = new Map<string, Set<string>>();
  for (const file of sourceFiles()) {
    const from = groupOf(file);
    const imported = graph.get(from) ?? new Set();
    graph.set(from, imported);
    for (const { name, isFile } of importedBy(file, readFileSync(join(SOURCE, file), "utf8")))
      if (isFile && groupOf(name) !== from) imported.add(groupOf(name));
  }
  return graph;
}

function violations(file: string, text: string): string[] {
  const code = text.replace(/^\s*(\/\/|\/?\*).*$/gm, "");
  const imports = importsOf(file, text)
    .filter(({ from, to }) => from !== to && !ALLOWED.get(from)?.includes(to))
    .map(({ to }) => `${file} imports ${to}`);
  const names = Object.entries(RESERVED)
    .filter(([name, files]) => code.includes(name) && !files.includes(file))
    .map(([name]) => `${file} uses ${name}`);
  return [...imports, ...names];
}

test("every part imports only what imports.json allows, and uses reserved globals only in listed files", () => {
  const files = sourceFiles();
  expect(files.length).toBeGreaterThan(25);
  const found = files.flatMap((file) => violations(file, readFileSync(join(SOURCE, file), "utf8")));
  expect(found).toEqual([]);
});

// If this fails, move what both need into a file that both may import.
test("no file imports itself through others", () => {
  expect(findCycle(graphOf((file) => file))).toBeUndefined();
});

test("no folder imports itself through others", () => {
  // These group some files of the folder above, which they belong to.
  const groups = ["api/openapi", "http/limits", "links/terms"];
  const folderOf = (file: string) => {
    const folder = dirname(file);
    return groups.includes(folder) ? dirname(folder) : folder;
  };
  expect(findCycle(graphOf(folderOf))).toBeUndefined();
});

test("no folder has more than 20 files, except one file per endpoint in api/", () => {
  const counts = new Map<string, number>();
  for (const file of sourceFiles()) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
  const full = [...counts].filter(([folder, count]) => folder !== "api" && count > 20);
  expect(full).toEqual([]);
});

test("findCycle returns the first cycle", () => {
  const graph = new Map([
    ["a", new Set(["b"])],
    ["b", new Set(["c", "d"])],
    ["d", new Set(["b"])],
  ]);
  expect(findCycle(graph)).toBe("b → d → b");
});

test("every import in imports.json exists", () => {
  const used = new Set(
    sourceFiles().flatMap((file) =>
      importsOf(file, readFileSync(join(SOURCE, file), "utf8")).map(({ from, to }) => `${from} → ${to}`),
    ),
  );
  const listed = [...ALLOWED].flatMap(([from, allowed]) => allowed.map((to) => `${from} → ${to}`));
  expect(listed.filter((arrow) => !used.has(arrow))).toEqual([]);
});

describe("ARCHITECTURE.md", () => {
  const text = readFileSync(join(ROOT, "ARCHITECTURE.md"), "utf8");

  test("describes every part, and no other", () => {
    const listedParts = [...text.matchAll(/^- `([^`]+?)\/?`: /gm)].map(([, part = ""]) => part);
    expect(listedParts.toSorted()).toEqual([...ALLOWED.keys()].toSorted());
    for (const part of listedParts)
      expect(
        [...new Bun.Glob(part).scanSync({ cwd: SOURCE, onlyFiles: false })].length,
        part,
      ).toBeGreaterThan(0);
  });

  // If this fails, run `npm run reference`.
  test("has the picture of the imports that imports.json allows", () => {
    expect(/```mermaid[^]*?```/.exec(text)?.[0]).toBe(drawParts());
  });

  test("has walks whose every line starts with a link to a symbol", () => {
    const lines = text.match(/^\d+\. .*/gm) ?? [];
    expect(lines.length).toBe(20);
    expect(lines.filter((line) => !/^\d+\. \[`\w+`\]\(src\//.test(line))).toEqual([]);
  });

  test("links to symbols that are declared in their files", () => {
    const links = [...text.matchAll(/\[`(\w+)`\]\((src\/[^)]+)\)/g)];
    const wrong = links.filter(([, symbol = "", file = ""]) => {
      const declaration = new RegExp(`\\b(?:function|class|interface|type|const) ${symbol}\\b`);
      return !declaration.test(readFileSync(join(ROOT, file), "utf8"));
    });
    expect(wrong.map(([link]) => link)).toEqual([]);
  });
});

test("every engine with migrations is in this test", () => {
  const engines = [...new Bun.Glob("store/*/migrations").scanSync({ cwd: SOURCE, onlyFiles: false })];
  expect(engines.toSorted()).toEqual(Object.keys(MIGRATIONS).map((engine) => `store/${engine}/migrations`));
});

for (const [engine, listed] of Object.entries(MIGRATIONS)) {
  const folder = join(SOURCE, "store", engine, "migrations");
  const files = readdirSync(folder).toSorted();
  const textOf = (file: string) => readFileSync(join(folder, file), "utf8");

  test(`the migrations of ${engine} are numbered from 001 without gaps`, () => {
    const numbers = files.map((_, nth) => String(nth + 1).padStart(3, "0"));
    expect(files.map((file) => file.slice(0, file.indexOf("-")))).toEqual(numbers);
  });

  test(`the schema of ${engine} lists every migration in the order of the numbers`, () => {
    expect(listed.map((text) => files.find((file) => textOf(file) === text))).toEqual(files);
  });
}

test("violations returns planted violations", () => {
  const planted = {
    "links/links.ts imports store/open.ts": 'import { openStore } from "../store/open.ts";',
    "links/code.ts imports config": 'import type { Config } from "../config/config.ts";',
    "links/code.ts imports hono": 'import {\n  a,\n  b,\n} from "hono";',
    "api/api.ts imports store/sqlite": 'import { openSqliteStore } from "../store/sqlite/store.ts";',
    "pages/shared/layout.tsx imports server": 'export { listen } from "../../server/listen.ts";',
    "store/postgres/postgres-store.ts imports store/sqlite": 'import { x } from "../sqlite/file/file.ts";',
    "links/link.ts imports node:fs": 'import "node:fs";',
    "links/change.ts imports node:fs": 'const fs = await import("node:fs");',
    "links/target.ts imports node:fs": 'const fs = require("node:fs");',
    "links/links.ts uses Date.now": "const now = Date.now();",
    "api/api.ts uses process.env": 'process.env["X"]',
    "server/health.ts uses new Response": 'new Response("live");',
  };
  for (const [violation, text] of Object.entries(planted))
    expect(violations(violation.split(" ", 1)[0] ?? "", text)).toEqual([violation]);
});
