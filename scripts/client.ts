// `npm run client`: regenerates the types of @curt/client and builds the package into client/dist.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { generateSource } from "oazapfts";

import { describeApi } from "../src/api/openapi/openapi.ts";
import { createDomains } from "../src/http/domain.ts";
import { VERSION } from "../src/lib/version.ts";
import { CURT } from "../src/pages/assets/branding.ts";
import { PUBLIC } from "../src/server/routes.ts";

const root = resolve(import.meta.dir, "..");
const folder = join(root, "client");

const HEAD = "// Made by `npm run client` from the service's OpenAPI document. Change src/api/ instead.\n\n";

/** The unformatted text of client/types.ts: the schemas of the OpenAPI document that the client uses. */
async function describeTypes(): Promise<string> {
  const place = mkdtempSync(join(tmpdir(), "curt-client-"));
  try {
    const document = join(place, "openapi.json");
    const api = describeApi(
      createDomains({ baseUrl: "https://curt.example", domains: [], codeCase: "match" }, CURT)[0],
      "en",
      {
        version: VERSION,
        endpoints: Object.values(PUBLIC),
        needsToken: false,
      },
    );
    await Bun.write(document, JSON.stringify(api));
    // The rest of the generated code is another client, which is four times as large and never retries.
    const generated = (await generateSource(document)).matchAll(
      /^export type (\w+) = .*(?:;$|\{$[\s\S]*?^\}.*;$)/gm,
    );
    const types = new Map([...generated].map(([text, name = ""]) => [name, text]));
    const code = ["client.ts", "batch.ts", "request.ts"].map((file) =>
      readFileSync(join(folder, file), "utf8"),
    );
    const used = new Set(namesIn(code.join("\n"), types));
    for (const name of used) for (const other of namesIn(types.get(name) ?? "", types)) used.add(other);
    const text = [...types].flatMap(([name, type]) => (used.has(name) ? [type] : [])).join("\n\n");
    return (
      HEAD +
      text
        // For projects with exactOptionalPropertyTypes.
        .replaceAll(/^( +\w+\?: .*);$/gm, "$1 | undefined;")
    );
  } finally {
    rmSync(place, { recursive: true });
  }
}

function namesIn(text: string, types: ReadonlyMap<string, string>): string[] {
  return [...text.matchAll(/\b[A-Z]\w+/g)].map(([name]) => name).filter((name) => types.has(name));
}

/** Writes the types, in this project's format. */
export async function writeTypes(path: string): Promise<void> {
  await Bun.write(path, await describeTypes());
  await run("oxfmt", path);
}

/** Builds the package for npm. Returns the minified code. */
export async function buildClient(outdir = join(folder, "dist")): Promise<string> {
  const entrypoints = [join(folder, "client.ts")];
  const result = await Bun.build({ entrypoints, outdir, minify: true, target: "browser", format: "esm" });
  const [code] = result.outputs;
  if (!result.success || code === undefined) throw new AggregateError(result.logs, "the build failed");
  await run(
    "tsc",
    "-p",
    folder,
    "--noEmit",
    "false",
    "--declaration",
    "--emitDeclarationOnly",
    "--outDir",
    outdir,
  );
  return code.text();
}

/** Runs a program of node_modules. */
export async function run(program: string, ...args: string[]): Promise<void> {
  const child = Bun.spawn([join(root, "node_modules/.bin", program), ...args], {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
  });
  if ((await child.exited) !== 0) throw new Error(`${program} failed`);
}

if (import.meta.main) {
  await writeTypes(join(folder, "types.ts"));
  const code = await buildClient();
  console.log(`client/dist/client.js: ${code.length} bytes`);
}
