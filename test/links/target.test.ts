import { describe, expect, test } from "bun:test";

import * as fc from "fast-check";

import { isProblem } from "../../src/links/problem.ts";
import { MAX_TARGET_LENGTH, parseTarget, type TargetPolicy } from "../../src/links/target.ts";
import { isShortener } from "../../src/moderation/blocklist/domain-name.ts";

const PUBLIC: TargetPolicy = {
  posture: "public",
  ownHosts: ["curt.example", "xn--bj0bj06e.xn--3e0b707e", "203.0.113.9", "[2001:db8:0:1::9]"],
  ownPorts: ["443", "3000"],
  isShortener,
};
const PRIVATE: TargetPolicy = {
  posture: "private",
  ownHosts: ["localhost"],
  ownPorts: ["80", "3000"],
  isShortener,
};

function expectRule(rule: string, input: string, policy = PUBLIC) {
  expect([input, parseTarget(input, policy)]).toMatchObject([
    input,
    { kind: "invalid", refusals: [{ rule }] },
  ]);
}

const ACCEPTED = {
  "http://example.com": "http://example.com/",
  "HTTPS://EXAMPLE.COM:443/A/../b": "https://example.com/b",
  "https://example.com/a b?c d#e f": "https://example.com/a%20b?c%20d#e%20f",
  "https://예시.한국/경로?질의=값#조각":
    "https://xn--vv4b11d.xn--3e0b707e/%EA%B2%BD%EB%A1%9C?%EC%A7%88%EC%9D%98=%EA%B0%92#%EC%A1%B0%EA%B0%81",
  "https://example.com/%ea%b0%80": "https://example.com/%ea%b0%80",
  "https://example.com/é/👍": "https://example.com/%C3%A9/%F0%9F%91%8D",
  "http://example.com/?u=http://user:pass@x/": "http://example.com/?u=http://user:pass@x/",
  "https://example.com:8443/": "https://example.com:8443/",
  "https://faß.de/": "https://xn--fa-hia.de/",
  "http://93.184.216.34/": "http://93.184.216.34/",
  "http://[2606:2800:220:1::1]/": "http://[2606:2800:220:1::1]/",
  "http://[2c0f:ffff::1]/": "http://[2c0f:ffff::1]/",
  "https://example.com./": "https://example.com./",
  "https://lan.example/": "https://lan.example/",
  "https://svc.example.com/": "https://svc.example.com/",
  "https://notcurt.example/": "https://notcurt.example/",
  "https://curt.example.com/": "https://curt.example.com/",
  "https://sub.curt.example/": "https://sub.curt.example/",
  "https://notbit.ly/x": "https://notbit.ly/x",
  "https://bit.ly.example/x": "https://bit.ly.example/x",
  "https://maps.app.goo.gl/x": "https://maps.app.goo.gl/x",
  "https://youtu.be/x": "https://youtu.be/x",
  "https://example.com/\u202Etxt.exe": "https://example.com/%E2%80%AEtxt.exe",
};

const REFUSED = {
  "target.chain": [
    "https://bit.ly/x",
    "http://BIT.LY.:8080/",
    "https://www.tinyurl.com/x",
    "https://t.co/x",
    "https://goo.gl/x",
    "https://me2.do/x",
  ],
  "target.scheme": [
    ...`javascript:alert(1) data:text/html,x file:///etc/passwd ftp://x.com/ mailto:a@b.com //example.com
      naver.com http:example.com http:/example.com httpx://a.com localhost:3000`.split(/\s+/),
    "",
    "https:\\\\example.com",
  ],
  "target.control": [
    "java\tscript:alert(1)",
    "http://exa\tmple.com/",
    "http://example.com/\r\nSet-Cookie: a=b",
    "\thttp://example.com/",
    "http://example.com/\u0000",
    "http://example.com/\u007F",
  ],
  "target.space": [
    " http://example.com/",
    "http://example.com/ ",
    "\u00A0http://example.com/",
    "http://example.com/\u3000",
    "\uFEFFhttp://a.com",
  ],
  "target.backslash": ["http://example.com\\@evil.com/", "https://example.com/a\\b", "https://a.com/?q=\\"],
  "target.unparsable": [
    "http://",
    "http://exa mple.com/",
    "http://a.com:99999/",
    "http://%/",
    "https://a<b.com",
    "http://256.256.256.256/",
    "https://example.com../",
    "https://example..com/",
    "https://example。。com/",
  ],
  "target.credentials": [
    "https://a@example.com/",
    "https://a:b@example.com/",
    "http://:b@example.com/",
    "https://curt.example@evil.com/",
    "https://%40@example.com/",
  ],
  "target.ill-formed": ["https://example.com/\uD800", "\uDC00"],
  "target.own":
    `https://curt.example/ http://curt.example/abc https://curt.example.:443/a https://curt.example:8443/
      https://%63urt.example/ https://curt。example/ https://curt.example#x https://한글.한국/
      https://203.0.113.9/ https://3405803785/ https://[2001:db8:0:1:0:0:0:9]/`.split(/\s+/),
  "target.path-in-host":
    "https://{path}/ https://{path}.example/ https://a{PATH}.example/x https://%7Bpath%7D.example/".split(
      " ",
    ),
  "target.private": `http://127.0.0.1/ http://0x7f.1/ http://2130706433/ http://①②⑦.⓪.⓪.①/ http://0.0.0.0/
      http://10.1.2.3/ http://172.16.0.1/ http://192.168.0.1/ http://169.254.169.254/latest/meta-data/
      http://100.64.0.1/ http://168.63.129.16/ http://198.18.0.1/ http://240.0.0.1/
      http://255.255.255.255/ http://192.0.0.8/ http://[::1]/ http://[::]/ http://[::ffff:127.0.0.1]/
      http://[::127.0.0.1]/ http://[fc00::1]/ http://[fd00:ec2::254]/ http://[fe80::1]/ http://[ff02::1]/
      http://[64:ff9b::7f00:1]/ http://[2002:7f00:1::]/ http://[2001:0:7f00:1::]/ http://localhost/
      http://LOCALHOST./ http://printer.local/ http://metadata.google.internal/ http://router.home.arpa/
      http://router.lan/ http://NAS.Home./ http://wiki.corp/ http://www.intranet/ http://db.private/
      http://api.default.svc/ http://[::2]/ http://[1000::1]/ http://[2d00::1]/ http://[3000::1]/
      http://[3ffe::1]/ http://[3fff::1]/ http://[5f00::1]/ http://[fec0::1]/ http://intranet/
      http://localhost:3000/`.split(/\s+/),
};

