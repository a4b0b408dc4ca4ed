import { expect, test } from "bun:test";

import type { BrowserContext, Page } from "playwright-core";

import type { MessageKey } from "../../src/locales/messages.ts";
import { relativeTime } from "../../src/locales/relative-time.ts";
import { callAs, createAs, named, PROXY } from "../http/people.ts";
import { BASE_URL, startService, shareService } from "../support/service.ts";
import { untilCounted, visit } from "../visits/visits.ts";
import { LAPTOP, openBrowser, openPage, PHONE, readers, stopTime, untilFocused, wordsOf } from "./browser.ts";
import { createInForm } from "./home-form.ts";

const say = wordsOf("en");

const curt = shareService();

/** The visits of a link, once they are loaded. */
const FIGURES = "[data-visits]:not(:empty)";

interface StoredEntry {
  readonly path: string;
  readonly created: string;
  readonly key?: string;
  readonly target?: string;
  readonly title?: string;
  readonly told?: object;
}

/** Creates a link with the API, and returns the entry that a browser stores for it. */
async function createLink(code: string, more: object = {}): Promise<StoredEntry & { readonly key: string }> {
  const original_url = `https://www.example.com/of-${encodeURIComponent(code)}`;
  const response = await curt.fetch("/api/v1/links", {
    method: "POST",
    body: JSON.stringify({ target: original_url, code, ...more }),
  });
  const { data } = (await response.json()) as {
    data: { code: string; created_at: string; manage_key: string };
  };
  return {
    path: `/api/v1/links/${encodeURIComponent(data.code)}`,
    created: data.created_at,
    key: data.manage_key,
  };
}

/** Entries of links that don't exist. */
function manyLinks(count: number): StoredEntry[] {
  return Array.from({ length: count }, (_, nth) => ({
    path: `/api/v1/links/many-${nth}`,
    created: new Date(Date.UTC(2026, 0, 1) - nth * 1000).toISOString(),
    target: `https://www.example.com/many/${nth}`,
  }));
}

/** Puts links into the browser, the latest first, and opens the page. */
async function openList(page: Page, links: readonly StoredEntry[]): Promise<void> {
  await page.goto("/+links");
  await page.evaluate(`localStorage['curt.made-here'] = ${JSON.stringify(JSON.stringify(links))}`);
  await page.goto("/+links");
  if (links.length > 0) await page.getByRole("listitem").first().waitFor();
}

async function storedEntries(page: Page): Promise<StoredEntry[]> {
  return (await page.evaluate("JSON.parse(localStorage['curt.made-here'] ?? '[]')")) as StoredEntry[];
}

function listOn(page: Page, locale = "en") {
  const words = wordsOf(locale);
  const items = page.getByRole("listitem");
  const item = (code: string) => items.filter({ has: page.getByRole("link", { name: `/${code}` }) });
  return {
    items,
    item,
    search: page.getByRole("searchbox", { name: words("links.search") }),
    status: (text: string) => page.getByRole("status").filter({ hasText: text }),
    codes: async () =>
      (await page.locator("[data-list] [data-code]").allTextContents()).map((text) => text.slice(1)),
    /** Presses an entry of a link's menu. */
    choose: async (code: string, entry: MessageKey) => {
      const chosen = item(code).locator(".menu").getByText(words(entry));
      // A change in another tab draws the list again, which closes its menus.
      for (let tries = 1; ; tries++) {
        if (!(await chosen.isVisible()))
          await item(code)
            .getByRole("button", { name: words("links.menu") })
            .press("Enter");
        try {
          return await chosen.click({ timeout: 2000 });
        } catch (error) {
          if (tries === 5) throw error;
        }
      }
    },
  };
}

