import { describe, expect, test } from "bun:test";
import { join } from "node:path";

import { ConfigError, readConfig } from "../../src/config/config.ts";
import { contrast } from "../../src/lib/contrast.ts";
import { type RunningService, startService, temporaryFolder } from "../support/service.ts";
import { elementsOf, HTML } from "./markup.ts";

const HOLLOW: { attributes: Record<string, string> } = { attributes: {} };
const SVG = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><style>path{fill:red}</style><path d="M0 0h8v8z"/></svg>`;

function mistakesOf(env: Record<string, string>): readonly string[] {
  try {
    readConfig(env);
    return [];
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as ConfigError).mistakes;
  }
}

async function manifestOf(curt: RunningService) {
  const elements = await elementsOf(await curt.fetch("/", { headers: HTML }));
  const { attributes } = elements.find(({ attributes: { rel } }) => rel === "manifest") ?? HOLLOW;
  return (await (await curt.fetch(attributes["href"] ?? "")).json()) as Record<string, unknown>;
}

describe("INSTANCE_NAME", () => {
  test("is in the header, the manifest and the title of every page", async () => {
    await using curt = await startService({ INSTANCE_NAME: "짧게 & 굵게", ADMIN_TOKEN: "0123456789abcdef" });
    await curt.shorten({ original_url: "https://example.com/", custom_code: "abc" });
    for (const path of ["/", "/abc+", "/abc+report", "/docs", "/+privacy", "/nobody", "/admin"]) {
      const text = await (await curt.fetch(path, { headers: HTML })).text();
      const [, title = ""] = /<title>(.*?)<\/title>/.exec(text) ?? [];
      expect(title.endsWith(" – 짧게 &amp; 굵게"), path).toEqual(true);
      expect(text).toMatch(/<a class="brand" href="\/"[^>]*>.*?짧게 &amp; 굵게<\/a>/);
      if (path !== "/docs") expect(text).not.toContain("Curt");
    }
    expect(await manifestOf(curt)).toMatchObject({ name: "짧게 & 굵게", short_name: "짧게 & 굵게" });
  });

  test("must be printable text of at most 30 characters", () => {
    for (const name of ["x".repeat(31), "a\u202Eb", "a\nb"])
      expect(mistakesOf({ INSTANCE_NAME: name })).toEqual([
        `INSTANCE_NAME must be a text of at most 30 characters, not ${JSON.stringify(name)}`,
      ]);
  });
});

describe("ACCENT", () => {
  test("is in the style sheet, the icon and the manifest, and readable in dark mode", async () => {
    await using curt = await startService({ ACCENT: "#7A1FA2" });
    const elements = await elementsOf(await curt.fetch("/", { headers: HTML }));
    const loaded = async (rel: string) => {
      const { attributes } = elements.find((one) => one.attributes["rel"] === rel) ?? HOLLOW;
      return (await curt.fetch(attributes["href"] ?? "")).text();
    };
    const [, light = "", dark = ""] =
      /:root\{--mark:(#\w+)\}@media \(prefers-color-scheme:dark\)\{:root\{--mark:(#\w+)\}\}\n$/.exec(
        await loaded("stylesheet"),
      ) ?? [];
    expect(light).toBe("#7a1fa2");
    expect(contrast("#201f1c", dark)).toBeGreaterThanOrEqual(4.5);
    expect(await loaded("icon")).toContain("#7a1fa2");
    expect((await manifestOf(curt))["theme_color"]).toBe("#7a1fa2");
  });

  test("must be a colour with enough contrast, and the error suggests one", () => {
    expect(readConfig({ ACCENT: "#0b6e4f, #5CC9A1" }).accent).toEqual({ light: "#0b6e4f", dark: "#5cc9a1" });
    const [first = "", ...others] = mistakesOf({ ACCENT: "#ffcc00,#333333" });
    expect(others).toEqual([]);
    const suggestions =
      /in light mode, the contrast of #ffcc00 is 1\.4, and text needs 4\.5; (#\w{6}) would do; in dark mode, the contrast of #333333 is 1\.3, and text needs 4\.5; (#\w{6}) would do$/.exec(
        first,
      );
    const [, light = "", dark = ""] = suggestions ?? [];
    expect(readConfig({ ACCENT: `${light},${dark}` }).accent).toEqual({ light, dark });
    for (const wrong of ["red", "#fff", "#0b6e4f,", "#0b6e4f,#5cc9a1,#000000", "#0b6e4f;}body{}"])
      expect(mistakesOf({ ACCENT: wrong })).toEqual([
        expect.stringMatching(/^ACCENT must be a colour such as #0b6e4f, .+, not "/),
      ]);
  });
});

describe("LOGO", () => {
  test.each([
    ["logo.svg", SVG, "image/svg+xml", "any"],
    [
      "logo.png",
      Buffer.from(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
        "base64",
      ),
      "image/png",
      "1x1",
    ],
  ] as const)(
    "is shown in the header and as the icon of the page, sandboxed: %s",
    async (file, content, type, sizes) => {
      using folder = temporaryFolder();
      const path = join(folder.path, file);
      await Bun.write(path, content);
      await using curt = await startService({ LOGO: path });
      const elements = await elementsOf(await curt.fetch("/", { headers: HTML }));
      const image = elements.find(({ tag }) => tag === "img")?.attributes ?? {};
      expect(image).toMatchObject({ alt: "", width: "28", height: "28" });
      const src = image["src"] ?? "";
      expect(
        elements
          .filter(({ attributes: { rel } }) => rel === "icon")
          .map(({ attributes }) => attributes["href"]),
      ).toEqual([src]);
      const response = await curt.fetch(src);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        "content-type": type,
        "x-content-type-options": "nosniff",
        "content-security-policy":
          "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox; frame-ancestors 'none'",
      });
      expect(Buffer.from(await response.bytes()).equals(Buffer.from(content))).toBe(true);
      expect((await manifestOf(curt))["icons"]).toEqual([{ src, type, sizes }]);
      expect((await curt.fetch("/favicon.ico")).headers.get("content-type")).toBe(type);
    },
  );

  test("must be a square SVG or PNG of at most 32 KiB, and the error says why it isn't", async () => {
    using folder = temporaryFolder();
    for (const [file, content, why] of [
      ["large.svg", SVG + " ".repeat(32 * 1024), /: it has \d+ bytes$/],
      ["wide.svg", SVG.replace("8 8", "9 8"), /: it is neither SVG nor PNG, or it is not square$/],
      ["page.html", "<p>Hello</p>", /: it is neither SVG nor PNG/],
      ["missing.png", undefined, /: ENOENT/],
    ] as const) {
      const path = join(folder.path, file);
      if (content !== undefined) await Bun.write(path, content);
      const [mistake = "", ...others] = mistakesOf({ LOGO: path });
      expect(others).toEqual([]);
      expect(mistake).toStartWith(
        "LOGO must be the path of a square SVG or PNG file of at most 32 KiB, not ",
      );
      expect(mistake).toMatch(why);
    }
  });
});

test.each([
  ["safe", "changed slightly at random"],
  ["all", "even for a single visit"],
  ["count", "nothing else about visits"],
] as const)(
  "the privacy page describes STATS_SHOWN=%s and STATS_KEEP, and the home page links to it",
  async (shown, words) => {
    await using curt = await startService({ STATS_SHOWN: shown, STATS_KEEP: "90d" });
    const response = await curt.fetch("/+privacy", { headers: HTML });
    expect(response.status).toBe(200);
    const text = await response.text();
    expect(text).toContain(words);
    expect(text).toContain("90 days");
    for (const other of [
      "changed slightly at random",
      "even for a single visit",
      "nothing else about visits",
    ])
      expect(text.includes(other), other).toEqual(other === words);
    const home = await (await curt.fetch("/", { headers: HTML })).text();
    expect(home).toContain('<a href="/+privacy">');
  },
);
