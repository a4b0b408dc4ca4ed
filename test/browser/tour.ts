import type { Page } from "playwright-core";

import { DAY_MS } from "../../src/links/time.ts";
import { CURT } from "../../src/pages/assets/branding.ts";
import { problemPage } from "../../src/pages/problem/page.tsx";
import { damageStore } from "../stores/damage.ts";
import { addGuarded } from "../support/guarded-links.ts";
import { disableLink, type RunningService, startService } from "../support/service.ts";
import { addVisits, untilCounted, visit, WINDOWS_CHROME } from "../visits/visits.ts";
import { openSettings, wordsOf } from "./browser.ts";
import { makeButton } from "./home-form.ts";

/** A service with something to show on every page. */
export interface Tour extends AsyncDisposable {
  readonly curt: RunningService;
  /** Every page in turn, as a reader of `locale` gets there; `look` sees each of them, loaded. */
  walk(page: Page, locale: string, look: (name: string) => Promise<void>): Promise<void>;
}

/** The longest code, and a destination that nobody would type. */
const LONG_CODE = "가나다라마바사아자차카타파하거너".repeat(4);
const LONG_URL = `https://${"long-host-name.".repeat(6)}example.com/${"긴주소".repeat(40)}?q=${"a".repeat(200)}`;

const DECEIVING_URL = `http://www.paypal.com.${"long-host-name.".repeat(6)}аррӏе.com:8443/`;

/** Relative: the service is not at its public address. */
function manageAddressOf(response: Response): string {
  const [, address = ""] = /<https:\/\/[^/]+([^>]+)>/.exec(response.headers.get("link") ?? "") ?? [];
  return address;
}

/** In the page: adds sixty older links after those created in this browser. */
const ADD_MANY = `localStorage["curt.made-here"] = JSON.stringify([
  ...JSON.parse(localStorage["curt.made-here"]),
  ...Array.from({ length: 60 }, (_, nth) => ({ path: "/api/v1/links/many-" + nth, created: "2026-01-01T00:00:00.000Z" })),
])`;

/** In the page: all operations consist of the same parts, and axe would need as long for them as for a dozen other pages. */
const KEEP_FEW_OPERATIONS = `document.querySelectorAll("section.operation:nth-of-type(n + 9)").forEach((one) => one.remove())`;

