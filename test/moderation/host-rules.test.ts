import { expect, test } from "bun:test";

import type { Reason } from "../../src/links/problem.ts";
import type { Target } from "../../src/links/target.ts";
import { parseHost } from "../../src/moderation/blocklist/domain-name.ts";
import { createHostRules } from "../../src/moderation/host-rules.ts";
import type { HostRule } from "../../src/moderation/moderation-store.ts";
import { temporaryStore } from "../support/service.ts";

const decision = { who: "api", atMs: 1 } as const;

async function openRules(rules: Readonly<Record<string, Reason>>) {
  const store = await temporaryStore();
  for (const [host, reason] of Object.entries(rules)) await store.blockHost({ host, reason }, decision);
  const hostRules = createHostRules(store);
  await hostRules.read();
  const blocked = (url: string) => hostRules.blocked(new URL(url).href as Target);
  return { store, hostRules, blocked, [Symbol.asyncDispose]: store[Symbol.asyncDispose] };
}

test("a host rule applies to its host and subdomains in every spelling", async () => {
  await using opened = await openRules({ "evil.example": "phishing", "xn--h32bq4v.example": "spam" });
  const { blocked } = opened;
  const matching = `https://evil.example/ http://evil.example:8080/x?y#z https://EVIL.example
    https://evil.example./x https://evil.example../x https://a.evil.example.../x https://a.b.c.evil.example/
      https://a*b.evil.example/ https://ｅｖｉｌ.example/`.split(/\s+/);
  for (const url of matching) expect([url, blocked(url)]).toEqual([url, "phishing"]);
  for (const url of ["https://메일.example/", "https://a.xn--h32bq4v.example/"])
    expect([url, blocked(url)]).toEqual([url, "spam"]);
  const others = `https://notevil.example/ https://example/ https://evil.example.org/
    https://evil.example.evil.org/ https://good.example/evil.example https://good.example/?u=https://evil.example/
      https://good.example/#@evil.example`.split(/\s+/);
  for (const url of others) expect([url, blocked(url)]).toEqual([url, undefined]);
});

test("the most specific rule applies to a host", async () => {
  await using opened = await openRules({ "example.com": "spam", "b.example.com": "malware" });
  const { blocked } = opened;
  expect(["https://example.com", "https://a.example.com", "https://a.b.example.com"].map(blocked)).toEqual([
    "spam",
    "spam",
    "malware",
  ]);
});

test("a rule for an IP address applies to that address alone, in every spelling", async () => {
  await using opened = await openRules({
    "192.0.2.1": "malware",
    "[2001:db8::1]": "spam",
    "0.0.0.1": "other",
  });
  const { blocked } = opened;
  for (const url of [
    "http://192.0.2.1",
    "http://0xc0000201/",
    "http://192.0.513",
    "http://[::ffff:192.0.2.1]:80",
  ])
    expect([url, blocked(url)]).toEqual([url, "malware"]);
  expect(blocked("http://[2001:0DB8:0:0::1]:8080/")).toBe("spam");
  for (const url of [
    "http://192.0.2.2",
    "http://[2001:db8::2]",
    "http://5.192.0.2.1.example",
    "http://10.0.0.1",
  ])
    expect([url, blocked(url)]).toEqual([url, undefined]);
});

test("over 1,000 rules are read completely, and until then the old ones apply", async () => {
  await using opened = await openRules({ "old.example": "spam" });
  const { store, hostRules, blocked } = opened;
  const hosts = Array.from({ length: 1100 }, (_, nth) => `h${nth}.example`);
  await Promise.all(hosts.map((host) => store.blockHost({ host, reason: "spam" }, decision)));
  await store.unblockHost("old.example", decision);
  const reading = hostRules.read();
  expect(blocked("https://old.example/")).toBe("spam");
  await reading;
  expect(blocked("https://old.example/")).toBeUndefined();
  expect(hostRules.size()).toBe(1100);
  for (const nth of [0, 999, 1000, 1099]) expect(blocked(`https://h${nth}.example/`)).toBe("spam");
});

test("old rules stay in effect if the store can't be read, and the reader gets the error", async () => {
  await using opened = await openRules({ "old.example": "spam" });
  const { store } = opened;
  let fails = false;
  const hosts = (after: string, limit: number): Promise<readonly HostRule[]> =>
    fails ? Promise.reject(new Error("away")) : store.hosts(after, limit);
  const hostRules = createHostRules({ hosts });
  await hostRules.read();
  fails = true;
  expect(await hostRules.read().catch(String)).toBe("Error: away");
  expect(hostRules.blocked("https://old.example/" as Target)).toBe("spam");
});

test("parseHost normalizes every spelling of a host, and refuses schemes, ports, paths and wildcards", () => {
  for (const [input, host] of [
    [" Evil.Example. ", "evil.example"],
    ["메일.example", "xn--h32bq4v.example"],
    ["xn--h32bq4v.EXAMPLE", "xn--h32bq4v.example"],
    ["a_b.example", "a_b.example"],
    ["192.0.2.1", "192.0.2.1"],
    ["0xC0.0.2.1", "192.0.2.1"],
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["2001:DB8:0::1", "[2001:db8::1]"],
    ["[2001:db8::1]", "[2001:db8::1]"],
  ] as const)
    expect([input, parseHost(input)]).toEqual([input, host]);
  for (const input of [
    ...`. .. a..example .example *.example https://evil.example evil.example/ evil.example:80
      evil.example:8080 user@evil.example evil.example?x evil.example#x 256.256.256.256 1.2.3.4.5 [::1
      evil%2eexample`.split(/\s+/),
    "",
    " ",
    "a b",
    "\uD800.example",
    "x".repeat(2000),
  ])
    expect([input, parseHost(input)]).toEqual([input, undefined]);
});
