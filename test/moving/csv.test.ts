import { describe, test } from "bun:test";

import { moveIn, refuse } from "./moved.ts";

const ROWS = [
  ["Code", "URL", "Created", "Expires", "Visits"],
  ["abc", '"https://example.com/?a=""b"",c;d"', "2024-01-31T14:34:56+02:00", "", "5"],
  ["ABC", "https://example.com/upper", "2024-01-31", "2199-01-01", ""],
  ["over", "https://example.com/over", "1706704496", "2024-06-01 00:00", "0"],
  ["", "https://example.com/none", "", "", ""],
  ["abc", "https://example.com/twice", "", "", ""],
  ["short", "https://example.com/short"],
  ["", "", "", "", ""],
];
const MOVED = {
  links: {
    abc: { leads: "https://example.com/?a=%22b%22,c;d", created: "2024-01-31T12:34:56.000Z", visits: 5 },
    ABC: { leads: "https://example.com/upper", created: "2024-01-31T00:00:00.000Z" },
    over: { leads: 404, ends: "2024-06-01T00:00:00.000Z", created: "2024-01-31T12:34:56.000Z" },
  },
  left: {
    "it has no code": ["line 5", "line 8"],
    "it has too few or too many cells": ["line 7"],
    "another link earlier in the file has the same code": ["line 6: abc"],
  },
};
const write = (separator: string, end: string) => ROWS.map((row) => row.join(separator)).join(end);

describe("curt import --from csv", () => {
  test("takes commas and plain lines, also empty ones", () =>
    moveIn("csv", `${write(",", "\n")}\n\n`, MOVED));

  test("takes semicolons, CRLF and a byte order mark", () =>
    moveIn("csv", `\uFEFF${write(";", "\r\n")}`, MOVED));

  test("takes what Excel writes: a line that names the separator, and empty columns", () =>
    moveIn("csv", "sep=;\r\ncode;url;\r\nabc;https://example.com/;\r\n", {
      links: { abc: { leads: "https://example.com/" } },
    }));

  test("reads Unix time, and no dates that do not exist", () =>
    moveIn(
      "csv",
      [
        "code,url,created,expires",
        "seconds,https://example.com/,1706704496,253402300799",
        "milliseconds,https://example.com/,1706704496789,",
        ...["2026-13-01", "2026-00-01", "2026-02-29", "0099-05-05", "0001-01-01", "2026-01-01 24:00"].map(
          (created) => `wrong,https://example.com/,${created},`,
        ),
        "wrong,https://example.com/,2026-01-01T00:00:00+24:00,",
      ].join("\n"),
      {
        links: {
          seconds: {
            leads: "https://example.com/",
            created: "2024-01-31T12:34:56.000Z",
            ends: "9999-12-31T00:00:00.000Z",
          },
          milliseconds: { leads: "https://example.com/", created: "2024-01-31T12:34:56.789Z" },
        },
        left: {
          "one of its dates cannot be read. Dates look like 2026-11-22T10:00:00Z": [4, 5, 6, 7, 8, 9, 10].map(
            (line) => `line ${line}: wrong`,
          ),
        },
      },
    ));

  test("refuses what is no such file, or not all of it", async () => {
    const how =
      "Its first line must name the columns: code, url and, if you have them, created, expires and visits";
    await refuse("csv", "code\na\n", "has no column url", how);
    await refuse("csv", "code,url,expire\n", "has an unknown column expire", how);
    await refuse("csv", "code,url,URL\n", "has two columns like URL", how);
    await refuse(
      "csv",
      'code,url\na,"https://example.com/\n',
      "the quotes that begin at line 2 have no end",
      how,
    );
    await refuse("csv", "", "is empty", how);
    await refuse("csv", "code,url\ra,https://example.com/\r", "ends its lines with CR alone", how);
    await refuse("csv", Bun.zstdCompressSync("code,url\n"), "is compressed. Unpack it with unzstd.");
    const zip = Uint8Array.of(0x50, 0x4b, 3, 4, 20, 0, 6, 0, 8, 0);
    await refuse("csv", zip, "is a ZIP archive or an Excel workbook.");
  });
});
