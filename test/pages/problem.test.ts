import { expect, test } from "bun:test";

import { type DisabledReason, REASONS } from "../../src/links/problem.ts";
import en from "../../src/locales/en.json";
import ko from "../../src/locales/ko.json";
import { CURT } from "../../src/pages/assets/branding.ts";
import { problemPage } from "../../src/pages/problem/page.tsx";

const AGAIN = '<a class="button primary" href="">';

test("each problem has the page of its kind, in the reader's language", () => {
  for (const [kind, page, mayTryAgain] of [
    ["unknown", "unknown", false],
    ["not-found", "unknown", false],
    ["taken", "unknown", false],
    ["unavailable", "unavailable", true],
    ["internal", "internal", true],
  ] as const) {
    for (const [language, words] of Object.entries({ en, ko })) {
      // The second page is cached.
      for (let times = 0; times < 2; times++) {
        const html = problemPage(language, { kind })(CURT);
        expect(html).toContain(`<h1>${words[`page.${page}.title`]}</h1>`);
        expect(html).toContain(
          words[page === "unknown" ? "page.unknown.next.ignore" : (`page.${page}.next` as const)],
        );
        expect([kind, html.includes(AGAIN)]).toEqual([kind, mayTryAgain]);
      }
    }
  }
});

test("the page of a disabled link shows its reason and the next step, cached or not", () => {
  for (const reason of [...REASONS, "blocklist", "deleted"] as const) {
    for (const [language, words] of Object.entries({ en, ko })) {
      for (let times = 0; times < 2; times++) {
        const html = problemPage(language, { kind: "disabled", reason })(CURT);
        expect(html).toContain(`<h1>${words["page.disabled.title"]}</h1>`);
        expect(html).toContain(words[`disabled.${reason}`]);
        expect(html).toContain(words["page.disabled.mistake"]);
        expect(html).not.toContain(AGAIN);
      }
    }
  }
  const pageFor = (reason: DisabledReason) => problemPage("en", { kind: "disabled", reason })(CURT);
  expect(pageFor("phishing")).toContain(en["page.disabled.danger"]);
  expect(pageFor("phishing")).toContain(en["page.disabled.password"]);
  expect(pageFor("legal")).toContain(en["page.disabled.next"]);
  expect(pageFor("legal")).not.toContain(en["page.disabled.password"]);
  expect(pageFor("deleted")).toContain(en["page.disabled.deleted"]);
});

test("the pages of disabled and expired links name the link", () => {
  for (const problem of [
    { kind: "disabled", reason: "spam" },
    { kind: "disabled", reason: "phishing" },
    { kind: "expired", endedMs: 0 },
  ] as const)
    for (const [code, written] of [
      ["a", "a"],
      ["a&b", "a&amp;b"],
    ] as const) {
      const html = problemPage("en", problem, "https://curt.example", code)(CURT);
      expect(html).toContain(`<span>curt.example/</span><wbr/><mark><bdi>${written}</bdi></mark>`);
    }
});

test("the page of an expired link shows its own date, so it isn't cached", () => {
  for (const date of ["2026-01-02T03:04:05.000Z", "2026-11-21T00:00:00.000Z"]) {
    const html = problemPage("en", { kind: "expired", endedMs: Date.parse(date) })(CURT);
    expect(html).toContain(`<h1>${en["page.expired.title"]}</h1>`);
    expect(html).toContain(`<time datetime="${date}">`);
    expect(html).not.toContain(AGAIN);
  }
});
