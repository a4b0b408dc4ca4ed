import { describe, expect, test } from "bun:test";

import { ConfigError, readConfig } from "../../src/config/config.ts";
import { type RunningService, shareService, startService, toDomain } from "../support/service.ts";
import { elementsOf, HTML, sendForm } from "./markup.ts";

const HOME = "https://www.example.com/welcome";

/** The addresses in links, forms and the manifest of a page, without their queries. */
async function addressesOn(curt: RunningService, path: string): Promise<readonly string[]> {
  const elements = await elementsOf(await curt.fetch(path, { headers: HTML }));
  return elements
    .flatMap(({ attributes: { href, action } }) => [href, action])
    .flatMap((address) => (address === undefined ? [] : [address.replace(/\?.*/, "")]));
}

describe("HOME_URL", () => {
  const curt = shareService({ HOME_URL: HOME, CONTACT: "abuse@curt.example" });

  test("redirects / to the operator's site, and serves the form at /+new", async () => {
    for (const method of ["GET", "HEAD"]) {
      const { status, headers } = await curt.fetch("/?language=ko", { method, headers: HTML });
      expect([status, headers.get("location"), headers.get("cache-control")]).toEqual([
        302,
        HOME,
        "no-store",
      ]);
    }
    expect((await curt.fetch("/+new", { headers: HTML })).headers.get("x-robots-tag")).toBe("all");
    const refused = await sendForm(curt, "/+new", {
      original_url: "https://example.com/",
      custom_code: "a b",
    });
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('action="/+new"')]);
    const created = await sendForm(curt, "/+new", {
      original_url: "https://example.com/",
      custom_code: "new",
    });
    expect([created.status, created.headers.get("location")]).toEqual([303, "/new+#made"]);
  });

  test("moves every link to the form, also that of an installed app", async () => {
    await curt.shorten({ original_url: "https://example.com/", custom_code: "link" });
    for (const path of [
      "/+new",
      "/link+",
      "/unknown",
      "/a.b.c",
      "/+links",
      "/+reported",
      "/+report",
      "/docs",
    ]) {
      const addresses = await addressesOn(curt, path);
      expect([path, addresses.includes("/+new"), addresses.includes("/")]).toEqual([path, true, false]);
    }
    const elements = await elementsOf(await curt.fetch("/+new", { headers: HTML }));
    const manifest = elements.find(({ attributes: { rel } }) => rel === "manifest")?.attributes["href"] ?? "";
    expect(await (await curt.fetch(manifest)).json()).toMatchObject({
      start_url: "/+new",
      share_target: { action: "/+new" },
    });
    const card = elements.find(({ attributes: { property } }) => property === "og:url");
    expect(card?.attributes["content"]).toBe("https://curt.example/+new");
  });

  test("is one for a host, and another for all that it doesn't name", async () => {
    await using both = await startService({
      DOMAINS: "https://brand.example, https://한글.example",
      HOME_URL: `${HOME}, 한글.example=http://www.xn--bj0bj06e.example/?a=b`,
    });
    for (const [host, home] of [
      ["curt.example", HOME],
      ["brand.example", HOME],
      ["xn--bj0bj06e.example", "http://www.xn--bj0bj06e.example/?a=b"],
    ] as const)
      expect((await toDomain(both, host).fetch("/")).headers.get("location")).toBe(home);
  });

  test("for one host leaves the forms of others at /", async () => {
    await using both = await startService({
      DOMAINS: "https://brand.example",
      HOME_URL: `brand.example=${HOME}`,
    });
    expect((await both.fetch("/+new")).status).toBe(404);
    expect(await addressesOn(both, "/unknown")).toContain("/");
    expect(await addressesOn(toDomain(both, "brand.example"), "/unknown")).not.toContain("/");
  });

  test.each([
    ["www.example.com", "HOME_URL must be http:// or https:// addresses"],
    ["javascript:alert(1)", "HOME_URL must be http:// or https:// addresses"],
    ["https://name:secret@www.example.com", "HOME_URL must be http:// or https:// addresses"],
    [`https://www.example.com/${"x".repeat(2000)}`, "HOME_URL must be http:// or https:// addresses"],
    [`other.example=${HOME}`, "HOME_URL must name hosts of BASE_URL or DOMAINS: other.example is none"],
    [`alias.example=${HOME}`, "HOME_URL must name hosts of BASE_URL or DOMAINS: alias.example is none"],
    ["http://curt.example/", "HOME_URL must not be the home of this service"],
    ["curt.example=https://alias.example", "HOME_URL must not be the home of this service"],
  ])("refuses %p", (HOME_URL, mistake) => {
    const settings = { BASE_URL: "https://curt.example", ALIASES: "alias.example", HOME_URL };
    expect(() => readConfig(settings)).toThrow(ConfigError);
    expect(() => readConfig(settings)).toThrow(mistake);
  });

  test("may be a page of this service", () => {
    const settings = { BASE_URL: "https://curt.example", HOME_URL: "https://curt.example/handbook" };
    expect(readConfig(settings).homeUrls).toEqual([
      { host: undefined, url: "https://curt.example/handbook" },
    ]);
  });
});
