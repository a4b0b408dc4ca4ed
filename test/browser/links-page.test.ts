import { afterAll, beforeAll, expect, test } from "bun:test";

import type { BrowserContext, Page } from "playwright-core";

import { relativeTime } from "../../src/locales/relative-time.ts";
import { BASE_URL, type Running, startHere } from "../service.ts";
import { untilCounted, visit } from "../visits/visits.ts";
import { arrive, PHONE, readers, stopTime, untilFocused, wordsOf } from "./browser.ts";

const say = wordsOf("en");

let curt: Running;
beforeAll(async () => {
  curt = await startHere();
});
afterAll(async () => {
  await curt[Symbol.asyncDispose]();
});

interface Kept {
  readonly path: string;
  readonly created: string;
  readonly key?: string;
  readonly target?: string;
  readonly told?: object;
}

/** Makes a link with the API, as the browser keeps it. */
async function makeLink(code: string, more: object = {}): Promise<Kept & { readonly key: string }> {
  const original_url = `https://www.example.com/of-${encodeURIComponent(code)}`;
  const made = await curt.fetch("/api/v1/links", {
    method: "POST",
    body: JSON.stringify({ target: original_url, code, ...more }),
  });
  const { data } = (await made.json()) as { data: { code: string; created_at: string; manage_key: string } };
  return {
    path: `/api/v1/links/${encodeURIComponent(data.code)}`,
    created: data.created_at,
    key: data.manage_key,
  };
}

/** Codes that nobody looks at. */
function manyLinks(count: number): Kept[] {
  return Array.from({ length: count }, (_, nth) => ({
    path: `/api/v1/links/many-${nth}`,
    created: new Date(Date.UTC(2026, 0, 1) - nth * 1000).toISOString(),
    target: `https://www.example.com/many/${nth}`,
  }));
}

/** Puts links into the browser, the latest first, and opens the page. */
async function openList(page: Page, links: readonly Kept[]): Promise<void> {
  await page.goto("/+links");
  await page.evaluate(`localStorage['curt.made-here'] = ${JSON.stringify(JSON.stringify(links))}`);
  await page.goto("/+links");
  if (links.length > 0) await page.getByRole("listitem").first().waitFor();
}

async function keptIn(page: Page): Promise<Kept[]> {
  return (await page.evaluate("JSON.parse(localStorage['curt.made-here'] ?? '[]')")) as Kept[];
}

