import { expect } from "bun:test";
import { join } from "node:path";

import type { LinkKey } from "../../src/links/code.ts";
import { DAY_MS } from "../../src/links/time.ts";
import { runCommand } from "../cli/commands.ts";
import { openStoreOf, startService, temporaryFolder } from "../support/service.ts";

interface ExpectedImport {
  readonly links: Readonly<Record<string, ExpectedLink>>;
  /** The rows that the command reports as skipped, by reason. */
  readonly skipped?: Readonly<Record<string, readonly string[]>>;
  /** Options of the command. */
  readonly options?: readonly string[];
  /** A table of visits by day. */
  readonly visits?: string;
}

interface ExpectedLink {
  /** The location of a visit with the query `utm=1`, or its status: 404 if the link ended long ago. */
  readonly location: string | number;
  readonly created?: string;
  readonly ends?: string;
  readonly visits?: number;
  readonly bots?: number;
  readonly title?: string;
  /** Visits by people. */
  readonly days?: Readonly<Record<string, number>>;
}

/** Imports a file into a store in use, reads and follows all links, and imports it again. */
export async function expectImported(content: string | Uint8Array, expected: ExpectedImport): Promise<void> {
  using folder = temporaryFolder();
  const file = join(folder.path, "file");
  await Bun.write(file, content);
  await using curt = await startService();
  const settings = { DATABASE_URL: curt.databaseUrl, DATA_DIR: folder.path, PORT: "1", STATS_KEEP: "3650d" };
  const visitsFile = join(folder.path, "visits");
  if (expected.visits !== undefined) await Bun.write(visitsFile, expected.visits);
  const history = expected.visits === undefined ? [] : ["--visits", visitsFile];
  const command = ["import", "--new", ...history, ...(expected.options ?? []), file];
  const codes = Object.keys(expected.links);
  const sum = (values: readonly (number | undefined)[]) =>
    values.reduce<number>((all, one = 0) => all + one, 0);
  const all = sum(Object.values(expected.links).flatMap((link) => [link.visits, link.bots]));
  const visits = `${all} ${all === 1 ? "visit" : "visits"}`;

  const dryRun = await runCommand([...command.slice(0, 1), "--dry-run", ...command.slice(1)], settings);
  expect(dryRun.stderr).toBe("");
  expect(dryRun.stdout).toContain(`${codes.length} of `);
  expect(dryRun.stdout).toContain(` links would be added, with ${visits}; 0 already there`);
  expect((await curt.fetch(`/${encodeURIComponent(codes[0] ?? "")}`)).status).toBe(404);

  const imported = await runCommand(command, settings);
  expect(imported.stdout).toContain(` links added, with ${visits}; 0 already there`);
  const reported = imported.stdout.replaceAll(visitsFile, "visits").split("\n").slice(0, -2);
  const skipped = Object.entries(expected.skipped ?? {}).flatMap(([reason, rows]) => [
    `left out, ${rows.length}: ${reason}`,
    ...rows.map((row) => `  ${row}`),
  ]);
  expect(reported).toEqual(skipped);

  await using store = await openStoreOf(curt);
  for (const [code, link] of Object.entries(expected.links)) {
    const found = await store.find(code as LinkKey);
    if (found === undefined) throw new Error(`${code} is missing`);
    const [created, ends] = [found.createdMs, found.endsMs].map((ms) => new Date(ms).toISOString());
    expect([code, created, ends]).toEqual([code, link.created ?? created, link.ends ?? ends]);
    expect([code, found.terms?.title]).toEqual([code, link.title]);
    const sums = await store.sums(code as LinkKey, found.createdMs);
    expect([code, sums]).toEqual([code, { visits: link.visits ?? 0, bots: link.bots ?? 0 }]);
    const days = await store.daySums(code as LinkKey, found.createdMs, 1, 40_000);
    const byDay = days.map(({ day, visits: people }) => [
      new Date(day * DAY_MS).toISOString().slice(0, 10),
      people,
    ]);
    expect([code, Object.fromEntries(byDay)]).toEqual([code, link.days ?? {}]);
  }
  for (const [code, { location }] of Object.entries(expected.links)) {
    const { status, headers } = await curt.fetch(`/${encodeURIComponent(code)}?utm=1`);
    expect([code, headers.get("location") ?? status]).toEqual([code, location]);
  }
  const second = await runCommand(command, settings);
  expect(second.stdout).toContain(`; ${codes.length} already there; `);
  expect(second.stdout).toContain(`0 of `);
}

/** Expects that an import of this file is refused with a message that contains all of `words`. */
export async function expectRefused(content: string | Uint8Array, ...words: string[]): Promise<void> {
  using folder = temporaryFolder();
  const file = join(folder.path, "file");
  await Bun.write(file, content);
  const settings = { DATABASE_URL: `sqlite:${join(folder.path, "curt.db")}`, PORT: "1" };
  const refused = await runCommand(["import", "--new", file], settings);
  for (const word of words) expect(refused.stderr).toContain(word);
  expect(refused).toMatchObject({ code: 1, stdout: "" });
}
