/** Random sequences of commands. A fixed seed gives the same one. Shorter and simpler ones are made of the same numbers. */
import {
  Arbitrary,
  array,
  nat,
  noShrink,
  type Random,
  record,
  type Stream,
  subarray,
  Value,
} from "fast-check";

import type { Command, NewLink, Reason, Search, Terms, Time, Visitor } from "./commands.ts";

/**
 * A command before it is played. In its texts, `~` stands for letters that no other sequence has, and `@3.0` for the code that
 * the answer to command 3 gave for its first link. Instants count from the start of the sequence.
 */
export type Step = (
  | Command
  | { id: number; kind: "advance"; ms: number }
  | { id: number; kind: "settle" }
) & {
  /** Steps in a row with the same number are sent at once. */
  readonly together?: number;
  /** The answer never arrives. */
  readonly isLost?: true;
  /** Where the proxy names people, the name is enough. */
  readonly isKeyless?: boolean;
  /** Its `count` is what the answer to this command said. */
  readonly countOf?: number;
};

export interface Numbers {
  /** Kinds of steps that this sequence hasn't. */
  readonly missing: readonly string[];
  readonly steps: readonly (readonly number[])[];
}

const LENGTH = 60;
/** Numbers of a step. Their choices depend on the steps before. */
const NUMBERS = 12;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const CODES = ["~a", "~b", "~여", "~A"];
const HOST = "~h.example";
const HOSTS = [HOST, "~k.example", `deep.${HOST}`];
const CLIENTS = ["203.0.113.1", "198.51.100.1", "192.0.2.1"];
const OPERATORS = ["alice", "bob"];
const PEOPLE = ["mina", "joon"];
const REASONS: readonly Reason[] = ["spam", "malware", "legal"];
const VISITORS: readonly Visitor[] = ["person", "library", "crawler", "prefetch"];
const PASSWORDS = ["one", "two"];
const TITLE = { title: "~A-team" };
const ENDS: readonly Time[] = [
  { inMs: DAY_MS },
  { atMs: 10 * MINUTE_MS },
  { atMs: 3 * HOUR_MS },
  { atMs: 2 * DAY_MS },
  null,
];
const STARTS: readonly Time[] = [{ atMs: 20 * MINUTE_MS }, { atMs: DAY_MS }, null];
const SEARCHES: readonly Search[] = [
  { host: HOST },
  { host: "~k.example" },
  { q: "~" },
  { q: "~a" },
  { by: "mina", host: HOST },
  { owner: "mina", host: HOST },
];
const JUMPS = [1000, 11 * MINUTE_MS, HOUR_MS, 13 * HOUR_MS, DAY_MS, 2 * DAY_MS + HOUR_MS];

