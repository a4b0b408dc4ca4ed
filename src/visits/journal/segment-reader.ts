import { closeSync, fstatSync, openSync, readSync } from "node:fs";

import type { LinkKey } from "../../links/code.ts";
import type { HourVisits, SameVisits } from "../days/day.ts";
import type { Traits } from "../days/dimensions.ts";
import {
  COUNTER_WORDS,
  DETAIL_WORDS,
  Head,
  HEAD_WORDS,
  TABLES,
  layoutOf,
  NAME_HEAD_BYTES,
  sourceOf,
  VISIT_TABLES,
  VISITOR_WORD,
  type VisitTable,
} from "./segment-layout.ts";

/** The visits of one link. */
interface LinkVisits extends HourVisits {
  readonly code: LinkKey;
  readonly createdMs: number;
}

export interface SegmentVisits {
  readonly source: string;
  readonly sequence: number;
  readonly hour: number;
  /** The number of links. They are in the order of their names, so that a store touches its pages in one run. */
  readonly length: number;
  at(nth: number): LinkVisits;
}

/** Reads a segment that nobody writes to any more. Throws if it is damaged. */
export function readSegment(path: string): SegmentVisits {
  const { head, counters, details, names } = readParts(path);
  const { texts, links: named } = readNames(names, counters.length / COUNTER_WORDS);
  const agents = texts.agent.map(parseAgent);
  const { links, linkAt } = sortLinks(names, named);
  const sums = new Uint32Array(links.length * COUNTER_WORDS);
  linkAt.forEach((link, place) => {
    for (let word = 0; word < COUNTER_WORDS; word++) {
      const at = link * COUNTER_WORDS + word;
      sums[at] = (sums[at] ?? 0) + (counters[place * COUNTER_WORDS + word] ?? 0);
    }
  });
  const { starts, byLink } = groupByLink(details, linkAt, links.length);

  function traitsAt(at: number): Traits {
    const traits: Partial<Record<VisitTable, Traits[VisitTable]>> = {};
    for (let nth = 0; nth < VISIT_TABLES.length; nth++) {
      const table = VISIT_TABLES[nth] as VisitTable;
      const word = details[at + 1 + (nth >> 1)] ?? 0;
      const place = nth % 2 === 0 ? word >>> 16 : word & 0xffff;
      traits[table] = table === "agent" ? (agents[place] ?? UNKNOWN_AGENT) : (texts[table][place] ?? "");
    }
    return traits as Traits;
  }

  function detailsOf(link: number): SameVisits[] {
    const groups: (SameVisits & { times: number })[] = [];
    let groupAt = -1;
    for (let nth = starts[link] ?? 0; nth < (starts[link + 1] ?? 0); nth++) {
      const at = (byLink[nth] ?? 0) * DETAIL_WORDS;
      const last = groups.at(-1);
      if (last !== undefined && isSame(details, groupAt, at)) {
        last.times++;
        continue;
      }
      groupAt = at;
      groups.push({
        ...traitsAt(at),
        visitor: details[at + VISITOR_WORD] ?? 0,
        times: 1,
      });
    }
    return groups;
  }

  return {
    source: sourceOf(head),
    sequence: head[Head.sequence] ?? 0,
    hour: head[Head.hour] ?? 0,
    length: links.length,
    at: (nth) => ({
      ...readLinkName(names, links[nth] ?? 0),
      visits: sums[nth * COUNTER_WORDS] ?? 0,
      bots: sums[nth * COUNTER_WORDS + 1] ?? 0,
      details: detailsOf(nth),
    }),
  };
}

/**
 * Returns the start of each link's name, sorted and without duplicates, and the link of each place. A link has several
 * places if a redirect forgot it and looked it up again. Names stay bytes, because 131,072 strings take 20 MB.
 */