test.each(readers(["en-GB", "ko-KR"]))(
  "each link shows its state, visits and destination, with its end in the reader's time zone (%s)",
  async (locale) => {
    const words = wordsOf(locale);
    await using page = await openPage(curt.origin, { locale, viewport: PHONE, timezoneId: "Asia/Seoul" });
    const code = (name: string) => `${name}-${locale}`;
    const ends = await createLink(code("ends"), { expires_at: "48h" });
    const secret = await createLink(code("비밀"), { password: "very long" });
    const later = await createLink(code("later"), { starts_at: "48h" });
    const used = await createLink(code("used"), { max_visits: 1 });
    const withdrawn = await createLink(code("withdrawn"));
    await visit(curt, code("used"));
    await visit(curt, code("ends"));
    await untilCounted(curt, code("ends"), 1);
    await curt.fetch(withdrawn.path, {
      method: "DELETE",
      headers: { Authorization: `Bearer ${withdrawn.key}` },
    });
    const gone = { ...ends, path: "/api/v1/links/never-made" };
    await openList(page, [gone, withdrawn, used, later, secret, ends]);
    const { item, choose } = listOn(page, locale);
    const left = relativeTime(locale.slice(0, 2)).format(48, "hour");
    for (const [name, text] of [
      ["ends", words("home.ends-in", { left })],
      ["later", words("links.scheduled")],
      ["used", words("links.used-up")],
      ["withdrawn", words("links.withdrawn")],
    ] as const) {
      await item(code(name)).filter({ hasText: text }).waitFor();
    }
    await item("never-made")
      .filter({ hasText: words("home.gone") })
      .waitFor();
    expect(await item(code("ends")).textContent()).toContain(`1 ${words("preview.visits")}`);
    // The key in the list lets its maker see the destination of a link with a password.
    expect(await item(code("비밀")).textContent()).toContain("www.example.com/of-비밀");
    const end = item(code("ends")).locator("[data-left] time");
    const inFull = new Intl.DateTimeFormat(locale, {
      dateStyle: "long",
      timeStyle: "short",
      timeZone: "Asia/Seoul",
    });
    const endsMs = Date.parse((await end.getAttribute("datetime")) ?? "");
    expect(endsMs).toBe(Date.parse(ends.created) + 48 * 3_600_000);
    expect(await end.getAttribute("title")).toBe(inFull.format(endsMs));
    await choose(code("ends"), "links.change");
    await page.getByRole("textbox", { name: words("manage.target") }).waitFor();
  },
);

test("a search finds parts of codes, titles and destinations in any spelling, and no stored text becomes markup", async () => {
  await using page = await openPage(curt.origin);
  await openList(page, [
    await createLink("가을-Sale"),
    await createLink("other", { title: "Spring 회의" }),
    await createLink("third", { target: "https://ko.wikipedia.org/wiki/%ED%95%9C%EA%B8%80" }),
  ]);
  const { search, codes, status, item } = listOn(page);
  await item("third").filter({ hasText: "wiki/한글" }).waitFor();
  await item("other").filter({ hasText: "Spring 회의" }).waitFor();
  for (const [typed, found] of [
    ["가을".normalize("NFD"), ["가을-Sale"]],
    ["sALE", ["가을-Sale"]],
    ["OF-other", ["other"]],
    ["한글", ["third"]],
    ["spring 회", ["other"]],
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
    {
      path: "/api/v1/links/t",
      created,
      target: "https://example.com/<script>alert(1)</script>",
      title: "<img src=x>",
    },
    { path: "/api/v1/links/k", created, key: '"><script>alert(1)</script>' },
  ]);
  expect(await listOn(page).items.count()).toBe(3);
  expect(await page.locator("main img, main script, main li script").count()).toBe(0);
});

