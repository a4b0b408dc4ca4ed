import { describe, expect, test } from "bun:test";

import en from "../../src/locales/en.json";
import { operateAs, TOKEN } from "../admin/operator.ts";
import { callApi, createManagedLink, destinationOf, OTHER, TARGET } from "../support/managed-links.ts";
import { outcomeOf, shareService, startProgram, startService } from "../support/service.ts";
import { HTML, sendForm } from "./markup.ts";
import { callAs, createAs, named, PROXY } from "./people.ts";

const FEED = "a-long-token-of-a-feed";
const MINA_TOKEN = "a-long-token-named-mina";
const curt = shareService({ ...PROXY, ADMIN_TOKEN: TOKEN, CREATE_TOKEN: `feed:${FEED} mina:${MINA_TOKEN}` });

const stateOf = async (path: string, name: string) => (await callAs(curt, name, "GET", path)).data;

describe("the owner of a link", () => {
  test("is the person who created it, through every door", async () => {
    const body = { target: TARGET };
    const post = async (path: string, sent: object) =>
      (await callAs(curt, "mina", "POST", path, { body: sent })).data;
    const { results } = await post("/api/v1/links/batch", [body, body] as object);
    const form = await sendForm(curt, "/", { original_url: TARGET }, named("mina"));
    const [, sent = ""] = /^\/(.*)\+#made$/.exec(form.headers.get("location") ?? "") ?? [];
    const codes = [
      (await post("/api/v1/shorten", { original_url: TARGET })).code,
      (await post("/api/v1/links", { ...body, password: "open sesame", max_visits: 3 })).code,
      ...results.map((one: any) => one.data.code),
      decodeURIComponent(sent),
    ];
    for (const [nth, code] of codes.entries()) {
      const { owner, created_by } = await stateOf(`/api/v1/links/${code}`, "mina");
      expect([nth, owner, created_by]).toEqual([nth, "mina", "mina"]);
    }
  });

  test("is nobody if a token created the link, even one with the name of a person", async () => {
    const { data } = await callAs(curt, "mina", "POST", "/api/v1/links", {
      key: MINA_TOKEN,
      body: { target: TARGET },
    });
    expect(data.created_by).toBe("mina");
    expect(data).not.toHaveProperty("owner");
    const path = `/api/v1/links/${data.code}`;
    expect(await outcomeOf(callAs(curt, "mina", "DELETE", path))).toBe("403 owner.other");
    const { path: own } = await createAs(curt, "mina");
    expect(await outcomeOf(callApi(curt, "DELETE", own, { key: MINA_TOKEN }))).toBe("403 key.wrong");
  });

  test("changes, reads and withdraws it in every browser, without a key", async () => {
    const { code, path, key } = await createAs(curt, "mina", { title: "Handbook" });
    const changed = await callAs(curt, "mina", "PATCH", path, { body: { target: OTHER, title: "Book" } });
    expect(changed.data).toMatchObject({ target: OTHER, title: "Book", owner: "mina", manage_key: key });
    expect(await destinationOf(curt, code)).toBe(OTHER);
    // Some proxies send a token of their own.
    const own = await callAs(curt, "mina", "PATCH", path, { key: "eyJh.of.the-proxy", body: { title: "B" } });
    expect(own.status).toBe(200);
    expect((await callAs(curt, "mina", "GET", `${path}/stats`)).status).toBe(200);
    expect(await outcomeOf(callAs(curt, "joon", "PATCH", path, { body: { title: "x" } }))).toBe(
      "403 owner.other",
    );
    expect(await outcomeOf(callApi(curt, "PATCH", path, { body: { title: "x" } }))).toBe("401 key.missing");
    expect((await callAs(curt, "mina", "DELETE", path)).data.state).toBe("withdrawn");
    expect(await destinationOf(curt, code)).toBe(410);
  });

  test("is in responses to colleagues and to the key, and in no other", async () => {
    const { code, path, key } = await createAs(curt, "mina", { title: "Handbook", max_visits: 2 });
    const seen = await stateOf(path, "joon");
    expect(seen).toMatchObject({ owner: "mina", title: "Handbook", visits_used: null });
    expect(seen).not.toHaveProperty("created_by");
    expect((await callApi(curt, "GET", path, { key })).data.owner).toBe("mina");
    for (const headers of [
      {},
      { Authorization: `Bearer ${FEED}` },
      { "Sec-Fetch-Site": "cross-site", ...named("mina") },
    ])
      for (const at of [path, `/${code}+`, `/${code}+qr`, `${path}/stats`]) {
        const response = await curt.fetch(at, { headers });
        expect(await response.text(), at).not.toContain('mina"');
      }
  });

  test("keeps a password's destination from colleagues", async () => {
    const { path } = await createAs(curt, "mina", { password: "open sesame" });
    expect(await stateOf(path, "joon")).toMatchObject({ owner: "mina", target: null });
    expect(await stateOf(path, "mina")).toMatchObject({ target: TARGET });
  });

  test("opens the manage page without a key, and others get the form for the key", async () => {
    const { code, path } = await createAs(curt, "mina");
    const pageOf = async (headers: Record<string, string>) =>
      (await curt.fetch(`/${code}+manage`, { headers: { ...HTML, ...headers } })).text();
    expect(await pageOf(named("mina"))).toContain(en["manage.withdraw"]);
    for (const headers of [named("joon"), {}, named("mina, mina")])
      expect(await pageOf(headers)).toContain(en["manage.key"]);
    const [, form = ""] = /name="form" value="([^"]+)"/.exec(await pageOf(named("mina"))) ?? [];
    const sent = { act: "change", key: "", target: OTHER, form };
    expect((await sendForm(curt, `/${code}+manage`, sent, named("joon"))).status).toBe(403);
    expect((await sendForm(curt, `/${code}+manage`, sent)).status).toBe(400);
    expect((await sendForm(curt, `/${code}+manage`, sent, named("mina"))).status).toBe(200);
    expect((await stateOf(path, "mina")).target).toBe(OTHER);
  });

  test("doesn't find others' links that haven't started or were withdrawn", async () => {
    const { path } = await createAs(curt, "mina", { starts_at: "48h" });
    expect((await callAs(curt, "mina", "GET", path)).data.state).toBe("scheduled");
    expect((await callAs(curt, "joon", "GET", path)).status).toBe(404);
  });
});