function on(page: Page, locale = "en") {
  const words = wordsOf(locale);
  const items = page.getByRole("listitem");
  const item = (code: string) => items.filter({ has: page.getByRole("link", { name: `/${code}` }) });
  return {
    items,
    item,
    search: page.getByRole("searchbox", { name: words("links.search") }),
    button: (code: string, name: string) => item(code).getByRole("button", { name }),
    status: (text: string) => page.getByRole("status").filter({ hasText: text }),
    codes: async () =>
      (await items.getByRole("link", { name: /^curt\.example\// }).allTextContents()).map((address) =>
        address.replace(/^curt\.example\/|\/$/g, ""),
      ),
  };
}

test.each(readers(["en-GB", "ko-KR"]))(
  "each link tells its state, visits, and when it was made (%s)",
  async (locale) => {
    const words = wordsOf(locale);
    await using maker = await arrive(curt.origin, { locale, viewport: PHONE, timezoneId: "Asia/Seoul" });
    const { page } = maker;
    const code = (name: string) => `${name}-${locale}`;
    const ends = await makeLink(code("ends"), { expires_at: "48h" });
    const secret = await makeLink(code("비밀"), { password: "very long" });
    const later = await makeLink(code("later"), { starts_at: "48h" });
    const used = await makeLink(code("used"), { max_visits: 1 });
    const withdrawn = await makeLink(code("withdrawn"));
    await visit(curt, code("used"));
    await visit(curt, code("ends"));
    await untilCounted(curt, code("ends"), 1);
    await curt.fetch(withdrawn.path, {
      method: "DELETE",
      headers: { Authorization: `Bearer ${withdrawn.key}` },
    });
    const gone = { ...ends, path: "/api/v1/links/never-made" };
    await openList(page, [gone, withdrawn, used, later, secret, ends]);
    const { item } = on(page, locale);
    const left = relativeTime(locale.slice(0, 2)).format(48, "hour");
    for (const [name, text] of [
      ["ends", words("home.ends-in", { left })],
      ["비밀", words("home.endless")],
      ["later", words("links.scheduled")],
      ["used", words("links.used-up")],
      ["withdrawn", words("links.withdrawn")],
    ] as const) {
      await item(code(name)).filter({ hasText: text }).waitFor();
    }
    await item("never-made")
      .filter({ hasText: words("home.gone") })
      .waitFor();
    expect(await item(code("ends")).textContent()).toContain(`${words("preview.visits")} 1`);
    // With the key in the list, its maker is told where a link with a password leads.
    expect(await item(code("비밀")).textContent()).toContain("www.example.com/of-비밀");
    const [end, made] = await item(code("ends")).locator("time").all();
    const inFull = new Intl.DateTimeFormat(locale, {
      dateStyle: "long",
      timeStyle: "short",
      timeZone: "Asia/Seoul",
    });
    const endsMs = Date.parse((await end?.getAttribute("datetime")) ?? "");
    expect(endsMs).toBe(Date.parse(ends.created) + 48 * 3_600_000);
    expect(await end?.getAttribute("title")).toBe(inFull.format(endsMs));
    expect(await made?.getAttribute("title")).toBe(inFull.format(Date.parse(ends.created)));
    await item(code("ends"))
      .getByRole("link", { name: words("home.manage") })
      .click();
    await page.getByRole("textbox", { name: words("manage.target") }).waitFor();
  },
);

test("a search finds parts of codes and destinations, however they are typed", async () => {
  await using maker = await arrive(curt.origin);
  const { page } = maker;
  await openList(page, [
    await makeLink("가을-Sale"),
    await makeLink("other"),
    await makeLink("third", { target: "https://ko.wikipedia.org/wiki/%ED%95%9C%EA%B8%80" }),
  ]);
  const { search, codes, status, item } = on(page);
  await item("third").filter({ hasText: "wiki/한글" }).waitFor();
  for (const [typed, found] of [
    ["가을".normalize("NFD"), ["가을-Sale"]],
    ["sALE", ["가을-Sale"]],
    ["OF-other", ["other"]],
    ["한글", ["third"]],
    ["%ed%95", ["third"]],
    [" ", ["가을-Sale", "other", "third"]],
    ["<img src=x onerror=alert(1)>", []],
  ] as const) {
    await search.fill(typed);
    expect(await codes()).toEqual([...found]);
  }
  await status(say("links.found", { count: 0, all: 3 })).waitFor();
  await page.getByText(say("links.none")).waitFor();
  // Nothing that the list holds becomes a part of the page either.
  const created = "2026-01-01T00:00:00.000Z";
  await openList(page, [
    { path: `/api/v1/links/${encodeURIComponent('<img src="x" onerror="alert(1)">')}`, created },
    { path: "/api/v1/links/t", created, target: "https://example.com/<script>alert(1)</script>" },
    { path: "/api/v1/links/k", created, key: '"><script>alert(1)</script>' },
  ]);
  expect(await on(page).items.count()).toBe(3);
  expect(await page.locator("main img, main script, main li script").count()).toBe(0);
});

test("a link is removed only after a confirmation, and keeps redirecting", async () => {
  await using maker = await arrive(curt.origin);
  const { page } = maker;
  const links = [await makeLink("drop-a"), await makeLink("drop-b"), await makeLink("drop-c")].toReversed();
  await openList(page, links);
  const { button, codes, status, search } = on(page);
  const remove = (code: string) => button(code, say("home.forget"));
  const questions: string[] = [];
  const decide = (decision: "accept" | "dismiss") =>
    page.once("dialog", (dialog) => {
      questions.push(dialog.message());
      return dialog[decision]();
    });
  decide("dismiss");
  await remove("drop-b").press("Enter");
  expect(await codes()).toEqual(["drop-c", "drop-b", "drop-a"]);
  decide("accept");
  await remove("drop-b").press("Enter");
  await untilFocused(remove("drop-a"));
  await status(say("links.removed", { value: "curt.example/drop-b" })).waitFor();
  expect(questions).toEqual(Array(2).fill(say("links.remove", { value: "curt.example/drop-b" })));
  expect(await codes()).toEqual(["drop-c", "drop-a"]);
  expect((await keptIn(page)).map(({ key }) => key)).toEqual([links[0]?.key, links[2]?.key]);
  // The last one of the list, and the only one that a search finds.
  decide("accept");
  await remove("drop-a").press("Enter");
  await untilFocused(remove("drop-c"));
  await openList(page, links);
  await search.fill("drop-c");
  decide("accept");
  await remove("drop-c").press("Enter");
  await untilFocused(search);
  await search.fill("");
  expect(await codes()).toEqual(["drop-b", "drop-a"]);

  const clear = page.getByRole("button", { name: say("home.forget-all") });
  decide("dismiss");
  await clear.press("Enter");
  expect(await codes()).toEqual(["drop-b", "drop-a"]);
  decide("accept");
  await clear.press("Enter");
  await untilFocused(page.getByRole("main").getByRole("link", { name: say("page.home") }));
  await status(say("links.cleared")).waitFor();
  expect([await codes(), await keptIn(page)]).toEqual([[], []]);
  await page.reload();
  await page.getByText(say("links.empty")).waitFor();
  expect(await search.count()).toBe(0);
  expect((await curt.fetch("/drop-a")).status).toBe(302);
});

test("the addresses of all links, or of those found, are copied one per line", async () => {
  await using maker = await arrive(curt.origin);
  const { context, page } = maker;
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: curt.origin });
  await openList(page, [await makeLink("copy-둘"), await makeLink("copy-one")]);
  const { search, status } = on(page);
  await stopTime(page);
  const copied = async () => {
    await page.getByRole("button", { name: say("links.copy-all"), exact: true }).click();
    await status(say("copied")).waitFor();
    return page.evaluate<string>("navigator.clipboard.readText()");
  };
  expect(await copied()).toBe(`${BASE_URL}/copy-둘\n${BASE_URL}/copy-one`);
  await page.reload();
  await search.fill("one");
  expect(await copied()).toBe(`${BASE_URL}/copy-one`);
});

