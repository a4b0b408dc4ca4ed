import { describe, expect, test } from "bun:test";

import type { LinkKey } from "../../src/links/code.ts";
import type { LinkId } from "../../src/links/link-store.ts";
import type { Store } from "../../src/store/open.ts";
import { newLink, NOW } from "./links.ts";
import { shareStore } from "./share-store.ts";

type OwnersStore = Pick<
  Store,
  "insert" | "find" | "findAll" | "owned" | "update" | "change" | "erase" | "undo" | "decisions" | "close"
>;

const AS_MINA = { who: "person", by: "mina", atMs: NOW + 1000 } as const;

/** The contract for the owners of links. */
export function testOwners(name: string, open: () => Promise<OwnersStore>): void {
  describe(`owners in ${name}`, () => {
    const store = shareStore(open);
    const own = (code: string, owner: string, createdMs = NOW) =>
      newLink(code, { createdMs, terms: { owner, title: `of ${owner}` } });
    const codesOf = async (owner: string, keyPrefix = "", after?: LinkId, limit = 100) =>
      (await store.owned({ owner, keyPrefix, after, limit })).map(({ code }) => code as string);

    test("have a list of their own links in one domain, newest first", async () => {
      await store.insert([
        own("a", "mina"),
        own("go.example/b", "mina"),
        own("c", "mina", NOW + 2),
        own("d", "joon"),
        newLink("e"),
        newLink("f", { terms: { createdBy: "mina" } }),
        own("g", "mina", NOW + 1),
        own("h", "mina", NOW + 1),
      ]);
      expect(await codesOf("mina")).toEqual(["c", "h", "g", "a"]);
      expect(await codesOf("mina", "go.example/")).toEqual(["go.example/b"]);
      expect(await codesOf("Mina")).toEqual([]);
      expect(await codesOf("mi\0na")).toEqual([]);
      expect((await store.owned({ owner: "mina", keyPrefix: "", limit: 1 }))[0]).toEqual(
        (await store.find("c" as LinkKey)) as never,
      );
    });

    test("have links that are found by several codes together", async () => {
      const found = await store.findAll(["a", "none", "go.example/b", "e'"] as LinkKey[]);
      expect(found.map(({ code }) => code as string).toSorted()).toEqual(["a", "go.example/b"]);
      expect(found).toContainEqual((await store.find("a" as LinkKey)) as never);
      expect(await store.findAll([])).toEqual([]);
    });

    test("read it in pages, which continue after links that are gone", async () => {
      const at = (code: string, createdMs: number) => ({ code: code as LinkKey, createdMs });
      expect(await codesOf("mina", "", at("c", NOW + 2), 2)).toEqual(["h", "g"]);
      expect(await codesOf("mina", "", at("g", NOW + 1), 2)).toEqual(["a"]);
      expect(await codesOf("mina", "", at("gone", NOW + 1))).toEqual(["g", "a"]);
      expect(await codesOf("mina", "", at("\0", NOW + 1))).toEqual([]);
    });

    test("change with an entry that says who replaced what, and undoing it starts another generation", async () => {
      await store.insert([own("given", "mina")]);
      const link = { code: "given" as LinkKey, createdMs: NOW };
      const edit = { type: "edit", atMs: NOW + 1000, owner: "joon" } as const;
      const { link: after, entry = 0 } = await store.change(link, edit, AS_MINA);
      expect(after?.terms).toMatchObject({ owner: "joon", keys: 1, title: "of mina" });
      expect(await codesOf("mina")).not.toContain("given");
      expect(await codesOf("joon")).toContain("given");
      const [listed] = await store.decisions({ link, limit: 1 });
      expect(listed).toMatchObject({ action: "hand-over", who: "person", by: "mina", isUndoable: true });
      expect(listed?.replaced).toEqual([{ kind: "owner", value: "mina", became: "joon", count: 1 }]);
      expect(await store.undo(entry, { who: "page", atMs: NOW + 2000 })).toMatchObject({ changed: 1 });
      expect((await store.find(link.code))?.terms).toMatchObject({ owner: "mina", keys: 2 });
      expect(await store.undo(entry, { who: "page", atMs: NOW + 3000 })).toMatchObject({
        kind: "decision.undone",
      });
    });

    test("correct a destination, which undoing brings back unless it has changed again", async () => {
      await store.insert([own("wrong", "mina")]);
      const link = { code: "wrong" as LinkKey, createdMs: NOW };
      const to = (path: string) => {
        const originalUrl = `https://example.net/${path}`;
        return {
          type: "edit",
          atMs: NOW + 1000,
          destination: { originalUrl, target: originalUrl as never },
        } as const;
      };
      const before = (await store.find(link.code))?.originalUrl;
      const { entry: first = 0 } = await store.change(link, to("one"), AS_MINA);
      const { entry: second = 0 } = await store.change(link, to("two"), { ...AS_MINA, by: "joon" });
      const [latest] = await store.decisions({ link, limit: 1 });
      expect(latest).toMatchObject({ action: "correct", by: "joon", entry: second });
      expect(latest?.replaced).toEqual([
        { kind: "target", value: "https://example.net/one", became: "https://example.net/two", count: 1 },
      ]);
      const undo = (entry: number) => store.undo(entry, { ...AS_MINA, atMs: NOW + 5000 });
      expect(await undo(first)).toMatchObject({ kind: "decision.superseded" });
      expect(await undo(second)).toMatchObject({ changed: 1 });
      expect(await store.find(link.code)).toMatchObject({
        originalUrl: "https://example.net/one",
        target: "https://example.net/one" as never,
      });
      expect(await undo(first)).toMatchObject({ changed: 1 });
      expect((await store.find(link.code))?.originalUrl).toBe(before as string);
    });

    test("correct terms, which undoing restores unless the link would end or start in the past", async () => {
      const at = NOW + 1000;
      const terms = { owner: "mina", title: "Was", maxVisits: 5, startsMs: NOW + 5000 };
      await store.insert([newLink("terms", { terms, endsMs: NOW + 9000 })]);
      const link = { code: "terms" as LinkKey, createdMs: NOW };
      const edit = (changes: object) => store.change(link, { type: "edit", atMs: at, ...changes }, AS_MINA);
      const { entry: first = 0 } = await edit({ title: "Is", maxVisits: 7, forwardQuery: true });
      const { entry: moved = 0 } = await edit({ startsMs: NOW + 7000, endsMs: null });
      const [, listed] = await store.decisions({ link, forColleagues: true, limit: 2 });
      expect(listed?.replaced).toEqual([
        { kind: "title", value: "Was", became: "Is", count: 1 },
        { kind: "max_visits", value: "5", became: "7", count: 1 },
        { kind: "forward_query", became: "true", count: 1 },
      ]);
      const undo = async (entry: number, atMs: number) => {
        const undone = await store.undo(entry, { ...AS_MINA, atMs });
        return "changed" in undone ? undone.changed : undone.kind;
      };
      expect(await undo(moved, NOW + 6000)).toBe("decision.final");
      expect(await undo(moved, NOW + 2000)).toBe(1);
      expect(await store.find(link.code)).toMatchObject({
        endsMs: NOW + 9000,
        terms: { startsMs: NOW + 5000 },
      });
      for (let nth = 0; nth < 5; nth++) await store.update(link, { type: "visit", atMs: NOW + 6000 });
      expect(await undo(first, NOW + 6000)).toBe("decision.final");
      expect((await store.find(link.code))?.terms).toMatchObject({ title: "Is", maxVisits: 7, visits: 5 });
    });

    test("bring a value back only while they may change it", async () => {
      await store.insert([own("right", "mina")]);
      const link = { code: "right" as LinkKey, createdMs: NOW };
      const edit = (changes: object) =>
        store.change(link, { type: "edit", atMs: NOW + 1000, ...changes }, AS_MINA);
      const { entry = 0 } = await edit({ title: "Corrected" });
      const { entry: given = 0 } = await edit({ owner: "joon" });
      const bringBack = async (id: number, asEditor: boolean, keys?: number) => {
        const opened = { ...link, keys, asEditor, canRetarget: true };
        const undone = await store.undo(id, { ...AS_MINA, atMs: NOW + 2000 }, opened);
        return "changed" in undone ? undone.changed : undone.kind;
      };
      expect(await bringBack(entry, false)).toBe("precondition.failed");
      expect(await bringBack(given, false, 1)).toBe("decision.unknown");
      await edit({ passwordHash: "$argon2id$" });
      expect(await bringBack(entry, true)).toBe("precondition.failed");
      expect((await store.find(link.code))?.terms?.title).toBe("Corrected");
      expect(await bringBack(entry, false, 1)).toBe(1);
      expect((await store.find(link.code))?.terms?.title).toBe("of mina");
    });

    test("hand over together with a correction, and undoing restores both", async () => {
      await store.insert([own("both", "mina")]);
      const link = { code: "both" as LinkKey, createdMs: NOW };
      const edit = { type: "edit", atMs: NOW + 1000, owner: "joon", title: "Theirs" } as const;
      const { entry = 0 } = await store.change(link, edit, AS_MINA);
      expect(await store.undo(entry, { who: "page", atMs: NOW + 2000 })).toMatchObject({ changed: 1 });
      expect((await store.find(link.code))?.terms).toEqual({ owner: "mina", title: "of mina", keys: 2 });
    });

    test("leave no former destination or title behind when the link is erased", async () => {
      await store.insert([own("erased", "mina")]);
      const link = { code: "erased" as LinkKey, createdMs: NOW };
      const originalUrl = "https://example.net/secret";
      const edit = {
        type: "edit",
        atMs: NOW + 1000,
        destination: { originalUrl, target: originalUrl as never },
        title: "A secret title",
      } as const;
      await store.change(link, edit, AS_MINA);
      await store.erase(link, { who: "page", atMs: NOW + 2000 });
      expect(JSON.stringify(await store.decisions({ link, limit: 9 }))).not.toContain("secret");
      expect(await codesOf("mina")).not.toContain("erased");
    });
  });
}
