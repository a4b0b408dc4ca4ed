/**
 * Plays sequences of commands to the model and to the service until they disagree, then looks for the shortest sequence that
 * shows the same difference.
 */
import { asyncProperty, check } from "fast-check";

import type { Answer, Command, Settings, Settled } from "./commands.ts";
import { run } from "./doors.ts";
import { expected, play, settled } from "./judge.ts";
import { keyOf, type State } from "./model.ts";
import { runPage } from "./pages.ts";
import { START } from "./run.ts";
import { sequences, type Step, stepsOf } from "./sequences.ts";
import type { World } from "./world.ts";

/** The service's answer that no state of the model explains. */
export interface Difference {
  /** The same in every sequence that shows this fault. */
  readonly signature: string;
  /** How many steps it takes. */
  readonly after: number;
  readonly expected: string;
  readonly got: string;
  readonly requests: readonly string[];
}

export interface Finding extends Difference {
  readonly steps: readonly Step[];
  readonly replays: number;
  /** Whether playing it again showed it again. */
  readonly isRepeatable: boolean;
}

/** The model has too many possible states to continue. */
export class TooManyStates extends Error {}

const MAX_STATES = 3000;
/** How long to look for simpler commands, then for fewer ones. */
const SHRINK = { simplerMs: 30_000, shorterMs: 90_000 };
const LENGTH = 32;
/** For how long what settles may differ from the model. On a busy machine, only the first one is enough. */
const PATIENCE_MS = { first: 30_000, again: 400 };
/** Of events whose place among their subject's isn't fixed. */
const PLACES: Readonly<Record<string, number>> = { "report.opened": 0, "link.expired": 2 };
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

interface Sent {
  readonly command: Command;
  readonly answer: Answer | undefined;
  readonly from: number;
  readonly to: number;
  /** Places in the order of all calls and returns. */
  readonly called: number;
  readonly returned: number;
}

let names = Math.floor(Math.random() * 36 ** 6);