test("an Idempotency-Key of a person replays no create of a token with the same name", async () => {
  const send = async (headers: Record<string, string>) => {
    const init = { method: "POST", body: JSON.stringify({ target: TARGET }) };
    const response = await curt.fetch("/api/v1/links", {
      ...init,
      headers: { ...headers, "Idempotency-Key": "shared-by-both" },
    });
    return ((await response.json()) as any).data.code as string;
  };
  const [program, person] = [{ Authorization: `Bearer ${MINA_TOKEN}` }, named("mina")];
  const codes = [await send(program), await send(person), await send(program), await send(person)];
  expect([codes[0] === codes[2], codes[1] === codes[3], codes[0] === codes[1]]).toEqual([true, true, false]);
});

test("where nobody is named, a header of the setting's name changes nothing", async () => {
  await using open = await startService({ TRUSTED_PROXIES: "127.0.0.1,::1" });
  const { path, data } = await createManagedLink(open, { title: "Handbook" });
  expect(data).not.toHaveProperty("owner");
  const [bare, sent] = [await callApi(open, "GET", path), await callAs(open, "mina", "GET", path)];
  expect(sent.data).toEqual(bare.data);
  expect(await outcomeOf(callAs(open, "mina", "DELETE", path))).toBe("401 key.missing");
});

