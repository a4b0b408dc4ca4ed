import { describe, expect, test } from "bun:test";

import type { Locator, Page } from "playwright-core";

import { checkStore } from "../../src/store/open.ts";
import { shareService } from "../support/service.ts";
import { linkOf, untilCounted, visit } from "../visits/visits.ts";
import { openPage, LAPTOP, PHONE, readers, stopTime, untilFocused, wordsOf } from "./browser.ts";
import { createInForm, makeButton } from "./home-form.ts";

const HOUR_MS = 3_600_000;
const LONG = "https://example.com/긴/주소?q=값";
/** The time between two letters, and a time longer than a pause in typing. */
const TYPING_MS = 100;
const PAUSE_MS = 500;
/** How long the page confirms a copy. */
const NOTICE_MS = 3000;

const curt = shareService();

/** Pastes the clipboard into a field, and returns its value. */
async function paste(page: Page, field: Locator): Promise<string> {
  await field.fill("");
  await field.focus();
  await page.keyboard.press("ControlOrMeta+V");
  return field.inputValue();
}

/** In the page: the classes of the parts of the page with the largest type. */
const LARGEST = `(() => {
  const sizes = [...document.querySelectorAll("main *")].map((one) => [Number.parseFloat(getComputedStyle(one).fontSize), one]);
  const largest = Math.max(...sizes.map(([size]) => size));
  return [...new Set(sizes.filter(([size]) => size === largest).map(([, one]) => one.closest(".address")?.className))];
})()`;

test("the marker's stroke ends with the code, where a field can't be as wide as its text", async () => {
  await using page = await openPage(curt.origin);
  await page.addInitScript("CSS.supports = () => false");
  await page.goto("/?custom_code=abc");
  const code = page.getByRole("textbox", { name: wordsOf("en")("home.code") });
  const width = async () => {
    const typed = await code.evaluate((input: any) => input.style.getPropertyValue("--typed"));
    return Number(/[\d.]+/.exec(typed)?.[0]);
  };
  const three = await width();
  await code.fill("abcabc");
  expect(three).toBeGreaterThan(10);
  // Both end a little behind the text.
  expect(await width()).toBeCloseTo(2 * three - 4);
});

test("a typed password is visible, and can be hidden and shown again", async () => {
  const say = wordsOf("en");
  await using page = await openPage(curt.origin);
  await page.goto("/");
  await page.getByText(say("home.more")).click();
  const field = page.getByRole("textbox", { name: say("home.password") });
  await field.fill("open sesame");
  const looks = () =>
    field.evaluate((input: any) => [
      input.type,
      input.ownerDocument.defaultView.getComputedStyle(input).webkitTextSecurity,
    ]);
  for (let times = 0; times < 2; times++) {
    expect(await looks()).toEqual(["text", "none"]);
    await page.getByRole("button", { name: say("home.password.hide"), exact: true }).click();
    expect(await looks()).toEqual(["text", "disc"]);
    await page.getByRole("button", { name: say("home.password.show"), exact: true }).click();
  }
  expect(await field.inputValue()).toBe("open sesame");
});

const MAKERS = readers(
  ["en-GB", "ko-KR"].flatMap((locale) =>
    [PHONE, LAPTOP].map((viewport) => ({ locale, viewport, width: viewport.width })),
  ),
);