test("links leave the list with their keys, come back, and are deleted only after a question", async () => {
  await using page = await openPage(curt.origin);
  const links = [
    await createLink("drop-a"),
    await createLink("drop-b"),
    await createLink("drop-c"),
  ].toReversed();
  await openList(page, links);
  const { choose, codes, status, search, item } = listOn(page);
  const undo = page.getByRole("button", { name: say("links.undo") });
  await choose("drop-b", "home.forget");
  await untilFocused(item("drop-a").getByRole("link", { name: "/drop-a" }));
  await status(say("links.removed", { value: "curt.example/drop-b" })).waitFor();
  expect(await codes()).toEqual(["drop-c", "drop-a"]);
  await undo.click();
  expect(await codes()).toEqual(["drop-c", "drop-b", "drop-a"]);
  expect(await undo.isVisible()).toBe(false);
  await choose("drop-b", "home.forget");
  await page.reload();
  expect(await codes()).toEqual(["drop-c", "drop-a"]);
  expect((await storedEntries(page)).map(({ key }) => key)).toEqual(links.map(({ key }) => key));
  await page.locator("summary", { hasText: say("links.gone") }).click();
  await choose("drop-b", "links.put-back");
  expect(await codes()).toEqual(["drop-c", "drop-b", "drop-a"]);
  // Only the last step asks.
  await search.fill("drop-c");
  await choose("drop-c", "home.forget");
  await untilFocused(search);
  await search.fill("");
  const questions: string[] = [];
  for (const decision of ["dismiss", "accept"] as const) {
    page.once("dialog", (dialog) => {
      questions.push(dialog.message());
      return dialog[decision]();
    });
    await choose("drop-c", "links.delete");
    expect(questions.length).toBe(decision === "dismiss" ? 1 : 2);
  }
  await status(say("links.deleted", { value: "curt.example/drop-c" })).waitFor();
  expect(questions).toEqual(Array(2).fill(say("links.remove", { value: "curt.example/drop-c" })));
  expect((await storedEntries(page)).map(({ path }) => path)).toEqual(links.slice(1).map(({ path }) => path));

  await page.getByRole("button", { name: say("home.forget-all") }).press("Enter");
  await untilFocused(page.getByRole("main").getByRole("link", { name: say("preview.another") }));
  await status(say("links.cleared")).waitFor();
  await page.reload();
  await page.getByText(say("links.empty")).waitFor();
  expect(await search.count()).toBe(0);
  expect((await curt.fetch("/drop-a")).status).toBe(302);
});

test("a new name is the link's title, and Escape keeps the old one", async () => {
  await using page = await openPage(curt.origin);
  const link = await createLink("named", { title: "Before" });
  await openList(page, [link]);
  const { choose, item } = listOn(page);
  await item("named").filter({ hasText: "Before" }).waitFor();
  const field = page.getByRole("textbox", { name: say("links.rename") });
  await choose("named", "links.rename");
  await field.fill("Never");
  await page.keyboard.press("Escape");
  await untilFocused(item("named").getByRole("link", { name: "/named" }));
  await choose("named", "links.rename");
  await field.fill("가을소풍");
  await page.keyboard.press("Enter");
  await item("named").filter({ hasText: "가을소풍" }).waitFor();
  const headers = { Authorization: `Bearer ${link.key}` };
  const { data } = (await (await curt.fetch(link.path, { headers })).json()) as { data: object };
  expect(data).toMatchObject({ title: "가을소풍" });
});

test("the copy button copies the addresses of all links, or of those found, one per line", async () => {
  await using page = await openPage(curt.origin);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin: curt.origin });
  await openList(page, [await createLink("copy-둘"), await createLink("copy-one")]);
  const { search, status } = listOn(page);
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

test("two tabs show each other's additions and removals, and lose none", async () => {
  await using page = await openPage(curt.origin);
  const [a, b, c] = [await createLink("tab-a"), await createLink("tab-b"), await createLink("tab-c")];
  await openList(page, [c, b, a]);
  const other = await page.context().newPage();
  await createInForm(other, { code: "tab-new" });
  // Shown without a reload.
  await listOn(page).item("tab-new").waitFor();
  await other.goto("/+links");
  await listOn(other).choose("tab-c", "home.forget");
  await page.locator("[data-list] li", { hasText: "tab-c" }).waitFor({ state: "detached" });
  await listOn(page).choose("tab-b", "home.forget");
  await other.locator("[data-list] li", { hasText: "tab-b" }).waitFor({ state: "detached" });
  for (const tab of [page, other]) {
    await tab.reload();
    expect(await listOn(tab).codes()).toEqual(["tab-new", "tab-a"]);
  }
});

