import { expect, test } from "bun:test";

import * as fc from "fast-check";

import type { Code } from "../../src/links/code.ts";
import type { Link } from "../../src/links/link.ts";
import type { Target } from "../../src/links/target.ts";
import { createLinkTable, type Entry, hashOf } from "../../src/redirect/link-table.ts";

const ROOMY_BYTES = 4 * 1024 * 1024;
const TIGHT_BYTES = 4096;

function linkOf(code: string, target: string, createdMs = 5, endsMs = 7): Link {
  return { code: code as Code, originalUrl: "", target: target as Target, createdMs, endsMs };
}

/** The fields of an entry that the recorder writes. */
interface RecorderFields {
  readonly sequence: number;
  readonly place: number;
  readonly keyDay: number;
  readonly key0: number;
  readonly key1: number;
}

const NO_FIELDS: RecorderFields = { sequence: 0, place: 0, keyDay: -1, key0: 0, key1: 0 };

type Step =
  | { readonly type: "set"; readonly link: Link }
  | { readonly type: "note"; readonly code: string; readonly fields: RecorderFields }
  | { readonly type: "get" | "delete"; readonly code: string }
  | { readonly type: "clear" };

// The first two pairs have the same hash.
const ALIKE = ["declinate", "macallums", "altarage", "zinke"];
const CODES = [...ALIKE, "a", "b", "한글", "한국", "❤", "é", "é".repeat(64)];
const codes = fc.oneof(
  fc.constantFrom(...CODES),
  fc.string({ minLength: 1, maxLength: 3 }),
  fc.string({ unit: "binary", minLength: 1, maxLength: 64 }),
);
const int32s = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
const times = fc.integer({ min: 0, max: 253_402_214_400_000 });
const links = fc
  .tuple(codes, fc.string({ unit: "binary-ascii", maxLength: 300 }), times, times)
  .map((parts) => linkOf(...parts));
const recorderFields: fc.Arbitrary<RecorderFields> = fc.record({
  sequence: fc.nat(),
  place: fc.nat(),
  keyDay: fc.nat(),
  key0: int32s,
  key1: int32s,
});
const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ type: fc.constant("set" as const), link: links }) },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant("note" as const), code: codes, fields: recorderFields }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constantFrom("get" as const, "delete" as const), code: codes }),
  },
  { weight: 1, arbitrary: fc.constant({ type: "clear" as const }) },
);

/** Everything that was set. Never forgets anything to make room. */
type Model = Map<string, { readonly link: Link; fields: RecorderFields }>;

function contentOf(entry: Entry) {
  const { at: _, changes: _changes, ...rest } = entry;
  return rest;
}

function expected({ link, fields }: NonNullable<ReturnType<Model["get"]>>) {
  const { code, target, createdMs, endsMs } = link;
  return {
    keyPrefix: "",
    table: "link" as Entry["table"],
    text: code as string,
    createdMs,
    endsMs,
    target: target as string,
    ...fields,
  };
}

/** Checks each step against the model. `isExact` if the table has room for everything. */
function runSteps(bytes: number, list: readonly Step[], isExact: boolean): void {
  const table = createLinkTable(bytes);
  const model: Model = new Map();
  const check = (code: string): Entry | undefined => {
    const entry = table.get(code);
    const known = model.get(code);
    if (entry !== undefined) expect(known && expected(known)).toEqual(contentOf(entry));
    else if (isExact) expect(known).toBeUndefined();
    else model.delete(code);
    return entry;
  };
  for (const step of list) {
    if (step.type === "set") {
      const { link } = step;
      const stale = check(link.code);
      const known = { link, fields: NO_FIELDS };
      expect(contentOf(table.set(link))).toEqual(expected(known));
      model.set(link.code, known);
      // Fields of an outdated entry must not reach the new link.
      if (stale !== undefined) table.keep(Object.assign(stale, { sequence: 9, place: 9 }));
      expect(check(link.code)).toBeDefined();
    } else if (step.type === "note") {
      const entry = check(step.code);
      const known = model.get(step.code);
      if (entry === undefined || known === undefined) continue;
      table.keep(Object.assign(entry, step.fields));
      known.fields = step.fields;
      check(step.code);
    } else if (step.type === "get") {
      check(step.code);
    } else if (step.type === "delete") {
      table.delete(step.code);
      model.delete(step.code);
      expect(table.get(step.code)).toBeUndefined();
    } else {
      table.clear();
      for (const code of model.keys()) expect(table.get(code)).toBeUndefined();
      model.clear();
    }
  }
  const present = [...model.keys()].filter((code) => check(code) !== undefined);
  expect(table.size).toBe(present.length);
}

