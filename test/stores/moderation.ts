import { describe, expect, test } from "bun:test";

import { versionOf } from "../../src/links/change.ts";
import type { LinkKey } from "../../src/links/code.ts";
import type { Decision, LinkStore, NewLink } from "../../src/links/link-store.ts";
import { isProblem, type Reason } from "../../src/links/problem.ts";
import type { Target } from "../../src/links/target.ts";
import { DAY_MS, NEVER_MS } from "../../src/links/time.ts";
import {
  ACTIONS,
  type DecisionFilter,
  type DecisionQuery,
  type ModerationStore,
} from "../../src/moderation/moderation-store.ts";
import type { Slice } from "../../src/visits/days/slice.ts";
import type { VisitStore } from "../../src/visits/days/visit-store.ts";
import { slicesOf } from "../visits/slices.ts";
import { newLink } from "./links.ts";
import { shareStore } from "./share-store.ts";

/** Decisions change links and their visits, so that a store of decisions knows both. */
export type TestedStore = ModerationStore &
  Pick<
    LinkStore,
    "insert" | "find" | "update" | "change" | "disable" | "enable" | "erase" | "changes" | "purge" | "close"
  > &
  Pick<VisitStore, "add" | "sums" | "days" | "age">;

const NOW = newLink("x").createdMs;
/** The result if no link exists. */
export const UNDECIDED = { changed: 0, entry: undefined };
const decision = (more: Partial<Decision> = {}): Decision => ({ who: "api", atMs: NOW + 1, ...more });
const because = (reason: Reason, more: Partial<Decision> = {}) => ({ ...decision(more), reason });