test("a search covers a thousand links, and the page queries only those in sight, once each", async () => {
  await using page = await openPage(curt.origin, { viewport: PHONE });
  const requests: string[] = [];
  page.on("request", (request) => {
    const [, path] = /(\/api\/v1\/links\/.+)$/.exec(request.url()) ?? [];
    if (path !== undefined) requests.push(path);
  });
  const links = manyLinks(1000);
  await openList(page, links);
  const { items, codes, search, status, item } = listOn(page);
  await items
    .first()
    .filter({ hasText: say("home.gone") })
    .waitFor();
  expect(await items.count()).toBe(50);
  // Jumps to the end, past the links between.
  await items.last().scrollIntoViewIfNeeded();
  await items
    .last()
    .filter({ hasText: say("home.gone") })
    .waitFor();
  expect(requests).not.toContain(links.at(25)?.path);
  await page.getByRole("button", { name: say("links.more"), exact: true }).click();
  await untilFocused(item("many-50").getByRole("link", { name: "/many-50" }));
  expect(await items.count()).toBe(100);
  await search.fill("many-99");
  expect(await codes()).toEqual(["many-99", ...Array.from({ length: 10 }, (_, nth) => `many-99${nth}`)]);
  await status(say("links.found", { count: 11, all: "1,000" })).waitFor();
  expect(new Set(requests).size).toBe(requests.length);
});

test("after a 429 the page stops its requests and shows the last known figures", async () => {
  await using strict = await startService({ LIMIT_VIEW: "2/1h" });
  await using page = await openPage(strict.origin);
  let requests = 0;
  page.on("request", (request) => {
    if (request.url().includes("/api/v1/links/")) requests++;
  });
  const figures = { state: "active", visits: 7, ends: null, atMs: 0 };
  const codes = Array.from({ length: 8 }, (_, nth) => `strict-${nth}`);
  for (const custom_code of codes)
    await strict.shorten({ original_url: "https://example.com/", custom_code });
  const links = codes.map((code) => ({
    path: `/api/v1/links/${code}`,
    created: "2026-01-01T00:00:00.000Z",
    told: figures,
  }));
  await openList(page, links);
  await listOn(page).status(say("links.limited")).waitFor();
  await page
    .getByText(`7 ${say("preview.visits")}`)
    .last()
    .waitFor();
  // Without a stop, it would send more requests meanwhile.
  await page.evaluate("(async () => { for (let nth = 0; nth < 40; nth++) await fetch('/livez'); })()");
  // Two were answered, and at most four are under way at the same time.
  expect(requests).toBeLessThanOrEqual(6);
});

test("without a connection the page shows the last known figures, and reads them again when it returns", async () => {
  // Aborted, because the browser reports other failures as problems.
  await using page = await openPage(curt.origin);
  const entry = await createLink("offline");
  const figures = { state: "active", visits: 3, ends: null, atMs: 0 };
  await page.route("**/api/v1/links/*", (route) => route.abort("aborted"));
  await openList(page, [{ ...entry, told: figures }]);
  const { item, status } = listOn(page);
  await status(say("links.away")).waitFor();
  expect(await item("offline").textContent()).toContain(`3 ${say("preview.visits")}`);
  await page.unroute("**/api/v1/links/*");
  await page.evaluate("dispatchEvent(new Event('online'))");
  await item("offline")
    .filter({ hasText: `0 ${say("preview.visits")}` })
    .waitFor();
  await status(say("links.away")).waitFor({ state: "detached" });
});

