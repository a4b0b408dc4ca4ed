import { expect, test } from "bun:test";

import * as fc from "fast-check";

import { DAY_MS, HOUR_MS } from "../../src/links/time.ts";
import { ask, OTHER, TARGET } from "../managed.ts";
import { type Here, startHere } from "../service.ts";

/** What the service must know of a link. */
interface Modelled {
  readonly code: string;
  readonly path: string;
  readonly key: string;
  readonly createdMs: number;
  startsMs: number;
  target: string;
  isChanged: boolean;
  endsMs: number;
  maxVisits: number | null;
  used: number;
  hasPassword: boolean;
  ended?: "withdrawn" | "visits";
}

interface Model {
  readonly links: Modelled[];
}

/** `ROUNDS=150 npm test -- test/http/stateful.test.ts` tries more. 25 have about 500 requests, and meet each kind of refusal. */
const ROUNDS = Number(process.env["ROUNDS"] ?? 25);

const HOLD_MS = 30 * DAY_MS;
/** The service says how long targets may change. */
const EDITS = "24h";

type State = "active" | "scheduled" | "expired" | "used_up" | "withdrawn" | "gone";

function stateOf({ startsMs, endsMs, ended }: Modelled, nowMs: number): State {
  if (nowMs >= endsMs + HOLD_MS) return "gone";
  if (ended !== undefined) return ended === "visits" ? "used_up" : "withdrawn";
  if (nowMs >= endsMs) return "expired";
  return nowMs < startsMs ? "scheduled" : "active";
}

const REASON_OF_END = {
  expired: "link.expired",
  used_up: "link.used-up",
  withdrawn: "link.withdrawn",
} as const;

type Refusal = [status: number, reason: string];

/** Status and reason of a link that a request cannot do more with; undefined if it can. */
function over(state: State): Refusal | undefined {
  if (state === "gone") return [404, "link.unknown"];
  return state === "active" || state === "scheduled" ? undefined : [410, REASON_OF_END[state]];
}

const keyKinds = fc.constantFrom("right", "right", "right", "none", "other", "cut", "longer");
type KeyKind = "right" | "none" | "other" | "cut" | "longer";

function keyOf(kind: KeyKind, link: Modelled, { links }: Model): string | undefined {
  const other = links.find(({ code }) => code !== link.code);
  switch (kind) {
    case "right":
      return link.key;
    case "none":
      return undefined;
    case "other":
      return other?.key ?? "AAAAAAAAAAAAAAAAAAAAAA";
    case "cut":
      return link.key.slice(0, -1);
    case "longer":
      return `${link.key}A`;
  }
}

/** What is wrong with a key, before anything else is looked at. */
function keyRefusal(kind: KeyKind, state: State): Refusal | undefined {
  if (kind === "none") return [401, "key.missing"];
  if (state === "gone") return [404, "link.unknown"];
  return kind === "right" ? undefined : [403, "key.wrong"];
}

const durations = { "24h": DAY_MS, "48h": 2 * DAY_MS, "1week": 7 * DAY_MS } as const;
const expires_at = fc.constantFrom("24h" as const, "48h" as const, "1week" as const, null, undefined);
const maxVisits = fc.constantFrom(1, 2, 3, null, undefined);
const password = fc.constantFrom(
  "open sesame",
  null,
  undefined,
  undefined,
  undefined,
  undefined,
  undefined,
  undefined,
);
const endsAt = (duration: keyof typeof durations | null | undefined, nowMs: number) =>
  duration === null || duration === undefined ? Number.POSITIVE_INFINITY : nowMs + durations[duration];

interface Body {
  readonly target?: string | undefined;
  readonly expires_at?: keyof typeof durations | null | undefined;
  readonly max_visits?: number | null | undefined;
  readonly password?: string | null | undefined;
  readonly starts_at?: "24h" | "1week" | "past" | null | undefined;
}

type Command = fc.AsyncCommand<Model, Here>;

/** A request about one of the links, with its outcome as the model has it. */
function about(
  nth: number,
  told: string,
  act: (link: Modelled, model: Model, curt: Here) => Promise<void>,
): Command {
  return {
    check: ({ links }) => links.length > 0,
    async run(model, curt) {
      const link = model.links[nth % model.links.length];
      if (link !== undefined) await act(link, model, curt);
    },
    toString: () => `${told}, link ${nth}`,
  };
}

let codes = 0;

function make(body: Body & { readonly starts_at?: "24h" | "1week" | null | undefined }): Command {
  return {
    check: () => true,
    async run({ links }, curt) {
      const code = `state-${++codes}`;
      const nowMs = curt.nowMs();
      const made = await ask(curt, "POST", "/api/v1/links", { body: { target: TARGET, code, ...body } });
      const startsMs = body.starts_at ? nowMs + durations[body.starts_at] : 0;
      if (endsAt(body.expires_at, nowMs) <= startsMs) {
        expect([made.status, made.reason]).toEqual([400, "expires_at.before-start"]);
        return;
      }
      expect(made.status).toBe(201);
      const link: Modelled = {
        code,
        path: `/api/v1/links/${code}`,
        key: made.data["manage_key"],
        createdMs: Date.parse(made.data["created_at"]),
        startsMs,
        target: TARGET,
        isChanged: false,
        endsMs: endsAt(body.expires_at, nowMs),
        maxVisits: body.max_visits ?? null,
        used: 0,
        hasPassword: typeof body.password === "string",
      };
      expectTold(made.data, link, nowMs, true);
      links.push(link);
      // So that 24 hours from a change are always later than 24 hours from here.
      curt.advance(1);
    },
    toString: () => `make ${JSON.stringify(body)}`,
  };
}

