import { beforeAll, describe, expect, test } from "bun:test";

import { type LinkKey, lookUpKey } from "../../src/links/code.ts";
import type { StoredLink } from "../../src/links/link.ts";
import type { Target } from "../../src/links/target.ts";
import { DAY_MS } from "../../src/links/time.ts";
import type { LinkCursor, LinkQuery } from "../../src/moderation/link-query.ts";
import { slicesOf } from "../visits/slices.ts";
import { newLink } from "./links.ts";
import type { TestedStore } from "./moderation.ts";
import { shareStore } from "./share-store.ts";

const NOW = newLink("x").createdMs;
const DECISION = { who: "api", atMs: NOW } as const;

/** Reads all pages of a search. */
export async function findAll(
  store: Pick<TestedStore, "search">,
  query: LinkQuery,
  limit = 7,
): Promise<StoredLink[]> {
  const links: StoredLink[] = [];
  let cursor: LinkCursor | undefined;
  do {
    const page = await store.search(
      { ...query, key: lookUpKey(query.text ?? "", "match") },
      { cursor, limit },
    );
    expect(page.links.length).toBeLessThanOrEqual(limit);
    links.push(...page.links);
    ({ cursor } = page);
  } while (cursor !== undefined);
  return links;
}

/** Reads a search in pages of five links: the codes found, and the share of links that was searched after each page. */
export async function searchInPages(
  search: (...query: Parameters<TestedStore["search"]>) => Searched | Promise<Searched>,
  query: LinkQuery,
) {
  const [codes, shares]: [string[], number[]] = [[], []];
  let cursor: LinkCursor | undefined;
  do {
    const page = await search(query, { cursor, limit: 5 });
    shares.push(page.searched);
    codes.push(...page.links.map(({ code }) => code));
    ({ cursor } = page);
  } while (cursor !== undefined);
  return { codes, shares };
}

type Searched = Awaited<ReturnType<TestedStore["search"]>>;

export function to(code: string, originalUrl: string, more: Partial<Parameters<typeof newLink>[1]> = {}) {
  return newLink(code, { originalUrl, target: URL.parse(originalUrl)?.href as Target, ...more });
}

/** Tests the operator's search of every store; `open` as for {@link testLinkStore}. */
export function testSearch(name: string, open: () => Promise<TestedStore>): void {
  describe(`the operator's search in ${name}`, () => {
    const [store, other] = [shareStore(open), shareStore(open)];
    beforeAll(async () => {
      const hosts = ["a.example", "www.a.example", "ba.example", "shop.a.co.uk", "b.co.uk", "203.0.113.9"];
      for (const [nth, host] of hosts.entries())
        await store.insert([
          to(`host${nth}`, `https://${host}/p?to=a.example/`, { createdMs: NOW - 100 + nth }),
        ]);
      await store.insert([
        to("port", "http://a.example:8080/", { createdMs: NOW - 90 }),
        to("dot", "https://A.Example./x", { createdMs: NOW - 89 }),
        to("six", "https://[2001:db8::9]/", { createdMs: NOW - 88 }),
        to("ended", "https://ended.example/100%_a", { createdMs: NOW - 10, endsMs: NOW }),
        to("later", "https://later.example/PayPal/login", { createdMs: NOW - 9, endsMs: NOW + 1 }),
        to("가나", "https://한국.kr/길", { createdMs: NOW - 8 }),
        // Imported: its place in the order depends on the engine.
        to("import", "https://import.example/", { createdMs: 5 }),
      ]);
      const ids = ["bad", "gone", "fine"].map((code, nth) =>
        to(code, `https://${code}.example/`, { createdMs: NOW - 7 + nth }),
      );
      await store.insert(ids);
      await store.disable(ids.slice(0, 2), { ...DECISION, reason: "phishing" });
      await store.erase({ code: "gone" as LinkKey, createdMs: NOW - 6 }, DECISION);
    });

    const codes = async (query: LinkQuery, limit?: number): Promise<string[]> =>
      (await findAll(other, query, limit)).map(({ code }) => code);

    test("finds all links, newest first, in pages of any size", async () => {
      const all = await codes({}, 100);
      expect(all).toHaveLength(16);
      const inOrder = all.filter((code) => code !== "import");
      expect(inOrder.slice(0, 4)).toEqual(["fine", "gone", "bad", "가나"]);
      expect(inOrder.at(-1)).toBe("host0");
      for (const limit of [1, 2, 16]) expect(await codes({}, limit)).toEqual(all);
    });

    test("returns links with the same fields as a look-up", async () => {
      expect(await findAll(other, { text: "bad" })).toEqual([
        (await store.find("bad" as LinkKey)) as StoredLink,
      ]);
    });

    test("finds the links of a host and of its subdomains, and no others", async () => {
      expect(await codes({ host: "a.example" })).toEqual(["dot", "port", "host1", "host0"]);
      expect(await codes({ host: "www.a.example" })).toEqual(["host1"]);
      expect(await codes({ host: "co.uk" })).toEqual(["host4", "host3"]);
      expect(await codes({ host: "a.co.uk" })).toEqual(["host3"]);
      expect(await codes({ host: "203.0.113.9" })).toEqual(["host5"]);
      expect(await codes({ host: "[2001:db8::9]" })).toEqual(["six"]);
      expect(await codes({ host: "xn--3e0b707e" })).toEqual([]);
      expect(await codes({ host: "kr" })).toEqual(["가나"]);
      expect(await codes({ host: "" })).toEqual([]);
      expect(await codes({ host: "%" })).toEqual([]);
    });

    test("finds prefixes of codes, and parts of URLs in either case", async () => {
      expect(await codes({ text: "host" })).toEqual(["host5", "host4", "host3", "host2", "host1", "host0"]);
      expect(await codes({ text: "Host" })).toEqual([]);
      expect(await codes({ text: "가" })).toEqual(["가나"]);
      expect(await codes({ text: "가".normalize("NFD") })).toEqual(["가나"]);
      expect(await codes({ text: "한국" })).toEqual(["가나"]);
      expect(await codes({ text: "paypal" })).toEqual(["later"]);
      expect(await codes({ text: "ended" })).toEqual(["ended"]);
      expect(await codes({ text: "%_A" })).toEqual(["ended"]);
      for (const text of ["_", "\\", "'", "' OR 1=1 --", "%%", "\0", "\u{10FFFF}", "x".repeat(9000)])
        expect(await codes({ text })).toEqual(text === "_" ? ["ended"] : []);
      await store.insert([to("lat", "https://example.com/import")]);
      expect(await codes({ text: "la" })).toEqual(["lat", "later"]);
      expect(await codes({ text: "import" }, 1)).toEqual(["lat", "import"]);
    });

    test("finds the links of a creator by the whole name, narrowed by a text and a host", async () => {
      const by = (code: string, createdBy: string, host = "team.example") =>
        to(code, `https://${host}/`, { terms: { createdBy } });
      await store.insert([by("m1", "mina"), by("m2", "mina", "x.team.example"), by("m3", "mina.k")]);
      expect(await codes({ createdBy: "mina" })).toEqual(["m2", "m1"]);
      expect(await codes({ createdBy: "mina", text: "m1" })).toEqual(["m1"]);
      expect(await codes({ createdBy: "mina", host: "x.team.example" })).toEqual(["m2"]);
      for (const createdBy of ["", "min", "Mina", "m%", "\0", "' OR 1=1 --"])
        expect(await codes({ createdBy })).toEqual([]);
    });

    test("finds a domain's links that aren't disabled, also by any part of a code or an owner", async () => {
      const of = (code: string, owner: string) => to(code, "https://of.example/", { terms: { owner } });
      await store.insert([of("handbook", "haru"), of("go.example/brand", "haru"), of("off", "haru")]);
      await store.disable([of("off", "haru")], { ...DECISION, reason: "spam" });
      expect(await codes({ keyPrefix: "", text: "HAR" })).toEqual(["handbook"]);
      expect(await codes({ keyPrefix: "", text: "DBoo" })).toEqual(["handbook"]);
      expect(await codes({ keyPrefix: "go.example/" })).toEqual(["go.example/brand"]);
      expect(await codes({ keyPrefix: "go.example/", text: "example/b" })).toEqual([]);
      expect(await codes({ keyPrefix: "none.example/", text: "haru" })).toEqual([]);
      expect(await codes({ text: "haru" })).toEqual([]);
    });

    test("finds nothing with the cursor of another store", async () => {
      for (const cursor of ["", "x", "links-none--1", "-1", "codes-none", "x9".repeat(400), "'; --"]) {
        const page = await store.search({}, { cursor: cursor as LinkCursor, limit: 5 });
        expect([cursor, page.links.length]).toEqual([cursor, 0]);
      }
    });
  });
}

