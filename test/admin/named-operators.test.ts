import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { run } from "../cli/run.ts";
import { sendForm } from "../http/markup.ts";
import { callApi } from "../support/managed-links.ts";
import { type RunningService, shareService, startService, temporaryFolder } from "../support/service.ts";
import { addMany, operateAs } from "./operator.ts";

const ALICE = "alice-knows-this-secret";
const BOB = "bob-knows-another-secret";
const BARE = "nobody-has-a-name-here";
const CREATOR = "only-for-creating-links";
const TARGET = "https://example.com/";

const NAMED = { ADMIN_TOKEN: `alice:${ALICE}\nbob:${BOB} ${BARE}`, CREATE_TOKEN: `feed:${CREATOR}` };
/** The tests are the proxy. */
const BEHIND_PROXY = { ADMIN_USER_HEADER: "Remote-User", TRUSTED_PROXIES: "127.0.0.1,::1" };

interface Entry {
  readonly code: string | null;
  readonly host: string | null;
  readonly action: string;
  readonly who: string;
  readonly by: string | null;
}

async function journalOf(service: RunningService, token: string): Promise<Entry[]> {
  return (await operateAs(service, token)("GET", "journal")).data.entries;
}

async function addLink(service: RunningService, code: string, token = CREATOR): Promise<void> {
  const headers = { Authorization: `Bearer ${token}` };
  expect((await service.shorten({ original_url: TARGET, custom_code: code }, headers)).status).toBe(201);
}

async function signIn(service: RunningService, token: string): Promise<string> {
  const response = await sendForm(service, "/admin", { token });
  return /operator=[^;]+/.exec(response.headers.get("set-cookie") ?? "")?.[0] ?? "";
}

async function openPage(service: RunningService, path: string, headers: Record<string, string>) {
  const response = await service.fetch(path, {
    headers: { Accept: "text/html", "Accept-Language": "en", ...headers },
  });
  const text = await response.text();
  return { status: response.status, text, form: /name="form" value="([^"]+)"/.exec(text)?.[1] ?? "" };
}

/** Decides about a link as its page does. */
async function decideOnPage(
  service: RunningService,
  code: string,
  fields: Record<string, string>,
  headers: Record<string, string>,
): Promise<number> {
  const { text, form } = await openPage(service, `/admin/links/${code}`, headers);
  const [, seen = ""] = /name="seen" value="([^"]+)"/.exec(text) ?? [];
  const sent = { form, seen, ...fields };
  return (await sendForm(service, `/admin/links/${code}`, sent, headers)).status;
}

