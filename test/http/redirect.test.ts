import { beforeAll, describe, expect, test } from "bun:test";

import * as fc from "fast-check";

import { DAY_MS } from "../../src/links/time.ts";
import { addGuarded } from "../support/guarded-links.ts";
import { shareService, startService } from "../support/service.ts";
import { sendRaw } from "./raw.ts";

const curt = shareService({}, { standsStill: true });
beforeAll(async () => {
  await curt.shorten({ original_url: TARGET, custom_code: "abc" });
});

const TARGET = "https://example.com/where?to=go#here";
const BROWSER = { Accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" };

/** Creates a link that lasts for a day. Resolves with its expiry as the API formats it. */
async function createForDay(custom_code: string, service = curt): Promise<string> {
  const body = { original_url: TARGET, custom_code, expire_duration: "24h" };
  const { data } = (await (await service.shorten(body)).json()) as { data: { expiration_date: string } };
  return data.expiration_date;
}

describe("a short address", () => {
  test("redirects GET and HEAD with and without a trailing slash, and no cache stores the response", async () => {
    for (const path of ["/abc", "/abc/", "/abc?x=1", "/abc/?x=1", "/%61bc", "/abc/?", "/abc#x"]) {
      for (const method of ["GET", "HEAD"]) {
        const response = await curt.fetch(path, { method });
        expect([method, response.status], path).toEqual([method, 302]);
        expect(response.headers.get("location")).toBe(TARGET);
        expect(response.headers.get("cache-control")).toBe("no-store");
        expect(response.headers.get("access-control-allow-origin")).toBeNull();
        expect(response.headers.get("set-cookie")).toBeNull();
        expect(await response.text()).toBe("");
      }
    }
  });

  test("sends the same headers to HEAD as to GET, as do other addresses", async () => {
    const ofLinks = "/abc /nothing /abc.txt/ /abc.svg /abc.png?size=1 /a/b";
    const others = "/ /livez /readyz/ /api/v1/shorten /api/v1/openapi.json /api/x";
    for (const path of `${ofLinks} ${others}`.split(" ")) {
      const [get, head] = await Promise.all(
        ["GET", "HEAD"].map(async (method) => {
          const response = await sendRaw(
            curt.origin,
            `${method} ${path} HTTP/1.1\r\nHost: x\r\nRequest-Id: 12345678\r\nConnection: close\r\n\r\n`,
          );
          const [headers = "", body = ""] = response.toLowerCase().split("\r\n\r\n");
          const lines = headers.split("\r\n").filter((line) => !line.startsWith("date:"));
          return { lines: lines.toSorted(), body };
        }),
      );
      expect(head?.lines, path).toEqual(get?.lines);
      expect(head?.body).toBe("");
    }
  });

  const SCRIPTS = {
    "Korean, decomposed": "한글날".normalize("NFD"),
    "Persian with a non-joiner": "می\u200Cخواهم",
    "a family": "👨‍👩‍👧‍👦",
    keycap: "#️⃣",
  };
  test.each(Object.entries(SCRIPTS))(
    "redirects every Unicode spelling of its code: %s",
    async (script, code) => {
      const original_url = `https://example.com/${encodeURIComponent(script)}`;
      const created = await curt.shorten({ original_url, custom_code: code });
      expect(created.status).toBe(201);
      expect(((await created.json()) as { data: { code: string } }).data.code).toBe(code);
      const forms = [code, code.normalize("NFC"), code.normalize("NFD"), code.replaceAll("\uFE0F", "")];
      const paths = forms.flatMap((form) => {
        const percent = encodeURIComponent(form);
        const lower = percent.replace(/%../g, (hex) => hex.toLowerCase());
        return [percent, lower, `${percent}/`, `${lower}/?q=1`];
      });
      for (const path of paths) {
        const response = await curt.fetch(`/${path}`);
        expect([response.status, response.headers.get("location")], path).toEqual([302, original_url]);
      }
      for (const form of forms.filter((one) => !one.includes("#"))) {
        const bytes = await sendRaw(
          curt.origin,
          `GET /${form}/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
        );
        expect(bytes).toContain(`Location: ${original_url}\r\n`);
      }
    },
  );

  test("answers 404 in the envelope if no link has its code", async () => {
    const paths = [
      "/nothing",
      "/nothing/",
      "/%FF",
      "/abc%00",
      "/abc%2F",
      "/%E0%A4%A",
      "/%2541bc",
      "/abc;a.js",
      "/abc.",
      "/abc%20",
      "/ABC",
      "/admin",
      "/.well-known/security.txt",
      "/..%2fabc",
      `/${"a".repeat(10_000)}`,
      "/abc\u200B",
      "/__proto__",
      "/abc%EF%BF%BD",
    ];
    for (const path of paths) {
      const response = await curt.fetch(path);
      expect([path.slice(0, 40), response.status]).toEqual([path.slice(0, 40), 404]);
      expect(await response.json()).toMatchObject({ status: "error", message: expect.any(String) });
      expect(response.headers.get("cache-control")).toBe("no-store");
    }
  });

  test("never answers 5xx, whatever its bytes", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 40 }), async (bytes) => {
        const path = Buffer.from(bytes.filter((byte) => byte > 32));
        const request = Buffer.concat([
          Buffer.from("GET /"),
          path,
          Buffer.from(" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"),
        ]);
        const response = await sendRaw(curt.origin, request);
        expect(response).toMatch(/^HTTP\/1\.1 (200|302|308|400|404) /);
      }),
      { numRuns: 150 },
    );
  });

  test("answers 405 with Allow to other methods, as do other addresses", async () => {
    for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
      for (const path of "/abc/ /nothing /livez /abc+ /abc.svg /robots.txt /api/v1/codes/abc".split(" ")) {
        const response = await curt.fetch(path, { method });
        expect(response.status, `${method} ${path}`).toBe(405);
        expect(response.headers.get("allow")).toBe("GET, HEAD, OPTIONS");
      }
    }
    expect(
      await sendRaw(
        curt.origin,
        "TRACE /abc HTTP/1.1\r\nHost: x\r\nX-Canary: 1\r\nConnection: close\r\n\r\n",
      ),
    ).toMatch(/^HTTP\/1.1 405 (?!.*canary)/is);
    const put = await curt.fetch("/api/v1/shorten", { method: "PUT", body: "{}" });
    expect([put.status, put.headers.get("allow")]).toEqual([405, "GET, HEAD, POST, OPTIONS"]);
    const home = await curt.fetch("/", { method: "PUT" });
    expect([home.status, home.headers.get("allow")]).toEqual([405, "GET, HEAD, POST, OPTIONS"]);
    const options = await curt.fetch("/abc", { method: "OPTIONS" });
    expect([options.status, options.headers.get("allow")]).toEqual([204, "GET, HEAD, OPTIONS"]);
  });

  test("lists POST in Allow exactly where it is accepted", async () => {
    await addGuarded(curt, "closed", { password: "open sesame" });
    await addGuarded(curt, "counts", { maxVisits: 3 });
    for (const [path, allow] of [
      ["/closed", "GET, HEAD, POST, OPTIONS"],
      ["/closed/", "GET, HEAD, POST, OPTIONS"],
      ["/counts", "GET, HEAD, OPTIONS"],
      ["/api/v1/links/batch", "GET, HEAD, POST, PATCH, DELETE, OPTIONS"],
      ["/api/v1/links/batch2", "GET, HEAD, PATCH, DELETE, OPTIONS"],
      ["/api/v1/links/abc/reports", "POST, OPTIONS"],
    ] as const)
      for (const [method, status] of [
        ["OPTIONS", 204],
        ["PUT", 405],
      ] as const) {
        const response = await curt.fetch(path, { method });
        expect([response.status, response.headers.get("allow")], path).toEqual([status, allow]);
      }
  });

  test("redirects even if its code resembles a route or a prototype", async () => {
    for (const code of ["apitest", "blog2", "docs2", "__proto__", "constructor", "livez2"]) {
      const original_url = `https://example.com/${code}`;
      expect((await curt.shorten({ original_url, custom_code: code })).status).toBe(201);
      expect((await curt.fetch(`/${code}`)).headers.get("location")).toBe(original_url);
    }
  });
});

describe("an expired link", () => {
  test("answers 410 from the millisecond of its expiry on, even if cached, and says when it expired", async () => {
    const ends = await createForDay("short");
    expect((await curt.fetch("/short")).status).toBe(302);
    curt.advance(Date.parse(ends) - 1 - curt.nowMs());
    expect((await curt.fetch("/short")).status).toBe(302);
    curt.advance(1);
    const response = await curt.fetch("/short/");
    expect(response.status).toBe(410);
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(await response.json()).toEqual({ status: "error", message: `This link expired on ${ends}.` });
  });

  test("holds its code for 30 days, and a new link with it redirects right away", async () => {
    await createForDay("reused");
    expect((await curt.fetch("/reused")).status).toBe(302);
    curt.advance(31 * DAY_MS - 1);
    const original_url = "https://example.org/new";
    expect((await curt.shorten({ original_url, custom_code: "reused" })).status).toBe(409);
    curt.advance(1);
    expect((await curt.shorten({ original_url, custom_code: "reused" })).status).toBe(201);
    expect((await curt.fetch("/reused")).headers.get("location")).toBe(original_url);
  });
});

describe("an unknown address", () => {
  async function shown(path: string, headers: Record<string, string>, service = curt) {
    const response = await service.fetch(path, { headers });
    return { response, type: response.headers.get("content-type"), text: await response.text() };
  }

  test("shows a page to clients that prefer HTML, and JSON to others", async () => {
    for (const accept of ["text/html", BROWSER.Accept, "text/html;q=0.9,application/json;q=0.1", "text/*"]) {
      expect((await shown("/nothing", { Accept: accept })).type, accept).toEqual("text/html; charset=utf-8");
    }
    for (const accept of [
      "*/*",
      "application/json",
      "application/json,text/html;q=0.5",
      "image/png",
      "",
      "nonsense",
    ]) {
      expect((await shown("/nothing", { Accept: accept })).type, accept).toEqual("application/json");
    }
  });
});

test("a shared cache may keep a redirect for CACHE_SECONDS, never beyond the link's end", async () => {
  await using cached = await startService({ CACHE_SECONDS: "60" }, { standsStill: true });
  await cached.shorten({ original_url: TARGET, custom_code: "far", expire_duration: "1week" });
  await createForDay("last", cached);
  cached.advance(29_600);
  await createForDay("near", cached);
  cached.advance(DAY_MS - 30_500);
  const cacheControl = async (code: string) => (await cached.fetch(`/${code}`)).headers.get("cache-control");
  for (let time = 0; time < 2; time++) {
    expect(await cacheControl("far")).toBe("public, max-age=0, s-maxage=60");
    expect(await cacheControl("near")).toBe("public, max-age=0, s-maxage=30");
    expect(await cacheControl("last")).toBe("no-store");
  }
  expect(await cacheControl("unknown")).toBe("no-store");
});