/** Plays a sequence on a service that others have used, with codes and hosts of its own. Returns how many commands ran. */
export async function playSteps(
  world: World,
  steps: readonly Step[],
  patienceMs = PATIENCE_MS.first,
): Promise<{ readonly sent: number; readonly difference: Difference | undefined }> {
  const memory = await world.startSequence();
  const prefix = `q${(names++).toString(36).padStart(6, "0")}`;
  const baseMs = Math.ceil(world.nowMs() / MINUTE_MS) * MINUTE_MS;
  const requests: string[] = [];
  const answers = new Map<number, Answer>();
  const scope = { codes: new Set<string>(), hosts: new Set<string>(), mark: prefix };
  const hasPeople = world.settings.editors !== undefined;
  let states: readonly State[] = [START(world.settings)];
  let ticks = 0;
  let sent = 0;
  let after = 0;

  async function send(step: Step): Promise<Sent | undefined> {
    const command = resolve(step, { prefix, baseMs, answers, hasPeople });
    if (command === undefined) return undefined;
    noteScope(scope, command, world.settings);
    requests.push(`# ${JSON.stringify(command)}`);
    const called = ticks++;
    const isPage = command.door === "form" || command.door === "desk";
    const texts: string[] = [];
    const recorded = recording(world, requests, texts);
    const loses = step.isLost === true;
    const seen = isPage
      ? await runPage(recorded, memory, command, { tab: tabOf(step), loses })
      : await run(recorded, memory, command, { loses });
    if (seen === undefined) return undefined;
    const hasTitle = texts.some((text) => text.includes(`${prefix}A-team`));
    const answer = seen.answer && withKeys(world.settings, { ...seen.answer, hasTitle });
    if (answer !== undefined) answers.set(command.id, answer);
    for (const { link } of [answer ?? [], answer?.results ?? []].flat()) if (link) scope.codes.add(link.key);
    sent++;
    // The forms that withdraw a link or hand it over carry no version.
    const isHandOver = command.kind === "edit" && command.change.owner !== undefined;
    const isBlind = isPage && (command.kind === "withdraw" || isHandOver);
    return {
      ...seen,
      answer,
      command: isBlind ? { ...command, match: undefined } : command,
      called,
      returned: ticks++,
    };
  }

  async function settle(): Promise<Difference | undefined> {
    const fitting = (view: Settled, nowMs: number) =>
      states.filter((state) => differenceOf(settled(state, nowMs), view) === undefined);
    const { seen, disagreements, atMs } = await world.settle(
      scope,
      (view) => fitting(view, world.nowMs()).length > 0,
      patienceMs,
    );
    const explained = fitting(seen, atMs);
    const [said] = disagreements;
    if (said !== undefined) {
      const signature = `views: ${said.replace(/:.*/s, "").replaceAll(prefix, "")}`;
      return { signature, after, expected: "views that agree", got: said, requests };
    }
    if (explained.length === 0) {
      const wrong = states.map((state) => differenceOf(settled(state, atMs), seen) ?? "");
      const nearest = wrong.toSorted((one, other) => other.length - one.length).at(-1) ?? "";
      const signature = `settled ${nearest.replace(/:.*/s, "").replace(/\[[^\]]*\]/g, "")}`;
      return { signature, after, expected: "the model's state", got: nearest, requests };
    }
    states = explained;
    return undefined;
  }

  async function playAll(): Promise<Difference | undefined> {
    for (const group of groupsOf(steps)) {
      after += group.length;
      const [first] = group;
      if (first?.kind === "advance") await world.advance(first.ms);
      else if (first?.kind === "settle") {
        const difference = await settle();
        if (difference !== undefined) return difference;
      } else {
        // All end before the next step starts, also if one fails.
        const sending = group.map(send);
        await Promise.allSettled(sending);
        const all = (await Promise.all(sending)).filter((one) => one !== undefined);
        const before = states;
        states = explain(states, all);
        if (states.length === 0) return { ...describe(before, all), after, requests };
        if (states.length > MAX_STATES) throw new TooManyStates(`${states.length} states`);
      }
    }
    return settle();
  }

  const difference = await playAll();
  return { sent, difference };
}

/**
 * All states that some order of these commands leads to, if it agrees with the order of calls and returns and explains every
 * answer (Wing and Gong, "Testing and Verifying Concurrent Objects", 1993).
 */
function explain(states: readonly State[], sent: readonly Sent[]): readonly State[] {
  const done = new Map<number, readonly State[]>([[0, states]]);
  const all = 2 ** sent.length - 1;
  for (let set = 0; set < all; set++) {
    const from = done.get(set);
    if (from === undefined) continue;
    const open = sent.flatMap((one, nth) => ((set & (1 << nth)) === 0 ? [{ one, nth }] : []));
    const firstReturn = Math.min(...open.map(({ one }) => one.returned));
    for (const { one, nth } of open) {
      if (one.called > firstReturn) continue;
      const next = from.flatMap((state) => play(state, one.command, one.answer, one.from, one.to));
      if (next.length === 0) continue;
      const to = set | (1 << nth);
      done.set(to, different([...(done.get(to) ?? []), ...next]));
    }
  }
  return done.get(all) ?? [];
}

function different(states: readonly State[]): readonly State[] {
  if (states.length < 2) return states;
  return [...new Map(states.map((state) => [canonical(state), state])).values()];
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => {
    if (part instanceof Map)
      return [...part].toSorted(([one], [other]) => (String(one) < String(other) ? -1 : 1));
    if (part instanceof Set)
      return [...part].toSorted((one, other) => (String(one) < String(other) ? -1 : 1));
    return part;
  });
}

