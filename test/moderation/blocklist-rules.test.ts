import { describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import * as fc from "fast-check";

import { NotAList, readListFile } from "../../src/moderation/blocklist/list-file.ts";
import { readLine } from "../../src/moderation/blocklist/list-line.ts";
import {
  createListBuilder,
  createListCheck,
  type ListKey,
} from "../../src/moderation/blocklist/list-table.ts";
import { temporaryFolder, PROGRAM, ROOT } from "../support/service.ts";

const KEY: ListKey = [0x0123_4567, -0x0765_4321];

function checkOf(lines: readonly string[]) {
  const builder = createListBuilder(KEY);
  for (const line of lines) for (const rule of readLine(line) ?? []) builder.add(rule);
  const check = createListCheck([builder.build()]);
  return (url: string) => check(new URL(url).href);
}

/** Lines, each with URLs that a list of this line blocks and lets pass. */
const LINES: Readonly<Record<string, { blocks: readonly string[]; passes: readonly string[] }>> = {
  "evil.example": {
    blocks: [
      "https://evil.example/",
      "http://EVIL.Example:8080/a?b#c",
      "https://evil.example./",
      "https://a.b.evil.example/",
      "https://evil.example/?https://good.example",
    ],
    passes: [
      "https://notevil.example/",
      "https://evil.example.com/",
      "https://example/",
      "https://good.example/evil.example",
      "https://good.example/?evil.example",
      "https://good.example:444/#//evil.example/",
    ],
  },
  "  EVIL.Example.  # since May": { blocks: ["https://evil.example/"], passes: ["https://good.example/"] },
  ".evil.example": { blocks: ["https://evil.example/", "https://a.evil.example/"], passes: [] },
  "evil.example:8080": { blocks: ["https://evil.example/", "https://evil.example:8080/"], passes: [] },
  "\uFEFFevil.example\r": { blocks: ["https://evil.example/"], passes: [] },
  "*.evil.example": {
    blocks: ["https://a.evil.example/", "https://b.a.evil.example./"],
    passes: ["https://evil.example/", "https://aevil.example/"],
  },
  "co.uk": { blocks: ["https://co.uk/"], passes: ["https://shop.co.uk/", "https://a.shop.co.uk/"] },
  "GitHub.io.": { blocks: ["https://github.io/"], passes: ["https://someone.github.io/"] },
  "*.github.io": { blocks: ["https://someone.github.io/"], passes: ["https://github.io/"] },
  "someone.github.io": {
    blocks: ["https://someone.github.io/", "https://a.someone.github.io/"],
    passes: ["https://other.github.io/"],
  },
  "||evil.example^": { blocks: ["https://evil.example/", "https://a.evil.example/"], passes: [] },
  "||evil.example^$all": { blocks: ["https://evil.example/"], passes: [] },
  "||evil.example/bad^": { blocks: ["https://evil.example/bad/"], passes: ["https://evil.example/"] },
  "0.0.0.0 evil.example www.worse.example # both": {
    blocks: ["https://evil.example/", "https://www.worse.example/"],
    passes: ["https://worse.example/", "http://0.0.0.0/"],
  },
  "127.0.0.1\tevil.example": { blocks: ["https://evil.example/"], passes: ["http://127.0.0.1/"] },
  "::1 localhost evil.example": { blocks: ["https://evil.example/"], passes: ["http://localhost/"] },
  "예시.한국": {
    blocks: ["https://예시.한국/", "https://www.xn--vv4b11d.xn--3e0b707e/"],
    passes: ["https://다른.한국/"],
  },
  "XN--VV4B11D.xn--3e0b707e": { blocks: ["https://예시.한국/"], passes: ["https://다른.한국/"] },
  "faß.example": { blocks: ["https://xn--fa-hia.example/"], passes: ["https://fass.example/"] },
  "203.0.113.9": {
    blocks: [
      "http://203.0.113.9/",
      "http://0xcb.0.0x7109/",
      "http://3405803785:8080/",
      "http://[::ffff:203.0.113.9]/",
    ],
    passes: ["http://203.0.113.90/", "http://1.203.0.113.9.example/"],
  },
  "0313.0.0x71.9": { blocks: ["http://203.0.113.9/"], passes: ["http://203.0.113.8/"] },
  "::ffff:203.0.113.9": { blocks: ["http://203.0.113.9/", "http://[::ffff:cb00:7109]/"], passes: [] },
  "2001:DB8:0::9": { blocks: ["http://[2001:db8::9]:8080/a"], passes: ["http://[2001:db8::8]/"] },
  "[2001:db8::9]": { blocks: ["http://[2001:0db8:0:0::9]/"], passes: ["http://[2001:db8::8]/"] },
  "https://evil.example/bad": {
    blocks: `https://evil.example/bad http://evil.example:8080/bad/more https://evil.example./bad?x
        https://evil.example/bad.exe https://evil.example//b%61d#x https://evil.example/%2fbad
        https://evil.example/bad%2Fx https://evil.example/bad%20 https://evil.example/bad%00
        https://evil.example/%5cbad https://evil.example/x%2F..%2Fbad/
        https://evil.example/.%2F.%2Fbad%3Fx https://evil.example/%2F%2F%2Fbad%3Bx`.split(/\s+/),
    passes: `https://evil.example/ https://evil.example/badminton https://evil.example/bad%61
        https://evil.example/bad%EA%B0%80 https://evil.example/good?/bad
        https://evil.example/bad%2F..%2Fgood https://www.evil.example/bad`.split(/\s+/),
  },
  "https://evil.example/a%2Fb%20c": {
    blocks: ["https://evil.example/a/b%20c", "https://evil.example//a%2fb%20c"],
    passes: ["https://evil.example/a%2Fbc"],
  },
  "https://evil.example/?id=": {
    blocks: ["https://evil.example/?id=5"],
    passes: ["https://evil.example/?x=5", "https://evil.example/"],
  },
  "http://evil.example/bad file.exe": { blocks: ["https://evil.example/bad%20file.exe"], passes: [] },
  "https://evil.example/%ea%b0%80": {
    blocks: ["https://evil.example/가", "https://evil.example/%EA%B0%80"],
    passes: ["https://evil.example/가나"],
  },
  "evil.example/bad": { blocks: ["https://evil.example/bad"], passes: ["https://evil.example/good"] },
  "https://evil.example": { blocks: ["https://evil.example/any"], passes: ["https://www.evil.example/"] },
  '"3","2026-05-01 10:00:00","http://203.0.113.9:8080/bin.sh","online","","malware","elf","https://list.example/url/3/","x"':
    { blocks: ["http://203.0.113.9/bin.sh"], passes: ["http://203.0.113.9/", "https://list.example/url/3/"] },
  "7,http://evil.example/login,http://list.example/7,2026-05-01": {
    blocks: ["https://evil.example/login"],
    passes: ["https://list.example/7"],
  },
};

describe("a line of a blocklist", () => {
  for (const [line, { blocks, passes }] of Object.entries(LINES))
    test(`${JSON.stringify(line)} blocks its hosts and addresses, and no others`, () => {
      const isBlocked = checkOf([line]);
      for (const url of blocks) expect([url, isBlocked(url)]).toEqual([url, true]);
      for (const url of passes) expect([url, isBlocked(url)]).toEqual([url, false]);
    });

  test("blocks nothing if it is empty or a comment", () => {
    for (const line of ["", "  ", "# evil.example", "! evil.example", "; evil.example", "[Adblock Plus 2.0]"])
      expect([line, readLine(line)]).toEqual([line, []]);
  });

  test("is skipped if it has any other format", () => {
    for (const line of [
      ...`<html> Moved localhost @@||good.example^ ||good.example^$third-party good.example##.banner
        /banner[0-9]+/ 10.0.0.0/8 *ads*.example https://*.example/ http://[::1/ *.203.0.113.9 *.com *.COM.
        *.zip *.co.uk *.한국 ||*.co.kr^ ftp://evil.example/bad hxxp://evil.example/bad
        address=/evil.example/0.0.0.0 localhost/bad`.split(/\s+/),
      "192.168.1.5 printer.example",
      "a b.example",
      `https://good.example/${"a".repeat(2000)}`,
      `${"a.".repeat(600)}example`,
    ])
      expect([line, readLine(line)]).toEqual([line, undefined]);
  });

  test("never throws, with any text", () => {
    const piece = fc.oneof(
      fc.string({ unit: "binary", maxLength: 20 }),
      fc.constantFrom(..."|| ^ *. http:// [ ] : . / , # xn-- % 가".split(" "), '"', " ", "0.0.0.0 "),
    );
    const builder = createListBuilder(KEY);
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        for (const rule of readLine(pieces.join("")) ?? []) builder.add(rule);
      }),
      { numRuns: 5000 },
    );
  });
});

