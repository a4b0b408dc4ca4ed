import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import jsqr from "jsqr";
import type { Page } from "playwright-core";

import { DAY_MS } from "../../src/links/time.ts";
import ko from "../../src/locales/ko.json";
import { openBrowser } from "../browser/browser.ts";
import { type Raster, rasterise } from "../browser/scan.ts";
import { BASE_URL, outcomeOf, shareService, startService } from "../support/service.ts";

const curt = shareService();
let page: Page;
beforeAll(async () => {
  page = await (await openBrowser()).newPage();
  for (const custom_code of CODES) {
    expect((await curt.shorten({ original_url: "https://example.com/", custom_code })).status).toBe(201);
  }
});
afterAll(() => page.close());

/** 64 code points, each 12 characters when percent-encoded. */
const LONGEST = "𠮷".repeat(64);
const CODES = ["abc", "한글", "👨‍👩‍👧‍👦", "*️⃣", "#️⃣", "__--__", LONGEST];
/** The short address of a code, as people scan it, with the code as stored. */
const addressOf = (code: string) => `${BASE_URL}/${encodeURIComponent(code.replaceAll("\uFE0F", ""))}`;

async function rasteriseAt(path: string, zoom = 1): Promise<Raster> {
  const response = await curt.fetch(path);
  expect(response.status, path).toEqual(200);
  return rasterise(page, await response.bytes(), response.headers.get("content-type") ?? "", zoom);
}

/** Reads the QR code of an image. */
async function scan(path: string, zoom = 1): Promise<string | undefined> {
  return read(await rasteriseAt(path, zoom), zoom);
}

function read({ width, height, pixels }: Raster, zoom = 1): string | undefined {
  return jsqr(pixels, width * zoom, height * zoom)?.data;
}

/** The different colours of an image as RRGGBBAA. The colour of the top left corner comes first. */
function coloursOf({ pixels }: Raster): string[] {
  const words = new Uint32Array(pixels.buffer, pixels.byteOffset, pixels.length / 4);
  return [...new Set(words)].map((word) => Buffer.from(Uint32Array.of(word).buffer).toString("hex"));
}

/** The width of the margin: how many pixels of the diagonal from the top left corner have that corner's colour. */
function marginOf({ width, pixels }: Raster): number {
  const words = new Uint32Array(pixels.buffer, pixels.byteOffset, pixels.length / 4);
  let margin = 0;
  while (words[margin * (width + 1)] === words[0]) margin++;
  return margin;
}

