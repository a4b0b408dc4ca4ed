import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";

import en from "../../src/language/en.json";
import { type Running, startHere } from "../service.ts";
import { untilCounted, visit } from "../visits/visits.ts";
import { type Element, elementsOf, HTML } from "./markup.ts";

const LONG = "https://example.com/long";

let curt: Running;
beforeAll(async () => {
  curt = await startHere();
  await curt.shorten({ original_url: LONG, custom_code: "taken" });
  await curt.shorten({ original_url: LONG, custom_code: "ended", expire_duration: "24h" });
  using database = new Database(curt.file);
  database.run("UPDATE links SET ends_ms = ? WHERE code = 'ended'", [Date.now() - 60_000]);
});
afterAll(async () => curt[Symbol.asyncDispose]());

function get(path: string): Promise<Response> {
  return curt.fetch(path, { headers: HTML });
}

test("a card in a chat says a host in ASCII too, where one script can imitate another", async () => {
  for (const [code, host, told] of [
    ["imitated", "аррӏе.example", "аррӏе.example (xn--80ak6aa92e.example)"],
    ["plain", "example.com", "example.com"],
  ] as const) {
    await curt.shorten({ original_url: `https://${host}/`, custom_code: code });
    const elements = await elementsOf(await get(`/${code}+`));
    const described = elements.filter(({ attributes: { name, property } }) =>
      ["description", "og:description"].includes(name ?? property ?? ""),
    );
    expect(described.map(({ attributes }) => attributes["content"])).toEqual([
      `Leads to: ${told}`,
      `Leads to: ${told}`,
    ]);
  }
});

test("of a link that has ended nobody waits for visits", async () => {
  expect(await (await get("/taken+")).text()).toContain(en["preview.waiting"]);
  expect(await (await get("/ended+")).text()).not.toContain(en["preview.waiting"]);
});

test("the days of a chart are dates, which no zone moves", async () => {
  await curt.shorten({ original_url: LONG, custom_code: "old" });
  using database = new Database(curt.file);
  database.run("UPDATE links SET created_ms = created_ms - 864000000 WHERE code = 'old'");
  // No chart without a visit.
  await visit(curt, "old");
  await untilCounted(curt, "old", 1);
  for (const zone of ["America/Los_Angeles", "Pacific/Kiritimati"]) {
    const { data } = (await (await curt.fetch(`/api/v1/links/old/stats?tz=${zone}`)).json()) as {
      data: { from: string; to: string };
    };
    const format = new Intl.DateTimeFormat("en", { month: "short", day: "numeric", timeZone: "UTC" });
    const [from, to] = [data.from, data.to].map((date) => format.format(new Date(date)));
    const page = await (await get(`/old+?tz=${zone}`)).text();
    expect(page).toContain(`<span>${from}</span><span>${to}</span>`);
  }
});

test("the hours of a chart end now", async () => {
  await curt.shorten({ original_url: LONG, custom_code: "young" });
  await visit(curt, "young");
  await untilCounted(curt, "young", 1);
  for (const zone of ["America/Los_Angeles", "Pacific/Kiritimati"]) {
    const format = new Intl.DateTimeFormat("en", {
      month: "short",
      day: "numeric",
      hour: "numeric",
      timeZone: zone,
    });
    const hours = [Date.now()];
    const page = await (await get(`/young+?tz=${zone}`)).text();
    hours.push(Date.now());
    const [, last = ""] = /<span>[^<]+<\/span><span>([^<]+)<\/span><\/p><figcaption/.exec(page) ?? [];
    expect(hours.map((ms) => format.format(ms))).toContain(last);
  }
});

