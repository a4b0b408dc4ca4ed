import { describe, expect, test } from "bun:test";
import { join } from "node:path";

import { ENGINES } from "../events/engines.ts";
import { callApi, createManagedLink, destinationOf, TARGET } from "../support/managed-links.ts";
import { type Settings, startService, temporaryFolder } from "../support/service.ts";
import { run } from "./run.ts";

describe.each(ENGINES)("an export and its import over %s", (engine, settingsOf) => {
  /** Creates a store with links of these codes, and exports it. */
  async function exportStore(path: string, codeCase: string, codes: readonly string[]) {
    const settings = await newStore(path, codeCase);
    {
      await using curt = await startService(settings, { folder: path });
      for (const code of codes) await createManagedLink(curt, { target: `${TARGET}?${code}`, code });
    }
    const file = join(path, "export");
    expect(await run(["export", file], settings)).toMatchObject({ code: 0 });
    return { file, settings };
  }

  async function newStore(path: string, CODE_CASE: string): Promise<Settings> {
    const sqlite = engine === "SQLite" && {
      DATABASE_URL: `sqlite:${join(path, `${crypto.randomUUID()}.db`)}`,
    };
    const DATA_DIR = join(path, crypto.randomUUID());
    return {
      ...(await settingsOf()),
      ...sqlite,
      DATA_DIR,
      CODE_CASE,
      PORT: "0",
      BASE_URL: "https://curt.example",
    };
  }

  test("keep folded codes and how they were written", async () => {
    using folder = temporaryFolder();
    const { file } = await exportStore(folder.path, "ignore", ["Team-Wiki", "lower"]);
    const lines = (await Bun.file(file).text()).split("\n").map((line) => line && JSON.parse(line));
    expect(lines[0]).toEqual({ format: "curt-export", version: 1, code_case: "ignore" });
    expect(lines.filter(({ kind }) => kind === "link")).toMatchObject([
      { code: "team-wiki", code_written: "Team-Wiki" },
      { code: "lower" },
    ]);
    const settings = await newStore(folder.path, "ignore");
    const imported = await run(["import", "--new", file], settings);
    expect(imported.stdout).toContain("has everything from the export");
    await using curt = await startService(settings, { folder: folder.path });
    expect((await callApi(curt, "GET", "/api/v1/links/TEAM-WIKI")).data.code).toBe("Team-Wiki");
  });

  test("report codes that differ only in capitals if the new store ignores them", async () => {
    using folder = temporaryFolder();
    const { file } = await exportStore(folder.path, "match", ["Abc", "aBC", "xyz", "ÉCOLE"]);
    const settings = await newStore(folder.path, "ignore");
    for (const options of [["--dry-run"], ["--new"]]) {
      const { code, stdout, stderr } = await run(["import", ...options, file], settings);
      expect([code, stderr]).toEqual([0, expect.stringContaining("from a store with CODE_CASE=match")]);
      expect(stdout).toMatch(/another link earlier in the file has the same code\n {2}line \d+: aBC\n/);
      expect(stdout).toContain("3 of 4 links");
    }
    await using curt = await startService(settings, { folder: folder.path });
    for (const address of ["abc", "ABC", "aBC"])
      expect(await destinationOf(curt, address)).toBe(`${TARGET}?Abc`);
    expect((await callApi(curt, "GET", "/api/v1/links/abc")).data.code).toBe("Abc");
    expect(await destinationOf(curt, encodeURIComponent("école"))).toContain(TARGET);
  });

  test("leave only the written capitals if the new store matches them", async () => {
    using folder = temporaryFolder();
    const { file } = await exportStore(folder.path, "ignore", ["Team-Wiki"]);
    const settings = await newStore(folder.path, "match");
    expect(await run(["import", "--new", file], settings)).toMatchObject({ code: 0 });
    await using curt = await startService(settings, { folder: folder.path });
    expect(await destinationOf(curt, "Team-Wiki")).toBe(`${TARGET}?Team-Wiki`);
    expect(await destinationOf(curt, "team-wiki")).toBe(404);
  });

  test("are refused with another CODE_CASE than the store's", async () => {
    using folder = temporaryFolder();
    const { file, settings } = await exportStore(folder.path, "ignore", ["Team-Wiki"]);
    const refused = await run(["import", file], { ...settings, CODE_CASE: "match" });
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain("CODE_CASE must be ignore");
  });
});

test("an import of a table asks for CODE_CASE=ignore if none of its codes has a capital", async () => {
  using folder = temporaryFolder();
  const table = (codes: readonly string[]) =>
    `code,target\n${codes.map((code) => `${code},${TARGET}`).join("\n")}\n`;
  const lower = Array.from({ length: 20 }, (_, nth) => `code-${nth}`);
  for (const [codes, CODE_CASE, isAsked] of [
    [lower, "match", true],
    [lower, "ignore", false],
    [[...lower, "Code"], "match", false],
    [lower.slice(1), "match", false],
  ] as const) {
    const settings = {
      DATABASE_URL: `sqlite:${join(folder.path, "curt.db")}`,
      CODE_CASE,
      PORT: "0",
      BASE_URL: "https://curt.example",
    };
    const { code, stderr } = await run(["import", "--dry-run", "-"], settings, table(codes));
    expect([code, stderr.includes("with CODE_CASE=ignore")]).toEqual([0, isAsked]);
  }
});