export async function prepareTour(): Promise<Tour> {
  const settings = {
    CONTACT: "operator@curt.example",
    STATS_SHOWN: "all",
    TRUSTED_PROXIES: "127.0.0.1",
    LIMIT_PASSWORDS: "1000/1h",
  };
  const curt = await startService(settings, { startMs: Date.now() - 6 * DAY_MS });
  const broken = await startService();
  broken.expectFaults();
  const cautious = await startService({ INTERSTITIAL: "all" });
  await cautious.shorten({ original_url: LONG_URL, custom_code: LONG_CODE });
  await curt.shorten({ original_url: "https://example.com/", custom_code: "ended", expire_duration: "24h" });
  await curt.shorten({ original_url: LONG_URL, custom_code: LONG_CODE, expire_duration: "1month" });
  // Enough visits, and long enough ago, for the table by day and hour.
  await addVisits(curt, LONG_CODE, [
    ...Array.from({ length: 12 }, (_, nth) => ({
      referrer: `${"long-name.".repeat(24)}site-${nth}.example`,
    })),
    ...Array.from({ length: 60 }, (_, visitor) => ({ visitor })),
  ]);
  curt.advance(6 * DAY_MS);
  // A link that may still change.
  const managed = manageAddressOf(
    await curt.shorten({ original_url: LONG_URL, custom_code: `${LONG_CODE.slice(1)}나` }),
  );
  for (let nth = 0; nth < 6; nth++) {
    await visit(curt, LONG_CODE, {
      "X-Forwarded-For": `168.126.${60 + nth}.1`,
      Referer: `https://${"long-referrer.".repeat(4)}example.com/`,
    });
  }
  await untilCounted(curt, LONG_CODE, 78);
  await curt.shorten({ original_url: LONG_URL, custom_code: "disabled" });
  await disableLink(curt, "disabled", "phishing");
  await curt.shorten({ original_url: DECEIVING_URL, custom_code: "deceiving", expire_duration: "24h" });
  await addGuarded(curt, "closed", { password: "long".repeat(9), target: LONG_URL });
  await addGuarded(cautious, "once", { maxVisits: 1, target: LONG_URL });
  await addGuarded(curt, "used-up", { maxVisits: 1, target: LONG_URL });
  await visit(curt, "used-up");
  for (let nth = 0; nth < 50; nth++)
    await broken.shorten({ original_url: LONG_URL, custom_code: `link${nth}` });
  damageStore(broken.file);

  async function walk(page: Page, locale: string, look: (name: string) => Promise<void>): Promise<void> {
    const say = wordsOf(locale);
    async function open(name: string, path: string, status = 200): Promise<void> {
      const response = await page.goto(path, { waitUntil: "load" });
      if (response?.status() !== status) throw new Error(`${name}: ${response?.status()}`);
      await look(name);
    }
    async function send(url: string, code: string): Promise<void> {
      await page.getByRole("textbox", { name: say("home.url") }).fill(url);
      await page.getByRole("textbox", { name: say("home.code") }).fill(code);
      await makeButton(page).click();
    }
    await open("home", "/");
    await page.getByText(say("home.more")).click();
    await page.getByRole("radio", { name: say("duration.date") }).check();
    await look("home, all choices");
    await page.getByRole("textbox", { name: say("home.code") }).fill("disabled");
    await page.getByRole("button", { name: "disabled-2" }).waitFor();
    await look("home, with a code that is taken");
    await page.getByLabel(say("home.starts")).fill("2020-01-01T10:00");
    await page.getByRole("textbox", { name: say("home.max-visits") }).fill("many");
    await send(`naver.com 와 ${LONG_URL} https://example.com/`, "disabled");
    // The offer is there before the form is sent again.
    await page.locator("[aria-invalid]").first().waitFor();
    await page.getByRole("button", { name: "disabled-2" }).waitFor();
    await look("home, refused");
    for (const start of ["새", LONG_CODE.slice(0, 28)]) {
      await page.goto("/");
      // 36 characters that no link has.
      await send(LONG_URL, start + crypto.randomUUID());
      await page.waitForURL(/\+$/);
      await page.getByText(say("preview.made")).waitFor();
    }
    await look("result");
    await page.goto("/");
    await page.getByText(say("home.more")).click();
    await page.getByLabel(say("home.starts")).fill("2099-01-01T10:00");
    await send(LONG_URL, LONG_CODE.slice(0, 28) + crypto.randomUUID());
    await page.waitForURL(/\+$/);
    await page.getByText(say("preview.made")).waitFor();
    await look("scheduled link");
    await page.getByRole("button", { name: say("keep.now") }).click();
    await openSettings(page);
    for (const group of ["scheduled.starts", "manage.ends"] as const)
      await page
        .getByRole("group", { name: say(group) })
        .getByRole("radio", { name: say("duration.date") })
        .check();
    await look("manage, with dates");
    await page.goto("/");
    await page
      .getByRole("listitem")
      .filter({ has: page.locator("[data-visits]:not(:empty)") })
      .nth(1)
      .waitFor();
    await look("home, with links");
    await open("my links", "/+links");
    await page.evaluate(ADD_MANY);
    await page.reload();
    await page.getByRole("button", { name: say("links.more"), exact: true }).waitFor();
    await page
      .getByRole("listitem")
      .filter({ has: page.locator("[data-visits]:not(:empty)") })
      .nth(1)
      .waitFor();
    await look("my links, many");
    await page
      .getByRole("button", { name: say("links.menu") })
      .nth(1)
      .click();
    await look("my links, with a menu");
    await page.getByRole("button", { name: say("home.forget") }).click();
    await look("my links, after removal");
    await page.getByRole("searchbox").fill("nobody created it");
    await look("my links, none found");
    await page.evaluate("localStorage.clear()");
    await open("my links, none", "/+links");
    await open("preview", `/${encodeURIComponent(LONG_CODE)}+`);
    for (const summary of await page.locator("summary").all()) await summary.click();
    await look("preview, opened");
    await open("QR code", `/${encodeURIComponent(LONG_CODE)}+qr`);
    await open("QR code, poor", "/closed+qr?light=888&margin=2&size=64");
    await open("QR code, inverted", "/closed+qr?dark=fff&light=000", 400);
    await open("QR code, refused", "/closed+qr?dark=x&margin=99&size=x&ecc=x", 400);
    await open("manage key", `/${encodeURIComponent(LONG_CODE)}+manage`);
    const change = page.getByRole("textbox", { name: say("manage.target") });
    await page.goto(managed);
    await change.waitFor();
    await look("manage");
    await openSettings(page);
    await change.fill("naver.com");
    await page.getByRole("textbox", { name: say("manage.visits") }).fill("0");
    await page.getByRole("button", { name: say("manage.save") }).click();
    await page.locator("[aria-invalid]").nth(1).waitFor();
    await look("manage, refused");
    await page.goto(manageAddressOf(await curt.shorten({ original_url: LONG_URL })));
    await openSettings(page);
    await page.getByRole("checkbox", { name: say("manage.sure") }).check();
    await page.getByRole("button", { name: say("manage.withdraw") }).click();
    await page.getByText(say("link.ended")).waitFor();
    await look("manage, withdrawn");
    await open("report", `/${encodeURIComponent(LONG_CODE)}+report`);
    await page.getByRole("radio", { name: say("report.reason.spam") }).check();
    await page.getByRole("textbox", { name: say("report.note") }).fill("긴 이야기 ".repeat(400));
    await page.getByRole("button", { name: say("report.send") }).click();
    await page.locator("[aria-invalid]").waitFor();
    await look("report, refused");
    await open("report any link", "/+report");
    await open("report any link, unknown", "/+report?address=nobody-made-it", 404);
    await open("reported", "/+reported");
    await open("privacy", "/+privacy");
    await open("reference", "/docs");
    await page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })");
    if (process.env["READERS"] !== "all") await page.evaluate(KEEP_FEW_OPERATIONS);
    await look("reference, opened");
    await open("preview with warnings", "/deceiving+");
    await open("preview of an ended link", "/ended+");
    // By its own name, this Chromium is a bot, which would be redirected.
    await page.setExtraHTTPHeaders({ "User-Agent": WINDOWS_CHROME });
    await open("interstitial", `${cautious.origin}/${encodeURIComponent(LONG_CODE)}`);
    await open("interstitial that counts", `${cautious.origin}/once`);
    await page.setExtraHTTPHeaders({ "User-Agent": "Twitterbot/1.0" });
    await open("page for crawlers", `${cautious.origin}/once`);
    await page.setExtraHTTPHeaders({});
    await open("password", "/closed", 403);
    await page.getByLabel(say("password.label")).fill("wrong");
    await page.getByRole("button", { name: say("password.open") }).click();
    await page.locator("[aria-invalid]").waitFor();
    await look("password, wrong");
    await open("preview of a link with a password", "/closed+");
    await open("report of a link with a password", "/closed+report");
    await open("link that is used up", "/used-up", 410);
    await open("preview of a link that is used up", "/used-up+");
    await open("ended link", "/ended", 410);
    await open("preview of a disabled link", "/disabled+", 410);
    await open("disabled link", "/disabled", 410);
    await open("unknown link, free code", "/nobody-made-it", 404);
    await open("unknown link, glued", `/${encodeURIComponent(LONG_CODE)})${"은 ".repeat(40)}`, 404);
    await open("store away", `${broken.origin}/link7`, 503);
    await page.route("**/broken", (route) =>
      route.fulfill({
        status: 500,
        contentType: "text/html; charset=utf-8",
        body: problemPage(locale.slice(0, 2), { kind: "internal" })(CURT),
      }),
    );
    await open("internal error", "/broken", 500);
  }

  return {
    curt,
    walk,
    async [Symbol.asyncDispose]() {
      await curt[Symbol.asyncDispose]();
      await broken[Symbol.asyncDispose]();
      await cautious[Symbol.asyncDispose]();
    },
  };
}
