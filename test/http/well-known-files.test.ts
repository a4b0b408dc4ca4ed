import { describe, expect, test } from "bun:test";

import { BASE_URL, shareService, startService } from "../support/service.ts";

const curt = shareService({ CONTACT: "abuse@curt.example" });

describe("well-known files", () => {
  test("robots.txt keeps crawlers out of the API only", async () => {
    const response = await curt.fetch("/robots.txt");
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(await response.text()).toBe("User-agent: *\nDisallow: /api/\n");
  });

  test.each([
    ["abuse@curt.example", "mailto:abuse@curt.example"],
    ["https://curt.example.org/contact", "https://curt.example.org/contact"],
  ])("security.txt has the fields of RFC 9116 for CONTACT=%s", async (contact, uri) => {
    await using named = await startService({ CONTACT: contact });
    const response = await named.fetch("/.well-known/security.txt");
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    const fields = new Map(
      (await response.text())
        .trimEnd()
        .split("\n")
        .map((line) => line.split(/: (.*)/) as [string, string]),
    );
    expect([...fields.keys()]).toEqual(["Contact", "Expires", "Preferred-Languages", "Canonical"]);
    expect(fields.get("Contact")).toBe(uri);
    expect(fields.get("Preferred-Languages")).toBe("en, ja, ko");
    expect(fields.get("Canonical")).toBe(`${BASE_URL}/.well-known/security.txt`);
    // Must be in RFC 3339's format, in the future, and less than a year away.
    const expires = fields.get("Expires") ?? "";
    expect(expires).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/);
    const days = (Date.parse(expires) - Date.now()) / 86_400_000;
    expect(days > 30 && days < 365).toBe(true);
  });

  test("security.txt doesn't exist without CONTACT", async () => {
    await using nameless = await startService();
    for (const method of ["GET", "HEAD", "POST", "OPTIONS"])
      expect((await nameless.fetch("/.well-known/security.txt", { method })).status, method).toBe(404);
  });

  test("robots.txt, security.txt and favicon.ico answer GET and HEAD only", async () => {
    for (const path of ["/robots.txt", "/.well-known/security.txt", "/favicon.ico"]) {
      const body = await (await curt.fetch(path)).bytes();
      const head = await curt.fetch(path, { method: "HEAD" });
      expect([head.status, head.headers.get("content-length")], path).toEqual([200, String(body.byteLength)]);
      expect(head.headers.get("x-content-type-options")).toBe("nosniff");
      const other = await curt.fetch(path, { method: "POST", body: "x" });
      expect([other.status, other.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
    }
  });
});