describe("an operator with a named token", () => {
  const curt = shareService(NAMED);

  test("is named in the journal for decisions with the API and on the page, and a bare token isn't", async () => {
    await addLink(curt, "three");
    const disable = (reason: string, token: string) =>
      operateAs(curt, token)("POST", "links/three/disable", { reason });
    expect((await disable("spam", ALICE)).status).toBe(200);
    expect((await disable("phishing", `bob:${BOB}`)).status).toBe(200);
    expect((await disable("malware", BARE)).status).toBe(200);
    const Cookie = await signIn(curt, BOB);
    expect(await decideOnPage(curt, "three", { action: "enable" }, { Cookie })).toBe(303);
    expect(await operateAs(curt, ALICE)("PUT", "hosts/evil.example", { reason: "spam" })).toMatchObject({
      status: 200,
    });
    expect((await journalOf(curt, BARE)).map(({ action, who, by }) => [action, who, by])).toEqual([
      ["block-host", "api", "alice"],
      ["enable", "page", "bob"],
      ["disable", "api", null],
      ["disable", "api", "bob"],
      ["disable", "api", "alice"],
    ]);
  });

  test("is named to other operators on the journal's page and the link's", async () => {
    await addLink(curt, "seen");
    await operateAs(curt, ALICE)("POST", "links/seen/disable", { reason: "spam" });
    const Cookie = await signIn(curt, BOB);
    for (const path of ["/admin/journal", "/admin/links/seen"])
      expect((await openPage(curt, path, { Cookie })).text, path).toContain('<bdi dir="auto">alice</bdi>');
  });

  test("has a journal of their own decisions, and of one kind of these", async () => {
    await addLink(curt, "filtered");
    for (const [name, token] of Object.entries({ alice: ALICE, bob: BOB }))
      await operateAs(curt, token)("POST", "links/filtered/disable", {
        reason: "spam",
        note: `note-${name}`,
      });
    await operateAs(curt, ALICE)("PUT", "hosts/filtered.example", { reason: "spam", note: "note-rule" });
    const Cookie = await signIn(curt, BOB);
    const read = async (query: string) => {
      const { text } = await openPage(curt, `/admin/journal?${query}`, { Cookie });
      return ["alice", "bob", "rule"].filter((note) => text.includes(`note-${note}`));
    };
    expect(await read("")).toEqual(["alice", "bob", "rule"]);
    expect(await read("by=alice")).toEqual(["alice", "rule"]);
    expect(await read("by=alice&action=links")).toEqual(["alice"]);
    expect(await read("action=hosts")).toEqual(["rule"]);
    expect(await read("by=nobody")).toEqual([]);
    const { text } = await openPage(curt, "/admin/journal?by=alice&action=hosts", { Cookie });
    expect(text).toContain('href="/admin/journal?by=alice&amp;action=links"');
    expect(text).toContain('href="/admin/journal?action=hosts"');
  });

  test("is named after an export and an import", async () => {
    await addLink(curt, "moved");
    await operateAs(curt, BOB)("POST", "links/moved/disable", { reason: "spam" });
    using folder = temporaryFolder();
    const copy = { DATABASE_URL: `sqlite:${folder.path}/copy.db`, PORT: "3000" };
    const { stdout } = await run(["export", "-"], { ...copy, DATABASE_URL: curt.databaseUrl });
    expect(stdout).toContain('"by":"bob"');
    expect(stdout).not.toContain(BOB);
    expect(await run(["import", "--new", "-"], copy, stdout)).toMatchObject({ code: 0 });
    await using other = await startService({ ...NAMED, DATABASE_URL: copy.DATABASE_URL });
    const entry = (await journalOf(other, BOB)).find(({ code }) => code === "moved");
    expect(entry).toMatchObject({ action: "disable", by: "bob" });
  });

  test("isn't named to the public, and neither names nor secrets are in the log", async () => {
    await addLink(curt, "open");
    await operateAs(curt, ALICE)("POST", "links/open/disable", { reason: "spam" });
    await operateAs(curt, `${ALICE}x`)("GET", "journal");
    for (const path of ["/open", "/open+", "/api/v1/links/open"])
      expect(await (await curt.fetch(path)).text(), path).not.toContain("alice");
    for (const secret of [ALICE, BOB, BARE, CREATOR]) expect(curt.logged.join("")).not.toContain(secret);
  });

  test("can't create links with that token, and a token for links opens no operator's page", async () => {
    const created = await curt.shorten({ original_url: TARGET }, { Authorization: `Bearer ${ALICE}` });
    expect([created.status, created.headers.get("curt-reason")]).toEqual([401, "token.wrong"]);
    const read = await callApi(curt, "GET", "/api/v1/admin/journal", { key: CREATOR });
    expect([read.status, read.reason]).toEqual([401, "operator.wrong"]);
    expect(await signIn(curt, CREATOR)).toBe("");
  });
});

test("an operator whose token is removed during a search changes no links of it", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "operators");
  const tokens = [`alice:${ALICE}`, `bob:${BOB}`];
  writeFileSync(file, tokens.join("\n"));
  await using own = await startService({ ADMIN_TOKEN_FILE: file });
  await addMany(own, 10_000);
  const session = { Cookie: await signIn(own, BOB) };
  const { form } = await openPage(own, "/admin", session);
  const decisions = [
    () => operateAs(own, BOB)("POST", "links/disable?q=many.example", { reason: "spam", count: 10_000 }),
    () =>
      sendForm(
        own,
        "/admin/found?q=many.example",
        { form, action: "disable", reason: "spam", count: "10000" },
        session,
      ),
  ];
  for (const decide of decisions) {
    const deciding = decide();
    // Longer than a request takes to arrive, and shorter than the search.
    await Bun.sleep(20);
    writeFileSync(file, tokens[0] ?? "");
    process.emit("SIGHUP");
    expect((await deciding).status).toBe(401);
    expect(await journalOf(own, ALICE)).toEqual([]);
    writeFileSync(file, tokens.join("\n"));
    process.emit("SIGHUP");
  }
});

