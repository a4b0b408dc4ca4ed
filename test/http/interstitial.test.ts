import { beforeAll, describe, expect, test } from "bun:test";

import { DAY_MS } from "../../src/links/time.ts";
import en from "../../src/locales/en.json";
import ko from "../../src/locales/ko.json";
import { damageStore } from "../stores/damage.ts";
import { addGuarded } from "../support/guarded-links.ts";
import { openStoreOf, type RunningService, shareService, startService } from "../support/service.ts";
import { untilCounted, WINDOWS_CHROME } from "../visits/visits.ts";
import { elementsOf, expectGuarded, sendForm } from "./markup.ts";

const TARGET = "https://example.com/where?to=go&so=%22#here";
const ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8";
const PERSON = { "User-Agent": WINDOWS_CHROME, Accept: ACCEPT };
/** Headers of current browsers when a person follows a link on another site. */
const NAVIGATION = {
  "Sec-Fetch-Dest": "document",
  "Sec-Fetch-Mode": "navigate",
  "Sec-Fetch-Site": "cross-site",
};
const FROM_HERE = { ...NAVIGATION, "Sec-Fetch-Site": "same-origin" };

async function getsPreview(service: RunningService, code: string, headers: Record<string, string> = PERSON) {
  const { status } = await service.fetch(`/${code}/`, { headers });
  if (status !== 200 && status !== 302) throw new Error(`${code}: ${status}`);
  return status === 200;
}

describe("INTERSTITIAL=all", () => {
  const curt = shareService({ INTERSTITIAL: "all" });
  beforeAll(async () => {
    await curt.shorten({ original_url: TARGET, custom_code: "abc" });
  });

  test("shows people the preview, which links straight to the destination and isn't cached", async () => {
    for (const path of ["/abc", "/abc/", "/abc?x=1"]) {
      // The second request hits the cache.
      for (const headers of [PERSON, { ...PERSON, ...NAVIGATION }]) {
        const response = await curt.fetch(path, { headers });
        expect([response.status, response.headers.get("location")], path).toEqual([200, null]);
        expectGuarded(response);
        const page = await response.text();
        expect(page).toContain(en["interstitial.title"]);
        expect(page).toContain("<strong>example.com</strong>");
        expect(page).not.toContain(en["interstitial.counts"]);
        const [, href] =
          /<a class="button primary" href="([^"]*)" rel="nofollow noreferrer">/.exec(page) ?? [];
        expect(href?.replaceAll("&amp;", "&")).toBe(TARGET);
      }
    }
  });

  test("redirects automated clients", async () => {
    const clients: Record<string, string>[] = [
      {},
      { "User-Agent": "curl/8.9.1", Accept: "*/*" },
      { ...PERSON, Accept: "*/*" },
      { ...PERSON, Accept: "application/json" },
      { ...PERSON, "User-Agent": "" },
      { ...PERSON, "User-Agent": "facebookexternalhit/1.1;kakaotalk-scrap/1.0;" },
      { ...PERSON, ...NAVIGATION, "Sec-Fetch-Dest": "image" },
      { ...PERSON, ...NAVIGATION, "Sec-Fetch-Dest": "empty" },
    ];
    for (const headers of clients) {
      const response = await curt.fetch("/abc", { headers });
      expect([headers, response.status, response.headers.get("location")]).toEqual([headers, 302, TARGET]);
      expect(response.headers.get("cache-control")).toBe("no-store");
    }
  });

  test("shows the preview to prefetches, because the browser may display it later", async () => {
    for (const purpose of ["prefetch", "prefetch;prerender"])
      expect(await getsPreview(curt, "abc", { ...PERSON, ...NAVIGATION, "Sec-Purpose": purpose })).toBe(true);
  });

  test("sends the same status and headers to HEAD as to GET", async () => {
    for (const headers of [PERSON, { "User-Agent": "curl/8.9.1" }]) {
      const [get, head] = await Promise.all(
        ["GET", "HEAD"].map(async (method) => {
          const { status, headers: sent } = await curt.fetch("/abc", { method, headers });
          return { ...Object.fromEntries(sent), status, date: "" };
        }),
      );
      expect(head).toEqual(get);
    }
  });

  test("redirects and counts people who come from Curt's own pages", async () => {
    await curt.shorten({ original_url: TARGET, custom_code: "seen" });
    expect(await getsPreview(curt, "seen", { ...PERSON, ...FROM_HERE })).toBe(false);
    await untilCounted(curt, "seen", 1);
    for (const site of ["same-site", "cross-site", "none"])
      expect(await getsPreview(curt, "seen", { ...PERSON, ...FROM_HERE, "Sec-Fetch-Site": site })).toBe(true);
  });

  test("answers 410 for an ended link and 404 for an unknown code", async () => {
    await curt.shorten({ original_url: TARGET, custom_code: "ending", expire_duration: "24h" });
    expect(await getsPreview(curt, "ending")).toBe(true);
    curt.advance(DAY_MS);
    expect((await curt.fetch("/ending", { headers: PERSON })).status).toBe(410);
    expect((await curt.fetch("/nothing", { headers: PERSON })).status).toBe(404);
  });
});

