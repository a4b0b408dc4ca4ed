import { describe, expect, test } from "bun:test";

import { one } from "../../src/metrics/catalogue.ts";
import { createProcessGroup } from "../../src/metrics/process-group.ts";
import { sumCounters } from "../../src/metrics/text-format.ts";
import { freePort } from "../support/free-port.ts";
import { BASE_URL, startProgram, temporaryFolder, untilLogged, PROGRAM } from "../support/service.ts";
import { addressOf, create, scrapeUntil } from "./scrape.ts";

const CREATED = 'curt_creates_total{outcome="created"}';
const ANSWERING = 'curt_processes{state="answering"}';
const MISSING = 'curt_processes{state="missing"}';

const start = () => startProgram({ METRICS_PORT: "0", PROCESSES: "3" });

describe("the metrics of several processes", () => {
  test("are summed, except values that all processes share", async () => {
    await using curt = await start();
    const address = await addressOf(curt);
    await create(curt, 40);
    const scraped = await scrapeUntil(
      address,
      "all processes answer, and there are links",
      (now) => now.of(ANSWERING) === 3 && now.of("curt_links") > 0,
    );
    expect([scraped.of(CREATED), scraped.of(MISSING)]).toEqual([40, 0]);
    expect(scraped.of('curt_commit_items_sum{what="links"}')).toBe(40);
    expect(scraped.sum("curt_request_seconds_count", 'route="/api/v1/shorten"')).toBe(40);
    // Not three times as many, because all processes count the same links.
    expect(scraped.of("curt_links")).toBeLessThanOrEqual(40);
    expect(scraped.of("curt_store_up")).toBe(1);
  });
});

test("two simultaneous readings both include every process", async () => {
  const members = createProcessGroup(1);
  const requests: number[] = [];
  const member = members.join(() => void requests.push(requests.length));
  const both = [members.read(), members.read()];
  for (const nth of requests) member.answer({ curt_links: [one(nth)] });
  for (const reading of both)
    expect((await reading)[0]?.curt_processes).toEqual([
      one(1, { state: "answering" }),
      one(0, { state: "missing" }),
    ]);
});

test("the counters of an ended process stay in the sums", async () => {
  const members = createProcessGroup(1);
  const counted = { curt_creates_total: [one(3, { outcome: "created" })] };
  for (const _ of [1, 2]) {
    const member = members.join(() => {});
    member.answer(counted);
    member.leave();
  }
  const { curt_creates_total: sums } = sumCounters(await members.read());
  expect(sums).toEqual([one(6, { outcome: "created" })]);
});

for (const processes of ["1", "2"])
  test(`PROCESSES=${processes}: metrics are served until the end of a stop`, async () => {
    const port = await freePort();
    const settings = { METRICS_PORT: `${port}`, PROCESSES: processes };
    await using curt = await startProgram(settings, { holdsDrain: true });
    const address = await addressOf(curt);
    expect(address).toBe(`http://127.0.0.1:${port}/metrics`);
    await create(curt, 5);
    await scrapeUntil(address, "all are counted", (now) => now.of(CREATED) === 5);
    curt.kill("SIGTERM");
    await untilLogged(curt, '"stopping"', processes === "1" ? 1 : 3);
    await scrapeUntil(address, "all are counted during the stop", (now) => now.of(CREATED) === 5);
    curt.endDrain();
    expect(await curt.exited).toBe(0);
    expect(await fetch(address).catch(() => "refused")).toBe("refused");
  });

describe("a start", () => {
  async function fail(settings: Record<string, string>) {
    using folder = temporaryFolder();
    const env = { ...process.env, DATABASE_URL: `sqlite:${folder.path}/curt.db`, ...settings };
    const child = Bun.spawn([process.execPath, PROGRAM, "serve"], {
      env,
      stderr: "pipe",
      stdout: "pipe",
    });
    return [await child.exited, await child.stderr.text()];
  }

  for (const processes of ["1", "2"])
    test(`fails if METRICS_PORT is in use (PROCESSES=${processes})`, async () => {
      const other = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() });
      const { port } = other;
      const settings = { METRICS_PORT: `${port}`, PORT: "0", BASE_URL, PROCESSES: processes };
      const [code, stderr] = await fail(settings);
      await other.stop(true);
      expect(code).toBe(1);
      expect(stderr).toMatch(new RegExp(`^curt: cannot listen on METRICS_PORT ${port} at 127.0.0.1: .+\n$`));
    });

  test("fails if METRICS_PORT equals PORT", async () => {
    expect(await fail({ METRICS_PORT: "3456", PORT: "3456" })).toEqual([
      2,
      "curt: METRICS_PORT must not be PORT (3456): metrics have a port of their own\n",
    ]);
  });
});
