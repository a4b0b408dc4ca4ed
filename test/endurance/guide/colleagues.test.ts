// An evening of four colleagues behind nginx, which signs them in as docs/single-sign-on.md says.
import { expect, test } from "bun:test";

import { operateAs } from "../../admin/operator.ts";
import { freePort } from "../../support/free-port.ts";
import { NGINX, OWN, startBehindNginx } from "./nginx.ts";
import { IN_NGINX, siteWith, startAuthenticator } from "./sign-in.ts";

const TOKEN = "only-the-operator-knows-it";
const [FIRST, SECOND] = ["https://example.com/first", "https://example.net/second"];
const SETTINGS = { CREATE_USER_HEADER: "Remote-Creator", ADMIN_TOKEN: TOKEN, EDITORS: "everybody" };

if (NGINX !== null)
  test("colleagues create, find, correct, bring back and hand over links, until one of them leaves", async () => {
    const port = await freePort();
    await using _ = startAuthenticator(port);
    const part = IN_NGINX.find((text) => text.includes("9091")) ?? "";
    const file = siteWith(part.replaceAll("127.0.0.1:9091", `127.0.0.1:${port}`));
    await using site = await startBehindNginx(file, SETTINGS);
    const send = (name: string, path: string, init: BunFetchRequestInit = {}) =>
      site.get(OWN, path, {
        ...init,
        headers: { Accept: "text/html", Cookie: `session=of-${name}`, ...(init.headers as object) },
      });
    const form = (name: string, path: string, fields: Record<string, string>) =>
      send(name, path, { method: "POST", body: new URLSearchParams(fields) });
    const api = async (name: string, method: string, path: string, body?: object) => {
      const init = { method, headers: { Accept: "application/json" } };
      const sent = await send(name, `/api/v1/${path}`, body ? { ...init, body: JSON.stringify(body) } : init);
      return { status: sent.status, data: ((await sent.json()) as { data: any }).data };
    };
    const destination = async () => (await site.get(OWN, "/handbook")).headers.get("location");
    const manage = async (name: string, fields: Record<string, string>) => {
      const page = await (await send(name, "/handbook+manage")).text();
      const [, token = ""] = /name="form" value="([^"]+)"/.exec(page) ?? [];
      return (await form(name, "/handbook+manage", { ...fields, form: token })).status;
    };
    const ownCodes = async (name: string) =>
      (await api(name, "GET", "links?owner=me")).data.links.map(({ code }: { code: string }) => code);

    // Mina creates two links, and finds them in another browser.
    expect((await form("mina", "/", { original_url: FIRST, custom_code: "handbook" })).status).toBe(303);
    expect((await api("mina", "POST", "links", { target: FIRST, code: "menu" })).status).toBe(201);
    expect(await ownCodes("mina")).toEqual(["menu", "handbook"]);
    expect(await ownCodes("joon")).toEqual([]);
    // Joon corrects one, and Yuna brings the former destination back.
    expect((await api("joon", "PATCH", "links/handbook", { target: SECOND })).status).toBe(200);
    expect(await destination()).toBe(SECOND);
    const operate = operateAs(site.curt, TOKEN);
    const [entry] = (await operate("GET", "links/handbook")).data.history;
    expect([entry.action, entry.by]).toEqual(["correct", "joon"]);
    expect(await manage("yuna", { act: "bring-back", entry: String(entry.id) })).toBe(200);
    expect(await destination()).toBe(FIRST);
    // Only Mina may hand it over. Hana then owns it, and Mina is a colleague like the others.
    expect(await manage("joon", { act: "hand-over", owner: "joon" })).toBe(403);
    expect(await manage("mina", { act: "hand-over", owner: "hana" })).toBeOneOf([200, 303]);
    expect((await api("mina", "DELETE", "links/handbook")).status).toBe(403);
    expect((await api("mina", "PATCH", "links/handbook", { title: "Handbook" })).status).toBe(200);
    expect((await ownCodes("hana")).concat(await ownCodes("mina"))).toEqual(["handbook", "menu"]);
    // Hana leaves. Joon gets what she had, and may withdraw it.
    const all = "links/hand-over?q=owner:hana";
    const { count, until } = (await operate("POST", all, { owner: "joon" })).data;
    expect((await operate("POST", all, { owner: "joon", count, until })).data.changed).toBe(1);
    expect(await ownCodes("hana")).toEqual([]);
    expect((await api("hana", "DELETE", "links/handbook")).status).toBe(403);
    expect((await api("joon", "DELETE", "links/handbook")).status).toBe(200);
    expect((await site.get(OWN, "/handbook")).status).toBe(410);
  });
