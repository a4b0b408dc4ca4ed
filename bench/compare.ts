// Measures CPU per request of the working tree, another commit and the floors in turns, so that changes of the machine cancel
// out. A floor is a bare server on Bun, see bare.ts.
import { existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";

import type { Task } from "./generator.ts";
import { writeLinks } from "./links.ts";
import { generated, type Load } from "./load.ts";
import { median, rounded } from "./measure.ts";
import { ROOT, threadTimesNs } from "./process.ts";
import type { Bench, Result, Row } from "./report.ts";
import { BROWSER, PROGRAM, request } from "./requests.ts";
import { makeLinks, type Server, startBare, startCurt, startReference } from "./servers.ts";

const TURNS = 7;
const ROUND_MS = 1000;
const HOT_LINKS = 1000;
/** Each link is visited once, so every turn has its own. */
const COLD_LINKS_PER_TURN = 12_000;
const LINKS = HOT_LINKS + COLD_LINKS_PER_TURN * (TURNS + 1);
const CONNECTIONS = 32;
/** More than the previews that are cached: each one is drawn. */
const ZONES = Intl.supportedValuesOf("timeZone").map(encodeURIComponent);

/** How long new processes are measured: what the compiler does in it is part of the cost. */
const FIRST_MS = 3000;

/** Creates come first, because the visits of cold links are folded during the next case. */
const CASES = {
  create: "create",
  hot: "hot redirect",
  cold: "cold redirect",
  scanner: "unknown code, scanner",
  browser: "unknown code, browser",
  preview: "preview of 30 days, drawn",
} as const;
type Case = keyof typeof CASES;
type Who = "before" | "now" | "floor";

interface Contestant {
  readonly server: Server;
  readonly loads: Loads;
}
/** Old commits have no previews, and the floor is only two cases. */
type Loads = Readonly<Partial<Record<Case, (turn: number) => Load>>>;

export async function measureCompare({ folder, commit, progress }: Bench): Promise<Result> {
  if (commit === undefined) throw new Error("Name a commit: npm run bench -- compare COMMIT");
  progress(`checking out ${commit}`);
  const trees = { before: checkOut(commit, join(folder, "checkout")), now: ROOT };
  const links = (who: Who) => join(folder, `${who === "floor" ? "now" : who}.hot`);
  const startOne = (who: Who): Promise<Server> =>
    who === "floor"
      ? startBare(links(who), "/", join(folder, `${Date.now()}.db`))
      : startCurt(join(folder, `${who}.db`), {
          program: [process.execPath, join(trees[who], "src/main.ts")],
        });
  const before = await prepare(await startOne("before"), folder, "before", progress);
  const now = await prepare(await startOne("now"), folder, "now", progress);
  const { hot, create } = now.loads;
  const floor = {
    server: await startOne("floor"),
    loads: { ...(hot && { hot }), ...(create && { create }) },
  };
  // Its index is then as large as the others'.
  await makeLinks(floor.server, LINKS, join(folder, "floor.links"));
  const contestants: Readonly<Record<Who, Contestant>> = { before, now, floor };
  const nginx = await startReference(folder, links("now"));
  const nginxLoad = load({ kind: "visits", linksFile: links("now"), status: 302 });
  const costs = new Map<string, Record<Who, number[]>>();
  const note = (name: string, who: Who, us: number) => {
    const ofCase = costs.get(name) ?? { before: [], now: [], floor: [] };
    costs.set(name, ofCase);
    ofCase[who].push(us);
  };
  const reference: number[] = [];
  // The first turn only warms up.
  for (let turn = 0; turn <= TURNS; turn++) {
    progress(turn === 0 ? "warming up" : `turn ${turn} of ${TURNS}`);
    const cost = await cpuUs(nginx, nginxLoad);
    if (turn > 0) reference.push(cost);
    for (const name of Object.keys(CASES) as Case[])
      // The first one changes the processor's caches for the next, so they swap places each turn.
      for (const who of turn % 2 === 0 ? ORDER : ORDER.toReversed()) {
        const { server, loads } = contestants[who];
        const put = loads[name]?.(turn);
        if (put === undefined) continue;
        const us = await cpuUs(server, put);
        if (turn > 0) note(CASES[name], who, us);
      }
  }
  for (const { server } of Object.values(contestants)) await server.stop();
  for (const name of ["hot", "create"] as const)
    for (const who of ORDER) {
      progress(`the first ${FIRST_MS / 1000} s: ${CASES[name]}, ${who}`);
      const server = await startOne(who);
      const task = name === "hot" ? visits(links(who)) : ({ kind: "creates" } as const);
      note(`${CASES[name]}, first ${FIRST_MS / 1000} s`, who, await cpuUs(server, load(task, FIRST_MS)));
      await server.stop();
    }
  await nginx.stop();
  const rows = [...costs].map(([name, ofCase]): Row => {
    const us = (who: Who) => rounded(median(ofCase[who]), 1);
    return {
      "CPU per request": name,
      "now, µs": us("now"),
      [`${commit}, µs`]: us("before"),
      ...spread("ratio", ofCase.now, ofCase.before),
      "floor, µs": us("floor"),
      ...spread("× floor", ofCase.now, ofCase.floor),
      [`× ${nginx.name}`]: rounded(median(ofCase.now) / median(reference), 2),
    };
  });
  return { rows, rounds: {} };
}

const ORDER: readonly Who[] = ["before", "now", "floor"];

/** The median of the ratios of each turn, and the range of them. */
function spread(name: string, costs: readonly number[], others: readonly number[]): Row {
  const ratios = others.map((us, nth) => (costs[nth] ?? Number.NaN) / us);
  const range = [Math.min(...ratios), Math.max(...ratios)].map((ratio) => ratio.toFixed(2)).join("–");
  return { [name]: rounded(median(ratios), 3), [`${name}, range`]: ratios.length > 1 ? range : "–" };
}

/** The files of a commit with the packages it needs; returns their folder. */
export function checkOut(commit: string, tree: string): string {
  mkdirSync(tree);
  const sh = (script: string) => {
    const { exitCode, stderr } = Bun.spawnSync(["sh", "-c", script, "sh", commit, tree], { cwd: ROOT });
    if (exitCode !== 0) throw new Error(`${script}: ${stderr.toString()}`);
  };
  sh('git archive "$1" | tar -x -C "$2"');
  const lock = (root: string) => readFileSync(join(root, "package-lock.json"), "utf8");
  if (lock(tree) === lock(ROOT)) symlinkSync(join(ROOT, "node_modules"), join(tree, "node_modules"));
  else sh('cd "$2" && npm ci --omit=dev --ignore-scripts --prefer-offline --no-audit --no-fund');
  if (!existsSync(join(tree, "node_modules"))) throw new Error(`${commit} has no packages`);
  return tree;
}

/** Creates the links of a contestant and describes its loads. */
async function prepare(
  server: Server,
  folder: string,
  name: string,
  progress: Bench["progress"],
): Promise<Contestant> {
  progress(`creating ${LINKS} links: ${name}`);
  const links = await makeLinks(server, LINKS, join(folder, `${name}.links`));
  const hot = join(folder, `${name}.hot`);
  writeLinks(hot, links.slice(0, HOT_LINKS));
  const [popular = ""] = links[0] ?? [];
  const preview = request(`GET /${popular}+?tz={item}`, BROWSER);
  const { ok: hasPreviews } = await fetch(`http://localhost:${server.port}/${popular}+`);
  const same = (status: number, text: string, items: readonly string[] = []) =>
    load({ kind: "same", status, request: text, items });
  return {
    server,
    loads: {
      hot: () => load(visits(hot)),
      cold(turn) {
        const start = HOT_LINKS + turn * COLD_LINKS_PER_TURN;
        const linksFile = join(folder, `${name}.cold`);
        writeLinks(linksFile, links.slice(start, start + COLD_LINKS_PER_TURN));
        return load({ kind: "visits", linksFile, status: 302, once: true });
      },
      create: () => load({ kind: "creates" }),
      scanner: () => same(404, request("GET /a{number}", PROGRAM)),
      browser: () => same(404, request("GET /a{number}", BROWSER)),
      ...(hasPreviews && { preview: () => same(200, preview, ZONES) }),
    },
  };
}

function visits(linksFile: string): Task {
  return { kind: "visits", linksFile, status: 302, browsers: 50 };
}

function load(task: Task, roundMs = ROUND_MS): Load {
  return generated(roundMs, { ...task, connections: CONNECTIONS });
}

/** Microseconds per request, of all threads that live until the end. */
async function cpuUs(server: Server, put: Load): Promise<number> {
  const before = threadTimesNs(server.pid);
  const { requests } = await put(server);
  let ns = 0;
  for (const [thread, after] of threadTimesNs(server.pid)) ns += after - (before.get(thread) ?? 0);
  return ns / 1000 / requests;
}