describe.each(MAKERS)("the home page ($locale, $width pixels wide)", ({ locale, viewport }) => {
  const say = wordsOf(locale);

  test("creates and copies a short link from a pasted address and Enter", async () => {
    await using page = await openPage(curt.origin, { locale, viewport });
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin: curt.origin });
    await page.goto("/");
    const address = page.getByRole("textbox", { name: say("home.url") });
    await untilFocused(address);
    await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(LONG)})`);
    await page.keyboard.press("ControlOrMeta+V");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/[^/]+\+$/);
    await page.getByText(say("preview.made")).waitFor();
    const code = new URL(page.url()).pathname.slice(1, -1);
    expect(await linkOf(curt, code)).toMatchObject({ code, target: LONG });
    const short = `curt.example/${code}`;
    expect(await page.locator(".address p").textContent()).toBe(short);
    await page.locator(".made .chip", { hasText: say("copied") }).waitFor();
    expect(await page.evaluate<string>("navigator.clipboard.readText()")).toBe(`https://${short}`);
    await untilFocused(page.getByRole("button", { name: say("copy"), exact: true }).first());
    expect(await page.evaluate<string[]>(LARGEST)).toEqual(["address"]);
    // A phone can't scan its own screen.
    const image = page.getByRole("img", { name: say("preview.qr", { address: short }) });
    if (viewport === LAPTOP) {
      expect(await image.evaluate((loaded: any) => loaded.complete && loaded.naturalWidth > 0)).toBe(true);
      expect((await page.locator(".stub").boundingBox())?.height).toBeLessThanOrEqual(240);
    } else expect(await image.count()).toBe(0);
    await page.locator(".chip", { hasText: say("home.endless") }).waitFor();
    await page.getByRole("link", { name: say("links.qr"), exact: true }).click();
    await page.waitForURL(/\+qr$/);
  });

  test("reports once per pause in typing whether a code is free, and takes the end by arrow keys", async () => {
    await using page = await openPage(curt.origin, { locale, viewport });
    await stopTime(page);
    await page.goto("/");
    const requests: string[] = [];
    page.on("request", (request) => void (/\/codes\//.test(request.url()) && requests.push(request.url())));
    const status = page.getByRole("status");
    const code = page.getByRole("textbox", { name: say("home.code") });
    const free = `${locale}-${viewport.width}-회의`;
    await curt.shorten({ original_url: LONG, custom_code: `${free}록` });
    await page.getByRole("textbox", { name: say("home.url") }).fill(LONG);
    for (const [typed, answer] of [
      [`${free}록`, say("home.taken")],
      ["a b", say("code.space")],
      ["API", say("code.reserved", { code: "api" })],
      [free, say("home.free")],
    ] as const) {
      await code.fill("");
      expect(await status.textContent()).toBe(say("home.code.hint"));
      requests.length = 0;
      for (const letter of typed) {
        await code.pressSequentially(letter);
        await page.clock.runFor(TYPING_MS);
      }
      await page.clock.runFor(PAUSE_MS);
      await status.filter({ hasText: answer }).waitFor();
      expect(await status.evaluate((output: any) => output.firstChild.data.trim())).toBe(answer);
      expect(requests).toHaveLength(1);
    }
    await page.keyboard.press("Tab");
    const chosen = page.getByRole("group", { name: say("home.ends") }).getByRole("radio", { checked: true });
    expect(await chosen.evaluate(labelOf)).toBe(say("never"));
    await untilFocused(chosen);
    await page.keyboard.press("ArrowLeft");
    expect(await chosen.evaluate(labelOf)).toBe(say("duration.1month"));
    await page.keyboard.press("ArrowUp");
    expect(await chosen.evaluate(labelOf)).toBe(say("duration.1week"));
    await page.keyboard.press("Enter");
    await page.waitForURL(/\+$/);
    const { created_at: created, expires_at: ends, ...link } = await linkOf(curt, free);
    expect(link).toMatchObject({ short_url: `https://curt.example/${free}/`, target: LONG });
    expect(Date.parse(String(ends)) - Date.parse(String(created))).toBe(7 * 24 * HOUR_MS);
  });
});

const labelOf = (field: any): string => field.labels[0].textContent;

const ZONES = readers([
  ["Asia/Seoul", "en-GB"],
  ["Asia/Seoul", "ko-KR"],
  ["UTC", "en-GB"],
] as const);