describe("handing over", () => {
  const operate = operateAs(curt);

  test("makes the link another person's, whose keys are others, in every process", async () => {
    const { code, path, key } = await createAs(curt, "mina");
    await using second = await startProgram({
      ...PROXY,
      CREATE_TOKEN: FEED,
      DATABASE_URL: curt.databaseUrl,
    });
    // Both know the link.
    for (const service of [curt, second]) expect(await destinationOf(service, code)).toBe(TARGET);
    const { status, data } = await callAs(curt, "mina", "PATCH", path, { body: { owner: "joon" } });
    expect([status, data.owner]).toEqual([200, "joon"]);
    expect(data).not.toHaveProperty("manage_key");
    for (const service of [second, curt]) {
      expect(await outcomeOf(callApi(service, "DELETE", path, { key }))).toBe("403 key.wrong");
      expect(await outcomeOf(callAs(service, "mina", "PATCH", path, { body: { title: "x" } }))).toBe(
        "403 owner.other",
      );
      expect((await sendForm(service, `/${code}+manage`, { key })).status).toBe(403);
    }
    const taken = await callAs(second, "joon", "PATCH", path, { body: { target: OTHER } });
    expect(taken.data.manage_key).not.toBe(key);
    const { manage_key } = taken.data;
    expect((await callApi(curt, "PATCH", path, { key: manage_key, body: { title: "t" } })).status).toBe(200);
  });

  test("starts another generation each time, also back to a former owner", async () => {
    const { path, key } = await createAs(curt, "mina");
    const keys = [key];
    for (const [from, to] of [
      ["mina", "joon"],
      ["joon", "mina"],
    ] as const) {
      expect((await callAs(curt, from, "PATCH", path, { body: { owner: to } })).status).toBe(200);
      keys.push((await callAs(curt, to, "PATCH", path, { body: { title: to } })).data.manage_key);
    }
    expect(new Set(keys).size).toBe(3);
    const rights = keys.map((one) => outcomeOf(callApi(curt, "PATCH", path, { key: one, body: {} })));
    expect(await Promise.all(rights)).toEqual(["403 key.wrong", "403 key.wrong", "200"]);
  });

  test("lets the holder of a key take a link without an owner", async () => {
    const { data } = await callApi(curt, "POST", "/api/v1/links", { key: FEED, body: { target: TARGET } });
    const [path, key] = [`/api/v1/links/${data.code}`, data.manage_key];
    const claimed = await callAs(curt, "mina", "PATCH", path, { key, body: { owner: "mina" } });
    expect(claimed.data.owner).toBe("mina");
    expect(claimed.data.manage_key).not.toBe(key);
    expect((await callAs(curt, "mina", "PATCH", path, { body: { owner: "mina" } })).data.manage_key).toBe(
      claimed.data.manage_key,
    );
    expect(await outcomeOf(callApi(curt, "DELETE", path, { key }))).toBe("403 key.wrong");
  });

  test("works by the form, which then shows the preview", async () => {
    const { code, path } = await createAs(curt, "mina");
    const page = await (
      await curt.fetch(`/${code}+manage`, { headers: { ...HTML, ...named("mina") } })
    ).text();
    const [, form = ""] = /name="form" value="([^"]+)"/.exec(page) ?? [];
    const handOver = (owner: string) =>
      sendForm(curt, `/${code}+manage`, { act: "hand-over", owner, form }, named("mina"));
    const wrong = await handOver("j,k");
    expect([wrong.status, await wrong.text()]).toEqual([400, expect.stringContaining(en["owner.name"])]);
    const sent = await handOver("joon");
    expect([sent.status, sent.headers.get("location")]).toEqual([303, `/${code}+`]);
    expect((await stateOf(path, "joon")).owner).toBe("joon");
  });

  test("needs a name: others are refused, and change nothing", async () => {
    const { path } = await createAs(curt, "mina");
    for (const owner of ["", "joon, mina", "joon ", "j\u0000", "ジュン", "x".repeat(65), "x".repeat(9000)])
      expect(await outcomeOf(callAs(curt, "mina", "PATCH", path, { body: { owner } }))).toBe(
        "400 owner.name",
      );
    for (const owner of [null, 7, ["joon"]])
      expect(await outcomeOf(callAs(curt, "mina", "PATCH", path, { body: { owner } }))).toBe(
        "400 field.type",
      );
    expect((await stateOf(path, "mina")).owner).toBe("mina");
  });

  test("shows the new key to no browser that created the link", async () => {
    const form = await sendForm(curt, "/", { original_url: TARGET }, named("mina"));
    const [, code = ""] = /^\/(.*)\+#made$/.exec(form.headers.get("location") ?? "") ?? [];
    const Cookie = (form.headers.get("set-cookie") ?? "").split(";", 1)[0] ?? "";
    const preview = async () => (await curt.fetch(`/${code}+`, { headers: { ...HTML, Cookie } })).text();
    expect(await preview()).toContain("#key=");
    await callAs(curt, "mina", "PATCH", `/api/v1/links/${code}`, { body: { owner: "joon" } });
    expect(await preview()).not.toContain("#key=");
  });

  test("is an entry in the journal, and undoing it starts another generation", async () => {
    const { code, path, key } = await createAs(curt, "mina");
    await callAs(curt, "mina", "PATCH", path, { body: { owner: "joon" } });
    const [entry] = (await operate("GET", `links/${code}`)).data.history;
    expect(entry).toMatchObject({
      who: "person",
      by: "mina",
      action: "hand-over",
      replaced: [{ kind: "owner", value: "mina", became: "joon", count: 1 }],
      undoable: true,
    });
    expect((await operate("POST", `decisions/${entry.id}/undo`)).data.changed).toBe(1);
    const back = await callAs(curt, "mina", "PATCH", path, { body: { title: "back" } });
    expect([back.data.owner, back.data.manage_key === key]).toEqual(["mina", false]);
    expect(await outcomeOf(callAs(curt, "joon", "DELETE", path))).toBe("403 owner.other");
    expect(await outcomeOf(callApi(curt, "DELETE", path, { key }))).toBe("403 key.wrong");
  });

  test("is unknown where nobody is named", async () => {
    await using open = await startService();
    const { path, key } = await createManagedLink(open);
    const sent = { key, body: { owner: "mina" } };
    expect(await outcomeOf(callApi(open, "PATCH", path, sent))).toBe("400 field.unknown");
  });
});

