// A former owner, or somebody with only an owner's name, tries to reach the links of others.
import { describe, expect, test } from "bun:test";

import en from "../../src/locales/en.json";
import { operateAs, TOKEN } from "../admin/operator.ts";
import { callApi, OTHER, TARGET } from "../support/managed-links.ts";
import { outcomeOf, shareService } from "../support/service.ts";
import { HTML, sendForm } from "./markup.ts";
import { callAs, createAs, named, PROXY } from "./people.ts";

const FEED = "a-long-token-of-a-feed";
const curt = shareService({
  ...PROXY,
  ADMIN_TOKEN: `mina:${TOKEN} boss:another-long-token-here`,
  CREATE_TOKEN: `feed:${FEED}`,
});

const OPEN = shareService({});

const handOver = (path: string, from: string, owner: string) =>
  outcomeOf(callAs(curt, from, "PATCH", path, { body: { owner } }));

describe("a former owner", () => {
  test("learns nothing by repeating the create, and its key opens nothing", async () => {
    const code = "repeated";
    const path = `/api/v1/links/${code}`;
    for (const address of ["/api/v1/links", "/api/v1/links/batch"]) {
      const isBatch = address.endsWith("batch");
      const body = { target: TARGET, code: isBatch ? `${code}-2` : code };
      const repeat = () =>
        callAs(curt, "mina", "POST", address, {
          body: isBatch ? [body] : body,
          headers: { "Idempotency-Key": `a-key-of-mina-${address}` },
        });
      await repeat();
      const own = isBatch ? `${path}-2` : path;
      expect(await handOver(own, "mina", "joon")).toBe("200");
      await callAs(curt, "joon", "PATCH", own, { body: { target: OTHER, password: "open sesame" } });
      const again = await repeat();
      const data = isBatch ? again.data.results[0].data : again.data;
      expect(JSON.stringify(data)).not.toContain(OTHER);
      expect(await outcomeOf(callApi(curt, "GET", own, { key: data.manage_key }))).toBe("403 key.wrong");
      expect(await outcomeOf(callAs(curt, "mina", "DELETE", own))).toBe("403 owner.other");
    }
  });
});

describe("nobody", () => {
  test("creates links of somebody else", async () => {
    for (const [address, body] of [
      ["/api/v1/links", { target: TARGET, owner: "mina" }],
      ["/api/v1/shorten", { original_url: TARGET, owner: "mina" }],
      ["/api/v1/links/batch", [{ target: TARGET, owner: "mina" }]],
    ] as const) {
      const { data } = await callAs(curt, "joon", "POST", address, { body });
      expect(JSON.stringify(data) ?? "").not.toContain("mina");
    }
    await sendForm(curt, "/", { original_url: TARGET, custom_code: "of-form", owner: "mina" }, named("joon"));
    expect((await callAs(curt, "joon", "GET", "/api/v1/links/of-form")).data.owner).toBe("joon");
  });

  test("is a person by the name of an operator or of a token, nor the other way round", async () => {
    const { path } = await createAs(curt, "mina");
    for (const key of [TOKEN, "another-long-token-here", FEED])
      expect(await outcomeOf(callApi(curt, "DELETE", path, { key }))).toBe("403 key.wrong");
    for (const name of ["mina", "boss"])
      expect((await callAs(curt, name, "GET", "/api/v1/admin/links")).status).toBe(401);
    await createAs(curt, "feed");
    const byToken = await callApi(curt, "POST", "/api/v1/links", { key: FEED, body: { target: TARGET } });
    const own = await callAs(curt, "feed", "GET", "/api/v1/links?owner=me");
    expect(own.data.links.map(({ code }: { code: string }) => code)).not.toContain(byToken.data.code);
  });

  test("creates a link in a person's name from a page that hides its origin, over plain HTTP", async () => {
    const fields = { original_url: TARGET, custom_code: "forged" };
    const sent = await sendForm(curt, "/", fields, { ...named("mina"), Origin: "null" });
    expect(sent.status).toBe(403);
    const { status } = await callAs(curt, "mina", "GET", "/api/v1/links/forged");
    expect(status).toBe(404);
    const own = { ...named("mina"), Origin: "null", "Sec-Fetch-Site": "same-origin" };
    expect((await sendForm(curt, "/", fields, own)).status).toBe(303);
  });
});

