import { describe, expect, test } from "bun:test";

import { readBlocks } from "../../src/moving/lines.ts";
import type { SourceItem } from "../../src/moving/source.ts";
import { SOURCES } from "../../src/moving/sources.ts";

const TABLES =
  "CREATE TABLE `u` (`keyword` text, `url` text, `timestamp` text, `clicks` int, KEY `k` (`url`(30)));\r\n";
/** What may be torn apart: doubled quotes, escapes, comments, multi-byte characters and ends of lines. */
const FILES: readonly (readonly [source: string, file: string, items: number])[] = [
  [
    "yourls",
    `\uFEFF/* a */ -- MySQL dump\n# ;'\n${TABLES}INSERT INTO \`u\` VALUES ('a','https://x/''\\'é😀','2024-01-01 00:00:00',12),('b',x'41',NULL,-1);-- '\nINSERT IGNORE INTO \`u\` (clicks,url,keyword) VALUES (3,'https://x/','c')\n;\n-- Dump completed`,
    3,
  ],
  [
    "kutt",
    `-- PostgreSQL database dump\nSELECT $a$';$a$, E'\\'';\nCOPY public.links (id, address, target, domain_id, visit_count, created_at) FROM stdin;\n1\ta\\\\\\tb\thttps://x/\t\\N\t1\t2024-01-01\r\n2\té😀\thttps://y/\t\\N\t2\t2024-01-01\n\\.\nCOPY public."visits" (link_id, total, created_at) FROM stdin;\n1\t3\t2024-01-01\n\\.\n-- PostgreSQL database dump complete\n`,
    3,
  ],
  [
    "shlink",
    `{"visits":{"data":[]}} \n{"shortUrls":{"data":[{"shortCode":"é","shortUrl":"https://x/é","longUrl":"https://x/\\"}\\\\"},{"shortCode":1}]}}`,
    2,
  ],
  ["sink", '[{"slug":"a","url":"https://x/\\u00e9","a":[{"b":"}"}]}]\n[]', 1],
  ["csv", '\uFEFFcode,url\r\na,"https://x/""é😀"""\r\n"b",https://x/\r\n\r\n"c\r\n",""', 3],
  ["csv", "\n\n_______________code;url\na;https://x/,\nb;https://y/", 2],
  [
    "kutt",
    `-- PostgreSQL database dump\nCREATE TABLE "a"."links" (id int, address text, target text, domain_id int, visit_count int);\nINSERT INTO "a"."links" VALUES (1, 'a\\', 'https://x/', NULL, 1);\n-- PostgreSQL database dump complete\n`,
    1,
  ],
  ["bitly", "link,long_url\nx.example/é,https://x/\nx.example/b,https://x/", 2],
];

async function itemsOf(source: string, file: string, size: number): Promise<SourceItem[]> {
  const all = new TextEncoder().encode(file);
  async function* bytes() {
    for (let at = 0; at < all.length; at += size) yield all.subarray(at, at + size);
  }
  const items: SourceItem[] = [];
  for await (const item of SOURCES[source]?.read({ path: undefined, bytes }) ?? []) items.push(item);
  return items;
}

async function mistakeOf(source: string, file: string): Promise<string> {
  return itemsOf(source, file, 65_536).then(
    () => "none",
    (error: Error) => error.message,
  );
}

test("a line of an export that is too long is one line, and its end is none", async () => {
  const long = "x".repeat(4_200_000);
  async function* bytes() {
    for (const chunk of [`a\n${long}`, long, long, '{"kind":"end"}\nb\n', "c"]) yield Buffer.from(chunk);
  }
  const lines: (string | undefined)[] = [];
  let read = "";
  for await (const { lines: some, sha256 } of readBlocks(bytes())) {
    lines.push(...some);
    read = sha256;
  }
  expect(lines).toEqual(["a", undefined, "b", "c"]);
  const beforeLast = `a\n${long.repeat(3)}{"kind":"end"}\nb\n`;
  expect(read).toBe(new Bun.CryptoHasher("sha256").update(beforeLast).digest("hex"));
});

describe("a file of another shortener", () => {
  for (const [source, file, count] of FILES)
    test(`is read alike however it is cut into pieces (${source})`, async () => {
      const items = await itemsOf(source, file, file.length * 4);
      expect(items).toHaveLength(count);
      expect(JSON.stringify(items)).not.toContain("\uFFFD");
      for (const size of [1, 2, 3, 5, 7, 11, 64]) expect(await itemsOf(source, file, size)).toEqual(items);
    });

  test("is refused if one of its rows would fill the memory", async () => {
    const long = "x".repeat(5_000_000);
    for (const [source, file] of [
      ["yourls", `${TABLES}INSERT INTO u VALUES ('${long}`],
      ["csv", `code,url\n"${long}`],
      ["sink", `{"links":[{"slug":"${long}`],
    ] as const)
      expect(await mistakeOf(source, file)).toContain("has a row of more than 4 million characters");
    expect(await mistakeOf("sink", "[".repeat(1000))).toContain("is no JSON");
  });
});