function makeAgain(nth: number): Command {
  return about(nth, "make again", async (link, { links }, curt) => {
    const isFree = stateOf(link, curt.nowMs()) === "gone";
    const made = await ask(curt, "POST", "/api/v1/links", { body: { target: TARGET, code: link.code } });
    expect([made.status, made.reason]).toEqual(isFree ? [201, null] : [409, "code.taken"]);
    if (!isFree) return;
    expect(made.data["manage_key"]).not.toBe(link.key);
    const { code, path } = link;
    // From now on, the code is that of another link.
    links[links.indexOf(link)] = {
      code,
      path,
      key: made.data["manage_key"],
      createdMs: Date.parse(made.data["created_at"]),
      startsMs: 0,
      target: TARGET,
      isChanged: false,
      endsMs: Number.POSITIVE_INFINITY,
      maxVisits: null,
      used: 0,
      hasPassword: false,
    };
  });
}

/** Why a change is refused, undefined if it is made. */
function changeRefusal(link: Modelled, kind: KeyKind, body: Body, nowMs: number): Refusal | undefined {
  const { target } = body;
  const state = stateOf(link, nowMs);
  const early = keyRefusal(kind, state) ?? over(state);
  if (early !== undefined) return early;
  if (target !== undefined && target !== link.target && nowMs >= link.createdMs + DAY_MS)
    return [403, "edits.closed"];
  const reasons = [
    ...(target === "nonsense" ? ["target.scheme"] : []),
    ...startRefusals(link, body, state === "scheduled", nowMs),
  ];
  return reasons.length === 0 ? undefined : [400, reasons.join(", ")];
}

function startRefusals(
  link: Modelled,
  { starts_at: starts, expires_at: ends }: Body,
  isEarly: boolean,
  nowMs: number,
) {
  const endsMs = ends === undefined ? link.endsMs : endsAt(ends, nowMs);
  const startsMs = startsAt(starts, link, nowMs);
  const reasons = endsMs <= Math.max(startsMs, nowMs) ? ["expires_at.before-start"] : [];
  if (starts === undefined || starts === null) return reasons;
  if (!isEarly) return [...reasons, "starts_at.started"];
  return starts === "past" ? [...reasons, "starts_at.past"] : reasons;
}

/** When a link would begin after a change. Null is now, unless it has begun. */
function startsAt(starts: Body["starts_at"], link: Modelled, nowMs: number): number {
  if (starts === undefined) return link.startsMs;
  if (starts === null) return Math.min(nowMs, link.startsMs);
  return starts === "past" ? nowMs - DAY_MS : nowMs + durations[starts];
}

function change(nth: number, kind: KeyKind, body: Body): Command {
  return about(nth, `change ${JSON.stringify(body)}, ${kind} key`, async (link, model, curt) => {
    const nowMs = curt.nowMs();
    const refusal = changeRefusal(link, kind, body, nowMs);
    const key = keyOf(kind, link, model);
    const starts = body.starts_at === "past" ? new Date(nowMs - DAY_MS).toISOString() : body.starts_at;
    const { status, reason, data } = await ask(curt, "PATCH", link.path, {
      key,
      body: { ...body, starts_at: starts },
    });
    expect([status, reason]).toEqual(refusal ?? [200, null]);
    if (refusal !== undefined) return;
    if (body.target !== undefined && body.target !== link.target) {
      link.target = body.target;
      link.isChanged = true;
    }
    if (body.expires_at !== undefined) link.endsMs = endsAt(body.expires_at, nowMs);
    link.startsMs = startsAt(body.starts_at, link, nowMs);
    if (body.max_visits === null) link.used = 0;
    if (body.max_visits !== undefined) link.maxVisits = body.max_visits;
    if (body.password !== undefined) link.hasPassword = body.password !== null;
    endIfUsedUp(link, nowMs);
    expectTold(data, link, nowMs, true);
    expect(data["manage_key"]).toBe(link.key);
  });
}

function endIfUsedUp(link: Modelled, nowMs: number): void {
  if (link.maxVisits === null || link.used < link.maxVisits) return;
  link.ended = "visits";
  link.endsMs = nowMs;
}

