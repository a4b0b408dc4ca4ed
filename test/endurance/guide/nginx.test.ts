import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { MAX_TARGET_LENGTH } from "../../../src/links/target.ts";
import { ROOT, toDomain } from "../../support/service.ts";
import { NGINX, OTHER, OWN, startBehindNginx } from "./nginx.ts";

const DOCUMENT = readFileSync(join(ROOT, "docs/proxies.md"), "utf8");
/** The examples for nginx: the whole file, and the lines that add a cache to it. */
const [FILE = "", CACHE = ""] = [...DOCUMENT.matchAll(/^```nginx\n([\s\S]*?)^```$/gm)].map(
  ([, text = ""]) => text,
);

/** Puts the cache where the document says: its first line at the top, the others into `location /`. */
function withCache(file: string): string {
  const [path = "", ...lines] = CACHE.split("\n");
  return `${path}\n${file.replace("location / {", (start) => `${start}\n${lines.join("\n")}`)}`;
}

const locationOf = async (response: Promise<Response>) => (await response).headers.get("location");

test("docs/proxies.md has a file for nginx, and a cache for it", () => {
  expect(FILE).toContain("location / {");
  expect(CACHE).toStartWith("proxy_cache_path ");
});

if (NGINX !== null)
  describe("nginx as in docs/proxies.md", () => {
    test("caches the links of each domain separately", async () => {
      await using site = await startBehindNginx(withCache(FILE), { CACHE_SECONDS: "60" });
      const other = toDomain(site.curt, OTHER);
      const link = { original_url: "https://evil.example/", custom_code: "win" };
      const created = await other.shorten(link);
      expect(created.status).toBe(201);
      expect(await locationOf(site.get(OTHER, "/win"))).toBe("https://evil.example/");
      expect((await site.get(OWN, "/win")).status).toBe(404);
      await site.curt.shorten({ ...link, original_url: "https://good.example/" });
      expect(await locationOf(site.get(OWN, "/win"))).toBe("https://good.example/");
      expect(await locationOf(site.get(OTHER, "/win"))).toBe("https://evil.example/");
      expect(await locationOf(site.get(OTHER, "/win", { method: "HEAD" }))).toBe("https://evil.example/");
    });

    test("caches redirects and QR codes only if CACHE_SECONDS allows it", async () => {
      for (const [CACHE_SECONDS, isKept] of [
        ["60", true],
        ["0", false],
      ] as const) {
        await using site = await startBehindNginx(withCache(FILE), { CACHE_SECONDS });
        const link = { target: "https://example.com/", code: "brief" };
        const headers = { "Content-Type": "application/json" };
        const created = await site.curt.fetch("/api/v1/links", {
          method: "POST",
          headers,
          body: JSON.stringify(link),
        });
        const { data } = (await created.json()) as { data: { manage_key: string } };
        const statuses = () =>
          Promise.all(["/brief", "/brief.svg"].map(async (path) => (await site.get(OWN, path)).status));
        expect(await statuses()).toEqual([302, 200]);
        const Authorization = `Bearer ${data.manage_key}`;
        const withdrawn = await site.curt.fetch("/api/v1/links/brief", {
          method: "DELETE",
          headers: { Authorization },
        });
        expect(withdrawn.ok).toBe(true);
        expect(await statuses()).toEqual(isKept ? [302, 200] : [410, 410]);
      }
    });

    test("redirects to the longest destinations with the longest query, with and without a cache", async () => {
      const target = "https://example.com/".padEnd(MAX_TARGET_LENGTH, "x");
      // Its default for the longest request line is 8 KB.
      const query = "?".padEnd(8000, "y");
      for (const file of [FILE, withCache(FILE)]) {
        await using site = await startBehindNginx(file, { CACHE_SECONDS: "60" });
        const links = [
          { target, code: "long" },
          { target, code: "longer", forward_query: true },
        ];
        const created = await site.curt.fetch("/api/v1/links/batch", {
          method: "POST",
          headers: { "Content-Type": "application/json" },
          body: JSON.stringify(links),
        });
        expect(created.status).toBeLessThan(300);
        expect(await locationOf(site.get(OWN, `/long${query}`))).toBe(target);
        expect(await locationOf(site.get(OWN, `/longer${query}`))).toBe(`${target}${query}`);
      }
    });

    test("redirects browsers to HTTPS, and sends HSTS", async () => {
      await using site = await startBehindNginx(FILE);
      const plain = await site.getPlain(OWN, "/win");
      expect([plain.status, plain.headers.get("location")]).toEqual([301, `https://${OWN}/win`]);
      expect(plain.headers.get("strict-transport-security")).toBeNull();
      for (const path of ["/", "/nobody"])
        expect((await site.get(OWN, path)).headers.get("strict-transport-security"), path).toBe(
          "max-age=31536000",
        );
    });
  });
