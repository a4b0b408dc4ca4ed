import { expect } from "bun:test";

import * as fc from "fast-check";

import { type LinkKey, lookUpCode } from "../../src/links/code.ts";
import type { LinkStore, NewLink } from "../../src/links/link-store.ts";
import type { StoredLink } from "../../src/links/link.ts";
import { orNone } from "../../src/links/terms/term-values.ts";
import { isTargetWithin, type LinkQuery } from "../../src/moderation/link-query.ts";
import { newLink } from "./links.ts";
import type { TestedStore } from "./moderation.ts";
import { findAll, to } from "./search.ts";
import { destination, edit } from "./updates.ts";

const NOW = newLink("x").createdMs;
const HOSTS = "a.example b.a.example c.b.a.example a.co.uk b.co.uk someone.github.io 192.0.2.1".split(" ");
const DECISION = { who: "api", atMs: NOW } as const;

/** Some links of each kind. */
const someLinks = fc.array(
  fc.record({
    code: fc.string({ unit: fc.constantFrom("a", "b", "A", "가"), minLength: 1, maxLength: 9 }),
    host: fc.constantFrom(...HOSTS),
    path: fc.constantFrom("", "login", "%_", "길"),
    createdBy: fc.constantFrom(undefined, undefined, "mina", "joon"),
    title: fc.constantFrom(undefined, undefined, "Login 길", '가 "%_\\'),
    /** After its round started, unless the link was imported. */
    laterMs: fc.oneof({ weight: 999, arbitrary: fc.integer({ min: 0, max: 3 }) }, fc.constant(-10)),
    endsMs: fc.constantFrom(undefined, NOW - 1, NOW + 1),
    fate: fc.constantFrom("nothing", "nothing", "nothing", "edit", "disable", "erase"),
    newHost: fc.constantFrom(...HOSTS),
  }),
  { minLength: 1, maxLength: 250, size: "max" },
);

interface Round {
  readonly links: typeof someLinks extends fc.Arbitrary<infer Links> ? Links : never;
  readonly purges: boolean;
}

/** The history of a store before it is searched. */
const rounds: fc.Arbitrary<Round[]> = fc.array(fc.record({ links: someLinks, purges: fc.boolean() }), {
  minLength: 4,
  maxLength: 12,
});

const queries: fc.Arbitrary<LinkQuery[]> = fc.array(
  fc.record(
    {
      text: fc.constantFrom(
        "a",
        "aa",
        "A",
        "가",
        "login",
        "LOG",
        "%",
        '"%_\\',
        "길",
        "title",
        "example",
        "bb",
      ),
      host: fc.constantFrom(...HOSTS, "co.uk", "github.io", "example", "uk", "b.example", "2.1"),
      createdBy: fc.constantFrom("mina", "joon", "nobody"),
    },
    { requiredKeys: [] },
  ),
  { minLength: 20, maxLength: 20 },
);

/** Applies the nth round to a store. */
async function play(
  store: Pick<LinkStore, "insert" | "update" | "disable" | "erase" | "purge">,
  { links, purges }: Round,
  nth: number,
): Promise<void> {
  const inserted = links.map(({ code, host, path: end, laterMs, endsMs, createdBy, title }): NewLink => {
    const createdMs = NOW - 25 + nth * 2 + laterMs;
    const terms = orNone({ createdBy, title });
    const more = { createdMs, ...(endsMs && { endsMs }), ...(terms && { terms }), freeIfEndedByMs: NOW };
    return to(code, `https://${host}/${end}`, more);
  });
  await store.insert(inserted);
  const linksWith = (fate: string) => inserted.filter((_, at) => links[at]?.fate === fate);
  for (const [at, link] of inserted.entries()) {
    const { fate, newHost } = links[at] ?? {};
    // Before any of them ended.
    const change = edit({ destination: destination(`https://${newHost}/new`), passwordHash: "hash" }, 0);
    if (fate === "edit") await store.update(link, change);
  }
  await store.disable(linksWith("disable"), { ...DECISION, reason: "spam" });
  for (const link of linksWith("erase").slice(0, 5)) await store.erase(link, DECISION);
  if (purges) while ((await store.purge(NOW, 500)) === 500);
}

/** Compares random searches of random stores with a filter over all links. `open` returns a new store, and a search that reads a few rows at a time. */
export async function checkSearches(
  numRuns: number,
  open: () => Promise<{
    readonly store: TestedStore;
    readonly cramped: Pick<TestedStore, "search">;
    close(): Promise<void>;
  }>,
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(rounds, queries, fc.integer({ min: 5, max: 60 }), async (all, searches, limit) => {
      const { store, cramped, close } = await open();
      for (const [round, one] of all.entries()) await play(store, one, round);
      const links = await findAll(store, {}, 10_000);
      const codes = new Set(all.flatMap((round) => round.links.map(({ code }) => code as LinkKey)));
      const stored = await Promise.all([...codes].map((code) => store.find(code)));
      expect(links.toSorted(byCode)).toEqual(stored.filter((link) => link !== undefined).toSorted(byCode));
      for (const query of searches) {
        const expected = links.filter((link) => isFound(link, query));
        for (const searched of [store, cramped])
          expect([query, await findAll(searched, query, limit)]).toEqual([query, expected]);
      }
      await close();
    }),
    { numRuns, endOnFailure: true },
  );
}

function byCode(one: StoredLink, other: StoredLink): number {
  return one.code < other.code ? -1 : 1;
}

function isFound(
  { code, originalUrl, target, terms }: StoredLink,
  { text, host, createdBy }: LinkQuery,
): boolean {
  const start = text && lookUpCode(text, "match");
  const hasText = (wanted: string) =>
    (start !== undefined && code.startsWith(start)) ||
    `${originalUrl}\n${target}\n${terms?.title ?? ""}`.toLowerCase().includes(wanted.toLowerCase());
  return (
    (text === undefined || hasText(text)) &&
    (host === undefined || isTargetWithin(target, host)) &&
    (createdBy === undefined || terms?.createdBy === createdBy)
  );
}
