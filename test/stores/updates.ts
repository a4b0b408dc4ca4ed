import { describe, expect, test } from "bun:test";

import type { Change, Edit } from "../../src/links/change.ts";
import type { LinkKey } from "../../src/links/code.ts";
import type { LinkId, LinkStore, NewLink, Updated } from "../../src/links/link-store.ts";
import type { StoredLink } from "../../src/links/link.ts";
import type { Target } from "../../src/links/target.ts";
import { DAY_MS } from "../../src/links/time.ts";
import { newLink, NOW, withoutHold } from "./links.ts";
import { shareStore } from "./share-store.ts";

export const destination = (url: string) => ({ originalUrl: url, target: URL.parse(url)?.href as Target });
export const edit = (changes: Edit, atMs = NOW + 1): Change => ({ type: "edit", atMs, ...changes });
const withdraw: Change = { type: "withdraw", atMs: NOW + 1 };
export const visit: Change = { type: "visit", atMs: NOW + 1 };
const UNKNOWN = { link: undefined, isChanged: false };

/** Tests what every LinkStore promises about changes of links; `open` as for {@link testLinkStore}. */
export function testUpdates(name: string, open: () => Promise<LinkStore>): void {
  describe(`changes of links in ${name}`, () => {
    const [store, other] = [shareStore(open), shareStore(open)];

    const createLink = async (code: string, changes: Partial<NewLink> = {}): Promise<StoredLink> => {
      const link = newLink(code, changes);
      const [isInserted] = await store.insert([link]);
      if (isInserted !== true) throw new Error(`${code} is taken`);
      return withoutHold(link);
    };
    const find = async (code: string, from = other) => from.find(code as LinkKey);
    /** Visits through both handles in turn. */
    const visitAll = (link: LinkId, visits: number) =>
      Array.from({ length: visits }, async (_, nth) => (nth % 2 === 0 ? store : other).update(link, visit));
    const changedOf = (all: readonly Updated[]) => all.filter(({ isChanged }) => isChanged).length;

    test("a create stores the link's terms", async () => {
      const terms = { startsMs: NOW + 5, maxVisits: 3, passwordHash: "$argon2id$v=19$'한글'\"\\" };
      expect(await createLink("terms", { terms })).toMatchObject({ terms });
      expect(await find("terms")).toMatchObject({ terms });
      expect((await createLink("plain")).terms).toBeUndefined();
      expect((await find("plain"))?.terms).toBeUndefined();
    });

    test("an edit changes the fields that it names and nothing else", async () => {
      let expected = await createLink("edited", { endsMs: NOW + DAY_MS });
      const change = async (edited: Edit, becomes: Partial<StoredLink>) => {
        expected = { ...expected, ...becomes };
        expect(await store.update(expected, edit(edited))).toEqual({ link: expected, isChanged: true });
        for (const from of [store, other]) expect(await find("edited", from)).toEqual(expected);
        // A repeated edit changes nothing.
        expect(await other.update(expected, edit(edited))).toEqual({ link: expected, isChanged: false });
      };
      await change({ endsMs: NOW + 5 }, { endsMs: NOW + 5 });
      await change({ maxVisits: 7 }, { terms: { maxVisits: 7 } });
      await change({ passwordHash: "hash" }, { terms: { maxVisits: 7, passwordHash: "hash" } });
      const move = { changedMs: NOW + 1, formerHost: "example.com", formerMs: 1 };
      await change(
        { destination: destination("HTTP://New.example"), maxVisits: null },
        {
          originalUrl: "HTTP://New.example",
          target: "http://new.example/" as Target,
          terms: { passwordHash: "hash", ...move },
        },
      );
      await change({ passwordHash: null }, { terms: move });
      await change({ endsMs: newLink("x").endsMs }, { endsMs: newLink("x").endsMs });
      expect(await store.update(expected, edit({}))).toEqual({ link: expected, isChanged: false });
    });

    test("an edit can move the start of a link until it has started", async () => {
      const link = await createLink("starts", { terms: { startsMs: NOW + 5, maxVisits: 3 } });
      const postponed = { ...link, terms: { startsMs: NOW + 9, maxVisits: 3 } };
      expect(await other.update(link, edit({ startsMs: NOW + 9 }))).toEqual({
        link: postponed,
        isChanged: true,
      });
      const started = { ...link, terms: { startsMs: NOW + 1, maxVisits: 3 } };
      expect(await store.update(link, edit({ startsMs: NOW + 1 }))).toEqual({
        link: started,
        isChanged: true,
      });
      expect(await other.update(link, edit({ startsMs: NOW + 9, maxVisits: 8 }))).toEqual({
        link: started,
        isChanged: false,
      });
      for (const from of [store, other]) expect(await find("starts", from)).toEqual(started);
    });

    test("a withdrawal ends enabled and disabled links", async () => {
      for (const code of ["w1", "w2"]) {
        const link = await createLink(code, { terms: { maxVisits: 2 } });
        if (code === "w2") await store.disable([link], { reason: "spam", who: "api", atMs: NOW });
        const expected = { endsMs: NOW + 1, terms: { maxVisits: 2, ended: "withdrawn" } } as const;
        expect(await store.update(link, withdraw)).toMatchObject({ link: expected, isChanged: true });
        expect(await find(code)).toMatchObject(expected);
      }
    });

    test("ended and erased links don't change, disabled ones can only be withdrawn, and ids of other links are unknown", async () => {
      const changes = [edit({ endsMs: NOW + 9 }), edit({ maxVisits: 5 }), visit, withdraw];
      const limited = { terms: { maxVisits: 2 } };
      const ended = await createLink("l1", { ...limited, endsMs: NOW + 1 });
      const withdrawn = await createLink("l2", limited);
      await store.update(withdrawn, withdraw);
      const disabled = await createLink("l3", limited);
      await store.disable([disabled], { reason: "spam", who: "api", atMs: NOW });
      const deleted = await createLink("l4", limited);
      await store.erase(deleted, { who: "api", atMs: NOW });
      for (const link of [ended, withdrawn, disabled, deleted]) {
        const before = await find(link.code);
        for (const change of link === disabled ? changes.slice(0, 3) : changes)
          expect(await store.update(link, change), change.type).toEqual({ link: before, isChanged: false });
        expect(await find(link.code)).toEqual(before);
      }
      // Erasing deletes the terms as well.
      expect((await find("l4"))?.terms).toBeUndefined();
      const active = await createLink("l5", limited);
      for (const change of changes) {
        for (const code of ["nothing", "a\0b"])
          expect(await store.update({ code: code as LinkKey, createdMs: NOW }, change)).toEqual(UNKNOWN);
        expect(await store.update({ ...active, createdMs: NOW + 1 }, change)).toEqual(UNKNOWN);
      }
      expect(await find("l5")).toEqual(active);
    });

    test("every process learns of edits and withdrawals, but neither of visits nor of changes without effect", async () => {
      const link = await createLink("reported", { terms: { maxVisits: 2 } });
      const { position } = await other.changes();
      const changedKeys = async () => (await other.changes(position)).keys;
      await store.update(link, visit);
      await store.update(link, edit({}));
      expect(await changedKeys()).toEqual([]);
      await store.update(link, edit({ passwordHash: "hash" }));
      expect(await changedKeys()).toEqual([link.code]);
      const { position: next } = await other.changes(position);
      await Promise.all([...visitAll(link, 5), store.update(await createLink("reported2"), withdraw)]);
      expect((await other.changes(next)).keys).toEqual(["reported2" as LinkKey]);
      expect(await find("reported")).toMatchObject({ terms: { visits: 2, ended: "visits" } });
    });

    test("a link ends after exactly `maxVisits` accepted visits over all handles", async () => {
      const link = await createLink("hundred", { terms: { maxVisits: 100 } });
      const all = await Promise.all(visitAll(link, 300));
      expect(changedOf(all)).toBe(100);
      const counts = all.flatMap(({ link: after, isChanged }) => (isChanged ? after?.terms?.visits : []));
      expect(counts.toSorted((a = 0, b = 0) => a - b)).toEqual(
        Array.from({ length: 100 }, (_, nth) => nth + 1),
      );
      expect(await find("hundred")).toEqual({
        ...link,
        endsMs: NOW + 1,
        terms: { maxVisits: 100, visits: 100, ended: "visits" },
      });
    });

    test("visits that race an edit of `maxVisits` obey the old or the new limit", async () => {
      for (let round = 0; round < 4; round++) {
        const raised = await createLink(`raised${round}`, { terms: { maxVisits: 20 } });
        const before = visitAll(raised, 15 + round);
        const raising = other.update(raised, edit({ maxVisits: 40 }));
        const after = visitAll(raised, 60);
        const { isChanged } = await raising;
        expect(changedOf(await Promise.all([...before, ...after]))).toBe(isChanged ? 40 : 20);

        const lowered = await createLink(`lowered${round}`, { terms: { maxVisits: 40 } });
        const early = visitAll(lowered, 15 + round);
        const lowering = other.update(lowered, edit({ maxVisits: 20 }));
        const late = visitAll(lowered, 60);
        const { link, isChanged: isLowered } = await lowering;
        const visits = isLowered ? Math.max(20, link?.terms?.visits ?? 0) : 40;
        expect(changedOf(await Promise.all([...early, ...late]))).toBe(visits);
        expect(await find(`lowered${round}`)).toMatchObject({ terms: { visits, ended: "visits" } });
      }
    });

    test("the last of simultaneous edits wins with all its fields", async () => {
      const link = await createLink("simultaneous");
      const edits = Array.from({ length: 60 }, (_, nth): Edit => ({
        destination: destination(`https://n${nth}.example/${nth}`),
        passwordHash: `hash ${nth}`,
      }));
      const all = await Promise.all(
        edits.map((one, nth) => (nth % 2 === 0 ? store : other).update(link, edit(one))),
      );
      expect(changedOf(all)).toBe(60);
      const found = await find("simultaneous");
      const nth = Number(found?.target.split("/").at(-1));
      expect(found).toMatchObject({
        originalUrl: `https://n${nth}.example/${nth}`,
        terms: { passwordHash: `hash ${nth}`, formerHost: "example.com" },
      });
      expect(all.some(({ link: after }) => Bun.deepEquals(after, found))).toBe(true);
    });

    test("a reused code inherits nothing from the withdrawn link", async () => {
      const old = await createLink("again", { terms: { maxVisits: 9, passwordHash: "hash" } });
      await store.update(old, edit({ destination: destination("https://moved.example/") }));
      await store.update(old, withdraw);
      const successor = newLink("again", { createdMs: NOW + 9, freeIfEndedByMs: NOW + 1 });
      expect(await store.insert([{ ...successor, freeIfEndedByMs: NOW }])).toEqual([false]);
      expect(await other.insert([successor])).toEqual([true]);
      expect(await find("again", store)).toEqual(withoutHold(successor));
      expect(await find("again")).toMatchObject({ terms: undefined, originalUrl: successor.originalUrl });
      expect(await store.update(old, edit({ passwordHash: "hash" }))).toEqual(UNKNOWN);
      expect(await store.purge(NOW + 1, 100)).toBeGreaterThanOrEqual(0);
      expect(await find("again")).toEqual(withoutHold(successor));
    });

    test("a store commits every accepted change when it is closed right away", async () => {
      const link = await createLink("closing", { terms: { maxVisits: 1000 } });
      const closing = await open();
      const visits = Promise.all(Array.from({ length: 200 }, () => closing.update(link, visit)));
      await closing.close();
      expect(changedOf(await visits)).toBe(200);
      expect(await find("closing")).toMatchObject({ terms: { visits: 200 } });
    });

    test("all processes keep the same one of the proposed secrets", async () => {
      const proposals = Array.from({ length: 20 }, () => crypto.getRandomValues(new Uint8Array(32)));
      const secrets = await Promise.all(
        proposals.map((proposed, nth) => (nth % 2 === 0 ? store : other).secret(proposed)),
      );
      const [secret] = secrets;
      expect(proposals.some((proposed) => Bun.deepEquals(proposed, secret))).toBe(true);
      for (const each of secrets) expect(each).toEqual(secret as Uint8Array);
      const third = await open();
      expect(await third.secret(new Uint8Array(32))).toEqual(secret as Uint8Array);
      await third.close();
    });
  });
}