test("two tabs do not lose each other's links", async () => {
  await using maker = await arrive(curt.origin);
  const { context, page } = maker;
  const [a, b, c] = [await makeLink("tab-a"), await makeLink("tab-b"), await makeLink("tab-c")];
  await openList(page, [c, b, a]);
  const other = await context.newPage();
  await other.goto("/");
  await other.getByRole("textbox", { name: say("home.url") }).fill("https://example.com/");
  await other.getByRole("textbox", { name: say("home.code") }).fill("tab-new");
  await other.getByRole("button", { name: say("home.make") }).click();
  await other.waitForURL(/\+$/);
  // Shown without a reload.
  await on(page).item("tab-new").waitFor();
  await other.goto("/+links");
  for (const tab of [page, other]) tab.on("dialog", (dialog) => dialog.accept());
  await on(other).button("tab-c", say("home.forget")).click();
  await on(page).item("tab-c").waitFor({ state: "detached" });
  await on(page).button("tab-b", say("home.forget")).click();
  await on(other).item("tab-b").waitFor({ state: "detached" });
  for (const tab of [page, other]) {
    await tab.reload();
    expect(await on(tab).codes()).toEqual(["tab-new", "tab-a"]);
  }
});

test("a thousand links are searched at once, and only those in sight are asked about", async () => {
  await using maker = await arrive(curt.origin, { viewport: PHONE });
  const { page } = maker;
  const asked: string[] = [];
  page.on("request", (request) => {
    const [, path] = /(\/api\/v1\/links\/.+)$/.exec(request.url()) ?? [];
    if (path !== undefined) asked.push(path);
  });
  const links = manyLinks(1000);
  await openList(page, links);
  const { items, codes, search, status, item } = on(page);
  await items
    .first()
    .filter({ hasText: say("home.gone") })
    .waitFor();
  expect(await items.count()).toBe(50);
  // From here to the end at once, past those between.
  await items.last().scrollIntoViewIfNeeded();
  await items
    .last()
    .filter({ hasText: say("home.gone") })
    .waitFor();
  expect(asked).not.toContain(links.at(25)?.path);
  await page.getByRole("button", { name: say("links.more") }).click();
  await untilFocused(item("many-50").getByRole("link", { name: "/many-50" }));
  expect(await items.count()).toBe(100);
  await search.fill("many-99");
  expect(await codes()).toEqual(["many-99", ...Array.from({ length: 10 }, (_, nth) => `many-99${nth}`)]);
  await status(say("links.found", { count: 11, all: "1,000" })).waitFor();
  expect(new Set(asked).size).toBe(asked.length);
});

