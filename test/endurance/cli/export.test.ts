import { expect, test } from "bun:test";
import { join } from "node:path";

import * as fc from "fast-check";

import type { DatabaseAddress } from "../../../src/config/database-url.ts";
import { lookUpCode } from "../../../src/links/code.ts";
import { REASONS } from "../../../src/links/link.ts";
import type { Target } from "../../../src/links/target.ts";
import { NEVER_MS, DAY_MS } from "../../../src/links/time.ts";
import { ANSWERS } from "../../../src/moderation/reports/case.ts";
import { fillStore } from "../../../src/store/open.ts";
import { type RecordOf } from "../../../src/store/records.ts";
import { closeDetail, createDay } from "../../../src/visits/day.ts";
import { exportOf, importTo } from "../../cli/export-file.ts";
import { sharePostgres } from "../../postgres.ts";
import { temporaryFolder } from "../../service.ts";
import { HASH } from "../../stores/served-store.ts";

const server = await sharePostgres();

let databases = 0;

const newPostgres = () => server.address(`export${++databases}`);

/** `ROUNDS=20 npm test -- test/endurance/cli/export.test.ts` exports more. */
const ROUNDS = Number(process.env["ROUNDS"] ?? 5);

const sqlite = (path: string): DatabaseAddress => ({ engine: "sqlite", path });

test("of a store of any content is the same bytes after any import, over both engines", async () => {
  const text = fc
    .string({ unit: "grapheme", minLength: 1, maxLength: 20 })
    .filter((one) => !one.includes("\0"));
  const codes = text.map(lookUpCode).filter((one) => one !== undefined);
  const ms = fc.integer({ min: DAY_MS, max: 100 * 365 * DAY_MS });
  const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
  const reason = fc.constantFrom(...REASONS);
  const terms = fc.record(
    {
      startsMs: ms,
      maxVisits: fc.nat(),
      visits: fc.nat(),
      passwordHash: fc.constant(HASH),
      ended: fc.constantFrom("withdrawn", "visits"),
      changedMs: ms,
      formerHost: text,
      formerMs: fc.nat(),
    },
    { requiredKeys: ["formerMs"] },
  );
  const link = fc.record({
    code: codes,
    originalUrl: fc.webUrl(),
    target: fc.webUrl() as unknown as fc.Arbitrary<Target>,
    createdMs: ms,
    endsMs: fc.oneof(ms, fc.constant(NEVER_MS)),
    disabled: optional(fc.constantFrom(...REASONS, "deleted")),
    terms: optional(terms),
  });
  const day = fc.record({
    visits: fc.integer({ min: 1, max: 3 }),
    bots: fc.nat(2),
    age: fc.nat(5000),
    hour: fc.integer({ min: 0, max: 23 }),
    details: fc.array(
      fc.record({
        agent: fc.record({ browser: text, os: text, device: text }),
        referrer: text,
        language: text,
        country: fc.constantFrom("KR", "XX", ""),
        visitor: fc.nat(),
        times: fc.integer({ min: 1, max: 9 }),
      }),
      { maxLength: 8 },
    ),
    isSum: fc.boolean(),
  });
  const note = fc.record({ atMs: ms, reason, note: fc.string({ unit: "grapheme", maxLength: 50 }) });
  const case_ = fc.record({
    firstMs: ms,
    lastMs: ms,
    reports: fc.nat(),
    reasons: fc.dictionary(reason, fc.nat(), { noNullPrototype: true }),
    pending: fc.nat(),
    disabledMs: optional(ms),
    answer: optional(fc.record({ action: fc.constantFrom(...ANSWERS, "erase"), atMs: ms })),
    notes: fc.array(note, { maxLength: 3 }),
  });
  const entry = fc.record({
    atMs: ms,
    who: fc.constantFrom("api", "page"),
    action: fc.constantFrom("disable", "block-host"),
    reason: optional(reason),
    note: optional(text),
    code: optional(codes),
    createdMs: optional(ms),
    host: optional(text),
  });
  const all = fc.record({
    // SQLite has links in the order in which they were added, PostgreSQL by time.
    given: fc
      .uniqueArray(fc.tuple(link, day, case_), { selector: ([{ code }]) => code, maxLength: 20 })
      .map((some) =>
        some.toSorted(
          ([a], [b]) => a.createdMs - b.createdMs || Buffer.compare(Buffer.from(a.code), Buffer.from(b.code)),
        ),
      ),
    entries: fc.array(entry, { maxLength: 5 }),
  });
  await fc.assert(
    fc.asyncProperty(all, async ({ given, entries }) => {
      using folder = temporaryFolder();
      const [first, last] = [sqlite(join(folder.path, "first")), sqlite(join(folder.path, "last"))];
      await fillStore(first, async (write) => {
        await write(
          "link",
          given.map(([one]) => one as RecordOf["link"]),
        );
        await write(
          "day",
          given.map(([{ code, createdMs }, { hour, age, isSum, details, ...sums }]) => {
            const id = { code, createdMs, ...sums };
            if (isSum) return { ...id, day: 0, detail: null };
            const detail = closeDetail(createDay({ ...sums, details }, hour).detail);
            return { ...id, day: Math.floor(createdMs / DAY_MS) + age, detail };
          }),
        );
        await write("secret", [{ name: "links", secret: new Uint8Array([0, 255, 7]) }]);
        await write("host", [{ host: "evil.example", reason: "spam", sinceMs: 5 }]);
        await write("entry", entries as RecordOf["entry"][]);
        await write(
          "case",
          given.map(([{ code, createdMs }, , one]) => ({ ...one, code, createdMs })),
        );
        await write("counter", [{ day: 20_000, name: "created", count: 2 ** 40 }]);
        const made = given.map(([{ code, createdMs, endsMs }], nth) => ({ nth, code, createdMs, endsMs }));
        await write("request", [{ key: "0a", body: "ff", sentMs: 7, made }]);
      });

      const middle = await newPostgres();
      const expected = await exportOf(first);
      await importTo(middle, expected);
      expect((await exportOf(middle)).toString()).toBe(expected.toString());
      await importTo(last, await exportOf(middle));
      expect((await exportOf(last)).toString()).toBe(expected.toString());
      expect(await importTo(last, expected)).toBeFalse();
      expect(expected.toString().split("\n")).toHaveLength(7 + entries.length + 3 * given.length);
    }),
    { numRuns: ROUNDS, endOnFailure: true },
  );
});
