// Our own load generator: a process of its own, so that it has a core of its own. It takes its tasks as JSON in the
// arguments, and writes its results as JSON to standard output. Anything unexpected ends it with exit code 1.
import { type Answer, drive, type Driven, type Stream } from "./connections.ts";
import { openDrips } from "./drips.ts";
import { type Link, originalUrl, readLinks, writeLinks } from "./links.ts";
import { threadTimesNs } from "./process.ts";
import { createRequest, mixedRequests, visitTail } from "./requests.ts";

/** Separates the links of different processes. */
const RUN = Date.now().toString(36);

/** As long as the placeholder {number}, so that Content-Length stays right. */
const FIRST_NUMBER = 10_000_000 + (Date.now() % 80_000_000);

type Rate = Pick<Stream, "connections" | "clients" | "perSecond">;

export interface Visits extends Rate {
  readonly kind: "visits";
  readonly linksFile: string;
  /** The only status that counts. */
  readonly status: number;
  /** Visits each link once and checks its destination. Otherwise visits all repeatedly until the time is over. */
  readonly once?: boolean;
  /** Number of links at the start of a long file that are skipped. */
  readonly from?: number;
  /** Number of browsers that visit in turn, with different User-Agents and referrers. */
  readonly browsers?: number;
}

/** Visits of unknown codes, each of them different. */
interface Misses extends Rate {
  readonly kind: "misses";
  readonly count: number;
}

interface Creates extends Rate {
  readonly kind: "creates";
  /** Stops after this many, or earlier if the time is over. */
  readonly count?: number;
  /** The file for the created links. */
  readonly linksFile?: string;
}

/** A mix of all requests that people and programs send. */
interface Mixed extends Rate {
  readonly kind: "mixed";
  /** Existing links. Visits go to all of them, and most to the first ones. */
  readonly linksFile: string;
}

/** One request, repeated. Each {number} in it is another number every time, and each {item} the next of `items`. */
interface Same extends Rate {
  readonly kind: "same";
  readonly request: string;
  readonly items?: readonly string[];
  readonly status: number;
}

/** One request after the other, whatever the responses are. Each {number} in them is another number every time. */
interface Flood extends Rate {
  readonly kind: "flood";
  readonly requests: readonly string[];
}

/** Connections that send one byte per second of an endless request. */
interface Drips {
  readonly kind: "drips";
  readonly connections: number;
  readonly client: string;
}

type StreamTask = Visits | Misses | Creates | Mixed | Same | Flood;
export type Task = StreamTask | Drips;

export interface Done extends Driven {
  /** The share of a core that the server's first thread used. */
  readonly firstThreadShare?: number;
}

type Requests = Pick<Stream, "request" | "check"> & { readonly end?: () => void };

if (import.meta.main) {
  const [port, pid, durationMs, tasks = ""] = process.argv.slice(2);
  const done = await perform(Number(port), Number(pid), Number(durationMs), JSON.parse(tasks) as Task[]);
  console.log(JSON.stringify(done));
  process.exit(0);
}

async function perform(port: number, pid: number, durationMs: number, tasks: readonly Task[]): Promise<Done> {
  const streams = tasks
    .filter((task) => task.kind !== "drips")
    .map((task) => ({ ...task, ...requestsOf(port, task) }));
  for (const task of tasks) if (task.kind === "drips") await openDrips(port, task.connections, task.client);
  const workedNs = () => threadTimesNs(pid).get(pid) ?? Number.NaN;
  const beforeNs = workedNs();
  const done = await drive(port, durationMs, streams);
  const firstThreadShare = (workedNs() - beforeNs) / 1e6 / done.durationMs;
  for (const { end } of streams) end?.();
  return { ...done, firstThreadShare };
}

function requestsOf(port: number, task: StreamTask): Requests {
  switch (task.kind) {
    case "visits":
      return visits(port, task);
    case "misses":
      return misses(port, task);
    case "creates":
      return creates(port, task);
    case "mixed":
      return mixed(port, task);
    case "same":
      return same(task);
    case "flood":
      return flood(task);
  }
}

function visits(
  port: number,
  { linksFile, status, once = false, from = 0, browsers = 1, perSecond }: Visits,
): Requests {
  const links = readLinks(linksFile);
  const tails = Array.from({ length: browsers }, (_, nth) => visitTail(port, nth));
  const text = (at: number) => `GET /${links[at % links.length]?.[0]}${tails[at % browsers]}`;
  // With a rate, requests are prepared as bytes, so that preparing them isn't measured.
  const prepared = perSecond === undefined ? [] : links.map((_, at) => Buffer.from(text(at)));
  return {
    request: (number) =>
      once && number >= links.length ? undefined : (prepared[number % links.length] ?? text(from + number)),
    check(answer, number) {
      expectStatus(answer, status);
      const [code, target] = once ? (links[number] ?? ["", ""]) : ["", ""];
      if (target !== "" && /\r\nlocation: (.*)/i.exec(answer.head)?.[1] !== target)
        throw new Error(`${code} doesn't redirect to ${target}:\n${answer.head}`);
    },
  };
}

function misses(port: number, { count }: Misses): Requests {
  const tail = visitTail(port);
  return {
    // No generated code has a vowel.
    request: (number) =>
      number < count ? `GET /a${number.toString(36).padStart(6, "0")}${tail}` : undefined,
    check: (answer) => expectStatus(answer, 404),
  };
}

function creates(port: number, { count = Infinity, linksFile }: Creates): Requests {
  const created: Link[] = [];
  return {
    request: (number) =>
      number < count
        ? createRequest(port, JSON.stringify({ original_url: originalUrl(RUN, number) }))
        : undefined,
    check(answer, number) {
      expectStatus(answer, 201);
      if (linksFile === undefined) return;
      const { data } = JSON.parse(answer.body) as { data: { code: string } };
      created.push([data.code, originalUrl(RUN, number)]);
    },
    end() {
      if (linksFile !== undefined) writeLinks(linksFile, created);
    },
  };
}

function mixed(port: number, { linksFile }: Mixed): Requests {
  const codes = readLinks(linksFile).map(([code]) => code);
  const draw = mixedRequests(port, RUN, codes);
  const expected = new Map<number, number>();
  return {
    request(number) {
      const [request, status] = draw(number);
      expected.set(number, status);
      return request;
    },
    check(answer, number) {
      expectStatus(answer, expected.get(number) ?? 0);
      expected.delete(number);
    },
  };
}

function same({ request, status, items = [] }: Same): Requests {
  return {
    request: (number) =>
      request
        .replaceAll("{number}", String(FIRST_NUMBER + number))
        .replaceAll("{item}", items[number % items.length] ?? ""),
    check: (answer) => expectStatus(answer, status),
  };
}

function flood({ requests }: Flood): Requests {
  return {
    request: (number) =>
      requests[number % requests.length]?.replaceAll("{number}", String(FIRST_NUMBER + number)),
    check: () => {},
  };
}

/** Throws if a response has another status: such a load measures nothing. */
function expectStatus({ status, head, body }: Answer, wanted: number): void {
  if (status !== wanted)
    throw new Error(`status ${status}, not ${wanted}:\n${head}\n\n${body.slice(0, 500)}`);
}
