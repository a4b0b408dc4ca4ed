import { expect, test } from "bun:test";

import { describeDestination, splitHost } from "../../src/pages/shared/destination-parts.ts";

const describeHost = (host: string) => {
  const { hostname } = new URL(`http://${host}/`);
  const { host: shown, asciiHost, isMistakable, address } = describeDestination(`http://${hostname}/`);
  return { hostname, shown, asciiHost, isMistakable, address };
};

const hostsIn = (text: string) => text.trim().split(/\s+/);

test("a host is shown in its own script, with ASCII beside it", () => {
  const hosts = hostsIn(`
    숏.한국 大韓民國.한국 漢字かな.日本 スーパー.jp 佐々木.jp bücher.example пример.рф παράδειγμα.gr مثال.إختبار दिल्ली.भारत
    яндекс.рф россия.рф сбер.рф роса.рф россия.рус почта.бел україна.укр москва.com новости.bg їжа.com
    ελλάδα.gr αθήνα.gr αγορά.ελ հայաստան.հայ საქართველო.გე שלום.com סוס.ישראל مصر.com ኢትዮጵያ.com 한국.kr
    日本.jp にほん.jp 中国.cn ไทย.com großmutter.de
  `);
  for (const host of hosts) {
    const { hostname, shown, asciiHost, isMistakable } = describeHost(host);
    expect([shown, asciiHost, isMistakable]).toEqual([host, hostname, false]);
  }
});

test("a host with letters that resemble punctuation or another script is shown in ASCII only", () => {
  const hosts = hostsIn(`
    bank.example∕.evil.example paypal.comノlogin.evil.example paypal.comǀlogin.evil.example
    paypal.comᐠlogin.evil.example paypal.comꓸevil.example paypal.comːevil.example pаypal.com
    中国ノ登录.evil.example 银行.中国丿登录.evil.example 은행.한국ㆍ로그인.evil.example 삼성.한국ㅣ로그인.evil.example
    बैंक.भारतः8080.evil.example বাংলাঃ443.evil.example i❤.example
  `);
  for (const host of [...hosts, `a${"\u0323\u0331\u032d\u0330\u0325\u0316".repeat(3)}.example`]) {
    const { hostname, shown, asciiHost } = describeHost(host);
    expect([hostname.includes("xn--"), shown, asciiHost]).toEqual([true, hostname, undefined]);
  }
});

test("a host of another script that could be read as ASCII is shown in ASCII, with a warning", () => {
  const hosts = hostsIn(`
    аррӏе.com www.раураӏ.com ѕсоре.example хбох-360.com аррӏе́.com ονο.gr αγορά.gr հօոս.com ყჿ.com
    סוס.com аррӏе.한국 раураӏ.пример.com сбер.com сухо.рус example.рус pаypal.com
  `);
  for (const host of hosts) {
    const { hostname, shown, asciiHost, isMistakable, address } = describeHost(host);
    expect([shown, asciiHost, isMistakable]).toEqual([hostname, undefined, true]);
    expect(address).toBe(`http://${hostname}/`);
  }
});

test("a host that could be read as ASCII also has its own letters, unless one could be a slash", () => {
  for (const [host, letters] of [
    ["аррӏе.com", "аррӏе.com"],
    ["login-1.аррӏе.com", "login-1.аррӏе.com"],
    ["аррӏе.com∕login.example", undefined],
    ["аррӏе.comノlogin.example", undefined],
    ["example.com", undefined],
    ["россия.рф", undefined],
  ] as const)
    expect([host, describeDestination(new URL(`http://${host}/`).href).letters]).toEqual([host, letters]);
});

test("ASCII hosts and IP addresses are shown unchanged", () => {
  for (const host of ["example.com", "sub_domain.example-host.com", "127.0.0.1", "[::1]", "localhost"]) {
    const { hostname, shown, asciiHost, isMistakable } = describeHost(host);
    expect([shown, asciiHost, isMistakable]).toEqual([hostname, undefined, false]);
  }
});

test("an address shows letters and numbers decoded, and everything else encoded", () => {
  const addresses = {
    "%ED%99%98%EB%B6%88": "환불",
    "%ED%99%98%EB%B6%88%20%EA%B7%9C%EC%A0%95": "환불%20규정",
    "%E1%84%92%E1%85%A1%E1%86%AB%20e%CC%81": "한%20e%CC%81",
    "e%CC%81t%C3%A9": "e%CC%81té",
    "a%2Fb%3f%23%25": "a%2Fb%3F%23%25",
    "%ED%99%98%E2%80%AE%EB%B6%88": "환%E2%80%AE불",
    "%E3%85%A4%ED%99%98": "%E3%85%A4환",
    "%EF%BC%8F%EA%B0%80%F0%9F%98%80": "%EF%BC%8F가%F0%9F%98%80",
    "%ED%99": "%ED%99",
    "%ED%99%98%ED": "%ED%99%98%ED",
  };
  const prefix = "https://example.com/?q=";
  const shownAddresses = Object.keys(addresses).map((query) => [
    query,
    describeDestination(prefix + query).address,
  ]);
  expect(Object.fromEntries(shownAddresses)).toEqual(
    Object.fromEntries(Object.entries(addresses).map(([query, shown]) => [query, prefix + shown])),
  );
});

test("an address that a newer parser would refuse is shown unchanged", () => {
  for (const [target, host, port] of [
    ["https://xn--a.com/", "xn--a.com", ""],
    ["http://[::1]:8080/a", "[::1]", "8080"],
    ["https://example.com:8443/?a", "example.com", "8443"],
    ["https://example.com", "example.com", ""],
  ] as const) {
    const isHttp = target.startsWith("http:");
    expect(describeDestination(target)).toEqual({ host, port, isHttp, isMistakable: false, address: target });
  }
});

test("the registrable domain is split from its subdomains, in the shown spelling", () => {
  for (const [host, front, domain] of [
    ["www.paypal.com.example.net", "www.paypal.com.", "example.net"],
    ["www.example.co.uk.", "www.", "example.co.uk."],
    ["example.com", "", "example.com"],
    ["www.bücher.example", "www.", "bücher.example"],
    ["가.나.누리집.한국", "가.나.", "누리집.한국"],
    ["аррӏе.com", "", "xn--80ak6aa92e.com"],
    ["127.0.0.1", "", "127.0.0.1"],
    ["[::1]", "", "[::1]"],
    ["localhost", "", "localhost"],
  ] as const)
    expect(splitHost(describeDestination(new URL(`http://${host}:81/`).href))).toEqual([front, domain]);
});