/** Tests the figures of the instance in every store; each call of `open` returns a new store. */
export function testFigures(name: string, open: () => Promise<TestedStore>): void {
  test(`${name} counts the instance's links, decisions, visits and hosts`, async () => {
    const store = await open();
    const today = Math.floor(NOW / DAY_MS);
    const linkTo = (code: string, host: string, agoMs: number) =>
      to(code, `https://${host}/`, { createdMs: NOW - agoMs });
    await store.insert([
      ...Array.from({ length: 700 }, (_, nth) => linkTo(`old${nth}`, "old.example", 8 * DAY_MS - nth)),
      ...Array.from({ length: 700 }, (_, nth) => linkTo(`week${nth}`, "week.example", 2 * DAY_MS - nth)),
      ...Array.from({ length: 40 }, (_, nth) => linkTo(`day${nth}`, `day${nth % 20}.example`, nth)),
    ]);
    await store.disable([linkTo("old1", "", 8 * DAY_MS - 1)], { ...DECISION, reason: "spam" });
    await store.blockHost({ host: "day1.example", reason: "spam" }, DECISION);
    const visits = ["week5", "week6", "week6", "day3"].map((code) => ({
      code,
      createdMs: code === "day3" ? NOW - 3 : NOW - 2 * DAY_MS + Number(code.at(-1)),
      bot: code === "day3",
    }));
    for (const slice of slicesOf({ hour: today * 24 + 3, visits })) await store.add(slice);
    for (const slice of slicesOf({ hour: today * 24 - 20, visits })) await store.add(slice);
    await store.count(today, { created: 2, "limited.view": 1 });
    await store.count(today, { created: 3 });
    await store.count(today - 30, { created: 9 });
    const { days, newestHosts, visitedHosts, ...figures } = await store.figures(NOW);
    expect(figures).toEqual({ links: 1440, disabled: 1, blockedHosts: 1 });
    expect(days).toEqual([
      { day: today - 1, counts: { visits: 3, bots: 1 } },
      { day: today, counts: { visits: 3, bots: 1, created: 5, "limited.view": 1 } },
    ]);
    expect(newestHosts).toMatchObject({ links: 1440, isAll: true });
    expect(newestHosts.hosts.slice(0, 3)).toEqual([
      { host: "old.example", count: 700 },
      { host: "week.example", count: 700 },
      { host: "day0.example", count: 2 },
    ]);
    expect(newestHosts.hosts).toHaveLength(10);
    expect(visitedHosts).toEqual({
      hosts: [{ host: "week.example", count: 3 }],
      links: 3,
      isAll: true,
    });
    await store.close();
  });
}