test("the list of an earlier version still works, and figures from a clock that was ahead are read again", async () => {
  await using page = await openPage(curt.origin);
  const entry = await createLink("ahead");
  const { path, created } = await createLink("earlier");
  await visit(curt, "ahead");
  await untilCounted(curt, "ahead", 1);
  const figures = { state: "active", visits: 0, ends: null, atMs: Date.now() + 30 * 86_400_000 };
  await openList(page, [
    { path, created },
    { ...entry, told: figures },
  ]);
  const { item, search, codes } = listOn(page);
  await item("ahead").locator("[data-visits]").filter({ hasText: "1" }).waitFor();
  await item("earlier").filter({ hasText: "example.com/of-earlier" }).waitFor();
  expect(await item("earlier").locator("[data-manage]").count()).toBe(0);
  await page.goto("/+links");
  await search.fill("of-earlier");
  expect(await codes()).toEqual(["earlier"]);
});

test("a person whom a proxy names finds each of her links once in every browser, and names it without a key", async () => {
  await using office = await startService(PROXY);
  await createAs(office, "jun");
  await using page = await openPage(office.origin, { extraHTTPHeaders: named("mina") });
  const code = await createInForm(page, { code: "both" });
  const other = (await createAs(office, "mina")).code;
  await page.goto("/+links");
  const { codes, item, choose } = listOn(page);
  await item(other).waitFor();
  expect((await codes()).toSorted()).toEqual([code, other].toSorted());
  await choose(other, "links.rename");
  await page.getByRole("textbox", { name: say("links.rename") }).fill("Handbook");
  await page.keyboard.press("Enter");
  await item(other).filter({ hasText: "Handbook" }).waitFor();
  await page.reload();
  await item(other).filter({ hasText: "Handbook" }).waitFor();
  expect(await storedEntries(page)).toHaveLength(1);
  await choose(other, "links.change");
  await page.getByRole("textbox", { name: say("manage.target") }).waitFor();
});

test("a key that ended with a hand-over leaves the list, and the link stays", async () => {
  await using office = await startService(PROXY);
  const entryOf = async () => {
    const { path, key, data } = await createAs(office, "mina");
    return { path, key, created: data.created_at as string };
  };
  const [given, kept] = [await entryOf(), await entryOf()];
  const [mine, other] = [given, kept].map(({ path }) => path.split("/").at(-1) ?? "") as [string, string];
  await callAs(office, "mina", "PATCH", given.path, { body: { owner: "joon" } });
  const keysIn = async (page: Page) =>
    new Map((await storedEntries(page)).map(({ path, key }) => [path, key ?? "none"]));

  await using stranger = await openPage(office.origin);
  await stranger.route("**/api/v1/links/*", (route) => route.abort("aborted"));
  await openList(stranger, [given, kept]);
  await listOn(stranger).status(say("links.away")).waitFor();
  expect(await keysIn(stranger)).toEqual(new Map([given, kept].map(({ path, key }) => [path, key])));
  await stranger.unroute("**/api/v1/links/*");
  await stranger.reload();
  await listOn(stranger).item(mine).locator("[data-manage]").waitFor({ state: "detached" });
  await listOn(stranger).item(mine).locator(FIGURES).waitFor();
  await stranger.goto("/");
  await listOn(stranger).choose(other, "links.change");
  await stranger.getByRole("textbox", { name: say("manage.target") }).waitFor();
  expect([...(await keysIn(stranger)).values()].toSorted()).toEqual([kept.key, "none"].toSorted());

  // Colleagues see the link in any case, so the service refuses only the form, which the browser reports as a problem.
  const browser = await openBrowser();
  await using context = await browser.newContext({
    baseURL: office.origin,
    locale: "en-GB",
    extraHTTPHeaders: named("mina"),
  });
  const colleague = await context.newPage();
  await openList(colleague, [given]);
  await listOn(colleague).choose(mine, "links.change");
  await colleague.getByRole("textbox", { name: say("manage.key") }).waitFor();
  expect(await keysIn(colleague)).toEqual(new Map([[given.path, "none"]]));
});

