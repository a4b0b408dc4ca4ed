import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import type { Code } from "../../src/links/code.ts";
import { NEVER_MS } from "../../src/links/link.ts";
import type { LinkStore, NewLink } from "../../src/links/store.ts";
import type { Target } from "../../src/links/target.ts";

const NOW = Date.UTC(2026, 10, 21);

export function newLink(code: string, changes: Partial<NewLink> = {}): NewLink {
  const originalUrl = `https://example.com/${encodeURIComponent(code)}`;
  return {
    code: code as Code,
    originalUrl,
    target: originalUrl as Target,
    createdMs: NOW,
    endsMs: NEVER_MS,
    freeIfEndedByMs: NOW - 30 * 86_400_000,
    ...changes,
  };
}

/**
 * What every LinkStore promises. `open` gives a new handle on the same, at first empty, store each time it is
 * called, as another process would have one.
 */
export function testLinkStore(name: string, open: () => Promise<LinkStore>): void {
  describe(`${name} as a LinkStore`, () => {
    let store: LinkStore;
    let other: LinkStore;
    beforeAll(async () => {
      [store, other] = [await open(), await open()];
    });
    afterAll(async () => {
      await store.close();
      await other.close();
    });

    const insertOne = async (link: NewLink, into = store) => (await into.insert([link]))[0];
    const find = (code: string, from = store) => from.find(code as Code);

    test("gives back what was inserted, at once and everywhere", async () => {
      const link = newLink("kept", {
        originalUrl: "HTTP://example.com",
        target: "http://example.com/" as Target,
        endsMs: NOW + 5,
      });
      expect(await insertOne(link)).toBe("inserted");
      const { freeIfEndedByMs: _, ...expected } = link;
      expect(await find("kept")).toEqual(expected);
      expect(await find("kept", other)).toEqual(expected);
      expect(await find("nothing")).toBeUndefined();
    });

    test("keeps the longest and strangest values whole", async () => {
      const codes = [
        "가".repeat(64),
        "👨‍👩‍👧‍👦".repeat(9),
        "#\u20E3",
        "ㅋㅋㅋ",
        "' OR 1=1 --",
        "a/b",
        "%",
        "𠀀".repeat(64),
      ];
      for (const code of codes) {
        const originalUrl = `https://example.com/${"긴 주소 ".repeat(2000)}'"\u202E`;
        expect(
          await insertOne(newLink(code, { originalUrl, target: new URL(originalUrl).href as Target })),
        ).toBe("inserted");
        expect(await find(code, other)).toMatchObject({
          code,
          originalUrl,
          target: new URL(originalUrl).href,
        });
      }
    });

    test("compares codes by their bytes", async () => {
      const codes = [
        "case",
        "Case",
        "CASE",
        "é",
        "e",
        "ss",
        "ß",
        "ſ",
        "が",
        "か",
        "ﬁ",
        "fi",
        "ＡＢ",
        "AB",
        "ㅋ",
        "ᄏ",
        "a\u200Db",
        "ab",
        "a ",
        "a",
      ];
      const outcomes = await store.insert(
        codes.map((code) => newLink(code, { originalUrl: `https://example.com/#${code}` })),
      );
      expect(outcomes).toEqual(codes.map(() => "inserted" as const));
      for (const code of codes) expect((await find(code))?.originalUrl).toBe(`https://example.com/#${code}`);
    });

    test("answers each row of a batch on its own", async () => {
      expect(
        await store.insert([newLink("b1"), newLink("b2"), newLink("b1"), newLink("kept"), newLink("b3")]),
      ).toEqual(["inserted", "inserted", "taken", "taken", "inserted"]);
      expect(await store.insert([])).toEqual([]);
    });

    test("gives a code to exactly one of many, over all handles", async () => {
      for (let round = 0; round < 20; round++) {
        const inserts = Array.from({ length: 50 }, (_, nth) =>
          insertOne(
            newLink(`race${round}`, { originalUrl: `https://example.com/${nth}` }),
            nth % 2 === 0 ? store : other,
          ),
        );
        const outcomes = await Promise.all(inserts);
        expect(outcomes.filter((outcome) => outcome === "inserted")).toHaveLength(1);
        const winner = outcomes.indexOf("inserted");
        expect(await find(`race${round}`, other)).toMatchObject({
          originalUrl: `https://example.com/${winner}`,
        });
      }
    });

    test("gives a code anew once it is free, to the millisecond, and nothing is inherited", async () => {
      await insertOne(newLink("anew", { originalUrl: "https://old.example/", endsMs: NOW }));
      const taking = newLink("anew", { createdMs: NOW + 9, endsMs: NEVER_MS, freeIfEndedByMs: NOW - 1 });
      expect(await insertOne(taking)).toBe("taken");
      expect(await find("anew")).toMatchObject({ originalUrl: "https://old.example/" });
      expect(await insertOne({ ...taking, freeIfEndedByMs: NOW })).toBe("inserted");
      const { freeIfEndedByMs: _, ...expected } = taking;
      expect(await find("anew")).toEqual(expected);
      expect(await insertOne({ ...taking, freeIfEndedByMs: NEVER_MS })).toBe("taken");
    });

    test("gives a code that is free to exactly one of many", async () => {
      await insertOne(newLink("free", { endsMs: NOW }));
      const inserts = Array.from({ length: 40 }, (_, nth) =>
        insertOne(
          newLink("free", { createdMs: NOW + nth, freeIfEndedByMs: NOW }),
          nth % 2 === 0 ? store : other,
        ),
      );
      expect((await Promise.all(inserts)).filter((outcome) => outcome === "inserted")).toHaveLength(1);
    });

    test("purges what ended by then, oldest first, at most as many as asked", async () => {
      const ends = [NOW - 1000, NOW - 900, NOW - 800, NOW - 700, NOW - 600];
      await store.insert(ends.map((endsMs) => newLink(`p${NOW - endsMs}`, { endsMs })));
      expect(await store.purge(NOW - 700, 2)).toBe(2);
      expect(await find("p1000")).toBeUndefined();
      expect(await find("p900", other)).toBeUndefined();
      expect(await find("p800")).toBeDefined();
      expect(await store.purge(NOW - 700, 100)).toBe(2);
      expect(await find("p600")).toBeDefined();
      expect(await store.purge(NOW - 700, 100)).toBe(0);
      expect(await insertOne(newLink("p1000"))).toBe("inserted");
    });

    test("knows about how many links there are, soon after they were made", async () => {
      const before = await store.size();
      await store.insert(Array.from({ length: 100 }, (_, nth) => newLink(`s${nth}`)));
      while ((await store.size()) < before + 100) await Bun.sleep(10);
      while ((await other.size()) < before + 100) await Bun.sleep(10);
      expect(await other.size()).toBe(await store.size());
    });

    test("keeps everything it accepted when it is closed right after", async () => {
      const closing = await open();
      const outcomes = Promise.all(
        Array.from({ length: 300 }, (_, nth) => insertOne(newLink(`c${nth}`), closing)),
      );
      await closing.close();
      expect(new Set(await outcomes)).toEqual(new Set(["inserted"]));
      expect(await find("c0")).toBeDefined();
      expect(await find("c299")).toBeDefined();
    });
  });
}
