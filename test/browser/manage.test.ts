import { describe, expect, test } from "bun:test";

import type { Page } from "playwright-core";

import { DAY_MS } from "../../src/links/time.ts";
import { duration } from "../../src/pages/shared/in-words.ts";
import { callAs, createAs, named, PROXY } from "../http/people.ts";
import { callApi, createManagedLink, OTHER, TARGET, destinationOf } from "../support/managed-links.ts";
import { startService, shareService } from "../support/service.ts";
import { loadAxe } from "./axe.ts";
import {
  chooseLanguage,
  openPage,
  openSettings,
  LAPTOP,
  PHONE,
  readers,
  stopTime,
  untilFocused,
  wordsOf,
} from "./browser.ts";
import { AXE, FITS } from "./every-page.ts";
import { createInForm } from "./home-form.ts";

const curt = shareService();

const MAKERS = readers([
  { locale: "en-GB", viewport: LAPTOP },
  { locale: "ko-KR", viewport: PHONE },
]);

describe.each(MAKERS)("the manage page ($locale)", (maker) => {
  const { locale } = maker;
  const say = wordsOf(locale);

  /** Opens the forms at the manage address. */
  async function open(page: Page, { code, key }: { code: string; key: string }): Promise<void> {
    await page.goto(`/${code}+#key=${key}`);
    await page.getByRole("heading", { level: 1, name: say("manage.title") }).waitFor();
    await openSettings(page);
  }

  test("lists who changed what for colleagues, and brings it back with and without scripts", async () => {
    await using office = await startService({ ...PROXY, EDITORS: "everybody" });
    for (const javaScriptEnabled of [true, false]) {
      const { code, path } = await createAs(office, "mina", { title: "Handbook", expires_at: "1month" });
      const long = `https://example.net/${"a-long-path/".repeat(12)}`;
      const body = { target: long, title: "x".repeat(90), expires_at: null, forward_query: true };
      await callAs(office, "joon", "PATCH", path, { body });
      await using page = await openPage(office.origin, {
        ...maker,
        javaScriptEnabled,
        extraHTTPHeaders: named("yuna"),
      });
      if (javaScriptEnabled) await loadAxe(page);
      await page.goto(`/${code}+manage`);
      const changes = page.getByRole("region", { name: say("manage.history") });
      for (const text of [TARGET, long, "joon", say("never"), say("forward_query.yes")])
        await changes.getByText(text, { exact: true }).waitFor();
      if (javaScriptEnabled) for (const [, faultsOf] of [FITS, AXE]) expect(await faultsOf(page)).toEqual([]);
      await changes.getByRole("button", { name: say("manage.bring-back") }).click();
      await page.getByText(say("link.changed")).waitFor();
      expect(await changes.getByRole("button").count()).toBe(0);
      expect(await changes.locator(".undone", { hasText: say("admin.did.undone") }).count()).toBe(1);
      expect(await destinationOf(office, code)).toBe(TARGET);
    }
  });

  test("changes destination, end, visits and password, shows mistakes beside their fields, and keeps the key out of addresses", async () => {
    const link = await createManagedLink(curt);
    await using page = await openPage(curt.origin, maker);
    const requests: string[] = [];
    page.context().on("request", (request) => requests.push(request.url()));
    await open(page, link);
    const target = page.getByRole("textbox", { name: say("manage.target") });
    const visits = page.getByRole("textbox", { name: say("manage.visits") });
    const password = page.getByLabel(say("manage.password"), { exact: true });
    const save = page.getByRole("button", { name: say("manage.save") });
    expect(await target.inputValue()).toBe(TARGET);
    // The page explains the change before it happens.
    const days = duration(locale, 30 * DAY_MS);
    await page.getByText(say("manage.target.hint", { host: "example.com", days })).waitFor();

    await target.fill("naver.com");
    await visits.fill("many");
    await save.click();
    await page.getByText(say("target.scheme")).waitFor();
    await page.getByText(say("max_visits.range", { min: 1, max: 1_000_000_000 })).waitFor();
    await untilFocused(target);
    for (const [field, rule] of [
      [target, "target.scheme"],
      [visits, "max_visits.range"],
    ] as const) {
      expect(await field.getAttribute("aria-invalid")).toBe("true");
      const [error = ""] = ((await field.getAttribute("aria-describedby")) ?? "").split(" ");
      expect(await page.locator(`#${error}`).textContent()).toBe(say(rule, { min: 1, max: 1_000_000_000 }));
    }
    expect(await destinationOf(curt, link.code)).toBe(TARGET);

    await target.fill(OTHER);
    await visits.fill("5");
    await password.fill("open");
    await page.getByRole("radio", { name: say("duration.48h") }).check();
    await save.click();
    await page
      .getByRole("status")
      .filter({ hasText: say("link.changed") })
      .waitFor();
    await untilFocused(page.getByRole("status"));
    // The page shows the changed link, with its rows closed.
    expect(await visits.isVisible()).toBe(false);
    await openSettings(page);
    expect(await target.inputValue()).toBe(OTHER);
    expect(await visits.inputValue()).toBe("5");
    await page.getByText(say("preview.changed"), { exact: true }).waitFor();
    const { data } = await callApi(curt, "GET", link.path, { key: link.key });
    expect(data).toMatchObject({ target: OTHER, max_visits: 5, has_password: true });
    expect(Date.parse(data["expires_at"]) - Date.now()).toBeWithin(DAY_MS, 2 * DAY_MS);

    await visits.fill("");
    await page.getByRole("checkbox", { name: say("manage.password.remove") }).check();
    await page.getByRole("radio", { name: say("never") }).check();
    await save.click();
    await page.getByRole("checkbox", { name: say("manage.password.remove") }).waitFor({ state: "detached" });
    expect((await callApi(curt, "GET", link.path)).data).toMatchObject({
      target: OTHER,
      max_visits: null,
      has_password: false,
      expires_at: null,
    });
    expect(await destinationOf(curt, link.code)).toBe(OTHER);
    // Neither the address bar nor any request has the key in an address.
    expect(requests.filter((url) => url.replace(/#.*/, "").includes(link.key))).toEqual([]);
    expect(new URL(page.url()).hash).toBe("");
    expect(page.url()).toBe(`${curt.origin}/${link.code}+`);
  });

  test("withdraws a link only after a confirmation", async () => {
    const link = await createManagedLink(curt, { target: TARGET, password: "secret" });
    await using page = await openPage(curt.origin, maker);
    await page.goto(`/${link.code}+`);
    expect(await page.content()).not.toContain(TARGET);
    await open(page, link);
    // The right key shows the destination of a link with a password.
    expect(await page.getByRole("textbox", { name: say("manage.target") }).inputValue()).toBe(TARGET);
    const withdraw = page.getByRole("button", { name: say("manage.withdraw") });
    await withdraw.click();
    await page.getByText(say("manage.sure.missing")).waitFor();
    expect((await callApi(curt, "GET", link.path)).status).toBe(200);
    await page.getByRole("checkbox", { name: say("manage.sure") }).check();
    await withdraw.click();
    await page
      .getByRole("status")
      .filter({ hasText: say("link.ended") })
      .waitFor();
    expect(await page.getByRole("button", { name: say("manage.save") }).count()).toBe(0);
    await page.getByText(say("manage.over")).waitFor();
    expect((await callApi(curt, "GET", link.path)).reason).toBe("link.withdrawn");
  });

  test("reports a wrong key, and says when the destination can't change any more", async () => {
    await using past = await startService({ EDITS: "24h" }, { startMs: Date.now() - DAY_MS });
    const link = await createManagedLink(past);
    past.advance(DAY_MS);
    await using page = await openPage(past.origin, maker);
    await page.goto(`/${link.code}+#key=wrong`);
    await page
      .getByRole("alert")
      .filter({ hasText: say("key.wrong") })
      .waitFor();
    expect(new URL(page.url()).hash).toBe("");
    await open(page, link);
    await page.getByText(say("manage.target.over")).waitFor();
    expect(await page.getByRole("textbox", { name: say("manage.target") }).count()).toBe(0);
  });

  test("opens from the preview of a new link and from the list of recent links, which have the key", async () => {
    await using page = await openPage(curt.origin, maker);
    await createInForm(page, { locale, url: TARGET });
    const keep = page.getByRole("region", { name: say("keep.title") });
    const address = await keep.locator("[readonly]").inputValue();
    const [, path = "", key = ""] = /^https:\/\/curt\.example(\/[^/]+\+)#key=([\w-]+)$/.exec(address) ?? [];
    expect(page.url()).toStartWith(curt.origin + path);
    expect(page.url()).not.toContain(key);
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin: curt.origin });
    await stopTime(page);
    await keep.getByRole("button", { name: say("keep.copy") }).click();
    await keep.getByText(say("copied"), { exact: true }).waitFor();
    expect(await page.evaluate<string>("navigator.clipboard.readText()")).toBe(address);
    await keep.getByText(say("keep.here")).waitFor();
    await keep.getByRole("button", { name: say("keep.now") }).click();
    const target = page.getByRole("textbox", { name: say("manage.target") });
    expect(await target.inputValue()).toBe(TARGET);
    expect(page.url()).not.toContain(key);
    await target.fill(OTHER);
    await page.getByRole("button", { name: say("manage.save") }).click();
    await page.getByText(say("link.changed")).waitFor();
    expect(await destinationOf(curt, path.slice(1, -1))).toBe(OTHER);
    // The list of recent links has the key as well.
    await page.goto("/");
    const listed = page.getByRole("region", { name: say("home.made-here") });
    await listed.getByRole("button", { name: say("links.menu") }).click();
    await listed.getByRole("link", { name: say("links.change") }).click();
    await target.waitFor();
    expect(await target.inputValue()).toBe(OTHER);
    expect(page.url()).toBe(curt.origin + path);
  });
});

test("a link that hasn't started is managed at its manage address, which is 404 without the key", async () => {
  const say = wordsOf("en");
  const link = await createManagedLink(curt, { starts_at: "24h", expires_at: "48h" });
  await using page = await openPage(curt.origin);
  expect((await page.goto(`/${link.code}+`))?.status()).toBe(404);
  // A changed fragment doesn't load the page again.
  await page.evaluate(`location.hash = "key=${link.key}"`);
  await page.getByRole("textbox", { name: say("manage.target") }).fill(OTHER);
  await page.getByRole("button", { name: say("manage.save") }).click();
  await page
    .getByRole("status")
    .filter({ hasText: say("link.changed") })
    .waitFor();
  expect((await callApi(curt, "GET", link.path, { key: link.key })).data["target"]).toBe(OTHER);
});

test("the form lists what it would change, at the address of the key's form as well, in a browser whose language is no tag", async () => {
  const say = wordsOf("en");
  const { code, key, path } = await createManagedLink(curt, { expires_at: "48h" });
  await using page = await openPage(curt.origin);
  await page.addInitScript(
    "Object.defineProperty(navigator, 'languages', { value: ['en-US@posix', 'en_GB'] })",
  );
  await page.goto(`/${code}+manage#key=${key}`);
  const changes = page.locator("[data-changes] li");
  await openSettings(page);
  await page.getByRole("textbox", { name: say("manage.visits") }).fill("20");
  expect(await changes.allTextContents()).toEqual([`${say("manage.visits")} – → 20`]);
  const date = page.getByLabel(say("home.expires"));
  const before = await date.inputValue();
  await date.fill("2099-01-01T10:00");
  expect(await changes.first().textContent()).toEndWith("→ Jan 1, 2099, 10:00 AM");
  await date.fill(before);
  await page.getByRole("checkbox", { name: say("forward_query.label") }).check();
  await page.getByLabel(say("manage.password"), { exact: true }).fill("open");
  expect(await changes.allTextContents()).toEqual([
    `${say("manage.visits")} – → 20`,
    `${say("manage.password")} – → ••••••`,
    `${say("forward_query.label")} – → ✓`,
  ]);
  const { expires_at: ends } = (await callApi(curt, "GET", path, { key })).data;
  await page.getByRole("button", { name: say("manage.save") }).click();
  await page
    .getByRole("status")
    .filter({ hasText: say("link.changed") })
    .waitFor();
  expect((await callApi(curt, "GET", path, { key })).data).toMatchObject({
    max_visits: 20,
    expires_at: ends,
  });
  expect(new URL(page.url()).hash).toBe("");
});

test.each(readers([{ locale: "en" }, { locale: "ko" }, { locale: "ja" }]))(
  "a change elsewhere since the page was opened isn't undone: the page shows the present link and says so ($locale)",
  async ({ locale }) => {
    const say = wordsOf(locale);
    const { code, key, path } = await createManagedLink(curt);
    await using page = await openPage(curt.origin, { locale });
    await page.goto(`/${code}+#key=${key}`);
    const target = page.getByRole("textbox", { name: say("manage.target") });
    const save = page.getByRole("button", { name: say("manage.save") });
    await target.fill("https://example.org/mine");
    await callApi(curt, "PATCH", path, { key, body: { target: OTHER } });
    await save.click();
    await page
      .getByRole("alert")
      .filter({ hasText: say("manage.conflict") })
      .waitFor();
    expect(await target.inputValue()).toBe(OTHER);
    expect(await destinationOf(curt, code)).toBe(OTHER);
    // Repeated on the present link, the change is made.
    await target.fill("https://example.org/mine");
    await save.click();
    await page.getByText(say("link.changed")).waitFor();
    expect(await destinationOf(curt, code)).toBe("https://example.org/mine");
  },
);

test("changing the language keeps the manage page open", async () => {
  const link = await createManagedLink(curt);
  await using page = await openPage(curt.origin);
  await page.goto(`/${link.code}+#key=${link.key}`);
  await page.getByRole("heading", { level: 1, name: wordsOf("en")("manage.title") }).waitFor();
  await chooseLanguage(page, "ko");
  await page.getByRole("textbox", { name: wordsOf("ko")("manage.target") }).waitFor();
  expect(page.url()).toBe(`${curt.origin}/${link.code}+?language=ko`);
});

test("the form is submitted as without scripts if the API can't be reached", async () => {
  const say = wordsOf("en");
  const link = await createManagedLink(curt);
  await using page = await openPage(curt.origin);
  await page.goto(`/${link.code}+#key=${link.key}`);
  await page.getByRole("textbox", { name: say("manage.target") }).fill(OTHER);
  // A proxy may put a page of its own in its place.
  await page.route("**/api/**", (route) => route.fulfill({ body: "Please sign in" }));
  await page.getByRole("button", { name: say("manage.save") }).click();
  await page.waitForURL(`**/${link.code}+manage`);
  await page.getByText(say("link.changed")).waitFor();
  expect(await destinationOf(curt, link.code)).toBe(OTHER);
});
