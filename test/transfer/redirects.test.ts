import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

import redirector from "netlify-redirector";
import { generateRedirectsEvaluator } from "redirects-in-workers";

import type { LinkKey } from "../../src/links/code.ts";
import type { Target } from "../../src/links/target.ts";
import { openStore } from "../../src/store/open.ts";
import { openPage } from "../browser/browser.ts";
import { runCommand } from "../cli/commands.ts";
import { newLink, NOW } from "../stores/links.ts";
import { HASH } from "../stores/served-store.ts";
import { openStoreOf, startService, temporaryFolder } from "../support/service.ts";
import {
  type Ask,
  askAt,
  createStoreWith,
  expectSame,
  LINKS,
  pathsOf,
  type ShortLink,
} from "./hostile-links.ts";

const ORIGIN = "https://go.example.com";

interface Exported extends Disposable {
  readonly file: string;
  readonly settings: Readonly<Record<string, string>>;
  /** The output of the command, without its paths. */
  readonly said: string;
}

async function exportAs(
  format: string,
  links: readonly ShortLink[] = LINKS,
  options: readonly string[] = [],
): Promise<Exported> {
  const folder = temporaryFolder();
  const settings = { DATABASE_URL: `sqlite:${join(folder.path, "curt.db")}`, BASE_URL: ORIGIN, PORT: "1" };
  await createStoreWith(join(folder.path, "curt.db"), links);
  const file = join(folder.path, "links");
  const { code, stdout, stderr } = await runCommand(
    ["export", ...options, "--format", format, file],
    settings,
  );
  expect([code, stdout]).toEqual([0, ""]);
  expect(readdirSync(folder.path).filter((name) => name.endsWith(".part"))).toEqual([]);
  return {
    file,
    settings,
    said: stderr.replaceAll(`${folder.path}/`, ""),
    [Symbol.dispose]: folder[Symbol.dispose],
  };
}

const askCurt = async (exported: Exported) => {
  const curt = await startService({ DATABASE_URL: exported.settings["DATABASE_URL"] ?? "" });
  return { ask: askAt(curt.origin), [Symbol.asyncDispose]: () => curt[Symbol.asyncDispose]() };
};