describe("a table of rules", () => {
  const label = fc.constantFrom("a", "b", "ab", "ba", "a-b");
  const host = fc
    .array(label, { minLength: 1, maxLength: 4 })
    .map((labels) => [...labels, "example"].join("."));
  const path = fc
    .array(fc.constantFrom("a", "b", "/", "?", "."), { maxLength: 6 })
    .map((units) => `/${units.join("")}`);
  const line = fc.oneof(
    host,
    host.map((name) => `*.${name}`),
    fc.tuple(host, path).map((pair) => `http://${pair.join("")}`),
  );

  const plain = ({ pathname, search }: URL) => `${pathname}${search}`.replace(/\/{2,}/g, "/");

  /** The same rules as sets of hosts and prefixes of addresses. */
  function model(lines: readonly string[]) {
    const trees = new Set(lines.filter((one) => !/^http|^\*/.test(one)));
    const below = new Set(lines.filter((one) => one.startsWith("*")).map((one) => one.slice(2)));
    const urls = lines.filter((one) => one.startsWith("http")).map((one) => new URL(one));
    return (written: string) => {
      const target = new URL(written);
      const { hostname } = target;
      const labels = hostname.split(".");
      const names = labels.map((_, nth) => labels.slice(nth).join("."));
      const address = plain(target);
      return (
        trees.has(hostname) ||
        names.slice(1).some((name) => trees.has(name) || below.has(name)) ||
        urls.some((url) => {
          const start = plain(url);
          if (url.hostname !== hostname || !address.startsWith(start)) return false;
          return start === "/" || !/^[a-z]{2}/.test(start.slice(-1) + address.slice(start.length));
        })
      );
    };
  }

  test("blocks the same URLs as sets of the same rules, even after it has grown", () => {
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 60 }),
        fc.array(fc.tuple(host, path), { maxLength: 20 }),
        (lines, pairs) => {
          const isBlocked = checkOf(lines);
          const expected = model(lines);
          for (const pair of pairs) {
            const url = `https://${pair.join("")}`;
            expect([url, isBlocked(url)]).toEqual([url, expected(url)]);
          }
        },
      ),
      { numRuns: 2000 },
    );
  });

  test("counts each rule once", () => {
    const builder = createListBuilder(KEY);
    const lines = [
      "a.example",
      "A.example.",
      "*.a.example",
      "http://a.example/b",
      "http://a.example/b",
      "*.b.example",
    ];
    for (const text of lines) for (const rule of readLine(text) ?? []) builder.add(rule);
    expect(builder.rules).toBe(3);
  });

  test("takes as much memory as docs/protecting.md says", () => {
    const mebibytes = (covers: "tree" | "path") => {
      const builder = createListBuilder(KEY);
      for (let nth = 0; nth < 1_000_000; nth++) builder.add({ host: `h${nth}.example`, covers, path: "/a" });
      return Math.floor(builder.build().byteLength / 2 ** 20);
    };
    expect(readFileSync(join(ROOT, "docs/protecting.md"), "utf8")).toContain(
      `a million hosts take ${mebibytes("tree")} MiB, and a million addresses on as many hosts ${mebibytes("path")} MiB`,
    );
  });

  test("is checked together with other tables", () => {
    const tables = ["a.example", "b.example"].map((text) => {
      const builder = createListBuilder(KEY);
      for (const rule of readLine(text) ?? []) builder.add(rule);
      return builder.build();
    });
    const check = createListCheck(tables);
    const blocked = ["a", "b", "c"].filter((name) => check(`https://${name}.example/`));
    expect(blocked).toEqual(["a", "b"]);
  });
});

