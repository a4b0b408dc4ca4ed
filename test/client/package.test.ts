import { afterAll, beforeAll, expect, test } from "bun:test";
import { copyFileSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import clientPackage from "../../client/package.json";
import rootPackage from "../../package.json";
import { buildClient, writeTypes } from "../../scripts/client.ts";
import { openBrowser } from "../browser/browser.ts";
import { type LocalService, ROOT, startService, temporaryFolder } from "../support/service.ts";

const CLIENT = join(ROOT, "client");

/** A folder with a project that has installed the package. */
const project = temporaryFolder();
let code: string;
let curt: LocalService;
beforeAll(async () => {
  curt = await startService();
  using packed = temporaryFolder();
  for (const file of ["package.json", "README.md", "LICENSE"])
    copyFileSync(join(CLIENT, file), join(packed.path, file));
  code = await buildClient(join(packed.path, "dist"));
  await run(["npm", "pack", "--silent"], packed.path);
  const archive = readdirSync(packed.path).find((name) => name.endsWith(".tgz")) ?? "";
  await Bun.write(join(project.path, "package.json"), '{ "type": "module" }');
  await run(
    ["npm", "install", "--offline", "--no-audit", "--no-fund", join(packed.path, archive)],
    project.path,
  );
});
afterAll(async () => {
  project[Symbol.dispose]();
  await curt[Symbol.asyncDispose]();
});

async function run(command: string[], cwd: string): Promise<string> {
  const child = Bun.spawn(command, { cwd, stdout: "pipe", stderr: "pipe" });
  const [exitCode, stdout, stderr] = await Promise.all([
    child.exited,
    child.stdout.text(),
    child.stderr.text(),
  ]);
  if (exitCode !== 0) throw new Error(`${command.join(" ")}: ${stdout}${stderr}`);
  return stdout.trim();
}

/**
 * A program that uses the client, as text, so that Node, Bun and browsers run the same. One attempt may take a third of the
 * timeout, which is no whole number here: Node refuses such a time.
 */
const USE = `
  const curt = createClient({ baseUrl, language: "en", timeoutMs: 100_000 });
  const { code, manage_key } = await curt.shorten("https://example.com/", { expire_duration: "1week" });
  const { visits } = await curt.links.get(code);
  const refused = await curt.shorten("https://example.com/", { custom_code: code }).catch((error) => error);
  const { target } = await curt.links.update(code, manage_key, { target: "https://example.com/b" });
  const { state } = await curt.links.withdraw(code, manage_key);
  const batch = [];
  for await (const link of curt.links.createAll([{ target: "https://example.com/" }])) batch.push(link.state);
  const result = JSON.stringify({ code, visits, refused: refused instanceof CurtError && refused.reason, named: refused.constructor.name, target, state, batch });`;
const RESULT = {
  code: expect.stringMatching(/^\w{7}$/),
  visits: 0,
  refused: "code.taken",
  // Node prints the name with an uncaught error.
  named: "CurtError",
  target: "https://example.com/b",
  state: "withdrawn",
  batch: ["active"],
};

test("types.ts matches the service's OpenAPI document", async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, "types.ts");
  await writeTypes(path);
  // If this fails, run `npm run client`.
  expect(readFileSync(join(CLIENT, "types.ts"), "utf8")).toBe(readFileSync(path, "utf8"));
});

test("the package has no dependencies, and has at most 5.5 kB", () => {
  expect(Object.keys(clientPackage)).not.toContain("dependencies");
  expect([clientPackage.version, clientPackage.license]).toEqual([rootPackage.version, rootPackage.license]);
  expect(readFileSync(join(CLIENT, "LICENSE"), "utf8")).toBe(readFileSync(join(ROOT, "LICENSE"), "utf8"));
  expect(code).not.toMatch(/\b(?:import|require)\b/);
  expect(Buffer.byteLength(code)).toBeLessThanOrEqual(5500);
});

for (const [name, program] of Object.entries({ Node: "node", Bun: process.execPath })) {
  test(`the package works on ${name}`, async () => {
    const source = `import { createClient, CurtError } from "@curt/client";
      const [, , baseUrl] = process.argv;
      ${USE}
      console.log(result);`;
    await Bun.write(join(project.path, "program.js"), source);
    expect(JSON.parse(await run([program, "program.js", curt.origin], project.path))).toEqual(RESULT);
  });
}

test("the package works in a browser, on a page of another origin", async () => {
  const type = "text/javascript";
  using site = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    routes: {
      "/": new Response("<!doctype html><title>A site</title>", { headers: { "Content-Type": "text/html" } }),
      "/client.js": new Response(code, { headers: { "Content-Type": type } }),
    },
  });
  const page = await (await openBrowser()).newPage();
  try {
    await page.goto(site.url.href);
    const script = `(async (baseUrl) => {
      const { createClient, CurtError } = await import("/client.js");
      ${USE}
      return result;
    })("${curt.origin}")`;
    expect(JSON.parse(await page.evaluate(script))).toEqual(RESULT);
  } finally {
    await page.close();
  }
});

test("the package has types for projects with the strictest settings", async () => {
  const source = `import { createClient, CurtError, type Link } from "@curt/client";

    const curt = createClient({ baseUrl: "https://go.example.com", fetch: (url, init) => fetch(url, init) });
    export const link: Link = await curt.links.get("code", { signal: AbortSignal.timeout(1000) });
    // @ts-expect-error: no such duration
    await curt.shorten("https://example.com/", { expire_duration: "2weeks" });
    export const isWaiting = (error: unknown) => error instanceof CurtError && (error.retryAfterMs ?? 0) > 0;
  `;
  await Bun.write(join(project.path, "typed.ts"), source);
  const compilerOptions = {
    target: "ES2023",
    module: "NodeNext",
    moduleResolution: "NodeNext",
    lib: ["ES2023", "DOM"],
    types: [],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noEmit: true,
  };
  await Bun.write(
    join(project.path, "tsconfig.json"),
    JSON.stringify({ compilerOptions, include: ["typed.ts"] }),
  );
  expect(await run([join(ROOT, "node_modules/.bin/tsc")], project.path)).toBe("");
});