function describe(states: readonly State[], sent: readonly Sent[]) {
  const wanted = sent.map(({ command, from, to }) => {
    const ways = new Set(states.map((state) => expected(state, command, from, to)));
    return `${command.kind}: ${[...ways].join(" | ")}`;
  });
  const got = sent.map(({ command, answer }) => `${command.kind}: ${JSON.stringify(answer) ?? "no answer"}`);
  const kinds = sent.map(
    ({ command, answer }) => `${command.kind} ${answer?.status} ${answer?.reason ?? ""}`,
  );
  return { signature: kinds.toSorted().join(", "), expected: wanted.join("\n"), got: got.join("\n") };
}

/** The first difference, as `links[3].target: expected …, got …`. Values that one side doesn't know aren't compared. */
function differenceOf(model: Settled, seen: Settled): string | undefined {
  const wanted = named(model, seen);
  const { left } = wanted;
  const isCompared = ({ key, host, subject }: Subject) =>
    ![key, host, subject].some((one = "") => left.has(one));
  for (const name of ["links", "days", "cases", "hosts", "journal", "events"] as const) {
    const of = (side: Settled) =>
      (side[name] as readonly Subject[]).filter((part) => isCompared(part)).toSorted(bySubject);
    const difference = compare(name, withoutMaybes(of(wanted), of(seen)), of(seen));
    if (difference !== undefined) return difference;
  }
  return compare("linkCount", seen.links.length, seen.linkCount);
}

/** A part of what is settled is about a link, by its key, or about a host. */
interface Subject {
  readonly key?: string | undefined;
  readonly host?: string | undefined;
  readonly subject?: string;
  readonly type?: string;
  readonly maybe?: boolean | undefined;
}

/** By link or host, in their order. Reports are sent first, and the sweep that sends the end of a link may come later than others. */
function bySubject(one: Subject, other: Subject): number {
  const [a = "", b = ""] = [one, other].map(
    ({ key, host, subject, type }) => `${key ?? host ?? subject} ${PLACES[type ?? ""] ?? 1}`,
  );
  return a === b ? 0 : a < b ? -1 : 1;
}

/** Leaves out what may be missing, and is, and puts the rest of it where it is. */
function withoutMaybes(wanted: readonly Subject[], seen: readonly Subject[]): readonly Subject[] {
  const sure = wanted.filter(({ maybe }) => maybe !== true);
  const maybes = wanted.filter(({ maybe }) => maybe === true);
  const all: Subject[] = [];
  const same = (one: Subject | undefined, other: Subject) =>
    one !== undefined && compare("", { ...one, maybe: undefined }, other) === undefined;
  for (const part of seen) {
    const place = same(sure[0], part) ? -1 : maybes.findIndex((one) => same(one, part));
    all.push(...(place < 0 ? sure.splice(0, 1) : maybes.splice(place, 1)));
  }
  return [...all, ...sure].map((part) => ({ ...part, maybe: undefined }));
}

/** Gives links whose code no answer has shown the code of a link with their destination. */
function named(wanted: Settled, seen: Settled): Settled {
  const codes = new Map<string, string>();
  const known = new Set(wanted.links.map(({ key }) => key));
  for (const { key, target } of wanted.links) {
    if (!key.startsWith("?")) continue;
    const link = seen.links.find((one) => !known.has(one.key) && one.target === target);
    if (link === undefined) continue;
    known.add(link.key);
    codes.set(key, link.key);
  }
  if (codes.size === 0) return wanted;
  const rename = (_: string, part: unknown) => (typeof part === "string" ? (codes.get(part) ?? part) : part);
  return { ...(JSON.parse(JSON.stringify(wanted), rename) as Settled), left: wanted.left };
}