describe("a blocklist file", () => {
  function read(content: string | Uint8Array) {
    using folder = temporaryFolder();
    const path = join(folder.path, "list");
    writeFileSync(path, content);
    const list = readListFile(path, KEY);
    return { ...list, isBlocked: createListCheck([list.table]) };
  }

  test("is read in many pieces, with or without a newline at its end", () => {
    const hosts = Array.from({ length: 60_000 }, (_, nth) => `host-${nth}.example`);
    const { rules, skipped, isCut, isBlocked } = read(hosts.join("\r\n"));
    expect({ rules, skipped, isCut }).toEqual({ rules: hosts.length, skipped: 0, isCut: false });
    expect(hosts.filter((host) => !isBlocked(`https://${host}/`))).toEqual([]);
  });

  test("may have lines of any length, and its unknown lines are counted", () => {
    const lines = [
      "a.example",
      "x".repeat(1_000_000),
      "b.example",
      "y".repeat(5000),
      "?",
      "c.example",
      "z".repeat(600_000),
    ];
    const { rules, skipped } = read(lines.join("\n"));
    expect({ rules, skipped }).toEqual({ rules: 3, skipped: 4 });
  });

  test("is refused if it isn't text or a regular file", () => {
    expect(() => read(Uint8Array.of(0x50, 0x4b, 3, 4, 0, 0))).toThrow(NotAList);
    expect(() => readListFile(import.meta.dir, KEY)).toThrow(NotAList);
    expect(() => readListFile("/dev/zero", KEY)).toThrow(NotAList);
    expect(() => readListFile("/nowhere/list", KEY)).toThrow("ENOENT");
  });

  test("is refused without waiting if it is a pipe", () => {
    using folder = temporaryFolder();
    const pipe = join(folder.path, "pipe");
    expect(Bun.spawnSync(["mkfifo", pipe]).exitCode).toBe(0);
    const checking = Bun.spawnSync([process.execPath, PROGRAM, "check"], {
      env: { BLOCKLIST: pipe, DATABASE_URL: `sqlite:${join(folder.path, "curt.db")}` },
      timeout: 100_000,
    });
    expect(checking.stderr.toString()).toContain("it is not a file");
  });

  test("is read without its invalid bytes", () => {
    expect(read(Uint8Array.of(0xff, 0xfe, 10, ...Buffer.from("a.example"))).rules).toBe(1);
  });
});