describe("GET /api/v1/links", () => {
  const list = (name: string, query = "?owner=me") => callAs(curt, name, "GET", `/api/v1/links${query}`);

  test("has the own links, newest first and in pages, also those that have ended", async () => {
    const created = [];
    for (const body of [{ title: "one" }, { starts_at: "48h" }, { password: "open sesame" }, {}])
      created.unshift(await createAs(curt, "yuna", body));
    const [newest] = created;
    await callAs(curt, "yuna", "DELETE", newest?.path ?? "");
    const codes = created.map(({ code }) => code);
    const { data } = await list("yuna");
    expect([data.links.map(({ code }: any) => code), data.cursor]).toEqual([codes, null]);
    expect(data.links.map(({ state }: any) => state)).toEqual(["withdrawn", "active", "scheduled", "active"]);
    expect(data.links).toMatchObject([
      { owner: "yuna" },
      { target: TARGET },
      {},
      { title: "one", visits: 0 },
    ]);
    const paged: string[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const page: any = (await list("yuna", `?owner=me&limit=3&cursor=${encodeURIComponent(cursor)}`)).data;
      paged.push(...page.links.map(({ code }: any) => code));
      ({ cursor } = page);
    }
    expect(paged).toEqual(codes);
    expect((await list("yuna", "?owner=me&cursor=nonsense")).data).toEqual({ links: [], cursor: null });
  });

  test("shows others' links to nobody", async () => {
    await createAs(curt, "mina");
    expect((await list("nobody-s")).data.links).toEqual([]);
    expect(await outcomeOf(list("mina, yuna"))).toBe("403 user.wrong");
    for (const headers of [
      {},
      { Authorization: `Bearer ${MINA_TOKEN}` },
      { ...named("mina"), Origin: "https://evil.example" },
    ])
      expect(await outcomeOf(callApi(curt, "GET", "/api/v1/links?owner=me", { headers }))).toBe(
        "403 user.missing",
      );
    for (const query of ["", "?owner=mina", "?owner=me&limit=0"])
      expect((await list("mina", query)).status).toBe(400);
    const { headers } = await list("mina");
    expect(headers.get("cache-control")).toBe("private, no-cache");
  });

  test("has the links of its own domain only", async () => {
    await using curt2 = await startService({ ...PROXY, DOMAINS: "https://other.example" });
    const at = (host: string) => ({ headers: { Host: host } });
    const body = { target: TARGET };
    await callAs(curt2, "mina", "POST", "/api/v1/links", { body: { ...body, code: "here" } });
    await callAs(curt2, "mina", "POST", "/api/v1/links", {
      body: { ...body, code: "there" },
      ...at("other.example"),
    });
    const codesAt = async (host: string) =>
      (await callAs(curt2, "mina", "GET", "/api/v1/links?owner=me", at(host))).data.links.map(
        ({ code }: any) => code,
      );
    expect([await codesAt("curt.example"), await codesAt("other.example")]).toEqual([["here"], ["there"]]);
  });

  test("isn't there where nobody is named, and its document only where somebody is", async () => {
    await using open = await startService();
    const { status, headers } = await callApi(open, "GET", "/api/v1/links?owner=me");
    expect([status, headers.get("allow")]).toEqual([405, "POST, OPTIONS"]);
    const documentOf = async (service: typeof open) =>
      ((await (await service.fetch("/api/v1/openapi.json")).json()) as any).paths["/api/v1/links"];
    expect([Object.keys(await documentOf(open)), Object.keys(await documentOf(curt))]).toEqual([
      ["post"],
      ["post", "get"],
    ]);
  });
});

