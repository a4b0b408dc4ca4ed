import { describe, expect, test } from "bun:test";

import type { Config } from "../../src/config/config.ts";
import type { Decided, EntryId, LinkId } from "../../src/links/link-store.ts";
import { isProblem, type Reason } from "../../src/links/problem.ts";
import { DAY_MS } from "../../src/links/time.ts";
import type { Report } from "../../src/moderation/case.ts";
import { openStore } from "../../src/store/open.ts";
import { newLink } from "./links.ts";
import type { TestedStore } from "./moderation.ts";
import { PATIENT } from "./postgres-away.ts";
import { shareStore } from "./share-store.ts";

const NOW = newLink("x").createdMs;
const DAY = Math.floor(NOW / DAY_MS);

/** Tests what a ModerationStore promises about undoing decisions, in the store at an address. */
export function testUndo(name: string, address: () => Promise<Config["database"]>): void {
  describe(`undoing decisions in ${name}`, () => {
    const openTested = async (): Promise<TestedStore> =>
      openStore(await address(), { ...PATIENT, busyWaitMs: 60_000, sizeKnownMs: 20, connections: 4 });
    const [store, other] = [shareStore(openTested), shareStore(openTested)];

    let count = 0;
    let ms = NOW;
    const by = (more: { reason?: Reason } = {}) => ({ who: "page", atMs: ++ms, ...more }) as const;
    const because = (reason: Reason) => ({ ...by(), reason });

    async function createLink(): Promise<LinkId> {
      const link = newLink(`undo${name}${count++}`);
      await store.insert([link]);
      return { code: link.code, createdMs: link.createdMs };
    }
    const createLinks = (length: number) => Promise.all(Array.from({ length }, () => createLink()));
    const send = (link: LinkId, reporter: string, more: Partial<Report> = {}) =>
      store.report({
        ...link,
        reason: "spam",
        reporter,
        day: DAY,
        atMs: ++ms,
        works: true,
        targetSinceMs: link.createdMs,
        ...more,
      });
    async function entryOf(decided: Promise<Decided | { readonly kind: string }>): Promise<EntryId> {
      const decision = await decided;
      if (isProblem(decision) || decision.entry === undefined) throw new Error("nothing was decided");
      return decision.entry;
    }
    const undo = (entry: EntryId) => other.undo(entry, by());
    const stateOf = async ({ code }: LinkId) => (await other.find(code))?.disabled;
    const statesOf = (links: readonly LinkId[]) => Promise.all(links.map(stateOf));
    const ruleOf = async (host: string) => (await other.hosts("", 1000)).find((rule) => rule.host === host);
    const answerOf = async (link: LinkId) => (await other.caseOf(link))?.answer?.action;
    const read = async (entry: EntryId) => {
      const [found] = await other.decisions({ before: entry + 1, limit: 1 });
      if (found?.entry !== entry) throw new Error("no entry");
      return found;
    };
    const undone = (more: object = {}) => ({ changed: 1, skipped: 0, ...more }) as never;

    test("is refused a second time, also by a simultaneous request, and shows the present state", async () => {
      const link = await createLink();
      await store.disable([link], because("legal"));
      const entry = await entryOf(store.disable([link], because("spam")));
      const results = await Promise.all([undo(entry), store.undo(entry, by()), undo(entry)]);
      expect(results.filter((one) => !isProblem(one))).toHaveLength(1);
      const refusal = { kind: "decision.undone", disabled: "legal" } as const;
      expect(results.filter(isProblem)).toEqual([refusal, refusal]);
      expect(await undo(entry)).toEqual(refusal as never);
      const { undone: undoneBy, isUndoable } = await read(entry);
      expect(isUndoable).toBeFalse();
      expect(await read(undoneBy ?? 0)).toMatchObject({ action: "undo", undoes: entry, ...link, links: 1 });
    });

    test("restores a host's rule with its date, or its absence", async () => {
      const host = `rule${name}.example`;
      const first = await entryOf(store.blockHost({ host, reason: "spam" }, by()));
      const before = await ruleOf(host);
      const second = await entryOf(store.blockHost({ host, reason: "legal" }, by()));
      const third = await entryOf(store.unblockHost(host, by()));
      const since = await other.changes();
      expect(await undo(third)).toMatchObject(undone());
      expect((await other.changes(since.position)).rules).toBeTrue();
      expect(await ruleOf(host)).toMatchObject({ reason: "legal" });
      expect(await undo(second)).toMatchObject(undone());
      expect(await ruleOf(host)).toEqual(before as never);
      expect(await undo(first)).toMatchObject(undone());
      expect(await ruleOf(host)).toBeUndefined();
      expect(await undo(first)).toEqual({ kind: "decision.undone", blocked: null } as never);
    });

    test("of an answer restores the host's rule even if the link is gone", async () => {
      const host = `left${name}.example`;
      const [link] = [newLink(`left${name}`, { endsMs: NOW - 1000 })];
      await store.insert([link]);
      await send(link, "a");
      const entry = await entryOf(
        store.answerCase(link, { action: "block-host", reason: "spam", host }, by()),
      );
      while ((await store.purge(NOW - 1000, 100)) > 0);
      expect(await other.find(link.code)).toBeUndefined();
      expect((await read(entry)).isUndoable).toBeTrue();
      expect(await undo(entry)).toEqual(undone({ entry: expect.any(Number) }));
      expect([await ruleOf(host), await answerOf(link)]).toEqual([undefined, "block-host"]);
      expect((await read(entry)).isUndoable).toBeFalse();
      expect(await undo(entry)).toEqual({ kind: "decision.undone", blocked: null } as never);
    });

    test("is offered for a decision about many only while it would restore one of them", async () => {
      const [one, two, erased] = (await createLinks(3)) as [LinkId, LinkId, LinkId];
      await send(one, "a");
      const entry = await entryOf(store.disable([one, two, erased], because("spam")));
      await store.erase(erased, by());
      const later = await entryOf(store.enable([two], by()));
      expect((await read(entry)).isUndoable).toBeTrue();
      // It sets the case, without which the link isn't restored.
      const nothing = await entryOf(store.answerCase(one, { action: "nothing" }, by()));
      expect((await read(entry)).isUndoable).toBeFalse();
      expect(await undo(entry)).toMatchObject({ kind: "decision.superseded" });
      await undo(nothing);
      expect((await read(entry)).isUndoable).toBeTrue();
      expect(await undo(entry)).toMatchObject({ changed: 1, skipped: 2 });
      expect((await read(entry)).isUndoable).toBeFalse();
      await undo(later);
      expect((await read(entry)).isUndoable).toBeTrue();
    });

    test("isn't offered in the history of a later link with the same code", async () => {
      const link = newLink(`life${name}`, { endsMs: NOW - 1000 });
      const another = await createLink();
      await store.insert([link]);
      await send(link, "a");
      const entries = [
        await entryOf(store.disable([link], because("spam"))),
        await entryOf(store.enable([link, another], by())),
        await entryOf(store.reopenCase(link, by())),
      ];
      const historyOf = async (of: LinkId) =>
        (await other.decisions({ link: of, limit: 9 })).map(({ entry }) => entry);
      expect(await historyOf(link)).toEqual(entries.toReversed());
      while ((await store.purge(NOW - 1000, 100)) > 0);
      const next = newLink(link.code, { createdMs: NOW + 5 });
      await store.insert([next]);
      expect(await historyOf(next)).toEqual([]);
      const own = await entryOf(store.disable([next], because("legal")));
      expect(await historyOf(next)).toEqual([own]);
      expect(await historyOf(link)).toEqual(entries.toReversed());
      const old = await other.decisions({ link, limit: 9 });
      expect(old.map(({ isUndoable }) => isUndoable)).toEqual([false, false, false]);
    });

    test("shows in the history of a link what was undone for it", async () => {
      const [one, two] = (await createLinks(2)) as [LinkId, LinkId];
      const both = await entryOf(store.disable([one, two], because("spam")));
      const later = await entryOf(store.disable([two], because("malware")));
      expect(await undo(both)).toMatchObject({ changed: 1, skipped: 1 });
      const historyOf = async (link: LinkId) =>
        (await other.decisions({ link, limit: 9 })).map((entry) => [
          entry.entry,
          entry.action,
          entry.createdMs,
          entry.undone !== undefined,
          entry.isUndoable,
        ]);
      const { undone: undoneBy = 0 } = await read(both);
      expect(await historyOf(one)).toEqual([
        [undoneBy, "undo", NOW, false, false],
        [both, "disable", NOW, true, false],
      ]);
      expect(await historyOf(two)).toEqual([
        [later, "disable", NOW, false, true],
        [both, "disable", NOW, false, false],
      ]);
    });

    test("is refused for entries that are unknown, changes or undoings, and of links that are gone", async () => {
      for (const entry of [0, -1, 999_999_999, Number.MAX_SAFE_INTEGER])
        expect(await undo(entry)).toEqual({ kind: "decision.unknown" } as never);
      const link = await createLink();
      const changed = await store.change(link, { type: "edit", atMs: ++ms, endsMs: NOW + 5 }, by());
      expect(await undo(changed.entry ?? 0)).toEqual({ kind: "decision.final", disabled: null } as never);
      const ended = newLink(`gone${name}`, { endsMs: NOW - 1000 });
      await store.insert([ended]);
      const enabled = await entryOf(store.enable([ended], by()));
      while ((await store.purge(NOW - 1000, 100)) > 0);
      expect(await undo(enabled)).toEqual({ kind: "decision.final", disabled: undefined } as never);
      const disabled = await entryOf(store.disable([link], because("spam")));
      await undo(disabled);
      const { undone: undoing = 0 } = await read(disabled);
      expect(await undo(undoing)).toEqual({ kind: "decision.final", disabled: null } as never);
    });

    test("sets 10,000 links in one entry, and restores them together", async () => {
      const links = Array.from({ length: 10_000 }, (_, nth) => newLink(`many${name}${nth}`));
      await store.insert(links);
      const entry = await entryOf(store.disable(links, because("spam")));
      expect(await read(entry)).toMatchObject({ links: 10_000, replaced: [{ count: 10_000 }] });
      expect(await undo(entry)).toMatchObject({ changed: 10_000, skipped: 0 });
      expect(await statesOf([links[0], links[9999]] as LinkId[])).toEqual([undefined, undefined]);
    });

    test("takes place once while others decide about the same link and host", async () => {
      const link = await createLink();
      const host = `race${name}.example`;
      for (let round = 0; round < 20; round++) {
        const [first, blocked] = await Promise.all([
          entryOf(store.disable([link], because("spam"))),
          entryOf(store.blockHost({ host, reason: "spam" }, by())),
        ]);
        const [results, second, reblocked] = await Promise.all([
          Promise.all([undo(first), undo(blocked)]),
          entryOf(other.disable([link], because("malware"))),
          entryOf(store.blockHost({ host, reason: "malware" }, by())),
        ]);
        for (const result of results) if (isProblem(result)) expect(result.kind).toBe("decision.superseded");
        expect([await stateOf(link), (await ruleOf(host))?.reason]).toEqual(["malware", "malware"]);
        // The restored value depends on which of both came first.
        const [state, rule] = results.map((result) => (isProblem(result) ? "spam" : undefined));
        for (const entry of [second, reblocked]) expect(await undo(entry)).toMatchObject(undone());
        expect([await stateOf(link), (await ruleOf(host))?.reason]).toEqual([state, rule]);
        await store.enable([link], by());
        await store.unblockHost(host, by());
      }
    });
  });
}