test("a service that has had enough of questions is left alone, and what was told last is shown", async () => {
  await using strict = await startHere({ LIMIT_VIEW: "2/1h" });
  await using maker = await arrive(strict.origin);
  const { page } = maker;
  let asked = 0;
  page.on("request", (request) => {
    if (request.url().includes("/api/v1/links/")) asked++;
  });
  const told = { state: "active", visits: 7, ends: null, atMs: 0 };
  const codes = Array.from({ length: 8 }, (_, nth) => `strict-${nth}`);
  for (const custom_code of codes)
    await strict.shorten({ original_url: "https://example.com/", custom_code });
  const links = codes.map((code) => ({
    path: `/api/v1/links/${code}`,
    created: "2026-01-01T00:00:00.000Z",
    told,
  }));
  await openList(page, links);
  await on(page).status(say("links.limited")).waitFor();
  await page
    .getByText(`${say("preview.visits")} 7`)
    .last()
    .waitFor();
  // It would ask on and on meanwhile.
  await page.evaluate("(async () => { for (let nth = 0; nth < 40; nth++) await fetch('/livez'); })()");
  // Two were answered, and at most four are under way at the same time.
  expect(asked).toBeLessThanOrEqual(6);
});

test("without a connection, what was told last is shown, and asked again when it is back", async () => {
  // By itself, because the browser complains of what it does not get.
  await using maker = await arrive(curt.origin);
  const { page } = maker;
  const made = await makeLink("offline");
  const told = { state: "active", visits: 3, ends: null, atMs: 0 };
  await page.route("**/api/v1/links/*", (route) => route.abort("aborted"));
  await openList(page, [{ ...made, told }]);
  const { item, status } = on(page);
  await status(say("links.away")).waitFor();
  expect(await item("offline").textContent()).toContain(`${say("preview.visits")} 3`);
  await page.unroute("**/api/v1/links/*");
  await page.evaluate("dispatchEvent(new Event('online'))");
  await item("offline")
    .filter({ hasText: `${say("preview.visits")} 0` })
    .waitFor();
  await status(say("links.away")).waitFor({ state: "detached" });
});

test("the list of an earlier version is read on, and what was told while the clock was ahead is asked again", async () => {
  await using person = await arrive(curt.origin);
  const { page } = person;
  const made = await makeLink("ahead");
  const { path, created } = await makeLink("earlier");
  await visit(curt, "ahead");
  await untilCounted(curt, "ahead", 1);
  const told = { state: "active", visits: 0, ends: null, atMs: Date.now() + 30 * 86_400_000 };
  await openList(page, [
    { path, created },
    { ...made, told },
  ]);
  const { item, search, codes } = on(page);
  await item("ahead").locator("[data-visits]").filter({ hasText: "1" }).waitFor();
  await item("earlier").filter({ hasText: "example.com/of-earlier" }).waitFor();
  expect(
    await item("earlier")
      .getByRole("link", { name: say("home.manage") })
      .count(),
  ).toBe(0);
  await page.goto("/+links");
  await search.fill("of-earlier");
  expect(await codes()).toEqual(["earlier"]);
});

test("a browser that keeps nothing says so, and one that is full loses nothing", async () => {
  await using maker = await arrive(curt.origin);
  const { context, page } = maker;
  await openList(page, [await makeLink("full-a"), await makeLink("full-b")]);
  await page.evaluate(
    "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError') }",
  );
  const { button, codes, status } = on(page);
  page.once("dialog", (dialog) => dialog.accept());
  await button("full-b", say("home.forget")).click();
  await status(say("links.full")).waitFor();
  expect(await codes()).toEqual(["full-a", "full-b"]);
  await denyStorage(context);
  await page.goto("/+links");
  await status(say("links.blocked")).waitFor();
  await page.getByText(say("links.empty")).waitFor();
});

function denyStorage(context: BrowserContext): Promise<unknown> {
  return context.addInitScript(
    "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('denied', 'SecurityError') } })",
  );
}
