import { readFileSync, writeFileSync } from "node:fs";

/** A code and where it leads; "" for a code that does not exist. */
export type Link = readonly [code: string, target: string];

/** Addresses of about 80 characters, all different. `run` tells the makers of one benchmark apart. */
export function originalUrl(run: string, number: number): string {
  return `https://www.example.com/articles/short-links/${run}/${String(number).padStart(9, "0")}?ref=newsletter`;
}

/** One link a line, so that wrk's script reads the same file as we do. */
export function writeLinks(path: string, links: readonly Link[]): void {
  writeFileSync(path, links.map(([code, target]) => `${code} ${target}\n`).join(""));
}

export function readLinks(path: string): Link[] {
  return readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [code = "", target = ""] = line.split(" ");
      return [code, target];
    });
}

export function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item);
}
