/**
 * What Curt does, as a model that can be played: a state, and a function for each command that says which answers are right.
 *
 * Written from docs/, never from src/. It reads in the order of a link's life: codes, creates, changes, visits, reports,
 * decisions, transfer. A test plays random commands to this model and to the service until they disagree.
 */
import type {
  Answer,
  CaseAnswer,
  CaseView,
  Command,
  Entry,
  Event,
  HostView,
  Key,
  LinkView,
  MakerKey,
  Match,
  NewLink,
  Operated,
  Reason,
  Search,
  Settings,
  Terms,
  Time,
  Visitor,
  Visits,
} from "./commands.ts";
import { after, at, isMoment, type Moment, type Run, type Said } from "./run.ts";

// ---------------------------------------------------------------------------------------------------------- state

/** One life of a code: codes are reused, so a link is its code and its creation. */
export interface Link {
  key: Key;
  /** The code as its maker wrote it; `undefined`: generated. */
  written?: string | undefined;
  /** `key number`, different for each life. */
  id: string;
  by?: string | undefined;
  owner?: string | undefined;
  /** The generation of its manage keys: each new owner gets others. */
  keys: number;
  created: Moment;
  /** As the maker wrote it; empty once erased. */
  target: string;
  /** When the destination last changed, and how often it has. */
  changed?: Moment | undefined;
  changes: number;
  ends?: Moment | undefined;
  starts?: Moment | undefined;
  maxVisits?: number | undefined;
  used: number;
  password?: string | undefined;
  /** How often a password was set: the same one again is a change. */
  passwords: number;
  forwardQuery: boolean;
  forwardPath: boolean;
  title?: string | undefined;
  /** How it ended, if not by time. */
  ended?: { how: "withdrawn" | "used_up"; at: Moment };
  disabled?: Disabling | undefined;
  erased?: true;
  /** Came with an import, which creates no events. */
  imported?: true;
}

interface Disabling {
  reason: Reason;
  /** Reports reached the threshold, and the operator hasn't decided yet. */
  byReports: boolean;
}

/** All reports of a link. */
interface Case {
  reports: number;
  reasons: Partial<Record<Reason, number>>;
  pendingReasons: Partial<Record<Reason, number>>;
  /** Reports of a working link since a report opened the case, and how often one has. */
  pending: number;
  openings: number;
  open: boolean;
  answer?: CaseAnswer | undefined;
  /** `changes` of the link that the answer or the reports' disabling is about. */
  answered: number;
  /** Reports have disabled the link since the case was opened, so they don't again. */
  disabled: boolean;
}

/** A decision of an operator, or reports' own disabling, with what it replaced: values that it set, also to the same value. */
interface Decision {
  /** The ordinal of its command. */
  id: number;
  /** Erasing and reports' own disabling have no undo. */
  kind: "one" | "many" | "final";
  entry: Entry;
  replaced: Replaced[];
}
type Replaced = { undone?: true } & (
  | { of: "link"; on: string; was: Disabling | undefined }
  | { of: "case"; on: string; was: Case }
  | { of: "host"; on: string; was: Reason | undefined }
  | { of: "owner" | Correctable; on: string; was: unknown; became: unknown }
);

/** Values that people replace, which the journal keeps. */
const TERMS = ["ends", "starts", "maxVisits", "forwardQuery", "forwardPath", "title"] as const;
const CORRECTABLE = ["target", ...TERMS] as const;
type Correctable = (typeof CORRECTABLE)[number];

