import { expect, test } from "bun:test";

import { findViolation, type LinkState, type Operation } from "./history.ts";

type Part = Omit<Operation, "code">;
type Times = readonly [calledMs: number, answeredMs: number];

const on = ([calledMs, answeredMs]: Times, action: Operation["action"], outcome: Operation["outcome"]) => ({
  action,
  outcome,
  calledMs,
  answeredMs,
});
const create = (times: Times, target: string, kind: "done" | "same" | "unknown" = "done") =>
  on(times, { kind: "create", target }, { kind });
const change = (
  times: Times,
  kind: "disable" | "enable" | "end",
  outcome: "done" | "same" | "unknown" = "done",
) => on(times, { kind }, { kind: outcome });
const follow = (times: Times, target: string) => on(times, { kind: "follow" }, { kind: "leads", target });
const followed = (times: Times, kind: "missing" | "off") => on(times, { kind: "follow" }, { kind });
const find = (times: Times, state: Partial<LinkState>) =>
  on(
    times,
    { kind: "find" },
    { kind: "found", link: { target: "a", isDisabled: false, isEnded: false, ...state } },
  );

const made = create([0, 10], "a");

test.each<[string, ...Part[]]>([
  ["what is made is found", made, follow([20, 30], "a"), create([20, 30], "b", "same")],
  [
    "calls at the same time happen in any order",
    create([0, 50], "a"),
    followed([10, 40], "missing"),
    follow([20, 30], "a"),
  ],
  [
    "an unknown create may happen late",
    create([0, 10], "a", "unknown"),
    followed([20, 30], "missing"),
    follow([40, 50], "a"),
  ],
  ["or never", create([0, 10], "a", "unknown"), create([20, 30], "b"), follow([40, 50], "b")],
  [
    "unknown changes may happen between others",
    made,
    change([20, 30], "disable", "unknown"),
    change([40, 50], "enable", "same"),
    followed([60, 70], "off"),
    change([80, 90], "enable"),
    follow([100, 110], "a"),
  ],
  [
    "a redirect may come from memory for a second",
    made,
    change([20, 30], "disable"),
    follow([1000, 1010], "a"),
  ],
  [
    "a standby may show a link before the primary does",
    create([0, 50], "a"),
    { ...follow([10, 20], "a"), asksStandbys: true },
    followed([30, 40], "missing"),
  ],
  [
    "what has ended stays so",
    made,
    change([20, 30], "end"),
    change([40, 50], "disable"),
    change([60, 70], "enable"),
    find([80, 90], { isEnded: true }),
  ],
])("%s", (_, ...parts) => {
  expect(findViolation(parts.map((part) => ({ ...part, code: "x" })))).toBeUndefined();
});

test.each<[string, ...Part[]]>([
  ["a code that is given twice", made, create([20, 30], "b")],
  ["or to two at once", create([0, 10], "a"), create([0, 10], "b")],
  ["a link that is lost", made, followed([20, 30], "missing")],
  [
    "a link that is lost after it was there",
    create([0, 10], "a", "unknown"),
    follow([20, 30], "a"),
    followed([40, 50], "missing"),
  ],
  ["a code that was refused although nobody has it", create([0, 10], "a", "same")],
  [
    "a link that was made although it was refused",
    create([0, 10], "a", "same"),
    create([0, 10], "b", "unknown"),
    follow([20, 30], "a"),
  ],
  [
    "a link that was there before",
    create([0, 50], "a"),
    follow([10, 20], "a"),
    followed([30, 40], "missing"),
  ],
  ["another link's target", made, follow([20, 30], "b")],
  [
    "a takedown that is not seen after a second",
    made,
    change([20, 30], "disable"),
    follow([1031, 1040], "a"),
  ],
  ["a takedown that the store forgets", made, change([20, 30], "disable"), find([40, 50], {})],
  ["a takedown of nobody", made, followed([20, 30], "off")],
  [
    "an end that is undone",
    made,
    change([20, 30], "end"),
    find([40, 50], { isEnded: true }),
    find([60, 70], {}),
  ],
  [
    "one unknown change that happens twice",
    made,
    change([20, 30], "disable", "unknown"),
    followed([40, 50], "off"),
    change([60, 70], "enable"),
    find([80, 90], { isDisabled: true }),
  ],
])("finds %s", (_, ...parts) => {
  expect(findViolation(parts.map((part) => ({ ...part, code: "x" })))).toMatchObject(parts.at(-1) ?? {});
});