/** `knows`: with the key. */
function expectTold(data: Record<string, any>, link: Modelled, nowMs: number, knows: boolean): void {
  const target = knows || !link.hasPassword ? link.target : null;
  expect(data).toMatchObject({
    code: link.code,
    state: stateOf(link, nowMs),
    target,
    max_visits: link.maxVisits,
    visits_used: knows && link.maxVisits !== null ? link.used : null,
    has_password: link.hasPassword,
  });
  expect([data["changed_at"] === null, data["starts_at"] === null]).toEqual([
    !link.isChanged,
    link.startsMs === 0,
  ]);
  // The service's clock goes on between the two looks at it.
  if (link.startsMs !== 0)
    expect(Math.abs(Date.parse(data["starts_at"]) - link.startsMs)).toBeLessThan(HOUR_MS / 4);
  if (link.endsMs === Number.POSITIVE_INFINITY) expect(data["expires_at"]).toBeNull();
  else expect(Math.abs(Date.parse(data["expires_at"]) - link.endsMs)).toBeLessThan(HOUR_MS / 4);
}

function withdraw(nth: number, kind: KeyKind): Command {
  return about(nth, `withdraw, ${kind} key`, async (link, model, curt) => {
    const nowMs = curt.nowMs();
    const state = stateOf(link, nowMs);
    const refusal = keyRefusal(kind, state) ?? over(state);
    const key = keyOf(kind, link, model);
    const { status, reason, data } = await ask(curt, "DELETE", link.path, { key });
    expect([status, reason]).toEqual(refusal ?? [200, null]);
    if (refusal !== undefined) return;
    link.ended = "withdrawn";
    link.endsMs = nowMs;
    expectTold(data, link, nowMs, true);
  });
}

function use(nth: number): Command {
  return about(nth, "use", async (link, _model, curt) => {
    const nowMs = curt.nowMs();
    const state = stateOf(link, nowMs);
    const response = await curt.fetch(`/${link.code}/`);
    await response.bytes();
    const { status, headers } = response;
    const answered = [status, headers.get("curt-reason") ?? headers.get("location")];
    if (state === "scheduled") expect(answered).toEqual([404, "link.unknown"]);
    else if (state !== "active") expect(answered).toEqual(over(state) ?? []);
    else if (link.hasPassword) expect(answered).toEqual([401, "password.missing"]);
    else {
      expect(answered).toEqual([302, link.target]);
      if (link.maxVisits !== null) link.used++;
      endIfUsedUp(link, nowMs);
    }
  });
}

function read(nth: number, kind: KeyKind, what: "" | "/stats"): Command {
  return about(nth, `read ${what}, ${kind} key`, async (link, model, curt) => {
    const nowMs = curt.nowMs();
    const state = stateOf(link, nowMs);
    const key = keyOf(kind, link, model);
    const { status, reason, data } = await ask(curt, "GET", `${link.path}${what}`, { key });
    const refusal = kind === "none" ? publicRefusal(state) : keyRefusal(kind, state);
    expect([status, reason]).toEqual(refusal ?? [200, null]);
    if (refusal !== undefined) return;
    if (what === "") expectTold(data, link, nowMs, kind === "right");
    else expect(data["code"]).toBe(link.code);
    expect(JSON.stringify(data)).not.toContain(link.key);
  });
}

function publicRefusal(state: State): Refusal | undefined {
  if (state === "gone" || state === "scheduled") return [404, "link.unknown"];
  return state === "withdrawn" ? over(state) : undefined;
}

function wait(ms: number): Command {
  return {
    check: () => true,
    run: async (_model, curt) => curt.advance(ms),
    toString: () => `wait ${Math.round(ms / HOUR_MS)} h`,
  };
}

const nth = fc.nat({ max: 5 });
const COMMANDS = [
  fc
    .record({
      expires_at,
      max_visits: maxVisits,
      password,
      starts_at: fc.constantFrom("24h" as const, "1week" as const, null, undefined, undefined),
    })
    .map((body) => make(body)),
  nth.map((link) => makeAgain(link)),
  fc
    .tuple(
      nth,
      keyKinds,
      fc.record(
        {
          target: fc.constantFrom(TARGET, OTHER, `${OTHER}2`, "nonsense"),
          expires_at,
          max_visits: maxVisits,
          password,
          starts_at: fc.constantFrom("24h" as const, "1week" as const, "past" as const, null),
        },
        { requiredKeys: [] },
      ),
    )
    .map(([link, kind, body]) => change(link, kind, body)),
  fc.tuple(nth, keyKinds).map(([link, kind]) => withdraw(link, kind)),
  nth.map((link) => use(link)),
  nth.map((link) => use(link)),
  fc
    .tuple(nth, keyKinds, fc.constantFrom("" as const, "" as const, "/stats" as const))
    .map(([link, kind, what]) => read(link, kind, what)),
  // No sum of these is near a limit of time.
  fc.constantFrom(7 * HOUR_MS + 111_111, 13 * HOUR_MS + 222_222, 31 * DAY_MS + 333_333).map((ms) => wait(ms)),
];

test("links are what their makers made of them, whatever is asked in whatever order with whatever key", async () => {
  await using curt = await startHere({ EDITS, CODE_HOLD: "30d" });
  await fc.assert(
    fc.asyncProperty(fc.commands(COMMANDS, { maxCommands: 40, size: "max" }), (commands) =>
      fc.asyncModelRun(() => ({ model: { links: [] }, real: curt }), commands),
    ),
    { numRuns: ROUNDS },
  );
});
