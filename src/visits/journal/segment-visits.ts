import { closeSync, fstatSync, openSync, readSync } from "node:fs";

import type { Code } from "../../links/code.ts";
import type { CountedVisits, SameVisits } from "../day.ts";
import {
  COUNTER_WORDS,
  DETAIL_WORDS,
  Head,
  HEAD_WORDS,
  type Table,
  TABLES,
  layoutOf,
  NAME_HEAD_BYTES,
  sourceOf,
} from "./layout.ts";

/** What a segment counted of one link. */
interface LinkVisits extends CountedVisits {
  readonly code: Code;
  readonly createdMs: number;
}

export interface SegmentVisits {
  readonly source: string;
  readonly sequence: number;
  readonly hour: number;
  /** How many links there are, in the order of their names: a store's pages are then touched in one run. */
  readonly length: number;
  at(nth: number): LinkVisits;
}

/** Reads a segment that nobody writes to any more. Throws where it cannot be counted. */
export function readSegment(path: string): SegmentVisits {
  const { head, counters, details, names } = readParts(path);
  const texts = readNames(names);
  const agents = texts.agent.map(readAgentName);
  const { links, linkAt } = sortLinks(texts.link);
  const sums = new Uint32Array(links.length * COUNTER_WORDS);
  linkAt.forEach((link, place) => {
    for (let word = 0; word < COUNTER_WORDS; word++) {
      const at = link * COUNTER_WORDS + word;
      sums[at] = (sums[at] ?? 0) + (counters[place * COUNTER_WORDS + word] ?? 0);
    }
  });
  const { starts, byLink } = groupByLink(details, linkAt, links.length);

  function detailsOf(link: number): SameVisits[] {
    const found: (SameVisits & { times: number })[] = [];
    let same = -1;
    for (let nth = starts[link] ?? 0; nth < (starts[link + 1] ?? 0); nth++) {
      const at = (byLink[nth] ?? 0) * DETAIL_WORDS;
      const last = found.at(-1);
      if (last !== undefined && isSame(details, same, at)) {
        last.times++;
        continue;
      }
      same = at;
      const one = details[at + 1] ?? 0;
      const two = details[at + 2] ?? 0;
      found.push({
        agent: agents[one >>> 16] ?? UNKNOWN_AGENT,
        referrer: texts.referrer[one & 0xffff] ?? "",
        language: texts.language[two >>> 16] ?? "",
        country: texts.country[two & 0xffff] ?? "",
        visitor: details[at + 3] ?? 0,
        network: details[at + 4] ?? 0,
        times: 1,
      });
    }
    return found;
  }

  return {
    source: sourceOf(head),
    sequence: head[Head.sequence] ?? 0,
    hour: head[Head.hour] ?? 0,
    length: links.length,
    at: (nth) => ({
      ...readLinkName(links[nth] ?? ""),
      visits: sums[nth * COUNTER_WORDS] ?? 0,
      bots: sums[nth * COUNTER_WORDS + 1] ?? 0,
      details: detailsOf(nth),
    }),
  };
}

/**
 * The links, sorted, and which of them has each place. One may have several: a redirect that forgot a link and looked
 * it up again names it anew.
 */
function sortLinks(names: readonly string[]): { links: string[]; linkAt: Uint32Array } {
  const places = Uint32Array.from(names, (_, place) => place);
  places.sort((a, b) => compare(names[a] ?? "", names[b] ?? ""));
  const links: string[] = [];
  const linkAt = new Uint32Array(names.length);
  for (const place of places) {
    const name = names[place] ?? "";
    if (name !== links.at(-1)) links.push(name);
    linkAt[place] = links.length - 1;
  }
  links.forEach(readLinkName);
  return { links, linkAt };
}

/** Throws where the name is none. */
function readLinkName(name: string): Pick<LinkVisits, "code" | "createdMs"> {
  const [, code, createdMs] = /^([^\t\n]+)\t(\d+)$/.exec(name) ?? [];
  if (code === undefined || !Number.isSafeInteger(Number(createdMs)))
    throw new Error(`"${name}" names no link`);
  return { code: code as Code, createdMs: Number(createdMs) };
}

const UNKNOWN_AGENT = readAgentName("");

function readAgentName(name: string): SameVisits["agent"] {
  const [browser = "", os = "", device = ""] = name.split("\t");
  return { browser, os, device };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function isSame(details: Uint32Array, a: number, b: number): boolean {
  return (
    details[a + 1] === details[b + 1] &&
    details[a + 2] === details[b + 2] &&
    details[a + 3] === details[b + 3] &&
    details[a + 4] === details[b + 4]
  );
}

/** Only as far as they are filled: a segment may be large and hold little. */
function readParts(path: string) {
  const file = openSync(path, "r");
  const read = (start: number, length: number): Uint8Array => {
    const bytes = new Uint8Array(length);
    readSync(file, bytes, 0, length, start);
    return bytes;
  };
  const words = (start: number, length: number) => new Uint32Array(read(start, 4 * length).buffer);
  try {
    const head = words(0, HEAD_WORDS);
    const { capacity, countersAt, detailsAt, namesAt } = layoutOf(path, head, fstatSync(file).size);
    return {
      head,
      counters: words(countersAt, COUNTER_WORDS * capacity.links),
      details: words(detailsAt, DETAIL_WORDS * (head[Head.usedDetails] ?? 0)),
      names: read(namesAt, head[Head.usedNameBytes] ?? 0),
    };
  } finally {
    closeSync(file);
  }
}

function readNames(names: Uint8Array): Record<Table, string[]> {
  const texts: Record<Table, string[]> = { link: [], agent: [], referrer: [], language: [], country: [] };
  const decoder = new TextDecoder();
  for (let at = 0; at + NAME_HEAD_BYTES <= names.length;) {
    const table = TABLES[names[at] ?? 0];
    const length = (names[at + 1] ?? 0) | ((names[at + 2] ?? 0) << 8);
    at += NAME_HEAD_BYTES;
    if (table !== undefined) texts[table].push(decoder.decode(names.subarray(at, at + length)));
    at += length;
  }
  return texts;
}

/** A counting sort: details in the order of their links, `starts[link]` where each link's begin. */
function groupByLink(details: Uint32Array, linkAt: Uint32Array, links: number) {
  const used = details.length / DETAIL_WORDS;
  const starts = new Uint32Array(links + 1);
  const linkOf = (nth: number) => linkAt[details[nth * DETAIL_WORDS] ?? 0] ?? links - 1;
  for (let nth = 0; nth < used; nth++) starts[linkOf(nth) + 1] = (starts[linkOf(nth) + 1] ?? 0) + 1;
  for (let link = 0; link < links; link++) starts[link + 1] = (starts[link + 1] ?? 0) + (starts[link] ?? 0);
  const next = starts.slice();
  const byLink = new Uint32Array(used);
  for (let nth = 0; nth < used; nth++) {
    const at = next[linkOf(nth)] ?? 0;
    byLink[at] = nth;
    next[linkOf(nth)] = at + 1;
  }
  return { starts, byLink };
}
