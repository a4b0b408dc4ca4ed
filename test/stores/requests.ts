import { describe, expect, test } from "bun:test";

import type { LinkKey } from "../../src/links/code.ts";
import type { KeyedRequest, LinkStore, NewLink } from "../../src/links/link-store.ts";
import { newLink, NOW, withoutHold } from "./links.ts";
import { shareStore } from "./share-store.ts";

const numbered = (codes: readonly string[], changes: Partial<NewLink> = {}) =>
  codes.map((code, nth) => ({ ...newLink(code, changes), nth }));
const keyed = (key: string, body = "body", sentMs = NOW): KeyedRequest => ({ key, body, sentMs });
const record = (nth: number, { code, createdMs, endsMs }: NewLink) => ({ nth, code, createdMs, endsMs });
const [ADDED, TAKEN] = [true, false];
const REUSED = { kind: "key-reused" } as const;

/** Tests what every LinkStore promises about retries with an idempotency key; `open` as for {@link testLinkStore}. */
export function testRequests(name: string, open: () => Promise<LinkStore>): void {
  describe(`${name} with idempotency keys`, () => {
    const [store, other] = [shareStore(open), shareStore(open)];

    const exists = async (code: string) => (await other.find(code as LinkKey)) !== undefined;

    test("creates links once with all fields, and returns the same records to a retry", async () => {
      const terms = { maxVisits: 3, passwordHash: "hash" };
      const links = numbered(["first", "second"], { endsMs: NOW + 5, terms });
      const records = links.map((link) => record(link.nth, link));
      expect(await store.recall(keyed("once"))).toEqual([]);
      expect(await store.insertOnce(links, keyed("once"))).toEqual([ADDED, ADDED]);
      const expected = withoutHold(newLink("second", { endsMs: NOW + 5, terms }));
      expect(await other.find("second" as LinkKey)).toEqual(expected);
      const later = numbered(["third", "fourth"], { createdMs: NOW + 9 });
      for (const from of [store, other]) {
        expect(await from.insertOnce(later, keyed("once", "body", NOW + 9))).toEqual(records);
        expect(await from.recall(keyed("once"))).toEqual(records);
      }
      expect([await exists("third"), await exists("fourth")]).toEqual([false, false]);
    });

    test("creates one link for 100 simultaneous requests with one key, and returns it to all", async () => {
      const outcomes = await Promise.all(
        Array.from({ length: 100 }, (_, nth) =>
          (nth % 2 === 0 ? store : other).insertOnce(numbered([`one${nth}`]), keyed("hundred")),
        ),
      );
      const codes = Array.from({ length: 100 }, (_, nth) => `one${nth}`);
      const created = (await Promise.all(codes.map((code) => store.find(code as LinkKey)))).flatMap(
        (link) => link ?? [],
      );
      expect(created).toHaveLength(1);
      const [link] = created as [NewLink];
      const added = codes.indexOf(link.code);
      expect(outcomes).toEqual(codes.map((_, nth) => [nth === added ? ADDED : record(0, link)]));
      expect(await store.recall(keyed("hundred"))).toEqual([record(0, link)]);
    });

    test("says to one of simultaneous requests for a code, in the same millisecond, that it has added the link", async () => {
      const links = numbered(["same"]);
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, nth) =>
          (nth % 2 === 0 ? store : other).insertOnce(links, keyed("same")),
        ),
      );
      const others = outcomes.filter((outcome) => !("kind" in outcome) && outcome[0] !== ADDED);
      expect(others).toEqual(Array.from({ length: 19 }, () => links.map((link) => record(0, link))));
    });

    test("refuses another body with the same key, and creates nothing", async () => {
      await store.insertOnce(numbered(["body1"]), keyed("bodies", "one"));
      for (const from of [store, other]) {
        expect(await from.insertOnce(numbered(["body2"]), keyed("bodies", "two"))).toEqual(REUSED);
        expect(await from.recall(keyed("bodies", "two"))).toEqual(REUSED);
      }
      expect(await exists("body2")).toBe(false);
      expect(await store.recall(keyed("bodies", "one"))).toHaveLength(1);
    });

    test("accepts one of several bodies that arrive simultaneously with one key", async () => {
      const outcomes = await Promise.all(
        Array.from({ length: 40 }, (_, nth) =>
          (nth % 2 === 0 ? store : other).insertOnce(numbered([`mixed${nth}`]), keyed("mixed", `${nth % 5}`)),
        ),
      );
      const bodies = outcomes.flatMap((outcome, nth) => ("kind" in outcome ? [] : [nth % 5]));
      expect(bodies).toHaveLength(8);
      expect(new Set(bodies).size).toBe(1);
      const codes = Array.from({ length: 40 }, (_, nth) => exists(`mixed${nth}`));
      expect((await Promise.all(codes)).filter(Boolean)).toHaveLength(1);
    });

    test("records only created links, and creates the missing ones with the retry's codes", async () => {
      await store.insert([newLink("part2")]);
      const links = numbered(["part1", "part2", "part3"]);
      const [first, , third] = links.map((link) => record(link.nth, link));
      expect(await store.insertOnce(links, keyed("parts"))).toEqual([ADDED, TAKEN, ADDED]);
      expect(await other.recall(keyed("parts"))).toEqual([first, third] as never);
      const retry = numbered(["part4", "part5", "part6"]);
      const second = record(1, retry[1] as NewLink);
      expect(await other.insertOnce(retry, keyed("parts"))).toEqual([first, ADDED, third] as never);
      expect([await exists("part4"), await exists("part6")]).toEqual([false, false]);
      const records = await store.recall(keyed("parts"));
      expect("kind" in records ? [] : records.toSorted((a, b) => a.nth - b.nth)).toEqual([
        first,
        second,
        third,
      ] as never);
      // Only some of its numbers, in another order.
      expect(await store.insertOnce(retry.toReversed().slice(0, 2), keyed("parts"))).toEqual([
        third,
        second,
      ] as never);
    });

    test("creates a free code even if simultaneous requests with the same key ask for a taken one", async () => {
      await store.insert([newLink("obstacle")]);
      const codes = Array.from({ length: 20 }, (_, nth) => (nth === 13 ? "way" : "obstacle"));
      const outcomes = await Promise.all(
        codes.map((code, nth) =>
          (nth % 2 === 0 ? store : other).insertOnce(numbered([code]), keyed("obstacles")),
        ),
      );
      const expected = record(0, newLink("way"));
      expect(outcomes[13]).toEqual([ADDED]);
      for (const outcome of outcomes.toSpliced(13, 1))
        expect([[TAKEN], [expected]]).toContainEqual(outcome as never);
      expect(await store.recall(keyed("obstacles"))).toEqual([expected]);
    });

    test("records nothing if nothing was created, so that another body can use the key", async () => {
      await store.insert([newLink("none")]);
      for (const body of ["one", "two", "two"])
        expect(await store.insertOnce(numbered(["none", "none"]), keyed("nothing", body))).toEqual([
          TAKEN,
          TAKEN,
        ]);
      expect(await other.recall(keyed("nothing", "three"))).toEqual([]);
      expect(await other.insertOnce(numbered(["some"]), keyed("nothing", "three"))).toHaveLength(1);
      expect(await store.recall(keyed("nothing", "one"))).toEqual(REUSED);
    });

    test("creates a code once if a request contains it twice", async () => {
      expect(await store.insertOnce(numbered(["twice", "twice"]), keyed("twice"))).toEqual([ADDED, TAKEN]);
    });

    test("reuses a free code without the old link's fields", async () => {
      await store.insert([newLink("freed", { endsMs: NOW, terms: { passwordHash: "hash" } })]);
      const links = numbered(["freed"], { createdMs: NOW + 1, freeIfEndedByMs: NOW });
      expect(await store.insertOnce(links, keyed("freed"))).toEqual([ADDED]);
      expect(await other.find("freed" as LinkKey)).toMatchObject({ createdMs: NOW + 1, terms: undefined });
    });

    test("creates each code once for many keys with the same codes in different orders", async () => {
      const codes = Array.from({ length: 30 }, (_, nth) => `wanted${nth}`);
      const orders = [codes, codes.toReversed(), [...codes.slice(15), ...codes.slice(0, 15)]];
      const requests = Array.from({ length: 60 }, (_, nth) => ({
        from: nth % 2 === 0 ? store : other,
        links: numbered(orders[nth % 3] ?? codes),
        request: keyed(`wants${(nth * 7) % 60}`),
      }));
      const outcomes = await Promise.all(
        requests.map(({ from, links, request }) => from.insertOnce(links, request)),
      );
      const created = outcomes.flatMap((outcome, at) =>
        "kind" in outcome ? [] : (orders[at % 3] ?? codes).filter((_, nth) => outcome[nth] === ADDED),
      );
      expect(created.toSorted()).toEqual(codes.toSorted());
    });

    test("forgets the oldest requests, at most `limit` per call; then their keys create other links", async () => {
      for (const [nth, key] of ["old0", "old1", "old2", "old3"].entries())
        await store.insertOnce(numbered([`${key}-link`]), keyed(key, "body", nth));
      // A later retry doesn't renew it.
      await store.insertOnce(numbered(["old0-retry"]), keyed("old0", "body", NOW));
      expect(await store.forgetRequests(0, 100)).toBe(0);
      expect(await store.forgetRequests(3, 2)).toBe(2);
      const recall = async (key: string) => other.recall(keyed(key));
      expect([await recall("old0"), await recall("old1")]).toEqual([[], []]);
      expect(
        [await recall("old2"), await recall("old3")].map((records) => "length" in records && records.length),
      ).toEqual([1, 1]);
      expect(await other.forgetRequests(3, 100)).toBe(1);
      expect(await store.forgetRequests(3, 100)).toBe(0);
      expect(await recall("old3")).toHaveLength(1);
      const later = numbered(["old0-later"]);
      expect(await store.insertOnce(later, keyed("old0"))).toEqual([ADDED]);
      expect(await exists("old0-link")).toBe(true);
    });

    test("commits every accepted request when it is closed right away", async () => {
      const closing = await open();
      const codes = Array.from({ length: 100 }, (_, nth) => `closed${nth}`);
      const outcomes = Promise.all(codes.map((code) => closing.insertOnce(numbered([code]), keyed(code))));
      await closing.close();
      expect(await outcomes).toEqual(codes.map(() => [ADDED]));
      for (const code of codes) expect(await store.recall(keyed(code))).toEqual([record(0, newLink(code))]);
      expect(await exists("closed99")).toBe(true);
    });
  });
}
