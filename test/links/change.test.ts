import { describe, expect, test } from "bun:test";

import * as fc from "fast-check";

import {
  FORMER_HOST_MS,
  applyChange,
  formerHostOf,
  isSilent,
  type Change,
  versionOf,
} from "../../src/links/change.ts";
import type { StoredLink } from "../../src/links/link.ts";
import type { Target } from "../../src/links/target.ts";
import { orNone } from "../../src/links/terms/term-values.ts";
import { parseTerms, termsJson } from "../../src/links/terms/term-values.ts";
import { NEVER_MS } from "../../src/links/time.ts";
import { newLink, NOW, withoutHold } from "../stores/links.ts";
import { destination, edit } from "../stores/updates.ts";

function link(changes: Partial<StoredLink> = {}): StoredLink {
  return withoutHold(newLink("link", changes));
}

const visitAt = (atMs: number): Change => ({ type: "visit", atMs });
const withdrawAt = (atMs: number): Change => ({ type: "withdraw", atMs });
const moveTo = (host: string, atMs: number): Change =>
  edit({ destination: destination(`https://${host}/`) }, atMs);

/** Applies changes one by one. */
function applyAll(from: StoredLink, changes: readonly Change[]): StoredLink {
  return changes.reduce((before, change) => applyChange(before, change) ?? before, from);
}

const instants = fc.integer({ min: NOW, max: NOW + 20 });
const targets = fc
  .constantFrom("a.example", "b.example", "a.example/other")
  .map((host) => destination(`https://${host}`));
const terms = fc.record(
  {
    startsMs: instants,
    maxVisits: fc.integer({ min: 1, max: 9 }),
    visits: fc.constant(0),
    passwordHash: fc.constantFrom("one", "two"),
  },
  { requiredKeys: [] },
);
const links: fc.Arbitrary<StoredLink> = fc
  .record({
    endsMs: fc.oneof(instants, fc.constant(NEVER_MS)),
    disabled: fc.constantFrom(undefined, undefined, undefined, "spam", "deleted"),
    terms: terms.map((given) => (Object.keys(given).length === 0 ? undefined : given)),
  } as const)
  .map(link);
const edits = fc.record(
  {
    destination: targets,
    endsMs: fc.oneof(instants, fc.constant(NEVER_MS)),
    startsMs: instants,
    maxVisits: fc.option(fc.integer({ min: 1, max: 9 })),
    passwordHash: fc.option(fc.constantFrom("one", "two")),
  },
  { requiredKeys: [] },
);
const changes: fc.Arbitrary<Change> = fc.oneof(
  { weight: 2, arbitrary: fc.tuple(edits, instants).map(([edited, atMs]) => edit(edited, atMs)) },
  { weight: 3, arbitrary: instants.map(visitAt) },
  { weight: 1, arbitrary: instants.map(withdrawAt) },
);
const histories = fc.array(changes, { maxLength: 30 }).map((all) => all.toSorted((a, b) => a.atMs - b.atMs));