/** Takes the numbers of a step in turn. The smallest choose the first, which is the simplest. */
class Choice {
  #next = 0;
  constructor(readonly numbers: readonly number[]) {}
  below(max: number): number {
    return (this.numbers[this.#next++ % this.numbers.length] ?? 0) % max;
  }
  one<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }
  /** Undefined in an empty list. */
  recent<T>(list: readonly T[]): T | undefined {
    return this.one(list.toReversed());
  }
  /** True for one in `n`. */
  rarely(n: number): boolean {
    return this.below(n) === n - 1;
  }
}

// oxlint-disable-next-line typescript/no-explicit-any -- Its kind isn't known while its fields are chosen.
type Draft = any;

interface Place {
  readonly past: readonly Step[];
  /** The link that a group of steps is about. */
  readonly only: string | undefined;
  readonly draft: Draft;
  /** Adds a step before this one, and returns its id. */
  readonly open: (draft: Draft) => number;
}

/** Links that steps created: their codes, and which answer has the key. */
function makersOf({ past, only }: Pick<Place, "past" | "only">) {
  return past
    .flatMap((step) => {
      const links = step.kind === "create" ? [step.link] : step.kind === "batch" ? step.links : [];
      return links.map(({ code = "" }, nth) => ({ code: code || `@${step.id}.${nth}`, of: step.id, nth }));
    })
    .filter(({ code }) => only === undefined || code === only);
}

function codeOf(choice: Choice, place: Pick<Place, "past" | "only">): string {
  const known = makersOf(place).map(({ code }) => code);
  return place.only ?? choice.one([...new Set([...known.toReversed(), ...CODES])]);
}

const targetOf = (choice: Choice) =>
  `https://${choice.one(HOSTS)}/${choice.one(["", "x", "한", "?q={path}"])}`;

function termsOf(choice: Choice): Omit<Terms, "target"> {
  const ends = { ends: choice.one(ENDS) };
  const password = { password: choice.one(PASSWORDS) };
  const limit = { maxVisits: choice.one([1, 2]) };
  const starts = { starts: choice.one(STARTS) };
  return choice.one([
    {},
    ends,
    limit,
    password,
    starts,
    { forwardQuery: true },
    { forwardPath: true },
    choice.one([TITLE, { title: null }]),
    { ...ends, ...limit, ...password },
  ]);
}

function newLink(choice: Choice, { only, draft }: Place): NewLink {
  const code = only?.startsWith("~") === true ? only : choice.one(CODES);
  // POST /api/v1/shorten has no fields for the terms.
  const terms = draft.door === "shorten" ? {} : { ...(choice.rarely(3) && TITLE), ...termsOf(choice) };
  return { target: targetOf(choice), ...(!choice.rarely(4) && { code }), ...terms };
}

/** How each field comes about; undefined if nothing earlier can be in it. */
const FIELDS: Readonly<Record<string, (choice: Choice, place: Place) => object | undefined>> = {
  link: (choice, place) => ({ link: newLink(choice, place) }),
  links: (choice, place) => ({
    links: Array.from({ length: 1 + choice.below(3) }, () => newLink(choice, place)),
  }),
  retryKey: (choice, { draft }) => ({
    ...(draft.door === "api" &&
      choice.rarely(3) && { idempotencyKey: choice.one(["~-first-attempt", "~-second-attempt", "~"]) }),
  }),
  keyed: (choice, { past }) => choice.one(past.filter((step) => "idempotencyKey" in step)),
  code(choice, place) {
    const code = codeOf(choice, place);
    return { code: choice.rarely(8) ? code.toUpperCase() : code };
  },
  key(choice, place) {
    const maker = choice.recent(makersOf(place));
    if (maker === undefined) return undefined;
    const { code, of, nth } = maker;
    return { code, key: choice.rarely(10) ? "wrong" : { of, nth }, isKeyless: !choice.rarely(3) };
  },
  /** A key that anybody may leave out. */
  keyIfAny: (choice, { draft }) => (draft.door === "api" && choice.rarely(3) ? { key: undefined } : {}),
  /** Somebody has just looked, has an old tab, whose form has its own key, or doesn't care. */
  read(choice, { past, draft, open }) {
    const old = past.filter(
      (step) => step.kind === "read" && step.door === draft.door && step.code === draft.code,
    );
    const read = choice.rarely(2) ? choice.recent(old) : undefined;
    if (read?.kind === "read") {
      const { key, person, isKeyless } = read;
      return { key, person, isKeyless, match: { seenBy: read.id } };
    }
    if (draft.door === "form") return { match: { seenBy: open({ ...draft, kind: "read" }) } };
    return { match: choice.one([undefined, "*"]) };
  },
  view(choice, { past, draft, open }) {
    const old = past.filter(
      (step) =>
        (step.kind === "view-cases" || (step.kind === "view-link" && step.code === draft.code)) &&
        step.door === draft.door,
    );
    const view = choice.rarely(2) ? choice.recent(old) : undefined;
    if (view !== undefined && "who" in view) return { who: view.who, match: { seenBy: view.id } };
    const isFresh = draft.door === "desk" || choice.rarely(3);
    return { match: isFresh ? { seenBy: open({ ...draft, kind: "view-link" }) } : "*" };
  },
  change(choice) {
    const change = [{ target: targetOf(choice) }, termsOf(choice)];
    return { change: choice.rarely(5) ? { owner: choice.one(PEOPLE) } : choice.one(change) };
  },
  correction: (choice) => ({
    change: choice.one([
      { target: targetOf(choice) },
      { ends: choice.one(ENDS) },
      { owner: choice.one(PEOPLE) },
    ]),
  }),
  owner: (choice) => ({ owner: choice.one(PEOPLE) }),
  nth: (choice) => ({ nth: choice.below(2) }),
  token: (_, { draft }) => (draft.person === undefined ? { token: "feed" } : {}),
  who: (choice) => ({ who: choice.one(OPERATORS) }),
  reason: (choice) => ({ reason: choice.one(REASONS) }),
  note: (choice) => ({ ...(choice.rarely(2) && { note: "seen" }) }),
  action(choice) {
    const action = choice.one(["disable", "block-host", "nothing", "reopen"]);
    return { action, ...(/^(?:disable|block)/.test(action) && { reason: choice.one(REASONS) }) };
  },
  host: (choice) => ({ host: choice.one(HOSTS) }),
  search: (choice) => ({ search: choice.one(SEARCHES) }),
  /** An operator confirms the number of a page that was opened now, or before. */
  counted(choice, { past, draft, open }) {
    const old = choice.rarely(3)
      ? choice.recent(past.filter(({ kind, countOf }) => kind === draft.kind && countOf === undefined))
      : undefined;
    return { ...old, countOf: old?.id ?? open(draft) };
  },
  decision(choice, { past }) {
    const made = choice.recent(past.filter((step) => DECISIONS.test(step.kind)));
    if (made === undefined || !("who" in made)) return undefined;
    // At the desk, whoever decided has the button.
    return {
      decision: made.id,
      door: made.door,
      who: made.door === "desk" ? made.who : choice.one(OPERATORS),
    };
  },
  visit(choice, { past, draft }) {
    const old = choice.recent(
      past.filter((step) => step.kind === "visit" && step.door === "form" && step.password !== undefined),
    );
    if (old !== undefined && choice.rarely(6)) return { ...old, again: old.id };
    const isPage = draft.door === "form";
    return {
      method: !isPage && choice.rarely(6) ? "HEAD" : "GET",
      visitor: isPage ? "person" : choice.one(VISITORS),
      ...(choice.rarely(2) && { password: choice.one(PASSWORDS) }),
      ...(choice.rarely(4) && { query: "a=1" }),
      ...(choice.rarely(4) && { path: choice.one(["/p", "/p/q/", "/p/..%2Fq"]) }),
    };
  },
  into: (choice) => ({ into: choice.one(["empty", "used"]) }),
  imported: (choice, { draft }) => ({
    links: choice.one([["~i"], ["~i", "~a"], ["~b"]]).map((code) => ({
      code,
      target: targetOf(choice),
      createdMs: -choice.one([1, 10, 400]) * DAY_MS,
      ...(choice.rarely(4) && { endsMs: choice.one([-HOUR_MS, HOUR_MS]) }),
      ...(draft.door === "export" && choice.rarely(2) && { disabled: choice.one(REASONS) }),
    })),
    visits: choice.rarely(2) ? [{ code: choice.one(["~i", "~a", "~여"]), dayMs: -DAY_MS, visits: 5 }] : [],
  }),
  tokens: (choice) => ({
    operators: choice.one([OPERATORS, ["alice"], ["bob"]]),
    creators: choice.one([["feed"], []]),
  }),
  jump: (choice) => ({ ms: choice.one(JUMPS) }),
};

/** The doors and fields of each kind of step. Later fields may change earlier ones. */
const KINDS: Readonly<Record<string, readonly [doors: string, fields: string]>> = {
  create: ["api form shorten", "token link retryKey"],
  batch: ["api", "token links retryKey"],
  retry: ["api", "keyed"],
  edit: ["api form", "key read change"],
  withdraw: ["api form", "key read"],
  "bring-back": ["form", "key read nth"],
  visit: ["api form", "code visit"],
  report: ["api form", "code reason note"],
  read: ["api form", "key keyIfAny"],
  preview: ["api", "code"],
  stats: ["api", "key keyIfAny"],
  available: ["api", "code"],
  "view-link": ["api desk", "who code"],
  "view-cases": ["api desk", "who"],
  "view-hosts": ["api desk", "who"],
  "view-journal": ["api desk", "who"],
  search: ["api desk", "who search"],
  disable: ["api desk", "who code view reason"],
  enable: ["api desk", "who code view"],
  correct: ["api desk", "who code view correction"],
  erase: ["api desk", "who code view"],
  answer: ["api desk", "who code view action"],
  block: ["api desk", "who host reason"],
  unblock: ["api desk", "who host"],
  "disable-found": ["api desk", "who search reason counted"],
  "enable-found": ["api desk", "who search counted"],
  "hand-over-found": ["api desk", "who search owner counted"],
  undo: ["", "decision"],
  move: ["fresh killed", "into"],
  import: ["csv export", "imported"],
  restart: ["kill stop hand-over", ""],
  tokens: ["file", "tokens"],
  advance: ["", "jump"],
  settle: ["", ""],
  /** The next two to four changes reach one link at once. */
  together: ["", ""],
  /** The answer to the next change never arrives. */
  lost: ["", ""],
};
const DECISIONS = /^(?:disable|enable|answer|block|correct|disable-found|enable-found|hand-over-found)$/;
const AT_ONCE =
  /^(?:create|edit|withdraw|bring-back|visit|report|disable|enable|correct|erase|answer|(?:un)?block|undo|restart)$/;
/** How often one sequence in three may have these, because they take longer than all others together. */
const SLOW: Readonly<Record<string, number>> = { move: 1, import: 2, restart: 2, settle: 1 };

const numbers = array(nat(9999), { minLength: NUMBERS, maxLength: NUMBERS });
const long = record({
  missing: noShrink(subarray(Object.keys(KINDS).slice(1))),
  steps: array(numbers, { minLength: LENGTH, maxLength: LENGTH }),
});
const short = array(numbers, { minLength: 1, maxLength: LENGTH });

/** Sequences start long, because short ones reach little, and become short only to explain a difference. */
class Sequences extends Arbitrary<Numbers> {
  generate(random: Random, bias: number | undefined): Value<Numbers> {
    return new Value(long.generate(random, bias).value, undefined);
  }
  canShrinkWithoutContext(value: unknown): value is Numbers {
    return typeof value === "object";
  }
  shrink(value: Numbers): Stream<Value<Numbers>> {
    const shorter = short.shrink(value.steps as number[][], undefined);
    return shorter.map(({ value: steps }) => new Value({ ...value, steps }, undefined));
  }
}

export const sequences: Arbitrary<Numbers> = new Sequences();

export function stepsOf({ missing, steps }: Numbers): Step[] {
  const past: Step[] = [];
  const [isSlow, isWide] = [missing.length % 3 === 0, missing.length % 2 === 0];
  let left = Object.keys(KINDS).filter(
    (kind) => !missing.includes(kind) && (isSlow || SLOW[kind] === undefined),
  );
  let group = { together: 0, place: 0, size: 0, only: "" };
  let isLost = false;
  const uses = new Map<string, number>();
  const only = () => (group.size > 0 ? group.only : undefined);

  function add(draft: Draft): number {
    const isRestarted = past.some(({ kind, together }) => kind === "restart" && together === group.together);
    const isAtOnce = AT_ONCE.test(draft.kind) && !(draft.kind === "restart" && isRestarted);
    const isTab = /^(?:read|view-link)$/.test(draft.kind);
    if (!isAtOnce && !isTab) group.size = 0;
    const isInGroup = group.size > 0 && isAtOnce;
    // An earlier step that is sent again may have been in a group.
    const one: Step = JSON.parse(
      JSON.stringify({
        ...draft,
        id: past.length,
        together: isInGroup ? group.together : undefined,
        isLost: (isLost && isAtOnce) || undefined,
      }),
    );
    // Tabs are open before the group starts.
    if (group.size > 0 && isTab) past.splice(group.place++, 0, one);
    else past.push(one);
    if (isAtOnce) isLost = false;
    if (isInGroup) group.size--;
    return one.id;
  }

  for (const some of steps) {
    const choice = new Choice(some);
    const kind = choice.one(left);
    const [doors = "", fields = ""] = KINDS[kind] ?? [];
    uses.set(kind, (uses.get(kind) ?? 0) + 1);
    if (uses.get(kind) === SLOW[kind]) left = left.filter((one) => one !== kind);
    isLost ||= kind === "lost";
    if (kind === "together")
      group = {
        together: past.length,
        place: past.length,
        size: 2 + choice.below(3),
        only: codeOf(choice, { past, only: undefined }),
      };
    if (kind === "lost" || kind === "together") continue;
    let draft: Draft = { kind, door: choice.one(doors.split(" ")), client: choice.one(CLIENTS) };
    if (!fields.startsWith("who")) draft.person = choice.one([...PEOPLE, undefined]);
    for (const name of fields.split(" ").filter((one) => one !== "")) {
      const field = draft && FIELDS[name]?.(choice, { past, only: only(), draft, open: add });
      draft = field && { ...draft, ...field };
    }
    if (draft !== undefined) add(draft);
  }
  if (isWide) return past;
  // About fewer links and hosts, decisions meet more often.
  const narrow = JSON.stringify(past)
    .replaceAll(/~(?:b|여)(?=")/g, "~a")
    .replaceAll(/(?:~k|deep\.~h)\.example/g, HOST);
  return JSON.parse(narrow) as Step[];
}
