import { describe, expect, test } from "bun:test";

import en from "../../src/locales/en.json";
import { MAX_TEXT } from "../../src/pages/directory/handler.tsx";
import { operateAs, TOKEN } from "../admin/operator.ts";
import { callApi, TARGET } from "../support/managed-links.ts";
import { shareService } from "../support/service.ts";
import { untilCounted, visit } from "../visits/visits.ts";
import { HTML } from "./markup.ts";
import { callAs, createAs, named, PROXY } from "./people.ts";

const curt = shareService({ ...PROXY, ADMIN_TOKEN: TOKEN, POSTURE: "private" });
const anonymous = shareService({ POSTURE: "private" });
const corrected = shareService({ ...PROXY, EDITORS: "everybody" });

/** Follows the page of a part of a search that found nothing, as browsers do. */
async function open(
  path: string,
  headers: Record<string, string> = named("joon"),
  of = curt,
): Promise<Response> {
  const page = await of.fetch(path, { headers: { ...HTML, ...headers }, redirect: "manual" });
  const [, next] = /url=(.+)/.exec(page.headers.get("refresh") ?? "") ?? [];
  return next === undefined ? page : open(next, headers, of);
}
const textOf = async (...request: Parameters<typeof open>) => (await open(...request)).text();

/** The codes that a page lists, in order. */
async function codesOf(query: Record<string, string>, name = "joon"): Promise<string[]> {
  const page = await textOf(`/+all?${new URLSearchParams(query).toString()}`, named(name));
  return Array.from(page.matchAll(/<bdi data-code[^>]*>\/([^<]+)</g), ([, code = ""]) => code);
}

describe("/+all", () => {
  test("doesn't exist where no proxy names people", async () => {
    const page = await open("/+all", named("joon"), anonymous);
    const other = await open("/+other", named("joon"), anonymous);
    expect([page.status, await page.text()]).toEqual([404, (await other.text()).replaceAll("other", "all")]);
  });

  test("refuses requests without a name, or with two", async () => {
    for (const [headers, reason] of [
      [{}, "user.missing"],
      [named("mina, joon"), "user.wrong"],
    ] as const) {
      const page = await open("/+all", headers);
      expect([page.status, page.headers.get("curt-reason")]).toEqual([403, reason]);
      expect(await page.text()).toContain(en[reason]);
      expect((await curt.fetch("/+all", { headers })).status).toBe(403);
    }
  });

  test("lists the links of all colleagues, by visits or newest first, with their owners", async () => {
    const created = [];
    for (const name of ["mina", "joon", "mina"])
      created.push(await createAs(curt, name, { title: "Orders" }));
    const codes = created.map(({ code }) => code);
    const [first = "", second = "", third = ""] = codes;
    for (const code of [second, second, first]) await visit(curt, code);
    await untilCounted(curt, second, 2);
    await untilCounted(curt, first, 1);
    while ((await codesOf({ q: "orders" }))[0] !== second) await Bun.sleep(100);
    expect(await codesOf({ q: "orders", by: "newest" })).toEqual([third, second, first]);
    expect(await codesOf({ q: "orders" })).toEqual([second, first, third]);
    const page = await textOf(`/+all?q=${first}`);
    for (const text of ["mina</bdi>", "Orders</bdi>", "<strong>1</strong>", TARGET.slice(8)])
      expect(page).toContain(text);
  });

  test("finds links by code, title, destination and owner", async () => {
    const { code } = await createAs(curt, "haru", {
      title: "Lunch menu 점심",
      target: "https://cafe.example/menu",
    });
    for (const q of [code, code.slice(1), "lunch MENU", "점심", "cafe.example", "HARU"])
      expect(await codesOf({ q }), q).toContain(code);
    for (const q of ["dinner", "\0", "x".repeat(9000)]) expect(await codesOf({ q })).toEqual([]);
    const long = `https://cafe.example/${"a".repeat(MAX_TEXT)}`;
    await callAs(curt, "haru", "PATCH", `/api/v1/links/${code}`, { body: { target: long } });
    expect(await codesOf({ q: `${long}b` })).toEqual([code]);
  });

  test("keeps a password's destination from everybody but the owner, also from searches", async () => {
    const secret = { target: "https://payroll.example/secret", password: "open sesame" };
    const { code } = await createAs(curt, "mina", secret);
    expect(await codesOf({ q: "payroll.example" }, "mina")).toEqual([code]);
    expect(await codesOf({ q: "payroll.example" })).toEqual([]);
    const page = await textOf(`/+all?q=${code}`);
    expect(page).toContain(en["password.label"]);
    expect(page).not.toContain("payroll");
  });

  test("leads those who may change a link to its manage page", async () => {
    for (const [of, more, joon] of [
      [curt, {}, false],
      [corrected, {}, true],
      [corrected, { password: "open sesame" }, false],
    ] as const) {
      const { code } = await createAs(of, "mina", more);
      const leads = async (name: string) =>
        (await textOf(`/+all?q=${code}`, named(name), of)).includes(`/${code}+manage`);
      expect([await leads("mina"), await leads("joon")]).toEqual([true, joon]);
    }
  });

  test("shows ended links as ended, and leaves out those that were withdrawn or don't work for the reader", async () => {
    const used = await createAs(curt, "mina", { title: "States", max_visits: 1 });
    const later = await createAs(curt, "mina", { title: "States", starts_at: "48h" });
    const gone = await createAs(curt, "mina", { title: "States" });
    await callAs(curt, "mina", "DELETE", gone.path);
    await visit(curt, used.code);
    expect(await codesOf({ q: "states" })).toEqual([used.code]);
    expect((await codesOf({ q: "states" }, "mina")).toSorted()).toEqual([later.code, used.code].toSorted());
    expect(await textOf("/+all?q=states")).toContain(en["chip.ended"]);
  });

  test("leaves out links to a host as soon as it is blocked", async () => {
    const { code } = await createAs(curt, "mina", { target: "https://evil.listed.test/" });
    expect(await codesOf({ by: "newest" })).toContain(code);
    await operateAs(curt)("PUT", "hosts/evil.listed.test", { reason: "phishing" });
    expect(await codesOf({ by: "newest" })).not.toContain(code);
  });

  test("continues on the next page without repeating or missing a link, in both orders", async () => {
    const body = Array.from({ length: 220 }, () => ({ target: TARGET, title: "Paged" }));
    const { data } = await callAs(curt, "mina", "POST", "/api/v1/links/batch", { body });
    const created = data.results.map((one: any) => one.data.code as string).toSorted();
    for (const code of created.slice(40, 100)) await visit(curt, code);
    await untilCounted(curt, created[99], 1);
    async function codesOfAllPages(query: string): Promise<string[]> {
      const codes: string[] = [];
      for (let next: string | undefined = `/+all?${query}`; next !== undefined;) {
        const page = await textOf(next);
        codes.push(...Array.from(page.matchAll(/<bdi data-code[^>]*>\/([^<]+)</g), ([, code = ""]) => code));
        const [, more] = /href="([^"]+cursor=[^"]+)"/.exec(page.slice(page.indexOf("<ul>"))) ?? [];
        next = more?.replaceAll("&amp;", "&");
        // It could be the code of a link that the reader may not see.
        expect(created.filter((code: string) => next?.includes(code))).toEqual([]);
      }
      return codes.filter((code) => created.includes(code)).toSorted();
    }
    for (const query of ["q=paged", "q=paged&by=newest", "by=used", "by=newest"]) {
      // The visits may be counted between two pages. Then a link changes its place, once.
      let codes = await codesOfAllPages(query);
      for (let tries = 1; tries < 20 && !Bun.deepEquals(codes, created); tries++) {
        await Bun.sleep(500);
        codes = await codesOfAllPages(query);
      }
      expect([query, codes]).toEqual([query, created]);
    }
    for (const cursor of ["x", "u1", "f-1", "u9.9.9.9", "f\0"]) await codesOf({ cursor });
  });
});