test("a list in the format of a later version stays as it is", async () => {
  await using page = await openPage(curt.origin);
  await openList(page, []);
  const list = JSON.stringify({ version: 2, links: manyLinks(1) });
  await page.evaluate((text) => localStorage.setItem("curt.made-here", text), list);
  await page.reload();
  await page.getByText(say("links.blocked")).waitFor();
  expect(await page.evaluate(() => localStorage.getItem("curt.made-here"))).toBe(list);
});

test("a browser without storage says so, and one with full storage loses no link", async () => {
  await using page = await openPage(curt.origin);
  await openList(page, [await createLink("full-a"), await createLink("full-b")]);
  await page.evaluate(
    "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError') }",
  );
  const { choose, codes, status } = listOn(page);
  await choose("full-b", "home.forget");
  await status(say("links.full")).waitFor();
  expect(await codes()).toEqual(["full-a", "full-b"]);
  await denyStorage(page.context());
  await page.goto("/+links");
  await status(say("links.blocked")).waitFor();
  await page.getByText(say("links.empty")).waitFor();
});

function denyStorage(context: BrowserContext): Promise<unknown> {
  return context.addInitScript(
    "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('denied', 'SecurityError') } })",
  );
}

test("a file moves the list, with the manage keys, to another browser, which keeps its own links", async () => {
  const [mine, both, old] = [await createLink("mine"), await createLink("both"), await createLink("old")];
  const { key: _, ...keyless } = both;
  await using page = await openPage(curt.origin);
  await openList(page, [mine, both]);
  const { item } = listOn(page);
  await item("mine")
    .filter({ has: page.locator(FIGURES) })
    .waitFor();
  const downloading = page.waitForEvent("download");
  await page.getByRole("button", { name: say("links.save") }).click();
  const download = await downloading;
  expect(download.suggestedFilename()).toBe("127.0.0.1-links.json");
  const file = await download.path();

  await using other = await openPage(curt.origin);
  await openList(other, [old, keyless]);
  const load = async (files: string | { name: string; mimeType: string; buffer: Buffer }) => {
    const choosing = other.waitForEvent("filechooser");
    await other.getByRole("button", { name: say("links.load") }).click();
    await (await choosing).setFiles(files);
  };
  const { status } = listOn(other);
  await load(file);
  await status(say("links.loaded", { value: "1" })).waitFor();
  const keysOf = (list: readonly StoredEntry[]) =>
    Object.fromEntries(list.map(({ path, key }) => [path, key]));
  const all = keysOf([old, both, mine]);
  expect(keysOf(await storedEntries(other))).toEqual(all);
  await load(file);
  await status(say("links.loaded", { value: "0" })).waitFor();
  await load({ name: "a.json", mimeType: "application/json", buffer: Buffer.from("[{}]") });
  await status(say("links.unreadable")).waitFor();
  expect(keysOf(await storedEntries(other))).toEqual(all);
});

/** Loads a file of links into the list of a page. */
async function loadFile(page: Page, links: readonly StoredEntry[]): Promise<void> {
  const choosing = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: say("links.load") }).click();
  const buffer = Buffer.from(JSON.stringify(links));
  await (await choosing).setFiles({ name: "links.json", mimeType: "application/json", buffer });
}

test("a file never pushes a link of this browser out of a full list", async () => {
  await using page = await openPage(curt.origin);
  const own = await createLink("own");
  await openList(page, [own]);
  const later = Array.from({ length: 10_000 }, (_, nth) => ({ path: `/${nth}`, created: "9999-01-01" }));
  await loadFile(page, later);
  await listOn(page)
    .status(say("links.loaded", { value: "9,999" }))
    .waitFor();
  expect(await storedEntries(page)).toContainEqual(expect.objectContaining(own));
});