describe("a destination", () => {
  for (const [input, target] of Object.entries(ACCEPTED)) {
    test(`may be ${input}`, () => expect(parseTarget(input, PUBLIC)).toBe(target as never));
  }

  for (const [rule, destinations] of Object.entries(REFUSED)) {
    test(`is refused with ${rule}`, () => {
      for (const input of destinations) expectRule(rule, input);
    });
  }

  test("may be private in private posture", () => {
    const policy = { ...PRIVATE, ownPorts: ["4000"] };
    for (const input of REFUSED["target.private"]) {
      expect(typeof parseTarget(input, policy), input).toEqual("string");
    }
  });

  test("on a loopback host is Curt's own only with Curt's port, in every spelling", () => {
    const hosts = `localhost LOCALHOST. 127.0.0.1 127.9.9.9 0x7f.1 [::1] [::ffff:127.0.0.1]
      0.0.0.0 a.localhost`.split(/\s+/);
    for (const host of hosts) {
      expectRule("target.own", `http://${host}:3000/abc`, PRIVATE);
      expectRule("target.own", `http://${host}/abc`, PRIVATE);
      expect(parseTarget(`http://${host}:8080/abc`, PRIVATE)).toBeString();
    }
    expect(parseTarget("http://192.168.0.7:3000/", PRIVATE)).toBeString();
  });

  test("is limited in length as written and as serialized", () => {
    const base = "https://example.com/";
    expect(parseTarget(base + "a".repeat(MAX_TARGET_LENGTH - base.length), PUBLIC)).toHaveLength(
      MAX_TARGET_LENGTH,
    );
    expectRule("target.too-long", base + "a".repeat(MAX_TARGET_LENGTH - base.length + 1));
    expectRule("target.too-long", base + "가".repeat(1000));
    // As written it is long, as serialized it is "https://a.com/".
    expectRule("target.too-long", `https://a.com/${"./".repeat(MAX_TARGET_LENGTH / 2)}`);
    expect(parseTarget(base + "./".repeat(4000), PUBLIC)).toBe(base as never);
    expect(parseTarget(`${base}${"가".repeat(900)}`, PUBLIC)).toHaveLength(base.length + 8100);
  });

  test("is refused if its host is too long to parse quickly, even escaped", () => {
    const marks = `http://a${"\u0301\u0323".repeat(600)}.com/`;
    expectRule("target.unparsable", marks);
    expectRule("target.unparsable", `http://a${"\u0301\u0323".repeat(4000)}.com/`);
    expectRule("target.unparsable", `http://${"a.".repeat(2000)}com/`);
    // An escaped name is nine times as long.
    const parsed = (input: string) => !isProblem(parseTarget(`http://a${input}.com/`, PUBLIC));
    expect([240, 260].map((count) => parsed("\u0334".repeat(count)))).toEqual([true, false]);
    expect([240, 260].map((count) => parsed("%CC%B4".repeat(count)))).toEqual([true, false]);
  });

  test("is Curt's own at its address in every spelling, including IPv4-mapped", () => {
    const policy = { ...PRIVATE, ownHosts: ["192.168.0.5"], ownPorts: ["3000"] };
    for (const host of ["192.168.0.5", "[::ffff:192.168.0.5]", "[::ffff:c0a8:5]", "0xc0a80005"]) {
      expectRule("target.own", `http://${host}/x`, policy);
    }
  });

  test("is refused or becomes an ASCII URL that parses to itself, for any text", () => {
    const piece = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.webUrl({ withFragments: true, withQueryParameters: true }),
      fc.constantFrom(..."http:// https:// @ : / %00 한글 javascript: [::1] .. # ?".split(" "), "\\", "\t"),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
        const target = parseTarget(pieces.join(""), PUBLIC);
        if (typeof target !== "string") return;
        expect(target).toMatch(/^https?:\/\/[\x21-\x7E]+$/);
        expect(new URL(target).href).toBe(target);
        expect(new Headers({ Location: target }).get("Location")).toBe(target);
      }),
      { numRuns: 3000 },
    );
  });
});
