import { expect, test } from "bun:test";

import { describeDestination } from "../../src/pages/destination.ts";

const hostsOf = (host: string) => {
  const { hostname } = new URL(`http://${host}/`);
  const { host: shown, asciiHost } = describeDestination(`http://${hostname}/`);
  return { hostname, shown, asciiHost };
};

test("a host is told in its own script, and in ASCII beside it", () => {
  for (const host of [
    "숏.한국",
    "大韓民國.한국",
    "漢字かな.日本",
    "スーパー.jp",
    "佐々木.jp",
    "bücher.example",
    "пример.рф",
    "παράδειγμα.gr",
    "مثال.إختبار",
    "दिल्ली.भारत",
    "аррӏе.com",
  ]) {
    const { hostname, shown, asciiHost } = hostsOf(host);
    expect([shown, asciiHost]).toEqual([host, hostname]);
  }
});

test("a host that could pretend to be another is told in ASCII only", () => {
  for (const host of [
    "bank.example∕.evil.example",
    "paypal.comノlogin.evil.example",
    "paypal.comǀlogin.evil.example",
    "paypal.comᐠlogin.evil.example",
    "paypal.comꓸevil.example",
    "paypal.comːevil.example",
    "pаypal.com",
    "i❤.example",
    `a${"\u0323\u0331\u032d\u0330\u0325\u0316".repeat(3)}.example`,
  ]) {
    const { hostname, shown, asciiHost } = hostsOf(host);
    expect([hostname.includes("xn--"), shown, asciiHost]).toEqual([true, hostname, undefined]);
  }
});

test("hosts in ASCII, and addresses, are told as they are", () => {
  for (const host of ["example.com", "sub_domain.example-host.com", "127.0.0.1", "[::1]", "localhost"]) {
    const { hostname, shown, asciiHost } = hostsOf(host);
    expect([shown, asciiHost]).toEqual([hostname, undefined]);
  }
});
