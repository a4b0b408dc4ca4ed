import { beforeAll, describe, expect, test } from "bun:test";

import { DAY_MS } from "../../src/links/time.ts";
import { shareService, startService } from "../support/service.ts";
import { untilCounted, visit } from "../visits/visits.ts";
import { elementsOf, expectGuarded, expectInert, HOSTILE, HTML, MARK, sendForm } from "./markup.ts";
import { sendRaw } from "./raw.ts";

const LONG = "https://example.com/long";

const curt = shareService();
beforeAll(async () => {
  await curt.shorten({ original_url: LONG, custom_code: "taken" });
  await curt.shorten({ original_url: LONG, custom_code: "ended", expire_duration: "24h" });
  curt.advance(DAY_MS);
});

const get = (path: string, headers = {}) => curt.fetch(path, { headers: { ...HTML, ...headers } });

const send = (fields: Parameters<typeof sendForm>[2], headers = {}) => sendForm(curt, "/", fields, headers);

describe("hostile input", () => {
  test.each(HOSTILE)("stays text in pages: %s", async (text) => {
    const encoded = encodeURIComponent(text);
    const code = `hostile-${Bun.hash(text).toString(36)}`;
    const target = `https://example.com/?${text}#${text}`;
    expect((await curt.shorten({ original_url: target, custom_code: code })).status).toBe(201);
    const requests: [number, Promise<Response>][] = [
      [200, get(`/?original_url=${encoded}&custom_code=${encoded}&expire_duration=${encoded}`)],
      [200, get(`/?text=${encodeURIComponent(`see https://example.com/${text}`)}&title=${encoded}`)],
      [200, get(`/?language=${encoded}&meant=${encoded}`)],
      [200, get(`/${code}+?tz=${encoded}&language=${encoded}`)],
      [200, get("/", { "Accept-Language": text, Cookie: `language=${encoded}; ${encoded}=1` })],
      [400, send({ original_url: text, custom_code: text, expire_duration: text })],
      [400, send({ original_url: text, custom_code: text })],
      [400, send({ original_url: "", custom_code: text, expire_duration: "" })],
      [400, send({ original_url: "ftp://x", meant: `ftp://${text}` })],
      [404, get(`/${encoded}`)],
      [404, get(`/${encoded}+`)],
      [404, get(`/.assets/${encoded}`)],
      [404, get(`/${encoded}/${encoded}?${encoded}`)],
      [410, get(`/ended?${encoded}`)],
    ];
    for (const [status, request] of requests) {
      const response = await request;
      expect(response.status).toBe(status);
      const { pathname, search } = new URL(response.url);
      const isPublic = pathname === "/" && status === 200 && !/original_url=|text=/.test(search);
      expectGuarded(response, isPublic, isPublic || status === 400);
      expect(response.headers.get("set-cookie")).toBeNull();
      const page = await response.clone().text();
      if (/[<>"']/.test(text)) expect(page).not.toContain(text);
      expectInert(await elementsOf(response));
    }
  });

  test("stays text as a referrer that many visitors share", async () => {
    await using open = await startService({ STATS_SHOWN: "all", TRUSTED_PROXIES: "127.0.0.1" });
    await open.shorten({ original_url: LONG, custom_code: "referred" });
    for (let nth = 0; nth < 5; nth++) {
      for (const referer of [
        `https://<b>${MARK}.example/`,
        `https://"onload=${MARK}.example/`,
        `javascript:${MARK}`,
      ])
        await visit(open, "referred", { Referer: referer, "X-Forwarded-For": `10.0.${nth}.7` });
    }
    await untilCounted(open, "referred", 15);
    const response = await open.fetch("/referred+", { headers: HTML });
    expect(await response.clone().text()).not.toContain(MARK);
    expectInert(await elementsOf(response));
  });
});

describe("the form", () => {
  test("redirects with 303 to the preview of the created link", async () => {
    const response = await send({
      original_url: ` ${LONG}\n`,
      custom_code: " 붙여넣기 ",
      expire_duration: "24h",
    });
    expect(response.status).toBe(303);
    expect(response.headers.get("location")).toBe(`/${encodeURIComponent("붙여넣기")}+#made`);
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(
      curt.logged.filter((line) => line.includes("link created") && line.includes("붙여넣기")),
    ).toHaveLength(1);
  });

  test("accepts a body of 64 KiB", async () => {
    const fields = `original_url=${LONG}&x=`;
    expect((await send(fields + "a".repeat(65_536 - fields.length))).status).toBe(303);
  });
});

test("no address redirects to another site, except a short one", async () => {
  for (const path of [
    "//evil.example/+",
    "//evil.example+",
    "/\\evil.example/+",
    "/%5Cevil.example/+",
    "/%2Fevil.example/+",
    "/%2F%2Fevil.example/%2B",
    "/.//evil.example/+",
    "/x/..//evil.example/+",
    "/+x/+",
    "/https:evil.example/+",
    "/?next=https://evil.example/",
    "/https://evil.example/",
  ]) {
    const response = await sendRaw(
      curt.origin,
      `GET ${path} HTTP/1.1\r\nHost: forged.example\r\nX-Forwarded-Host: forged.example\r\nAccept: text/html\r\nConnection: close\r\n\r\n`,
    );
    const [, status] = /^HTTP\/1\.1 (\d+)/.exec(response) ?? [];
    const [, location] = /\r\nlocation: (.*)\r\n/i.exec(response) ?? [];
    expect(status, path).toEqual(location === undefined ? (path.startsWith("/?") ? "200" : "404") : "308");
    if (location !== undefined) expect(location).toMatch(/^\/(?:[\w.-]|%[0-9A-F]{2})+\+$/);
    // The Host header that the client sent is not used anywhere in the response.
    expect(response.slice(response.indexOf("\r\n\r\n"))).not.toContain("forged.example");
    // The page shows the address, but not as a link.
    expect(response).not.toMatch(/(?:href|src|action)="[^"]*evil/);
  }
});
