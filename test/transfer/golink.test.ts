import { describe, expect, test } from "bun:test";
import { join } from "node:path";

import type { LinkKey } from "../../src/links/code.ts";
import { DAY_MS } from "../../src/links/time.ts";
import { runCommand } from "../cli/commands.ts";
import { callApi, destinationOf } from "../support/managed-links.ts";
import { openStoreOf, startService, temporaryFolder } from "../support/service.ts";
import { expectRefused } from "./import-checks.ts";

/** A line as golink writes it. */
const line = (Short: string, Long: string, more: object = {}) =>
  `${JSON.stringify({
    Short,
    Long,
    Created: "2022-06-02T10:00:00Z",
    LastEdit: "2022-06-03T10:00:00.123456789Z",
    Owner: "amelie@example.com",
    ...more,
  })}\n`;

/** Imports lines into a new store, and starts a service on it. */
async function importLines(
  lines: readonly string[],
  { codeCase = "ignore", options = [] }: { codeCase?: string; options?: readonly string[] } = {},
) {
  const folder = temporaryFolder();
  const file = join(folder.path, "links.json");
  await Bun.write(file, lines.join(""));
  const settings = {
    DATABASE_URL: `sqlite:${join(folder.path, "curt.db")}`,
    DATA_DIR: folder.path,
    CODE_CASE: codeCase,
    STATS_KEEP: "3650d",
    PORT: "0",
    BASE_URL: "http://go",
  };
  const command = ["import", "--new", ...options, file];
  const imported = await runCommand(command, settings);
  expect(imported).toMatchObject({ code: 0 });
  const again = await runCommand(command, settings);
  expect(again.stdout).toContain("0 of ");
  const curt = await startService(settings, { folder: folder.path });
  return {
    ...imported,
    curt,
    async [Symbol.asyncDispose]() {
      await curt[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

describe("curt import of golink's export", () => {
  test("forwards paths and queries as golink does", async () => {
    await using imported = await importLines([
      line("who", "http://directory/"),
      line("wiki", "https://wiki.example/pages?lang=en"),
      line("search", "https://search.example/?q={{QueryEscape .Path}}"),
      line("chat", "https://chat.example/channels/{{ PathEscape .Path }}/latest"),
      line("raw", "https://raw.example/{{.Path}}.html"),
    ]);
    expect(imported.stderr).toBe("");
    expect(imported.stdout).toContain("5 of 5 links added, with 0 visits; 5 of them with an owner; ");
    for (const [address, destination] of [
      ["who", "http://directory/"],
      ["WHO/amelie?x=1", "http://directory/amelie?x=1"],
      ["wiki/start", "https://wiki.example/pages/start?lang=en"],
      ["search/a%20b&c=d", "https://search.example/?q=a%20b%26c%3Dd"],
      ["chat/general", "https://chat.example/channels/general/latest"],
      ["chat", "https://chat.example/channels/latest"],
      ["raw/a", "https://raw.example/a.html"],
    ] as const) {
      const { headers } = await imported.curt.fetch(`/${address}`);
      expect([address, headers.get("location")]).toEqual([address, destination]);
    }
  });

  test("keeps owners, times, and both spellings of names with hyphens", async () => {
    await using imported = await importLines([
      line("Meeting-Notes", "https://example.com/notes"),
      line("nobodys", "https://example.com/nobody", { Owner: "", Created: "0001-01-01T00:00:00Z" }),
      line("plus", "https://example.com/plus", { Owner: "amelie+go@example.com" }),
    ]);
    expect(imported.stdout).toContain("4 of 4 links added, with 0 visits; 2 of them with an owner; ");
    expect(imported.stderr).toContain("1 link of the file has an owner whose name can't be one here");
    await using store = await openStoreOf(imported.curt);
    for (const [code, shown] of [
      ["meeting-notes", "Meeting-Notes"],
      ["meetingnotes", "MeetingNotes"],
    ] as const) {
      const link = await store.find(code as LinkKey);
      expect([code, link?.terms?.owner]).toEqual([code, "amelie@example.com"]);
      expect((await callApi(imported.curt, "GET", `/api/v1/links/${code}`)).data).toMatchObject({
        code: shown,
        created_at: "2022-06-02T10:00:00.000Z",
      });
    }
    for (const code of ["nobodys", "plus"])
      expect([code, (await store.find(code as LinkKey))?.terms?.owner]).toEqual([code, undefined]);
    expect((await store.find("nobodys" as LinkKey))?.createdMs).toBeGreaterThan(Date.now() - DAY_MS);
  });

  test("reports spellings that collide, names with dots, templates and destinations that it can't keep", async () => {
    const lines = [
      line("ab", "https://example.com/first"),
      line("a-b", "https://example.com/second"),
      line("v1.2", "https://example.com/"),
      line("today", 'http://wiki/{{.Now.Format "01-02-2006"}}'),
      line("me", "https://example.com/{{.User}}"),
      line("if", "https://example.com/{{if .Path}}search?q={{QueryEscape .Path}}{{end}}"),
      line("host", "https://{{.Path}}.example.com/"),
      line("literal", "https://example.com/%7bpath%7D"),
      line("alias", "/other"),
      line("spaces and-hyphens", "https://example.com/"),
    ];
    await using imported = await importLines(lines);
    const template = "its destination has a template in {{ }} that Curt can't fill in";
    const reported = imported.stdout.split("\n").slice(0, -2);
    expect(reported).toEqual([
      `left out, 3: ${template}`,
      "  line 4: today",
      "  line 5: me",
      "  line 6: if",
      "left out, 1: its destination has a {path} of its own, which Curt would replace",
      "  line 8: literal",
      "left out, 1: another link earlier in the file has the same code",
      "  line 2: ab",
      expect.stringContaining("left out, 1: code: A character is not allowed"),
      "  line 3: v1.2 (. (U+002E))",
      "left out, 1: URL: Its host must not have the place for the visitor’s path.",
      "  line 7: host",
      "left out, 1: URL: It must start with http:// or https://.",
      "  line 9: alias",
      "left out, 1: code: Spaces are not allowed. Try - or _ instead.",
      "  line 10: spaces and-hyphens",
    ]);
    expect(await destinationOf(imported.curt, "ab")).toBe("https://example.com/first");
    expect(await destinationOf(imported.curt, "a-b")).toBe("https://example.com/second");
  });

  test("adds golink's table of clicks to the link as it was written", async () => {
    using folder = temporaryFolder();
    const visits = join(folder.path, "visits.csv");
    const rows = [Date.UTC(2024, 1, 29), Date.UTC(2024, 1, 29, 23), Date.UTC(2024, 2, 1)];
    await Bun.write(
      visits,
      `code,day,visits\n${rows.map((ms, nth) => `meetingnotes,${ms / 1000},${nth + 1}\n`).join("")}`,
    );
    const lines = [line("Meeting-Notes", "https://example.com/notes")];
    await using imported = await importLines(lines, { options: ["--visits", visits] });
    expect(imported.stdout).toContain("2 of 2 links added, with 6 visits; ");
    await using store = await openStoreOf(imported.curt);
    const found = await store.find("meeting-notes" as LinkKey);
    const days = await store.daySums("meeting-notes" as LinkKey, found?.createdMs ?? 0, 1, 40_000);
    expect(days.map(({ visits: people }) => people)).toEqual([3, 3]);
  });

  test("says that a store with CODE_CASE=match loses other capitals", async () => {
    await using imported = await importLines([line("Abc", "https://example.com/")], { codeCase: "match" });
    expect(imported.stderr).toContain("import into a new store with CODE_CASE=ignore");
  });

  test("refuses lines that golink doesn't write", async () => {
    const first = line("a", "https://example.com/");
    await expectRefused(`${first}x\n`, "is broken at line 2: it is no JSON object.");
    await expectRefused(`${first}{"Short":"b"}\n`, "is broken at line 2: Long must be a text.");
    await expectRefused(line("a", "https://example.com/", { Created: "soon" }), "one of its dates");
    await expectRefused(`{"Short":"b","Long":"http://a/","Owner":"a\\u0000"}`, "Owner must not contain");
  });
});
