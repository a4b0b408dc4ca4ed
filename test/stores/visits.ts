import { describe, expect, test } from "bun:test";

import type { LinkKey } from "../../src/links/code.ts";
import type { LinkStore } from "../../src/links/link-store.ts";
import { DAY_MS } from "../../src/links/time.ts";
import type { AgeBounds, VisitStore } from "../../src/visits/days/visit-store.ts";
import {
  type CountedVisits,
  detailOf,
  slicesOf,
  type TestVisit,
  UNREADABLE,
  unreadableSlice,
} from "../visits/slices.ts";
import { newLink } from "./links.ts";
import { shareStore } from "./share-store.ts";

const DAY = 20_000;
const HOUR = DAY * 24 + 13;
const CREATED = DAY * DAY_MS + 5;
const NEVER = { closeBefore: 0, forgetBefore: 0 };

/** Visits are deleted with their link, so that a store of visits knows links. */
export type TestedStore = VisitStore & Pick<LinkStore, "insert" | "purge" | "erase" | "close">;

/** Tests what every VisitStore promises; `open` as for {@link testLinkStore}. */
export function testVisitStore(
  name: string,
  open: (onFault: (error: unknown) => void) => Promise<TestedStore>,
): void {
  describe(`${name} as a VisitStore`, () => {
    const faults: string[] = [];
    const openLogged = () => open((error) => faults.push((error as Error).message));
    const [store, other] = [shareStore(openLogged), shareStore(openLogged)];

    const visit = (code: string, more: Partial<TestVisit> = {}): TestVisit => ({
      code,
      createdMs: CREATED,
      ...more,
    });
    const times = (count: number, one: TestVisit) => Array.from({ length: count }, () => one);
    const sums = (code: string, createdMs = CREATED, from = store) => from.sums(code as LinkKey, createdMs);
    const add = async (counted: CountedVisits, to = store): Promise<void> => {
      for (const slice of slicesOf(counted)) await to.add(slice);
    };
    const ageAll = async (bounds: AgeBounds): Promise<void> => {
      while ((await store.age(bounds, 100)) === 100);
    };
    const days = (code: string, first = DAY - 9, last = DAY + 9) =>
      store.days(code as LinkKey, CREATED, first, last);

    test("has one id in all processes", async () => {
      const { id, place } = await store.identity();
      expect(id).toMatch(/^[0-9a-f]{32}$/);
      expect(await other.identity()).toMatchObject({ id, place });
    });

    test("sums up the visits of segments, hours and days for each link", async () => {
      const visits = [...times(3, visit("a")), visit("a", { bot: true }), ...times(2, visit("b"))];
      await add({ hour: HOUR, visits });
      await add({ hour: HOUR + 1, visits: times(4, visit("a")) }, other);
      await add({ hour: HOUR + 24, visits: [visit("a")] });
      expect(await sums("a")).toEqual({ visits: 8, bots: 1 });
      expect(await sums("b", CREATED, other)).toEqual({ visits: 2, bots: 0 });
      expect(await sums("c")).toEqual({ visits: 0, bots: 0 });
      const found = await days("a");
      expect(found.map(({ day, visits: ofDay, bots }) => [day, ofDay, bots])).toEqual([
        [DAY, 7, 1],
        [DAY + 1, 1, 0],
      ]);
      expect(detailOf(found[0])?.hours).toEqual({ 13: [3, 1], 14: [4, 0] });
      expect((await days("a", DAY + 1, DAY + 1)).map(({ day }) => day)).toEqual([DAY + 1]);
      expect(await store.daySums("a" as LinkKey, CREATED, DAY - 9, DAY + 9)).toEqual([
        { day: DAY, visits: 7, bots: 1 },
        { day: DAY + 1, visits: 1, bots: 0 },
      ]);
      expect(await store.daySums("a" as LinkKey, CREATED, DAY - 9, DAY)).toHaveLength(1);
      const visited = await store.visited(DAY, 100);
      const ofA = visited.filter(({ code, createdMs }) => code === "a" && createdMs === CREATED);
      expect(ofA.reduce((sum, one) => sum + one.visits, 0)).toBe(7);
      expect([(await store.visited(DAY, 1)).length, await store.visited(DAY - 9, 9)]).toEqual([1, []]);
    });

    test("counts the values of each dimension, and keeps 256 visitor hashes", async () => {
      const visits = [
        ...Array.from({ length: 300 }, (_, nth) =>
          visit("d", { visitor: nth * 14_316_557, referrer: "naver.com" }),
        ),
        ...times(5, visit("d", { visitor: 0, referrer: "a.example", browser: "Safari" })),
      ];
      await add({ hour: HOUR, visits: visits.slice(0, 200) });
      await add({ hour: HOUR, visits: visits.slice(200) });
      const [day] = await days("d");
      const value = (dimension: "referrers" | "browsers", text: string) =>
        detailOf(day)?.values[dimension]?.find(([one]) => one === text);
      expect(value("referrers", "naver.com")).toEqual(["naver.com", 300]);
      expect(value("referrers", "a.example")).toEqual(["a.example", 5]);
      expect(value("browsers", "Chrome")?.[1]).toBe(300);
      expect(detailOf(day)?.visitors).toHaveLength(256);
    });

    test("keeps the 100 values with the most visits and sums up the rest", async () => {
      const rare = Array.from({ length: 200 }, (_, nth) => visit("tail", { referrer: `site${nth}.example` }));
      const visits = [...rare, ...times(9, visit("tail", { referrer: "often.example" }))];
      await add({ hour: HOUR, visits });
      const [day] = await days("tail");
      expect(detailOf(day)?.values.referrers).toHaveLength(100);
      expect(detailOf(day)?.values.referrers?.[0]).toEqual(["often.example", 9]);
      expect(detailOf(day)?.others.referrers).toBe(101);
    });

    test("counts a slice once if several processes add it repeatedly, before and after its day is closed", async () => {
      const visits = Array.from({ length: 1700 }, (_, nth) => visit(`many${nth}`));
      const counted = { source: "again", sequence: 3, hour: HOUR, visits };
      await Promise.all([add(counted), add(counted, other), add(counted), add(counted, other)]);
      await add(counted);
      const expectEach = async (expected: number) => {
        for (const nth of [0, 499, 500, 1699])
          expect(await sums(`many${nth}`)).toEqual({ visits: expected, bots: 0 });
      };
      await expectEach(1);
      // An earlier sequence, which a late process adds again.
      await add({ ...counted, sequence: 2, visits: [visit("many0")] });
      await expectEach(1);
      await add({ ...counted, sequence: 4 });
      await expectEach(2);
      await ageAll({ ...NEVER, closeBefore: DAY + 1 });
      await add({ ...counted, sequence: 4 }, other);
      await expectEach(2);
    });

    test("continues an interrupted sequence with slices of any size", async () => {
      const visits = Array.from({ length: 90 }, (_, nth) => visit(`cut${nth}`));
      const parts = (size: number) => slicesOf({ source: "cut", sequence: 7, hour: HOUR, visits }, size);
      for (const slice of parts(40).slice(0, 1)) await store.add(slice);
      for (const slice of parts(25)) await other.add(slice);
      for (const slice of parts(500)) await store.add(slice);
      for (let nth = 0; nth < 90; nth++) expect(await sums(`cut${nth}`)).toEqual({ visits: 1, bots: 0 });
    });

    test("adds up simultaneous sources of the same links, and counts their shared visitor once", async () => {
      const visits = Array.from({ length: 300 }, (_, nth) => visit(`same${nth}`, { visitor: nth }));
      const sources = ["a", "b", "c"].map((source) => ({ source, hour: HOUR, visits }));
      await Promise.all(sources.map((counted, nth) => add(counted, nth === 1 ? other : store)));
      for (const nth of [0, 299]) {
        expect(await sums(`same${nth}`)).toEqual({ visits: 3, bots: 0 });
        expect(detailOf((await days(`same${nth}`))[0])?.visitors).toEqual([nth]);
      }
    });

    test("a reused code inherits no visits", async () => {
      const former = newLink("reused", { createdMs: CREATED, endsMs: CREATED + 1 });
      await store.insert([former]);
      await add({ hour: HOUR, visits: [visit("reused")] });
      await store.insert([newLink("reused", { createdMs: CREATED + 9, freeIfEndedByMs: CREATED + 1 })]);
      const later = visit("reused", { createdMs: CREATED + 9 });
      await add({ hour: HOUR, visits: [later, later] });
      expect(await sums("reused", CREATED + 9)).toEqual({ visits: 2, bots: 0 });
    });

    test("ageing deletes visitor hashes, then days, but keeps the sum while the link exists", async () => {
      await store.insert([newLink("old", { createdMs: CREATED })]);
      const visits = [...times(3, visit("old")), visit("old", { visitor: 9 }), visit("gone")];
      await add({ hour: HOUR, visits });
      await ageAll({ ...NEVER, closeBefore: DAY });
      expect(detailOf((await days("old"))[0])?.visitors).toEqual([1, 9]);

      await ageAll({ ...NEVER, closeBefore: DAY + 1 });
      const [closed] = await days("old");
      expect(detailOf(closed)).toMatchObject({ visitors: 2, hours: { 13: [4, 0] } });
      expect(detailOf(closed)?.values.browsers).toEqual([["Chrome", 4]]);

      // A late visit still counts, and ages like the others.
      await add({ hour: HOUR, visits: [visit("old", { visitor: 9 })] });
      expect(detailOf((await days("old"))[0])?.visitors).toBe(3);

      await ageAll({ closeBefore: DAY + 400, forgetBefore: DAY });
      expect(detailOf((await days("old"))[0])?.hours).toEqual({ 13: [5, 0] });
      expect(await sums("old")).toEqual({ visits: 5, bots: 0 });

      await ageAll({ closeBefore: DAY + 1, forgetBefore: DAY + 1 });
      expect(await days("old")).toEqual([]);
      expect(await sums("old")).toEqual({ visits: 5, bots: 0 });
      expect(await sums("gone")).toEqual({ visits: 0, bots: 0 });
    });

    test("a late visit to a closed day counts and leaves no hash of its visitor", async () => {
      const late = visit("late", { visitor: 987_654_321, referrer: "late.example" });
      const hour = HOUR + 480;
      await add({ hour, visits: [visit("late"), visit("late")] });
      for (let nth = 0; nth < 2; nth++) {
        await ageAll({ ...NEVER, closeBefore: DAY + 30 });
        await add({ hour, visits: [late] });
        const [day] = await store.days("late" as LinkKey, CREATED, DAY, DAY + 30);
        expect(JSON.stringify(day)).not.toContain("987654321");
        expect(detailOf(day)?.hours).toEqual({ 13: [3 + nth, 0] });
      }
      expect(await sums("late")).toEqual({ visits: 4, bots: 0 });
    });

    test("the sum of deleted days is deleted with its link", async () => {
      const old = { createdMs: CREATED, endsMs: CREATED + 1 };
      await store.insert([newLink("sum1", old), newLink("sum2", old)]);
      await add({ hour: HOUR, visits: [visit("sum1"), visit("sum2")] });
      await ageAll({ closeBefore: DAY + 1, forgetBefore: DAY + 1 });
      expect(await sums("sum1")).toEqual({ visits: 1, bots: 0 });
      await store.insert([newLink("sum1", { createdMs: CREATED + 9, freeIfEndedByMs: CREATED + 1 })]);
      expect(await sums("sum1", CREATED + 9)).toEqual({ visits: 0, bots: 0 });
      expect(await sums("sum1")).toEqual({ visits: 0, bots: 0 });
      while ((await store.purge(CREATED + 1, 100)) === 100);
      expect(await sums("sum2")).toEqual({ visits: 0, bots: 0 });
    });

    test("counts and erases days before the creation, and days that are far apart", async () => {
      const link = newLink("apart", { createdMs: CREATED });
      await store.insert([link]);
      const farDay = 2_642_912;
      for (const day of [DAY - 400, DAY, farDay]) await add({ hour: day * 24, visits: [visit("apart")] });
      expect(await sums("apart")).toEqual({ visits: 3, bots: 0 });
      const found = await store.daySums("apart" as LinkKey, CREATED, 0, farDay);
      expect(found.map(({ day }) => day)).toEqual([DAY - 400, DAY, farDay]);
      expect(await store.erase(link, { who: "api", atMs: CREATED })).toMatchObject({ changed: 1 });
      expect(await sums("apart")).toEqual({ visits: 0, bots: 0 });
      expect(await store.daySums("apart" as LinkKey, CREATED, 0, farDay)).toEqual([]);
    });

    test("ageing changes at most `limit` rows per call", async () => {
      const visits = Array.from({ length: 30 }, (_, nth) => visit(`batch${nth}`));
      await add({ hour: HOUR - 240, visits });
      const bounds = { ...NEVER, closeBefore: DAY - 5 };
      expect(await store.age(bounds, 20)).toBe(20);
      expect(await other.age(bounds, 20)).toBe(10);
      expect(await store.age(bounds, 20)).toBe(0);
    });

    test("closes visits that arrive while their day is being closed, regardless of their code", async () => {
      const hour = HOUR - 480;
      const early = Array.from({ length: 30 }, (_, nth) => `while${nth}`);
      await add({ hour, visits: early.map((code) => visit(code)) });
      const bounds = { ...NEVER, closeBefore: DAY - 15 };
      expect(await store.age(bounds, 20)).toBe(20);
      const late = ["while", "while15late", "while9late"];
      await add({ hour, visits: late.map((code) => visit(code)) }, other);
      while ((await store.age(bounds, 20)) === 20);
      for (const code of [...early, ...late])
        expect(detailOf((await days(code, DAY - 30))[0])?.visitors).toBe(1);
    });

    test("keeps the sums of unreadable details and sets the details aside, reports them, and counts and ages all links", async () => {
      const hour = HOUR + 24 * 30;
      const day = DAY + 30;
      for (const [nth, detail] of UNREADABLE.entries()) {
        const source = `torn${nth}`;
        await store.add(unreadableSlice([source, `once${nth}`], { createdMs: CREATED, day, detail, source }));
        await add({ source, sequence: 2, hour, visits: [visit("torn0"), visit("torn1"), visit("whole")] });
      }
      const expectKept = async () => {
        expect(await sums("torn0")).toEqual({ visits: 7, bots: 2 });
        expect(await sums("once1")).toEqual({ visits: 5, bots: 2 });
        expect(await sums("whole")).toEqual({ visits: 2, bots: 0 });
        for (const [nth, detail] of UNREADABLE.entries()) {
          const [torn] = await days(`torn${nth}`, day, day);
          expect(detailOf(torn)?.unreadable).toEqual([detail]);
          expect(detailOf(torn)?.values.browsers).toEqual([["Chrome", 2]]);
          const [once] = await days(`once${nth}`, day, day);
          expect(detailOf(once)).toEqual({ visitors: 0, values: {}, others: {}, unreadable: [detail] });
        }
      };
      await expectKept();
      await ageAll({ ...NEVER, closeBefore: day + 1 });
      await expectKept();
      expect(detailOf((await days("whole", day, day))[0])?.visitors).toBe(1);
      while (faults.length === 0) await Bun.sleep(10);
      expect(faults[0]).toBe(
        "The details of torn0 on 2024-11-03 are damaged or of a later version: only sums remain",
      );
      expect(faults.toSorted()).toEqual([...new Set(faults)].toSorted());
    });

    test("gives all processes one salt per day, and forgets it on the next", async () => {
      const today = await store.salt(DAY, DAY);
      expect(today).toHaveLength(32);
      expect(await other.salt(DAY, DAY)).toEqual(today);
      expect(await other.newestSaltDay()).toBe(DAY);
      const tomorrow = await other.salt(DAY + 1, DAY);
      expect(await store.newestSaltDay()).toBe(DAY + 1);
      expect(tomorrow).not.toEqual(today);
      expect(await store.salt(DAY, DAY)).toEqual(today);
      await store.salt(DAY + 1, DAY + 1);
      const recreated = await store.salt(DAY, DAY);
      expect(recreated).not.toEqual(today);
      await store.age({ ...NEVER, closeBefore: DAY + 1 }, 1);
      expect(await store.salt(DAY, DAY)).not.toEqual(recreated);
    });
  });
}
