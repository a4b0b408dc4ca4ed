import { describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";

import { shareService, startService } from "../support/service.ts";

const original_url = "https://example.com/";

const curt = shareService({ ADMIN_TOKEN: "correct-horse-battery" });

const idOf = (response: Response) => response.headers.get("request-id");

describe("Request-Id", () => {
  test("is in every response of the API, and differs each time", async () => {
    const responses = [
      await curt.shorten({ original_url }),
      await curt.shorten({ original_url: 5 }),
      await curt.fetch("/api/v1/shorten"),
      await curt.fetch("/api/v1/shorten", { method: "HEAD" }),
      await curt.fetch("/api/v1/shorten", { method: "DELETE" }),
      await curt.fetch("/api/v1/shorten", { method: "OPTIONS" }),
      await curt.fetch("/api/v1/links/none"),
      await curt.fetch("/api/v1/nothing"),
      await curt.fetch("/api/v1/openapi.json"),
      await curt.fetch("/api/v1/admin/figures"),
      await curt.shorten("[]", { "Content-Type": "text/html" }),
    ];
    for (const response of responses)
      expect(idOf(response)).toMatch(/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/);
    expect(new Set(responses.map(idOf)).size).toBe(responses.length);
  });

  test("is the caller's if it is well-formed and no address", async () => {
    for (const id of ["12345678", "0196f9c2-6d0c-7000-8000-000000000000", "A_b-".repeat(16)])
      expect(idOf(await curt.shorten({ original_url }, { "Request-Id": id }))).toBe(id);
    const addresses = ["203.0.113.9", "2001:db8::1:2:3"];
    for (const id of ["1234567", "-2345678", "a".repeat(65), ...addresses, "a b c d e f", "ééééééééé"])
      expect(idOf(await curt.shorten({ original_url }, { "Request-Id": encodeURI(id) }))).not.toBe(
        encodeURI(id),
      );
  });

  test("can be read by scripts of other origins, and is documented", async () => {
    const response = await curt.shorten({ original_url }, { Origin: "https://other.example" });
    expect(response.headers.get("access-control-expose-headers")).toContain("Request-Id");
    const { paths } = (await (await curt.fetch("/api/v1/openapi.json")).json()) as any;
    for (const status of ["201", "400", "503"])
      expect(paths["/api/v1/shorten"].post.responses[status].headers["Request-Id"].description).toContain(
        "Request-Id",
      );
    expect(paths["/{code}"].get.responses["302"].headers).not.toHaveProperty("Request-Id");
  });

  test("is in no redirect, page, image or health check", async () => {
    await curt.shorten({ original_url, custom_code: "one" });
    for (const path of ["/one", "/none", "/one+", "/", "/one.svg", "/livez"])
      expect(idOf(await curt.fetch(path, { headers: { "Request-Id": "12345678" } }))).toBeNull();
  });
});

test("a failed request is logged with its Request-Id, and no line of the log has an address or user agent", async () => {
  await using broken = await startService({ TRUSTED_PROXIES: "127.0.0.1,::1", LIMIT_CREATE: "4/1h" });
  const from = { "X-Forwarded-For": "203.0.113.77", "User-Agent": "unusual/1" };
  for (let nth = 0; nth < 2; nth++) await broken.shorten({ original_url }, from);
  await broken.fetch("/none", { headers: from });
  broken.expectFaults();
  for (const part of ["", "-wal", "-shm"]) rmSync(`${broken.file}${part}`, { force: true });
  for (const id of ["first-of-them", "second-of-them"]) {
    const failed = await broken.shorten({ original_url }, { ...from, "Request-Id": id });
    expect([failed.status, idOf(failed)]).toEqual([503, id]);
  }
  await broken.fetch("/none", { headers: from });
  const log = broken.logged.join("\n");
  expect(log).toContain('"request":"first-of-them"');
  for (const secret of ["203.0.113", "127.0.0.1", "::1", "unusual"]) expect(log).not.toContain(secret);
});
