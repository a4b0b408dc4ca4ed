import { describe, test } from "bun:test";

import { moveIn, refuse } from "./moved.ts";

interface ShortUrl {
  readonly domain?: string;
  readonly visits?: readonly [nonBots: number, bots: number];
  readonly meta?: object;
}

function shortUrl(
  shortCode: string,
  { domain = "s.example", visits: [nonBots, bots] = [0, 0], meta = {} }: ShortUrl,
) {
  return {
    shortCode,
    shortUrl: `https://${domain}/${encodeURIComponent(shortCode)}`,
    longUrl: `https://example.com/${domain}/"quoted"`,
    dateCreated: "2024-01-31T14:34:56+02:00",
    visitsSummary: { total: nonBots + bots, nonBots, bots },
    tags: ["{", "]"],
    meta: { validSince: null, validUntil: null, maxVisits: null, ...meta },
    domain: domain === "s.example" ? null : domain,
    title: 'A "title" with \\ and }',
  };
}

const page = (currentPage: number, data: readonly object[]) =>
  JSON.stringify({ shortUrls: { data, pagination: { currentPage, pagesCount: 2 } } }, null, 2);
const visit = (visitedUrl: string, date: string, potentialBot = false) => ({
  referer: "",
  date,
  userAgent: "}",
  visitLocation: null,
  potentialBot,
  visitedUrl,
});

const FIRST = page(1, [
  shortUrl("abc", { visits: [3, 2] }),
  shortUrl("over", { meta: { validUntil: "2024-06-01T00:00:00+00:00" } }),
]);
const SECOND = page(2, [
  shortUrl("ABC", { meta: { validSince: "2199-01-01T00:00:00+00:00" } }),
  shortUrl("used", { visits: [1, 1], meta: { maxVisits: 2 } }),
  shortUrl("left", { visits: [1, 0], meta: { maxVisits: 2 } }),
  shortUrl("a/b", {}),
  shortUrl("", {}),
]);
const LEADS = "https://example.com/s.example/%22quoted%22";
/** The rows that are left out come after so many others. */
const moved = (others: number) => ({
  links: {
    abc: { leads: LEADS, created: "2024-01-31T12:34:56.000Z", visits: 3, bots: 2 },
    over: { leads: 404, ends: "2024-06-01T00:00:00.000Z" },
    ABC: { leads: 404 },
    used: { leads: 410, visits: 1, bots: 1 },
    left: { leads: LEADS, visits: 1 },
  },
  left: {
    "it has no code": [`object ${others + 7}`],
    "code: A character is not allowed: use letters, marks and numbers of any script, -, _ and emoji.": [
      `object ${others + 6}: a/b (/ (U+002F))`,
    ],
  },
});

describe("curt import --from shlink", () => {
  test("takes pages of the API one after the other: expired, used up and limited links", () =>
    moveIn("shlink", `${FIRST}\r\n${SECOND}`, moved(0)));

  test("takes pages of visits, too, and counts them by day", () => {
    const data = [
      visit("https://s.example/abc?utm=1", "2024-02-29T23:59:59+00:00"),
      visit("http://s.example/abc", "2024-03-01T00:30:00+01:00"),
      visit("https://s.example/abc", "2024-03-01T00:30:00+00:00", true),
      visit("https://s.example/gone", "2024-03-01T00:30:00+00:00"),
    ];
    const visits = JSON.stringify({ visits: { data, pagination: {} } });
    const expected = moved(data.length);
    const abc = { ...expected.links.abc, days: { "2024-02-29": 2, "2024-03-01": 0 } };
    return moveIn("shlink", `${visits}${FIRST}${SECOND}`, { ...expected, links: { ...expected.links, abc } });
  });

  test("takes the CSV file of the web client, and one domain of several", async () => {
    const header = "createdAt,domain,shortCode,shortUrl,longUrl,title,tags,visits";
    const rows = [
      '2024-01-31T12:34:56+00:00,s.example,abc,https://s.example/abc,"https://example.com/a?b=""c"",d","Two\nlines",a|b,5',
      "2024-01-31T12:34:56+00:00,t.example,abc,https://t.example/abc,https://example.com/t,,,0",
    ];
    const csv = `${[header, ...rows].join("\r\n")}\r\n`;
    await refuse("shlink", csv, "Choose one with --domain: s.example (1), t.example (1).");
    await moveIn("shlink", csv, {
      links: { abc: { leads: "https://example.com/a?b=%22c%22,d", visits: 5 } },
      left: { "it is of another domain": ["line 4: abc"] },
      options: ["--domain", "s.example"],
    });
  });

  test("refuses what is no such file, or not all of it", async () => {
    const how = "Curt reads pages of GET /rest/v3/short-urls";
    await refuse("shlink", FIRST, "has no page 2 of 2", how);
    await refuse("shlink", `${SECOND}${SECOND}`, "has no page 1 of 2", how);
    await refuse("shlink", FIRST.slice(0, -20), "is cut off", how);
    await refuse("shlink", FIRST.slice(0, 300), "is cut off in object 1", how);
    await refuse("shlink", '{"type":"INVALID_API_KEY","detail":"x"}', "has no list shortUrls.data", how);
    await refuse("shlink", "a,b\n1,2\n", "has no column createdAt", how);
    await refuse("shlink", FIRST.replace('"meta": {', '"meta": '), "is ", how);
  });
});
