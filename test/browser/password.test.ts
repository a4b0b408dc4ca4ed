import { beforeAll, expect, test } from "bun:test";

import { addGuarded } from "../support/guarded-links.ts";
import { shareService } from "../support/service.ts";
import { untilCounted, WINDOWS_CHROME } from "../visits/visits.ts";
import { chooseLanguage, openPage, LAPTOP, PHONE, readers, untilFocused, wordsOf } from "./browser.ts";
import { shareDestination } from "./destination-site.ts";

const PASSWORD = "비밀번호 1";

const SETTINGS = { POSTURE: "private", LIMIT_PASSWORDS: "3/1h", TRUSTED_PROXIES: "127.0.0.1" };
const curt = shareService(SETTINGS);
const cautious = shareService({ ...SETTINGS, INTERSTITIAL: "all" });
const destination = shareDestination();
const { arrivals } = destination;
let target = "";
beforeAll(() => void (target = `http://127.0.0.1:${destination.port}/first`));

const ARRIVALS = [
  { method: "GET", path: "/first", referrer: null },
  { method: "GET", path: "/second", referrer: null },
];

const VISITORS = readers([
  { locale: "en-GB", viewport: LAPTOP, javaScriptEnabled: true },
  { locale: "ko-KR", viewport: PHONE, javaScriptEnabled: false },
]);

test.each(VISITORS)(
  "the right password redirects without a referrer, and later visits in the same browser need none ($locale)",
  async (reader) => {
    const say = wordsOf(reader.locale);
    const code = `비밀-${reader.locale}`;
    arrivals.length = 0;
    await addGuarded(curt, code, { password: PASSWORD, target });
    const headers = { "X-Forwarded-For": reader.locale === "en-GB" ? "192.0.2.1" : "192.0.2.2" };
    await using page = await openPage(curt.origin, {
      ...reader,
      userAgent: WINDOWS_CHROME,
      extraHTTPHeaders: headers,
    });
    // A dialog of the browser would keep this from resolving.
    expect((await page.goto(`/${encodeURIComponent(code)}`))?.status()).toBe(403);
    const field = page.getByLabel(say("password.label"));
    await untilFocused(field);
    await page.keyboard.type("wrong");
    await page.keyboard.press("Enter");
    const refusal = page.locator("#password-error");
    await refusal.waitFor();
    expect(await refusal.textContent()).toBe(
      `${say("password.wrong")} ${say("password.left", { count: 2 })}`,
    );
    await untilFocused(field);
    expect(await field.getAttribute("aria-describedby")).toBe("password-error password-hint");
    expect(await field.inputValue()).toBe("");
    expect(arrivals).toEqual([]);
    await field.fill(PASSWORD);
    await page.getByRole("button", { name: say("password.open") }).click();
    await page.waitForURL(`http://localhost:${destination.port}/second`);
    expect(arrivals).toEqual(ARRIVALS);
    const [cookie, ...others] = await page.context().cookies(`${curt.origin}/${encodeURIComponent(code)}`);
    expect(others).toEqual([]);
    expect(cookie).toMatchObject({ path: `/${encodeURIComponent(code)}`, httpOnly: true, sameSite: "Lax" });
    expect(await page.context().cookies(`${curt.origin}/another`)).toEqual([]);
    await page.goto(`/${encodeURIComponent(code)}/`);
    expect(page.url()).toBe(`http://localhost:${destination.port}/second`);
    await untilCounted(curt, code, 2);
  },
);

test("after too many wrong passwords the page says when to try again", async () => {
  const say = wordsOf("en");
  await addGuarded(curt, "often", { password: PASSWORD, target });
  await using page = await openPage(curt.origin, {
    extraHTTPHeaders: { "X-Forwarded-For": "192.0.2.3" },
  });
  await page.goto("/often");
  const left = [2, 1].map((tries) => `${say("password.wrong")} ${say("password.left", { count: tries })}`);
  const later = say("password.limited", { when: "in 20 minutes" });
  for (const text of [...left, `${say("password.wrong")} ${later}`, later]) {
    await page.getByLabel(say("password.label")).fill("wrong");
    await page.getByRole("button", { name: say("password.open") }).click();
    await page.getByText(text, { exact: true }).waitFor();
  }
});

test("the password page can change its language", async () => {
  await addGuarded(curt, "language", { password: PASSWORD, target });
  await using page = await openPage(curt.origin, {
    extraHTTPHeaders: { "X-Forwarded-For": "192.0.2.4" },
  });
  const say = wordsOf("ko");
  arrivals.length = 0;
  await page.goto("/language");
  await chooseLanguage(page, "ko");
  await page.getByLabel(say("password.label")).fill(PASSWORD);
  await page.getByRole("button", { name: say("password.open") }).click();
  await page.waitForURL(`http://localhost:${destination.port}/second`);
});

test("with INTERSTITIAL, the right password shows the destination first, and continuing uses no second visit", async () => {
  const say = wordsOf("en");
  arrivals.length = 0;
  await addGuarded(cautious, "both", { password: PASSWORD, maxVisits: 1, target });
  await using page = await openPage(cautious.origin, { userAgent: WINDOWS_CHROME });
  await page.goto("/both");
  await page.getByLabel(say("password.label")).fill(PASSWORD);
  await page.getByRole("button", { name: say("password.open") }).click();
  await page.getByRole("heading", { level: 1, name: say("interstitial.title") }).waitFor();
  await chooseLanguage(page, "ko");
  await page.getByRole("heading", { level: 1, name: wordsOf("ko")("interstitial.title") }).waitFor();
  expect(arrivals).toEqual([]);
  await page
    .getByRole("button", { name: wordsOf("ko")("preview.continue", { domain: "127.0.0.1" }) })
    .click();
  await page.waitForURL(`http://localhost:${destination.port}/second`);
  expect(arrivals).toEqual(ARRIVALS);
  expect((await page.goto("/both"))?.status()).toBe(410);
});
