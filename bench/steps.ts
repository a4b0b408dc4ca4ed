// `npx bun bench/steps.ts`: counts the files and functions of `src/` that each warm create and each hot redirect runs on the
// serving thread, in a service of this process. With "list", it also names the files.
import { Session } from "node:inspector";
import { relative } from "node:path";

import { drive } from "./connections.ts";
import { originalUrl } from "./links.ts";
import { inTemporaryFolder, ROOT } from "./process.ts";
import { createRequest, visitTail } from "./requests.ts";
import { freePort } from "./servers.ts";

const REQUESTS = 1500;
const LIMIT_MS = 60_000;
/** Most endpoints load a second after the start. */
const LOADED_MS = 1500;

/** The part of the profiler's coverage that we read. */
interface Coverage {
  readonly result?: readonly {
    readonly url: string;
    /** The file, then its functions. The first range of each is the function itself. */
    readonly functions: readonly { readonly ranges: readonly { readonly count: number }[] }[];
  }[];
}

const profiler = new Session();

function ask(method: string, parameters: object = {}): Promise<Coverage> {
  return new Promise((resolve, reject) =>
    profiler.post(method, parameters, (error, result) => (error ? reject(error) : resolve(result ?? {}))),
  );
}

/** One after the other, so that each create has its own commit. Returns the last body. */
async function send(port: number, status: number, request: () => string): Promise<string> {
  let body = "";
  const stream = {
    connections: 1,
    request: (number: number) => (number < REQUESTS ? request() : undefined),
    check(answer: { readonly status: number; readonly body: string }) {
      if (answer.status !== status) throw new Error(`status ${answer.status}, not ${status}`);
      ({ body } = answer);
    },
  };
  await drive(port, LIMIT_MS, [stream]);
  return body;
}

/** How many functions of each file have run at least `times` since the last reading, which `coverage` is. */
function filesOf({ result = [] }: Coverage, times: number): ReadonlyMap<string, number> {
  const files = result.flatMap(({ url, functions }) => {
    const file = url.startsWith("file:") ? relative(ROOT, Bun.fileURLToPath(url)) : "";
    const count = functions.slice(1).filter(({ ranges: [whole] }) => whole && whole.count >= times).length;
    return file.startsWith("src/") && count > 0 ? [[file, count] as const] : [];
  });
  return new Map(files.toSorted(([one], [other]) => one.localeCompare(other)));
}

function totals(files: ReadonlyMap<string, number>): string {
  const functions = [...files.values()].reduce((sum, count) => sum + count, 0);
  return `${files.size} files, ${functions} functions`;
}

await inTemporaryFolder(async (folder) => {
  profiler.connect();
  await ask("Profiler.enable");
  // Before the first import of the service, because functions that are compiled already aren't counted.
  await ask("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  const [{ readConfig }, { createLog }, { startService }] = await Promise.all([
    import("../src/config/config.ts"),
    import("../src/lib/log.ts"),
    import("../src/server/service.ts"),
  ]);
  const port = freePort();
  const config = readConfig({
    PORT: `${port}`,
    BASE_URL: `http://localhost:${port}`,
    DATABASE_URL: `sqlite:${folder}/curt.db`,
  });
  const service = await startService(config, createLog("warn", process.stdout));
  await Bun.sleep(LOADED_MS);

  let links = 0;
  const create = () => createRequest(port, JSON.stringify({ original_url: originalUrl("steps", ++links) }));
  const { data } = JSON.parse(await send(port, 201, create)) as { data: { code: string } };
  const redirect = () => `GET /${data.code}${visitTail(port)}`;
  await send(port, 302, redirect);
  for (const [name, status, request] of [
    ["create", 201, create],
    ["hot redirect", 302, redirect],
  ] as const) {
    // Each reading starts the counts again.
    await ask("Profiler.takePreciseCoverage");
    await send(port, status, request);
    const coverage = await ask("Profiler.takePreciseCoverage");
    const each = filesOf(coverage, REQUESTS);
    console.log(
      `${name}: ${totals(each)}; with those that not each one runs: ${totals(filesOf(coverage, 1))}`,
    );
    if (process.argv[2] === "list") for (const [file, count] of each) console.log(`  ${count} in ${file}`);
  }
  await service.stop();
});
