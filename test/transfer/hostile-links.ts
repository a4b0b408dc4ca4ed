// Links whose codes and destinations attack the formats of `curt export --format`.
import { expect } from "bun:test";

import type { Target } from "../../src/links/target.ts";
import { NEVER_MS } from "../../src/links/time.ts";
import { openStore } from "../../src/store/open.ts";
import { newLink } from "../stores/links.ts";

export interface ShortLink {
  readonly code: string;
  readonly target: string;
  readonly endsMs?: number;
}

/** Each ends a word, value, comment, rule, tag or field somewhere, or starts a variable there. */
const ATTACKS = [
  '"; return 302 https://evil.example/; #',
  '";}server{listen 81;}map $uri $x {"/x" "',
  "$uri$1${curt_dollar}$$",
  "{$HOME}{$HOME:default}{env.HOME}{path}{http.request.uri}{file./etc/passwd}",
  "\\{vars.brace}\\}\\\\{\\n\\t\\r\\0",
  "}\\",
  "`{}`<<EOF",
  ":splat/:code/*",
  "#fragment#!/usr",
  "%0D%0ASet-Cookie:%20a=b%00%zz%",
  "\"><script>alert(1)</script><meta content='0;url=//evil.example'>",
  "'; url='https://evil.example/'",
  "&quot;&amp;&#34;&lt",
  "~^/.*$default",
  "[](){}^*?+.!@",
  "302! Country=kr",
  "a|b||c",
].map((attack) => attack.replaceAll(" ", "%20"));

const CODES = [
  ..."abc ABC Abc aBC default include hostnames volatile ~abc import x X code- _".split(" "),
  ..."한글 ㅋㅋㅋ 각 مرحبا नमस्ते がぎ ßẞ café CAFÉ Café ÅÅ éclair Éclair ﷺ 漢字 İi ıI Σσς".split(" "),
  ..."❤ ❤x 👨‍👩‍👧‍👦 🇰🇷 #⃣ 1⃣ © ☺ 👩‍❤‍💋‍👨".split(" "),
  "가".repeat(28),
  "x".repeat(64),
];

/** 2,000 links; half of those with plain codes differ from another only in case. */
export const LINKS: readonly ShortLink[] = Array.from({ length: 2000 }, (_, nth): ShortLink => {
  const odd = ["", "한", "é", "❤", "م", "が"][(nth >> 1) % 6] ?? "";
  const word = `${odd}n${(nth >> 1).toString(36)}`;
  const code = CODES[nth] ?? (nth % 2 === 0 ? word : word.toUpperCase());
  const attack = ATTACKS[nth % ATTACKS.length] ?? "";
  const scheme = nth % 7 === 0 ? "http" : "https";
  const start = `${scheme}://example.com/${nth}?q=`;
  const target = nth % 50 === 49 ? start.padEnd(2000, attack) : start + attack;
  return { code: code.normalize("NFC").replaceAll("\uFE0F", ""), target };
});

export async function createStoreWith(path: string, links: readonly ShortLink[]): Promise<void> {
  const store = await openStore({ engine: "sqlite", path });
  const areInserted = await store.insert(
    links.map(({ code, target, endsMs = NEVER_MS }) =>
      newLink(code, { originalUrl: target, target: target as Target, endsMs }),
    ),
  );
  expect(areInserted).not.toContain(false);
  await store.close();
}

/** The paths by which visitors may ask for a code. */
export function pathsOf(code: string): string[] {
  const spellings = new Set([code, code.normalize("NFD"), code.replaceAll(/[❤☺©]/gu, "$&\uFE0F")]);
  return [...spellings].flatMap((spelling) => {
    const upper = encodeURIComponent(spelling);
    const lower = upper.replaceAll(/%../g, (escape) => escape.toLowerCase());
    return [...new Set([upper, lower])].flatMap((path) => [`/${path}`, `/${path}/`]);
  });
}

/** Paths of no link, although some are close to one. */
const MISSES: readonly string[] = [
  ...LINKS.flatMap(({ code }) => [code.toUpperCase(), code.toLowerCase()])
    .filter((code) => !LINKS.some((link) => link.code === code.normalize("NFC")))
    .map((code) => `/${encodeURIComponent(code)}`),
  "/",
  "/nothing",
  "/abc/abc",
  "/abc%20",
  "/abc%09https://evil.example/%09",
  "/x%09/x%09https:%2f%2fevil.example",
  "/a%0Aabc",
  "/%7Bpath%7D",
  "/_redirects",
  "/nginx.conf",
  "/$uri",
];

/** How a server answers a path. */
export type Ask = (path: string) => Promise<{ readonly status: number; readonly location: string | null }>;

export function askAt(origin: string, host?: string): Ask {
  return async (path) => {
    const headers = host === undefined ? {} : { Host: host };
    const response = await fetch(origin + path, { redirect: "manual", headers });
    await response.arrayBuffer();
    return { status: response.status, location: response.headers.get("location") };
  };
}

interface Comparison {
  readonly links?: readonly ShortLink[];
  /** The codes that the format leaves out. */
  readonly without?: ReadonlySet<string>;
}

/** Compares every path of every link, and all misses, with those of Curt. */
export async function expectSame(curt: Ask, server: Ask, comparison: Comparison = {}): Promise<void> {
  const { links = LINKS, without = new Set() } = comparison;
  const wrong: unknown[] = [];
  for (const { code, target } of links)
    for (const path of pathsOf(code)) {
      const [expected, actual] = await Promise.all([curt(path), server(path)]);
      if (expected.location !== target) wrong.push({ path, expected });
      const wanted = without.has(code) ? { status: 404, location: null } : { status: 302, location: target };
      if (!Bun.deepEquals(actual, wanted)) wrong.push({ path, wanted, actual });
    }
  for (const path of MISSES.slice(0, links.length).concat(MISSES.slice(-20))) {
    const [expected, actual] = await Promise.all([curt(path), server(path)]);
    if (expected.location !== null || actual.location !== null || actual.status !== 404)
      wrong.push({ path, expected, actual });
  }
  expect(wrong.slice(0, 5)).toEqual([]);
}