test("a table with room behaves like a Map", () => {
  fc.assert(fc.property(fc.array(steps, { maxLength: 200 }), (list) => runSteps(ROOMY_BYTES, list, true)));
});

test("a full table forgets links, and never mixes them up", () => {
  fc.assert(
    fc.property(fc.array(steps, { minLength: 100, maxLength: 400, size: "max" }), (list) =>
      runSteps(TIGHT_BYTES, list, false),
    ),
  );
});

test("used links stay, and unused ones make room for new ones", () => {
  const table = createLinkTable(100_000);
  const isStored = (code: string) => table.get(code) !== undefined;
  for (let nth = 0; nth < 50; nth++) table.set(linkOf(`hot${nth}`, "x".repeat(80)));
  for (let nth = 0; nth < 20_000; nth++) {
    table.set(linkOf(`cold${nth}`, "x".repeat(80)));
    expect(isStored(`hot${nth % 50}`)).toBe(true);
  }
  const stored = Array.from({ length: 20_000 }, (_, nth) => `cold${nth}`).filter(isStored);
  expect(stored.length).toBeGreaterThan(450);
  expect(stored.length).toBeLessThan(700);
});

test("a table full of used links accepts new ones", () => {
  const table = createLinkTable(10_000);
  for (let nth = 0; nth < 1000; nth++) {
    for (let earlier = 0; earlier < nth; earlier++) table.get(`code${earlier}`);
    table.set(linkOf(`code${nth}`, "x".repeat(80)));
    expect(table.get(`code${nth}`)?.target).toBe("x".repeat(80));
  }
});

test("a link too long for the table is returned but not stored", () => {
  const table = createLinkTable(1000);
  table.set(linkOf("short", "x"));
  const entry = table.set(linkOf("long", "x".repeat(1000)));
  expect(entry.target).toHaveLength(1000);
  table.keep(Object.assign(entry, { sequence: 9 }));
  expect(table.get("long")).toBeUndefined();
  expect(table.get("short")?.sequence).toBe(0);
});

test("a bucket keeps the latest 16 of colliding codes", () => {
  const table = createLinkTable(ROOMY_BYTES);
  const alike: string[] = [];
  const bucket = (code: string) => hashOf(code) & 0xffff;
  for (let nth = 0; alike.length < 50; nth++) if (bucket(`c${nth}`) === bucket("c0")) alike.push(`c${nth}`);
  for (const code of alike) table.set(linkOf(code, code));
  const stored = alike.filter((code) => table.get(code)?.target === code);
  expect(stored).toEqual(alike.slice(-16));
});

test("keeps links and the recorder's fields while the table grows", () => {
  const table = createLinkTable(ROOMY_BYTES);
  const target = `https://example.com/${"x".repeat(1000)}`;
  const all = Array.from({ length: 3000 }, (_, nth) => linkOf(`code-${nth}`, `${target}${nth}`, nth));
  for (const link of all) {
    const entry = table.set(link);
    table.keep({ ...entry, sequence: link.createdMs, keyDay: 1, key0: link.createdMs });
  }
  expect(table.size).toBe(all.length);
  for (const { code, target: longTarget, createdMs } of all)
    expect(table.get(code)).toMatchObject({
      target: longTarget,
      createdMs,
      sequence: createdMs,
      key0: createdMs,
    });
});
