import { afterAll, beforeAll, expect, test } from "bun:test";

import { addGuarded } from "../redirect/guarded.ts";
import { type Running, startHere } from "../service.ts";
import { untilCounted, WINDOWS_CHROME } from "../visits/visits.ts";
import { arrive, LAPTOP, PHONE, readers, untilFocused, wordsOf } from "./browser.ts";

const PASSWORD = "비밀번호 1";

let curt: Running;
let cautious: Running;
let destination: ReturnType<typeof Bun.serve>;
let target = "";
let arrived: { path: string; method: string; referrer: string | null }[] = [];
beforeAll(async () => {
  const settings = { POSTURE: "private", LIMIT_PASSWORDS: "3/1h", TRUSTED_PROXIES: "127.0.0.1" };
  curt = await startHere(settings);
  cautious = await startHere({ ...settings, INTERSTITIAL: "all" });
  destination = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      const { pathname } = new URL(request.url);
      // The browser asks for the icon of the page by itself.
      if (pathname === "/favicon.ico") return new Response(null, { status: 204 });
      arrived.push({ path: pathname, method: request.method, referrer: request.headers.get("referer") });
      // Destinations redirect, too, also to other sites.
      if (pathname === "/first") return Response.redirect(`http://localhost:${destination.port}/second`);
      return new Response("arrived");
    },
  });
  target = `http://127.0.0.1:${destination.port}/first`;
});
afterAll(async () => {
  await destination.stop(true);
  await curt[Symbol.asyncDispose]();
  await cautious[Symbol.asyncDispose]();
});

const ARRIVED = [
  { path: "/first", method: "GET", referrer: null },
  { path: "/second", method: "GET", referrer: null },
];

const VISITORS = readers([
  { locale: "en-GB", viewport: LAPTOP, javaScriptEnabled: true },
  { locale: "ko-KR", viewport: PHONE, javaScriptEnabled: false },
]);

test.each(VISITORS)(
  "a person enters the password, is led on, and is not asked again ($locale)",
  async (reader) => {
    const say = wordsOf(reader.locale);
    const code = `비밀-${reader.locale}`;
    arrived = [];
    await addGuarded(curt, code, { password: PASSWORD, target });
    const headers = { "X-Forwarded-For": reader.locale === "en-GB" ? "192.0.2.1" : "192.0.2.2" };
    await using visitor = await arrive(curt.origin, {
      ...reader,
      userAgent: WINDOWS_CHROME,
      extraHTTPHeaders: headers,
    });
    const { page } = visitor;
    // A dialog of the browser would keep this from resolving.
    expect((await page.goto(`/${encodeURIComponent(code)}`))?.status()).toBe(401);
    const field = page.getByLabel(say("password.label"));
    await untilFocused(field);
    await page.keyboard.type("wrong");
    await page.keyboard.press("Enter");
    const refusal = page.getByRole("alert");
    await refusal.waitFor();
    expect(await refusal.textContent()).toBe(
      `${say("password.wrong")} ${say("password.left", { count: 2 })}`,
    );
    await untilFocused(field);
    expect(await field.getAttribute("aria-describedby")).toBe("password-error password-hint");
    expect(await field.inputValue()).toBe("");
    expect(arrived).toEqual([]);
    await field.fill(PASSWORD);
    await page.getByRole("button", { name: say("password.open") }).click();
    await page.waitForURL(`http://localhost:${destination.port}/second`);
    expect(arrived).toEqual(ARRIVED);
    const [cookie, ...others] = await visitor.context.cookies(`${curt.origin}/${encodeURIComponent(code)}`);
    expect(others).toEqual([]);
    expect(cookie).toMatchObject({ path: `/${encodeURIComponent(code)}`, httpOnly: true, sameSite: "Lax" });
    expect(await visitor.context.cookies(`${curt.origin}/another`)).toEqual([]);
    await page.goto(`/${encodeURIComponent(code)}/`);
    expect(page.url()).toBe(`http://localhost:${destination.port}/second`);
    await untilCounted(curt, code, 2);
  },
);

test("whoever tried too often reads when to try again", async () => {
  const say = wordsOf("en");
  await addGuarded(curt, "often", { password: PASSWORD, target });
  await using visitor = await arrive(curt.origin, { extraHTTPHeaders: { "X-Forwarded-For": "192.0.2.3" } });
  const { page } = visitor;
  await page.goto("/often");
  const left = [2, 1].map((tries) => `${say("password.wrong")} ${say("password.left", { count: tries })}`);
  const later = say("password.limited", { when: "in 20 minutes" });
  for (const told of [...left, `${say("password.wrong")} ${later}`, later]) {
    await page.getByLabel(say("password.label")).fill("wrong");
    await page.getByRole("button", { name: say("password.open") }).click();
    await page.getByText(told, { exact: true }).waitFor();
  }
});

test("a person who changes the language while being asked is asked in that one", async () => {
  await addGuarded(curt, "language", { password: PASSWORD, target });
  await using visitor = await arrive(curt.origin, { extraHTTPHeaders: { "X-Forwarded-For": "192.0.2.4" } });
  const { page } = visitor;
  const say = wordsOf("ko");
  arrived = [];
  await page.goto("/language");
  await page.getByRole("link", { name: "한국어" }).click();
  await page.getByLabel(say("password.label")).fill(PASSWORD);
  await page.getByRole("button", { name: say("password.open") }).click();
  await page.waitForURL(`http://localhost:${destination.port}/second`);
});

test("with INTERSTITIAL, who knows the password sees where the link leads, and goes on", async () => {
  const say = wordsOf("en");
  arrived = [];
  await addGuarded(cautious, "both", { password: PASSWORD, maxVisits: 1, target });
  await using visitor = await arrive(cautious.origin, { userAgent: WINDOWS_CHROME });
  const { page } = visitor;
  await page.goto("/both");
  await page.getByLabel(say("password.label")).fill(PASSWORD);
  await page.getByRole("button", { name: say("password.open") }).click();
  await page.getByRole("heading", { level: 1, name: say("interstitial.title") }).waitFor();
  await page.getByRole("link", { name: "한국어" }).click();
  await page.getByRole("heading", { level: 1, name: wordsOf("ko")("interstitial.title") }).waitFor();
  expect(arrived).toEqual([]);
  await page
    .getByRole("button", { name: wordsOf("ko")("preview.continue", { domain: "127.0.0.1" }) })
    .click();
  await page.waitForURL(`http://localhost:${destination.port}/second`);
  expect(arrived).toEqual(ARRIVED);
  expect((await page.goto("/both"))?.status()).toBe(410);
});