describe("a QR code", () => {
  test.each(CODES)("contains the short address of %s", async (code) => {
    for (const format of ["svg", "png"])
      expect(await scan(`/${encodeURIComponent(code)}.${format}`), format).toEqual(addressOf(code));
  });

  test("can be requested with any spelling of the code", async () => {
    const paths = [
      "/abc.svg/",
      "/abc%2Esvg",
      "/%61bc.svg?size=",
      "/한글.svg",
      `/${encodeURIComponent("한글".normalize("NFD"))}%2esvg/`,
      "/*%E2%83%A3.svg",
    ];
    for (const path of paths) {
      const response = await curt.fetch(path);
      expect([response.status, response.headers.get("content-type")], path).toEqual([200, "image/svg+xml"]);
    }
  });

  test("has the requested size, margin and colours with sharp edges, and the same pixels as SVG and PNG", async () => {
    // Version 3 has 29 modules.
    const cases = [
      ["", 512, 67, "ffffff", "000000"],
      ["size=64", 64, 17, "ffffff", "000000"],
      ["size=1024&margin=0", 1024, 4, "ffffff", "000000"],
      ["size=64&margin=0&dark=123&light=fEd", 64, 3, "ffeedd", "112233"],
      ["size=100&margin=16&dark=%23000080&light=%23ff0", 100, 35, "ffff00", "000080"],
      ["size=100&size=295&margin=0&dark=&logo=x", 295, 2, "ffffff", "000000"],
    ] as const;
    for (const [query, size, margin, light, dark] of cases) {
      const raster = await rasteriseAt(`/abc.png?${query}`);
      expect([raster.width, raster.height], query).toEqual([size, size]);
      expect(marginOf(raster), query).toEqual(margin);
      expect(coloursOf(raster), query).toEqual([`${light}ff`, `${dark}ff`]);
      const code = size < 200 ? await scan(`/abc.png?${query}`, 4) : read(raster);
      expect(code, query).toEqual(addressOf("abc"));
      // SVG and PNG show the same pixels.
      const { pixels } = await rasteriseAt(`/abc.svg?${query}`);
      expect(Buffer.compare(Buffer.from(pixels.buffer), Buffer.from(raster.pixels.buffer)), query).toEqual(0);
    }
  });

  test("may have a width of 2,048 pixels", async () => {
    const png = Buffer.from(await (await curt.fetch("/abc.png?size=2048")).bytes());
    // Its width and height follow the signature and the header of the first chunk.
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([2048, 2048]);
  });

  test("is as small as possible if it doesn't fit the requested size", async () => {
    const path = `/${encodeURIComponent(LONGEST)}`;
    for (const format of ["svg", "png"]) {
      const raster = await rasteriseAt(`${path}.${format}?size=64`);
      // Version 27 has 125 modules.
      expect([raster.width, raster.height, marginOf(raster)]).toEqual([133, 133, 4]);
      expect(await scan(`${path}.${format}?size=64`, 4)).toBe(addressOf(LONGEST));
    }
  });

  test("can be scanned with a hole in its middle", async () => {
    const raster = await rasteriseAt("/abc.png?size=290&margin=0");
    const words = new Uint32Array(raster.pixels.buffer, raster.pixels.byteOffset);
    // Whitens 8 × 8 of the 29 × 29 modules, away from the corners that a scanner needs.
    for (let y = 100; y < 180; y++) words.fill(0xff_ff_ff_ff, y * 290 + 100, y * 290 + 180);
    expect(jsqr(raster.pixels, 290, 290)?.data).toBe(addressOf("abc"));
  });

  test("has the requested error correction, and more modules for a higher one", async () => {
    const modulesOf = async (ecc: string) => {
      // One pixel per module.
      const path = `/${encodeURIComponent(LONGEST)}.png?size=64&margin=0&ecc=${ecc}`;
      expect(await scan(path, 4)).toBe(addressOf(LONGEST));
      return (await rasteriseAt(path)).width;
    };
    // Versions 19, 23, 27 and 31 (ISO/IEC 18004, table 1).
    const modules: number[] = [];
    for (const ecc of ["l", "m", "q", "h"]) modules.push(await modulesOf(ecc));
    expect(modules).toEqual([93, 109, 125, 141]);
    expect(await modulesOf("L")).toBe(93);
    expect(await modulesOf("")).toBe(125);
  });

  test("opens in a browser as a document of its own with the short address as title", async () => {
    const complaints: string[] = [];
    const own = await (await openBrowser()).newPage();
    own.on("console", (message) => complaints.push(message.text()));
    await own.goto(`${curt.origin}/한글.svg`);
    expect(await own.title()).toBe(`${BASE_URL}/한글`);
    expect(await own.evaluate("document.documentElement.getAttribute('role')")).toBe("img");
    expect(complaints).toEqual([]);
    await own.goto(`${curt.origin}/abc.png?size=64`);
    expect(await own.evaluate("document.images[0].naturalWidth")).toBe(64);
    await own.close();
  });
});