test("a file with the newer link of a code replaces one that is gone, with its key", async () => {
  await using page = await openPage(curt.origin);
  const newer = await createLink("reused");
  const older = { ...newer, created: "2026-01-01T00:00:00.000Z", key: "old" };
  await openList(page, [older]);
  const { item } = listOn(page);
  await item("reused")
    .filter({ hasText: say("home.gone") })
    .waitFor();
  await loadFile(page, [newer]);
  await item("reused")
    .filter({ has: page.locator(FIGURES) })
    .waitFor();
  expect(await storedEntries(page)).toMatchObject([newer]);
});

test("a late response about an older link of a code doesn't describe the newer one", async () => {
  await using page = await openPage(curt.origin);
  const newer = await createLink("late");
  const older = { path: newer.path, created: "2026-01-01T00:00:00.000Z" };
  const { promise: isReplaced, resolve: replaced } = Promise.withResolvers<void>();
  const { promise: isAsked, resolve: asked } = Promise.withResolvers<void>();
  await page.route(
    "**/api/v1/links/*",
    async (route) => {
      asked();
      await isReplaced;
      await route.continue();
    },
    { times: 1 },
  );
  await openList(page, [older]);
  await isAsked;
  const other = await page.context().newPage();
  await other.goto("/livez");
  await other.evaluate(`localStorage['curt.made-here'] = ${JSON.stringify(JSON.stringify([newer]))}`);
  const { item } = listOn(page);
  await item("late").locator("[data-manage]").waitFor({ state: "attached" });
  replaced();
  await item("late")
    .filter({ has: page.locator(FIGURES) })
    .waitFor();
  const downloading = page.waitForEvent("download");
  await page.getByRole("button", { name: say("links.save") }).click();
  expect(await Bun.file(await (await downloading).path()).json()).toMatchObject([newer]);
});

test("links whose requests are refused don't keep the others from their figures", async () => {
  await using page = await openPage(curt.origin);
  const fine = await createLink("fine");
  // As a firewall may do with some words.
  await page.route("**/select-*", (route) => route.fulfill({ body: "Forbidden" }));
  const refused = [1, 2, 3, 4].map((nth) => ({
    path: `/api/v1/links/select-${nth}`,
    created: `299${nth}-01-01T00:00:00.000Z`,
  }));
  await stopTime(page);
  await openList(page, [...refused, fine]);
  const { item, status } = listOn(page);
  await status(say("links.away")).waitFor();
  await page.clock.runFor(31_000);
  await item("fine")
    .filter({ has: page.locator(FIGURES) })
    .waitFor();
});

test("without its script, the page says how to find links, and has its footer", async () => {
  await using page = await openPage(curt.origin);
  await page.route("**/links*.js", (route) => route.fulfill({ contentType: "text/javascript", body: "" }));
  await page.goto("/+links");
  await page.getByText(say("links.noscript.find")).waitFor();
  await page.getByRole("link", { name: say("privacy.title") }).waitFor();
});

test("rows of links have one height, whatever the length of code and destination, and all rows the same columns", async () => {
  await using page = await openPage(curt.origin, { viewport: LAPTOP });
  const long = await createLink("가".repeat(64), { target: `https://example.com/${"a".repeat(900)}` });
  await openList(page, [await createLink("a"), long, { ...long, path: "/api/v1/links/nobody-made-it" }]);
  await page.getByText(say("home.gone")).waitFor();
  const { items } = listOn(page);
  await items
    .filter({ has: page.locator(FIGURES) })
    .nth(1)
    .waitFor();
  // The first has the name of its day above it.
  const heights = await page
    .locator("li > [data-address]")
    .evaluateAll((all) => all.slice(0, 2).map((one: any) => one.offsetHeight));
  expect(new Set(heights).size).toBe(1);
  const columns = await page
    .locator("li > .actions")
    .evaluateAll((all) => all.map((one: any) => one.offsetLeft));
  expect([columns.length, new Set(columns).size]).toEqual([3, 1]);
});