describe("with EDITORS=everybody, a colleague", () => {
  const all = shareService({ ...PROXY, ADMIN_TOKEN: TOKEN, EDITORS: "everybody" });

  test("corrects destination, title and terms of every link, and gets no key", async () => {
    const { code, path } = await createAs(all, "mina");
    const body = { target: OTHER, title: "Corrected", forward_query: true };
    const { status, data } = await callAs(all, "joon", "PATCH", path, { body });
    expect([status, data]).toEqual([200, expect.objectContaining({ ...body, owner: "mina" })]);
    expect(data).not.toHaveProperty("manage_key");
    const [entry] = (await operateAs(all)("GET", `links/${code}`)).data.history;
    expect(entry).toMatchObject({ action: "correct", who: "person", by: "joon", undoable: true });
    expect(entry.replaced).toEqual([
      { kind: "title", value: null, became: "Corrected", count: 1 },
      { kind: "target", value: TARGET, became: OTHER, count: 1 },
      { kind: "forward_query", value: null, became: "true", count: 1 },
    ]);
    await operateAs(all)("POST", `decisions/${entry.id}/undo`);
    expect(await destinationOf(all, code)).toBe(TARGET);
    const page = await (
      await all.fetch(`/${code}+manage`, { headers: { ...HTML, ...named("joon") } })
    ).text();
    expect(page).toContain(en["manage.save"]);
    expect(page).not.toContain(en["manage.sure"]);
    expect(page).not.toContain('name="owner"');
  });

  const pageOf = async (code: string, name: string, headers = {}, of: Pick<typeof all, "fetch"> = all) =>
    (await of.fetch(`/${code}+manage`, { headers: { ...HTML, ...named(name), ...headers } })).text();
  const entriesOf = async (code: string) => (await operateAs(all)("GET", `links/${code}`)).data.history;

  async function bringBack(code: string, entry: number, name = "yuna", key = "", tokenAt = code) {
    const [, form = ""] = /name="form" value="([^"]+)"/.exec(await pageOf(tokenAt, name)) ?? [];
    const sent = { act: "bring-back", entry: String(entry), form, key };
    return (await sendForm(all, `/${code}+manage`, sent, named(name))).status;
  }

  test("brings former values back, unless they have changed since", async () => {
    const { code, path, key } = await createAs(all, "mina", { title: "Handbook", expires_at: "1month" });
    const { code: other } = await createAs(all, "mina");
    const before = (await callAs(all, "mina", "GET", path)).data;
    const body = { target: OTHER, title: null, expires_at: "24h", max_visits: 9, forward_query: true };
    await callAs(all, "joon", "PATCH", path, { body });
    const [{ id }] = await entriesOf(code);
    expect([await bringBack(other, id), await destinationOf(all, code)]).toEqual([404, OTHER]);
    await callApi(all, "PATCH", path, { key, body: { title: "By key" } });
    expect((await entriesOf(code))[0].undoable).toBe(false);
    expect(await bringBack(code, id)).toBe(409);
    await callApi(all, "PATCH", path, { key, body: { title: null } });
    expect([await bringBack(code, id), await destinationOf(all, code)]).toEqual([200, TARGET]);
    const { changed_at: _, visits: _visits, ...after } = (await callAs(all, "mina", "GET", path)).data;
    expect(before).toMatchObject(after);
    expect(await bringBack(code, id)).toBe(409);
    const [entry] = await entriesOf(code);
    expect(entry).toMatchObject({ action: "undo", who: "person", by: "yuna", undoes: id });
  });

  test("sees who changed the link, with a button for each change that can be brought back", async () => {
    const { code, path, key } = await createAs(all, "mina", { title: "<b>Old</b>" });
    await callAs(all, "joon", "PATCH", path, { body: { title: "New", target: OTHER } });
    await callAs(all, "mina", "PATCH", path, { body: { owner: "hana" } });
    const page = await pageOf(code, "yuna");
    for (const part of ["&lt;b&gt;Old&lt;/b&gt;", "New", TARGET, OTHER, "joon", "mina", "hana"])
      expect(page.slice(page.indexOf('class="history"'))).toContain(part);
    expect(page.match(/value="bring-back"/g)).toHaveLength(1);
    expect(await pageOf(code, "hana")).toContain('value="bring-back"');
    for (let nth = 0; nth < 21; nth++)
      await callAs(all, "joon", "PATCH", path, { body: { title: `Title ${nth}` } });
    const long = await pageOf(code, "yuna");
    expect([
      long.match(/<li>/g)?.length,
      long.includes("Title 20"),
      long.includes(en["admin.did.hand-over"]),
    ]).toEqual([20, true, false]);
    await callAs(all, "hana", "DELETE", path);
    expect(await pageOf(code, "hana")).toContain("Title 20");
    expect(await pageOf(code, "hana")).not.toContain('value="bring-back"');
    // The key alone shows no names of colleagues.
    const { path: own, key: ownKey, code: ownCode } = await createAs(all, "mina");
    await callAs(all, "joon", "PATCH", own, { body: { title: "Read by colleagues" } });
    const byKey = await (await sendForm(all, `/${ownCode}+manage`, { key: ownKey })).text();
    expect([byKey.includes(en["manage.save"]), byKey.includes("joon")]).toEqual([true, false]);
    expect(key).not.toBe(ownKey);
  });

  test("sees hand-overs by an operator, without the operator's name and note", async () => {
    await using led = await startService({ ...PROXY, ADMIN_TOKEN: `boss:${TOKEN}`, EDITORS: "everybody" });
    const { code } = await createAs(led, "mina");
    const operate = operateAs(led);
    await operate("PATCH", `links/${code}`, { owner: "joon", note: "Only for operators" });
    const search = "links/hand-over?q=owner:joon";
    const { data } = await operate("POST", search, { owner: "hana" });
    await operate("POST", search, { owner: "hana", note: "Also only for operators", ...data });
    await operate("POST", `links/${code}/disable`, { reason: "other", note: "Not a change" });
    await operate("POST", `links/${code}/enable`, {});
    const page = await pageOf(code, "yuna", {}, led);
    const list = page.slice(page.indexOf('class="history"'));
    const changes = Array.from(list.matchAll(/<del><bdi>(\w+)<.*?<ins><bdi>(\w+)</g), ([, was, is]) => [
      was,
      is,
    ]);
    expect(changes).toEqual([
      ["joon", "hana"],
      ["mina", "joon"],
    ]);
    expect(list.split(`<bdi>${en["manage.history.operator"]}</bdi>`)).toHaveLength(3);
    expect([list.includes("boss"), list.includes("for operators")]).toEqual([false, false]);
    expect(list).not.toContain('value="bring-back"');
  });

  test("brings nothing back with a key from before a hand-over, and no destination once EDITS is over", async () => {
    await using maker = await startService({ ...PROXY, ADMIN_TOKEN: TOKEN, EDITS: "24h" });
    const { code, path, key } = await createAs(maker, "mina", { title: "Old" });
    await callAs(maker, "mina", "PATCH", path, { body: { target: OTHER } });
    await callAs(maker, "mina", "PATCH", path, { body: { title: "New" } });
    const [retitled, moved] = (await operateAs(maker)("GET", `links/${code}`)).data.history;
    const send = (entry: number, sent: object, name: string) =>
      sendForm(maker, `/${code}+manage`, { act: "bring-back", entry: String(entry), ...sent }, named(name));
    const formOf = async (name: string) => {
      const page = await maker.fetch(`/${code}+manage`, { headers: { ...HTML, ...named(name) } });
      return { form: /name="form" value="([^"]+)"/.exec(await page.text())?.[1] ?? "" };
    };
    await callAs(maker, "mina", "PATCH", path, { body: { owner: "joon" } });
    expect((await send(moved.id, { key }, "mina")).status).toBe(403);
    expect(await destinationOf(maker, code)).toBe(OTHER);
    maker.advance(25 * 3_600_000);
    const form = await formOf("joon");
    expect((await send(moved.id, form, "joon")).status).toBe(403);
    expect((await send(retitled.id, form, "joon")).status).toBe(200);
    const { data } = await callAs(maker, "joon", "GET", path);
    expect([data.title, data.target]).toEqual(["Old", OTHER]);
  });

  test("brings back no destination that a new one may not have, and nothing at a blocked one", async () => {
    const operate = operateAs(all);
    const [evil, fine] = ["https://evil.bring.test/", "https://fine.bring.test/"];
    const { code, path } = await createAs(all, "mina", { target: evil });
    const { code: other } = await createAs(all, "mina");
    await callAs(all, "joon", "PATCH", path, { body: { target: fine } });
    const [{ id }] = await entriesOf(code);
    await operate("PUT", "hosts/evil.bring.test", { reason: "phishing" });
    expect([await bringBack(code, id), await destinationOf(all, code)]).toEqual([400, fine]);
    await operate("DELETE", "hosts/evil.bring.test");
    await operate("PUT", "hosts/fine.bring.test", { reason: "phishing" });
    // The page has no form then, but those of other links have the token.
    expect(await bringBack(code, id, "yuna", "", other)).toBe(410);
    await operate("DELETE", "hosts/fine.bring.test");
    expect(await destinationOf(all, code)).toBe(fine);
  });

  test("finds no values in the journal of changes while the link had a password", async () => {
    const SECRET = "https://example.org/behind-a-password";
    const { code, path } = await createAs(all, "mina", { target: SECRET, password: "open sesame" });
    await callAs(all, "mina", "PATCH", path, { body: { title: "Still secret" } });
    await callAs(all, "mina", "PATCH", path, { body: { password: null, target: OTHER } });
    const entries = await entriesOf(code);
    expect(entries.map(({ action, replaced }: any) => [action, replaced])).toEqual([
      ["correct", []],
      ["correct", []],
    ]);
    for (const { id } of entries) expect(await bringBack(code, id)).toBe(409);
    const page = await pageOf(code, "joon");
    expect([page.includes(SECRET), page.includes(en["manage.history.secret"])]).toEqual([false, true]);
    expect(await destinationOf(all, code)).toBe(OTHER);
  });

  test("doesn't withdraw, hand over, set a password, or correct a link that has one", async () => {
    const { path } = await createAs(all, "mina");
    const { path: secret } = await createAs(all, "mina", { password: "open sesame" });
    const sent = (at: string, body: object) => outcomeOf(callAs(all, "joon", "PATCH", at, { body }));
    for (const body of [{ owner: "joon" }, { password: "mine" }, { password: null }])
      expect(await sent(path, body)).toBe("403 owner.other");
    expect(await outcomeOf(callAs(all, "joon", "DELETE", path))).toBe("403 owner.other");
    expect(await sent(secret, { target: OTHER })).toBe("403 owner.other");
  });
});

