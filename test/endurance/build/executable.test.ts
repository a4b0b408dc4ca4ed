import { expect, test } from "bun:test";
import { copyFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { version } from "../../../package.json";
import { build } from "../../../scripts/build.ts";
import { assets } from "../../../src/pages/assets/branding.ts";
import { connect } from "../../mcp/connect.ts";
import { freePort } from "../../support/free-port.ts";
import { startProgram, temporaryFolder, untilLogged } from "../../support/service.ts";

test("the executable creates links, serves pages, takes over and checks a store without Node, Bun or sources", async () => {
  using built = temporaryFolder();
  using folder = temporaryFolder();
  const executable = join(folder.path, "curt");
  copyFileSync(await build(join(built.path, "curt")), executable);
  const bare = ["/usr/bin/env", "-i", `HOME=${folder.path}`];

  const versionRun = Bun.spawnSync([...bare, executable, "--version"], { cwd: folder.path });
  expect([versionRun.exitCode, versionRun.stdout.toString()]).toEqual([0, `${version}\n`]);

  const start = async (...more: string[]) => {
    const settings = [`PORT=${await freePort()}`, "BASE_URL=https://curt.example", ...more].join(" ");
    const inFolder = `cd "$1" && exec /usr/bin/env -i ${settings} ./curt serve`;
    const command = ["/bin/sh", "-c", inFolder, "sh", folder.path];
    return startProgram({}, { command, folder: folder.path });
  };
  const program = await start();
  const created = await program.shorten(
    { original_url: "https://example.com/", custom_code: "한글" },
    { "Accept-Language": "ko" },
  );
  expect(created.status).toBe(201);
  expect(((await created.json()) as { message: string }).message).toBe("URL이 성공적으로 단축되었습니다.");
  expect((await program.fetch("/한글")).headers.get("location")).toBe("https://example.com/");
  const shortened = Bun.spawn(
    [...bare, `CURT_URL=${program.origin}`, executable, "shorten", "https://example.com/"],
    {
      cwd: folder.path,
      stdout: "pipe",
    },
  );
  expect(await shortened.stdout.text()).toMatch(/^https:\/\/curt\.example\/\w{7}\/\n$/);
  const page = await program.fetch("/nothing", { headers: { Accept: "text/html" } });
  const text = await page.text();
  expect(text).toContain("No link has this address");
  const loaded = [...text.matchAll(/(?:src|href)="(\/\.assets\/[^"]+)"/g)].map(([, path = ""]) => path);
  expect(loaded).toContain(assets.script.path);
  for (const path of loaded) expect([path, (await program.fetch(path)).status]).toEqual([path, 200]);
  const looks = ["/한글+", "/한글.svg", "/한글.png", "/docs", "/api/v1/links/한글/stats"];
  for (const path of looks) expect([path, (await program.fetch(path)).status]).toEqual([path, 200]);
  // As upgrading.md says.
  copyFileSync(executable, `${executable}.new`);
  renameSync(`${executable}.new`, executable);
  program.kill("SIGUSR2");
  await untilLogged(program, "the old processes have ended");
  expect((await program.fetch("/한글")).headers.get("location")).toBe("https://example.com/");
  program.kill("SIGTERM");
  expect(await program.exited).toBe(0);

  writeFileSync(join(folder.path, "list"), "evil.example\n");
  const several = await start("PROCESSES=2", "BLOCKLIST=list");
  expect((await several.shorten({ original_url: "https://evil.example/" })).status).toBe(400);
  expect((await several.fetch("/한글")).headers.get("location")).toBe("https://example.com/");
  expect((await several.fetch("/한글+")).status).toBe(200);
  await using mcp = await connect({ CURT_URL: several.origin }, { command: [executable] });
  const looked = await mcp.call("look_inside", { link: "한글" });
  expect(looked.result).toMatchObject({ target: "https://example.com/" });
  several.kill("SIGTERM");
  expect(await several.exited).toBe(0);

  const checked = Bun.spawnSync([...bare, executable, "check"], { cwd: folder.path });
  expect([checked.exitCode, checked.stdout.toString()]).toEqual([
    0,
    expect.stringContaining(`store: fine (2 links in ${folder.path}/data/curt.db)`),
  ]);
});
