import { expect, test } from "bun:test";

import { isPublicSuffix, registrableDomain } from "../../src/moderation/blocklist/domain-name.ts";

test("the registrable domain is the public suffix and one label more", () => {
  const domains = {
    "www.example.com": "example.com",
    "example.com.": "example.com",
    "a.b.example.co.uk": "example.co.uk",
    "co.uk": "co.uk",
    "a.someone.github.io": "someone.github.io",
    "github.io": "github.io",
    "www.xn--vv4b11d.xn--3e0b707e": "xn--vv4b11d.xn--3e0b707e",
    "a.xn--55qx5d.cn": "a.xn--55qx5d.cn",
    "a.b.not-a-known-suffix": "b.not-a-known-suffix",
    localhost: "localhost",
    "203.0.113.9": "203.0.113.9",
    "[2001:db8::9]": "[2001:db8::9]",
  };
  const results = Object.fromEntries(Object.keys(domains).map((host) => [host, registrableDomain(host)]));
  expect(results).toEqual(domains);
});

test("public suffixes are those of registries and those of companies", () => {
  for (const host of ["com", "co.uk", "co.uk.", "github.io", "xn--3e0b707e", "foo.kawasaki.jp", "localhost"])
    expect([host, isPublicSuffix(host)]).toEqual([host, true]);
  for (const host of ["example.com", "a.github.io", "city.kawasaki.jp", "203.0.113.9", "[2001:db8::9]"])
    expect([host, isPublicSuffix(host)]).toEqual([host, false]);
});
