// Our own load generator: a process of its own, so that it has a core of its own. A task comes in as JSON in
// the first argument; what was done goes out as JSON on standard output. Any surprise ends it with exit code 1.
import { drive } from "./connections.ts";
import { expectStatus, expectTarget } from "./expected.ts";
import { type BenchLink, originalUrl, readLinks, writeLinks } from "./links.ts";
import { mixed } from "./mixed.ts";
import { paced } from "./paced.ts";
import { createRequest, visitTail } from "./requests.ts";
import type { Creates, Done, Misses, Task, Visits } from "./tasks.ts";

function visits({ linksFile, status, once, from = 0, ...load }: Visits): Promise<Done> {
  const links = readLinks(linksFile);
  const tail = visitTail(load.port);
  const codes = links.map(([code]) => code);
  return drive({
    ...load,
    request: (number) =>
      once && number >= codes.length ? undefined : `GET /${codes[(from + number) % codes.length]}/${tail}`,
    check(answer, number) {
      expectStatus(answer, status);
      if (once) expectTarget(answer, links[number]);
    },
  });
}

function misses({ count, ...load }: Misses): Promise<Done> {
  const tail = visitTail(load.port);
  return drive({
    ...load,
    // No generated code has a vowel.
    request: (number) =>
      number < count ? `GET /a${number.toString(36).padStart(6, "0")}/${tail}` : undefined,
    check: (answer) => expectStatus(answer, 404),
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
      expectStatus(answer, 201);
      if (linksFile === undefined) return;
      const { data } = JSON.parse(answer.body) as { data: { code: string } };
      made.push([data.code, originalUrl(run, number)]);
    },
  });
  if (linksFile !== undefined) writeLinks(linksFile, made);
  return done;
}

function perform(task: Task): Promise<Done> {
  switch (task.kind) {
    case "visits":
      return visits(task);
    case "misses":
      return misses(task);
    case "creates":
      return creates(task);
    case "paced":
      return paced(task);
    case "mixed":
      return mixed(task);
  }
}

console.log(JSON.stringify(await perform(JSON.parse(process.argv[2] ?? "") as Task)));
process.exit(0);
