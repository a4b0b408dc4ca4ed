import { expect, test } from "bun:test";

import type { Target } from "../../src/links/target.ts";
import { DAY_MS, HOUR_MS } from "../../src/links/time.ts";
import { hintsOf } from "../../src/moderation/link-hints.ts";

/** Hints about the destination alone: the link is a day old. */
function hintsAbout(url: string) {
  return hintsOf({ target: new URL(url).href as Target, createdMs: 0 }, DAY_MS);
}

test("ordinary hosts have no hints", () => {
  const hosts = `
    www.amazon.co.uk amazon.com smile.amazon.com aws.amazon.com s3.ap-northeast-2.amazonaws.com paypal.com www.paypal.com
    history.paypal.com www.paypalobjects.com login.microsoftonline.com portal.azure.com outlook.office365.com
    learn.microsoft.com microsoft.sharepoint.com docs.google.com drive.google.com accounts.google.com www.google.co.kr
    news.google.com maps.app.goo.gl r4---sn-3u-bh2z.googlevideo.com storage.googleapis.com foo.github.io
    google.github.io raw.githubusercontent.com gist.github.com github.com www.apple.com appleid.apple.com
    support.apple.com apple.stackexchange.com www.icloud.com facebook.com m.facebook.com ko-kr.facebook.com
    scontent-icn2-1.xx.fbcdn.net instagram.fsel1-1.fna.fbcdn.net www.instagram.com web.whatsapp.com faq.whatsapp.com
    www.netflix.com help.netflix.com netflixtechblog.com jobs.netflix.com coinbase.com help.coinbase.com
    accounts.binance.com metamask.io shop.samsung.com us.shop.samsung.com www.samsung.com samsung.com.cn
    images.samsung.com www.naver.com m.blog.naver.com search.shopping.naver.com n.news.naver.com
    map.kakao.com tech.kakao.com pf.kakao.com t1.kakaocdn.net www.daum.net m.cafe.daum.net www.gov.kr
    www.hometax.go.kr minwon.go.kr www.snu.ac.kr cse.snu.ac.kr lib.cs.kaist.ac.kr www.gov.uk www.nhs.uk www.bbc.co.uk
    www.bbc.com www.service.gov.uk login.gov www.irs.gov europa.eu ec.europa.eu en.wikipedia.org ko.m.wikipedia.org
    commons.wikimedia.org web.archive.org www.youtube.com youtu.be www.reddit.com old.reddit.com x.com t.me
    open.spotify.com store.steampowered.com www.nytimes.com www.theguardian.com www.tistory.com foo.tistory.com
    foo.blogspot.com foo.wordpress.com foo.vercel.app foo.netlify.app foo.pages.dev bucket.s3.amazonaws.com
    app.slack.com zoom.us us02web.zoom.us company.atlassian.net foo.wd5.myworkdayjobs.com www.coupang.com
    www.11st.co.kr www.gmarket.co.kr xn--3e0bs12b3odi2b.xn--3e0b707e xn--vv4b11d.kr www.xn--vv4b11d.com www.paypal.com.
    www.net.example.com localhost intranet printer.local dev.example.com www.dev.example.com eu.app.example.com de.shop.example.com
    www.com.xyz business.gov.wales fr.wikivoyage.org www.mercadolibre.com.ar www.uol.com.br www.rakuten.co.jp www.yahoo.co.jp www.sina.com.cn
    finance.sina.com.cn news.ycombinator.com docs.python.org pypi.org crates.io docs.rs www.npmjs.com`;
  const results = hosts
    .trim()
    .split(/\s+/)
    .map((host) => [host, hintsAbout(`https://${host}/a?b=c`)]);
  expect(results.length).toBeGreaterThan(100);
  expect(results.filter(([, hints]) => (hints as unknown[]).length > 0)).toEqual([]);
});

