import { beforeAll, describe, expect, test } from "bun:test";

import type { LinkKey } from "../../src/links/code.ts";
import { REASONS } from "../../src/links/problem.ts";
import en from "../../src/locales/en.json";
import { LANGUAGES, message } from "../../src/locales/messages.ts";
import { nextSteps } from "../../src/pages/problem/page.tsx";
import { callApi, createManagedLink } from "../support/managed-links.ts";
import { openStoreOf, shareStoreOf, outcomeOf, shareService, startService } from "../support/service.ts";
import { untilCounted, visit } from "../visits/visits.ts";
import { HTML } from "./markup.ts";

const DECISION = { who: "api", atMs: Date.UTC(2026, 10, 22), note: "a private note" } as const;

const curt = shareService();
const store = shareStoreOf(curt);

const createLink = (code: string) =>
  createManagedLink(curt, { code, target: `https://${code}.example/path` });

async function linkOf(code: string) {
  const link = await store.find(code as LinkKey);
  if (link === undefined) throw new Error(`${code} is missing`);
  return link;
}

/** The service hears of a change a moment later. */
async function untilStatus(path: string, status: number): Promise<Response> {
  for (;;) {
    const response = await curt.fetch(path);
    if (response.status === status) return response;
    await response.body?.cancel();
    await Bun.sleep(10);
  }
}

const messageOf = async (response: Response) => ((await response.json()) as { message: string }).message;
const dataOf = async (response: Response) => ((await response.json()) as { data: unknown }).data;

describe.each([...REASONS])("a link disabled for %s", (reason) => {
  const code = `disabled-${reason}`;
  beforeAll(async () => {
    await createLink(code);
    // Caches its redirect.
    expect((await curt.fetch(`/${code}`)).status).toBe(302);
    await store.disable([await linkOf(code)], { ...DECISION, reason });
    await untilStatus(`/${code}`, 410);
  });

  test("answers 410 with the reason and the next step, without the destination or the operator's note", async () => {
    for (const language of LANGUAGES) {
      const json = await curt.fetch(`/${code}`, { headers: { "Accept-Language": language } });
      expect([json.status, json.headers.get("cache-control")]).toEqual([410, "no-store"]);
      expect(await json.json()).toEqual({
        status: "error",
        message: message(language, `disabled.${reason}`),
      });
      const page = await curt.fetch(`/${code}`, { headers: { ...HTML, "Accept-Language": language } });
      expect([page.status, page.headers.get("cache-control")]).toEqual([410, "no-store"]);
      const text = await page.text();
      for (const key of ["page.disabled.title", `disabled.${reason}`, ...nextSteps(reason)] as const)
        expect(text).toContain(message(language, key));
      expect(text).not.toContain(".example/path");
      expect(text).not.toContain(DECISION.note);
    }
    const head = await curt.fetch(`/${code}/`, { method: "HEAD" });
    expect([head.status, head.headers.get("location")]).toEqual([410, null]);
  });

  test("has a preview with the reason and the date but no destination, and no QR code", async () => {
    const preview = await curt.fetch(`/${code}+`, { headers: HTML });
    expect([preview.status, preview.headers.get("cache-control")]).toEqual([410, "no-store"]);
    const text = await preview.text();
    expect(text).toContain(en[`disabled.${reason}`]);
    expect(text).toContain(`<time datetime="${new Date(DECISION.atMs).toISOString()}">`);
    expect(text).not.toContain("/path");
    expect(text).not.toContain(`href="/${code}/"`);
    expect(text).not.toContain("data-copy");
    expect(text).not.toContain(DECISION.note);
    for (const image of ["svg", "png"]) expect((await curt.fetch(`/${code}.${image}`)).status).toBe(410);
  });
});