/** Tests what a ModerationStore promises about the operator's decisions; `open` as for {@link testLinkStore}. */
export function testModerationStore(name: string, open: () => Promise<TestedStore>): void {
  describe(`${name} as a ModerationStore`, () => {
    const [store, other] = [shareStore(open), shareStore(open)];

    const createLinks = async (...links: NewLink[]) => {
      await store.insert(links);
      return links.map(({ code, createdMs }) => ({ code, createdMs }));
    };
    const stateOf = async (code: string) => (await other.find(code as LinkKey))?.disabled;
    const isTaken = async (link: NewLink) => !(await store.insert([link])).includes(true);
    const changedSince = async (since: Awaited<ReturnType<TestedStore["changes"]>>) => {
      const { keys, rules } = await other.changes(since.position);
      return { keys: [...keys] as string[], rules };
    };
    const read = async (query: Partial<DecisionQuery>) =>
      (await other.decisions({ limit: 100, ...query })).map((one) => {
        const { entry: _, replaced: _replaced, isUndoable: _isUndoable, ...fields } = one;
        return fields;
      });

    test("disables and enables links, counts the changed ones, and keeps all their other fields", async () => {
      const ids = await createLinks(newLink("d1"), newLink("d2", { endsMs: NOW + 5 }));
      const before = await store.find("d2" as LinkKey);
      const unknown = { code: "d1" as LinkKey, createdMs: NOW + 1 };
      expect(await store.disable([...ids, unknown], because("phishing"))).toMatchObject({ changed: 2 });
      expect(await stateOf("d1")).toBe("phishing");
      expect(await other.find("d2" as LinkKey)).toEqual({ ...before, disabled: "phishing" } as never);
      expect(await store.disable(ids, because("phishing"))).toMatchObject({ changed: 0 });
      expect(await other.disable(ids.slice(0, 1), because("legal"))).toMatchObject({ changed: 1 });
      expect(await stateOf("d1")).toBe("legal");
      expect(await store.enable([...ids, unknown], decision())).toMatchObject({ changed: 2 });
      expect(await other.find("d2" as LinkKey)).toEqual(before as never);
      expect(await store.enable(ids, decision())).toMatchObject({ changed: 0 });
      for (const links of [[], [unknown]])
        expect(await store.disable(links, because("other"))).toEqual(UNDECIDED);
    });

    test("refuses a decision about a link that changed since the operator read it, except for its end", async () => {
      const [id] = await createLinks(newLink("unseen"));
      const before = await other.find("unseen" as LinkKey);
      if (id === undefined || before === undefined) throw new Error("no link");
      const stale = { ...id, revision: versionOf(before) };
      await other.update(id, { type: "edit", atMs: NOW + 1, maxVisits: 9 });
      const now = await store.find(id.code);
      const conflict = { kind: "precondition.failed", revision: now && versionOf(now) } as never;
      expect(await store.disable([stale], because("spam"))).toEqual(conflict);
      expect(await store.enable([stale], decision())).toEqual(conflict);
      expect(await store.erase(stale, decision())).toEqual(conflict);
      expect(await other.find(id.code)).toEqual(now as never);
      expect(await read({ link: id })).toEqual([]);
      const current = { ...id, revision: versionOf(now ?? before) };
      await other.update(id, { type: "edit", atMs: NOW + 1, endsMs: NOW + DAY_MS });
      expect(await store.disable([current], because("spam"))).toMatchObject({ changed: 1 });
      expect(await store.erase(current, decision())).toMatchObject({ changed: 1 });
    });

    test("reports changed links and changed host rules separately to every process", async () => {
      const ids = await createLinks(newLink("c1"), newLink("c2"));
      let since = await other.changes();
      expect(await changedSince(since)).toEqual({ keys: [], rules: false });
      await store.disable(ids, because("spam"));
      await store.disable(ids, because("spam"));
      expect(await changedSince(since)).toEqual({ keys: ["c1", "c2"], rules: false });
      since = await other.changes();
      await store.blockHost({ host: "c.example", reason: "spam" }, decision());
      await store.enable(ids.slice(0, 1), decision());
      expect(await changedSince(since)).toEqual({ keys: ["c1"], rules: true });
      since = await other.changes();
      await store.blockHost({ host: "c.example", reason: "spam" }, decision());
      expect(await changedSince(since)).toEqual({ keys: [], rules: false });
      await store.unblockHost("c.example", decision());
      await store.unblockHost("c.example", decision());
      await store.erase({ code: "c2" as LinkKey, createdMs: NOW }, decision());
      expect(await changedSince(since)).toEqual({ keys: ["c2"], rules: true });
    });

    test("an operator's edit writes a journal entry only if the link changes", async () => {
      const [id] = await createLinks(newLink("edited"));
      if (id === undefined) throw new Error("no link");
      const since = await other.changes();
      const url = "https://new.example/";
      const destination = { originalUrl: url, target: url as Target };
      const edit = { type: "edit", atMs: NOW + 7, destination, endsMs: NOW + DAY_MS } as const;
      const changed = await store.change(id, edit, decision({ note: "moved", atMs: NOW + 7 }));
      expect(changed).toMatchObject({ isChanged: true, entry: expect.any(Number) });
      expect(await other.find(id.code)).toEqual(changed.link as never);
      expect(changed.link).toMatchObject({
        originalUrl: url,
        endsMs: NOW + DAY_MS,
        terms: { changedMs: NOW + 7 },
      });
      expect(await changedSince(since)).toEqual({ keys: ["edited"], rules: false });
      expect(await store.change(id, { ...edit, atMs: NOW + 8 }, decision())).toMatchObject({
        isChanged: false,
      });
      const gone = { ...id, createdMs: NOW + 1 };
      const unknown = { link: undefined, isChanged: false, entry: undefined };
      expect(await store.change(gone, { ...edit, endsMs: NEVER_MS }, decision())).toEqual(unknown);
      await store.disable([id], because("spam"));
      const disabled = await store.change(id, { ...edit, endsMs: NEVER_MS }, decision());
      expect(disabled.isChanged).toBeFalse();
      expect((await read({ link: id })).slice(1)).toEqual([
        { who: "api", action: "change", note: "moved", atMs: NOW + 7, ...id, links: 1 },
      ]);
    });

    test("neither purges a disabled link nor reuses its code until it is enabled", async () => {
      const ended = newLink("kept", { endsMs: NOW - 1000 });
      const successor = newLink("kept", { createdMs: NOW + 9, freeIfEndedByMs: NOW });
      const ids = await createLinks(ended);
      await store.disable(ids, because("malware"));
      await store.purge(NOW, 100);
      expect(await stateOf("kept")).toBe("malware");
      expect(await isTaken(successor)).toBeTrue();
      await store.enable(ids, decision());
      expect(await isTaken(successor)).toBeFalse();
      expect(await other.find("kept" as LinkKey)).toMatchObject({ createdMs: NOW + 9 });
      expect(await stateOf("kept")).toBeUndefined();
      // The decision was about another link of this code.
      expect(await store.disable(ids, because("malware"))).toEqual(UNDECIDED);
      expect(await store.erase({ code: "kept" as LinkKey, createdMs: NOW }, decision())).toEqual(UNDECIDED);
    });

    test("purges an ended link behind a disabled one", async () => {
      const ids = await createLinks(newLink("past1", { endsMs: 1 }), newLink("past2", { endsMs: 2 }));
      await store.disable(ids.slice(0, 1), because("spam"));
      expect(await store.purge(2, 1)).toBe(1);
      expect(await other.find("past2" as LinkKey)).toBeUndefined();
      expect(await store.purge(2, 1)).toBe(0);
    });

    test("erasing a link deletes its URL and all its visits, and reserves its code permanently", async () => {
      const day = Math.floor(NOW / DAY_MS);
      const [gone] = await createLinks(newLink("gone", { endsMs: NOW + 1 }), newLink("stays"));
      const slices: Slice[] = [];
      for (const [sequence, hour] of [day * 24, (day + 3) * 24].entries()) {
        const visits = ["gone", "stays"].map((code) => ({ code, createdMs: NOW }));
        slices.push(...slicesOf({ sequence: sequence + 1, hour, visits }));
      }
      for (const slice of slices) await store.add(slice);
      while ((await store.age({ closeBefore: day + 2, forgetBefore: day + 2 }, 100)) > 0);
      expect(await other.sums("gone" as LinkKey, NOW)).toEqual({ visits: 2, bots: 0 });
      if (gone === undefined) throw new Error("no link");
      expect(await store.erase(gone, decision())).toMatchObject({ changed: 1 });
      // A process that missed the response adds them again.
      for (const slice of slices) await store.add(slice);
      expect(await other.sums("gone" as LinkKey, NOW)).toEqual({ visits: 0, bots: 0 });
      expect(await other.sums("stays" as LinkKey, NOW)).toEqual({ visits: 2, bots: 0 });
      expect(await other.find("gone" as LinkKey)).toMatchObject({ originalUrl: "", disabled: "deleted" });
      expect((await other.find("gone" as LinkKey))?.target as string).toBe("");
      expect(await store.erase(gone, decision())).toEqual(UNDECIDED);
      expect(await store.enable([gone], decision())).toEqual(UNDECIDED);
      expect(await store.disable([gone], because("spam"))).toEqual(UNDECIDED);
      await store.purge(NEVER_MS - 1, 100);
      expect(await stateOf("gone")).toBe("deleted");
      expect(await isTaken(newLink("gone", { createdMs: NOW + 2, freeIfEndedByMs: NEVER_MS }))).toBeTrue();
    });

    test("counts later visits of an erased link only in the day's total", async () => {
      const day = Math.floor(NOW / DAY_MS) + 40;
      const [late] = await createLinks(newLink("late"), newLink("later"));
      if (late === undefined) throw new Error("no link");
      const visits = ["late", "later", "later"].map((code) => ({ code, createdMs: NOW }));
      const slicesIn = (source: string, sequence: number, ofDay: number) =>
        slicesOf({ source, sequence, hour: ofDay * 24, visits });
      const addAll = async (slices: readonly Slice[]) => {
        for (const slice of slices) await other.add(slice);
      };
      const expectNone = async () => {
        expect(await store.sums("late" as LinkKey, NOW)).toEqual({ visits: 0, bots: 0 });
        expect(await store.days("late" as LinkKey, NOW, 0, day + 9)).toEqual([]);
        expect(await store.sums("later" as LinkKey, NOW)).toEqual({ visits: 8, bots: 0 });
      };
      await addAll(slicesIn("known", 1, day));
      expect(await store.erase(late, decision())).toMatchObject({ changed: 1 });
      // The next visits of the source on this day and the next, and the first ones of another source.
      const after = [
        ...slicesIn("known", 2, day),
        ...slicesIn("known", 3, day + 1),
        ...slicesIn("new", 1, day),
      ];
      await addAll(after);
      await addAll(after);
      await expectNone();
      const { days } = await store.figures((day + 1) * DAY_MS);
      const totals = days.map((one) => [one.day, one.counts["visits"]]);
      expect(totals.slice(-2)).toEqual([
        [day, 9],
        [day + 1, 3],
      ]);
      while ((await store.age({ closeBefore: day + 9, forgetBefore: day + 1 }, 100)) > 0);
      await expectNone();
      await addAll(slicesIn("known", 3, day + 1));
      while ((await store.age({ closeBefore: day + 9, forgetBefore: day + 9 }, 100)) > 0);
      await expectNone();
    });

    test("stores host rules and lists them in order, page by page", async () => {
      const hosts = ["b.example", "a.example", "xn--9n2bp8q.example", "192.0.2.1", "[2001:db8::1]"];
      for (const host of hosts) {
        expect(await store.blockHost({ host, reason: "malware" }, decision())).toMatchObject({ changed: 1 });
        const again = await other.blockHost({ host, reason: "malware" }, decision({ atMs: NOW + 9 }));
        expect(again).toMatchObject({ changed: 0 });
      }
      const sorted = hosts.toSorted();
      const all = await other.hosts("", 100);
      expect(all).toEqual(sorted.map((host) => ({ host, reason: "malware", sinceMs: NOW + 1 })));
      expect((await other.hosts("", 2)).map(({ host }) => host)).toEqual(sorted.slice(0, 2));
      expect((await other.hosts(sorted[1] ?? "", 2)).map(({ host }) => host)).toEqual(sorted.slice(2, 4));
      await store.blockHost({ host: "a.example", reason: "legal" }, decision({ atMs: NOW + 9 }));
      expect(await other.hosts("[zzz", 1)).toEqual([
        { host: "a.example", reason: "legal", sinceMs: NOW + 9 },
      ]);
      for (const host of hosts)
        expect(await other.unblockHost(host, decision())).toMatchObject({ changed: 1 });
      expect(await store.unblockHost("a.example", decision())).toMatchObject({ changed: 0 });
      expect(await store.hosts("", 100)).toEqual([]);
    });

    test("records each decision as one entry, and lists the entries newest first", async () => {
      const note = `<b>'"; DROP TABLE journal; --\u202E 메모 ${"x".repeat(1900)}`;
      const ids = await createLinks(newLink("j1"), newLink("j2"));
      const host = "j.example";
      await store.disable(ids, because("illegal", { who: "api", note }));
      await store.disable(ids, because("illegal", { who: "page" }));
      await store.enable(ids.slice(0, 1), decision({ who: "page", atMs: NOW + 2 }));
      await store.erase({ code: "j2" as LinkKey, createdMs: NOW }, decision({ atMs: NOW + 3 }));
      await store.blockHost({ host, reason: "spam" }, decision({ atMs: NOW + 4, note: "" }));
      await store.unblockHost(host, decision({ atMs: NOW + 5 }));
      const [one, two] = ids;
      const disabled = { who: "api", action: "disable", atMs: NOW + 1, reason: "illegal", note } as const;
      const { note: _, ...again } = { ...disabled, who: "page" };
      const expected = [
        { who: "api", action: "unblock-host", atMs: NOW + 5, host, links: 0 },
        { who: "api", action: "block-host", atMs: NOW + 4, reason: "spam", note: "", host, links: 0 },
        { who: "api", action: "erase", atMs: NOW + 3, ...two, links: 1 },
        { who: "page", action: "enable", atMs: NOW + 2, ...one, links: 1 },
        { ...again, links: 2 },
        { ...disabled, links: 2 },
      ];
      expect(await read({ limit: 6 })).toEqual(expected as never);
      // The history of a link names it.
      const ofOne = [expected[3], { ...expected[4], ...one }, { ...expected[5], ...one }];
      expect(await read({ link: one })).toEqual(ofOne as never);
      expect(await read({ host })).toEqual(expected.slice(0, 2) as never);
      expect(await read({ host: "example" })).toEqual([]);
      const [, second] = await other.decisions({ limit: 2 });
      expect(await read({ limit: 3, before: second?.entry })).toEqual(expected.slice(2, 5) as never);
      const [newest] = await other.decisions({ limit: 1, link: one });
      expect(await read({ link: one, before: newest?.entry })).toEqual(ofOne.slice(1) as never);
    });

    test("lists only the entries of a name, of some actions, or after another entry", async () => {
      const [one] = await createLinks(newLink("f1"));
      if (one === undefined) throw new Error("The link is missing");
      const by = "mina@filter";
      await store.disable([one], because("spam", { by }));
      await store.enable([one], decision({ by: "jun@filter" }));
      await store.blockHost({ host: "f.example", reason: "spam" }, decision({ by }));
      const listed = async (filter: Partial<DecisionFilter>) => {
        const all = { after: 0, by: "", actions: ACTIONS };
        return (await read({ limit: 3, filter: { ...all, ...filter } })).map(({ action }) => action);
      };
      expect(await listed({})).toEqual(["block-host", "enable", "disable"]);
      expect(await listed({ by })).toEqual(["block-host", "disable"]);
      expect(await listed({ by, actions: ["enable", "disable"] })).toEqual(["disable"]);
      const [, enabled] = await other.decisions({ limit: 2 });
      expect(await listed({ after: enabled?.entry ?? 0 })).toEqual(["block-host"]);
      for (const unknown of ["mina", "\0"]) expect(await listed({ by: unknown })).toEqual([]);
    });

    test("ends a session for every process, and forgets it after its expiry", async () => {
      const [one, two] = [Uint8Array.of(1), Uint8Array.of(1, 2)];
      const areEnded = () => Promise.all([one, two].map((digest) => other.isSessionEnded(digest)));
      expect(await areEnded()).toEqual([false, false]);
      for (let times = 0; times < 2; times++) await store.endSession({ digest: one, endsMs: NOW + 5 }, NOW);
      expect(await areEnded()).toEqual([true, false]);
      await other.endSession({ digest: two, endsMs: NOW + 9 }, NOW + 4);
      expect(await areEnded()).toEqual([true, true]);
      await store.endSession({ digest: two, endsMs: NOW + 9 }, NOW + 5);
      expect(await areEnded()).toEqual([false, true]);
    });

    test("finds no link, host or journal entry by hostile texts", async () => {
      for (const text of ["\0", "x\0", "", "x", "-1", "\u{1F600}".repeat(999)]) {
        const link = { code: text as LinkKey, createdMs: NOW };
        expect(await store.disable([link], because("spam"))).toEqual(UNDECIDED);
        expect(await store.enable([link], decision())).toEqual(UNDECIDED);
        expect(await store.erase(link, decision())).toEqual(UNDECIDED);
        expect(await store.caseOf(link)).toBeUndefined();
        expect(await store.answerCase(link, { action: "nothing" }, decision())).toEqual(UNDECIDED);
        expect(await read({ link })).toEqual([]);
        expect(await read({ host: text })).toEqual([]);
        expect(await store.hosts(text, 5)).toBeArray();
        expect(await store.cases({ limit: 5, after: text as never })).toBeArray();
      }
    });

    test("simultaneous decisions about the same links take effect once", async () => {
      const ids = await createLinks(...Array.from({ length: 200 }, (_, nth) => newLink(`same${nth}`)));
      for (let round = 0; round < 10; round++) {
        const changed = await Promise.all([
          store.disable(ids, because("spam")),
          other.disable(ids.toReversed(), because("spam")),
          store.disable([...ids.slice(100), ...ids.slice(0, 100)], because("spam")),
        ]);
        const effective = changed.filter((one) => isProblem(one) || one.changed > 0);
        expect(effective).toMatchObject([{ changed: ids.length }]);
        expect(await store.enable(ids, decision())).toMatchObject({ changed: ids.length });
      }
      const entries = await read({ link: ids[7] });
      expect(entries.map(({ action }) => action)).toEqual(
        Array.from({ length: 40 }, (_, nth) => (nth % 4 === 0 ? "enable" : "disable")),
      );
    });
  });
}
