import { describe, expect, test } from "bun:test";

import { NEVER_MS } from "../../src/links/time.ts";
import { byHarm, groupOf, type OpenCase, suggest } from "../../src/moderation/harm.ts";
import type { InspectedLink } from "../../src/moderation/inspection.ts";
import { newLink } from "../stores/links.ts";

const NOW = Date.UTC(2026, 10, 28, 14);
const HOUR = 3_600_000;

interface Facts extends Partial<Omit<OpenCase, "link">> {
  readonly reason?: string;
  readonly visits?: number;
  readonly link?: Partial<InspectedLink>;
}

function caseOf(
  code: string,
  { reason = "phishing", visits = 0, link = {}, ...facts }: Facts = {},
): OpenCase {
  const { code: key, createdMs } = newLink(code);
  const reports = facts.reports ?? 1;
  return {
    code: key,
    createdMs,
    firstMs: NOW - HOUR,
    lastMs: NOW - HOUR,
    reasons: { [reason]: reports },
    pending: 0,
    hours: [0, visits],
    link: { ...newLink(code), endsMs: NEVER_MS, blocked: undefined, ...link },
    ...facts,
    reports,
  };
}

const order = (...cases: OpenCase[]) => byHarm(cases, NOW).map(({ code }) => String(code));

describe("the order of cases", () => {
  test("starts with what can hurt, then what breaks a rule, other reasons, and links that don't redirect", () => {
    const cases = [
      caseOf("ended", { link: { endsMs: NOW - 1 }, reports: 50 }),
      caseOf("disabled", { link: { disabled: "phishing" } }),
      caseOf("blocked", { link: { blocked: "spam" } }),
      caseOf("other", { reason: "other", reports: 40 }),
      caseOf("spam", { reason: "spam", visits: 500 }),
      caseOf("legal", { reason: "legal" }),
      caseOf("malware", { reason: "malware" }),
    ];
    expect(cases.map((one) => groupOf(one, NOW))).toEqual([
      "stopped",
      "stopped",
      "stopped",
      "other",
      "rule",
      "rule",
      "harm",
    ]);
    expect(order(...cases)).toEqual(["malware", "spam", "legal", "other", "ended", "disabled", "blocked"]);
    expect(groupOf({ ...caseOf("gone"), link: undefined }, NOW)).toBe("stopped");
  });

  test("goes by reports times visits within a group, then by age", () => {
    const cases = [
      caseOf("young", { reports: 2, visits: 9 }),
      caseOf("quiet", { reports: 5 }),
      caseOf("busy", { reports: 1, visits: 20 }),
      caseOf("old", { reports: 2, visits: 9, firstMs: NOW - 2 * HOUR }),
    ];
    expect(order(...cases)).toEqual(["busy", "old", "young", "quiet"]);
  });
});

describe("the suggestion", () => {
  const [alone, other] = [{ disabled: 0 }, { disabled: 1 }];

  test("is to disable what several report as dangerous, another link to whose host is disabled, or which just changed", () => {
    const changed = { terms: { changedMs: NOW - 2 * HOUR } };
    expect(suggest(caseOf("two", { reports: 2 }), alone, NOW)).toEqual({ action: "disable", why: "agreed" });
    expect(suggest(caseOf("host", { reason: "spam" }), other, NOW)).toEqual({
      action: "disable",
      why: "host",
    });
    expect(suggest(caseOf("new", { link: changed }), alone, NOW)).toEqual({
      action: "disable",
      why: "changed",
    });
    // The reports are about the destination before.
    expect(suggest(caseOf("before", { link: changed, lastMs: NOW - 3 * HOUR }), alone, NOW)).toBeUndefined();
  });

  test("is that there is no problem with a link that no longer redirects, unless reports disabled it", () => {
    const over = { action: "nothing", why: "over" } as const;
    expect(suggest({ ...caseOf("gone"), link: undefined }, alone, NOW)).toEqual(over);
    expect(suggest(caseOf("ended", { link: { endsMs: NOW } }), alone, NOW)).toEqual(over);
    const link = { disabled: "phishing" } as const;
    expect(suggest(caseOf("by", { link, reports: 5, disabledMs: NOW }), alone, NOW)?.why).toBe("agreed");
  });

  test("is missing without grounds", () => {
    expect(suggest(caseOf("one"), alone, NOW)).toBeUndefined();
    expect(suggest(caseOf("spam", { reason: "spam", reports: 9 }), alone, NOW)).toBeUndefined();
  });
});