describe("curt export --format netlify", () => {
  test("redirects with the matcher of Netlify as Curt does, and serves nothing else", async () => {
    // It tries rule after rule.
    const links = LINKS.slice(0, 100);
    using exported = await exportAs("netlify", links);
    const rules = await redirector.parsePlain(readFileSync(exported.file, "utf8"), {});
    const netlify: Ask = async (path) => {
      const request = { scheme: "https", host: "go.example.com", path, query: "" };
      const rule = rules.match({ ...request, getHeader: () => "", getCookie: () => "" });
      return { status: rule?.status ?? 404, location: rule?.to ?? null };
    };
    await using curt = await askCurt(exported);
    await expectSame(curt.ask, netlify, { links });
  });

  test("redirects with the parser of Cloudflare Pages, within the limits that the command names", async () => {
    const links = LINKS.filter(({ target }) => target.startsWith("https:") && target.length < 900);
    using exported = await exportAs("netlify", links);
    expect(exported.said).toContain(
      "Cloudflare Pages reads 2,000 rules (two or more per link) of up to 1,000",
    );
    // The limits are those of its service, not of its parser.
    const limits = { maxStaticRules: 100_000, maxLineLength: 1000 };
    const evaluate = generateRedirectsEvaluator(readFileSync(exported.file, "utf8"), limits);
    const wrong: unknown[] = [];
    for (const { code, target } of links)
      for (const path of pathsOf(code)) {
        const response = await evaluate(new Request(ORIGIN + path), { fetch });
        const location = response?.headers.get("location") ?? "";
        // Its destination is a parsed URL, which encodes what a stored one may have, and has no empty fragment.
        if (location !== new URL(target).href.replace(/#$/, "")) wrong.push({ path, target, location });
      }
    expect(wrong.slice(0, 5)).toEqual([]);
  });
});

/** Runs in a browser. */
const READ_PAGES = `(pages) => pages.map(([name, text]) => {
  const page = new DOMParser().parseFromString(text, "text/html");
  return {
    name,
    refresh: page.querySelector("meta[http-equiv=refresh]").content,
    canonical: page.querySelector("link[rel=canonical]").getAttribute("href"),
    text: page.querySelector("p").textContent,
    elements: [...page.querySelectorAll("*")].map(({ localName }) => localName).join(" "),
  };
})`;

describe("curt export --format html", () => {
  test("makes a page per link with its exact destination, a 404 page, and no list", async () => {
    using exported = await exportAs("html");
    await using curt = await askCurt(exported);
    await using page = await openPage(ORIGIN);
    const folded = Map.groupBy(LINKS, ({ code }) => code.toUpperCase().toLowerCase().normalize("NFC"));
    const without = new Set(
      [...folded.values()]
        .filter((same) => same.length > 1)
        .flat()
        .map(({ code }) => code),
    );
    for (const { code } of LINKS)
      if (/[<>:"\\|?*]/.test(code) || Buffer.byteLength(code) > 255) without.add(code);
    expect(exported.said).toContain(
      `exported ${(LINKS.length - without.size).toLocaleString("en")} links to links`,
    );
    const pages = new Map<string, string>();
    for (const name of readdirSync(exported.file))
      if (name !== "404.html") {
        expect(readdirSync(join(exported.file, name))).toEqual(["index.html"]);
        pages.set(name, readFileSync(join(exported.file, name, "index.html"), "utf8"));
      }
    const read = (await page.evaluate(`(${READ_PAGES})(${JSON.stringify([...pages])})`)) as readonly Record<
      "name" | "refresh" | "canonical" | "text" | "elements",
      string
    >[];
    for (const { name, refresh, canonical, text, elements } of read) {
      const target = refresh.replace(/^0; url=/, "");
      expect([canonical, text, elements]).toEqual([
        target,
        `This link leads to ${target}`,
        "html head meta meta link title body p a",
      ]);
      expect((await curt.ask(`/${encodeURIComponent(name)}`)).location).toBe(target);
    }
    const targets = new Map(read.map(({ name, refresh }) => [`/${name}`, refresh.replace(/^0; url=/, "")]));
    const files: Ask = async (path) => {
      const location = targets.get(decodeURIComponent(path).replace(/\/$/, "")) ?? null;
      return { status: location === null ? 404 : 302, location };
    };
    await expectSame(curt.ask, files, { without });
    expect(readFileSync(join(exported.file, "404.html"), "utf8")).not.toContain("href");
  });
});

describe("curt export --format beacon", () => {
  /** Reads a dump by the grammar and the rules for URI patterns of the specification. */
  function readDump(text: string): Map<string, string> {
    const [, head = "", body = ""] = /^((?:#[A-Z]+:.*\n)*)\n([^]*)$/.exec(text) ?? [];
    const meta = Object.fromEntries(
      [...head.matchAll(/^#([A-Z]+): (.*)$/gm)].map(([, name, value]) => [name, value]),
    );
    expect(meta).toEqual({
      FORMAT: "BEACON",
      PREFIX: `${ORIGIN}/`,
      TIMESTAMP: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    const links = body
      .trimEnd()
      .split("\n")
      .map((line) => line.split("|"));
    expect(links.every((fields) => fields.length === 3)).toBeTrue();
    return new Map(
      links.map(([source = "", , target = ""]) => [meta["PREFIX"] + encodeURIComponent(source), target]),
    );
  }

  test("has every link whose destination the format can hold, and counts the others", async () => {
    using exported = await exportAs("beacon");
    const kept = LINKS.filter(({ code, target }) => !target.includes("|") && !code.startsWith("#"));
    expect(readDump(readFileSync(exported.file, "utf8"))).toEqual(
      new Map(kept.map(({ code, target }) => [`${ORIGIN}/${encodeURIComponent(code)}`, target])),
    );
    expect(exported.said).toBe(
      `exported ${kept.length.toLocaleString("en")} links to links\nleft out, ${LINKS.length - kept.length}: links with a character that BEACON can't have, such as |\n`,
    );
  });

  test("keeps the ends of links when curt import reads it", async () => {
    const endsMs = Date.UTC(2199, 0, 1);
    using exported = await exportAs(
      "beacon",
      [{ code: "ends", target: "https://example.com/", endsMs }],
      ["--ending"],
    );
    await using curt = await startService();
    const settings = { DATABASE_URL: curt.databaseUrl, DATA_DIR: dirname(exported.file), PORT: "1" };
    expect((await runCommand(["import", exported.file], settings)).code).toBe(0);
    await using store = await openStoreOf(curt);
    expect(await store.find("ends" as LinkKey)).toMatchObject({ endsMs });
  });

  test("comes back to life with curt import", async () => {
    // Stored destinations may have what the URL parser encodes.
    const links = LINKS.map(({ code, target }) => ({ code, target: URL.parse(target)?.href ?? "" })).filter(
      ({ code, target }) => !target.includes("|") && !code.startsWith("#") && !target.includes("\\"),
    );
    using exported = await exportAs("beacon", links);
    using folder = temporaryFolder();
    await using curt = await startService();
    const settings = { DATABASE_URL: curt.databaseUrl, DATA_DIR: folder.path, PORT: "1" };
    const { stdout } = await runCommand(["import", "--keep-odd", exported.file], settings);
    expect(stdout).toContain(
      `${links.length.toLocaleString("en")} of ${links.length.toLocaleString("en")} links added`,
    );
    const ask = askAt(curt.origin);
    for (const { code, target } of links)
      expect((await ask(`/${encodeURIComponent(code)}`)).location, code).toBe(target);
  });
});

describe("curt export of redirects", () => {
  /** A store with a link of each kind, and one of another domain. */
  async function createMixedStore(folder: string) {
    const store = await openStore({ engine: "sqlite", path: join(folder, "curt.db") });
    const day = 86_400_000;
    const soon = Date.UTC(2199, 0, 1);
    await store.insert([
      newLink("plain"),
      newLink("passes", {
        target: "https://example.com/passes/%7Bpath%7D" as Target,
        terms: { forwardQuery: true, forwardPath: true },
      }),
      newLink("later", { terms: { startsMs: soon } }),
      newLink("over", { createdMs: NOW - day, endsMs: NOW - 1 }),
      newLink("ends", { endsMs: soon }),
      newLink("secret", { terms: { passwordHash: HASH } }),
      newLink("few", { terms: { maxVisits: 3 } }),
      newLink("bad"),
      newLink("gone"),
      newLink("evil", { target: "https://www.evil.example/" as Target }),
      newLink("listed", { target: "https://listed.example/" as Target }),
      newLink("한.example/plain", { target: "https://other.example/" as Target }),
      newLink("xn--6q8b.example/plain", { target: "https://lost.example/" as Target }),
      newLink("xn--bj0bj06e.example/plain", { target: "https://other.example/" as Target }),
    ]);
    const decision = { who: "api", atMs: NOW } as const;
    await store.disable([newLink("bad")], { ...decision, reason: "spam" });
    await store.erase(newLink("gone"), decision);
    await store.blockHost({ host: "evil.example", reason: "malware" }, decision);
    await store.close();
    await Bun.write(join(folder, "list"), "listed.example\n");
    return {
      DATABASE_URL: `sqlite:${join(folder, "curt.db")}`,
      BASE_URL: ORIGIN,
      DOMAINS: "https://한글.example",
      BLOCKLIST: join(folder, "list"),
      PORT: "1",
    };
  }

  test("takes only links that redirect now, counts the others, and makes a file per domain", async () => {
    using folder = temporaryFolder();
    const settings = await createMixedStore(folder.path);
    const file = join(folder.path, "links.txt");
    const { code, stderr } = await runCommand(["export", "--format", "beacon", file], settings);
    expect([code, stderr.replaceAll(`${folder.path}/`, "").split("\n").toSorted()]).toEqual([
      0,
      [
        "",
        "exported 1 link to links.xn--bj0bj06e.example.txt",
        "exported 2 links to links.txt",
        "left out, 1: links that end later (--ending writes them)",
        "left out, 1: links that have ended",
        "left out, 1: links that have not started",
        "left out, 1: links with a limit of visits",
        "left out, 1: links with a password",
        "left out, 2: links of domains that are not in DOMAINS",
        "left out, 4: links that are disabled, deleted or blocked",
        "these no longer pass the visitor's path on: 1 link",
        "these no longer pass the visitor's query on: 1 link",
      ],
    ]);
    const linesOf = (path: string) =>
      readFileSync(path, "utf8").split("\n\n")[1]?.trim().split("\n").toSorted();
    expect(linesOf(file)).toEqual([
      "passes||https://example.com/passes/",
      "plain||https://example.com/plain",
    ]);
    expect(linesOf(join(folder.path, "links.xn--bj0bj06e.example.txt"))).toEqual([
      "plain||https://other.example/",
    ]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const again = await runCommand(["export", "--format", "beacon", file], settings);
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("already exists")]);
  });

  test.each(["netlify", "html", "beacon"])("says that %s finds codes as written only", async (format) => {
    using folder = temporaryFolder();
    const settings = { DATABASE_URL: `sqlite:${join(folder.path, "curt.db")}`, BASE_URL: ORIGIN, PORT: "1" };
    for (const [CODE_CASE, isSaid] of [
      ["match", false],
      ["ignore", true],
    ] as const) {
      {
        await using _ = await startService({ ...settings, CODE_CASE, PORT: "0" });
      }
      const all = { ...settings, CODE_CASE };
      const { code, stderr } = await runCommand(
        ["export", "--format", format, join(folder.path, CODE_CASE)],
        all,
      );
      expect([code, stderr.includes("With CODE_CASE=ignore, the file")]).toEqual([0, isSaid]);
    }
  });

  test("writes links that end later on request, and says when", async () => {
    using folder = temporaryFolder();
    const settings = await createMixedStore(folder.path);
    for (const [format, line] of [
      ["nginx", '# ends 2199-01-01T00:00:00.000Z\n"/ends" "/ends\thttps://example.com/ends\t";\n'],
      ["caddy", '# ends 2199-01-01T00:00:00.000Z\n"/ends" "https://example.com/ends"\n'],
      ["netlify", "# ends 2199-01-01T00:00:00.000Z\n/ends https://example.com/ends 302\n"],
      ["beacon", "ends|ends 2199-01-01T00:00:00.000Z|https://example.com/ends\n"],
    ] as const) {
      const file = join(folder.path, format);
      expect((await runCommand(["export", "--ending", "--format", format, file], settings)).code).toBe(0);
      expect(readFileSync(file, "utf8")).toContain(line);
    }
    const site = join(folder.path, "site");
    expect((await runCommand(["export", "--ending", "--format", "html", `${site}/`], settings)).code).toBe(0);
    expect(existsSync(`${site}.xn--bj0bj06e.example/plain/index.html`)).toBeTrue();
    expect(readFileSync(join(site, "ends/index.html"), "utf8")).toContain(
      "<!-- ends 2199-01-01T00:00:00.000Z -->",
    );
    const again = await runCommand(["export", "--format", "html", site], settings);
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("already exists")]);
  });

  test("leaves out what a format can't hold, and destinations that no browser gets", async () => {
    const codes = [
      "a{b",
      "a}b",
      "a\\b",
      "a*b",
      "a:b",
      "a|b",
      "a b",
      "#b",
      "con",
      "COM¹",
      "_redirects",
      "_Headers",
      "a ",
      "가".repeat(64),
      "fine",
    ];
    const links = codes.map((code) => ({ code, target: "https://example.com/" }));
    for (const [format, count, why] of [
      ["caddy", 3, "links with a brace or a backslash in their code"],
      ["netlify", 2, "links with * or : in their code"],
      ["html", 9, "links whose code some file systems or hosts refuse"],
      ["beacon", 4, "links with a character that BEACON can't have, such as |"],
    ] as const) {
      using exported = await exportAs(format, [
        ...links,
        { code: "lines", target: "https://example.com/\n/evil https://evil.example/" },
        { code: "li\nnes", target: "https://example.com/" },
      ]);
      expect(exported.said).toContain(`exported ${codes.length - count} links to links\n`);
      expect(exported.said).toContain("left out, 1: links with control characters\n");
      expect(exported.said).toContain("left out, 1: links that are disabled, deleted or blocked\n");
      expect(exported.said).toContain(`left out, ${count}: ${why}\n`);
    }
  });

  test("leaves out codes that no address can have, which would also name other folders", async () => {
    const codes = ["..", ".", "a.b", "404.html", "c+"];
    for (const format of ["nginx", "caddy", "netlify", "html", "beacon"]) {
      using exported = await exportAs(
        format,
        ["fine", ...codes].map((code) => ({ code, target: "https://example.com/" })),
      );
      expect(exported.said).toContain("exported 1 link to links\n");
      expect(exported.said).toContain(`left out, ${codes.length}: links whose code no address can have\n`);
      expect(existsSync(join(dirname(exported.file), "index.html"))).toBeFalse();
    }
  });

  test("refuses --ending without a format, and several files on standard output", async () => {
    using folder = temporaryFolder();
    const settings = await createMixedStore(folder.path);
    for (const [args, why] of [
      [["--ending", "-"], "--ending is only for redirects. Choose them with --format."],
      [["--format", "nginx", "-"], "Standard output can't hold several files."],
      [
        ["--format", "apache", "-"],
        "export needs --format FORMAT to be full, nginx, caddy, netlify, html or beacon",
      ],
    ] as const) {
      const { code, stderr } = await runCommand(["export", ...args], settings);
      expect([code, stderr]).toEqual([2, expect.stringContaining(why)]);
    }
  });
});
