// The CPU time of a page of the directory, as a ratio to a preview: 100,000 links, a tenth of them visited on each of 30 days.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { DatabaseAddress } from "../src/config/database-url.ts";
import { DAY_MS, HOUR_MS } from "../src/links/time.ts";
import { openStore } from "../src/store/open.ts";
import { newLink } from "../test/stores/links.ts";
import { addressOf, startPostgres } from "../test/support/postgres.ts";
import { slicesOf } from "../test/visits/slices.ts";
import { median, rounded } from "./measure.ts";
import { familyCpuUs } from "./postgres.ts";
import { cpuTimeUs } from "./process.ts";
import { startCurt } from "./servers.ts";

const LINKS = 100_000;
const DAYS = 30;
const TURNS = 5;
const REQUESTS = 20;
const INIT = { headers: { Accept: "text/html", "User-Agent": "Mozilla/5.0", "Remote-Creator": "mina" } };
const codeOf = (nth: number) => `link-${nth}`;

const PAGES: Readonly<Record<string, (nth: number) => string>> = {
  preview: (nth) => `/${codeOf(nth * 7)}+`,
  "most used": (nth) => `/+all?x=${nth}`,
  newest: (nth) => `/+all?by=newest&x=${nth}`,
  "search that finds": (nth) => `/+all?q=Title+${nth % 100}`,
  "search that finds nothing": (nth) => `/+all?q=nobody-${nth}-has-this`,
  "unknown code": (nth) => `/lnik-${nth}`,
};

async function fill(database: DatabaseAddress): Promise<void> {
  const store = await openStore(database);
  const nowMs = Date.now();
  const links = Array.from({ length: LINKS }, (_, nth) => {
    const terms = { owner: `p${nth % 500}`, title: `Title ${nth}` };
    return newLink(codeOf(nth), { createdMs: nowMs - LINKS + nth, terms });
  });
  for (let from = 0; from < LINKS; from += 1000) await store.insert(links.slice(from, from + 1000));
  for (let day = 0; day < DAYS; day++) {
    const visits = links.filter((_, nth) => (nth * 7 + day) % 10 === 0);
    const hour = Math.floor((nowMs - day * DAY_MS) / HOUR_MS);
    for (const slice of slicesOf({ hour, visits })) await store.add(slice);
  }
  await store.close();
}

async function measure(name: string, DATABASE_URL: string, databaseUs: () => number): Promise<void> {
  const people = { CREATE_USER_HEADER: "Remote-Creator", TRUSTED_PROXIES: "127.0.0.1,::1" };
  const settings = { DATABASE_URL, DATA_DIR: join(folder, name), POSTURE: "private", ...people };
  const curt = await startCurt("unused", { settings });
  const costs: Record<string, number[]> = {};
  for (let turn = 0; turn <= TURNS; turn++)
    for (const [page, pathOf] of Object.entries(PAGES)) {
      const before = cpuTimeUs(curt.pid) + databaseUs();
      for (let nth = 0; nth < REQUESTS; nth++) {
        const { status } = await fetch(`http://127.0.0.1:${curt.port}${pathOf(turn * REQUESTS + nth)}`, INIT);
        if (status !== (page === "unknown code" ? 404 : 200)) throw new Error(`${page}: ${status}`);
      }
      // The first turn only warms up.
      if (turn > 0) (costs[page] ??= []).push((cpuTimeUs(curt.pid) + databaseUs() - before) / REQUESTS);
    }
  await curt.stop();
  for (const [page, us] of Object.entries(costs)) {
    const ratio = median(us.map((one, turn) => one / (costs["preview"]?.[turn] ?? Number.NaN)));
    console.log(`${name}, ${page}: ${Math.round(median(us))} µs, ${rounded(ratio, 2)} × preview`);
  }
}

const folder = mkdtempSync(join(tmpdir(), "curt-directory-"));
const path = join(folder, "curt.db");
await fill({ engine: "sqlite", path });
await measure("SQLite", `sqlite:${path}`, () => 0);
await using postgres = await startPostgres(["shared_buffers=512MB"]);
const url = await postgres.url();
await fill(addressOf(url));
await measure("PostgreSQL", url, () => familyCpuUs(postgres));
rmSync(folder, { recursive: true });