function sortLinks(names: Buffer, named: Uint32Array): { links: Uint32Array; linkAt: Uint32Array } {
  const places = Uint32Array.from(named, (_, place) => place);
  places.sort((a, b) => compareNames(names, named[a] ?? 0, named[b] ?? 0));
  const links = new Uint32Array(named.length);
  const linkAt = new Uint32Array(named.length);
  let length = 0;
  for (const place of places) {
    const name = named[place] ?? 0;
    if (length === 0 || compareNames(names, name, links[length - 1] ?? 0) !== 0) {
      checkLinkName(names, name);
      links[length++] = name;
    }
    linkAt[place] = length - 1;
  }
  return { links: links.subarray(0, length), linkAt };
}

/** Compares bytes, as the store does. `a` and `b` are the starts of the names. */
function compareNames(names: Buffer, a: number, b: number): number {
  const [endA, endB] = [endOf(names, a), endOf(names, b)];
  const length = Math.min(endA - a, endB - b);
  for (let nth = 0; nth < length; nth++) {
    const difference = (names[a + nth] ?? 0) - (names[b + nth] ?? 0);
    if (difference !== 0) return difference;
  }
  return endA - a - (endB - b);
}

/** The two bytes before a name are its length. */
function endOf(names: Uint8Array, name: number): number {
  return name + ((names[name - 2] ?? 0) | ((names[name - 1] ?? 0) << 8));
}

const TAB = 0x09;
const ZERO = 0x30;

/**
 * Throws unless it is a code, a tab and the time in digits. Creates no objects, because there are many names. The code may be an
 * imported one with tabs, and must not cost all visits of the segment.
 */
function checkLinkName(names: Buffer, name: number): void {
  const end = endOf(names, name);
  let at = names.lastIndexOf(TAB, end - 1);
  const isCode = at > name;
  let createdMs = at + 1 < end ? 0 : Number.NaN;
  while (++at < end) {
    const digit = (names[at] ?? 0) - ZERO;
    createdMs = digit >= 0 && digit <= 9 ? createdMs * 10 + digit : Number.NaN;
  }
  if (!isCode || !Number.isSafeInteger(createdMs))
    throw new Error(`"${names.toString("utf8", name, end)}" names no link`);
}

/** Takes a name that {@link checkLinkName} accepted. */
function readLinkName(names: Buffer, name: number): Pick<LinkVisits, "code" | "createdMs"> {
  const end = endOf(names, name);
  const tab = names.lastIndexOf(TAB, end - 1);
  return {
    code: names.toString("utf8", name, tab) as LinkKey,
    createdMs: Number(names.toString("latin1", tab + 1, end)),
  };
}

const UNKNOWN_AGENT = parseAgent("");

function parseAgent(name: string): Traits["agent"] {
  const [browser = "", os = "", device = ""] = name.split("\t");
  return { browser, os, device };
}

/** Whether two details have everything in common but the link. */
function isSame(details: Uint32Array, a: number, b: number): boolean {
  for (let word = 1; word < DETAIL_WORDS; word++) if (details[a + word] !== details[b + word]) return false;
  return true;
}

/** Reads only the filled parts: a large segment may hold little. */
function readParts(path: string) {
  const file = openSync(path, "r");
  const read = (start: number, length: number): Buffer<ArrayBuffer> => {
    const bytes = Buffer.alloc(length);
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

/** Returns the starts of the links' names, and the other names as texts. */
function readNames(names: Buffer, maxLinks: number) {
  const texts = Object.fromEntries(
    VISIT_TABLES.map((table): [VisitTable, string[]] => [table, []]),
  ) as Record<VisitTable, string[]>;
  const links = new Uint32Array(maxLinks);
  let length = 0;
  for (let at = 0; at + NAME_HEAD_BYTES <= names.length;) {
    const table = TABLES[names[at] ?? 0];
    at += NAME_HEAD_BYTES;
    const end = endOf(names, at);
    if (table === "link") links[length++] = at;
    else if (table !== undefined) texts[table].push(names.toString("utf8", at, end));
    at = end;
  }
  return { texts, links: links.subarray(0, length) };
}

/** A counting sort: the details by link, and in `starts[link]` where those of a link start. */
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