test("a form with a key changes a link in a person's name only from a page of ours, over plain HTTP", async () => {
  const { code, key } = await createAs(curt, "joon");
  const headers = { ...named("mina"), Origin: "null" };
  const page = await (await sendForm(curt, `/${code}+manage`, { key }, headers)).text();
  const [, form = ""] = /name="form" value="([^"]+)"/.exec(page) ?? [];
  for (const sent of [{ title: "Forged" }, { title: "Right", form }])
    await sendForm(curt, `/${code}+manage`, { key, act: "change", ...sent }, headers);
  const { history } = (await operateAs(curt)("GET", `links/${code}`)).data;
  const changes = history.map(({ by, replaced }: any) => [by, replaced[0].became]);
  expect(changes).toEqual([["mina", "Right"]]);
});

describe("handing over", () => {
  test("works for a link that has ended or is disabled, and keeps its state", async () => {
    const operate = operateAs(curt, TOKEN);
    const withdrawn = await createAs(curt, "mina");
    await callAs(curt, "mina", "DELETE", withdrawn.path);
    const disabled = await createAs(curt, "mina");
    await operate("POST", `links/${disabled.code}/disable`, { reason: "spam" });
    for (const [{ path, code, key }, state] of [
      [withdrawn, "withdrawn"],
      [disabled, "disabled"],
    ] as const) {
      const both = await callAs(curt, "mina", "PATCH", path, { body: { owner: "joon", title: "x" } });
      expect(both.status).toBe(410);
      expect(await handOver(path, "mina", "j,k")).toBe("400 owner.name");
      const given = await callAs(curt, "mina", "PATCH", path, { body: { owner: "joon" } });
      expect([given.status, given.data.owner, given.data.state]).toEqual([200, "joon", state]);
      expect(await handOver(path, "mina", "yuna")).toBe("403 owner.other");
      expect(await outcomeOf(callApi(curt, "DELETE", path, { key }))).toBe("403 key.wrong");
      const page = await curt.fetch(`/${code}+manage`, { headers: { ...HTML, ...named("joon") } });
      const [, form = ""] = /name="form" value="([^"]+)"/.exec(await page.text()) ?? [];
      const fields = { act: "hand-over", owner: "yuna", form };
      expect((await sendForm(curt, `/${code}+manage`, fields, named("joon"))).status).toBe(303);
      const { data } = await callAs(curt, "yuna", "GET", path);
      expect([data.owner, data.state]).toEqual(["yuna", state]);
      const [entry] = (await operate("GET", `links/${code}`)).data.history;
      expect(entry.replaced).toMatchObject([{ kind: "owner", value: "joon", became: "yuna" }]);
    }
  });

  test("works before the start of a link", async () => {
    const later = await createAs(curt, "mina", {
      starts_at: "2099-01-01T00:00:00Z",
      password: "open sesame",
    });
    expect(await handOver(later.path, "mina", "joon")).toBe("200");
    expect(await outcomeOf(callAs(curt, "mina", "GET", later.path))).toStartWith("40");
    expect((await callAs(curt, "joon", "GET", later.path)).data.target).toBe(TARGET);
  });
});

test("the privacy page names owners only where a proxy names people", async () => {
  const read = async (one: typeof curt) => (await one.fetch("/+privacy", { headers: HTML })).text();
  const heading = `<h2>${en["privacy.people"]}</h2>`;
  expect(await read(curt)).toContain(heading);
  expect(await read(OPEN)).not.toContain(heading);
});
