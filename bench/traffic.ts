import { originalUrl } from "./links.ts";
import { visitTail } from "./requests.ts";

/** All requests together, per second. */
const PER_SECOND = 150;
/** The most requests in flight. */
const MOST_AT_ONCE = 64;
const TICK_MS = 10;
const ANSWER_LIMIT_MS = 20_000;
/** Links whose visits are counted here as well. */
const COUNTED_LINKS = 50;
/** So few that each exceeds its limits. */
const HOSTILE_CLIENTS = 2;
/** Connections may break this long after the end of a process. */
const BREAKS_LIMIT_MS = 10_000;
const SURPRISES_KEPT = 20;

export interface CreatedLink {
  readonly code: string;
  readonly target: string;
  readonly createdMs: number;
}

export interface Counted {
  readonly code: string;
  sent: number;
  answered: number;
}

export interface TrafficRequest {
  readonly method?: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly bearer?: string;
  /** The client's address; a new one by default. */
  readonly from?: string;
  /** Over a connection of its own, which `fetch` never retries. */
  readonly alone?: boolean;
}

export interface TrafficResponse {
  readonly status: number;
  readonly location: string | null;
  readonly text: string;
}

/** Requests of all kinds to one Curt, and their outcomes. */
export type Traffic = Awaited<ReturnType<typeof startTraffic>>;

