import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";

import { METRICS } from "../../src/metrics/catalogue.ts";
import { type Program, startProgram } from "../support/service.ts";
import { addressOf, scrape, scrapeUntil } from "./scrape.ts";

const original_url = "https://example.com/";

let curt: Program;
let address: string;
beforeAll(async () => {
  curt = await startProgram({ METRICS_PORT: "0", LIMIT_CREATE: "9/1h" });
  address = await addressOf(curt);
});
afterAll(() => curt[Symbol.asyncDispose]());

describe("the metrics", () => {
  test("count creates, redirects, look-ups, requests and commits by their outcome; a taken code is a refused create", async () => {
    await curt.shorten({ original_url, custom_code: "one" });
    await curt.shorten({ original_url, custom_code: "one" });
    await curt.shorten({ original_url: "ftp://example.com/" });
    for (const path of ["/one", "/one/", "/one"]) expect((await curt.fetch(path)).status).toBe(302);
    expect((await curt.fetch("/one", { method: "HEAD" })).status).toBe(302);
    expect((await curt.fetch("/none")).status).toBe(404);
    expect((await curt.fetch("/api/v1/links/none")).status).toBe(404);
    const scraped = await scrapeUntil(
      address,
      "there is one link, and the process is on time",
      (now) => now.of("curt_links") === 1 && now.of("curt_event_loop_delay_seconds_count") > 0,
    );

    expect(scraped.of('curt_creates_total{outcome="created"}')).toBe(1);
    expect(scraped.of('curt_creates_total{outcome="refused"}')).toBe(2);
    // The first one reads the store.
    expect(scraped.of('curt_redirects_total{outcome="store"}')).toBe(1);
    expect(scraped.of('curt_redirects_total{outcome="memory"}')).toBe(3);
    expect(scraped.of('curt_redirects_total{outcome="unknown"}')).toBe(1);
    expect(scraped.of('curt_memory_lookups_total{result="hit"}')).toBe(3);
    expect(scraped.of('curt_memory_lookups_total{result="miss"}')).toBe(2);
    expect(scraped.of("curt_redirect_seconds_count")).toBe(2);
    expect(scraped.of("curt_memory_links")).toBe(1);
    expect(scraped.of("curt_unknown_total")).toBe(2);
    const posts = 'curt_request_seconds_count{route="/api/v1/shorten",method="POST"';
    expect(scraped.of(`${posts},status="2xx"}`)).toBe(1);
    expect(scraped.of(`${posts},status="4xx"}`)).toBe(2);
    expect(
      scraped.of('curt_request_seconds_count{route="/api/v1/links/{code}",method="GET",status="4xx"}'),
    ).toBe(1);
    // A taken code is found by a commit as well.
    expect(scraped.of('curt_commit_items_sum{what="links"}')).toBe(2);
    expect(scraped.of('curt_commit_seconds_bucket{le="+Inf",what="links"}')).toBe(
      scraped.of('curt_commit_seconds_count{what="links"}'),
    );
    expect(scraped.of("curt_codes_used_ratio")).toBeGreaterThan(0);
    expect(scraped.of("curt_store_up")).toBe(1);
    expect(scraped.of('curt_processes{state="answering"}')).toBe(1);
    for (const positive of ["process_resident_memory_bytes", "process_cpu_seconds_total"])
      expect(scraped.of(positive)).toBeGreaterThan(0);
    expect(scraped.of('curt_disk_free_bytes{holds="journal"}')).toBeGreaterThan(0);
  });

  test("count refusals by the limit that was hit", async () => {
    for (let nth = 0; nth < 12; nth++) await curt.shorten({ original_url });
    const scraped = await scrapeUntil(
      address,
      "creates were limited",
      (now) => now.of('curt_limited_total{limit="create"}') > 0,
    );
    expect(scraped.of('curt_limited_total{limit="view"}')).toBe(0);
  });

  test("have no label with a client's value: unknown paths and methods are 'other'", async () => {
    const before = await scrape(address);
    for (let nth = 0; nth < 30; nth++) {
      await curt.fetch(`/a.b${nth}`, { headers: { "User-Agent": `agent ${nth}` } });
      await curt.fetch(`/x${nth}+`);
      await curt.fetch(`/api/v1/${nth}/x`, { method: `METHOD${nth}` });
      await curt.fetch(`/x${nth}/y/z`, { method: "PROPFIND" });
    }
    const refusals = (now: typeof before) => now.sum("curt_request_seconds_count", 'status="4xx"');
    const after = await scrapeUntil(
      address,
      "all are counted",
      (now) => refusals(now) >= refusals(before) + 120,
    );
    const added = (label: string) => [...after.labels(label).difference(before.labels(label))].toSorted();
    expect(added("route")).toEqual(["/{code}", "/{code}+", "other"]);
    expect(added("method")).toEqual(["other"]);
    expect(added("status")).toEqual([]);
  });

  test("are those of the catalogue, in its order, with type and help", async () => {
    const { text } = await scrape(address);
    const names = [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name, type]) => [name, type]);
    expect(names).toEqual(Object.entries(METRICS).map(([name, { type }]) => [name, type]));
    for (const [name, { help }] of Object.entries(METRICS))
      expect(text).toContain(`# HELP ${name} ${help}\n`);
  });

  test("are served on their own port only, to GET and HEAD", async () => {
    expect((await curt.fetch("/metrics")).status).toBe(404);
    const { origin } = new URL(address);
    expect((await fetch(origin)).status).toBe(404);
    expect((await fetch(`${address}?x=y`)).headers.get("content-type")).toContain("version=0.0.4");
    expect((await fetch(address, { method: "HEAD" })).status).toBe(200);
    const posted = await fetch(address, { method: "POST" });
    expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  });

  test("are read at most once a second, however many clients scrape", async () => {
    const startMs = performance.now();
    const texts = new Set<string>();
    for (let round = 0; round < 8; round++) {
      const scrapes = await Promise.all(Array.from({ length: 20 }, () => scrape(address)));
      for (const { text } of scrapes) texts.add(text);
    }
    // Each reading has another CPU time.
    expect(texts.size).toBeLessThanOrEqual(2 + (performance.now() - startMs) / 1000);
  });
});

test("the metrics report a missing store, and count its faults", async () => {
  await using away = await startProgram({ METRICS_PORT: "0" });
  const at = await addressOf(away);
  away.expectFaults();
  for (const part of ["", "-wal", "-shm"]) rmSync(`${away.file}${part}`);
  // The store checks only now and then that its files are still there.
  while ((await away.fetch("/none")).status !== 503) await Bun.sleep(5);
  const scraped = await scrapeUntil(at, "the store is down", (now) => now.of("curt_store_up") === 0);
  expect(scraped.of('curt_redirects_total{outcome="failed"}')).toBe(1);
  expect(scraped.of('curt_faults_total{what="store"}')).toBeGreaterThan(0);
  expect(scraped.of('curt_faults_total{what="other"}')).toBe(0);
});
