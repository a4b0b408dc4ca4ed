// Measures CPU per request of the working tree and another commit in turns, so that changes of the machine cancel out.
import { existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";

import type { Task } from "./generator.ts";
import { writeLinks } from "./links.ts";
import { generated, type Load } from "./load.ts";
import { median, rounded } from "./measure.ts";
import { ROOT, threadTimesNs } from "./process.ts";
import type { Bench, Result, Row } from "./report.ts";
import { BROWSER, PROGRAM, request } from "./requests.ts";
import { makeLinks, type Server, startCurt, startReference } from "./servers.ts";

const TURNS = 7;
const ROUND_MS = 1000;
const HOT_LINKS = 1000;
/** Each link is visited once, so every turn has its own. */
const COLD_LINKS_PER_TURN = 12_000;
const CONNECTIONS = 32;
/** More than the previews that are cached: each one is drawn. */
const ZONES = Intl.supportedValuesOf("timeZone").map(encodeURIComponent);

const CASES = {
  hot: "hot redirect",
  cold: "cold redirect",
  create: "create",
  scanner: "unknown code, scanner",
  browser: "unknown code, browser",
  preview: "preview of 30 days, drawn",
} as const;
type Case = keyof typeof CASES;

interface Contestant {
  readonly server: Server;
  /** Old commits have no previews. */
  readonly loads: Readonly<Partial<Record<Case, (turn: number) => Load>>>;
}

export async function measureCompare({ folder, commit, progress }: Bench): Promise<Result> {
  if (commit === undefined) throw new Error("Name a commit: npm run bench -- compare COMMIT");
  progress(`checking out ${commit}`);
  const before = await startContestant(
    folder,
    "before",
    checkOut(commit, join(folder, "checkout")),
    progress,
  );
  const now = await startContestant(folder, "now", ROOT, progress);
  const nginx = await startReference(folder, join(folder, "now.hot"));
  const nginxLoad = load({ kind: "visits", linksFile: join(folder, "now.hot"), status: 302 });
  const figures = Object.keys(CASES).map((name) => [name, { before: [], now: [] }] as const);
  const costs = Object.fromEntries(figures) as unknown as Record<Case, Record<"before" | "now", number[]>>;
  const reference: number[] = [];
  // The first turn only warms up.
  for (let turn = 0; turn <= TURNS; turn++) {
    progress(turn === 0 ? "warming up" : `turn ${turn} of ${TURNS}`);
    const cost = await cpuUs(nginx, nginxLoad);
    if (turn > 0) reference.push(cost);
    for (const name of Object.keys(CASES) as Case[])
      // The first one changes the processor's caches for the second, so they swap places each turn.
      for (const who of turn % 2 === 0 ? (["before", "now"] as const) : (["now", "before"] as const)) {
        const { server, loads } = who === "now" ? now : before;
        const put = loads[name]?.(turn);
        if (put === undefined) continue;
        const us = await cpuUs(server, put);
        if (turn > 0) costs[name][who].push(us);
      }
  }
  for (const { server } of [before, now]) await server.stop();
  await nginx.stop();
  const rows = (Object.keys(CASES) as Case[]).map((name): Row => {
    const ratios = costs[name].before.map((us, nth) => (costs[name].now[nth] ?? Number.NaN) / us);
    return {
      "CPU per request": CASES[name],
      "now, µs": rounded(median(costs[name].now), 1),
      ...(ratios.length > 0 && {
        [`${commit}, µs`]: rounded(median(costs[name].before), 1),
        ratio: rounded(median(ratios), 3),
        from: rounded(Math.min(...ratios), 3),
        to: rounded(Math.max(...ratios), 3),
      }),
      [`now, × ${nginx.name}`]: rounded(median(costs[name].now) / median(reference), 2),
    };
  });
  return { rows, rounds: {} };
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

async function startContestant(
  folder: string,
  name: string,
  tree: string,
  progress: Bench["progress"],
): Promise<Contestant> {
  const server = await startCurt(join(folder, `${name}.db`), {
    program: [process.execPath, join(tree, "src/main.ts")],
  });
  const count = HOT_LINKS + COLD_LINKS_PER_TURN * (TURNS + 1);
  progress(`creating ${count} links: ${name}`);
  const links = await makeLinks(server, count, join(folder, `${name}.links`));
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
      hot: () => load({ kind: "visits", linksFile: hot, status: 302, browsers: 50 }),
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

function load(task: Task): Load {
  return generated(ROUND_MS, { ...task, connections: CONNECTIONS });
}

/** Microseconds per request, of all threads that live until the end. */
async function cpuUs(server: Server, put: Load): Promise<number> {
  const before = threadTimesNs(server.pid);
  const { requests } = await put(server);
  let ns = 0;
  for (const [thread, after] of threadTimesNs(server.pid)) ns += after - (before.get(thread) ?? 0);
  return ns / 1000 / requests;
}