/** Sends requests until it is stopped. An unexpected response is a surprise, and the run continues. */
export async function startTraffic(port: number) {
  const run = Date.now().toString(36);
  const userAgent = /User-Agent: (.*)\r/.exec(visitTail(port))?.[1] ?? "";
  const statuses: Record<number, number> = {};
  const surprises: string[] = [];
  const created: CreatedLink[] = [];
  let requests = 0;
  let broken = 0;
  let endedAtMs = Number.NEGATIVE_INFINITY;

  function surprise(text: string): void {
    if (surprises.push(text) <= SURPRISES_KEPT) console.error(`… surprise: ${text.slice(0, 500)}`);
  }

  /** Undefined if the connection broke, which it may when a process ends. */
  async function send(path: string, request: TrafficRequest = {}): Promise<TrafficResponse | undefined> {
    const { method = "GET", body, bearer, from = anyClient(), alone = false } = request;
    requests++;
    try {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
        method,
        redirect: "manual",
        keepalive: !alone,
        signal: AbortSignal.timeout(ANSWER_LIMIT_MS),
        headers: {
          "User-Agent": userAgent,
          "X-Forwarded-For": from,
          ...(body === undefined ? {} : { "Content-Type": "application/json" }),
          ...(bearer === undefined ? {} : { Authorization: `Bearer ${bearer}` }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
      return { status: answer.status, location: answer.headers.get("location"), text };
    } catch (error) {
      broken++;
      if (performance.now() - endedAtMs > BREAKS_LIMIT_MS) surprise(`${method} ${path}: ${String(error)}`);
      return undefined;
    }
  }

  /** Sends a request that must get one of these statuses, or 503 from an overloaded machine. */
  async function expect(
    wanted: readonly number[],
    path: string,
    request?: TrafficRequest,
  ): Promise<TrafficResponse | undefined> {
    const answer = await send(path, request);
    if (answer !== undefined && ![...wanted, 503].includes(answer.status))
      surprise(
        `${request?.method ?? "GET"} ${path}: ${answer.status}, not ${wanted.join(" or ")}: ${answer.text}`,
      );
    return answer;
  }

  /** Visits a link, and returns whether it redirected to `target`. */
  async function visit(code: string, target: string): Promise<boolean> {
    const answer = await send(`/${code}`, { alone: true });
    if (answer === undefined) return false;
    // Even on a busy machine, known links are never refused.
    if (answer.status !== 302) {
      surprise(`/${code}: ${answer.status}, not 302: ${answer.text}`);
      return false;
    }
    if (answer.location !== target) surprise(`/${code} redirects to ${answer.location}, not to ${target}`);
    return answer.location === target;
  }

  async function create(
    from: string,
    wanted: readonly number[],
    code?: string,
  ): Promise<CreatedLink | undefined> {
    const target = originalUrl(run, requests);
    const answer = await expect(wanted, "/api/v1/links", { method: "POST", body: { target, code }, from });
    if (answer?.status !== 201) return undefined;
    const { data } = JSON.parse(answer.text) as { data: { code: string } };
    return { code: data.code, target, createdMs: Date.now() };
  }

  async function createAndKeep(from: string, wanted: readonly number[]): Promise<void> {
    const link = await create(from, wanted);
    if (link !== undefined) created.push(link);
  }

  await createAndKeep(anyClient(), [201]);
  const counted: (Counted & { readonly target: string })[] = [];
  for (let nth = 0; nth < COUNTED_LINKS; nth++) {
    const link = await create(anyClient(), [201], `counted-${nth}`);
    if (link === undefined) throw new Error("The links to be counted could not be created.");
    counted.push({ ...link, sent: 0, answered: 0 });
  }

  const any = () => drawn(created);
  const bad = { target: "javascript:alert(1)" };
  async function visitCounted(): Promise<void> {
    const link = drawn(counted);
    link.sent++;
    if (await visit(link.code, link.target)) link.answered++;
  }
  function attack(): Promise<unknown> {
    const from = `203.0.113.${below(HOSTILE_CLIENTS)}`;
    const kinds = [
      () => createAndKeep(from, [201, 429]),
      () => expect([404, 429], unknown(), { from }),
      () => expect([200, 429], `/${any().code}+`, { from }),
    ];
    return drawn(kinds)();
  }

  /** The share of each, in percent. */
  const kinds: readonly (readonly [share: number, send: () => Promise<unknown>])[] = [
    [40, visitCounted],
    [13, () => visit(...pair(any()))],
    [8, () => expect([404], unknown())],
    [7, () => createAndKeep(anyClient(), [201])],
    [1, () => expect([400], "/api/v1/links", { method: "POST", body: bad })],
    [6, () => expect([200], `/${any().code}+`)],
    [5, () => expect([200], `/api/v1/links/${any().code}/stats`)],
    [4, () => expect([200], `/api/v1/links/${any().code}`)],
    [4, () => expect([200], `/${any().code}.svg`)],
    [2, () => expect([200], `/${any().code}.png`)],
    [2, () => expect([200], "/")],
    [1, () => expect([200], "/docs")],
    [
      1,
      () =>
        expect([202], `/api/v1/links/${any().code}/reports`, { method: "POST", body: { reason: "spam" } }),
    ],
    [6, attack],
  ];
  const deck = kinds.flatMap(([share, sendOne]) => Array.from({ length: share }, () => sendOne));

  const waiting = new Set<Promise<unknown>>();
  let due = 0;
  const sending = setInterval(() => {
    // A busy machine does not make up for missed requests later.
    due = Math.min(due + (PER_SECOND * TICK_MS) / 1000, MOST_AT_ONCE);
    for (; due >= 1 && waiting.size < MOST_AT_ONCE; due--) {
      const sent: Promise<unknown> = drawn(deck)().finally(() => waiting.delete(sent));
      waiting.add(sent);
    }
  }, TICK_MS);

  return {
    run,
    statuses,
    surprises,
    created: created as readonly CreatedLink[],
    counted: counted as readonly Counted[],
    requests: () => requests,
    broken: () => broken,
    surprise,
    expect,
    visit,
    /** From now on connections may break for a moment. */
    processEnds: () => (endedAtMs = performance.now()),
    async stop() {
      clearInterval(sending);
      await Promise.all(waiting);
    },
  };
}

/** No generated code has a vowel. */
const unknown = () => `/a${below(1e9)}`;
/** One of so many clients that none comes near a limit. */
const anyClient = () => `10.${below(256)}.${below(256)}.${below(256)}`;
const pair = ({ code, target }: CreatedLink) => [code, target] as const;

function below(limit: number): number {
  return Math.floor(Math.random() * limit);
}

function drawn<T>(items: readonly T[]): T {
  const item = items[below(items.length)];
  if (item === undefined) throw new Error("There is nothing to draw from.");
  return item;
}
