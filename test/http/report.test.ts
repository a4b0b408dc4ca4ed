import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import type { LinkKey } from "../../src/links/code.ts";
import { REASONS } from "../../src/links/reasons.ts";
import { DAY_MS } from "../../src/links/time.ts";
import en from "../../src/locales/en.json";
import { createManagedLink } from "../support/managed-links.ts";
import {
  BASE_URL,
  openStoreOf,
  outcomeOf,
  type RunningService,
  shareService,
  startService,
  untilLogged,
} from "../support/service.ts";
import { elementsOf, expectGuarded, expectInert, HTML, MARK, sendForm } from "./markup.ts";

const JSON_TYPE = { "Content-Type": "application/json" };

const curt = shareService({ TRUSTED_PROXIES: "127.0.0.1" });
let store: Awaited<ReturnType<typeof openStoreOf>>;
beforeAll(async () => void (store = await openStoreOf(curt)));
afterAll(() => store.close());

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

  test("accepts every reason, and the content types and sizes of a create", async () => {
    const code = await createLink();
    for (const [nth, reason] of REASONS.entries())
      expect((await report(code, { reason }, from(`192.0.2.${nth}`))).status).toBe(202);
    const { reasons } = (await caseOf(code)) ?? {};
    expect(reasons).toEqual(Object.fromEntries(REASONS.map((reason) => [reason, 1])));
    for (const [headers, status] of [
      [{ "Content-Type": "text/plain" }, 202],
      [{ "Content-Type": "text/html" }, 415],
      [{ "Content-Encoding": "gzip" }, 415],
    ] as const)
      expect((await report(code, { reason: "spam", note: null, more: 1 }, headers)).status).toBe(status);
    expect((await report(code, JSON.stringify({ reason: "spam", note: "x".repeat(70_000) }))).status).toBe(
      413,
    );
  });

  test("answers 400 with the reason to an invalid report", async () => {
    const code = await createLink();
    for (const [body, reason] of [
      [{}, "field.required"],
      [{ reason: "boring" }, "field.values"],
      [{ reason: "blocklist" }, "field.values"],
      [{ reason: 1 }, "field.type"],
      [{ reason: "spam", note: 1 }, "field.type"],
      [{ reason: "spam", note: "x".repeat(2001) }, "note.too-long"],
      ['{"reason":"spam","note":"\\ud800"}', "note.ill-formed"],
      ["[]", "body.object"],
      ["{", "body.json"],
    ] as const)
      expect(await outcomeOf(report(code, body)), JSON.stringify(body)).toBe(`400 ${reason}`);
    expect(await caseOf(code)).toBeUndefined();
    expect((await report(code, { reason: "spam", note: "x".repeat(2000) })).status).toBe(202);
  });

  test("answers 404 for an unknown link, 410 for a deleted one, and accepts expired and disabled ones", async () => {
    const unknown = await report("unknown-code", { reason: "spam" });
    expect([unknown.status, await messageOf(unknown)]).toEqual([404, en.unknown]);
    const decision = { who: "api", atMs: curt.nowMs() } as const;
    const linkOf = async (code: string) => (await store.find(code as LinkKey)) ?? expect.unreachable();
    const [deleted, disabled] = [await createLink(), await createLink()];
    await store.erase(await linkOf(deleted), decision);
    await store.disable([await linkOf(disabled)], { ...decision, reason: "spam" });
    expect((await report(deleted, { reason: "spam" })).status).toBe(410);
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
  test("shows mistakes beside the fields, and keeps what was typed", async () => {
    const path = `/${await createLink()}+report`;
    const sendAndRead = async (fields: Record<string, string>) => {
      const response = await send(path, fields);
      expectGuarded(response);
      const page = await response.text();
      const beside = [...page.matchAll(/<p class="error" id="(\w+)-error">([^<]*)</g)];
      return {
        status: response.status,
        page,
        ...Object.fromEntries(beside.map(([, id, text]) => [id, text])),
      };
    };
    const empty = await sendAndRead({ note: "\nkept <b>\n" });
    expect(empty).toMatchObject({ status: 400, reason: en["report.choose"] });
    // The first line break belongs to the element, not to the text.
    expect(empty.page).toContain(">\n\nkept &lt;b&gt;\n</textarea>");
    expect(await sendAndRead({ reason: "boring" })).toMatchObject({
      status: 400,
      reason: en["report.choose"],
    });
    const long = await sendAndRead({ reason: "legal", note: "x".repeat(2001) });
    expect(long).toMatchObject({ status: 400, note: en["note.too-long"].replace("{max}", "2,000") });
    expect(long.page).toContain("x".repeat(2001));
    expect(long.page).toMatch(/value="legal"[^>]* checked=""/);
    // A browser sends each line break as two characters.
    expect((await send(path, { reason: "legal", note: "\r\n".repeat(1999) + "x" })).status).toBe(303);
  });

  test("refuses a report from another site, and keeps what was typed", async () => {
    const code = await createLink();
    const fields = { reason: "spam", note: "typed" };
    const byScript = await report(code, { reason: "spam" }, { "Sec-Fetch-Site": "cross-site" });
    expect(byScript.status).toBe(403);
    for (const headers of [{ "Sec-Fetch-Site": "cross-site" }, { Origin: "https://evil.example" }]) {
      const response = await send(`/${code}+report`, fields, headers);
      expect(response.status).toBe(403);
      const page = await response.text();
      expect(page).toContain(`<p class="error" role="alert">${en["cross-site"]}</p>`);
      expect(page).toContain(">\ntyped</textarea>");
    }
    expect(await caseOf(code)).toBeUndefined();
    const own = { "Sec-Fetch-Site": "same-origin", Origin: BASE_URL };
    expect((await send(`/${code}+report`, fields, own)).status).toBe(303);
  });

  test("answers 404 for an unknown code, and refuses bodies that aren't a form or too large", async () => {
    expect((await curt.fetch("/unknown-code+report", { headers: HTML })).status).toBe(404);
    expect((await send("/unknown-code+report", { reason: "spam" })).status).toBe(404);
    const path = `/${await createLink()}+report`;
    const response = await send(path, "{}", { "Content-Type": "application/json", Accept: "*/*" });
    expect([response.status, await messageOf(response)]).toEqual([415, en["body.form"]]);
    expect((await send(path, "reason=%B0%A1")).status).toBe(400);
    expect((await send(path, { reason: "spam", note: "x".repeat(70_000) })).status).toBe(413);
  });

  const HOSTILE = [
    `<script>${MARK}</script>`,
    `"><img src=x onerror=${MARK}>`,
    `</textarea><b>${MARK}`,
    `&lt;b&gt;${MARK}&#60;i&#62;`,
    `\0\u0007\u001B[31m\u202E\u2066${MARK}`,
  ];
  test.each(HOSTILE)("shows hostile input as text: %j", async (text) => {
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
  });
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
      expect([address, ...(await locationOf(address))]).toEqual([address, 303, `/${code}+report`]);
    for (const address of [hangul, `${BASE_URL}/${encodeURIComponent(hangul)}/`])
      expect(await locationOf(address)).toEqual([303, `/${hangul}+report`]);
  });

  test("redirects to the domain that the address names, and refuses an address of another service", async () => {
    await using both = await startService({ DOMAINS: "https://go.example.com" });
    const locationOf = async (address: string) => {
      const path = `/+report?address=${encodeURIComponent(address)}`;
      const response = await both.fetch(path, { headers: HTML });
      return [response.status, response.headers.get("location")];
    };
    const code = await createLink({}, both);
    expect(await locationOf(`${BASE_URL}/${code}`)).toEqual([303, `/${code}+report`]);
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
    expect(page).toContain(`<a href="/+report" rel="nofollow">${en["page.report"]}</a>`);
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
