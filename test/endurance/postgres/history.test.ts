import { expect, test } from "bun:test";

import { findViolation, type LinkState, type Operation } from "./history.ts";

/** Parses an operation with the times of its call and its response, such as `0-10 create a` or `20-30 disable: unknown`. */
function operationOf(line: string): Operation {
  const [, from, to, kind = "", target = "a", outcome] =
    /^(\d+)-(\d+) (\w+)(?: (\w))?(?:: (.+))?$/.exec(line) ?? [];
  return {
    code: "x",
    action: (kind === "create" ? { kind, target } : { kind }) as Operation["action"],
    outcome: outcomeOf(kind, target, outcome),
    calledMs: Number(from),
    answeredMs: Number(to),
    readsStandbys: outcome === "from a standby",
  };
}

function outcomeOf(kind: string, target: string, outcome = "done"): Operation["outcome"] {
  const link: LinkState = { target, isDisabled: outcome === "disabled", isEnded: outcome === "ended" };
  if (kind === "find") return { kind: "found", link };
  if (kind === "follow" && !["missing", "off"].includes(outcome)) return { kind: "redirect", target };
  return { kind: outcome as "done" };
}

const violationOf = (lines: readonly string[]) => findViolation(lines.map(operationOf));

test.each<[string, ...string[]]>([
  ["a created link that is found", "0-10 create a", "20-30 follow a", "20-30 create b: same"],
  ["simultaneous calls in any order", "0-50 create a", "10-40 follow: missing", "20-30 follow a"],
  [
    "a create with an unknown outcome that takes effect late",
    "0-10 create a: unknown",
    "20-30 follow: missing",
    "40-50 follow a",
  ],
  [
    "a create with an unknown outcome that never takes effect",
    "0-10 create a: unknown",
    "20-30 create b",
    "40-50 follow b",
  ],
  [
    "changes with unknown outcomes between others",
    "0-10 create a",
    "20-30 disable: unknown",
    "40-50 enable: same",
    "60-70 follow: off",
    "80-90 enable",
    "100-110 follow a",
  ],
  ["a redirect from memory within a second", "0-10 create a", "20-30 disable", "1000-1010 follow a"],
  [
    "a standby that is ahead of the primary",
    "0-50 create a",
    "10-20 follow a: from a standby",
    "30-40 follow: missing",
  ],
  [
    "a link that stays withdrawn",
    "0-10 create a",
    "20-30 end",
    "40-50 disable",
    "60-70 enable",
    "80-90 find a: ended",
  ],
])("findViolation accepts %s", (_, ...lines) => {
  expect(violationOf(lines)).toBeUndefined();
});

test.each<[string, ...string[]]>([
  ["a code that is created twice", "0-10 create a", "20-30 create b"],
  ["a code that two simultaneous creates get", "0-10 create a", "0-10 create b"],
  ["a lost link", "0-10 create a", "20-30 follow: missing"],
  ["a lost link that was seen before", "0-10 create a: unknown", "20-30 follow a", "40-50 follow: missing"],
  ["a refused code that no link has", "0-10 create a: same"],
  ["a link of a refused create", "0-10 create a: same", "0-10 create b: unknown", "20-30 follow a"],
  ["a link that disappears during its create", "0-50 create a", "10-20 follow a", "30-40 follow: missing"],
  ["the target of another link", "0-10 create a", "20-30 follow b"],
  ["a takedown without effect after a second", "0-10 create a", "20-30 disable", "1031-1040 follow a"],
  ["a takedown that the store forgets", "0-10 create a", "20-30 disable", "40-50 find a"],
  ["a takedown that nobody requested", "0-10 create a", "20-30 follow: off"],
  ["a withdrawal that is undone", "0-10 create a", "20-30 end", "40-50 find a: ended", "60-70 find a"],
  [
    "a change with an unknown outcome that happens twice",
    "0-10 create a",
    "20-30 disable: unknown",
    "40-50 follow: off",
    "60-70 enable",
    "80-90 find a: disabled",
  ],
])("findViolation reports %s", (_, ...lines) => {
  expect(violationOf(lines)).toEqual(operationOf(lines.at(-1) ?? ""));
});
