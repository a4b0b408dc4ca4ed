import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";

import type { LinkKey } from "../../src/links/code.ts";
import { REASONS } from "../../src/links/problem.ts";
import { DAY_MS } from "../../src/links/time.ts";
import en from "../../src/locales/en.json";
import { createManagedLink } from "../support/managed-links.ts";
import {
  BASE_URL,
  openStoreOf,
  shareStoreOf,
  type RunningService,
  shareService,
  startService,
  untilLogged,
} from "../support/service.ts";
import { elementsOf, expectGuarded, expectInert, HOSTILE, HTML, MARK, sendForm } from "./markup.ts";
import { expectEnvelope, expectHead, expectInForm, rowsOf } from "./refusal.ts";
import { CROSS_SITE, DELETED, REPORT_REFUSALS, REPORT_TYPE_REFUSALS, UNKNOWN } from "./report-refusals.ts";

const JSON_TYPE = { "Content-Type": "application/json" };

const curt = shareService({ TRUSTED_PROXIES: "127.0.0.1" });
const store = shareStoreOf(curt);

const createLink = async (body: object = {}, service: RunningService = curt) =>
  (await createManagedLink(service, body)).code;

function report(
  code: string,
  body: unknown,
  headers: Record<string, string> = {},
  service: RunningService = curt,
) {
  return service.fetch(`/api/v1/links/${encodeURIComponent(code)}/reports`, {
    method: "POST",
    headers: { ...JSON_TYPE, ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

const send = (
  path: string,
  fields: Record<string, string> | string,
  headers = {},
  service: RunningService = curt,
) => sendForm(service, path, fields, headers);

async function caseOf(code: string) {
  const link = await store.find(code as LinkKey);
  return link && store.caseOf(link);
}

const from = (address: string) => ({ "X-Forwarded-For": address });
const messageOf = async (response: Response) => ((await response.json()) as { message: string }).message;

describe("POST /api/v1/links/{code}/reports", () => {
  test("answers 202 to a report and its repeat, and stores one report with its note", async () => {
    const code = await createLink();
    const body = { reason: "phishing", note: "It looks like my bank." };
    for (let nth = 0; nth < 2; nth++) {
      const response = await report(code, body);
      expect(response.status).toBe(202);
      expect(response.headers.get("access-control-allow-origin")).toBe("*");
      const data = { code, reason: "phishing" };
      expect(await response.json()).toEqual({ status: "success", message: en.reported, data });
    }
    expect(await caseOf(code)).toMatchObject({ reports: 1, notes: [{ note: body.note }] });
  });

  test("accepts every reason, and a note of 2,000 characters", async () => {
    const code = await createLink();
    for (const [nth, reason] of REASONS.entries())
      expect((await report(code, { reason }, from(`192.0.2.${nth}`))).status).toBe(202);
    const { reasons } = (await caseOf(code)) ?? {};
    expect(reasons).toEqual(Object.fromEntries(REASONS.map((reason) => [reason, 1])));
    const plain = await report(
      code,
      { reason: "spam", note: null, more: 1 },
      { "Content-Type": "text/plain" },
    );
    expect(plain.status).toBe(202);
    expect((await report(code, { reason: "spam", note: "x".repeat(2000) })).status).toBe(202);
  });

  test.each(rowsOf([...REPORT_REFUSALS, ...REPORT_TYPE_REFUSALS]))("refuses %s", async (_, refusal) => {
    const code = await createLink();
    await expectEnvelope(await report(code, refusal.sent), refusal);
    expect(await caseOf(code)).toBeUndefined();
  });

  test("refuses a report that a page of another site sends", async () => {
    const code = await createLink();
    // Over plain HTTP, browsers send only the Origin.
    for (const headers of [
      { "Sec-Fetch-Site": "cross-site" },
      { Origin: "http://evil.example" },
      { Origin: "null" },
    ])
      await expectEnvelope(await report(code, { reason: "spam" }, headers), CROSS_SITE);
    expect(await caseOf(code)).toBeUndefined();
  });

  test("answers 404 for an unknown link, 410 for a deleted one, and accepts expired and disabled ones", async () => {
    await expectEnvelope(await report("unknown-code", { reason: "spam" }), UNKNOWN);
    const decision = { who: "api", atMs: curt.nowMs() } as const;
    const linkOf = async (code: string) => (await store.find(code as LinkKey)) ?? expect.unreachable();
    const [deleted, disabled] = [await createLink(), await createLink()];
    await store.erase(await linkOf(deleted), decision);
    await store.disable([await linkOf(disabled)], { ...decision, reason: "spam" });
    await expectEnvelope(await report(deleted, { reason: "spam" }), DELETED);
    expectHead(await send(`/${deleted}+report`, { reason: "spam" }), DELETED);
    expect((await report(disabled, { reason: "spam" })).status).toBe(202);
    await using past = await startService();
    const ended = await createLink({ expires_at: "24h" }, past);
    past.advance(2 * DAY_MS);
    expect((await report(ended, { reason: "spam" }, {}, past)).status).toBe(202);
    await using there = await openStoreOf(past);
    expect(await there.cases({ limit: 9 })).toMatchObject([{ code: ended }]);
  });

  test("stores nothing of the client's address", async () => {
    await using fresh = await startService({ TRUSTED_PROXIES: "127.0.0.1" });
    const code = await createLink({}, fresh);
    await report(code, { reason: "spam", note: "a note" }, from("203.0.113.77"), fresh);
    using database = new Database(fresh.file, { readonly: true });
    const { sql } = database
      .query<{ sql: string }, []>(
        "SELECT group_concat('SELECT * FROM ' || name, ';') AS sql FROM sqlite_schema WHERE type = 'table'",
      )
      .get() ?? { sql: "" };
    const text = (_: string, value: unknown) =>
      value instanceof Uint8Array ? Buffer.from(value).toString() : value;
    const stored = sql.split(";").map((select) => JSON.stringify(database.query(select).all(), text));
    expect(stored.join()).toContain("a note");
    expect(stored.join()).not.toContain("203.0.113");
  });
});

test("LIMIT_REPORT limits the accepted reports of each client, and the form keeps what was typed", async () => {
  const settings = { TRUSTED_PROXIES: "127.0.0.1", LIMIT_REPORT: "2/1h" };
  await using limited = await startService(settings, { standsStill: true });
  const code = await createLink({}, limited);
  const me = from("192.0.2.1");
  // Invalid reports don't count.
  expect((await report(code, { reason: "boring" }, me, limited)).status).toBe(400);
  expect((await report("unknown-code", { reason: "spam" }, me, limited)).status).toBe(404);
  expect((await report(code, { reason: "spam" }, me, limited)).status).toBe(202);
  expect((await send(`/${code}+report`, { reason: "spam" }, me, limited)).status).toBe(303);
  const refusal = await report(code, { reason: "spam" }, me, limited);
  expect([refusal.status, refusal.headers.get("retry-after")]).toEqual([429, "1800"]);
  const again = await send(`/${code}+report`, { reason: "spam", note: "typed" }, me, limited);
  expect(again.status).toBe(429);
  const page = await again.text();
  expect(page).toContain('<p class="error" role="alert">');
  expect(page).toContain(">\ntyped</textarea>");
  expect((await report(code, { reason: "spam" }, from("192.0.2.2"), limited)).status).toBe(202);
  limited.advance(1_800_000);
  expect((await report(code, { reason: "spam" }, me, limited)).status).toBe(202);
});

test("LIMIT_UNKNOWN counts reports of unknown codes by the API and the form", async () => {
  await using limited = await startService({ LIMIT_UNKNOWN: "3/1m" }, { standsStill: true });
  const statuses: number[] = [];
  for (let nth = 0; nth < 3; nth++) {
    statuses.push((await report(`scanned${nth}`, { reason: "spam" }, {}, limited)).status);
    statuses.push((await limited.fetch(`/+report?address=scanned${nth}`, { headers: HTML })).status);
  }
  expect(statuses).toEqual([404, 404, 404, 429, 429, 429]);
});

test("REPORT_THRESHOLD disables a link reported by that many clients for their most frequent reason, and records it", async () => {
  const settings = { TRUSTED_PROXIES: "127.0.0.1", REPORT_THRESHOLD: "3", LIMIT_REPORT: "off" };
  await using strict = await startService(settings);
  const code = await createLink({}, strict);
  for (let nth = 0; nth < 9; nth++) await report(code, { reason: "malware" }, from("192.0.2.1"), strict);
  await report(code, { reason: "spam" }, from("192.0.2.2"), strict);
  expect((await strict.fetch(`/${code}`)).status).toBe(302);
  expect((await report(code, { reason: "malware" }, from("192.0.2.3"), strict)).status).toBe(202);
  let response = await strict.fetch(`/${code}`);
  while (response.status === 302) {
    await Bun.sleep(10);
    response = await strict.fetch(`/${code}`);
  }
  expect([response.status, await messageOf(response)]).toEqual([410, en["disabled.malware"]]);
  await untilLogged(strict, "disabled because of its reports");
  await using there = await openStoreOf(strict);
  expect(await there.decisions({ limit: 9 })).toMatchObject([
    { who: "reports", action: "disable", reason: "malware", code: code as LinkKey },
  ]);
});

describe("the report form of a link", () => {
  test.each(rowsOf(REPORT_REFUSALS))(
    "refuses %s beside its field, and keeps what was typed",
    async (_, refusal) => {
      const { reason, note = "" } = refusal.sent;
      const fields = { reason: String(reason), note: String(note) };
      const response = await send(`/${await createLink()}+report`, fields);
      expectGuarded(response, false, true);
      const page = await expectInForm(response, refusal);
      expect(page).toContain(`>\n${Bun.escapeHTML(fields.note)}</textarea>`);
      if (reason === "legal") expect(page).toMatch(/value="legal"[^>]* checked=""/);
    },
  );

  test("keeps the line breaks of a note, and counts each as one character", async () => {
    const path = `/${await createLink()}+report`;
    // The first line break belongs to the element, not to the text.
    expect(await (await send(path, { note: "\nkept\n" })).text()).toContain(">\n\nkept\n</textarea>");
    // A browser sends each line break as two characters.
    expect((await send(path, { reason: "legal", note: "\r\n".repeat(1999) + "x" })).status).toBe(303);
  });

  test("refuses a report from another site, keeps what was typed, and accepts its own page's", async () => {
    const code = await createLink();
    const fields = { reason: "spam", note: "typed" };
    const response = await send(`/${code}+report`, fields, { "Sec-Fetch-Site": "cross-site" });
    expect(await expectInForm(response, CROSS_SITE)).toContain(">\ntyped</textarea>");
    expect(await caseOf(code)).toBeUndefined();
    const own = { "Sec-Fetch-Site": "same-origin", Origin: BASE_URL };
    expect((await send(`/${code}+report`, fields, own)).status).toBe(303);
  });

  test("answers 404 for an unknown code", async () => {
    expectHead(await curt.fetch("/unknown-code+report", { headers: HTML }), UNKNOWN);
    expectHead(await send("/unknown-code+report", { reason: "spam" }), UNKNOWN);
  });

  test.each([...HOSTILE, `\0\u0007\u001B[31m\u202E\u2066${MARK}`])(
    "shows hostile input as text: %j",
    async (text) => {
      const code = await createLink({ target: `https://evil.example/?${encodeURIComponent(text)}` });
      const requests: [number, Promise<Response>][] = [
        [400, send(`/${code}+report`, { reason: text, note: text })],
        [400, send(`/${code}+report`, { reason: "spam", note: text.repeat(500) })],
        [403, send(`/${code}+report`, { reason: text, note: text }, { "Sec-Fetch-Site": "cross-site" })],
        [
          text.includes("/") ? 400 : 404,
          curt.fetch(`/+report?address=${encodeURIComponent(text)}`, { headers: HTML }),
        ],
        [303, send(`/${code}+report`, { reason: "other", note: text })],
      ];
      for (const [status, request] of requests) {
        const response = await request;
        expect(response.status).toBe(status);
        if (status !== 303) expectInert(await elementsOf(response));
      }
      expect((await caseOf(code))?.notes[0]?.note).toBe(text);
    },
  );
});

describe("/+report", () => {
  test("asks for a short address, and redirects to its report form", async () => {
    const [code, hangul] = [
      await createLink(),
      await createLink({ code: "신고-한글" }).then(() => "신고-한글"),
    ];
    const page = await curt.fetch("/+report", { headers: HTML });
    expectGuarded(page);
    expect(await page.text()).toContain(en["report.address"]);
    const locationOf = async (address: string) => {
      const response = await curt.fetch(`/+report?address=${encodeURIComponent(address)}`, { headers: HTML });
      return [response.status, decodeURIComponent(response.headers.get("location") ?? "")];
    };
    for (const address of [
      code,
      `/${code}`,
      `curt.example/${code}`,
      ` ${BASE_URL}/${code}/ `,
      `${BASE_URL}/${code}+`,
      `${BASE_URL}/${code}+report`,
      `HTTPS://CURT.EXAMPLE/${code}?utm=1#x`,
    ])
      expect([address, ...(await locationOf(address))]).toEqual([address, 303, `/${code}+report#reason`]);
    for (const address of [hangul, `${BASE_URL}/${encodeURIComponent(hangul)}/`])
      expect(await locationOf(address)).toEqual([303, `/${hangul}+report#reason`]);
  });

  test("redirects to the domain that the address names, and refuses an address of another service", async () => {
    await using both = await startService({ DOMAINS: "https://go.example.com" });
    const locationOf = async (address: string) => {
      const path = `/+report?address=${encodeURIComponent(address)}`;
      const response = await both.fetch(path, { headers: HTML });
      return [response.status, response.headers.get("location")];
    };
    const code = await createLink({}, both);
    expect(await locationOf(`${BASE_URL}/${code}`)).toEqual([303, `/${code}+report#reason`]);
    expect(await locationOf(`GO.example.com/${code}+`)).toEqual([
      303,
      `https://go.example.com/+report?address=${code}`,
    ]);
    expect(await locationOf(`https://bit.ly/${code}`)).toEqual([400, null]);
  });

  test("reports an unknown link beside the field, and keeps what was typed", async () => {
    for (const address of ["https://curt.example/unknown-code", BASE_URL, "%", "+", "x".repeat(5000)]) {
      const response = await curt.fetch(`/+report?address=${encodeURIComponent(address)}`, { headers: HTML });
      expect(response.status, address).toEqual(404);
      const page = await response.text();
      expect(page).toContain(`<p class="error" id="address-error">${en.unknown}</p>`);
      expect(page).toContain(`value="${address.slice(0, 4000)}`);
    }
  });
});

test("the footer of every page links to the report form, and to CONTACT if it is set", async () => {
  await using named = await startService({ CONTACT: "abuse@curt.example" });
  await using paged = await startService({ CONTACT: "https://curt.example/contact?a=1&b=2" });
  const code = await createLink({}, named);
  const paths = ["/", `/${code}+`, "/docs", `/${code}+report`, "/+report", "/+reported", "/nobody", "/%FF"];
  for (const path of paths) {
    const page = await (await named.fetch(path, { headers: HTML })).text();
    const current = path === "/+report" ? ' aria-current="page"' : "";
    expect(page).toContain(`<a href="/+report" rel="nofollow"${current}>${en["page.report"]}</a>`);
    expect(page).toContain('<a href="mailto:abuse@curt.example"><bdi dir="ltr">abuse@curt.example</bdi></a>');
    const other = path.replace(code, "nobody");
    expect(await (await paged.fetch(other, { headers: HTML })).text()).toContain(
      '<a href="https://curt.example/contact?a=1&amp;b=2">',
    );
    expect(await (await curt.fetch(other, { headers: HTML })).text()).not.toContain("curt.example/contact");
  }
  expect(await (await send("/", { original_url: "x" }, {}, named)).text()).toContain(
    "mailto:abuse@curt.example",
  );
});

test("a report to a locked store gets 503, and the form keeps what was typed", async () => {
  await using locked = await startService({}, { limits: { core: { busyWaitMs: 50 } } });
  const code = await createLink({}, locked);
  locked.expectFaults();
  const locking = new Database(locked.file);
  // The service may be writing just now.
  locking.run("PRAGMA busy_timeout = 60000");
  locking.run("BEGIN IMMEDIATE");
  const response = await report(code, { reason: "spam" }, {}, locked);
  expect([response.status, response.headers.get("retry-after")]).toEqual([503, "2"]);
  const again = await send(`/${code}+report`, { reason: "spam", note: "typed" }, {}, locked);
  expect(again.status).toBe(503);
  const page = await again.text();
  expect(page).toContain(`<p class="error" role="alert">${en.unavailable}</p>`);
  expect(page).toContain(">\ntyped</textarea>");
  locking.run("ROLLBACK");
  locking.close();
  expect((await report(code, { reason: "spam" }, {}, locked)).status).toBe(202);
});