describe("INTERSTITIAL=all with a link that has max_visits or a password", () => {
  const PASSWORD = "open sesame";
  const curt = shareService({ INTERSTITIAL: "all" });

  const send = (path: string, form: Readonly<Record<string, string>>, headers = {}) =>
    sendForm(curt, path, form, { ...PERSON, ...FROM_HERE, ...headers });

  /** Expects a page that shows the destination, warns that continuing counts, and has a button that posts to Curt. */
  async function expectInterstitial(response: Response): Promise<void> {
    expect([response.status, response.headers.get("location")]).toEqual([200, null]);
    const page = await response.text();
    expect(page).toContain("<strong>example.com</strong>");
    expect([en, ko].some((words) => page.includes(words["interstitial.counts"]))).toBe(true);
    expect(page).toContain(`<form method="post"><input type="hidden" name="form" value="`);
  }

  /** Opens a link and returns the form of its preview or password page. */
  async function openForm(code: string): Promise<Record<string, string>> {
    const page = await curt.fetch(`/${code}`, { headers: { ...PERSON, ...NAVIGATION } });
    const inputs = (await elementsOf(page)).filter(({ attributes }) => attributes["type"] === "hidden");
    return Object.fromEntries(
      inputs.map(({ attributes: { name = "", value = "" } }) => [name, value] as const),
    );
  }

  describe("a form that is sent twice", () => {
    const statusesOf = async (code: string, forms: readonly Record<string, string>[]) =>
      (await Promise.all(forms.map((form) => send(`/${code}`, form)))).map(({ status }) => status);

    test("uses up one visit within a minute, and counts once", async () => {
      await addGuarded(curt, "double", { maxVisits: 1, target: TARGET });
      await addGuarded(curt, "both-of-two", { maxVisits: 2, target: TARGET });
      for (const code of ["double", "both-of-two"]) {
        const form = await openForm(code);
        // A double click, and a reload.
        expect(await statusesOf(code, [form, form])).toEqual([303, 303]);
        expect(await statusesOf(code, [form])).toEqual([303]);
        await untilCounted(curt, code, 1);
      }
      const other = await openForm("both-of-two");
      expect(await statusesOf("both-of-two", [other])).toEqual([303]);
      await untilCounted(curt, "both-of-two", 2);
    });

    test("is refused after a minute", async () => {
      await addGuarded(curt, "late", { maxVisits: 1, target: TARGET });
      const form = await openForm("late");
      expect(await statusesOf("late", [form])).toEqual([303]);
      curt.advance(60_000);
      expect(await statusesOf("late", [form])).toEqual([410]);
    });

    test("is refused once the link is disabled", async () => {
      const link = await addGuarded(curt, "blocked", { maxVisits: 1, target: TARGET });
      const form = await openForm("blocked");
      expect(await statusesOf("blocked", [form])).toEqual([303]);
      await using store = await openStoreOf(curt);
      await store.disable([link], { who: "api", atMs: curt.nowMs(), reason: "phishing" });
      expect(await statusesOf("blocked", [form])).toEqual([410]);
    });

    test("never shares its visit with another form", async () => {
      await addGuarded(curt, "two", { maxVisits: 1, target: TARGET });
      const forms = [await openForm("two"), await openForm("two"), {}, {}];
      const statuses = await statusesOf("two", forms);
      expect(statuses.toSorted((one, other) => one - other)).toEqual([303, 410, 410, 410]);
    });
  });

  test("shows the preview again to a person who chooses a language there", async () => {
    await addGuarded(curt, "language", { maxVisits: 1, target: TARGET });
    const headers = { ...PERSON, ...FROM_HERE };
    await expectInterstitial(await curt.fetch("/language?language=ko", { headers }));
  });

  test("counts a visit when a person continues, not when the preview is shown", async () => {
    await addGuarded(curt, "once", { maxVisits: 1, target: TARGET });
    for (const path of ["/once", "/once/", "/once?language=ko"])
      await expectInterstitial(await curt.fetch(path, { headers: { ...PERSON, ...NAVIGATION } }));
    expect((await send("/once/", {}, { "Sec-Fetch-Site": "cross-site" })).status).toBe(403);
    const continued = await send("/once/", {});
    expect([continued.status, continued.headers.get("location")]).toEqual([303, TARGET]);
    expect((await send("/once/", {})).status).toBe(410);
    expect((await curt.fetch("/once", { headers: PERSON })).status).toBe(410);
  });

  test("redirects automated clients right away", async () => {
    await addGuarded(curt, "client", { maxVisits: 1, password: PASSWORD, target: TARGET });
    const headers = { Authorization: `Basic ${btoa(`:${PASSWORD}`)}` };
    expect((await curt.fetch("/client", { headers })).headers.get("location")).toBe(TARGET);
  });
});

test("INTERSTITIAL=all without its store shows people a 503 page, and redirects automated clients from the cache", async () => {
  await using away = await startService({ INTERSTITIAL: "all" });
  await away.shorten({ original_url: TARGET, custom_code: "away" });
  expect(await getsPreview(away, "away", {})).toBe(false);
  away.expectFaults();
  damageStore(away.file);
  const response = await away.fetch("/away", { headers: PERSON });
  expect([response.status, response.headers.get("retry-after")]).toEqual([503, "2"]);
  expectGuarded(response);
  expect(await response.text()).toContain(en["page.unavailable.title"]);
  expect(await getsPreview(away, "away", {})).toBe(false);
});