test.each(ZONES)(
  "a preview shows the end in the time zone %s and the language %s",
  async (timezoneId, locale) => {
    await using page = await openPage(curt.origin, { timezoneId, locale });
    const say = wordsOf(locale);
    await curt.shorten({
      original_url: LONG,
      custom_code: `${timezoneId}${locale}`.replace("/", "-"),
      expire_duration: "1week",
    });
    await page.goto(`/${`${timezoneId}${locale}`.replace("/", "-")}+`);
    const ends = page.locator(".rows > div", { hasText: say("preview.ends") }).getByRole("time");
    const written = (await ends.getAttribute("datetime")) ?? "";
    const inZone = await page.evaluate(
      ([instant, timeZone, language]) =>
        new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short", timeZone }).format(
          new Date(instant),
        ),
      [written, timezoneId, locale] as const,
    );
    expect(await ends.textContent()).toBe(inZone);
  },
);

test.each([true, false])(
  "a click copies the short address and confirms it (with the Clipboard API: %p)",
  async (hasClipboard) => {
    await using page = await openPage(curt.origin, { viewport: PHONE });
    const say = wordsOf("en");
    if (hasClipboard)
      await page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin: curt.origin });
    else
      await page
        .context()
        .addInitScript("Object.defineProperty(navigator, 'clipboard', { value: undefined })");
    const code = await createInForm(page, { code: `복사-${hasClipboard}` });
    const copy = page.getByRole("button", { name: say("copy"), exact: true });
    await stopTime(page);
    const box = await copy.boundingBox();
    await copy.click();
    const done = page.getByRole("button", { name: `✓ ${say("copied")}` });
    expect((await done.boundingBox())?.width).toBe(box?.width ?? 0);
    await page
      .getByRole("status")
      .filter({ hasText: say("copied") })
      .waitFor();
    await page.clock.runFor(NOTICE_MS);
    await untilFocused(copy);
    const short = `https://curt.example/${decodeURIComponent(code)}`;
    // The same in ASCII, for apps that cut the other one.
    await page.getByText(say("preview.ascii")).click();
    const ascii = page.getByRole("group").filter({ hasText: say("preview.ascii") });
    await page.goto("/");
    const field = page.getByRole("textbox", { name: say("home.url") });
    expect(await paste(page, field)).toBe(short);
    await page.goto(`/${code}+`);
    await page.getByText(say("preview.ascii")).click();
    await ascii.getByRole("button", { name: say("copy") }).click();
    await ascii
      .getByRole("status")
      .filter({ hasText: say("copied") })
      .waitFor();
    await page.goto("/");
    expect(await paste(page, field)).toBe(new URL(short).href);
  },
);

test("pasting a text keeps only the address in it and says so, and a chosen end is in the maker's time zone", async () => {
  await using page = await openPage(curt.origin, { timezoneId: "Asia/Seoul" });
  const say = wordsOf("en");
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin: curt.origin });
  await page.goto("/");
  const address = page.getByRole("textbox", { name: say("home.url") });
  const text = `[제목] 보세요\n${LONG} 좋아요`;
  await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`);
  expect(await page.getByText(say("home.understood")).isVisible()).toBe(false);
  expect(await paste(page, address)).toBe(LONG);
  await page.getByText(say("home.understood")).waitFor();
  await page.getByRole("textbox", { name: say("home.code") }).fill("seoul");
  expect(await page.getByLabel(say("home.expires")).isVisible()).toBe(false);
  await page.getByRole("radio", { name: say("duration.date") }).check();
  await page
    .getByText(say("home.zone", { zone: "Asia/Seoul" }))
    .first()
    .waitFor();
  await page.getByLabel(say("home.expires")).fill("2099-03-01T09:30");
  await address.press("Enter");
  await page.waitForURL(/\+$/);
  const link = await linkOf(curt, "seoul");
  expect([link["target"], link["expires_at"]]).toEqual([LONG, "2099-03-01T00:30:00.000Z"]);
});

test("a short address that can't be copied is shown in full and selected, ready for copying by hand", async () => {
  await using page = await openPage(curt.origin);
  const say = wordsOf("en");
  await page.context().addInitScript(`
    Object.defineProperty(navigator, 'clipboard', { value: undefined });
    document.execCommand = () => false;
  `);
  const short = `https://curt.example/${await createInForm(page)}`;
  const copy = page.getByRole("button", { name: say("copy"), exact: true });
  await copy.click();
  const notice = page.getByRole("status").filter({ hasText: say("copy.failed") });
  await notice.getByText(short, { exact: true }).waitFor();
  await untilFocused(copy);
  await page.keyboard.press("ControlOrMeta+C");
  await page.goto("/");
  expect(await paste(page, page.getByRole("textbox", { name: say("home.url") }))).toBe(short);
});

