import { describe, expect, test } from "bun:test";

import en from "../../src/locales/en.json";
import { createManagedLink } from "../support/managed-links.ts";
import { shareService, toDomain } from "../support/service.ts";
import { elementsOf, HTML } from "./markup.ts";

const curt = shareService({
  POSTURE: "private",
  DOMAINS: "https://한글.example",
  HOME_URL: "한글.example=https://www.example.com",
  INSTANCE_NAME: "Links <of> A & B's team",
});
const korean = () => toDomain(curt, "xn--bj0bj06e.example");

const goTo = async (words: string) => {
  const { status, headers } = await curt.fetch(`/+go?${new URLSearchParams({ q: words }).toString()}`);
  return headers.get("location") ?? status;
};

describe("/+go", () => {
  test.each([
    ["jira", "/jira"],
    ["jira ABC-123", "/jira/ABC-123"],
    [" Jira  some words ", "/Jira/some%20words"],
    ["jira/ABC-123/edit", "/jira/ABC-123/edit"],
    ["/jira/ ABC-123", "/jira/ABC-123"],
    ["회의 오늘", "/%ED%9A%8C%EC%9D%98/%EC%98%A4%EB%8A%98"],
    ["what? #1", "/what%3F/%231"],
    // Never another host.
    ["//evil.example/x", "/evil.example/x"],
    ["/\\evil.example", "/evil.example"],
    ["\\\\evil.example", "/evil.example"],
    ["https://evil.example/", "/https%3A/evil.example/"],
    ["javascript:alert(1)", "/javascript%3Aalert(1)"],
    ["a\r\nSet-Cookie: b=c", "/a/Set-Cookie%3A%20b%3Dc"],
    ["", "/"],
    [" / ", "/"],
  ])("leads from %p to %p", async (words, address) => {
    expect(await goTo(words)).toBe(address);
  });

  test("leads to the form of the domain without words", async () => {
    expect((await korean().fetch("/+go")).headers.get("location")).toBe("/+new");
  });

  test("follows a link with its path, and shows the page of an unknown code otherwise", async () => {
    await createManagedLink(curt, {
      target: "https://jira.example/browse/",
      code: "jira",
      forward_path: true,
    });
    const follow = async (words: string) =>
      curt.fetch(String(await goTo(words)), { headers: HTML, redirect: "manual" });
    expect((await follow("jira ABC-123")).headers.get("location")).toBe(
      "https://jira.example/browse/ABC-123",
    );
    const unknown = await follow("Jira");
    expect([unknown.status, await unknown.text()]).toEqual([
      404,
      expect.stringContaining(en["page.unknown.meant"]),
    ]);
    for (const glued of ["jira.", "jira,", "jira)"])
      expect([glued, await (await follow(glued)).text()]).toEqual([
        glued,
        expect.stringContaining(en["page.unknown.meant"]),
      ]);
  });

  test("answers 404 for words that are longer than any address", async () => {
    expect(await goTo("x".repeat(4699))).toBe(`/${"x".repeat(4699)}`);
    expect(await goTo("x".repeat(4700))).toBe(404);
    expect(await goTo("한".repeat(600))).toBe(404);
  });
});

describe("/+search.xml", () => {
  test("is linked from every page, and describes /+go of its domain", async () => {
    for (const path of ["/", "/nobody", "/+links", "/docs"]) {
      const elements = await elementsOf(await curt.fetch(path, { headers: HTML }));
      const link = elements.find(({ attributes: { rel } }) => rel === "search")?.attributes;
      expect([path, link?.["href"], link?.["type"]]).toEqual([
        path,
        "/+search.xml",
        "application/opensearchdescription+xml",
      ]);
    }
    const response = await korean().fetch("/+search.xml", { headers: { "Accept-Language": "ko" } });
    expect(response.headers.get("content-type")).toBe("application/opensearchdescription+xml; charset=utf-8");
    const text = await response.text();
    expect(text).toContain('template="https://xn--bj0bj06e.example/+go?q={searchTerms}"');
    expect(text).toContain("<ShortName>Links &lt;of&gt; A &amp; B</ShortName>");
    expect(text).toContain("<Description>xn--bj0bj06e.example의 짧은 주소를 엽니다.</Description>");
    const [, picture = ""] = /<Image [^>]*>https:\/\/xn--bj0bj06e\.example([^<]+)</.exec(text) ?? [];
    expect((await korean().fetch(picture)).status).toBe(200);
  });
});