describe("an operator whom the proxy has signed in", () => {
  const curt = shareService({ ...NAMED, ...BEHIND_PROXY, SIGN_OUT_URL: "https://auth.example/logout" });
  const CAROL = { "Remote-User": "carol@example.com" };

  test("opens the pages and the API, and decides under that name", async () => {
    await addLink(curt, "signed");
    const sent = { action: "disable", reason: "spam" };
    expect(await decideOnPage(curt, "signed", sent, CAROL)).toBe(303);
    const response = await curt.fetch("/api/v1/admin/links/signed/enable", {
      method: "POST",
      headers: { ...CAROL, "If-Match": "*" },
    });
    expect(response.status).toBe(200);
    const entries = (await journalOf(curt, ALICE)).filter(({ code }) => code === "signed");
    expect(entries.map(({ who, by }) => [who, by])).toEqual([
      ["api", "carol@example.com"],
      ["page", "carol@example.com"],
    ]);
  });

  test("needs one valid name in the header", async () => {
    for (const name of ["a, b", "a b", "x".repeat(65), "café", "<b>"]) {
      const headers = { "Remote-User": name };
      const page = await openPage(curt, "/admin", headers);
      expect([name, page.status]).toEqual([name, 403]);
      expect(page.text).toContain("The proxy did not send a valid name");
      const read = await curt.fetch("/api/v1/admin/journal", { headers });
      expect([name, read.headers.get("curt-reason")]).toEqual([name, "user.wrong"]);
    }
    const twice = new Headers([
      ["Remote-User", "carol"],
      ["Remote-User", "carol"],
    ]);
    expect((await curt.fetch("/admin", { headers: twice })).status).toBe(403);
    expect((await openPage(curt, "/admin", { "Remote-User": "" })).status).toBe(401);
  });

  test("is refused from other sites wherever something changes", async () => {
    await addLink(curt, "cross");
    const { form, text } = await openPage(curt, "/admin/links/cross", CAROL);
    const [, seen = ""] = /name="seen" value="([^"]+)"/.exec(text) ?? [];
    const fields = { form, seen, action: "disable", reason: "spam" };
    for (const from of [
      { "Sec-Fetch-Site": "cross-site" },
      { "Sec-Fetch-Site": "same-site" },
      { Origin: "https://evil.example" },
    ]) {
      const headers = { ...CAROL, ...from };
      for (const path of ["/admin/links/cross", "/admin/sign-out"])
        expect((await sendForm(curt, path, fields, headers)).status, path).toBe(403);
      for (const [method, path] of [
        ["POST", "links/cross/disable"],
        ["PUT", "hosts/a.example"],
        ["POST", "links/disable?q=cross"],
        ["DELETE", "links/cross?confirm=cross"],
      ] as const) {
        const response = await curt.fetch(`/api/v1/admin/${path}`, {
          method,
          headers: { ...headers, "If-Match": "*", "Content-Type": "text/plain" },
          body: JSON.stringify({ reason: "spam", count: 1 }),
        });
        expect([path, response.headers.get("curt-reason")]).toEqual([path, "cross-site"]);
      }
    }
    const other = await openPage(curt, "/admin", { "Remote-User": "mallory" });
    for (const wrong of ["", other.form])
      expect((await sendForm(curt, "/admin/links/cross", { ...fields, form: wrong }, CAROL)).status).toBe(
        403,
      );
    // A sandboxed frame over plain HTTP, where browsers send no Sec-Fetch-Site.
    const hidden = await curt.fetch("/api/v1/admin/links/disable?q=cross", {
      method: "POST",
      headers: { ...CAROL, Origin: "null", "Content-Type": "text/plain" },
      body: JSON.stringify({ reason: "spam", count: 1 }),
    });
    expect(hidden.headers.get("curt-reason")).toBe("cross-site");
    expect((await curt.fetch("/cross")).status).toBe(302);
    expect((await sendForm(curt, "/admin/links/cross", fields, CAROL)).status).toBe(303);
  });

  test("signs out at the proxy", async () => {
    const response = await sendForm(curt, "/admin/sign-out", {}, CAROL);
    expect([response.status, response.headers.get("refresh")]).toEqual([
      200,
      "0; url=https://auth.example/logout",
    ]);
    const ofToken = await sendForm(curt, "/admin/sign-out", {}, { Cookie: await signIn(curt, ALICE) });
    expect([ofToken.status, ofToken.headers.get("location")]).toEqual([303, "/admin"]);
  });

  test("isn't signed in by the header without the proxy", async () => {
    await using other = await startService({ ...NAMED, ...BEHIND_PROXY, TRUSTED_PROXIES: "192.0.2.7" });
    expect((await openPage(other, "/admin", CAROL)).status).toBe(401);
    const read = await other.fetch("/api/v1/admin/journal", { headers: CAROL });
    expect(read.headers.get("curt-reason")).toBe("operator.missing");
    expect((await sendForm(other, "/admin/journal", {}, CAROL)).headers.get("location")).toBe("/admin");
  });

  test("needs no ADMIN_TOKEN", async () => {
    await using other = await startService(BEHIND_PROXY);
    expect((await openPage(other, "/admin", CAROL)).status).toBe(200);
    expect((await openPage(other, "/admin", {})).status).toBe(401);
    expect(await signIn(other, "")).toBe("");
  });
});