function compare(path: string, wanted: unknown, seen: unknown): string | undefined {
  if (wanted === undefined || seen === undefined || Object.is(wanted, seen)) return undefined;
  if (typeof wanted !== "object" || typeof seen !== "object" || wanted === null || seen === null)
    return `${path}: expected ${JSON.stringify(wanted)}, got ${JSON.stringify(seen)}`;
  if (Array.isArray(wanted) && Array.isArray(seen) && wanted.length !== seen.length)
    return `${path}: expected ${JSON.stringify(wanted)}, got ${JSON.stringify(seen)}`;
  for (const name of new Set([...Object.keys(wanted), ...Object.keys(seen)])) {
    const [one, other] = [wanted, seen].map((value) => (value as Record<string, unknown>)[name]);
    const difference = compare(Array.isArray(wanted) ? `${path}[${name}]` : `${path}.${name}`, one, other);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

/** Steps in a row that are sent at once. */
function groupsOf(steps: readonly Step[]): Step[][] {
  const groups: Step[][] = [];
  for (const step of steps) {
    const last = groups.at(-1);
    const isSame = step.together !== undefined && last?.[0]?.together === step.together && last.length < 4;
    if (isSame) last?.push(step);
    else groups.push([step]);
  }
  return groups;
}

interface Resolution {
  readonly prefix: string;
  readonly baseMs: number;
  readonly answers: ReadonlyMap<number, Answer>;
  readonly hasPeople: boolean;
}

/** The command with its present codes, hosts and times. Undefined if it refers to an answer that never came. */
function resolve(step: Step, { prefix, baseMs, answers, hasPeople }: Resolution): Command | undefined {
  let isKnown = true;
  function value(name: string, part: unknown): unknown {
    if (name === "atMs" || name === "createdMs" || name === "endsMs") return baseMs + (part as number);
    if (name === "dayMs") return Math.floor(baseMs / DAY_MS) * DAY_MS + (part as number);
    if (typeof part !== "string") return part;
    const [, of, nth] = /^@(\d+)\.(\d+)$/.exec(part) ?? [];
    if (of === undefined) return part.replaceAll("~", prefix);
    const answer = answers.get(Number(of));
    const code = (answer?.results?.[Number(nth)] ?? answer)?.link?.key;
    isKnown &&= code !== undefined;
    return code;
  }
  const { countOf, together: _together, isLost: _isLost, isKeyless = false, ...command } = step;
  const copy = JSON.parse(JSON.stringify(command), value) as Command &
    Pick<Answer, "untilMs"> & { count?: number; key?: undefined; token?: undefined };
  if (isKeyless && hasPeople) copy.key = undefined;
  if (!hasPeople) copy.token = undefined;
  if (!hasPeople && /"owner":/.test(JSON.stringify(copy))) return undefined;
  if (countOf !== undefined) {
    const { changed: count, untilMs } = answers.get(countOf) ?? {};
    if (count === undefined) return undefined;
    Object.assign(copy, { count, untilMs });
  }
  return isKnown ? copy : undefined;
}

/** The command that opened the page with the form. */
function tabOf(step: Step): number | undefined {
  if (step.countOf !== undefined) return step.countOf;
  if ("decision" in step) return step.decision;
  if ("again" in step) return step.again;
  return "match" in step && typeof step.match === "object" ? step.match.seenBy : undefined;
}

/** Doors show codes as their makers wrote them. */
function withKeys(settings: Settings, answer: Answer): Answer {
  const fold = (name: string, part: unknown) => (name === "key" ? keyOf(settings, String(part)) : part);
  return JSON.parse(JSON.stringify(answer), fold) as Answer;
}

function noteScope(
  { codes, hosts }: { codes: Set<string>; hosts: Set<string> },
  command: Command,
  settings: Settings,
): void {
  const links = "links" in command ? command.links : "link" in command ? [command.link] : [];
  const change = "change" in command ? [command.change] : [];
  if ("code" in command) codes.add(keyOf(settings, command.code));
  if ("host" in command) hosts.add(command.host);
  for (const { code } of links) if (code !== undefined) codes.add(keyOf(settings, code));
  for (const { target } of [...links, ...change])
    if (target !== undefined) hosts.add(new URL(target).hostname);
}

/** Of every browser. */
const PLAIN_HEADERS: ReadonlySet<string> = new Set(["Accept", "User-Agent", "Content-Type"]);

/** The world, which notes every request as a command of a terminal, and the text of every response. */
function recording(world: World, requests: string[], texts: string[]): World {
  const quote = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`;
  return {
    ...world,
    async fetch(path, init = {}) {
      const headers = Object.entries(init.headers ?? {})
        .filter(([name]) => !PLAIN_HEADERS.has(name))
        .map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`);
      const body = typeof init.body === "string" ? [`-d ${quote(init.body)}`] : [];
      requests.push(
        ["curl -i -X", init.method ?? "GET", ...headers, ...body, quote(`localhost:3000${path}`)].join(" "),
      );
      const response = await world.fetch(path, init);
      texts.push(JSON.stringify(response.headers) + (await response.clone().text()));
      return response;
    },
  };
}

