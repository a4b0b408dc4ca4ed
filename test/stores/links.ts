import { describe, expect, test } from "bun:test";

import type { LinkKey } from "../../src/links/code.ts";
import type { LinkStore, NewLink } from "../../src/links/link-store.ts";
import type { StoredLink } from "../../src/links/link.ts";
import type { Target } from "../../src/links/target.ts";
import { NEVER_MS } from "../../src/links/time.ts";
import { shareStore } from "./share-store.ts";

export const NOW = Date.UTC(2026, 10, 21);

export function newLink(code: string, changes: Partial<NewLink> = {}): NewLink {
  const originalUrl = `https://example.com/${encodeURIComponent(code)}`;
  return {
    code: code as LinkKey,
    originalUrl,
    target: originalUrl as Target,
    createdMs: NOW,
    endsMs: NEVER_MS,
    freeIfEndedByMs: NOW - 30 * 86_400_000,
    ...changes,
  };
}

/** An inserted link, as stores return it. */
export function withoutHold(inserted: NewLink): StoredLink {
  const { freeIfEndedByMs: _, ...link } = inserted;
  return link;
}

/**
 * Tests what every LinkStore promises. Each call of `open` returns another handle on the same store, as another
 * process has it; the store is empty at first.
 */
export function testLinkStore(name: string, open: () => Promise<LinkStore>): void {
  describe(`${name} as a LinkStore`, () => {
    const [store, other] = [shareStore(open), shareStore(open)];

    const insertAll = async (links: readonly NewLink[], into = store) =>
      (await into.insert(links)).map((isInserted) => (isInserted ? "inserted" : "taken"));
    const insertOne = async (link: NewLink, into = store) => (await insertAll([link], into))[0];
    const find = async (code: string, from = store) => {
      const link = await from.find(code as LinkKey);
      if (from.findNow !== undefined) expect(from.findNow(code as LinkKey)).toEqual(link as never);
      return link;
    };

    const withdraw = async (code: string, atMs: number, from = store, createdMs = NOW) =>
      (await from.update({ code: code as LinkKey, createdMs }, { type: "withdraw", atMs })).isChanged;

    test("returns an inserted link immediately through every handle", async () => {
      const link = newLink("kept", {
        originalUrl: "HTTP://example.com",
        target: "http://example.com/" as Target,
        endsMs: NOW + 5,
      });
      expect(await store.insert([link])).toEqual([true]);
      expect(await find("kept")).toEqual(withoutHold(link));
      expect(await find("kept", other)).toEqual(withoutHold(link));
      expect(await find("nothing")).toBeUndefined();
    });

    test("stores the longest and strangest values unchanged", async () => {
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
        ..."case Case CASE é e ss ß ſ が か ﬁ fi ＡＢ AB ㅋ ᄏ ab a".split(" "),
        "a\u200Db",
        "a ",
      ];
      const outcomes = await insertAll(
        codes.map((code) => newLink(code, { originalUrl: `https://example.com/#${code}` })),
      );
      expect(outcomes).toEqual(codes.map(() => "inserted" as const));
      for (const code of codes) expect((await find(code))?.originalUrl).toBe(`https://example.com/#${code}`);
    });

    test("returns a separate outcome for each row of a batch", async () => {
      expect(
        await insertAll([newLink("b1"), newLink("b2"), newLink("b1"), newLink("kept"), newLink("b3")]),
      ).toEqual(["inserted", "inserted", "taken", "taken", "inserted"]);
      expect(await insertAll([])).toEqual([]);
    });

    test("gives a code to exactly one of many simultaneous creates, over all handles", async () => {
      for (let round = 0; round < 5; round++) {
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

    test("reuses a code from the millisecond at which it is free, without the old link's fields", async () => {
      await insertOne(newLink("reused", { originalUrl: "https://old.example/", endsMs: NOW }));
      const taking = newLink("reused", { createdMs: NOW + 9, endsMs: NEVER_MS, freeIfEndedByMs: NOW - 1 });
      expect(await insertOne(taking)).toBe("taken");
      expect(await find("reused")).toMatchObject({ originalUrl: "https://old.example/" });
      expect(await insertOne({ ...taking, freeIfEndedByMs: NOW })).toBe("inserted");
      expect(await find("reused")).toEqual(withoutHold(taking));
      expect(await insertOne({ ...taking, freeIfEndedByMs: NEVER_MS })).toBe("taken");
    });

    test("gives a freed code to exactly one of many simultaneous creates", async () => {
      await insertOne(newLink("free", { endsMs: NOW }));
      const inserts = Array.from({ length: 40 }, (_, nth) =>
        insertOne(
          newLink("free", { createdMs: NOW + nth, freeIfEndedByMs: NOW }),
          nth % 2 === 0 ? store : other,
        ),
      );
      expect((await Promise.all(inserts)).filter((outcome) => outcome === "inserted")).toHaveLength(1);
    });

    test("purges links that ended by a given time, oldest first, at most `limit` per call", async () => {
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

    test("withdraws a link once, and only the link with the given creation time", async () => {
      await store.insert([newLink("early", { endsMs: NOW + 100 }), newLink("endless")]);
      expect(await withdraw("early", NOW + 50, other)).toBe(true);
      expect(await find("early")).toMatchObject({ endsMs: NOW + 50 });
      expect(await withdraw("endless", NOW + 50)).toBe(true);
      expect(await find("endless", other)).toMatchObject({ endsMs: NOW + 50 });
      for (const endsMs of [NOW + 50, NOW + 60, NEVER_MS])
        expect(await withdraw("early", endsMs)).toBe(false);
      expect(await withdraw("early", NOW, store, NOW + 1)).toBe(false);
      expect(await withdraw("nothing", NOW)).toBe(false);
      expect(await find("early")).toMatchObject({ endsMs: NOW + 50 });
    });

    test("reports changes since a position to every process, in the order of their commits", async () => {
      const { position: start } = await other.changes();
      expect(await other.changes(start)).toMatchObject({ keys: [], hasMore: false, isComplete: true });
      const codes = Array.from({ length: 50 }, (_, nth) => `change${nth}`);
      await store.insert(codes.map((code) => newLink(code)));
      // A create changes no link that a cache could hold.
      expect(await other.changes(start)).toMatchObject({ keys: [] });
      for (const code of codes) await withdraw(code, NOW + 5);
      await withdraw("change0", NOW + 5);
      const { keys: changed, position, isComplete } = await other.changes(start);
      expect(changed).toEqual(codes as LinkKey[]);
      expect(isComplete).toBe(true);
      expect(await other.changes(position)).toMatchObject({ keys: [] });
      expect((await store.changes(start)).keys).toEqual(codes as LinkKey[]);
      // As an imported link may have it.
      await store.insert([newLink(" ")]);
      await withdraw(" ", NOW + 4, other);
      expect((await store.changes(position)).keys).toEqual([" " as LinkKey]);
    });

    test("reports many changes in pages, and misses none while more are committed", async () => {
      const codes = Array.from({ length: 2500 }, (_, nth) => `part${nth}`);
      await store.insert(codes.map((code) => newLink(code)));
      let { position } = await other.changes();
      const progress = { isDone: false };
      const withdrawals = Promise.all(codes.map((code) => withdraw(code, NOW + 5))).finally(
        () => (progress.isDone = true),
      );
      const reported: string[] = [];
      for (let more = true; more || !progress.isDone;) {
        const changes = await other.changes(position);
        reported.push(...changes.keys);
        ({ position, hasMore: more } = changes);
        await Bun.sleep(1);
      }
      await withdrawals;
      reported.push(...(await other.changes(position)).keys);
      expect(new Set(reported)).toEqual(new Set(codes));
      expect(reported).toHaveLength(codes.length);
    });

    test("counts new links in its size soon after their creation, in every handle", async () => {
      const before = await store.size();
      await store.insert(Array.from({ length: 100 }, (_, nth) => newLink(`s${nth}`)));
      const sizes = async () => [await store.size(), await other.size()] as const;
      for (let [one, two] = await sizes(); one < before + 100 || one !== two; [one, two] = await sizes())
        await Bun.sleep(10);
    });

    test("commits every accepted create when it is closed right away", async () => {
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
