import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";

import type { Code } from "../../src/links/code.ts";
import type { LinkStore } from "../../src/links/store.ts";
import { readSegment } from "../../src/visits/fold.ts";
import { type VisitStore, SegmentDamaged } from "../../src/visits/store.ts";
import { temporaryFolder } from "../service.ts";
import { type Told, writeSegment } from "../visits/segments.ts";
import { newLink } from "./links.ts";

const DAY = 20_000;
const HOUR = DAY * 24 + 13;
const CREATED = DAY * 86_400_000 + 5;

/** What every VisitStore promises; `open` as for the LinkStore. */
export function testVisitStore(name: string, open: () => Promise<LinkStore & VisitStore>): void {
  describe(`${name} as a VisitStore`, () => {
    const temporary = temporaryFolder();
    const folder = temporary.path;
    let store: LinkStore & VisitStore;
    let other: LinkStore & VisitStore;
    beforeAll(async () => {
      [store, other] = [await open(), await open()];
    });
    afterAll(async () => {
      await store.close();
      await other.close();
      temporary[Symbol.dispose]();
    });

    const visit = (code: string, more: Partial<Told> = {}): Told => ({ code, createdMs: CREATED, ...more });
    const times = (count: number, told: Told) => Array.from({ length: count }, () => told);
    const sums = (code: string, createdMs = CREATED, from = store) => from.sums(code as Code, createdMs);
    const days = (code: string, first = DAY - 9, last = DAY + 9) =>
      store.days(code as Code, CREATED, first, last);

    test("adds up segments, hours and days, and tells each link's own", async () => {
      const visits = [...times(3, visit("a")), visit("a", { bot: true }), ...times(2, visit("b"))];
      await store.fold(await writeSegment({ folder, hour: HOUR, visits }));
      await other.fold(await writeSegment({ folder, hour: HOUR + 1, visits: times(4, visit("a")) }));
      await store.fold(await writeSegment({ folder, hour: HOUR + 24, visits: [visit("a")] }));
      expect(await sums("a")).toEqual({ visits: 8, bots: 1 });
      expect(await sums("b", CREATED, other)).toEqual({ visits: 2, bots: 0 });
      expect(await sums("c")).toEqual({ visits: 0, bots: 0 });
      const found = await days("a");
      expect(found.map(({ day, visits: ofDay, bots }) => [day, ofDay, bots])).toEqual([
        [DAY, 7, 1],
        [DAY + 1, 1, 0],
      ]);
      expect(found[0]?.detail.hours).toEqual({ 13: [3, 1], 14: [4, 0] });
      expect((await days("a", DAY + 1, DAY + 1)).map(({ day }) => day)).toEqual([DAY + 1]);
    });

    test("tells what visits had in common, and about how many visitors", async () => {
      const visits = [
        ...Array.from({ length: 300 }, (_, nth) =>
          visit("d", { visitor: nth * 14_316_557, referrer: "naver.com" }),
        ),
        ...times(5, visit("d", { visitor: 0, referrer: "a.example", browser: "Safari" })),
      ];
      await store.fold(await writeSegment({ folder, hour: HOUR, visits: visits.slice(0, 200) }));
      await store.fold(await writeSegment({ folder, hour: HOUR, visits: visits.slice(200) }));
      const [day] = await days("d");
      const value = (dimension: "referrers" | "browsers", text: string) =>
        day?.detail.values[dimension]?.find(([one]) => one === text);
      expect(value("referrers", "naver.com")).toEqual(["naver.com", 300]);
      expect(value("referrers", "a.example")).toEqual(["a.example", 5, [0]]);
      expect(value("browsers", "Chrome")?.[1]).toBe(300);
      expect(day?.detail.visitors).toHaveLength(256);
    });

    test("keeps the values with the most visits and adds up the rest", async () => {
      const rare = Array.from({ length: 200 }, (_, nth) => visit("tail", { referrer: `site${nth}.example` }));
      const visits = [...rare, ...times(9, visit("tail", { referrer: "often.example" }))];
      await store.fold(await writeSegment({ folder, hour: HOUR, visits }));
      const [day] = await days("tail");
      expect(day?.detail.values.referrers).toHaveLength(50);
      expect(day?.detail.values.referrers?.[0]?.slice(0, 2)).toEqual(["often.example", 9]);
      expect(day?.detail.others.referrers).toBe(151);
    });

    test("counts a segment once, however often and wherever it is folded", async () => {
      const visits = Array.from({ length: 1700 }, (_, nth) => visit(`many${nth}`));
      const path = await writeSegment({ folder, hour: HOUR, journal: [1, 1], sequence: 3, visits });
      await Promise.all([store.fold(path), other.fold(path), store.fold(path), other.fold(path)]);
      await store.fold(path);
      for (const nth of [0, 499, 500, 1699]) {
        expect(await sums(`many${nth}`)).toEqual({ visits: 1, bots: 0 });
      }
      const earlier = { folder, hour: HOUR, journal: [1, 1] as const, visits: [visit("many0")] };
      await store.fold(await writeSegment({ ...earlier, sequence: 2 }));
      expect(await sums("many0")).toEqual({ visits: 1, bots: 0 });
      await store.fold(await writeSegment({ ...earlier, sequence: 4 }));
      expect(await sums("many0")).toEqual({ visits: 2, bots: 0 });
    });

    test("a code given anew inherits nothing", async () => {
      const taken = newLink("anew", { createdMs: CREATED, endsMs: CREATED + 1 });
      await store.insert([taken]);
      await store.fold(await writeSegment({ folder, hour: HOUR, visits: [visit("anew")] }));
      await store.insert([newLink("anew", { createdMs: CREATED + 9, freeIfEndedByMs: CREATED + 1 })]);
      await store.fold(
        await writeSegment({
          folder,
          hour: HOUR,
          visits: times(2, visit("anew", { createdMs: CREATED + 9 })),
        }),
      );
      expect(await sums("anew", CREATED + 9)).toEqual({ visits: 2, bots: 0 });
    });

    test("days age: hashes go first, then hours, then days; the sum stays while there is the link", async () => {
      await store.insert([newLink("old", { createdMs: CREATED })]);
      const visits = [...times(3, visit("old")), visit("old", { visitor: 9 }), visit("gone")];
      await store.fold(await writeSegment({ folder, hour: HOUR, visits }));
      const never = { closeBefore: 0, coarseBefore: 0, forgetBefore: 0 };
      const all = async (bounds: typeof never) => {
        while ((await store.age(bounds, 100)) === 100);
      };
      await all({ ...never, closeBefore: DAY });
      expect((await days("old"))[0]?.detail.visitors).toEqual([1, 9]);

      await all({ ...never, closeBefore: DAY + 1 });
      const [closed] = await days("old");
      expect(closed?.detail).toMatchObject({ visitors: 2, hours: { 13: [4, 0] } });
      expect(closed?.detail.values.browsers).toEqual([["Chrome", 4, 2]]);

      // One that comes late: it still counts, and ages as the others did.
      await store.fold(await writeSegment({ folder, hour: HOUR, visits: [visit("old", { visitor: 9 })] }));
      expect((await days("old"))[0]?.detail.visitors).toBe(3);

      await all({ closeBefore: DAY + 1, coarseBefore: DAY + 1, forgetBefore: 0 });
      expect((await days("old"))[0]?.detail.hours).toBeUndefined();
      expect(await sums("old")).toEqual({ visits: 5, bots: 0 });

      await all({ closeBefore: DAY + 1, coarseBefore: DAY + 1, forgetBefore: DAY + 1 });
      expect(await days("old")).toEqual([]);
      expect(await sums("old")).toEqual({ visits: 5, bots: 0 });
      expect(await sums("gone")).toEqual({ visits: 0, bots: 0 });
    });

    test("visits that come late find their day as it has aged: nothing of a visitor stays behind", async () => {
      const late = {
        folder,
        hour: HOUR + 480,
        visits: [visit("late", { visitor: 987_654_321, referrer: "late.example" })],
      };
      await store.fold(await writeSegment({ ...late, visits: [visit("late"), visit("late")] }));
      for (const coarseBefore of [0, DAY + 30]) {
        while ((await store.age({ closeBefore: DAY + 30, coarseBefore, forgetBefore: 0 }, 100)) === 100);
        await store.fold(await writeSegment(late));
        const [day] = await store.days("late" as Code, CREATED, DAY, DAY + 30);
        expect(JSON.stringify(day)).not.toContain("987654321");
        expect(day?.detail.hours === undefined).toBe(coarseBefore > 0);
      }
      expect(await sums("late")).toEqual({ visits: 4, bots: 0 });
    });

    test("the sum of what is too old goes with its link", async () => {
      const old = { createdMs: CREATED, endsMs: CREATED + 1 };
      await store.insert([newLink("sum1", old), newLink("sum2", old)]);
      await store.fold(await writeSegment({ folder, hour: HOUR, visits: [visit("sum1"), visit("sum2")] }));
      const bounds = { closeBefore: DAY + 1, coarseBefore: DAY + 1, forgetBefore: DAY + 1 };
      while ((await store.age(bounds, 100)) === 100);
      expect(await sums("sum1")).toEqual({ visits: 1, bots: 0 });
      await store.insert([newLink("sum1", { createdMs: CREATED + 9, freeIfEndedByMs: CREATED + 1 })]);
      expect(await sums("sum1", CREATED + 9)).toEqual({ visits: 0, bots: 0 });
      while ((await store.purge(CREATED + 1, 100)) === 100);
      expect(await sums("sum2")).toEqual({ visits: 0, bots: 0 });
    });

    test("ageing goes in small batches", async () => {
      const visits = Array.from({ length: 30 }, (_, nth) => visit(`batch${nth}`));
      await store.fold(await writeSegment({ folder, hour: HOUR - 240, visits }));
      const bounds = { closeBefore: DAY - 5, coarseBefore: 0, forgetBefore: 0 };
      expect(await store.age(bounds, 20)).toBe(20);
      expect(await other.age(bounds, 20)).toBe(10);
      expect(await store.age(bounds, 20)).toBe(0);
    });

    test("gives all processes one salt a day, and forgets it", async () => {
      const today = await store.salt(DAY, DAY);
      expect(today).toHaveLength(32);
      expect(await other.salt(DAY, DAY)).toEqual(today);
      const tomorrow = await other.salt(DAY + 1, DAY);
      expect(tomorrow).not.toEqual(today);
      expect(await store.salt(DAY, DAY)).toEqual(today);
      await store.salt(DAY + 1, DAY + 1);
      const again = await store.salt(DAY, DAY);
      expect(again).not.toEqual(today);
      await store.age({ closeBefore: DAY + 1, coarseBefore: 0, forgetBefore: 0 }, 1);
      expect(await store.salt(DAY, DAY)).not.toEqual(again);
    });

    test("says of a segment that it is damaged, and adds nothing of it", async () => {
      const path = await writeSegment({ folder, hour: HOUR, visits: [visit("whole"), visit("")] });
      expect(await store.fold(path).catch((error: unknown) => error)).toBeInstanceOf(SegmentDamaged);
      await Bun.write(join(folder, "garbage"), "no segment at all");
      expect(await store.fold(join(folder, "garbage")).catch((error: unknown) => error)).toBeInstanceOf(
        SegmentDamaged,
      );
      expect(await store.fold(join(folder, "missing")).catch((error: unknown) => error)).toBeInstanceOf(
        SegmentDamaged,
      );
      expect(await sums("whole")).toEqual({ visits: 0, bots: 0 });
    });

    test("a segment reads back in the order of its links", async () => {
      const visits = ["zz", "aa", "한글", "mm"].map((code) => visit(code));
      const path = await writeSegment({ folder, hour: HOUR, visits });
      const segment = readSegment(path);
      const links = Array.from({ length: segment.length }, (_, nth) => segment.at(nth).link.split("\t")[0]);
      expect(links).toEqual(["aa", "mm", "zz", "한글"]);
    });
  });
}
