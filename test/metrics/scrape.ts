import { expect } from "bun:test";

import { type Program, untilLogged } from "../support/service.ts";

/** The values of a scrape by name and labels, as in its text. */
export interface Scrape {
  readonly text: string;
  /** For example `curt_creates_total{outcome="created"}`. 0 if there is no such value. */
  of(series: string): number;
  /** The sum of all values of this name with these labels, in any order. */
  sum(name: string, ...labels: readonly string[]): number;
  /** All values of a label. */
  labels(label: string): Set<string>;
}

/** The address of a program's metrics. */
export async function addressOf(program: Pick<Program, "logged">): Promise<string> {
  await untilLogged(program, "metrics for Prometheus");
  return /http:\/\/[^"\s]+\/metrics/.exec(program.logged.join("\n"))?.[0] ?? "";
}

export async function scrape(address: string): Promise<Scrape> {
  const response = await fetch(address);
  expect(response.status).toBe(200);
  return read(await response.text());
}

function read(text: string): Scrape {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const values = new Map(
    lines.map((line) => {
      const [, series = "", value] = /^(.+) (\S+)$/.exec(line) ?? [];
      return [series, Number(value)];
    }),
  );
  return {
    text,
    of: (series) => values.get(series) ?? 0,
    sum(name, ...labels) {
      const found = [...values].filter(
        ([series]) => /^[^{]+/.exec(series)?.[0] === name && labels.every((label) => series.includes(label)),
      );
      return found.reduce((sum, [, value]) => sum + value, 0);
    },
    labels: (label) =>
      new Set([...text.matchAll(new RegExp(`[{,]${label}="([^"]*)"`, "g"))].map(([, value = ""]) => value)),
  };
}

/** Creates links, each over a connection of its own, so that every process makes some. */
export async function create(program: Program, links: number): Promise<void> {
  const responses = await Promise.all(
    Array.from({ length: links }, () =>
      program.shorten({ original_url: "https://example.com/" }, { Connection: "close" }),
    ),
  );
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([201]));
}

const MAX_SCRAPES = 1000;
const PAUSE_MS = 100;

/**
 * Scrapes until `isSo` holds: values are up to a second old, and a slow machine may leave out those that it couldn't read in
 * time.
 */
export async function scrapeUntil(
  address: string,
  what: string,
  isSo: (scraped: Scrape) => boolean,
): Promise<Scrape> {
  let scraped: Scrape | undefined;
  for (let scrapes = 0; scrapes < MAX_SCRAPES; scrapes++) {
    scraped = await scrape(address);
    if (isSo(scraped)) return scraped;
    await Bun.sleep(PAUSE_MS);
  }
  throw new Error(`waited too long until ${what}:\n${scraped?.text}`);
}