/** Plays the sequence of a seed. After a difference, plays shorter ones until none shows it. */
export async function playSeed(
  world: World,
  seed: number,
  /** By signature. Nobody needs another example of these. */
  found: Map<string, Finding | undefined> = new Map(),
): Promise<{ readonly sent: number; readonly finding: Finding | undefined }> {
  let shortest: { readonly steps: readonly Step[]; readonly difference: Difference } | undefined;
  let sent = 0;
  let replays = 0;
  let shown = 0;
  let endMs = Number.POSITIVE_INFINITY;

  /** Whether a sequence shows a difference, and the same as the first one. */
  async function shows(steps: readonly Step[]): Promise<boolean> {
    if (shortest === undefined) {
      const first = await playSteps(world, steps);
      ({ sent } = first);
      const { difference } = first;
      if (difference === undefined) return false;
      if (found.has(difference.signature)) return false;
      shortest = { steps: steps.slice(0, difference.after), difference };
      endMs = performance.now() + SHRINK.simplerMs;
      return true;
    }
    if (performance.now() > endMs) return false;
    replays++;
    // A shorter one may only be hard to explain.
    const { difference } = await playSteps(world, steps, PATIENCE_MS.again).catch(nothing);
    if (difference?.signature !== shortest.difference.signature) return false;
    shortest = { steps: steps.slice(0, difference.after), difference };
    shown++;
    return true;
  }

  let failure: unknown;
  const property = asyncProperty(sequences, async (numbers) => {
    try {
      return !(await shows(stepsOf(numbers)));
    } catch (error) {
      failure = error;
      return true;
    }
  });
  await check(property, { seed, numRuns: 1 });
  if (failure !== undefined) throw failure;
  if (shortest === undefined) return { sent, finding: undefined };
  endMs = performance.now() + SHRINK.shorterMs;
  for (let size = LENGTH; size >= 1; size = Math.floor(size / 2)) {
    for (let end = shortest.steps.length; end > 0; end -= size) {
      const start = Math.max(0, end - size);
      await shows(shortest.steps.toSpliced(start, end - start));
    }
  }
  const { steps, difference } = shortest;
  const finding = { ...difference, steps, replays, isRepeatable: shown > 0 };
  found.set(finding.signature, finding);
  return { sent, finding };
}

function nothing(error: unknown): { difference: undefined } {
  if (!(error instanceof TooManyStates)) throw error;
  return { difference: undefined };
}

export function report(
  { steps, expected: wanted, got, requests, replays, isRepeatable }: Finding,
  seed: number,
): string {
  return [
    `A difference, seed ${seed}, ${steps.length} commands after ${replays} replays${isRepeatable ? "" : ", seen once"}`,
    ...requests,
    "The model expected:",
    wanted,
    "The service answered:",
    got,
    "To keep it, in kept.ts:",
    JSON.stringify(steps),
  ].join("\n");
}
