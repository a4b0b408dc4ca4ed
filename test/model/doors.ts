// Sends the model's commands to a service, through its APIs and the commands of a terminal. Answers in the model's words.
import type {
  Answer,
  Command,
  ImportedLink,
  ImportedVisits,
  Search,
  Terms,
  Time,
  Visitor,
} from "./commands.ts";
import { caseOf, entryOf, linkOf } from "./views.ts";
import { headersFor, type Memory, tokenOf, type World } from "./world.ts";

export interface Observed {
  /** Undefined if none arrived. */
  readonly answer: Answer | undefined;
  /** When the service handled it, in its Unix ms. */
  readonly from: number;
  readonly to: number;
}

type Of<K extends Command["kind"]> = Extract<Command, { kind: K }>;

const DAY_MS = 86_400_000;
const DURATIONS: Readonly<Record<number, string>> = {
  [DAY_MS]: "24h",
  [2 * DAY_MS]: "48h",
  [7 * DAY_MS]: "1week",
  [30 * DAY_MS]: "1month",
};

const CHROME =
  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36";
const PERSON = { "User-Agent": CHROME, Accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
const VISITORS: Readonly<Record<Visitor, Readonly<Record<string, string>>>> = {
  person: PERSON,
  library: { "User-Agent": "curl/8.14.1" },
  crawler: { "User-Agent": "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)" },
  prefetch: { ...PERSON, "Sec-Purpose": "prefetch" },
};

const iso = (ms: number) => new Date(ms).toISOString();
const inPath = encodeURIComponent;

function timeOf(time: Time | undefined, nowMs: number): string | null | undefined {
  if (time === undefined || time === null) return time;
  return "atMs" in time ? iso(time.atMs) : (DURATIONS[time.inMs] ?? iso(nowMs + time.inMs));
}

const termsOf = ({ ends, starts, ...terms }: Terms, nowMs: number) => ({
  target: terms.target,
  expires_at: timeOf(ends, nowMs),
  starts_at: timeOf(starts, nowMs),
  max_visits: terms.maxVisits,
  password: terms.password,
  forward_query: terms.forwardQuery,
  forward_path: terms.forwardPath,
  title: terms.title,
  owner: terms.owner,
});

export function searchOf({ q, host = "", by, owner }: Search): string {
  const text = [by && `by:${by}`, owner && `owner:${owner}`, q]
    .filter((part) => part !== undefined)
    .join(" ");
  return new URLSearchParams({ ...(text && { q: text }), ...(host && { host }) }).toString();
}

interface Sending {
  readonly at: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Call<C> {
  /** Undefined if it refers to something that no answer gave. */
  send(command: C, nowMs: number, memory: Memory): Sending | undefined;
  /** From `data` of a response. */
  read?(data: any, command: C, memory: Memory): Partial<Answer>;
}

const linkAt = ({ code }: { code: string }) => `/api/v1/links/${inPath(code)}`;
const adminAt = ({ code }: { code: string }) => `/api/v1/admin/links/${inPath(code)}`;
const changed = {
  read(data: any, { id }: Command, { decisions }: Memory) {
    if (typeof data.id === "number") decisions.set(id, `POST /api/v1/admin/decisions/${data.id}/undo`);
    return { changed: Number(data.changed), skipped: data.skipped };
  },
};
const managed = { read: (data: any) => ({ link: linkOf(data) }) };
const changedByMaker = {
  read(data: any, { id }: Command, memory: Memory) {
    return { link: createdOf(data, `${id}.0`, memory), hasKey: data.manage_key !== undefined };
  },
};

/** A decision about all links of a search. */
const found = {
  read: (data: any, command: Command, memory: Memory): Partial<Answer> =>
    data.done
      ? changed.read(data, command, memory)
      : { changed: data.count, untilMs: Date.parse(data.until) },
};
const untilOf = (untilMs: number | undefined) => (untilMs === undefined ? undefined : iso(untilMs));

const CALLS: { readonly [K in Exclude<Command["kind"], keyof typeof TERMINAL>]: Call<Of<K>> } = {
  create: {
    send({ door, link }, nowMs) {
      const { expires_at, ...terms } = termsOf(link, nowMs);
      const body = { original_url: link.target, custom_code: link.code, expire_duration: expires_at };
      return door === "shorten"
        ? { at: "POST /api/v1/shorten", body }
        : { at: "POST /api/v1/links", body: { ...terms, expires_at, code: link.code } };
    },
    read: (data, { id }, memory) => ({ link: createdOf(data, `${id}.0`, memory) }),
  },
  batch: {
    send: ({ links }, nowMs) => ({
      at: "POST /api/v1/links/batch",
      body: links.map((link) => ({ ...termsOf(link, nowMs), code: link.code })),
    }),
    read: ({ results }, { id }, memory) => ({
      results: results.map(({ status_code: status, data, errors }: any, nth: number) => ({
        status,
        reason: errors?.[0]?.reason,
        link: data && createdOf(data, `${id}.${nth}`, memory),
      })),
    }),
  },
  edit: {
    send: (command, nowMs) => ({ at: `PATCH ${linkAt(command)}`, body: termsOf(command.change, nowMs) }),
    ...changedByMaker,
  },
  withdraw: { send: (command) => ({ at: `DELETE ${linkAt(command)}` }), ...changedByMaker },
  // Only the page has it.
  "bring-back": { send: () => undefined },
  visit: {
    send({ code, method, visitor, query = "", path = "/", password }) {
      const basic = { Authorization: `Basic ${Buffer.from(`:${password}`).toString("base64")}` };
      const headers = { Accept: "*/*", ...VISITORS[visitor], ...(password !== undefined && basic) };
      return { at: `${method} /${inPath(code)}${path}?${query}`, headers };
    },
  },
  report: {
    send: ({ code, reason, note }) => ({ at: `POST ${linkAt({ code })}/reports`, body: { reason, note } }),
  },
  read: { send: (command) => ({ at: `GET ${linkAt(command)}` }), ...managed },
  preview: { send: ({ code }) => ({ at: `GET /${inPath(code)}+`, headers: PERSON }) },
  stats: {
    send: (command) => ({ at: `GET ${linkAt(command)}/stats` }),
    read: ({ visits: people, bots }) => ({ visits: { people, bots } }),
  },
  available: {
    send: ({ code }) => ({ at: `GET /api/v1/codes/${inPath(code)}` }),
    read: ({ available }) => ({ available }),
  },
  "view-link": {
    send: (command) => ({ at: `GET ${adminAt(command)}` }),
    read: (data) => ({ link: linkOf(data, true) }),
  },
  "view-cases": {
    send: () => ({ at: "GET /api/v1/admin/cases?limit=200" }),
    read(data, { id }, memory) {
      for (const { link } of data.cases) if (link !== null) learnRevision(link, id, memory);
      return { cases: data.cases.map(caseOf) };
    },
  },
  "view-hosts": {
    send: () => ({ at: "GET /api/v1/admin/hosts?limit=200" }),
    read: ({ hosts }) => ({ hosts: hosts.map(({ host, reason }: any) => ({ host, reason })) }),
  },
  "view-journal": {
    send: () => ({ at: "GET /api/v1/admin/journal?limit=200" }),
    read: ({ entries }) => ({ journal: entries.map(entryOf) }),
  },
  search: {
    send: ({ search }) => ({ at: `GET /api/v1/admin/links?limit=200&${searchOf(search)}` }),
    read(data, { id }, memory) {
      for (const link of data.links) learnRevision(link, id, memory);
      return { found: data.links.map(({ code }: any) => code) };
    },
  },
  disable: {
    send: ({ code, reason }) => ({ at: `POST ${adminAt({ code })}/disable`, body: { reason } }),
    ...changed,
  },
  enable: { send: (command) => ({ at: `POST ${adminAt(command)}/enable`, body: {} }), ...changed },
  correct: {
    send(command, nowMs) {
      return { at: `PATCH ${adminAt(command)}`, body: termsOf(command.change, nowMs) };
    },
    ...changed,
  },
  erase: {
    send: (command) => ({ at: `DELETE ${adminAt(command)}?confirm=${inPath(command.code)}` }),
    ...changed,
  },
  answer: {
    send: ({ code, action, reason }) => ({
      at: `POST /api/v1/admin/cases/${inPath(code)}`,
      body: { action, reason },
    }),
    ...changed,
  },
  block: {
    send: ({ host, reason }) => ({ at: `PUT /api/v1/admin/hosts/${inPath(host)}`, body: { reason } }),
    ...changed,
  },
  unblock: { send: ({ host }) => ({ at: `DELETE /api/v1/admin/hosts/${inPath(host)}` }), ...changed },
  "disable-found": {
    send: ({ search, reason, count, untilMs }) => ({
      at: `POST /api/v1/admin/links/disable?${searchOf(search)}`,
      body: { reason, count, until: untilOf(untilMs) },
    }),
    ...found,
  },
  "enable-found": {
    send: ({ search, count, untilMs }) => ({
      at: `POST /api/v1/admin/links/enable?${searchOf(search)}`,
      body: { count, until: untilOf(untilMs) },
    }),
    ...found,
  },
  "hand-over-found": {
    send: ({ search, owner, count, untilMs }) => ({
      at: `POST /api/v1/admin/links/hand-over?${searchOf(search)}`,
      body: { owner, count, until: untilOf(untilMs) },
    }),
    ...found,
  },
  undo: {
    send({ decision }, _nowMs, { decisions }) {
      const at = decisions.get(decision);
      return at === undefined ? undefined : { at, body: {} };
    },
    ...changed,
  },
};

/** Commands of a terminal, and what an operator does to the processes. */
const TERMINAL = {
  async restart(world: World, { door }: Of<"restart">): Promise<Answer> {
    await (door === "kill" ? world.kill() : door === "hand-over" ? world.handOver() : world.stop());
    return { status: 200 };
  },
  async tokens(world: World, { operators, creators }: Of<"tokens">): Promise<Answer> {
    await world.reload(operators, creators);
    return { status: 200 };
  },
  async move(world: World, { into, door }: Of<"move">): Promise<Answer> {
    if (into === "empty") return importedOf(await world.move(door === "killed"));
    return importedOf(await world.curt(["import", "export"], { export: await world.exportStore() }));
  },
  async import(world: World, { door, links, visits }: Of<"import">): Promise<Answer> {
    if (door === "export")
      return importedOf(await world.curt(["import", "export"], { export: exportOf(world, links, visits) }));
    const files = { "links.csv": linksCsv(links), "visits.csv": visitsCsv(visits) };
    return importedOf(await world.curt(["import", "--visits", "visits.csv", "links.csv"], files));
  },
};

/**
 * Sends a command. Undefined if it refers to something that no answer gave. `loses`: the answer doesn't arrive, as when a connection
 * breaks after the request.
 */
export async function run(
  world: World,
  memory: Memory,
  command: Command,
  { loses = false } = {},
): Promise<Observed | undefined> {
  const from = world.nowMs();
  if (isOfTerminal(command)) {
    const act = TERMINAL[command.kind] as (on: World, sent: Command) => Promise<Answer>;
    const answer = await act(world, command);
    return { answer, from, to: world.nowMs() };
  }
  const call = CALLS[command.kind] as Call<Command>;
  const sending = call.send(command, from, memory);
  const headers = sending && headersOf(command, memory);
  if (headers === undefined) return undefined;
  const response = await send(world, { ...sending, headers: { ...headers, ...sending?.headers } } as Sending);
  if (response === undefined || loses) return { answer: undefined, from, to: world.nowMs() };
  return { answer: answerOf(response, command, call, memory), from, to: world.nowMs() };
}

function isOfTerminal(command: Command): command is Of<keyof typeof TERMINAL> {
  return Object.hasOwn(TERMINAL, command.kind);
}

/** Who sends it, and which version it is for. Undefined if it refers to something that no answer gave. */
function headersOf(command: Command, memory: Memory): Record<string, string> | undefined {
  const headers: Record<string, string> = { ...headersFor(command) };
  if ("who" in command) headers["Authorization"] = `Bearer ${tokenOf(command.who)}`;
  if ("token" in command && command.token !== undefined)
    headers["Authorization"] = `Bearer ${tokenOf(command.token)}`;
  if ("idempotencyKey" in command && command.idempotencyKey !== undefined)
    headers["Idempotency-Key"] = command.idempotencyKey;
  if ("key" in command && command.key !== undefined) {
    const { key } = command;
    const manageKey = key === "wrong" ? "A".repeat(22) : memory.keys.get(`${key.of}.${key.nth}`)?.manageKey;
    if (manageKey === undefined) return undefined;
    headers["Authorization"] = `Bearer ${manageKey}`;
  }
  if ("match" in command && command.match !== undefined) {
    const { match, code } = command;
    const tag = match === "*" ? match : versionsFor(command, memory).get(`${match.seenBy} ${code}`);
    if (tag === undefined) return undefined;
    headers["If-Match"] = tag;
  }
  return headers;
}

const versionsFor = (command: Command, { revisions, tags }: Memory) => ("who" in command ? revisions : tags);

/** Undefined if no answer arrives: the service was killed, or doesn't run yet. */
async function send(world: World, { at, headers, body }: Sending) {
  const [method = "", path = ""] = at.split(" ");
  try {
    const response = await world.fetch(path, {
      method,
      ...(headers && { headers }),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  } catch {
    return undefined;
  }
}

interface Read {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

function answerOf(
  { status, headers, text }: Read,
  command: Command,
  call: Call<Command>,
  memory: Memory,
): Answer {
  const reason = headers.get("curt-reason")?.split(", ")[0];
  const etag = headers.get("etag");
  if ("code" in command && command.kind !== "stats" && etag !== null)
    versionsFor(command, memory).set(`${command.id} ${command.code}`, etag);
  // The page that asks for a password.
  const isForm = status === 403 && reason?.startsWith("password.") === true;
  const seen = { status: isForm ? 401 : status, reason, location: headers.get("location") ?? undefined };
  if (status >= 400 || call.read === undefined) return seen;
  const { data } = JSON.parse(text);
  const isCreate = command.kind === "create" || command.kind === "batch";
  const replayed = isCreate ? headers.get("idempotent-replayed") === "true" : undefined;
  return { ...seen, location: undefined, replayed, ...call.read(data, command, memory) };
}

function learnRevision({ code, revision }: any, id: number, { revisions }: Memory): void {
  revisions.set(`${id} ${code}`, `"${revision}"`);
}

/** Also remembers its manage key. */
function createdOf(data: any, at: string, { keys }: Memory) {
  const { code: key, manage_key: manageKey, original_url: target, expiration_date: ends } = data;
  if (manageKey !== undefined) keys.set(at, { key, manageKey });
  if (target === undefined) return linkOf(data);
  return { key, target, endsMs: ends.startsWith("9999-") ? null : Date.parse(ends) };
}

/** A broken file is 400. */
function importedOf(printed: string): Answer {
  if (/^failed/m.test(printed)) return { status: 400 };
  const [, added, skipped] = /(\d+) of [\d,]+ links? added.*; (\d+) rows? left out/.exec(printed) ?? [];
  return added === undefined
    ? { status: 200 }
    : { status: 200, changed: Number(added), skipped: Number(skipped) };
}

const linksCsv = (links: readonly ImportedLink[]) =>
  links.reduce(
    (text, { code, target, createdMs, endsMs, visits = "" }) =>
      `${text}${code},${target},${iso(createdMs)},${endsMs === undefined ? "" : iso(endsMs)},${visits}\n`,
    "code,target,created,expires,visits\n",
  );

const visitsCsv = (days: readonly ImportedVisits[]) =>
  days.reduce(
    (text, { code, dayMs, visits }) => `${text}${code},${dayOf(dayMs)},${visits}\n`,
    "code,day,visits\n",
  );

const dayOf = (ms: number) => iso(ms).slice(0, "2026-11-28".length);

/** A file of `curt export`. */
function exportOf(
  { settings }: World,
  links: readonly ImportedLink[],
  visits: readonly ImportedVisits[],
): string {
  const day = (code: string, count: number, dayMs?: number) => ({
    kind: "day",
    code,
    created_at: iso(links.find((link) => link.code === code)?.createdMs ?? 0),
    ...(dayMs === undefined ? { day: null } : { day: dayOf(dayMs) }),
    visits: count,
    bots: 0,
    ...(dayMs !== undefined && { visitors: 0 }),
  });
  const days = [
    ...links.flatMap(({ code, visits: count }) => (count === undefined ? [] : [day(code, count)])),
    ...visits.map(({ code, visits: count, dayMs }) => day(code, count, dayMs)),
  ];
  const records = links.map(({ code, target, createdMs, endsMs, disabled }) => ({
    kind: "link",
    code,
    target,
    location: new URL(target).href,
    created_at: iso(createdMs),
    ...(endsMs !== undefined && { expires_at: iso(endsMs) }),
    disabled_reason: disabled,
  }));
  const lines = [{ format: "curt-export", version: 1, code_case: settings.codeCase }, ...records, ...days];
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  const counts = {
    link: links.length,
    day: days.length,
    secret: 0,
    host: 0,
    entry: 0,
    case: 0,
    counter: 0,
    request: 0,
  };
  const sha256 = new Bun.CryptoHasher("sha256").update(text).digest("hex");
  return `${text}${JSON.stringify({ kind: "end", records: counts, sha256 })}\n`;
}
