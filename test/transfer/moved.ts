import { expect } from "bun:test";
import { join } from "node:path";

import type { LinkKey } from "../../src/links/code.ts";
import { DAY_MS } from "../../src/links/time.ts";
import { runCommand } from "../cli/commands.ts";
import { openStoreOf, startHere, temporaryFolder } from "../service.ts";

interface Moved {
  readonly links: Readonly<Record<string, MovedLink>>;
  /** What the command says of each row that it leaves out: reason, then row. */
  readonly left?: Readonly<Record<string, readonly string[]>>;
  /** Options of the command. */
  readonly options?: readonly string[];
  /** A table of visits by day. */
  readonly visits?: string;
}

interface MovedLink {
  /** Where it leads with the query `utm=1`, or the status of the answer: 404 if it ended long ago. */
  readonly leads: string | number;
  readonly created?: string;
  readonly ends?: string;
  readonly visits?: number;
  readonly bots?: number;
  /** Visits by people. */
  readonly days?: Readonly<Record<string, number>>;
}

/** Imports a file to a store that is served, follows all links, reads their visits, and imports it again. */
export async function moveIn(content: string | Uint8Array, moved: Moved): Promise<void> {
  using folder = temporaryFolder();
  const file = join(folder.path, "file");
  await Bun.write(file, content);
  await using curt = await startHere();
  const settings = { DATABASE_URL: curt.databaseUrl, DATA_DIR: folder.path, PORT: "1", STATS_KEEP: "3650d" };
  const visitsFile = join(folder.path, "visits");
  if (moved.visits !== undefined) await Bun.write(visitsFile, moved.visits);
  const history = moved.visits === undefined ? [] : ["--visits", visitsFile];
  const command = ["import", ...history, ...(moved.options ?? []), file];
  const codes = Object.keys(moved.links);
  const sum = (values: readonly (number | undefined)[]) =>
    values.reduce<number>((all, one = 0) => all + one, 0);
  const all = sum(Object.values(moved.links).flatMap((link) => [link.visits, link.bots]));
  const visits = `${all} ${all === 1 ? "visit" : "visits"}`;

  const tried = await runCommand([...command.slice(0, 1), "--dry-run", ...command.slice(1)], settings);
  expect(tried.stderr).toBe("");
  expect(tried.stdout).toContain(`${codes.length} of `);
  expect(tried.stdout).toContain(` links would be added, with ${visits}; 0 already there`);
  expect((await curt.fetch(`/${encodeURIComponent(codes[0] ?? "")}`)).status).toBe(404);

  const imported = await runCommand(command, settings);
  expect(imported.stdout).toContain(` links added, with ${visits}; 0 already there`);
  const said = imported.stdout.split("\n").slice(0, -2);
  const expected = Object.entries(moved.left ?? {}).flatMap(([reason, rows]) => [
    `left out, ${rows.length}: ${reason}`,
    ...rows.map((row) => `  ${row}`),
  ]);
  expect(said).toEqual(expected);

  await using store = await openStoreOf(curt);
  for (const [code, link] of Object.entries(moved.links)) {
    const found = await store.find(code as LinkKey);
    if (found === undefined) throw new Error(`${code} is missing`);
    const [created, ends] = [found.createdMs, found.endsMs].map((ms) => new Date(ms).toISOString());
    expect([code, created, ends]).toEqual([code, link.created ?? created, link.ends ?? ends]);
    const sums = await store.sums(code as LinkKey, found.createdMs);
    expect([code, sums]).toEqual([code, { visits: link.visits ?? 0, bots: link.bots ?? 0 }]);
    const days = await store.daySums(code as LinkKey, found.createdMs, 1, 40_000);
    const byDay = days.map(({ day, visits: people }) => [
      new Date(day * DAY_MS).toISOString().slice(0, 10),
      people,
    ]);
    expect([code, Object.fromEntries(byDay)]).toEqual([code, link.days ?? {}]);
  }
  for (const [code, { leads }] of Object.entries(moved.links)) {
    const { status, headers } = await curt.fetch(`/${encodeURIComponent(code)}?utm=1`);
    expect([code, headers.get("location") ?? status]).toEqual([code, leads]);
  }
  const again = await runCommand(command, settings);
  expect(again.stdout).toContain(`; ${codes.length} already there; `);
  expect(again.stdout).toContain(`0 of `);
}

/** Expects that a file is refused, with words of the message. */
export async function refuse(content: string | Uint8Array, ...words: string[]): Promise<void> {
  using folder = temporaryFolder();
  const file = join(folder.path, "file");
  await Bun.write(file, content);
  const settings = { DATABASE_URL: `sqlite:${join(folder.path, "curt.db")}`, PORT: "1" };
  const refused = await runCommand(["import", file], settings);
  for (const word of words) expect(refused.stderr).toContain(word);
  expect(refused).toMatchObject({ code: 1, stdout: "" });
}
