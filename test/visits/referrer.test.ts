import { expect, test } from "bun:test";

import * as fc from "fast-check";

import { referrerHost } from "../../src/visits/visit-headers.ts";

const HOSTS: Readonly<Record<string, string>> = {
  "https://www.google.com/": "google.com",
  "https://m.search.naver.com/search.naver?query=%ED%95%9C": "m.search.naver.com",
  "https://l.instagram.com/?u=https%3A%2F%2Fexample.com": "l.instagram.com",
  "http://t.co/abc": "t.co",
  "HTTPS://WWW.Example.COM:8443/Path": "example.com",
  "https://example.com": "example.com",
  "https://example.com?q": "example.com",
  "https://example.com#f": "example.com",
  "https://example.com./": "example.com",
  "https://user:pass@example.com/": "example.com",
  "https://www.한국.kr/": "xn--3e0b707e.kr",
  "https://예시.한국/": "xn--vv4b11d.xn--3e0b707e",
  "https://xn--3e0b707e.kr/": "xn--3e0b707e.kr",
  "https://www.com/": "www.com",
  "https://www.www.example.com/": "www.example.com",
  "https://wwwx.example.com/": "wwwx.example.com",
  "https://my_shop.example.com/": "my_shop.example.com",
  [`https://example.com/${"a".repeat(16_000)}`]: "example.com",
};

const NONE = [
  ...`- about:blank example.com //example.com/ ftp://example.com/ javascript:alert(1)
    android-app://com.google.android.gm/ android-app://com.kakao.talk https:// https:///example.com
    https://exa%00mple.com/ https://<b>.example.com/ https://-/ https://example.com:99999/`.split(/\s+/),
  "",
  "https://a b.example/",
  'https://"onload=x".example.com/',
  // Addresses in every spelling, and internal names.
  ...`http://93.184.216.34/ http://0x5db8d822/ http://10.0.0.1/wiki http://[2606:2800:220:1::1]/
    http://intranet/ http://www/ http://localhost:3000/ http://app.localhost/ http://wiki.corp.internal/
    http://printer.local/ http://nas.home.arpa/ https://printer.local./`.split(/\s+/),
  `https://${"a".repeat(64)}.com/`,
  `https://${"abcdefg.".repeat(32)}com/`,
  `https://${"한".repeat(16_000)}.com/`,
  `https://${"a.".repeat(8000)}com/`,
];

test("a referrer is the host of the page, without www.", () => {
  const results = Object.keys(HOSTS).map((referer) => [referer, referrerHost(referer)]);
  expect(Object.fromEntries(results)).toEqual(HOSTS);
});

test("a URL without a public host is no referrer", () => {
  expect(NONE.filter((referer) => referrerHost(referer) !== "")).toEqual([]);
});

test("the referrer of any header is a public host name or empty", () => {
  const part = fc.constantFrom(..."http:// https:// www. a . com @ : [ ::1 한 % 1".split(" "), "\\");
  const text = fc.oneof(
    fc.string({ unit: "binary", maxLength: 300 }),
    fc.string({ unit: "binary", maxLength: 300 }).map((rest) => `https://${rest}`),
    fc.array(part, { maxLength: 40 }).map((parts) => `https://${parts.join("")}`),
  );
  fc.assert(
    fc.property(text, (referer) => {
      const host = referrerHost(referer);
      expect(host).toMatch(/^(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)+)?$/);
      expect(host.length).toBeLessThanOrEqual(253);
    }),
  );
});