describe("applyChange", () => {
  test("no change adds, changes or removes the name of who created a link", () => {
    fc.assert(
      fc.property(links, histories, fc.constantFrom(undefined, "mina"), (from, history, createdBy) => {
        const after = applyAll({ ...from, terms: orNone({ ...from.terms, createdBy }) }, history);
        expect(after.terms?.createdBy).toBe(createdBy);
      }),
    );
  });

  test("ended and deleted links don't change, and disabled ones can only be withdrawn", () => {
    fc.assert(
      fc.property(links, changes, (before, change) => {
        const isOver = before.endsMs <= change.atMs || before.disabled === "deleted";
        const isHeld = before.disabled !== undefined && change.type !== "withdraw";
        if (isOver || isHeld) expect(applyChange(before, change)).toBeUndefined();
        else if (change.type === "withdraw")
          expect(applyChange(before, change)).toMatchObject({
            endsMs: change.atMs,
            terms: { ended: "withdrawn" },
          });
      }),
    );
  });

  test("changes keep a link's code, creation time and state, and their result can be stored", () => {
    fc.assert(
      fc.property(links, histories, (before, history) => {
        const { code, createdMs, disabled, terms: after, ...rest } = applyAll(before, history);
        expect({ code, createdMs, disabled }).toEqual({
          code: before.code,
          createdMs: before.createdMs,
          disabled: before.disabled,
        });
        expect(parseTerms(termsJson({ terms: after }))).toStrictEqual(after);
        expect(termsJson({ terms: after })).not.toBe("{}");
        expect(rest.target).toBe(URL.parse(rest.originalUrl)?.href as Target);
      }),
    );
  });

  test("every applied change has an effect, and a repeated edit or withdrawal has none", () => {
    fc.assert(
      fc.property(links, changes, (before, change) => {
        const after = applyChange(before, change);
        if (after === undefined) return;
        expect(after).not.toEqual(before);
        if (change.type !== "visit") expect(applyChange(after, change)).toBeUndefined();
      }),
    );
  });

  test("an edit keeps all fields that it doesn't name", () => {
    fc.assert(
      fc.property(links, edits, instants, (before, edited, atMs) => {
        const after = applyChange(before, edit(edited, atMs));
        if (after === undefined || after.terms?.ended !== undefined) return;
        if (edited.destination === undefined) expect(after.originalUrl).toBe(before.originalUrl);
        expect(after.endsMs).toBe(edited.endsMs ?? before.endsMs);
        const of = <Value>(given: Value | null | undefined, was: Value | undefined) =>
          given === undefined ? was : (given ?? undefined);
        expect(after.terms?.maxVisits).toBe(of(edited.maxVisits, before.terms?.maxVisits));
        expect(after.terms?.passwordHash).toBe(of(edited.passwordHash, before.terms?.passwordHash));
        expect(after.terms?.startsMs).toBe(edited.startsMs ?? before.terms?.startsMs);
        if (edited.maxVisits !== null) expect(after.terms?.visits).toBe(before.terms?.visits);
      }),
    );
  });

  test("an edit can't move the start of a link that has started", () => {
    fc.assert(
      fc.property(links, edits, instants, (before, edited, atMs) => {
        if (edited.startsMs === undefined || atMs < (before.terms?.startsMs ?? 0)) return;
        expect(applyChange(before, edit(edited, atMs))).toBeUndefined();
      }),
    );
  });

  test("a link accepts exactly `maxVisits` visits and ends with the last", () => {
    // Instants are unordered, because the clocks of several machines differ.
    const times = fc.array(instants, { maxLength: 60 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 30 }), times, (maxVisits, allMs) => {
        let current = link({ terms: { maxVisits } });
        let visits = 0;
        for (const atMs of allMs) {
          const after = applyChange(current, visitAt(atMs));
          if (after === undefined) continue;
          visits++;
          current = after;
        }
        expect(visits).toBe(Math.min(allMs.length, maxVisits));
        const isUsedUp = allMs.length >= maxVisits;
        expect(current.endsMs).toBe((isUsedUp ? allMs[maxVisits - 1] : NEVER_MS) as number);
        expect(current.terms?.ended).toBe(isUsedUp ? "visits" : undefined);
        // A clock that is behind can't revive it.
        if (isUsedUp) expect(applyChange(current, edit({ maxVisits: 60 }, NOW - 1))).toBeUndefined();
      }),
    );
  });
});

test("a visit before a postponed start doesn't count", () => {
  const later = link({ terms: { startsMs: NOW + 2, maxVisits: 1 } });
  const postponed = applyAll(later, [edit({ startsMs: NOW + 9 }, NOW + 1), visitAt(NOW + 2)]);
  expect(postponed.terms).toEqual({ startsMs: NOW + 9, maxVisits: 1 });
  expect(applyAll(postponed, [visitAt(NOW + 9)]).terms?.ended).toBe("visits");
});

test("a visit doesn't change a link without a limit of visits", () => {
  expect(applyChange(link({ terms: { passwordHash: "hash" } }), visitAt(NOW))).toBeUndefined();
  expect(applyChange(link(), visitAt(NOW))).toBeUndefined();
});

