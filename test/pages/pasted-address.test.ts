import { expect, test } from "bun:test";

import { readPasted } from "../../src/pages/home/pasted-address.ts";

test.each([
  ["https://example.com/a?b=c#d", "https://example.com/a?b=c#d"],
  ["HTTPS://EXAMPLE.COM/A", "HTTPS://EXAMPLE.COM/A"],
  ["  https://example.com/  ", "https://example.com/"],
  // A lone address stays unchanged.
  ["https://example.com/a).", "https://example.com/a)."],
  ["naver.com", "https://naver.com"],
  ["누리집.한국/길?q=1", "https://누리집.한국/길?q=1"],
  ["naver.com:8080/a", "https://naver.com:8080/a"],
  ["http//example.com/a", "http://example.com/a"],
  ["https:/example.com/a", "https://example.com/a"],
  ["https:example.com", "https://example.com"],
  ["https//example.com/?u=http://example.org", "https://example.com/?u=http://example.org"],
  ["보세요 https://example.com/길 좋아요", "https://example.com/길"],
  ["（記事：https://example.com/a）。", "https://example.com/a"],
  ["보세요https://example.com/길", "https://example.com/길"],
  ["[제목]\nhttps://example.com/a\n", "https://example.com/a"],
  ["See (https://example.com/a_(b)).", "https://example.com/a_(b)"],
  ["“https://example.com/a”, they said", "https://example.com/a"],
  ["twice: https://example.com/ and https://example.com/", "https://example.com/"],
])("a text with one address yields that address: %j", (written, address) => {
  expect(readPasted(written)).toEqual({ address, offers: [] });
});

test.each([
  [
    "https://a.example/ 또는 https://b.example/",
    ["https://a.example/", "https://b.example/", "https://a.example/ 또는 https://b.example/"],
  ],
  // A space may be part of an address.
  ["https://example.com/my file.pdf", ["https://example.com/my", "https://example.com/my file.pdf"]],
  ["at http://a.example/, https:/b.example/", ["http://a.example/", "https://b.example/"]],
  ["naver.com 좋아요", ["https://naver.com"]],
  [
    "a http://1.example b http://2.example c http://3.example d http://4.example",
    ["http://1.example", "http://2.example", "http://3.example"],
  ],
])("an ambiguous text offers its addresses: %j", (written, offers) => {
  expect(readPasted(written)).toEqual({ offers });
});

test.each([
  "",
  "hello",
  "me@example.com",
  "javascript:alert(1)",
  "ftp://example.com/",
  "10.0.0.255",
  "3.14",
  "1.25%",
  "naver.com:99999",
  "https://",
])("a text without an address yields nothing: %j", (written) => {
  expect(readPasted(written)).toEqual({ offers: [] });
});

test.each([
  ["a long name", `x.${"a".repeat(1_000_000)}.ab`],
  ["many closing brackets", `x https://a${")".repeat(100_000)}`],
])("a text with %s that is longer than any address yields nothing", (_part, text) => {
  expect(readPasted(text)).toEqual({ offers: [] });
});

test("brackets after an address are removed unless they close one in it", () => {
  expect(readPasted(`see https://example.com/a_(b)${")".repeat(8000)}`)).toEqual({
    address: "https://example.com/a_(b)",
    offers: [],
  });
});
