import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { MAX_LINKS } from "../../client/batch.ts";
import { NUMBERS, STATED, writeFigures } from "../../scripts/figures.ts";
import { MAX_BATCH } from "../../src/api/create-batch.ts";
import { SETTINGS } from "../../src/config/settings.ts";
import { ROOT } from "../support/service.ts";

const GENERATED = ["docs/bounds.md"];
const PAGES = [
  "README.md",
  "SECURITY.md",
  "client/README.md",
  "docs/openapi.json",
  ...readdirSync(join(ROOT, "docs"))
    .filter((file) => file.endsWith(".md"))
    .map((file) => `docs/${file}`),
].filter((page) => !GENERATED.includes(page));

/** Figures that state no limit of the code: facts about others, examples, promises, and results of measurements. */
const OTHERS: Readonly<Record<string, readonly (string | RegExp)[]>> = {
  "README.md": [
    "10 a day",
    "According to the others' sources in 2026",
    /takes 2.1 times the CPU .*? \(`\w+`/,
  ],
  "SECURITY.md": ["within three days"],
  // test/client/package.test.ts measures it.
  "client/README.md": ["and 5.5 kB"],
  "docs/README.md": ["Leave in five minutes"],
  "docs/admin.md": ["here 60", "Among 10 million links, a whole search takes about ten seconds"],
  "docs/api.md": ["at least 12 months later", "Until Curt 1.0", "From 1.0 on"],
  "docs/openapi.json": [
    "counts once a day per link",
    "ISO/IEC 18004 requires 4",
    "about 7% (`l`), 15% (`m`), 25% (`q`) or 30% (`h`)",
    "9999-12-31T00:00:00.000Z",
    "A person who visits on two days",
    "A timestamp, a date or a month",
  ],
  "docs/backup.md": [
    "lose seconds | Litestream, beside one of these | the last seconds",
    "on port 3001",
    "elsewhere about once a second",
    "A lost disk costs the last seconds",
    "Litestream copies a mistake a second later",
  ],
  "docs/cli.md": ["- 137: killed", "- 143, 130: SIGTERM or SIGINT"],
  // A migration's view says so, and never changes.
  "docs/events.md": ["recording ends within a day"],
  "docs/export-format.md": ["each hour (0 to 23, UTC)", "A figure of a day"],
  // test/project/install.test.ts compares the user.
  "docs/install.md": [
    "ports 80 and 443",
    "steps 1 to 3",
    "user 65532",
    "on a fresh Debian 12",
    "listens on port 3000, published as 8300",
    "10 million links took 1.45 GB of disk",
  ],
  "docs/links.md": ["visits on two days", "off by half an hour, such an hour"],
  // That of docs/alerts.yml.
  "docs/monitoring.md": ["Above 0.1 s for minutes"],
  "docs/faq.md": ["hashes for a day only"],
  "docs/ending.md": [
    "Leave in five minutes",
    "one million needs 600 MB",
    "up to about 100,000 links, at 4 KB of memory per link",
    "Cloudflare Pages reads 2,000 rules, two or more per link",
  ],
  "docs/moving.md": ["Visits of the last second are then missing"],
  "docs/overload.md": [
    /A process starts with .*? Peak observed: \d+ MB/,
    "for up to a tenth of a second at a time",
  ],
  "docs/postgresql.md": [
    "With PostgreSQL 15 or newer",
    "over 10,000 creates per second",
    "above 10 × 4 × (8 + 2) = 400",
    "kill 30 s after that at the earliest",
    "creates paused for 23 to 26 s",
    "usually takes half a minute to two",
    /## Sizes .*/,
  ],
  "docs/privacy.md": ["Each number of a day", "instead of 50 %", "thirty visits on a day stand out"],
  "docs/protecting.md": [
    "`30/1m` allows 30 immediately, then one every two seconds",
    "Each reporter counts once a day",
    "one home often has 256 networks",
    "in five days",
    /In each process, a million hosts take .*? \(at \w+\)/,
    "with mode 0600 and folders with 0700",
  ],
  "docs/proxies.md": ["For a year, browsers then refuse", "may serve the same redirect for a minute"],
  // Bun's limits.
  "docs/running.md": ["accepts 16 KB of headers", "A client has 12 s to send the headers"],
  // docs.test.ts compares its tables with the code.
  "docs/settings.md": [/\| Name .*/],
  "docs/troubleshooting.md": ["ports below 1024"],
  "docs/upgrading.md": ["Under thousands of new connections per second", "From 1.0 on"],
};

/** Of JSON, only what people read. */
function proseOf(page: string, source: string): string {
  if (!page.endsWith(".json")) return source;
  const texts: string[] = [];
  JSON.parse(source, (name, value: unknown) => {
    if ((name === "description" || name === "summary") && typeof value === "string") texts.push(value);
    return value;
  });
  return texts.join("\n");
}

/** The text without addresses of links, and where `prose` has spaces instead of code and of numbers of standards. */
function readPage(page: string): { text: string; prose: string } {
  const text = proseOf(page, readFileSync(join(ROOT, page), "utf8"))
    .replace(/<!--[^]*?-->/g, "")
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll("**", "")
    .replace(/\s+/g, " ");
  const blank = (part: string) => " ".repeat(part.length);
  const prose = text
    .replace(/```.*?```/g, blank)
    .replace(/`[^`]*`/g, blank)
    .replace(/<code>.*?<\/code>/g, blank)
    .replace(
      /\b(?:RFC|section|ISO|HTTP|OpenAPI|draft-[\w-]+|[Vv]ersion|SQLite|Linux|Decision|PDF|OSC) \d[\d.]*/g,
      blank,
    );
  return { text, prose };
}

const UNIT = "seconds?|minutes?|hours?|days?|weeks?|months?|years?";
const NUMBER = `half an?|${NUMBERS.slice(2).filter(Boolean).join("|")}|thirty|hundreds?|thousands?`;
/** Numbers of two digits or with a unit, times in words, and other numbers in words that limit something. No status codes. */
const FIGURE = new RegExp(
  [
    `\\b(?:an?|${NUMBER}) (?:${UNIT})\\b(?! link)`,
    `\\blast (?:seconds?|minute)\\b`,
    `\\b(?:${NUMBER}) (?:times|as many|attempts|windows|similar|codes|wrong|visits|million)\\b`,
    `\\b(?:at most|up to|at least|fewer than|more than) (?:${NUMBER})\\b`,
    `(?<![\\w./:+-])\\d[\\d.,]* ?(?:%|(?:[mµ]?s|min|[kKMGT]i?B|bytes|bits|characters|${UNIT})\\b)`,
    `\\b(?:at most|up to|at least|over|under|below|above|beyond|default|to) \\d`,
    `(?<![\\w./:+-])(?![2-5]\\d\\d\\b)\\d[\\d,.]*\\d(?![\\w/])`,
  ].join("|"),
  "g",
);

describe("a figure in the documents", () => {
  for (const [page, sentences] of Object.entries(STATED)) {
    test(`matches the code in ${page}`, () => {
      const { text: read } = readPage(page);
      // If this fails, run `npm run reference`, or correct the sentence in scripts/figures.ts.
      expect(sentences.filter(({ text }) => !read.includes(text)).map(({ text }) => text)).toEqual([]);
    });
  }

  test("of a setting matches the setting's format", () => {
    for (const { name, meaning, takes } of Object.values(SETTINGS)) {
      for (const [range, from, to] of meaning.matchAll(/(\d+d?) to (\d+d?)/g))
        expect([range, takes.right], name).toEqual([range, expect.stringContaining(`from ${from} to ${to}`)]);
      for (const [, part = ""] of meaning.matchAll(/(secret of \d+|at most \d+ KiB)/g))
        expect([name, takes.right]).toEqual([name, expect.stringContaining(part)]);
    }
  });

  test("is compared with the code, or listed as none of its limits", () => {
    const unknown = PAGES.flatMap((page) => {
      const { text, prose } = readPage(page);
      const isKnown = new Uint8Array(text.length);
      for (const part of [...(STATED[page] ?? []).map((one) => one.text), ...(OTHERS[page] ?? [])]) {
        const places = [
          ...text.matchAll(new RegExp(part instanceof RegExp ? part : RegExp.escape(part), "g")),
        ];
        expect([page, part, places.length]).not.toEqual([page, part, 0]);
        for (const { index, 0: found } of places) isKnown.fill(1, index, index + found.length);
      }
      return [...prose.matchAll(FIGURE)]
        .filter(({ index }) => isKnown[index] === 0)
        .map(
          ({ index, 0: figure }) =>
            `${page}: …${text.slice(Math.max(0, index - 40), index + figure.length + 30)}…`,
        );
    });
    expect(unknown).toEqual([]);
  });
});

test("a figure that has changed is written into the documents by `npm run reference`", () => {
  const text = readFileSync(join(ROOT, "docs/events.md"), "utf8");
  const former = text
    .replace("up to 100 CloudEvents", "up to 99\nCloudEvents")
    .replace("after 1 min, 2 min", "after 3 min, 4 min");
  expect(former).not.toBe(text);
  expect(writeFigures(former, STATED["docs/events.md"] ?? []).replace("100\nCloud", "100 Cloud")).toBe(text);
});

test("@curt/client sends as many links per batch as the service accepts", () => {
  expect(MAX_LINKS).toBe(MAX_BATCH);
});
