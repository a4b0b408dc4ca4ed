import { describe, expect, test } from "bun:test";

import en from "../../src/locales/en.json";
import { operateAs, TOKEN } from "../admin/operator.ts";
import { callApi, TARGET } from "../support/managed-links.ts";
import { disableLink, endLink, outcomeOf, shareService, startService } from "../support/service.ts";
import { HTML, sendForm } from "./markup.ts";

const MINA = "mina@team.example:a-long-secret-of-mina";
const JOON = "joon:a-long-secret-of-joon";
const BARE = "a-long-secret-of-nobody";
const NAME = "mina@team.example";

const curt = shareService({ ADMIN_TOKEN: TOKEN, CREATE_TOKEN: `${MINA} ${JOON} ${BARE}` });
const operate = operateAs(curt);

const creatorOf = async (code: string): Promise<string | undefined> =>
  (await operate("GET", `links/${encodeURIComponent(code)}`)).data.created_by;

let links = 0;

async function create(token: string, body: object = {}) {
  const code = `by-${++links}`;
  const { status, data } = await callApi(curt, "POST", "/api/v1/links", {
    key: token,
    body: { target: TARGET, code, ...body },
  });
  expect(status).toBe(201);
  return { code, path: `/api/v1/links/${code}`, key: data.manage_key as string, data };
}

describe("created_by", () => {
  test("is the name of the token that created the link, through every door", async () => {
    const body = { target: TARGET };
    const post = async (path: string, sent: object) =>
      (await callApi(curt, "POST", path, { key: MINA, body: sent })).data;
    const [one, two] = (await post("/api/v1/links/batch", [body, body])).results;
    const form = await sendForm(curt, "/", { original_url: TARGET, token: MINA });
    const [, sent = ""] = /^\/(.*)\+#made$/.exec(form.headers.get("location") ?? "") ?? [];
    const codes = [
      (await post("/api/v1/shorten", { original_url: TARGET })).code,
      (await post("/api/v1/links", { ...body, password: "open sesame", max_visits: 3 })).code,
      one.data.code,
      two.data.code,
      decodeURIComponent(sent),
    ];
    for (const [nth, code] of codes.entries()) expect([nth, await creatorOf(code)]).toEqual([nth, NAME]);
  });

  test("is in the responses to the manage key and on the manage page, and survives a change", async () => {
    const { code, path, key, data } = await create(MINA);
    expect(data.created_by).toBe(NAME);
    expect((await callApi(curt, "GET", path, { key })).data.created_by).toBe(NAME);
    const body = { target: "https://example.com/moved", max_visits: 9, expires_at: "24h" };
    expect((await callApi(curt, "PATCH", path, { key, body })).data.created_by).toBe(NAME);
    const page = await (await sendForm(curt, `/${code}+manage`, { key })).text();
    expect(page).toContain(`<dt>${en["created-by"]}</dt><dd>${NAME}</dd>`);
    expect(await creatorOf(code)).toBe(NAME);
  });

  test("is in no response to anybody else, whatever the state of the link", async () => {
    const redirecting = await create(MINA);
    const states = [
      redirecting,
      await create(MINA, { password: "open sesame" }),
      await create(MINA, { max_visits: 1 }),
      await create(MINA, { starts_at: "2099-01-01T00:00:00.000Z" }),
    ];
    const [disabled, expired] = [await create(MINA), await create(MINA)];
    await disableLink(curt, disabled.code, "spam");
    await endLink(curt, expired.code, Date.now());
    for (const { code, path } of [...states, disabled, expired])
      for (const at of [
        ...["", "+", "+qr", "+manage", "+report", ".svg"].map((ending) => `/${code}${ending}`),
        ...["", "/stats", "/qr"].map((ending) => `${path}${ending}`),
        `/api/v1/codes/${code}`,
      ])
        for (const headers of [HTML, {}, { Authorization: `Bearer ${JOON}` }]) {
          const response = await curt.fetch(at, { headers, redirect: "manual" });
          const shown = `${JSON.stringify([...response.headers])}${await response.text()}`;
          expect(shown.match(/created_by|team\.example/)?.[0], at).toBeUndefined();
        }
  });

  test("is no field of a request: a create or a change with it is refused, and POST /api/v1/shorten ignores it", async () => {
    const { path, key } = await create(JOON);
    const created_by = NAME;
    const send = (method: string, at: string, token: string, body: unknown) =>
      callApi(curt, method, at, { key: token, body });
    const link = { target: TARGET, created_by };
    expect(await outcomeOf(send("POST", "/api/v1/links", JOON, link))).toBe("400 field.unknown");
    expect(await outcomeOf(send("PATCH", path, key, { created_by }))).toBe("400 field.fixed");
    const { results } = (await send("POST", "/api/v1/links/batch", JOON, [link])).data;
    expect(results).toMatchObject([{ status_code: 400, errors: [{ field: "created_by" }] }]);
    const short = await send("POST", "/api/v1/shorten", JOON, { original_url: TARGET, created_by });
    expect(await creatorOf(short.data.code)).toBe("joon");
    expect(Object.keys(short.data)).not.toContain("created_by");
    expect((await callApi(curt, "GET", path, { key })).data.created_by).toBe("joon");
  });

  test("is absent if a bare secret creates the link, or anybody on an open instance", async () => {
    const { code, path, key, data } = await create(BARE);
    expect(data).not.toHaveProperty("created_by");
    expect((await callApi(curt, "GET", path, { key })).data).not.toHaveProperty("created_by");
    expect(await (await sendForm(curt, `/${code}+manage`, { key })).text()).not.toContain(en["created-by"]);
    expect(await creatorOf(code)).toBeUndefined();
    await using open = await startService();
    const { data: own } = await callApi(open, "POST", "/api/v1/links", { body: { target: TARGET } });
    expect(own).not.toHaveProperty("created_by");
  });

  test("goes with the link when the operator deletes it", async () => {
    const { code } = await create(MINA);
    await operate("DELETE", `links/${code}?confirm=${code}`);
    expect(await creatorOf(code)).toBeUndefined();
  });
});

test("an Idempotency-Key of another caller's name creates another link", async () => {
  const send = async (token: string) => {
    const response = await curt.fetch("/api/v1/links", {
      method: "POST",
      headers: { Authorization: `Bearer ${token}`, "Idempotency-Key": "shared-by-both" },
      body: JSON.stringify({ target: TARGET }),
    });
    return {
      code: ((await response.json()) as any).data.code,
      is: response.headers.get("idempotent-replayed"),
    };
  };
  const mina = await send(MINA);
  const joon = await send(JOON);
  expect([joon.is, joon.code === mina.code]).toEqual([null, false]);
  expect(await send(MINA)).toEqual({ code: mina.code, is: "true" });
  expect([await creatorOf(mina.code), await creatorOf(joon.code)]).toEqual([NAME, "joon"]);
});