test("a chart is drawn of visits in its range only, and what too few have in common is said once", async () => {
  await curt.shorten({ original_url: LONG, custom_code: "long-ago" });
  await visit(curt, "long-ago");
  await untilCounted(curt, "long-ago", 1);
  const fresh = await (await get("/long-ago+")).text();
  expect(fresh).toContain('<figure class="chart">');
  expect(fresh.split(en["preview.few"])).toHaveLength(2);
  expect(fresh).toContain('<div class="breakdowns"></div>');
  {
    using database = new Database(curt.file);
    database.run("UPDATE links SET created_ms = created_ms - 100 * 86400000 WHERE code = 'long-ago'");
    database.run(
      "UPDATE visits SET day = day - 100, created_ms = created_ms - 100 * 86400000 WHERE code = 'long-ago'",
    );
  }
  const old = await (await get("/long-ago+")).text();
  expect(old).toMatch(/data-visits="1"/);
  expect(old).not.toContain('<figure class="chart">');
  expect(old).not.toContain(en["preview.few"]);
  expect(old).not.toContain(en["preview.waiting"]);
});

test("a preview says that its link has ended, and offers no copy of it", async () => {
  const ended = await (await get("/ended+")).text();
  expect(ended).toContain(`<title>${en["preview.expired"]} curt.example/ended/ – Curt</title>`);
  expect(ended).toContain(`<p class="error">${en["preview.expired"]}</p>`);
  for (const dead of ["data-copy", "data-share", "/ended.svg", 'href="/ended/"']) {
    expect(ended).not.toContain(dead);
    expect(await (await get("/taken+")).text()).toContain(dead.replace("ended", "taken"));
  }
});

test("of many referrers a preview shows eight, and the others when they are opened", async () => {
  await using open = await startHere({ STATS_SHOWN: "all", TRUSTED_PROXIES: "127.0.0.1" });
  await open.shorten({ original_url: LONG, custom_code: "many" });
  for (let nth = 0; nth < 50; nth++)
    await visit(open, "many", {
      Referer: `https://site-${nth % 10}.example/`,
      "X-Forwarded-For": `10.0.${nth}.7`,
    });
  await untilCounted(open, "many", 50);
  const page = await (await open.fetch("/many+", { headers: HTML })).text();
  const [first = "", opened = ""] = page.split('<details id="more-referrers">');
  const sites = [first, opened].map((part) => part.match(/site-\d\.example/g) ?? []);
  expect(sites.map(({ length }) => length)).toEqual([8, 2]);
  expect(new Set(sites.flat()).size).toBe(10);
  // Nothing of them is hidden.
  expect(page).not.toContain(`<bdi>${en["preview.other"]}</bdi>`);
});

test("a preview counts the hours of the zone that it is asked for, and of UTC for no zone", async () => {
  for (const [asked, zone] of [
    ["Asia/Seoul", "Asia/Seoul"],
    ["Asia/Nowhere", "UTC"],
    ["", "UTC"],
  ] as const) {
    const elements = await elementsOf(await get(`/taken+?tz=${asked}`));
    const { attributes } = elements.find((one) => one.attributes["id"] === "visits") as Element;
    expect(attributes["data-zone"]).toBe(zone);
  }
});

test("until a link is two days old its visits are told by the hour, of the last two days", async () => {
  await curt.shorten({ original_url: LONG, custom_code: "ageing" });
  await visit(curt, "ageing");
  await untilCounted(curt, "ageing", 1);
  const age = async (hours: number) => {
    using database = new Database(curt.file);
    for (const table of ["links", "visits"])
      database.run(`UPDATE ${table} SET created_ms = created_ms - ? WHERE code = 'ageing'`, [
        hours * 3_600_000,
      ]);
    return (await get("/ageing+")).text();
  };
  expect(await age(30)).toContain("<dt>Sum of daily visitors, last 2 days</dt>");
  expect(await age(17)).toContain("<dt>Sum of daily visitors, last 2 days</dt>");
  expect(await age(2)).toContain("<dt>Sum of daily visitors, last 30 days</dt>");
});

test("an address that is ASCII already is not told again, and what is left leaves no trace of us", async () => {
  await curt.shorten({ original_url: LONG, custom_code: "한글" });
  expect(await (await get("/taken+")).text()).not.toContain(en["preview.ascii"]);
  const page = await (await get(`/${encodeURIComponent("한글")}+`)).text();
  expect(page).toContain(en["preview.ascii"]);
  expect(page).toMatch(/<a class="button" href="\/%ED%95%9C%EA%B8%80\/" rel="nofollow noreferrer">/);
});