describe("the operator, once a person has left,", () => {
  const operate = operateAs(curt);

  test("finds all of her links, hands them over as one decision, and undoes it", async () => {
    const links = [];
    for (let nth = 0; nth < 3; nth++) links.push(await createAs(curt, "hana"));
    await createAs(curt, "hana-2");
    const query = `q=${encodeURIComponent("owner:hana")}`;
    const found = (await operate("GET", `links?${query}&limit=200`)).data.links;
    expect(found.map(({ code }: any) => code).toSorted()).toEqual(links.map(({ code }) => code).toSorted());
    const give = (body: object) => operate("POST", `links/hand-over?${query}`, body);
    expect(await outcomeOf(give({ owner: "hana, joon", count: 3 }))).toBe("400 owner.name");
    const { count, until, done } = (await give({ owner: "joon" })).data;
    expect([count, done]).toEqual([3, false]);
    const { data } = await give({ owner: "joon", count, until });
    expect([data.changed, data.done]).toEqual([3, true]);
    for (const { path, key } of links) {
      expect((await stateOf(path, "joon")).owner).toBe("joon");
      expect(await outcomeOf(callApi(curt, "DELETE", path, { key }))).toBe("403 key.wrong");
    }
    const [entry] = (await operate("GET", "journal?limit=1")).data.entries;
    expect(entry).toMatchObject({ action: "hand-over", links: 3, undoable: true });
    expect((await operate("POST", `decisions/${data.id}/undo`)).data.changed).toBe(3);
    for (const { path, key } of links) {
      expect((await stateOf(path, "joon")).owner).toBe("hana");
      expect(await outcomeOf(callApi(curt, "DELETE", path, { key }))).toBe("403 key.wrong");
    }
  });

  test("gives a single link to somebody, with the version that she has seen", async () => {
    const { code, path } = await createAs(curt, "mina");
    const { revision } = (await operate("GET", `links/${code}`)).data;
    expect((await operate("PATCH", `links/${code}`, { owner: "joon" }, `"${revision}"`)).status).toBe(200);
    expect((await stateOf(path, "joon")).owner).toBe("joon");
    const again = operate("PATCH", `links/${code}`, { owner: "mina" }, `"${revision}"`);
    expect(await outcomeOf(again)).toBe("412 precondition.failed");
  });
});