test("removing a limit also removes its count, and a new limit counts from zero", () => {
  const visited = applyAll(link({ terms: { maxVisits: 3 } }), [visitAt(NOW), visitAt(NOW)]);
  const free = applyAll(visited, [edit({ maxVisits: null }, NOW)]);
  expect(free.terms).toBeUndefined();
  expect(applyAll(free, [edit({ maxVisits: 2 }, NOW), visitAt(NOW)]).terms).toEqual({
    maxVisits: 2,
    visits: 1,
  });
});

test("lowering the limit to the counted visits ends the link immediately", () => {
  const visited = applyAll(link({ terms: { maxVisits: 9 } }), [visitAt(NOW), visitAt(NOW), visitAt(NOW)]);
  expect(applyChange(visited, edit({ maxVisits: 4 }, NOW + 1))).toMatchObject({ endsMs: NEVER_MS });
  expect(applyChange(visited, edit({ maxVisits: 3 }, NOW + 1))).toMatchObject({
    endsMs: NOW + 1,
    terms: { maxVisits: 3, visits: 3, ended: "visits" },
  });
});

describe("the former host of a link (the longest within 30 days)", () => {
  const DAY = 24 * 3_600_000;
  /** The moves of a link: hosts, each with the days since its creation. */
  const HOSTS: readonly (readonly [name: string, moves: string, expected: string | undefined])[] = [
    ["one edit", "b.example 1", "example.com"],
    ["an immediate edit", "b.example 0", "example.com"],
    ["two edits", "b.example 20, c.example 30", "example.com"],
    ["a short time on the first host", "good.example 0.001, evil.example 0.9", "good.example"],
    ["a short time on the last host but one", "b.example 0.9, evil.example 0.901", "example.com"],
    ["two edits, the second late", "b.example 50, c.example 80", "b.example"],
    ["a return", "b.example 2, example.com 3", undefined],
    ["a return and another move", "b.example 2, example.com 3, c.example 4", "example.com"],
    ["another path", "example.com 1", undefined],
    ["another path later", "b.example 9, b.example/path 12", "example.com"],
    ["another path much later", "b.example 9, b.example/path 39", undefined],
    // Clocks of several machines differ.
    ["an edit before the last one", "b.example 9, c.example 8", "example.com"],
  ];
  for (const [name, moves, expected] of HOSTS)
    test(`is ${expected ?? "unset"} after ${name} (${moves})`, () => {
      const all = moves.split(", ").map((move) => {
        const [host = "", days] = move.split(" ");
        return moveTo(host, NOW + Number(days) * DAY);
      });
      const result = applyAll(link(), all);
      const lastMs = result.terms?.changedMs ?? 0;
      expect(formerHostOf(result, lastMs + FORMER_HOST_MS - 1)).toBe(expected as string);
      expect(formerHostOf(result, lastMs + FORMER_HOST_MS)).toBeUndefined();
      const growing = all.reduce((sinceMs, { atMs }) => Math.max(atMs, sinceMs + 1), link().createdMs);
      expect(result.terms?.changedMs).toBe(growing);
    });

  test("ignores an edit to the current target", () => {
    const result = applyAll(link(), [moveTo("b.example", NOW)]);
    expect(applyChange(result, moveTo("b.example", NOW + 1))).toBeUndefined();
  });
});

test("isSilent is true only for visits", () => {
  expect([visitAt(NOW), withdrawAt(NOW), edit({})].map(isSilent)).toEqual([true, false, false]);
});

describe("versionOf", () => {
  test("doesn't change with the last visit of a link, which sets its end", () => {
    const limited = { ...newLink("limited"), terms: { maxVisits: 1 } };
    const after = applyChange(limited, { type: "visit", atMs: limited.createdMs + 1 });
    expect(after?.terms?.ended).toBe("visits");
    expect(versionOf(after ?? limited)).toBe(versionOf(limited));
  });
});
