import { closeSync, fstatSync, openSync, readSync } from "node:fs";

import {
  COUNTER_WORDS,
  DETAIL_WORDS,
  Head,
  HEAD_WORDS,
  journalOf,
  type Kind,
  KINDS,
  NAME_HEAD_BYTES,
  layoutOf,
} from "./segment.ts";

/** What a segment counted of one link. */
export interface LinkVisits {
  readonly link: string;
  readonly visits: number;
  readonly bots: number;
  /** The visits that are told in detail: at most `visits` of them. */
  readonly details: readonly ReadDetail[];
}

/** What a visit was made with, as `recorder.ts` names it. */
interface AgentName {
  readonly browser: string;
  readonly os: string;
  readonly device: string;
}

/** `times` the same in a row. */
interface ReadDetail {
  readonly agent: AgentName;
  readonly referrer: string;
  readonly language: string;
  readonly country: string;
  readonly visitor: number;
  times: number;
}

export interface SegmentVisits {
  readonly journal: string;
  readonly sequence: number;
  readonly hour: number;
  /** How many links there are, in the order of their names: a store's pages are then touched in one run. */
  readonly length: number;
  at(nth: number): LinkVisits;
}

/** Reads a segment that nobody writes to any more. */
export function readSegment(path: string): SegmentVisits {
  const { head, counters, details, names } = readParts(path);
  const texts = readNames(names);
  const links = texts.link;
  const agents = texts.agent.map(readAgentName);
  const order = links.map((_, place) => place).toSorted((a, b) => compare(links[a] ?? "", links[b] ?? ""));
  const { starts, byLink } = groupByLink(details, head[Head.usedDetails] ?? 0, links.length);

  function detailsOf(place: number): ReadDetail[] {
    const found: ReadDetail[] = [];
    let same = -1;
    for (let nth = starts[place] ?? 0; nth < (starts[place + 1] ?? 0); nth++) {
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
        times: 1,
      });
    }
    return found;
  }

  return {
    journal: journalOf(head),
    sequence: head[Head.sequence] ?? 0,
    hour: head[Head.hour] ?? 0,
    length: links.length,
    at(nth) {
      const place = order[nth] ?? 0;
      const at = place * COUNTER_WORDS;
      return {
        link: links[place] ?? "",
        visits: counters[at] ?? 0,
        bots: counters[at + 1] ?? 0,
        details: detailsOf(place),
      };
    },
  };
}

const UNKNOWN_AGENT = readAgentName("");

function readAgentName(name: string): AgentName {
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
    details[a + 3] === details[b + 3]
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

function readNames(names: Uint8Array): Record<Kind, string[]> {
  const texts: Record<Kind, string[]> = { link: [], agent: [], referrer: [], language: [], country: [] };
  const decoder = new TextDecoder();
  for (let at = 0; at + NAME_HEAD_BYTES <= names.length;) {
    const kind = KINDS[names[at] ?? 0];
    const length = (names[at + 1] ?? 0) | ((names[at + 2] ?? 0) << 8);
    at += NAME_HEAD_BYTES;
    if (kind !== undefined) texts[kind].push(decoder.decode(names.subarray(at, at + length)));
    at += length;
  }
  return texts;
}

/** A counting sort: details in the order of their links, `starts[place]` where each link's begin. */
function groupByLink(details: Uint32Array, used: number, links: number) {
  const starts = new Uint32Array(links + 1);
  const linkOf = (nth: number) => Math.min(details[nth * DETAIL_WORDS] ?? 0, links - 1);
  for (let nth = 0; nth < used; nth++) starts[linkOf(nth) + 1] = (starts[linkOf(nth) + 1] ?? 0) + 1;
  for (let place = 0; place < links; place++)
    starts[place + 1] = (starts[place + 1] ?? 0) + (starts[place] ?? 0);
  const next = starts.slice();
  const byLink = new Uint32Array(used);
  for (let nth = 0; nth < used; nth++) {
    const at = next[linkOf(nth)] ?? 0;
    byLink[at] = nth;
    next[linkOf(nth)] = at + 1;
  }
  return { starts, byLink };
}