describe("the page of an unknown code", () => {
  test("offers the nearest links and the form to people whom the proxy names", async () => {
    await createAs(curt, "mina", { code: "onboarding", title: "Checklist" });
    const page = await open("/onbording");
    expect([page.status, page.headers.get("cache-control")]).toEqual([404, "private, no-store"]);
    const text = await page.text();
    expect(text).toContain('href="/onboarding"');
    expect(text).toContain("Checklist");
    expect(text).toContain('name="custom_code" value="onbording"');
    expect(await textOf("/+all?q=onbording")).toContain('href="/onboarding"');
    expect((await callApi(curt, "GET", "/api/v1/links/onbording", {})).status).toBe(404);
  });

  test("offers at most three links, the nearest first", async () => {
    const [first, second, third] = ["quarterly-plan", "quarterly-planned", "quarterly-plans"];
    for (const code of [third, first, second, "quarterly-p", "quarterly"])
      await createAs(curt, "mina", { code });
    const text = await textOf("/quarterly-plann");
    const offered = Array.from(text.matchAll(/<a href="\/(quarterly[^"]*)"/g), ([, code]) => code);
    expect(offered).toEqual([first, second, third]);
  });

  test("comes without links while too many views wait", async () => {
    // One client gets half of the places in the queue.
    const pages = await Promise.all(Array.from({ length: 48 }, (_, nth) => open(`/onbording${nth}`)));
    expect(new Set(pages.map(({ status }) => status))).toEqual(new Set([404]));
  });

  test("offers everybody else the directory's search, without the links", async () => {
    const text = await textOf("/onbording", {});
    expect(text).not.toContain("onboarding");
    expect(text).toContain('action="/+all"');
    expect(await textOf("/onbording", named("mina"), anonymous)).not.toContain("/+all");
  });

  test("is the directory's search for words in the address bar that fit no link", async () => {
    const whereTo = async (words: string, headers = named("joon")) =>
      (await open(`/+go?${new URLSearchParams({ q: words }).toString()}`, headers)).headers.get("location");
    await createAs(curt, "mina", { code: "jira" });
    expect(await whereTo("jira ABC-1")).toBe("/jira/ABC-1");
    expect(await whereTo("lunch menu")).toBe("/+all?q=lunch+menu");
    expect(await whereTo("lunch menu", {} as never)).toBe("/lunch/menu");
    expect(await whereTo("")).toBe("/");
  });
});
