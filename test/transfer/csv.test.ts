import { describe, expect, test } from "bun:test";
import { join } from "node:path";

import { runCommand } from "../cli/commands.ts";
import { temporaryFolder } from "../support/service.ts";
import { expectImported, expectRefused } from "./import-checks.ts";

const ROWS = [
  ["Code", "Title", "Target", "Created", "Expires", "Visits"],
  [
    "abc",
    '"A ""title""\nof two lines"',
    '"https://example.com/?a=""b"",c;d"',
    "2024-01-31T14:34:56+02:00",
    "",
    "5",
  ],
  ["ABC", "", "https://example.com/upper", "2024-01-31", "2199-01-01", ""],
  ["over", "", "https://example.com/over", "1706704496", "2024-06-01 00:00", "0"],
  ["", "", "https://example.com/none", "", "", ""],
  ["abc", "", "https://example.com/twice", "", "", ""],
];
const EXPECTED = {
  links: {
    abc: {
      location: "https://example.com/?a=%22b%22,c;d",
      created: "2024-01-31T12:34:56.000Z",
      title: 'A "title" of two lines',
      visits: 5,
    },
    ABC: { location: "https://example.com/upper", created: "2024-01-31T00:00:00.000Z" },
    over: { location: 404, ends: "2024-06-01T00:00:00.000Z", created: "2024-01-31T12:34:56.000Z" },
  },
  skipped: {
    "code: it is missing": ["line 6"],
    "another link earlier in the file has the same code": ["line 7: abc"],
  },
};
const write = (separator: string, end: string) => ROWS.map((row) => row.join(separator)).join(end);

/** Output of `mysql --batch` of MariaDB 10.11 for a database of YOURLS, with the commands of docs/moving.md. */
const MYSQL_OUTPUT = {
  links:
    "code\ttarget\tcreated\tvisits\n" +
    "ABC\thttps://example.com/back\\\\slash\\ttab\\nline\t2024-01-31 12:34:56\t1\n" +
    "NULL\thttps://example.com/null\t2024-06-01 00:00:00\tNULL\n" +
    "a\\\\b\thttps://example.com/\t2024-01-01 00:00:00\t0\n" +
    'abc\thttps://example.com/it\'s?a="1",2;3&b=%20\t2024-01-31 12:34:56\t7\n' +
    '한\t"https://example.com/한"\t2024-06-01 00:00:00\t0\n' +
    "😀\thttps://example.com/emoji\t0000-00-00 00:00:00\t0\n",
  visits:
    "code\tday\tvisits\n" +
    "ABC\t2024-03-01\t1\nabc\t0000-00-00\t1\nabc\t2024-02-29\t1\nabc\t2024-03-01\t1\ngone\t2024-03-01\t1\n",
};

const NO_LINK = "visits: no link in the file has the code";