test("another site's name at the start of a host causes a hint with both names", () => {
  for (const [host, name, domain] of [
    ["paypal.com.example.net", "paypal.com", "example.net"],
    ["www.paypal.com.example.net", "paypal.com", "example.net"],
    ["www.paypal.com.example.net.", "paypal.com", "example.net"],
    ["PayPal.Com.Example.co.uk", "paypal.com", "example.co.uk"],
    ["www.amazon.co.jp.account.example", "amazon.co.jp", "account.example"],
    ["nid.naver.com.login.example.kr", "naver.com", "example.kr"],
    ["www.hometax.go.kr.example.com", "hometax.go.kr", "example.com"],
    ["irs.gov.refund.example", "irs.gov", "refund.example"],
    ["www.example.com.someone.github.io", "example.com", "someone.github.io"],
    ["www.paypal.com.xyz", "paypal.com", "com.xyz"],
    ["paypal.com.it", "paypal.com", "com.it"],
    ["www.irs.gov.refund", "irs.gov", "gov.refund"],
    ["www.naver.co.kr.xyz", "naver.co.kr", "kr.xyz"],
  ] as const)
    expect([host, hintsAbout(`https://${host}/`)]).toEqual([host, [{ hint: "front", name, domain }]]);
});

test("IP addresses and unusual ports have hints in every spelling", () => {
  for (const url of [
    "http://203.0.113.9/",
    "http://0xcb007109/",
    "http://3405803785/",
    "http://[2001:db8::9]/",
    "http://[::ffff:203.0.113.9]/",
    "http://203.0.113.9:80/",
  ])
    expect([url, hintsAbout(url)]).toEqual([url, [{ hint: "address" }]]);
  for (const url of ["http://203.0.113.9:8080/", "https://[2001:db8::9]:8080/a"])
    expect([url, hintsAbout(url)]).toEqual([url, [{ hint: "address" }, { hint: "port", port: "8080" }]]);
  expect(hintsAbout("https://example.com:8443/")).toEqual([{ hint: "port", port: "8443" }]);
  expect(hintsAbout("https://example.com/a:8443")).toEqual([]);
});

test("other shorteners have a hint", () => {
  for (const host of ["bit.ly", "naver.me", "www.tinyurl.com"])
    expect(hintsAbout(`https://${host}/a`)).toEqual([{ hint: "shortener" }]);
});

test("a host with five labels before its registrable domain has a hint", () => {
  expect(hintsAbout("https://a.b.c.d.example.co.uk/")).toEqual([]);
  expect(hintsAbout("https://a.b.c.d.e.example.co.uk/")).toEqual([
    { hint: "labels", domain: "example.co.uk" },
  ]);
  expect(hintsAbout(`https://${"a.".repeat(120)}com/`)).toEqual([{ hint: "labels", domain: "a.com" }]);
});

test("a changed link has a hint with whole hours for a day", () => {
  const target = "https://example.com/" as Target;
  const changedMs = 9 * DAY_MS;
  const hintsAt = (ageMs: number, startsMs?: number) =>
    hintsOf({ target, createdMs: 1000, terms: { changedMs, startsMs } }, changedMs + ageMs);
  for (const [ageMs, hours] of [
    [-1, 0],
    [0, 0],
    [HOUR_MS - 1, 0],
    [HOUR_MS, 1],
    [DAY_MS - 1, 23],
  ] as const)
    expect(hintsAt(ageMs)).toEqual([{ hint: "changed", hours }]);
  expect(hintsAt(DAY_MS)).toEqual([]);
  // Nobody saw the target before the link started.
  expect(hintsAt(2 * HOUR_MS, changedMs + HOUR_MS)).toEqual([]);
  expect(hintsAt(HOUR_MS, changedMs - HOUR_MS)).toEqual([{ hint: "changed", hours: 1 }]);
  expect(hintsOf({ target, createdMs: 1000 }, 1000)).toEqual([]);
});