/** Plain data. Every step works on a copy. */
export interface State {
  readonly settings: Settings;
  operators: readonly string[];
  creators: readonly string[];
  /** The last life of each code, until the code is taken again. */
  links: Map<Key, Link>;
  lives: number;
  /** Codes that had another life. */
  reused: Set<Key>;
  /** Rules: each covers its host's subdomains. */
  hosts: Map<string, Reason>;
  /** By the link's id. */
  cases: Map<string, Case>;
  /** Who has reported which link on which day. */
  reporters: Set<string>;
  decisions: Decision[];
  /** Newest first. */
  journal: Entry[];
  /** Requests by client and Idempotency-Key, with the links that exist by their number in the request. */
  keyed: Map<string, { body: string; at: Moment; created: Map<number, Link> }>;
  events: Event[];
  /** By the link's id, then by the start of the hour (Unix ms). */
  visits: Map<string, Map<number, Visits>>;
  /** Imported visits of people by the link's id, then by day; `null`: without a day. */
  imported: Map<string, Map<number | null, number>>;
  /** Forms that were sent for a visit, by its command. */
  forms: Map<number, { at: Moment; location: string }>;
  /** The id and the generation of the link whose manage key an answer gave: by `id.nth` of the command. */
  makers: Map<string, string>;
  /** The decisions that a manage page can bring back, by the command that opened it. */
  offered: Map<number, number[]>;
  /** Terms of links as answers showed them: by command, then by key. */
  seen: Map<number, Map<Key, Link>>;
  /** Links and rules of the last second: memory may still have them. */
  recent: { links: Map<Key, Link>; hosts: Map<string, Reason>; untilMs: number }[];
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
type Of<Kind extends Command["kind"]> = Extract<Command, { kind: Kind }>;

// ---------------------------------------------------------------------------------------------------------- codes

/** Spellings that are equal in NFC without U+FE0F are one code, and with CODE_CASE=ignore in any capitals. */
export function keyOf({ codeCase }: Settings, code: string): Key {
  const key = code.normalize("NFC").replaceAll("\u{FE0F}", "");
  return codeCase === "match" ? key : key.toUpperCase().toLowerCase().normalize("NFC");
}

/** 1 to 64 letters, marks and numbers of any script, `-`, `_` and emoji; a mark needs a base. Some words are reserved. */
function isCode(code: string, settings: Settings): boolean {
  const isReserved = /^(api|docs|admin|metrics|livez|readyz)$/i.test(code);
  if (isReserved || Array.from(keyOf(settings, code)).length > 64) return false;
  return /^(?!\p{M})(?:[\p{L}\p{M}\p{N}_\-]|\p{RGI_Emoji})+$/v.test(code.normalize("NFC"));
}

/** No link, and what a link has unless its maker says otherwise. */
const NOTHING: Link = {
  key: "",
  id: "",
  created: at(0),
  target: "",
  keys: 0,
  changes: 0,
  used: 0,
  passwords: 0,
  forwardQuery: false,
  forwardPath: false,
};

const endOf = ({ ended, ends }: Link) => ended?.at ?? ends;

/** A code is free CODE_HOLD after its link has ended. A disabled link keeps its code, an erased one for ever. */
export function isFree(run: Run, key: Key): boolean {
  const link = run.state.links.get(key);
  if (link === undefined || link.disabled || link.erased) return link === undefined;
  const end = endOf(link);
  return run.passed(end && after(end, run.state.settings.codeHoldMs));
}

/** The link of a code. Once its code is free, it may have been purged. */
function linkOf(run: Run, code: string): Link | undefined {
  const link = run.state.links.get(keyOf(run.state.settings, code));
  return link !== undefined && isFree(run, link.key) && run.either([true, false]) ? undefined : link;
}

// --------------------------------------------------------------------------------------------------- destinations

/** `http` or `https`, no credentials, backslashes, control characters or white space, at most 8,192 characters, not to us. */
function isDestination(target: string, { ownHosts }: Settings): boolean {
  if (!/^https?:\/\//i.test(target) || /[\\\s\p{Cc}]/u.test(target) || !URL.canParse(target)) return false;
  const { href, username, password, host } = new URL(target);
  return (
    Math.max(href.length, target.length) <= 8192 && username + password === "" && !ownHosts.includes(host)
  );
}

const hostOf = (target: string) => (target === "" ? "" : new URL(target).hostname);

/** The reason for which the destination's host or a parent of it is blocked. */
function ruleOf({ hosts }: State, target: string): Reason | undefined {
  const labels = hostOf(target).split(".");
  return labels.map((_, nth) => hosts.get(labels.slice(nth).join("."))).find((rule) => rule !== undefined);
}

const PLACE = /(?:\{|%7B)path(?:\}|%7D)/gi;

/** `forward_path` puts the path after the code in place of `{path}`, in a query as one value, or appends it to the destination's path. */
function withPath(target: string, path: string): string {
  const url = new URL(target);
  const inside = path.replace(/^\//, "");
  if (inside !== "" && url.href.search(PLACE) < 0) url.pathname = url.pathname.replace(/\/?$/, "/") + inside;
  url.search = url.search.replaceAll(PLACE, encodeURIComponent(inside));
  return url.href.replaceAll(PLACE, inside);
}

/** `forward_query` appends the visitor's parameters that the destination lacks, before its fragment. */
function locationOf({ target, forwardQuery, forwardPath }: Link, query: string, path: string): string {
  const { href, hash, searchParams } = new URL(forwardPath ? withPath(target, path) : target);
  const isNew = (pair: string) =>
    [...new URLSearchParams(pair).keys()].some((name) => name !== "language" && !searchParams.has(name));
  const pairs = forwardQuery ? query.split("&").filter(isNew).join("&") : "";
  const base = href.slice(0, href.length - hash.length);
  const whole = pairs === "" ? href : base + (base.includes("?") ? "&" : "?") + pairs + hash;
  return Math.max(query.length, whole.length) > 16_384 ? href : whole;
}

// --------------------------------------------------------------------------------------------------- a link's life

type Standing = NonNullable<LinkView["state"]> | "unknown";

/** Disabling, also by a rule for its host, wins over what its maker did and over time. */
function standingOf(run: Run, link: Link | undefined): Standing {
  if (link === undefined || link === NOTHING) return "unknown";
  if (link.erased) return "deleted";
  if (link.disabled || ruleOf(run.state, link.target)) return "disabled";
  if (link.ended) return link.ended.how;
  if (run.passed(link.ends)) return "expired";
  return link.starts === undefined || run.passed(link.starts) ? "active" : "scheduled";
}

/** Answers of links that aren't active. A link that hasn't started is unknown to everybody. */
const GONE: Readonly<Record<Exclude<Standing, "active">, readonly [number, string]>> = {
  unknown: [404, "link.unknown"],
  scheduled: [404, "link.unknown"],
  deleted: [410, "link.disabled"],
  disabled: [410, "link.disabled"],
  withdrawn: [410, "link.withdrawn"],
  used_up: [410, "link.used-up"],
  expired: [410, "link.expired"],
};

/** Refuses unless the link stands like one of these. */
function refuseUnless(run: Run, link: Link | undefined, ...allowed: readonly Standing[]): Standing {
  const standing = standingOf(run, link);
  if (standing !== "active" && !allowed.includes(standing)) run.refuseIf(true, ...GONE[standing]);
  return standing;
}

/** Who sees what: the destination behind a password, the creator and the visits used are for its maker and operators. */
export function viewOf(run: Run, link: Link, eyes: "public" | "colleague" | "maker" | "operator") {
  const { key, target, maxVisits, password, erased } = link;
  const rule = eyes === "operator" ? undefined : ruleOf(run.state, target);
  const isMine = eyes === "maker" || eyes === "operator";
  return {
    key,
    target: !isMine && password !== undefined ? null : target,
    createdMs: link.created,
    endsMs: endOf(link) ?? null,
    startsMs: link.starts ?? null,
    maxVisits: maxVisits ?? null,
    visitsUsed: !isMine || maxVisits === undefined ? null : link.used,
    hasPassword: password !== undefined,
    forwardQuery: link.forwardQuery,
    forwardPath: link.forwardPath,
    title: eyes === "public" ? null : (link.title ?? null),
    written: link.written,
    state: eyes === "operator" ? undefined : (standingOf(run, link) as LinkView["state"]),
    disabledReason: erased ? ("deleted" as const) : (link.disabled?.reason ?? rule ?? null),
    changedMs: link.changed ?? null,
    by: isMine ? (link.by ?? null) : null,
    owner: eyes === "public" ? null : (link.owner ?? null),
  };
}

const VERSIONED = "id target maxVisits password passwords forwardQuery forwardPath title erased".split(" ");

/** A version of a link is its terms, whatever its visits: what was seen is valid while they are the same. An operator's leaves out the end. */
function isVersion(run: Run, link: Link | undefined, match: Match): boolean {
  if (link === undefined || match === undefined || match === "*") return true;
  const seen = run.state.seen.get(match.seenBy)?.get(link.key);
  if (seen === undefined) return false;
  const isOperators = "who" in run.command;
  const terms = (one: Link) =>
    JSON.stringify(one, VERSIONED) + (isOperators ? one.keys : one.ended?.how === "withdrawn");
  return (
    terms(seen) === terms(link) &&
    mayEqual(run, seen.starts, link.starts) &&
    (isOperators || mayEqual(run, seen.ends, link.ends))
  );
}

/** Moments that overlap may be the same. */
function mayEqual(run: Run, one: unknown, other: unknown): boolean {
  if (!isMoment(one) || !isMoment(other)) return one === other;
  if (one.earliest > other.latest || other.earliest > one.latest) return false;
  return one.earliest + other.earliest === one.latest + other.latest || run.either([true, false]);
}

// -------------------------------------------------------------------------------------------------------- creates

/** `null` is never for an end, and now for a start. */
const momentOf = (run: Run, time: Time | undefined, otherwise?: Moment): Moment | undefined =>
  time === undefined
    ? otherwise
    : time === null
      ? undefined
      : "atMs" in time
        ? at(time.atMs)
        : after(run.now, time.inMs);

function refuseTerms(run: Run, terms: Terms, link?: Link): void {
  const { target, maxVisits } = terms;
  const { posture } = run.state.settings;
  // One innocent destination of an anonymous maker would open a whole host.
  run.refuseIf(terms.forwardPath === true && posture === "public", 400, "forward_path.anonymous");
  const [ends, starts] = [momentOf(run, terms.ends, link?.ends), momentOf(run, terms.starts, link?.starts)];
  const isGood = target === undefined || isDestination(target, run.state.settings);
  run.refuseIf(!isGood, 400);
  run.refuseIf(isGood && ruleOf(run.state, target ?? "") !== undefined, 400, "target.blocked");
  run.refuseIf(typeof maxVisits === "number" && maxVisits < 1, 400, "max_visits.range");
  run.refuseIf(terms.ends !== undefined && run.passed(ends), 400, "expires_at.past");
  const mayHaveStarted = link === undefined && run.command.door !== "form";
  run.refuseIf(terms.starts !== undefined && !mayHaveStarted && run.passed(starts), 400, "starts_at.past");
  run.refuseIf(
    ends !== undefined && starts !== undefined && ends.latest <= starts.earliest,
    400,
    "expires_at.before-start",
  );
}

type Creating = Of<"create"> | Of<"batch">;

/** Reserves the code. Without one, the service generates it: the model reads it from the answer. */
function createOne(run: Run, command: Creating, link: NewLink, nth: number, shown?: Answer): Said {
  const { state, now } = run;
  const { id, token } = command;
  const by = creatorIn(run, token);
  const owner = by === token ? undefined : by;
  const key = keyOf(state.settings, link.code ?? shown?.link?.key ?? `?${id}.${nth}`);
  run.refuseIf(link.code !== undefined && !isCode(link.code, state.settings), 400);
  run.refuseIf(!isFree(run, key), 409, "code.taken");
  refuseTerms(run, link);
  run.orRefuse();
  const { defaultExpiryMs } = state.settings;
  const defaultEnd = defaultExpiryMs === undefined ? undefined : after(now, defaultExpiryMs);
  const created: Link = { ...NOTHING, key, id: `${key} ${state.lives++}`, created: now, target: link.target };
  Object.assign(created, { by, owner, written: link.code, ends: defaultEnd });
  change(run, created, link);
  if (state.links.has(key)) state.reused.add(key);
  state.links.set(key, created);
  state.makers.set(`${id}.${nth}`, `${created.id} 0`);
  run.emit("link.created", key, { by });
  return { status: 201, link: viewOf(run, created, "maker") };
}

/** Whom the proxy names. */
const namedIn = ({ command, state }: Run) =>
  state.settings.editors === undefined ? undefined : command.person;

/** A known token, or a person. Proxies may send a token of their own. */
const creatorIn = (run: Run, token: string | undefined) =>
  token !== undefined && run.state.creators.includes(token) ? token : namedIn(run);

/** One client: an IPv4 address, or so many groups of an IPv6 one. */
const clientOf = (address: string, groups: number) => address.split(":").slice(0, groups).join(":");

/**
 * Creates links, one after the other. For 24 hours, or until a later cleanup, the same request with the same Idempotency-Key from the same network gets
 * the links that it created; refusals are evaluated again. Without a token, short keys could be guessed and are refused.
 */
function create(run: Run, command: Creating, links: readonly NewLink[], answer: Answer | undefined): Said {
  const { state, now } = run;
  const { id, door, client, token, idempotencyKey } = command;
  const body = `${door} ${command.kind} ${JSON.stringify(links)}`;
  const creator = creatorIn(run, token);
  const isRefused = creator === undefined && state.settings.editors !== undefined;
  const scope = `${clientOf(client, 4)} ${idempotencyKey ?? ""} ${creator ?? ""}`;
  for (const status of [401, 403])
    run.refuseIf(isRefused, status, token === undefined ? "token.missing" : "token.wrong");
  run.refuseIf(creator === undefined && (idempotencyKey?.length ?? 16) < 16, 400, "idempotency.format");
  const earlier = idempotencyKey === undefined ? undefined : state.keyed.get(scope);
  const isAgain =
    earlier !== undefined && !(run.passed(after(earlier.at, DAY_MS)) && run.either([true, false]));
  run.refuseIf(isAgain && earlier.body !== body, 422, "idempotency.reused");
  run.orRefuse();
  const keyed = isAgain ? earlier : { body, at: now, created: new Map<number, Link>() };
  const results = links.map((link, nth) => {
    const shown = command.kind === "batch" ? answer?.results?.[nth] : answer;
    const original = keyed.created.get(nth);
    if (original !== undefined) return replay(run, original, `${id}.${nth}`, shown);
    const said = run.attempt(() => createOne(run, command, link, nth, shown));
    const made = state.links.get(keyOf(state.settings, link.code ?? shown?.link?.key ?? `?${id}.${nth}`));
    if (said.status === 201 && made) keyed.created.set(nth, structuredClone(made));
    return said;
  });
  if (idempotencyKey !== undefined && keyed.created.size > 0) state.keyed.set(scope, keyed);
  return command.kind === "batch" ? { status: 200, results } : (results[0] ?? { status: 400 });
}

/** The original response, with its manage key. It may be the first that shows a generated code. */
function replay({ state }: Run, original: Link, maker: string, shown: Answer | undefined): Said {
  const { key: before, id, created } = original;
  const link = state.links.get(before);
  if (shown?.link && before.startsWith("?") && link) {
    original.key = link.key = keyOf(state.settings, shown.link.key);
    state.links.delete(before);
    state.links.set(link.key, link);
    state.events = state.events.map((event) =>
      event.subject === before ? { ...event, subject: link.key } : event,
    );
  }
  state.makers.set(maker, `${id} 0`);
  return { status: 201, replayed: true, link: { key: original.key, createdMs: created } };
}

// ----------------------------------------------------------------------------- changes by the maker and by editors

/** Owners and holders of the manage key may do everything. With EDITORS=everybody, others correct a link without a password. */
function rightOf(run: Run, link: Link | undefined, key: MakerKey): "maker" | "editor" | undefined {
  const [person, { makers, settings }] = [namedIn(run), run.state];
  if (link === undefined) return undefined;
  const isKey = typeof key === "object" && makers.get(`${key.of}.${key.nth}`) === `${link.id} ${link.keys}`;
  if (isKey || (person !== undefined && person === link.owner)) return "maker";
  const isEditor = person !== undefined && settings.editors === "everybody" && link.password === undefined;
  return isEditor ? "editor" : undefined;
}

/** Fields that are left out keep their value. Returns whether anything changed: the same value again is no change. */
function change(run: Run, link: Link, terms: Terms): boolean {
  const before = JSON.stringify(link);
  const { target = link.target } = terms;
  if (target !== link.target) Object.assign(link, { target, changed: run.now, changes: link.changes + 1 });
  link.ends = momentOf(run, terms.ends, link.ends);
  link.starts = momentOf(run, terms.starts, link.starts);
  for (const name of ["maxVisits", "password", "title"] as const)
    if (terms[name] !== undefined) Object.assign(link, { [name]: terms[name] ?? undefined });
  if (typeof terms.password === "string") link.passwords++;
  if (link.maxVisits === undefined) link.used = 0;
  link.forwardQuery = terms.forwardQuery ?? link.forwardQuery;
  link.forwardPath = terms.forwardPath ?? link.forwardPath;
  const isUsedUp = link.maxVisits !== undefined && link.used >= link.maxVisits;
  if (isUsedUp) link.ended = { how: "used_up", at: run.now };
  return before !== JSON.stringify(link);
}

function setOwner(link: Link, owner: string | undefined): boolean {
  if (owner === link.owner) return false;
  Object.assign(link, { owner, keys: link.keys + 1 });
  return true;
}

/** A right to change the link, a reserved one only for its maker, and the version that they know. A right that ends meanwhile is 412. */
function refuseMaker(
  run: Run,
  { code, key, match }: Of<"edit"> | Of<"withdraw"> | Of<"bring-back">,
  isReserved = false,
): Link {
  const link = linkOf(run, code);
  const right = rightOf(run, link, key);
  const isSomebody = key !== undefined || namedIn(run) !== undefined;
  const isOther = isSomebody && link !== undefined && right === undefined;
  run.refuseIf(!isSomebody, 401, "key.missing");
  run.refuseIf(isOther, 403, key === undefined ? "owner.other" : "key.wrong");
  run.refuseIf(isReserved && right === "editor", 403, "owner.other");
  const meanwhile = run.state.recent.filter(({ untilMs }) => untilMs >= run.now.earliest);
  const isLost = meanwhile.some(({ links }) => rightOf(run, links.get(link?.key ?? ""), key) !== undefined);
  run.refuseIf(isLost && right !== "maker" && run.either([false, true]), 412, "precondition.failed");
  run.refuseIf(!isVersion(run, link, match), 412, "precondition.failed");
  run.refuseIf(link === undefined, ...GONE.unknown);
  return link ?? NOTHING;
}

/** The time for changes of a destination is over. */
function refuseTarget(run: Run, link: Link, target: string | undefined): void {
  const isNew = target !== undefined && target !== link.target;
  run.refuseIf(isNew && run.passed(after(link.created, run.state.settings.editsMs)), 403, "edits.closed");
}

/** A link can be handed over even if it has ended or is disabled. The journal has what people replace, unless there is a password. */
function edit(run: Run, command: Of<"edit">): Said {
  const { id, change: terms, key } = command;
  const { owner, target, starts } = terms;
  const by = namedIn(run);
  const link = refuseMaker(run, command, owner !== undefined || terms.password !== undefined);
  if (owner !== undefined) {
    run.refuseIf(link.erased === true, ...GONE.deleted);
    run.orRefuse();
    const entry: Entry = { who: "person", by, action: "hand-over", key: link.key };
    if (owner !== link.owner) handOver(run, id, entry, [link], owner);
    return managed(run, id, link, key);
  }
  refuseUnless(run, link, "scheduled");
  refuseTerms(run, terms, link);
  refuseTarget(run, link, target);
  const isStarted = link.starts === undefined || run.passed(link.starts);
  const keepsStart = starts === undefined || (starts === null && isStarted && run.either([true, false]));
  run.refuseIf(isStarted && !keepsStart, 400, "starts_at.started");
  run.orRefuse();
  const before = { ...link };
  const isChanged = change(run, link, terms);
  if (isChanged) run.emit("link.changed", link.key, { by });
  if (link.ended) run.emit("link.expired", link.key, { maybe: true });
  if (isChanged && by !== undefined) {
    const isSecret = before.password !== undefined || link.password !== undefined;
    const isNew = (of: Correctable) => JSON.stringify(before[of]) !== JSON.stringify(link[of]) && !isSecret;
    const rowOf = (of: Correctable) => ({ of, on: link.id, was: before[of], became: link[of] });
    const rows = CORRECTABLE.filter(isNew).map(rowOf);
    const entry: Entry = { who: "person", by, action: "correct", key: link.key };
    record(run, id, rows.length > 0 ? "one" : "final", entry, ...rows);
  }
  return managed(run, id, link, key);
}

/** The answer has the present manage key for somebody who is still its maker. */
function managed(run: Run, id: number, link: Link, key: MakerKey): Said {
  const isMaker = rightOf(run, link, key) === "maker";
  if (isMaker) run.state.makers.set(`${id}.0`, `${link.id} ${link.keys}`);
  return { status: 200, hasKey: isMaker, link: viewOf(run, link, isMaker ? "maker" : "colleague") };
}

/** Corrections of a link that its manage page can bring back, newest first: none of its values has changed since. */
function offeredFor(run: Run, link: Link): number[] {
  const isOpen = /^(?:active|scheduled)$/.test(standingOf(run, link));
  const isClosed = run.passed(after(link.created, run.state.settings.editsMs));
  return run.state.decisions.toReversed().flatMap((decision) => {
    const { id, kind, entry, replaced } = decision;
    const isOffered = (value: Replaced) =>
      value.on === link.id &&
      stands(run, decision, value) &&
      isThere(run, link, value) &&
      !(isClosed && value.of === "target");
    return isOpen && kind === "one" && entry.action === "correct" && replaced.every(isOffered) ? [id] : [];
  });
}

/** One click restores what a correction replaced, by the rules of an edit. */
function bringBack(run: Run, command: Of<"bring-back">): Said {
  const { match, nth } = command;
  const { offered, decisions } = run.state;
  const id = typeof match === "object" ? (offered.get(match.seenBy)?.[nth] ?? -1) : -1;
  const link = refuseMaker(run, { ...command, match: undefined });
  const replaced = decisions.find((one) => one.id === id)?.replaced ?? [];
  const target = replaced.find(({ of, on }) => of === "target" && on === link.id)?.was as string | undefined;
  run.refuseIf(!replaced.some(({ on }) => on === link.id), 404);
  refuseUnless(run, link, "scheduled");
  if (target !== undefined) refuseTerms(run, { target }, link);
  refuseTarget(run, link, target);
  return takeBack(run, { who: "person", by: namedIn(run) }, id);
}

/** Ends the link immediately and permanently, also a disabled one. */
function withdraw(run: Run, command: Of<"withdraw">): Said {
  const link = refuseMaker(run, command, true);
  run.refuseIf(link.erased === true, ...GONE.deleted);
  run.refuseIf(link.ended !== undefined || run.passed(link.ends), 410);
  run.orRefuse();
  link.ended = { how: "withdrawn", at: run.now };
  run.emit("link.withdrawn", link.key);
  return managed(run, command.id, link, command.key);
}

// --------------------------------------------------------------------------------------------------------- visits

/** People and bots are counted apart, by the hour. */
function countVisit(run: Run, { id }: Link, visitor: Visitor): void {
  const hours = run.state.visits.get(id) ?? new Map<number, Visits>();
  const hour = run.unit(HOUR_MS);
  const { people, bots } = hours.get(hour) ?? { people: 0, bots: 0 };
  run.state.visits.set(
    id,
    hours.set(hour, visitor === "person" ? { people: people + 1, bots } : { people, bots: bots + 1 }),
  );
}

function visit(run: Run, command: Of<"visit">): Said {
  const { id, code, method, visitor, password, query = "", path = "", again = -1 } = command;
  const { forms, settings } = run.state;
  const form = forms.get(again);
  const link = linkOf(run, code) ?? NOTHING;
  // One form uses up one visit: sent again within a minute, it redirects again, unless another process gets it.
  const isAgain = form !== undefined && !run.passed(after(form.at, 60_000));
  const isKnown = isAgain && (settings.processes === 1 || run.either([true, false]));
  // Two dots could lead out of the destination's folder, however they are written.
  run.refuseIf(path !== "" && (!link.forwardPath || path.includes("..")), 404);
  run.orRefuse();
  refuseUnless(run, link, ...(isKnown ? (["used_up"] as const) : []));
  run.orRefuse();
  const isLocked = link.password !== undefined && link.password !== password;
  run.refuseIf(isLocked, 401, password === undefined ? "password.missing" : "password.wrong");
  run.refuseIf(isLocked && password !== undefined, 429, "limit.password");
  run.orRefuse();
  if (isKnown) return { status: 302, location: form.location };
  const location = locationOf(link, query, path);
  if (link.maxVisits !== undefined) {
    // HEAD, crawlers and prefetches use up no visit.
    if (method === "HEAD" || visitor === "crawler") return { status: 200 };
    if (visitor === "prefetch") return { status: 503, reason: "link.prefetch" };
    link.used++;
    if (link.used === link.maxVisits) {
      link.ended = { how: "used_up", at: run.now };
      run.emit("link.expired", link.key);
    }
  }
  if (method === "GET") countVisit(run, link, visitor);
  if (command.door === "form" && link.password !== undefined && link.maxVisits !== undefined)
    forms.set(id, { at: run.now, location });
  return { status: 302, location };
}

// -------------------------------------------------------------------------------------------------------- reports

/** A reporter counts once per link and day (UTC). A /48 of IPv6 is one reporter. */
function report(run: Run, { id, code, reason, client }: Of<"report">): Said {
  const { cases, reporters, settings } = run.state;
  const link = linkOf(run, code) ?? NOTHING;
  // A report that arrives beside the erasure is accepted, but there is nothing left to look at.
  if (link.erased && run.either([true, false])) return { status: 202 };
  refuseUnless(run, link, "disabled", "used_up", "expired");
  run.refuseIf(link.ended?.how === "withdrawn" && run.either([true, false]), 410);
  run.orRefuse();
  const reporter = `${link.id} ${clientOf(client, 3)} ${run.unit(DAY_MS)}`;
  if (reporters.has(reporter)) return { status: 202 };
  reporters.add(reporter);
  const one = cases.get(link.id) ?? {
    reports: 0,
    reasons: {},
    pending: 0,
    pendingReasons: {},
    openings: 0,
    open: false,
    answered: 0,
    disabled: false,
  };
  cases.set(link.id, one);
  one.reports++;
  one.reasons[reason] = (one.reasons[reason] ?? 0) + 1;
  // An answer holds while the link doesn't work; "nothing" holds until the destination changes.
  const isStopped = link.disabled !== undefined || ruleOf(run.state, link.target) !== undefined;
  const holds =
    one.answer !== undefined && (isStopped || (one.answer === "nothing" && one.answered === link.changes));
  // Or somebody could have a harmless link enabled again, and then change it.
  const isChanged = one.open && one.disabled && !isStopped && one.answered !== link.changes;
  const isOpened = !one.open && !holds;
  if (isOpened) run.emit("report.opened", link.key);
  if (isOpened) one.openings++;
  if (isOpened || isChanged)
    Object.assign(one, { open: true, answer: undefined, disabled: false, pending: 0, pendingReasons: {} });
  if (!isStopped) {
    one.pending++;
    one.pendingReasons[reason] = (one.pendingReasons[reason] ?? 0) + 1;
  }
  const isEnough = settings.reportThreshold !== undefined && one.pending >= settings.reportThreshold;
  if (one.open && isEnough && !one.disabled && !link.disabled) {
    // Until the operator decides, and for the most frequent reason since the opening. An undo restores only their number.
    const known = Object.values(one.pendingReasons).reduce((sum, count) => sum + count, 0);
    const counts = known === one.pending ? one.pendingReasons : one.reasons;
    const most = Math.max(...Object.values(counts));
    const why = run.either((Object.keys(counts) as Reason[]).filter((each) => counts[each] === most));
    record(run, id, "final", { who: "reports", action: "disable", key: link.key, reason: why }, link, one);
    setDisabled(run, link, { reason: why, byReports: true });
    Object.assign(one, { disabled: true, answered: link.changes });
  }
  return { status: 202 };
}

// ------------------------------------------------------------------------------------------- decisions of operators

/** A decision is an entry with what it replaces: it is recorded before it changes anything but what people correct. */
function record(
  run: Run,
  id: number,
  kind: Decision["kind"],
  entry: Entry,
  ...sets: (Link | Case | string | Replaced)[]
): void {
  const { decisions, journal, cases, hosts } = run.state;
  const replaced = sets.map((one): Replaced => {
    if (typeof one === "string") return { of: "host", on: one, was: hosts.get(one) };
    if ("of" in one) return one;
    if ("target" in one) return { of: "link", on: one.id, was: one.disabled && { ...one.disabled } };
    return { of: "case", on: [...cases].find(([, other]) => other === one)?.[0] ?? "", was: { ...one } };
  });
  decisions.push({ id, kind, entry, replaced });
  journal.unshift(entry);
}

function setDisabled(run: Run, link: Link, disabled: Disabling | undefined, by?: string): void {
  const before = link.disabled?.reason;
  link.disabled = disabled;
  if (disabled && disabled.reason !== before)
    run.emit("link.disabled", link.key, { by, reason: disabled.reason });
  if (!disabled && before) run.emit("link.enabled", link.key, { by });
}

function setRule(run: Run, host: string, reason: Reason | undefined, by: string): void {
  const before = run.state.hosts.get(host);
  if (reason === undefined) run.state.hosts.delete(host);
  else run.state.hosts.set(host, reason);
  // Another reason is no news.
  if (reason !== undefined && before === undefined) run.emit("host.blocked", host, { by });
}

const openCaseOf = ({ state }: Run, link: Link): Case[] =>
  [state.cases.get(link.id) ?? []].flat().filter(({ open }) => open);
const close = (one: Case, link: Link, answer: CaseAnswer | undefined) =>
  Object.assign(one, { open: answer === undefined, answer, answered: link.changes, disabled: false });

/** Ten wrong tokens within a minute: 429. */
function refuseOperator(run: Run, who: string): void {
  for (const status of [401, 429]) run.refuseIf(!run.state.operators.includes(who), status);
}

/** A decision about one link needs the version that the operator has seen, or `*` for the link as it is now. */
function refuseDecision(run: Run, { who, code, match }: Operated & { code: string; match: Match }): Link {
  const link = linkOf(run, code);
  refuseOperator(run, who);
  // A link that is purged while the decision arrives leaves nothing to decide about.
  const isPurged =
    link === undefined && run.state.links.has(keyOf(run.state.settings, code)) && run.either([false, true]);
  run.refuseIf(link === undefined && !isPurged, ...GONE.unknown);
  run.refuseIf(match === undefined, 428, "precondition.required");
  run.refuseIf(!isVersion(run, link, match), 412, "precondition.failed");
  return link ?? NOTHING;
}

/** Disabling answers the link's open case. Enabling leaves it open. */
function decideLink(run: Run, command: Of<"disable"> | Of<"enable">): Said {
  const { id, who, kind } = command;
  const link = refuseDecision(run, command);
  run.orRefuse();
  if (link.erased || link === NOTHING) return { status: 200, changed: 0 };
  const reason = kind === "disable" ? command.reason : undefined;
  const entry: Entry = { who: "operator", by: who, action: kind, key: link.key, reason };
  return { status: 200, changed: setLinks(run, id, entry, [link]) };
}

/** Returns how many links changed. */
function setLinks(run: Run, id: number, entry: Entry, links: readonly Link[]): number {
  const { reason, by } = entry;
  const closed = links.map((link) => (reason ? openCaseOf(run, link) : []));
  const changed = links.filter(({ disabled }) => disabled?.reason !== reason).length;
  record(run, id, links.length === 1 ? "one" : "many", entry, ...links, ...closed.flat());
  for (const [nth, link] of links.entries()) {
    setDisabled(run, link, reason && { reason, byReports: false }, by);
    for (const one of closed[nth] ?? []) close(one, link, "disable");
  }
  return changed;
}

/** An answer sets the case, and the link or its host. Any but "disable" lifts what reports did, never an operator's disabling. */
function answerReports(run: Run, command: Of<"answer">): Said {
  const { id, who, action, reason } = command;
  const link = refuseDecision(run, command);
  const one = run.state.cases.get(link.id);
  const needsReason = action === "disable" || action === "block-host";
  run.refuseIf(needsReason && reason === undefined, 400, "reason.unknown");
  run.refuseIf(one === undefined || link.erased === true, 404, "operator.no-case");
  run.refuseIf(link.erased === true, ...GONE.deleted);
  run.refuseIf(action === "reopen" && one?.open === true, 404, "operator.no-case");
  run.orRefuse();
  if (one === undefined) return { status: 404 };
  const host = action === "block-host" ? hostOf(link.target) : undefined;
  const lifts = (action === "nothing" || action === "block-host") && one.disabled;
  const name = action === "nothing" ? "nothing-wrong" : action;
  const sets = [lifts || action === "disable" ? link : [], host ?? []].flat();
  record(
    run,
    id,
    "one",
    { who: "operator", by: who, action: name, key: link.key, host, reason },
    one,
    ...sets,
  );
  if (host !== undefined) setRule(run, host, reason, who);
  if (action === "disable") setDisabled(run, link, reason && { reason, byReports: false }, who);
  if (lifts) setDisabled(run, link, undefined, who);
  close(one, link, action === "reopen" ? undefined : action);
  if (action === "reopen") {
    Object.assign(one, { pending: 0, pendingReasons: {} });
    run.emit("report.opened", link.key, { by: who });
  }
  return { status: 200 };
}

function decideHost(run: Run, command: Of<"block"> | Of<"unblock">): Said {
  const { id, who, host, kind } = command;
  refuseOperator(run, who);
  run.orRefuse();
  const reason = kind === "block" ? command.reason : undefined;
  const changed = Number(run.state.hosts.get(host) !== reason);
  record(run, id, "one", { who: "operator", by: who, action: `${kind}-host`, host, reason }, host);
  setRule(run, host, reason, who);
  return { status: 200, changed };
}

/** Gives links to somebody else, also ended and disabled ones. Returns how many changed. */
function handOver(run: Run, id: number, entry: Entry, links: readonly Link[], owner: string): number {
  const rows = links.map((link): Replaced => ({ of: "owner", on: link.id, was: link.owner, became: owner }));
  record(run, id, links.length === 1 ? "one" : "many", entry, ...rows);
  const changed = links.filter((link) => setOwner(link, owner));
  for (const { key } of changed) run.emit("link.changed", key, { by: entry.by });
  return changed.length;
}

/** An operator's change, whatever EDITS says. It has no undo, unless it hands the link over. */
function correct(run: Run, command: Of<"correct">): Said {
  const { id, who, change: terms } = command;
  const link = refuseDecision(run, command);
  if (terms.owner !== undefined) {
    run.orRefuse();
    if (link.erased || link === NOTHING) return { status: 200, changed: 0 };
    const entry: Entry = { who: "operator", by: who, action: "hand-over", key: link.key };
    return { status: 200, changed: handOver(run, id, entry, [link], terms.owner) };
  }
  refuseUnless(run, link, "scheduled");
  refuseTerms(run, terms, link);
  run.orRefuse();
  const isChanged = change(run, link, terms);
  if (isChanged) run.emit("link.changed", link.key, { by: who });
  if (isChanged) run.state.journal.unshift({ who: "operator", by: who, action: "change", key: link.key });
  return { status: 200, changed: Number(isChanged) };
}

/** Removes destination, terms and statistics. The code stays taken. No undo, neither of this nor of decisions before it. */
function erase(run: Run, command: Of<"erase">): Said {
  const { id, who } = command;
  const { cases, links, visits, imported } = run.state;
  const link = refuseDecision(run, command);
  run.orRefuse();
  if (link.erased || link === NOTHING) return { status: 200, changed: 0 };
  const one = cases.get(link.id);
  const entry: Entry = { who: "operator", by: who, action: "erase", key: link.key };
  record(run, id, "final", entry, link, ...(one ? [one] : []));
  if (one?.open) close(one, link, "erase");
  const { key, created, ends, ended } = link;
  links.set(key, { ...NOTHING, key, id: link.id, created, ends, ...(ended && { ended }), erased: true });
  visits.delete(link.id);
  imported.delete(link.id);
  run.emit("link.disabled", key, { by: who, reason: "deleted" });
  return { status: 200, changed: 1 };
}

/** Finds links by the start of the code or a part of the destination or title in any capitals, by host with subdomains, by creator, by owner. */
const findLinks = (run: Run, { q = "", host, by, owner }: Search): Link[] =>
  [...run.state.links.values()].filter(
    (link) =>
      (link.key.startsWith(q) || `${link.target} ${link.title}`.toLowerCase().includes(q)) &&
      (host === undefined || `.${hostOf(link.target)}`.endsWith(`.${host}`)) &&
      (by === undefined || link.by === by) &&
      (owner === undefined || link.owner === owner) &&
      linkOf(run, link.key) !== undefined,
  );

/** Decides about all links that a search finds, if there are as many as the operator has seen. Later ones are left out. */
function decideFound(
  run: Run,
  command: Of<"disable-found"> | Of<"enable-found"> | Of<"hand-over-found">,
): Said {
  const { id, who, kind, search, count, untilMs = Infinity } = command;
  const found = findLinks(run, search).filter(
    ({ created: { earliest, latest } }) =>
      latest <= untilMs || (earliest <= untilMs && run.either([true, false])),
  );
  refuseOperator(run, who);
  run.refuseIf(count !== undefined && count !== found.length, 409, "operator.count");
  run.orRefuse();
  if (count === undefined) return { status: 200, changed: found.length };
  const links = found.filter(({ key, erased }) => !erased && linkOf(run, key) !== undefined);
  if (links.length === 0) return { status: 200, changed: 0 };
  const reason = kind === "disable-found" ? command.reason : undefined;
  const key = links.length === 1 ? links[0]?.key : undefined;
  const entry: Entry = { who: "operator", by: who, action: kind.replace("-found", ""), key, reason };
  if (kind === "hand-over-found")
    return { status: 200, changed: handOver(run, id, entry, links, command.owner) };
  return { status: 200, changed: setLinks(run, id, entry, links) };
}

/** Whether a value of a decision can be restored: no later decision about it stands, and its link exists. */
function stands(run: Run, decision: Decision, { of, on, undone }: Replaced): boolean {
  const { decisions, links } = run.state;
  const later = decisions.slice(decisions.indexOf(decision) + 1).flatMap(({ replaced }) => replaced);
  const exists = ({ id, key, erased }: Link) => id === on && linkOf(run, key) !== undefined && !erased;
  return (
    !undone &&
    !later.some((value) => !value.undone && value.of === of && value.on === on) &&
    (of === "host" || [...links.values()].some(exists))
  );
}

/** Whether the link still has the value that a correction gave it. */
const isThere = (run: Run, link: Link, value: Replaced) =>
  value.of === "owner" || !("became" in value) || mayEqual(run, link[value.of], value.became);

/** A correction is restored as a change of now: of a link that works, with a start and an end in the future. */
function canChange(run: Run, link: Link, values: readonly Replaced[]): boolean {
  const former = Object.fromEntries(values.map(({ of, was }) => [of, was])) as Partial<Link>;
  const { ends, starts, maxVisits } = { ...link, ...former };
  const isStarted = link.starts === undefined || run.passed(link.starts);
  const isOver = [link.ended?.at, link.ends, ends].some((end) => run.passed(end));
  const isLate = "starts" in former && (isStarted || run.passed(starts));
  const isBackwards = ends !== undefined && starts !== undefined && ends.earliest <= starts.latest;
  const isUsedUp = maxVisits !== undefined && maxVisits <= link.used;
  const isStopped = link.disabled || isOver || isLate || isBackwards || isUsedUp;
  return !isStopped && values.every((value) => isThere(run, link, value));
}

/**
 * Restores exactly what a decision replaced. Refused if it is undone already or a later decision stands on any of its values; of
 * a decision about many, such links are skipped. Once the later one is undone, the earlier stands again. Undo has no undo.
 */
function undo(run: Run, { who, decision }: Of<"undo">): Said {
  refuseOperator(run, who);
  return takeBack(run, { who: "operator", by: who }, decision);
}

function takeBack(run: Run, by: Pick<Entry, "who" | "by">, id: number): Said {
  const { decisions, journal, links } = run.state;
  const decision = decisions.find((one) => one.id === id && one.kind !== "final");
  const { kind = "one", entry, replaced = [] } = decision ?? {};
  const groups = kind === "one" ? [replaced] : [...Map.groupBy(replaced, ({ on }) => on).values()];
  const free = groups.filter((group) => decision && group.every((value) => stands(run, decision, value)));
  const open = groups.filter((group) => group.some(({ undone }) => !undone));
  const undone = [...links.values()].filter(({ id: on }) => free.flat().some((value) => value.on === on));
  const isTerm = entry?.action === "correct";
  run.refuseIf(free.length === 0 || (isTerm && !undone.every((link) => canChange(run, link, replaced))), 409);
  run.orRefuse();
  if (entry === undefined) return { status: 409 };
  // Like a decision, it names its link if it is only one.
  const key = kind === "many" && undone.length === 1 ? undone[0]?.key : entry.key;
  journal.unshift({ ...by, action: "undo", key, host: entry.host });
  for (const value of free.flat()) restore(run, value, by.by ?? "");
  if (isTerm) for (const link of undone) run.emit("link.changed", link.key, { by: by.by });
  return { status: 200, changed: free.length, skipped: open.length - free.length };
}

/** A case that a report has opened since, or one that came after its reopening, stays open, as reports had left it. Reports are never taken back. */
function restore(run: Run, value: Replaced, who: string): void {
  const { links, cases } = run.state;
  value.undone = true;
  if (value.of === "host") return setRule(run, value.on, value.was, who);
  const link = [...links.values()].find(({ id }) => id === value.on);
  if (value.of === "link") return link && setDisabled(run, link, value.was, who);
  if ("became" in value) {
    if (!link) return;
    if (value.of !== "owner") Object.assign(link, { [value.of]: value.was });
    else if (setOwner(link, value.was as string | undefined)) run.emit("link.changed", link.key, { by: who });
    if (value.of === "target") Object.assign(link, { changed: run.now, changes: link.changes + 1 });
    if (link.maxVisits === undefined) link.used = 0;
    return;
  }
  const one = cases.get(value.on);
  const { open, answer, answered, disabled, pending, openings } = value.was;
  if (!one || !link) return;
  const isSame = one.openings === openings && !(one.open && !open && one.pending > 0);
  if (isSame && open && !one.open) run.emit("report.opened", link.key, { by: who });
  Object.assign(
    one,
    isSame ? { open, answer, answered, disabled, pending } : { disabled, ...(disabled && { answered }) },
  );
}

// ------------------------------------------------------------------------------------------------------- transfer

/** An export changes nothing in its own store. An empty one gets everything but events and who reported today. */
function move({ state }: Run, { into }: Of<"move">): Said {
  if (into === "used") return { status: 200 };
  for (const link of state.links.values()) link.imported = true;
  state.events = state.events.map((event) => ({ ...event, maybe: true }));
  state.reporters.clear();
  return { status: 200 };
}

/**
 * Rows with a bad code or destination or a taken code are left out and reported, and so are visits without a link in the files, unless
 * an export has them, because links are purged before their visits. Links that the store has already are neither added nor left out.
 */
function importRows(run: Run, { door, links, visits }: Of<"import">): Said {
  const { state } = run;
  let [added, known] = [0, 0];
  for (const { code, target, createdMs, endsMs, disabled, visits: all } of links) {
    const key = keyOf(state.settings, code);
    const there = state.links.get(key);
    if (!isCode(code, state.settings) || !isDestination(target, state.settings)) continue;
    const isTaken = linkOf(run, code) !== undefined;
    known += Number(isTaken && there?.target === target && there.created.latest === createdMs);
    if (isTaken) continue;
    const link: Link = { ...NOTHING, key, id: `${key} ${state.lives++}`, created: at(createdMs), target };
    link.imported = true;
    if (endsMs !== undefined) link.ends = at(endsMs);
    if (disabled !== undefined) link.disabled = { reason: disabled, byReports: false };
    const days = new Map<number | null, number>(
      visits.filter((day) => keyOf(state.settings, day.code) === key).map((day) => [day.dayMs, day.visits]),
    );
    const rest = (all ?? 0) - [...days.values()].reduce((sum, one) => sum + one, 0);
    if (rest > 0) days.set(null, rest);
    if (state.links.has(key)) state.reused.add(key);
    state.links.set(key, link);
    state.imported.set(link.id, days);
    added++;
  }
  const keys = links.map(({ code }) => keyOf(state.settings, code));
  const alone =
    door === "export" ? [] : visits.filter(({ code }) => !keys.includes(keyOf(state.settings, code)));
  return { status: 200, changed: added, skipped: links.length - added - known + alone.length };
}

// ---------------------------------------------------------------------------------------------------------- views

function available(run: Run, { code }: Of<"available">): Said {
  const { settings } = run.state;
  run.refuseIf(!isCode(code, settings), 400);
  run.orRefuse();
  return { status: 200, available: isFree(run, keyOf(settings, code)) };
}

/** With its key or a right name, a manage page opens any link that isn't erased. Without a key, it is the same for every other code. */
function read(run: Run, command: Of<"read"> | Of<"stats"> | Of<"preview">): Said {
  const { id, kind, door, code } = command;
  const link = linkOf(run, code);
  const [key, person] = [kind === "preview" ? undefined : command.key, namedIn(run)];
  const right = kind === "preview" ? undefined : rightOf(run, link, key);
  const isPage = kind === "read" && door === "form";
  const isMaker = right === "maker";
  if (isPage && key === undefined) {
    run.refuseIf(right === undefined || link?.erased === true, 401, "key.missing");
    run.orRefuse();
  }
  const ended = ["used_up", "expired", ...(kind === "preview" ? [] : ["disabled" as const])] as const;
  const isOpened = isMaker || (isPage && right !== undefined);
  const hidden = isOpened ? (["scheduled", "withdrawn"] as const) : [];
  const standing = refuseUnless(run, link, ...ended, ...hidden);
  const isWrong = link !== undefined && key !== undefined && right === undefined;
  run.refuseIf(isWrong && (isPage || person === undefined), 403, "key.wrong");
  const isWithdrawn = standing === "disabled" && link?.ended?.how === "withdrawn";
  run.refuseIf(!isOpened && isWithdrawn && run.either([true, false]), 410);
  run.orRefuse();
  if (link === undefined || kind === "preview") return { status: 200 };
  if (kind === "stats") return { status: 200, visits: visitsOf(run.state, link) };
  if (!isPage)
    return { status: 200, link: viewOf(run, link, isMaker ? "maker" : person ? "colleague" : "public") };
  const offered = person === undefined ? [] : offeredFor(run, link);
  run.state.offered.set(id, offered);
  return { status: 200, offered: offered.length };
}

/** Visits show within a minute, so an answer may have fewer. */
function visitsOf({ visits, imported }: State, { id }: Link) {
  const hours = [...(visits.get(id)?.values() ?? [])];
  const people = [...hours.map((hour) => hour.people), ...(imported.get(id)?.values() ?? [])];
  const upTo = (counts: number[]) => ({ earliest: 0, latest: counts.reduce((sum, one) => sum + one, 0) });
  return { people: upTo(people), bots: upTo(hours.map(({ bots }) => bots)) };
}

function operatorsView(run: Run, who: string, view: () => object): Said {
  refuseOperator(run, who);
  run.orRefuse();
  return { status: 200, ...view() };
}

function viewLink(run: Run, { who, code }: Of<"view-link">): Said {
  const link = linkOf(run, code);
  run.refuseIf(link === undefined, ...GONE.unknown);
  return operatorsView(run, who, () => (link ? { link: viewOf(run, link, "operator") } : {}));
}

export const byKey = (one: { key: string }, other: { key: string }) => (one.key < other.key ? -1 : 1);
export const rulesOf = ({ hosts }: State): HostView[] =>
  [...hosts].map(([host, reason]) => ({ host, reason }));
export const casesOf = ({ links, cases }: State): CaseView[] =>
  [...links.values()].toSorted(byKey).flatMap(({ key, id }) => {
    const one = cases.get(id);
    if (one === undefined) return [];
    const { open, reports, reasons, pending, answer = null } = one;
    return [{ key, open, reports, reasons, pending, answer }];
  });

type Acts = { readonly [Kind in Command["kind"]]: (run: Run, command: Of<Kind>, answer?: Answer) => Said };
/** The effects of each command. Only generated codes are taken from the answer. */
const ACTS: Acts = {
  create: (run, command, answer) => create(run, command, [command.link], answer),
  batch: (run, command, answer) => create(run, command, command.links, answer),
  edit,
  withdraw,
  "bring-back": bringBack,
  visit,
  report,
  read,
  preview: read,
  stats: read,
  available,
  "view-link": viewLink,
  "view-cases": (run, { who }) => operatorsView(run, who, () => ({ cases: casesOf(run.state) })),
  "view-hosts": (run, { who }) => operatorsView(run, who, () => ({ hosts: rulesOf(run.state) })),
  "view-journal": (run, { who }) => operatorsView(run, who, () => ({ journal: run.state.journal })),
  search: (run, { who, search }) =>
    operatorsView(run, who, () => ({ found: findLinks(run, search).map(({ key }) => key) })),
  disable: decideLink,
  enable: decideLink,
  answer: answerReports,
  correct,
  erase,
  block: decideHost,
  unblock: decideHost,
  "disable-found": decideFound,
  "enable-found": decideFound,
  "hand-over-found": decideFound,
  undo,
  move,
  import: importRows,
  restart({ state }) {
    state.forms.clear();
    return { status: 200 };
  },
  tokens({ state }, { operators, creators }) {
    Object.assign(state, { operators, creators });
    return { status: 200 };
  },
};

/** Public pages and responses never show a title. The page of an unknown code lists colleagues' links to people. */
export const hidesTitle = ({ kind, person }: Command): boolean =>
  /^(?:preview|report|available|stats)$/.test(kind) || (kind === "visit" && person === undefined);

export const perform = (run: Run, command: Command, answer?: Answer): Said =>
  (ACTS[command.kind] as (run: Run, command: Command, answer?: Answer) => Said)(run, command, answer);
