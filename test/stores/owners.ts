import { describe, expect, test } from "bun:test";

import type { LinkKey } from "../../src/links/code.ts";
import type { LinkId } from "../../src/links/link-store.ts";
import type { Store } from "../../src/store/open.ts";
import { newLink, NOW } from "./links.ts";
import { shareStore } from "./share-store.ts";

type OwnersStore = Pick<
  Store,
  "insert" | "find" | "owned" | "change" | "erase" | "undo" | "decisions" | "close"
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

    test("leave no former destination behind when the link is erased", async () => {
      await store.insert([own("erased", "mina")]);
      const link = { code: "erased" as LinkKey, createdMs: NOW };
      const originalUrl = "https://example.net/secret";
      const edit = {
        type: "edit",
        atMs: NOW + 1000,
        destination: { originalUrl, target: originalUrl as never },
      } as const;
      await store.change(link, edit, AS_MINA);
      await store.erase(link, { who: "page", atMs: NOW + 2000 });
      expect(JSON.stringify(await store.decisions({ link, limit: 9 }))).not.toContain("secret");
      expect(await codesOf("mina")).not.toContain("erased");
    });
  });
}