test("the notice that a link is ready appears to its maker, but not to others at the same address", async () => {
  await using page = await openPage(curt.origin);
  const say = wordsOf("en");
  await page.clock.install();
  const code = await createInForm(page);
  await page.getByText(say("preview.made")).waitFor();
  // Screen readers read it with the button, which the maker needs next.
  const copy = page.getByRole("button", {
    name: say("copy"),
    exact: true,
    description: say("preview.made"),
  });
  await untilFocused(copy);
  const read = page.waitForResponse((response) => response.url().includes("?tz="));
  await visit(curt, code);
  await untilCounted(curt, code, 1);
  await page.clock.runFor(5000);
  await read;
  await page.getByText(say("preview.table")).waitFor();
  expect(await page.getByText(say("preview.made")).isVisible()).toBe(true);
  const shared = page.url();
  expect(shared).toBe(`${curt.origin}/${code}+`);

  await using stranger = await openPage(curt.origin);
  await stranger.goto(shared);
  await stranger.getByRole("heading", { level: 1, name: wordsOf("en")("preview.title") }).waitFor();
  expect(await stranger.getByText(say("preview.made")).isVisible()).toBe(false);
});

test("the short address can be shared only in browsers that support sharing", async () => {
  await using without = await openPage(curt.origin);
  await without.context().addInitScript("delete Navigator.prototype.share");
  await createInForm(without);
  const share = without.getByRole("button", { name: wordsOf("en")("share") });
  expect(await share.count()).toBe(0);
  await using maker = await openPage(curt.origin);
  await maker
    .context()
    .addInitScript(
      "navigator.share = async (data) => { globalThis.shared = data; throw new DOMException('', 'AbortError') }",
    );
  const code = await createInForm(maker);
  await maker.getByRole("button", { name: wordsOf("en")("share") }).click();
  expect(await maker.evaluate("shared")).toEqual({ url: `https://curt.example/${code}` });
});

test("two clicks create one link, and the form creates another after going back", async () => {
  await using page = await openPage(curt.origin);
  const countLinks = async () => (await checkStore(curt.database))?.links ?? 0;
  const sent: string[] = [];
  page.on("request", (request) => void (request.method() === "POST" && sent.push(request.url())));
  await page.goto("/");
  const before = await countLinks();
  const button = makeButton(page);
  await page.getByRole("textbox", { name: wordsOf("en")("home.url") }).fill(LONG);
  const held = Promise.withResolvers<void>();
  await page.route(`${curt.origin}/`, async (route) => {
    await held.promise;
    await route.continue();
  });
  // The second click comes after the page has handled the first.
  await button.evaluate(
    (clicked: any) =>
      new Promise<void>((resolve) => {
        clicked.click();
        setTimeout(() => resolve(clicked.click()), 50);
      }),
  );
  held.resolve();
  await page.waitForURL(/\+$/);
  expect([sent.length, (await countLinks()) - before]).toEqual([1, 1]);
  await page.goBack();
  await page.getByRole("textbox", { name: wordsOf("en")("home.url") }).fill(LONG);
  await button.click();
  await page.waitForURL(/\+$/);
  expect([sent.length, (await countLinks()) - before]).toEqual([2, 2]);
});