test("a disabled link keeps its statistics and its code, and redirects again once it is enabled", async () => {
  await createLink("again");
  await visit(curt, "again");
  await untilCounted(curt, "again", 1);
  const link = await linkOf("again");
  await store.disable([link], { ...DECISION, reason: "spam" });
  await untilStatus("/again", 410);
  expect(await dataOf(await curt.fetch("/api/v1/links/again"))).toMatchObject({
    target: "https://again.example/path",
    visits: 1,
    disabled_reason: "spam",
  });
  expect(await dataOf(await curt.fetch("/api/v1/links/again/stats"))).toMatchObject({ visits: 1 });
  expect(await dataOf(await curt.fetch("/api/v1/codes/again"))).toMatchObject({ available: false });
  expect((await curt.shorten({ original_url: "https://x.example/", custom_code: "again" })).status).toBe(409);

  await store.enable([link], DECISION);
  expect((await untilStatus("/again", 302)).headers.get("location")).toBe("https://again.example/path");
  expect((await curt.fetch("/again+", { headers: HTML })).status).toBe(200);
  expect((await curt.fetch("/again.svg")).status).toBe(200);
  expect(await dataOf(await curt.fetch("/api/v1/links/again"))).toMatchObject({ disabled_reason: null });
});

test("a deleted link answers 410 at all its addresses, and its code stays taken", async () => {
  await createLink("deleted");
  await store.erase(await linkOf("deleted"), DECISION);
  await untilStatus("/deleted", 410);
  for (const path of ["/deleted", "/deleted+", "/deleted.svg", "/deleted.png", ...apiPathsOf("deleted")]) {
    const gone = await curt.fetch(path);
    expect([gone.status, await messageOf(gone)], path).toEqual([410, en["disabled.deleted"]]);
  }
  expect((await curt.shorten({ original_url: "https://x.example/", custom_code: "deleted" })).status).toBe(
    409,
  );
});

function apiPathsOf(code: string): string[] {
  return [`/api/v1/links/${code}`, `/api/v1/links/${code}/stats`];
}

test("blocking a host stops links to it and its subdomains and refuses new ones, until it is unblocked", async () => {
  const destinations = { exact: "https://evil.example/x", below: "http://a.b.EVIL.example:8080/x" };
  for (const [custom_code, original_url] of Object.entries(destinations))
    await curt.shorten({ original_url, custom_code });
  const { path, key } = await createManagedLink(curt, { target: destinations.exact });
  await createLink("untouched");
  for (const code of ["exact", "below", "untouched"]) expect((await curt.fetch(`/${code}`)).status).toBe(302);
  expect((await curt.fetch("/exact+", { headers: HTML })).status).toBe(200);

  await store.blockHost({ host: "evil.example", reason: "phishing" }, DECISION);
  for (const code of ["exact", "below"]) {
    const gone = await untilStatus(`/${code}`, 410);
    expect(await messageOf(gone)).toBe(en["disabled.phishing"]);
    const preview = await curt.fetch(`/${code}+`, { headers: HTML });
    const text = await preview.text();
    expect([preview.status, text.includes("/x")]).toEqual([410, false]);
    expect(text).toContain(`<time datetime="${new Date(DECISION.atMs).toISOString()}">`);
    const link = await dataOf(await curt.fetch(`/api/v1/links/${code}`));
    expect(link).toMatchObject({ disabled_reason: "phishing" });
    expect((await curt.fetch(`/${code}.svg`)).status).toBe(410);
  }
  const { data } = await callApi(curt, "DELETE", path, { key });
  expect(data).toMatchObject({ state: "disabled", disabled_reason: "phishing" });
  expect((await curt.fetch("/untouched")).status).toBe(302);
  expect((await curt.fetch("/untouched+", { headers: HTML })).status).toBe(200);
  for (const original_url of ["https://evil.example./y", "https://new.Evil.example/y"])
    expect(await outcomeOf(curt.shorten({ original_url }))).toBe("400 target.blocked");

  await store.unblockHost("evil.example", DECISION);
  for (const code of ["exact", "below"]) {
    expect((await untilStatus(`/${code}`, 302)).headers.get("location")).toContain("vil.example");
    expect((await curt.fetch(`/${code}+`, { headers: HTML })).status).toBe(200);
  }
  expect((await curt.shorten({ original_url: "https://evil.example/y" })).status).toBe(201);
});

test("the first preview applies host rules that are older than its thread", async () => {
  await using own = await startService();
  await own.shorten({ original_url: "https://evil.example/x", custom_code: "first" });
  await using ownStore = await openStoreOf(own);
  await ownStore.blockHost({ host: "evil.example", reason: "malware" }, DECISION);
  while ((await own.fetch("/first")).status !== 410) await Bun.sleep(10);
  // The views thread starts only now.
  expect((await own.fetch("/first+", { headers: HTML })).status).toBe(410);
});
