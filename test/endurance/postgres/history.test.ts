import { expect, test } from "bun:test";

import { findViolation, type LinkState, type Operation } from "./history.ts";

/** What was called and answered when, as `0-10 create a` or `20-30 disable: unknown`. */
function operationOf(line: string): Operation {
  const [, from, to, kind = "", target = "a", outcome] =
    /^(\d+)-(\d+) (\w+)(?: (\w))?(?:: (.+))?$/.exec(line) ?? [];
  return {
    code: "x",
    action: (kind === "create" ? { kind, target } : { kind }) as Operation["action"],
    outcome: outcomeOf(kind, target, outcome),
    calledMs: Number(from),
    answeredMs: Number(to),
    asksStandbys: outcome === "from a standby",
  };
}

function outcomeOf(kind: string, target: string, outcome = "done"): Operation["outcome"] {
  const link: LinkState = { target, isDisabled: outcome === "disabled", isEnded: outcome === "ended" };
  if (kind === "find") return { kind: "found", link };
  if (kind === "follow" && !["missing", "off"].includes(outcome)) return { kind: "leads", target };
  return { kind: outcome as "done" };
}

const violationOf = (lines: readonly string[]) => findViolation(lines.map(operationOf));

test.each<[string, ...string[]]>([
  ["what is made is found", "0-10 create a", "20-30 follow a", "20-30 create b: same"],
  ["calls at once happen in any order", "0-50 create a", "10-40 follow: missing", "20-30 follow a"],
  ["an unknown create may be late", "0-10 create a: unknown", "20-30 follow: missing", "40-50 follow a"],
  ["or never happen", "0-10 create a: unknown", "20-30 create b", "40-50 follow b"],
  [
    "unknown changes may happen between others",
    "0-10 create a",
    "20-30 disable: unknown",
    "40-50 enable: same",
    "60-70 follow: off",
    "80-90 enable",
    "100-110 follow a",
  ],
  ["a redirect may come from memory for a second", "0-10 create a", "20-30 disable", "1000-1010 follow a"],
  ["a standby may be ahead", "0-50 create a", "10-20 follow a: from a standby", "30-40 follow: missing"],
  [
    "what ended stays so",
    "0-10 create a",
    "20-30 end",
    "40-50 disable",
    "60-70 enable",
    "80-90 find a: ended",
  ],
])("%s", (_, ...lines) => {
  expect(violationOf(lines)).toBeUndefined();
});

test.each<[string, ...string[]]>([
  ["a code that is given twice", "0-10 create a", "20-30 create b"],
  ["or to two at once", "0-10 create a", "0-10 create b"],
  ["a link that is lost", "0-10 create a", "20-30 follow: missing"],
  ["one that was there", "0-10 create a: unknown", "20-30 follow a", "40-50 follow: missing"],
  ["a code that was refused although nobody has it", "0-10 create a: same"],
  ["a link that was refused", "0-10 create a: same", "0-10 create b: unknown", "20-30 follow a"],
  ["a link that was there before", "0-50 create a", "10-20 follow a", "30-40 follow: missing"],
  ["another link's target", "0-10 create a", "20-30 follow b"],
  ["a takedown that is not seen after a second", "0-10 create a", "20-30 disable", "1031-1040 follow a"],
  ["a takedown that the store forgets", "0-10 create a", "20-30 disable", "40-50 find a"],
  ["a takedown of nobody", "0-10 create a", "20-30 follow: off"],
  ["an end that is undone", "0-10 create a", "20-30 end", "40-50 find a: ended", "60-70 find a"],
  [
    "one unknown change that happens twice",
    "0-10 create a",
    "20-30 disable: unknown",
    "40-50 follow: off",
    "60-70 enable",
    "80-90 find a: disabled",
  ],
])("finds %s", (_, ...lines) => {
  expect(violationOf(lines)).toEqual(operationOf(lines.at(-1) ?? ""));
});