describe("the response with a QR code", () => {
  test("may be embedded and cached, and can only be an image", async () => {
    for (const [format, type] of [
      ["svg", "image/svg+xml"],
      ["png", "image/png"],
    ] as const) {
      const { headers } = await curt.fetch(`/abc.${format}`);
      expect(Object.fromEntries(headers)).toMatchObject({
        "content-type": type,
        "cache-control": "private, max-age=86400",
        "content-disposition": `inline; filename="abc.${format}"`,
        "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
        "cross-origin-resource-policy": "cross-origin",
        "x-content-type-options": "nosniff",
      });
    }
  });

  test("stays in a shared cache for CACHE_SECONDS, never beyond the link's end", async () => {
    await using cached = await startService({ CACHE_SECONDS: "60" }, { standsStill: true });
    await cached.shorten({ original_url: "https://example.com/", custom_code: "far" });
    await cached.shorten({
      original_url: "https://example.com/",
      custom_code: "near",
      expire_duration: "24h",
    });
    cached.advance(DAY_MS - 30_000);
    const cacheControl = async (path: string) => (await cached.fetch(path)).headers.get("cache-control");
    expect(await cacheControl("/far.svg")).toBe("public, s-maxage=60, max-age=86400");
    expect(await cacheControl("/near.svg")).toBe("public, s-maxage=30, max-age=30");
  });

  test("names a file in any script, with a fallback in ASCII", async () => {
    const nameOf = async (code: string) =>
      (await curt.fetch(`/${encodeURIComponent(code)}.png`)).headers.get("content-disposition");
    expect(await nameOf("한글")).toBe(
      `inline; filename="qr.png"; filename*=UTF-8''${encodeURIComponent("한글")}.png`,
    );
    expect(await nameOf("*️⃣")).toBe("inline; filename=\"qr.png\"; filename*=UTF-8''%2A%E2%83%A3.png");
  });

  test("is 304 for clients that have it, by GET and HEAD", async () => {
    const first = await curt.fetch("/abc.svg");
    const tag = first.headers.get("etag") ?? "";
    expect(tag).toMatch(/^"\w+"$/);
    for (const known of [tag, `W/${tag}`, `"x", ${tag}`, "*"]) {
      for (const method of ["GET", "HEAD"]) {
        const repeated = await curt.fetch("/abc.svg", { method, headers: { "If-None-Match": known } });
        expect([repeated.status, await repeated.text()], known).toEqual([304, ""]);
        expect(repeated.headers.get("etag")).toBe(tag);
        expect(repeated.headers.get("cache-control")).toBe("private, max-age=86400");
      }
    }
    for (const [path, known] of [
      ["/abc.svg", '"x"'],
      ["/abc.svg?size=64", tag],
      ["/abc.svg?ecc=h", tag],
      ["/abc.png", tag],
      ["/__--__.svg", tag],
    ] as const) {
      const other = await curt.fetch(path, { headers: { "If-None-Match": known } });
      expect(other.status, path).toEqual(200);
    }
    expect((await curt.fetch("/nothing.svg", { headers: { "If-None-Match": "*" } })).status).toBe(404);
  });

  test("doesn't count as a visit", async () => {
    const { data } = (await (await curt.fetch("/api/v1/links/__--__")).json()) as { data: unknown };
    expect(data).toMatchObject({ visits: 0 });
  });
});

describe("a request for a QR code", () => {
  test("gets 404 for an unknown code and 410 for an ended link, as a page or JSON", async () => {
    await curt.shorten({ original_url: "https://example.com/", custom_code: "over", expire_duration: "24h" });
    curt.advance(DAY_MS);
    for (const [path, status] of [
      ["/nothing.svg", 404],
      ["/.svg", 404],
      ["/abc.SVG", 404],
      ["/%FF.svg", 404],
      ["/over.svg", 410],
      ["/over.png", 410],
    ] as const) {
      for (const [accept, type] of [
        ["text/html", "text/html; charset=utf-8"],
        ["image/avif,image/png,*/*;q=0.8", "application/json"],
      ] as const) {
        const response = await curt.fetch(path, { headers: { Accept: accept } });
        expect([response.status, response.headers.get("content-type")], path).toEqual([status, type]);
        expect(response.headers.get("cache-control")).toBe("no-store");
      }
    }
  });

  test("gets 400 for a wrong parameter, whether the link exists or not", async () => {
    const cases: Record<string, readonly string[]> = {
      "query.range": [
        ...["63", "2049", "-64", "1e3", "512.5", "NaN", "Infinity", "9".repeat(400)].map(
          (size) => `size=${size}`,
        ),
        "size=512&size=x",
        "margin=17",
        "margin=-1",
        "margin=%00",
      ],
      "field.values": ["ecc=x", "ecc=lm"],
      "query.colour": [
        ...["red", "red%22onload=%22alert(1)", "000%22/%3E%3Cscript%3E"].map((dark) => `dark=${dark}`),
        ...["%23%23fff", "ffff", "fffffff", "fff%0A"].map((light) => `light=${light}`),
      ],
      // 959595 has a contrast of 2.99:1, just too little. 3.03:1 is accepted below.
      "qr.contrast": ["dark=fff&light=000", "dark=fff", "dark=ccc", "dark=777&light=777", "dark=959595"],
      "query.range, query.colour": ["size=0&margin=x&dark=x&light=x"],
    };
    for (const [reason, queries] of Object.entries(cases))
      for (const query of queries)
        for (const path of ["/abc.svg", "/abc.png", "/nothing.png"])
          expect(await outcomeOf(curt.fetch(`${path}?${query}`)), query).toBe(`400 ${reason}`);
    expect((await curt.fetch("/abc.svg?dark=949494")).status).toBe(200);
  });

  test("gets a message about every wrong parameter in the caller's language", async () => {
    const headers = { "Accept-Language": "ko" };
    const response = await curt.fetch("/abc.svg?size=63&dark=x", { headers });
    const colour = ko["query.colour"].replace("{example}", "1a7f5a");
    const range = ko["query.range"].replace("{min}", "64").replace("{max}", "2,048");
    expect(await response.json()).toEqual({ status: "error", message: `size: ${range} dark: ${colour}` });
  });
});