describe("curt import of a CSV file", () => {
  test("reads commas, LF and empty lines", () => expectImported(`${write(",", "\n")}\n\n`, EXPECTED));

  test("reads semicolons, CRLF and a byte order mark", () =>
    expectImported(`\uFEFF${write(";", "\r\n")}`, EXPECTED));

  test("leaves out destinations with templates, with all codes of their row", () =>
    expectImported(
      "bitlink,custom bitlinks,url\na,b,https://example.com/{{.User}}\nc,,https://example.com/{x}}\n",
      {
        links: { c: { location: "https://example.com/%7Bx%7D%7D" } },
        skipped: { "its destination has a template in {{ }} that Curt can't fill in": ["line 2: a"] },
      },
    ));

  test("adds visits by day to their links, in any order", () =>
    expectImported("code,url,visits\na,https://example.com/a,10\nb,https://example.com/b,\n", {
      links: {
        a: {
          location: "https://example.com/a",
          created: "2024-02-29T00:00:00.000Z",
          visits: 10,
          days: { "2024-02-29": 3, "2024-03-01": 2 },
        },
        b: { location: "https://example.com/b", visits: 4, days: { "2024-02-29": 4 } },
      },
      visits: [
        "visits,Day,code,country",
        "2,2024-03-01,a,",
        "4,2024-02-29T23:59:59Z,b,DE",
        "1,2024-02-29,a,DE",
        "9,2024-02-29,gone,",
        "2,2024-02-29,a,JP",
      ].join("\n"),
      skipped: { [NO_LINK]: ["line 5 of visits: gone"] },
    }));

  test("accepts addresses in place of codes in tables of visits", () =>
    expectImported("link,target\nhttps://go.example/a%C3%A9,https://example.com/a\n", {
      links: {
        aé: {
          location: "https://example.com/a",
          created: "2024-02-29T00:00:00.000Z",
          visits: 95,
          days: { "2024-02-29": 95 },
        },
      },
      visits:
        "code,day,visits\nhttps://go.example/a%C3%A9,2024-02-29,95\nhttps://other.example/aé,2024-02-29,300\n",
      skipped: {
        "it is of another host than go.example (choose one with --domain)": [
          "line 3 of visits: https://other.example/aé",
        ],
      },
    }));

  test("reads output of mysql --batch with escaped tabs, line breaks and backslashes, bare quotes and NULL", async () => {
    const code =
      "code: A character is not allowed: use letters, marks and numbers of any script, -, _ and emoji.";
    const rest = {
      NULL: { location: "https://example.com/null" },
      abc: {
        location: "https://example.com/it's?a=%221%22,2;3&b=%20",
        created: "2024-01-31T12:34:56.000Z",
        visits: 7,
        days: { "2024-02-29": 1, "2024-03-01": 1 },
      },
      "😀": { location: "https://example.com/emoji" },
    };
    const skipped = {
      [NO_LINK]: ["line 6 of visits: gone"],
      "URL: The control character is not allowed.": ["line 2: ABC (U+0009)"],
      [code]: ["line 4: a\\b (\\ (U+005C))"],
      "URL: It must start with http:// or https://.": ["line 6: 한"],
    };
    await expectImported(MYSQL_OUTPUT.links, { links: rest, skipped, visits: MYSQL_OUTPUT.visits });
    const { [code]: _, ...others } = skipped;
    await expectImported(MYSQL_OUTPUT.links, {
      links: { ...rest, "a\\b": { location: "https://example.com/" } },
      skipped: others,
      visits: MYSQL_OUTPUT.visits,
      options: ["--keep-odd"],
    });
  });

  test("reads exports of Dub, one domain at a time", async () => {
    const csv = [
      "Short link,Destination URL,Clicks,Created at,Link ID,Updated at,Tags,Archived",
      '"https://go.example/abc","https://example.com/?a=""b""",12,2024-01-31T12:34:56.789Z,link_1,,"a, b",No',
      "https://other.example/abc,https://example.com/other,1,2024-01-31T12:34:56.789Z,,,,No",
      "https://go.example/,https://example.com/root,0,2024-01-31T12:34:56.789Z,,,,No",
      "https://go.example/%ED%95%9C,https://example.com/han,0,2024-01-31T12:34:56.789Z,,,,No",
    ].join("\n");
    await expectImported(csv, {
      links: {
        abc: { location: "https://example.com/?a=%22b%22", created: "2024-01-31T12:34:56.789Z", visits: 12 },
        한: { location: "https://example.com/han" },
      },
      skipped: {
        "it is of another host than go.example (choose one with --domain)": [
          "line 3: https://other.example/abc",
        ],
        "code: it is missing": ["line 4"],
      },
    });
    await expectImported(csv, {
      links: { abc: { location: "https://example.com/other", visits: 1 } },
      skipped: {
        "it is of another host than other.example (choose one with --domain)": [
          "line 2: https://go.example/abc",
          "line 4: https://go.example/",
          "line 5: https://go.example/%ED%95%9C",
        ],
      },
      options: ["--domain", "Other.example"],
    });
  });

  test("reads exports of Bitly, with both codes of a link", () =>
    expectImported(
      [
        "Link,Custom Link,Date Created,Title,Destination URL,Total Engagements",
        "https://bit.ly/4xYz,https://brand.example/spring,2024-01-31T12:34:56+0000,,https://example.com/s,3",
        "https://brand.example/3AbC,https://brand.example/summer,2024-01-31T12:34:56+0000,,https://example.com/x,12",
        "https://brand.example/plain,,2024-02-01 10:00,,https://example.com/p,",
      ].join("\r\n"),
      {
        links: {
          spring: { location: "https://example.com/s", visits: 3 },
          "3AbC": { location: "https://example.com/x" },
          summer: { location: "https://example.com/x", visits: 12 },
          plain: { location: "https://example.com/p", created: "2024-02-01T10:00:00.000Z" },
        },
        skipped: {
          "it is of another host than brand.example (choose one with --domain)": [
            "line 2: https://bit.ly/4xYz",
          ],
        },
        options: ["--domain", "brand.example"],
      },
    ));

  const NO_DATE = "one of its dates can't be read. Dates look like 2026-11-22T10:00:00Z";
  const OTHER_WIDTH = "it has fewer or more cells than the first line";
  test.each<[what: string, line: string | Uint8Array, fault: string]>([
    ["a month 13", "wrong,https://example.com/,2026-13-01,,", NO_DATE],
    ["a month 0", "wrong,https://example.com/,2026-00-01,,", NO_DATE],
    ["a day that doesn't exist", "wrong,https://example.com/,2026-02-29,,", NO_DATE],
    ["an hour 25", "wrong,https://example.com/,2026-01-01 25:00,,", NO_DATE],
    ["an offset of 24 hours", "wrong,https://example.com/,2026-01-01T00:00+24:00,,", NO_DATE],
    ["an ambiguous date", "wrong,https://example.com/,1/2/2026,,", NO_DATE],
    ["visits in words", "wrong,https://example.com/,,a lot,", "its number of visits is no number"],
    ["a flag in words", "wrong,https://example.com/,,,yes", "its forward_query is neither true nor false"],
    ["too few cells", "wrong,https://example.com/", OTHER_WIDTH],
    ["too many cells", "wrong,https://example.com/,,,,", OTHER_WIDTH],
    [
      "a short address that can't be decoded",
      "https://go.example/%,https://example.com/,,,",
      "its short address can't be read",
    ],
    [
      "bytes that aren't UTF-8",
      Buffer.from("wr\xF6ng,https://example.com/,,,", "latin1"),
      "its code or target is no UTF-8",
    ],
  ])("stops at %s and writes nothing, or skips the line with --skip-bad", async (_, line, fault) => {
    using folder = temporaryFolder();
    const path = join(folder.path, "links.csv");
    const settings = { DATABASE_URL: `sqlite:${folder.path}/curt.db`, PORT: "1" };
    const header = "code,target,created,visits,forward_query\n";
    await Bun.write(path, new Blob([header, line, "\ngood,https://example.com/,,,\n"]));
    expect(await runCommand(["import", "--new", path], settings)).toEqual({
      code: 1,
      stdout: "",
      stderr: `curt: ${path} is broken at line 2: ${fault}. Use a complete file, or --skip-bad to skip broken lines. Nothing was imported.\n`,
    });
    const skipped = await runCommand(["import", "--dry-run", "--skip-bad", path], settings);
    expect(skipped.stdout).toContain(`left out, 1: the line is broken: ${fault}\n  line 2\n`);
    expect(skipped.stdout).toContain("1 of 1 links would be added");
  });

  test("stops at a broken line of visits, or skips it with --skip-bad", async () => {
    using folder = temporaryFolder();
    const path = (name: string) => join(folder.path, name);
    const settings = { DATABASE_URL: `sqlite:${path("curt.db")}`, PORT: "1" };
    await Bun.write(path("links.csv"), "code,target\ngood,https://example.com/\n");
    await Bun.write(
      path("visits.csv"),
      "code,day,visits\ngood,yesterday,1\ngood,9206-02-28,1\ngood,2024-02-29,2\n",
    );
    const command = ["import", "--new", "--visits", path("visits.csv"), path("links.csv")];
    const refused = await runCommand(command, settings);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toContain(`curt: ${path("visits.csv")} is broken at line 2: ${NO_DATE}`);
    const { stdout } = await runCommand([...command, "--skip-bad"], settings);
    expect(stdout).toContain(
      `left out, 1: the line is broken: ${NO_DATE}\n  line 2 of ${path("visits.csv")}\n`,
    );
    expect(stdout).toContain("the line is broken: its day is in the future\n  line 3 of ");
    expect(stdout).toContain("1 of 1 links added, with 2 visits");
  });

  test("bounds visits, so that the store can add more and its export can be imported", async () => {
    using folder = temporaryFolder();
    const path = (name: string) => join(folder.path, name);
    const stores = [1, 2].map((nth) => ({ DATABASE_URL: `sqlite:${path(`${nth}.db`)}`, PORT: "1" }));
    await Bun.write(path("links"), `code,url,visits\na,https://example.com/,${"9".repeat(15)}\n`);
    const rows = ["2024-03-01", "2024-03-02", ""].map((day) => `a,${day},${"9".repeat(15)}\n`.repeat(10));
    await Bun.write(path("visits"), `code,day,visits\n${rows.join("")}`);
    for (const [args, settings] of [
      [["import", "--new", "--visits", path("visits"), path("links")], stores[0]],
      [["export", path("export")], stores[0]],
      [["import", "--new", path("export")], stores[1]],
    ] as const) {
      const { code, stderr } = await runCommand(args, { ...settings, STATS_KEEP: "3650d" });
      expect(code, stderr).toBe(0);
    }
    const exported = await Bun.file(path("export")).text();
    expect(exported.match(/"visits":\d+/g)?.map(String)).toEqual(
      Array.from({ length: 3 }, () => '"visits":1000000000000'),
    );
  });

  test("accepts dates from 1970 to 9999 and Unix times, and 0 for no end", () =>
    expectImported(
      [
        "code,target,created_at,expires_at",
        "seconds,https://example.com/,1706704496,253402300799",
        "milliseconds,https://example.com/,1706704496789,0",
        "early,https://example.com/,0099-05-05,",
      ].join("\n"),
      {
        links: {
          seconds: {
            location: "https://example.com/",
            created: "2024-01-31T12:34:56.000Z",
            ends: "9999-12-31T00:00:00.000Z",
          },
          milliseconds: { location: "https://example.com/", created: "2024-01-31T12:34:56.789Z" },
        },
        skipped: { "dates: they are not between 1970 and 9999": ["line 4: early"] },
      },
    ));

  test.each([
    ["Forward-Query", "https://example.com/", "?utm=1", ""],
    ["forward_path", "https://example.com/{path}", "", "%7Bpath%7D"],
  ])("reads %s in the spellings of databases", (column, target, ifOn, ifOff) => {
    const [on, off] = [
      ["true", "TRUE", "t", "1"],
      ["false", "F", "0", "", "NULL"],
    ];
    const expectAll = (cells: readonly string[], location: string) =>
      Object.fromEntries(cells.map((cell) => [`is-${cell}`, { location }]));
    return expectImported(
      [`code,target,${column}`, ...[...on, ...off].map((cell) => `is-${cell},${target},${cell}`)].join("\n"),
      {
        links: {
          ...expectAll(on, `https://example.com/${ifOn}`),
          ...expectAll(off, `https://example.com/${ifOff}`),
        },
      },
    );
  });

  test("keeps titles, as a line of at most 200 characters", () =>
    expectImported(
      [
        "code,target,Title",
        'lines,https://example.com/," two\nlines\t"',
        `long,https://example.com/,${"🌸".repeat(199)}가나`,
        "none,https://example.com/, ",
        "batch,https://example.com/,NULL",
      ].join("\n"),
      {
        links: {
          lines: { location: "https://example.com/", title: "two lines" },
          long: { location: "https://example.com/", title: `${"🌸".repeat(199)}가` },
          none: { location: "https://example.com/" },
          batch: { location: "https://example.com/" },
        },
      },
    ));

  const HOW = "The first line of a CSV file must name its columns, at least code, target.";
  test.each<[what: string, content: string | Uint8Array, ...words: string[]]>([
    ["without targets", "code\na\n", "has no column target", HOW],
    ["with SQL", "-- MySQL dump 10.13\n--\n", "has no column code", HOW],
    ["of SQLite", Buffer.from("SQLite format 3\0\x10\0"), "has no column code", HOW],
    [
      "with an open quote",
      'code,target\na,"https://example.com/\n',
      "is broken at line 2: its quotes are wrong",
    ],
    [
      "with text after a quote",
      'code,target\n"a"b,https://example.com/\n',
      "is broken at line 2: its quotes are wrong",
    ],
    [
      "with an endless row",
      `code,target\na,"${"x\n".repeat(1_000_000)}`,
      "its row has more than 1 MiB, perhaps because a quote is missing",
    ],
    ["without content", "", "is empty"],
    ["with compressed rows", Bun.zstdCompressSync("code,target\n"), "is compressed. Unpack it with unzstd."],
    [
      "in a ZIP archive",
      Uint8Array.of(0x50, 0x4b, 3, 4, 20, 0, 6, 0, 8, 0),
      "is a ZIP archive or an Excel workbook.",
    ],
  ])("refuses a file %s", (_, content, ...words) => expectRefused(content, ...words));
});
