import { describe, expect, test } from "bun:test";

import { callApi } from "../support/managed-links.ts";
import { BASE_URL, type LocalService, startService, temporaryFolder } from "../support/service.ts";
import { ENGINES } from "./engines.ts";
import { ADMIN_TOKEN, operate, startReceiver } from "./receiver.ts";

const ALICE = "alice-knows-this-secret";

const URL = "https://example.com/a?b#c";
const HOUR_MS = 3_600_000;

const inHours = (hours: number) => new Date(Date.now() + hours * HOUR_MS).toISOString();

async function createLink(service: LocalService, code: string, more: object = {}) {
  const response = await service.fetch("/api/v1/links", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ target: URL, code, ...more }),
  });
  expect(response.status).toBe(201);
  const { data } = (await response.json()) as { data: { manage_key: string } };
  return { Authorization: `Bearer ${data.manage_key}`, "Content-Type": "application/json" };
}

describe.each(ENGINES)("events in %s", (_, settingsOf) => {
  test("name the operator of each decision, and nobody else", async () => {
    await using receiver = startReceiver();
    using folder = temporaryFolder();
    const settings = {
      DATA_DIR: folder.path,
      ...receiver.settings,
      ADMIN_TOKEN: `${ADMIN_TOKEN} alice:${ALICE}`,
    };
    await using service = await startService(
      { ...(await settingsOf()), ...settings },
      { folder: folder.path },
    );
    const maker = await createLink(service, "named");
    const asAlice = (method: string, path: string, body: object) =>
      callApi(service, method, `/api/v1/admin/${path}`, { key: ALICE, body, ifMatch: "*" });
    await asAlice("POST", "links/named/disable", { reason: "spam" });
    await operate(service, "POST", "links/named/enable", {});
    await asAlice("PATCH", "links/named", { target: "https://example.net/" });
    await asAlice("PUT", "hosts/evil.example", { reason: "malware" });
    const patch = {
      method: "PATCH",
      headers: maker,
      body: JSON.stringify({ target: "https://example.org/" }),
    };
    await service.fetch("/api/v1/links/named", patch);
    await asAlice("DELETE", "links/named?confirm=named", {});
    await receiver.until(7);
    expect(receiver.events.map(({ type, data }) => [type, data["by"]])).toEqual([
      ["link.created", undefined],
      ["link.disabled", "alice"],
      ["link.enabled", undefined],
      ["link.changed", "alice"],
      ["host.blocked", "alice"],
      ["link.changed", undefined],
      ["link.disabled", "alice"],
    ]);
  });

  test("report the hand-over of a link that has ended as a change", async () => {
    await using receiver = startReceiver();
    using folder = temporaryFolder();
    const settings = { ...(await settingsOf()), DATA_DIR: folder.path, ...receiver.settings, ADMIN_TOKEN };
    await using service = await startService(settings, { folder: folder.path });
    const headers = await createLink(service, "withdrawn");
    await createLink(service, "used", { max_visits: 1 });
    await service.fetch("/api/v1/links/withdrawn", { method: "DELETE", headers });
    await service.fetch("/used");
    for (const code of ["withdrawn", "used"])
      await operate(service, "PATCH", `links/${code}`, { owner: "joon" });
    await receiver.until(6);
    expect(receiver.events.map(({ type, subject }) => `${subject} ${type}`).toSorted()).toEqual([
      "used link.changed",
      "used link.created",
      "used link.expired",
      "withdrawn link.changed",
      "withdrawn link.created",
      "withdrawn link.withdrawn",
    ]);
  });

  test("report every change of a link, signed and in order, without secrets or addresses", async () => {
    let isUp = false;
    await using receiver = startReceiver({ status: () => (isUp ? 204 : 503) });
    using folder = temporaryFolder();
    const settings = {
      ...(await settingsOf()),
      DATA_DIR: folder.path,
      ADMIN_TOKEN,
      TRUSTED_PROXIES: "127.0.0.1",
      DOMAINS: "https://한글.example",
      ...receiver.settings,
    };
    await using service = await startService(settings, {
      folder: folder.path,
      limits: { events: { firstRetryMs: 1 } },
    });
    const headers = await createLink(service, "한글");
    await createLink(service, "한글", { domain: "한글.example" });
    await createLink(service, "last", { max_visits: 2 });
    expect((await service.shorten({ original_url: URL, custom_code: "last" })).status).toBe(409);
    await createLink(service, "gone", { expires_at: inHours(2), password: "open sesame" });
    const path = "/api/v1/links/한글";
    const patch = { method: "PATCH", headers, body: JSON.stringify({ target: "https://example.net/" }) };
    expect((await service.fetch(path, patch)).status).toBe(200);
    for (let visit = 0; visit < 2; visit++) expect((await service.fetch("/last")).status).toBe(302);
    const report = { reason: "phishing", note: "my bank" };
    for (const [nth, reason] of ["phishing", "spam"].entries())
      await service.fetch(`${path}/reports`, {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-Forwarded-For": `192.0.2.${nth}` },
        body: JSON.stringify({ ...report, reason }),
      });
    isUp = true;
    await operate(service, "POST", "links/한글/disable", { reason: "spam" });
    await operate(service, "POST", "links/한글/enable", {});
    await operate(service, "PUT", "hosts/evil.example", { reason: "malware" });
    expect((await service.fetch(path, { method: "DELETE", headers })).status).toBe(200);
    service.advance(3 * HOUR_MS);
    await receiver.until(12);
    await operate(service, "DELETE", "links/gone?confirm=gone");
    await receiver.until(13);

    expect(receiver.faults).toEqual([]);
    const of = (subject: string) =>
      receiver.events.filter((event) => event.subject === subject).map(({ type }) => type);
    // Reports overtake other events.
    expect(of("한글").filter((type) => type !== "report.opened")).toEqual([
      "link.created",
      "link.changed",
      "link.disabled",
      "link.enabled",
      "link.withdrawn",
    ]);
    expect(of("한글").filter((type) => type === "report.opened")).toHaveLength(1);
    expect(of("last")).toEqual(["link.created", "link.expired"]);
    expect(of("gone")).toEqual(["link.created", "link.expired", "link.disabled"]);
    expect(of("evil.example")).toEqual(["host.blocked"]);
    const dataOf = (type: string, subject: string) =>
      receiver.events.find((event) => event.subject === subject && event.type === type)?.data;
    expect(dataOf("report.opened", "한글")).toMatchObject({
      short_url: `${BASE_URL}/한글/`,
      // The second report may be too late for the event.
      reasons: { phishing: 1 },
    });
    expect(dataOf("link.created", "xn--bj0bj06e.example/한글")).toMatchObject({
      short_url: "https://한글.example/한글/",
      code: "한글",
    });
    expect(dataOf("host.blocked", "evil.example")).toEqual({ host: "evil.example", reason: "malware" });
    expect(dataOf("link.created", "gone")).toMatchObject({ target: null, has_password: true });
    expect(dataOf("link.disabled", "gone")).toMatchObject({ target: null, reason: "deleted" });
    const bodies = receiver.requests.map(({ body }) => body).join();
    expect(bodies).not.toMatch(/my bank|open sesame|argon2|192\.0\.2|127\.0\.0\.1/);
    expect(bodies).not.toContain(headers.Authorization.slice("Bearer ".length));
  });
});

test("link.created says who created the link, and link.withdrawn of the same link doesn't", async () => {
  const CREATE_TOKEN = "mina:a-long-secret-of-mina";
  await using receiver = startReceiver();
  await using service = await startService({ CREATE_TOKEN, ...receiver.settings });
  const created = await service.fetch("/api/v1/links", {
    method: "POST",
    headers: { Authorization: `Bearer ${CREATE_TOKEN}` },
    body: JSON.stringify({ target: URL }),
  });
  const { code, manage_key } = ((await created.json()) as { data: Record<string, string> }).data;
  await receiver.until(1);
  const Authorization = `Bearer ${manage_key}`;
  await service.fetch(`/api/v1/links/${code}`, { method: "DELETE", headers: { Authorization } });
  await receiver.until(2);
  expect(receiver.events.map(({ type, data }) => [type, data["by"]])).toEqual([
    ["link.created", "mina"],
    ["link.withdrawn", undefined],
  ]);
});
