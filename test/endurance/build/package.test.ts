import { expect, test } from "bun:test";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";

import bunPackage from "../../../node_modules/bun/package.json";
import { version } from "../../../package.json";
import { buildModules } from "../../../scripts/build.ts";
import { CONTENTS, makePackage } from "../../../scripts/package.ts";
import { ROOT, startProgram, temporaryFolder } from "../../support/service.ts";

async function run(command: string[], cwd: string): Promise<string> {
  const child = Bun.spawn(command, { cwd, stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  if ((await child.exited) !== 0) throw new Error(`${command.join(" ")}: ${stdout}${stderr}`);
  return stdout;
}

test("the package doesn't carry the folder of the machine that built it", async () => {
  using built = temporaryFolder();
  await buildModules(built.path);
  const modules = readdirSync(built.path).filter((name) => name.endsWith(".js"));
  expect(modules).not.toBeEmpty();
  for (const name of modules) expect(readFileSync(join(built.path, name), "utf8")).not.toContain(ROOT);
});

test("`npx curt serve` works in an empty folder, without an install script", async () => {
  using packed = temporaryFolder();
  using folder = temporaryFolder();
  const archive = await makePackage(packed.path);
  const install = [
    "npm",
    "install",
    "--offline",
    "--omit=optional",
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
  ];
  await run([...install, archive], folder.path);
  const licences = readFileSync(join(folder.path, "node_modules/curt/THIRD-PARTY-LICENSES"), "utf8");
  expect(licences).toContain("zod 4");
  const failed = await run(["node_modules/.bin/curt", "--version"], folder.path).catch(String);
  expect(failed).toContain("curt: there is no Bun for this system");

  // Where npm puts Bun. Its cache doesn't always have it, and tests use no registry.
  const machine = process.arch === "arm64" ? "aarch64" : process.arch;
  const program = join(folder.path, `node_modules/@oven/bun-${process.platform}-${machine}/bin/bun`);
  mkdirSync(dirname(program), { recursive: true });
  symlinkSync(process.execPath, program);
  expect(await run(["npx", "--offline", "curt", "--version"], folder.path)).toBe(`${version}\n`);

  // Settings for Bun and for other programs in that folder must not matter.
  await Bun.write(join(folder.path, "bunfig.toml"), 'preload = ["./missing.ts"]\n');
  await Bun.write(join(folder.path, ".env"), "PORT=x\n");
  await Bun.write(join(folder.path, "list"), "evil.example\n");
  const start = `cd "$1" && unset DATABASE_URL && exec npx --offline curt serve`;
  const curt = await startProgram(
    { PROCESSES: "2", BLOCKLIST: "list" },
    { command: ["/bin/sh", "-c", start, "sh", folder.path], folder: folder.path },
  );
  const created = await curt.shorten({ original_url: "https://example.com/", custom_code: "한글" });
  expect(created.status).toBe(201);
  expect((await curt.shorten({ original_url: "https://evil.example/" })).status).toBe(400);
  expect((await curt.fetch("/한글")).headers.get("location")).toBe("https://example.com/");
  const views = ["/", "/한글+", "/한글.png", "/docs", "/api/v1/links/한글/stats"];
  for (const path of views) expect([path, (await curt.fetch(path)).status]).toEqual([path, 200]);
  curt.kill("SIGTERM");
  // The end of all processes that write to the log, not only of npx.
  await curt.exited;
  expect(curt.logged.join("\n")).toContain('"reason":"SIGTERM","msg":"stopping"');

  const report = await run([join(folder.path, "node_modules/.bin/curt"), "check"], folder.path);
  expect(report).toContain(`store: fine (1 link in ${folder.path}/data/curt.db)`);
});

test("`npm run dev` ends when npm gets SIGTERM", async () => {
  using folder = temporaryFolder();
  const own = (path: string) => join(folder.path, path);
  mkdirSync(own("scripts"));
  // Copies, because the development database is beside the scripts.
  for (const path of ["package.json", "scripts/dev.ts", "scripts/development.ts"])
    copyFileSync(join(ROOT, path), own(path));
  for (const path of ["src", "node_modules"]) symlinkSync(join(ROOT, path), own(path));
  const command = ["/bin/sh", "-c", `cd "$1" && exec npm run dev`, "sh", folder.path];
  const dev = await startProgram({}, { command, folder: folder.path });
  dev.kill("SIGTERM");
  await dev.exited;
  expect(dev.logged.join("\n")).toContain('"reason":"SIGTERM","msg":"stopping"');
});

test("the package depends on Bun like this project", () => {
  const { optionalDependencies: all } = bunPackage;
  expect(all).toMatchObject(CONTENTS.optionalDependencies);
});
