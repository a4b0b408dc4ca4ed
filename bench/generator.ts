// Our own load generator: a process of its own, so that it has a core of its own. A task comes in as JSON in
// the first argument; what was done goes out as JSON on standard output. Any surprise ends it with exit code 1.
import { type Answer, drive } from "./connections.ts";
import { type BenchLink, originalUrl, readLinks, writeLinks } from "./links.ts";
import { createRequest, visitTail } from "./requests.ts";

interface Load {
  readonly port: number;
  readonly connections: number;
  readonly durationMs: number;
}

export interface Visits extends Load {
  readonly kind: "visits";
  readonly linksFile: string;
  /** The only status that counts. */
  readonly status: number;
  /** Each link once, with a look at where it leads; otherwise round and round until the time is over. */
  readonly once: boolean;
}

export interface Creates extends Load {
  readonly kind: "creates";
  /** Tells the addresses of one load from those of another. */
  readonly run: string;
  /** Stops after this many, if the time is not over before. */
  readonly count?: number;
  /** Where the links made are written. */
  readonly linksFile?: string;
}

export type Task = Visits | Creates;

export interface Done {
  readonly requests: number;
  readonly durationMs: number;
}

function visits({ linksFile, status, once, ...load }: Visits): Promise<Done> {
  const links = readLinks(linksFile);
  const tail = visitTail(load.port);
  const codes = links.map(([code]) => code);
  return drive({
    ...load,
    request: (number) =>
      once && number >= codes.length ? undefined : `GET /${codes[number % codes.length]}/${tail}`,
    check(answer, number) {
      expect(answer, status);
      if (once) expectTarget(answer, links[number]);
    },
  });
}

async function creates({ run, count = Infinity, linksFile, ...load }: Creates): Promise<Done> {
  const made: BenchLink[] = [];
  const done = await drive({
    ...load,
    request: (number) =>
      number >= count
        ? undefined
        : createRequest(load.port, JSON.stringify({ original_url: originalUrl(run, number) })),
    check(answer, number) {
      expect(answer, 201);
      if (linksFile === undefined) return;
      const { data } = JSON.parse(answer.body) as { data: { code: string } };
      made.push([data.code, originalUrl(run, number)]);
    },
  });
  if (linksFile !== undefined) writeLinks(linksFile, made);
  return done;
}

function expect({ status, head, body }: Answer, wanted: number): void {
  if (status !== wanted)
    throw new Error(`answered ${status}, not ${wanted}:\n${head}\n\n${body.slice(0, 500)}`);
}

function expectTarget({ head }: Answer, link: BenchLink = ["", ""]): void {
  if (link[1] === "" || head.split("\r\n").includes(`Location: ${link[1]}`)) return;
  throw new Error(`${link[0]} does not lead to ${link[1]}:\n${head}`);
}

const task = JSON.parse(process.argv[2] ?? "") as Task;
console.log(JSON.stringify(task.kind === "visits" ? await visits(task) : await creates(task)));
process.exit(0);