test("a form that gets no response is sent again, and shows the link that the lost response was about", async () => {
  await using page = await openPage(curt.origin);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin: curt.origin });
  const lost: (string | undefined)[] = [];
  await page.route(
    "/",
    async (route) => {
      if (route.request().method() !== "POST") return route.fallback();
      const response = await route.fetch({ maxRedirects: 0 });
      lost.push(response.headers()["location"]);
      return route.abort("aborted");
    },
    { times: 2 },
  );
  const code = await createInForm(page);
  expect(lost).toEqual([`/${code}+#made`]);
  await page.getByText(wordsOf("en")("preview.made")).waitFor();
});

test("a failed check of a code removes the result of the previous check", async () => {
  await using page = await openPage(curt.origin);
  await page.goto("/");
  const code = page.getByRole("textbox", { name: wordsOf("en")("home.code") });
  await code.fill("first");
  const status = page.getByRole("status");
  await status.filter({ hasText: wordsOf("en")("home.free") }).waitFor();
  // Like the response of a proxy whose service is down.
  await page.route("**/codes/second", (route) => route.fulfill({ status: 200, body: "<html>" }));
  await code.fill("second");
  await status.filter({ hasText: wordsOf("en")("home.code.hint") }).waitFor();
  // A dot would be resolved to another path.
  await code.fill("third");
  await status.filter({ hasText: wordsOf("en")("home.free") }).waitFor();
  await code.fill(".");
  await status.filter({ hasText: wordsOf("en")("home.code.hint") }).waitFor();
});

test("a late response about a code doesn't replace the result for what was typed since", async () => {
  await using page = await openPage(curt.origin);
  await page.goto("/");
  const code = page.getByRole("textbox", { name: wordsOf("en")("home.code") });
  const held = Promise.withResolvers<void>();
  await page.route("**/codes/late", async (route) => {
    await held.promise;
    await route.continue().catch(() => {});
  });
  const sending = page.waitForRequest("**/codes/late");
  await code.fill("late");
  const request = await sending;
  const over = Promise.race([
    page.waitForEvent("requestfailed", (one) => one === request),
    page.waitForEvent("requestfinished", (one) => one === request),
  ]);
  await code.fill("later");
  const status = page.getByRole("status");
  await status.filter({ hasText: wordsOf("en")("home.free") }).waitFor();
  held.resolve();
  await over;
  expect(await status.textContent()).toBe(wordsOf("en")("home.free"));
  expect(request.failure()).not.toBeNull();
});

test("Back from a new link to the form as it was, which some browsers keep, shows an empty form and the list", async () => {
  await using page = await openPage(curt.origin);
  const address = page.getByRole("textbox", { name: wordsOf("en")("home.url") });
  await page.goto("/");
  await address.fill(LONG);
  // Chromium keeps no page while it is tested: this one stays because the response has no content.
  await page.route("/", (route) => route.fulfill({ status: 204 }), { times: 2 });
  await page.keyboard.press("Enter");
  const back = 'dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }))';
  await page.evaluate(back);
  expect(await address.inputValue()).toBe(LONG);
  const other = await page.context().newPage();
  const code = await createInForm(other);
  await page.evaluate(back);
  await page.getByRole("listitem").filter({ hasText: code }).waitFor();
  expect(await address.inputValue()).toBe("");
});

test.each([true, false])(
  "a form in the language of its address keeps it when it is refused and for the new link (scripts: %p)",
  async (javaScriptEnabled) => {
    const say = wordsOf("ko");
    await using page = await openPage(curt.origin, { javaScriptEnabled });
    await page.goto("/?language=ko");
    await makeButton(page).click();
    await page.getByText(say("home.empty")).waitFor();
    await page.getByRole("textbox", { name: say("home.url") }).fill(LONG);
    await makeButton(page).click();
    await page.getByText(say("preview.made")).waitFor();
  },
);
