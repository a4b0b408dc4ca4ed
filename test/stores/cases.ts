import { describe, expect, test } from "bun:test";

import { versionOf } from "../../src/links/change.ts";
import type { LinkKey } from "../../src/links/code.ts";
import type { LinkId } from "../../src/links/link-store.ts";
import { isProblem } from "../../src/links/problem.ts";
import type { Target } from "../../src/links/target.ts";
import { DAY_MS } from "../../src/links/time.ts";
import { type CaseQuery, MAX_CASE_NOTES, type Report } from "../../src/moderation/case.ts";
import { newLink } from "./links.ts";
import { type TestedStore, UNDECIDED } from "./moderation.ts";
import { shareStore } from "./share-store.ts";

const NOW = newLink("x").createdMs;
const DAY = Math.floor(NOW / DAY_MS);
const byOperator = (atMs = NOW + 50) => ({ who: "page", atMs, note: "looked" }) as const;

/** Tests what a CaseStore promises about reports; `open` as for {@link testLinkStore}. */
export function testCaseStore(name: string, open: () => Promise<TestedStore>): void {
  describe(`${name} as a CaseStore`, () => {
    const [store, other] = [shareStore(open), shareStore(open)];

    let linkCount = 0;
    async function createLink(): Promise<LinkId> {
      const link = newLink(`case${linkCount++}`);
      await store.insert([link]);
      return { code: link.code, createdMs: link.createdMs };
    }
    const reportOf = (link: LinkId, reporter: string, more: Partial<Report> = {}): Report => ({
      ...link,
      reason: "spam",
      reporter,
      day: DAY,
      atMs: NOW + 10,
      works: true,
      targetSinceMs: link.createdMs,
      ...more,
    });
    const send = (link: LinkId, reporter: string, more: Partial<Report> = {}) =>
      store.report(reportOf(link, reporter, more));
    const stateOf = async ({ code }: LinkId) => (await other.find(code))?.disabled;
    const actionsOn = async (link: LinkId) =>
      (await other.decisions({ limit: 100, link })).map(({ action, who }) => [action, who]);

    test("collects the reports of a link in one case and counts each client once a day", async () => {
      const link = await createLink();
      expect(await other.caseOf(link)).toBeUndefined();
      expect(await send(link, "a", { note: "first" })).toBe("counted");
      expect(await send(link, "a", { note: "again", reason: "legal" })).toBe("repeated");
      expect(await other.report(reportOf(link, "a"))).toBe("repeated");
      expect(await send(link, "b", { reason: "phishing", atMs: NOW + 30, note: "second" })).toBe("counted");
      expect(await send(link, "c", { atMs: NOW + 20 })).toBe("counted");
      expect(await send(link, "a", { day: DAY + 1, atMs: NOW + 25 })).toBe("counted");
      expect(await other.caseOf(link)).toEqual({
        ...link,
        firstMs: NOW + 10,
        lastMs: NOW + 30,
        reports: 4,
        reasons: { spam: 3, phishing: 1 },
        pendingReasons: { spam: 3, phishing: 1 },
        pending: 4,
        disabledMs: undefined,
        answer: undefined,
        targetMs: undefined,
        notes: [
          { atMs: NOW + 30, reason: "phishing", note: "second" },
          { atMs: NOW + 10, reason: "spam", note: "first" },
        ],
      } as never);
      expect(await other.caseOf({ ...link, createdMs: NOW + 1 })).toBeUndefined();
      expect(await stateOf(link)).toBeUndefined();
    });

    test("counts each client once when many reports arrive simultaneously", async () => {
      const [one, twenty] = [await createLink(), await createLink()];
      const outcomes = await Promise.all(
        Array.from({ length: 500 }, (_, nth) => (nth % 2 === 0 ? store : other).report(reportOf(one, "me"))),
      );
      expect(outcomes.filter((outcome) => outcome === "counted")).toHaveLength(1);
      expect(await other.caseOf(one)).toMatchObject({ reports: 1, reasons: { spam: 1 } });
      await Promise.all(
        Array.from({ length: 500 }, (_, nth) =>
          (nth % 3 === 0 ? store : other).report(reportOf(twenty, `client ${nth % 20}`)),
        ),
      );
      expect(await other.caseOf(twenty)).toMatchObject({ reports: 20, reasons: { spam: 20 } });
    });

    test("disables a reported link once, for the most frequent reason, and leaves its case open", async () => {
      const link = await createLink();
      const since = await other.changes();
      const outcomes = await Promise.all(
        Array.from({ length: 200 }, (_, nth) =>
          (nth % 2 === 0 ? store : other).report(
            reportOf(link, String(nth % 40), { threshold: 5, reason: nth === 0 ? "other" : "malware" }),
          ),
        ),
      );
      expect(outcomes.filter((outcome) => outcome === "disabled")).toHaveLength(1);
      expect(await stateOf(link)).toBe("malware");
      expect(await actionsOn(link)).toEqual([["disable", "reports"]]);
      expect((await other.changes(since.position)).keys).toEqual([link.code]);
      const { disabledMs, answer } = (await other.caseOf(link)) ?? {};
      expect([disabledMs, answer]).toEqual([NOW + 10, undefined]);
      // The operator has decided about it.
      await store.enable([link], byOperator());
      for (const client of ["new", "newer"])
        expect(await send(link, client, { threshold: 5 })).toBe("counted");
      expect(await stateOf(link)).toBeUndefined();
    });

    test("counts each report once while the operator disables and enables the link", async () => {
      const link = await createLink();
      const outcomes = await Promise.all(
        Array.from({ length: 60 }, async (_, nth) => {
          if (nth % 3 === 0) await other.disable([link], { ...byOperator(), reason: "legal" });
          if (nth % 3 === 1) await store.enable([link], byOperator());
          return (nth % 2 === 0 ? store : other).report(reportOf(link, String(nth), { threshold: 3 }));
        }),
      );
      expect(outcomes).not.toContain("repeated");
      expect(await other.caseOf(link)).toMatchObject({ reports: 60, reasons: { spam: 60 } });
      const byReports = (await actionsOn(link)).filter(([, who]) => who === "reports");
      expect(outcomes.filter((outcome) => outcome === "disabled")).toHaveLength(byReports.length);
    });

    test("never disables a link that doesn't work, or without a threshold", async () => {
      const link = await createLink();
      for (const client of ["a", "b", "c"]) await send(link, client);
      for (const client of ["d", "e"])
        expect(await send(link, client, { works: false, threshold: 2 })).toBe("counted");
      expect(await stateOf(link)).toBeUndefined();
      expect(await send(link, "f", { threshold: 4 })).toBe("disabled");
    });

    const changeTarget = (link: LinkId, url: string, atMs: number) =>
      store.update(link, { type: "edit", atMs, destination: { originalUrl: url, target: url as Target } });
    const idWithRevision = async (link: LinkId) => {
      const found = await other.find(link.code);
      if (found === undefined) throw new Error("no link");
      return { ...link, revision: versionOf(found) };
    };

    test("refuses to answer or reopen a case if the link changed since the operator read it", async () => {
      const link = await createLink();
      await send(link, "a");
      const stale = await idWithRevision(link);
      await changeTarget(link, "https://www.google.com/", NOW + 20);
      const found = await other.find(link.code);
      const conflict = { kind: "precondition.failed", revision: found && versionOf(found) } as never;
      const answers = [
        { action: "disable", reason: "spam" },
        { action: "block-host", reason: "spam", host: "refused.example" },
        { action: "nothing" },
      ] as const;
      for (const answer of answers)
        expect(await store.answerCase(stale, answer, byOperator())).toEqual(conflict);
      expect(await other.caseOf(link)).toMatchObject({ answer: undefined });
      expect((await other.hosts("", 1000)).map(({ host }) => host)).not.toContain("refused.example");
      expect([await stateOf(link), await actionsOn(link)]).toEqual([undefined, []]);
      expect(
        await store.answerCase(await idWithRevision(link), { action: "nothing" }, byOperator()),
      ).toMatchObject({ changed: 1 });
      expect(await store.reopenCase(stale, byOperator())).toEqual(conflict);
      expect(await other.caseOf(link)).toMatchObject({ answer: { action: "nothing" } });
    });

    test("applies an answer only to the target that the operator read, even while the maker changes it", async () => {
      for (let nth = 0; nth < 20; nth++) {
        const link = await createLink();
        await send(link, "a");
        const current = await idWithRevision(link);
        const [answered, changed] = await Promise.all([
          store.answerCase(current, { action: "nothing" }, byOperator()),
          other.update(link, {
            type: "edit",
            atMs: NOW + 20,
            destination: { originalUrl: "https://new.example/", target: "https://new.example/" as Target },
          }),
        ]);
        expect(changed.isChanged).toBeTrue();
        const targetSinceMs = changed.link?.terms?.changedMs ?? 0;
        // A report about the new target opens the case again, if it was closed.
        await send(link, "b", { targetSinceMs });
        expect((await other.caseOf(link))?.answer).toBeUndefined();
        if (isProblem(answered)) expect(answered).toMatchObject({ kind: "precondition.failed" });
      }
    });

    test('reopens a case for a target set after the answer "nothing", even if the clocks disagree', async () => {
      const link = await createLink();
      await send(link, "a");
      await store.answerCase(link, { action: "nothing" }, byOperator(NOW + 5000));
      // The change is committed after the answer, but its machine's clock is behind.
      const { link: changed } = await changeTarget(link, "https://evil.example/", NOW + 40);
      const about = { threshold: 3, atMs: NOW + 6000, targetSinceMs: changed?.terms?.changedMs ?? 0 };
      expect(await send(link, "b", about)).toBe("counted");
      expect(await other.caseOf(link)).toMatchObject({ pending: 1, answer: undefined });
      expect(await send(link, "c", about)).toBe("counted");
      expect(await send(link, "d", about)).toBe("disabled");
    });

    test("keeps the operator's reason if a link is disabled after a report has read it", async () => {
      const link = await createLink();
      await send(link, "a");
      await store.disable([link], { ...byOperator(), reason: "legal" });
      expect(await send(link, "b", { works: true, threshold: 1, reason: "spam" })).toBe("counted");
      expect(await stateOf(link)).toBe("legal");
      expect(await other.caseOf(link)).toMatchObject({ reports: 2, answer: { action: "disable" } });
    });

    test("lists each case with the same notes as a look-up of that case", async () => {
      const links = [await createLink(), await createLink(), await createLink()];
      for (const [nth, link] of links.entries())
        for (let note = 0; note < nth * 2; note++)
          await send(link, `n${note}`, { note: `${link.code} ${note}`, atMs: NOW + note });
      await send(links[0] as LinkId, "silent");
      const cases = await other.cases({ limit: 500 });
      for (const [nth, link] of links.entries()) {
        const one = cases.find(({ code }) => code === link.code);
        expect(one?.notes).toHaveLength(nth * 2);
        expect(one?.notes).toEqual((await other.caseOf(link))?.notes as never);
      }
    });

    test("reopens only answered cases of existing links, and leaves the links as they are", async () => {
      const link = await createLink();
      expect(await store.reopenCase(link, byOperator())).toEqual(UNDECIDED);
      await send(link, "a");
      const before = await other.caseOf(link);
      expect(await store.reopenCase(link, byOperator())).toEqual(UNDECIDED);
      await store.answerCase(link, { action: "disable", reason: "spam" }, byOperator());
      expect(await store.reopenCase(link, byOperator(NOW + 60))).toMatchObject({ changed: 1 });
      expect(await stateOf(link)).toBe("spam");
      // No report has come since.
      expect(await other.caseOf(link)).toEqual({ ...before, pending: 0, pendingReasons: {} } as never);
      expect((await actionsOn(link))[0]).toEqual(["reopen", "page"]);
    });

    test("an erased link's case can't be answered or reopened, and a report that found the link before doesn't count", async () => {
      const [waiting, answered] = [await createLink(), await createLink()];
      await send(waiting, "a");
      await send(answered, "a");
      const answer = { action: "disable", reason: "spam" } as const;
      await store.answerCase(answered, answer, byOperator());
      for (const link of [waiting, answered]) {
        await store.erase(link, byOperator());
        const before = await other.caseOf(link);
        expect(await store.answerCase(link, answer, byOperator())).toEqual(UNDECIDED);
        expect(await store.reopenCase(link, byOperator())).toEqual(UNDECIDED);
        expect(await send(link, "b")).toBe("repeated");
        expect(await other.caseOf(link)).toEqual(before as never);
      }
      const unreported = await createLink();
      await store.erase(unreported, byOperator());
      await send(unreported, "a");
      expect(await other.caseOf(unreported)).toBeUndefined();
    });

    test("remembers the target that reports disabled, not the one that they read before a change", async () => {
      const link = await createLink();
      const { link: changed } = await changeTarget(link, "https://evil.example/", NOW + 5);
      expect(await send(link, "a", { threshold: 1 })).toBe("disabled");
      const targetMs = changed?.terms?.changedMs;
      expect(await other.caseOf(link)).toMatchObject({ targetMs });
      await store.enable([link], byOperator());
      expect(await send(link, "b", { threshold: 1, targetSinceMs: targetMs ?? 0 })).toBe("counted");
    });

    test("stores notes with any characters, and keeps only the newest", async () => {
      const link = await createLink();
      const hostile = [
        "<script>alert(1)</script>",
        `'"; DROP TABLE cases; --`,
        "\0 NUL \u0007 \u001B[31m red \r\n line",
        "\u202E evil \u2066 \u200B",
        "😀".repeat(2000),
      ];
      for (const [nth, note] of hostile.entries()) await send(link, `hostile ${nth}`, { note });
      const notesOf = async () => (await other.caseOf(link))?.notes.map(({ note }) => note);
      expect(await notesOf()).toEqual(hostile.toReversed());
      for (let nth = 0; nth < MAX_CASE_NOTES; nth++) await send(link, String(nth), { note: `note ${nth}` });
      const newest = Array.from({ length: MAX_CASE_NOTES }, (_, nth) => `note ${nth}`).toReversed();
      expect(await notesOf()).toEqual(newest);
    });

    test("lists open cases first, the most recently reported on top, and continues from a cursor", async () => {
      const links = [
        await createLink(),
        await createLink(),
        await createLink(),
        await createLink(),
        await createLink(),
        await createLink(),
      ];
      const later = NOW + 1_000_000;
      for (const [nth, link] of links.entries()) await send(link, "a", { atMs: later + Math.floor(nth / 2) });
      const [first, second] = links;
      if (first === undefined || second === undefined) throw new Error("none");
      await store.answerCase(first, { action: "nothing" }, byOperator());
      await store.answerCase(second, { action: "nothing" }, byOperator());
      await send(first, "b", { atMs: later + 9 });
      const codesOf = async (query: Partial<CaseQuery> = {}) =>
        (await other.cases({ limit: 100, ...query })).map(({ code }) => code);
      const mine = links.map(({ code }) => code);
      const [a, b, c, d, e, f] = mine;
      const listed = (await codesOf()).filter((code) => mine.includes(code));
      // Cases of the same moment have an arbitrary but stable order.
      expect([listed.slice(0, 2).toSorted(), listed.slice(2, 4).toSorted()]).toEqual([
        [e, f],
        [c, d],
      ] as never);
      expect(listed.slice(4)).toEqual([a, b] as never);
      const all = await codesOf();
      const unanswered = await codesOf({ state: "open" });
      expect(await other.openCases()).toBe(unanswered.length);
      const answered = await codesOf({ state: "answered" });
      expect(all).toEqual([...unanswered, ...answered]);
      expect(unanswered).not.toContain(a as LinkKey);
      for (const state of [undefined, "open", "answered"] as const) {
        const paged: LinkKey[] = [];
        for (let after: CaseQuery["after"], page = 0; page < 100; page++) {
          const cases = await other.cases({ state, after, limit: 2 });
          if (cases.length === 0) break;
          paged.push(...cases.map(({ code }) => code));
          after = cases.at(-1)?.cursor;
        }
        expect(paged).toEqual(await codesOf({ state }));
      }
      for (const after of ["", "x", "open", "open.1", "answered.x.y"])
        expect(await other.cases({ after: after as never, limit: 5 })).toBeArray();
    });

    test("closes the case of a link that is purged or whose code is reused", async () => {
      const staying = await createLink();
      await send(staying, "a");
      const ended = { endsMs: NOW - 1000, freeIfEndedByMs: NOW };
      for (const [nth, end] of ["purged", "reused"].entries()) {
        const link = newLink(`gone${nth}`, ended);
        await store.insert([link]);
        await send(link, "a");
        expect(await other.caseOf(link)).toMatchObject({ reports: 1 });
        const successor = { ...newLink(link.code, { freeIfEndedByMs: NOW }), createdMs: link.createdMs + 1 };
        if (end === "reused") expect(await store.insert([successor])).toEqual([true]);
        else expect(await store.purge(NOW, 10)).toBe(1);
        const closed = { reports: 1, answer: { action: "erase", atMs: link.endsMs } };
        expect(await other.caseOf(link)).toMatchObject(closed);
        // The report had read the link before.
        expect(await send(link, "b")).toBe("repeated");
        expect(await other.caseOf(link)).toMatchObject(closed);
      }
      const openCase = await other.caseOf(staying);
      expect([openCase?.reports, openCase?.answer]).toEqual([1, undefined]);
    });

    test("ageing deletes reporters of earlier days, and cases without recent reports", async () => {
      while ((await store.ageCases({ reportersBefore: 1, casesBeforeMs: 0 }, 100)) > 0);
      const [old, young] = [await createLink(), await createLink()];
      await send(old, "a", { atMs: 1000, day: 0, note: "old" });
      await send(young, "a", { day: 0 });
      expect(await send(young, "a", { day: 0 })).toBe("repeated");
      const bounds = { reportersBefore: 1, casesBeforeMs: 1001 };
      expect(await store.ageCases(bounds, 10)).toBe(2);
      expect(await store.ageCases(bounds, 10)).toBe(0);
      expect(await other.caseOf(old)).toBeUndefined();
      expect(await other.caseOf(young)).toMatchObject({ reports: 1 });
      expect(await send(young, "a", { day: 0 })).toBe("counted");
      await send(old, "b", { atMs: 2000 });
      expect(await other.caseOf(old)).toMatchObject({ reports: 1, notes: [] });
    });

    test("ageing deletes at most `limit` reporters per call", async () => {
      const bounds = { reportersBefore: 1, casesBeforeMs: 0 };
      while ((await store.ageCases(bounds, 100)) > 0);
      const link = await createLink();
      for (const reporter of ["a", "b", "c"]) await send(link, reporter, { day: 0 });
      expect(await store.ageCases(bounds, 2)).toBe(2);
      expect(await other.ageCases(bounds, 2)).toBe(1);
      expect(await store.ageCases(bounds, 2)).toBe(0);
    });
  });
}
