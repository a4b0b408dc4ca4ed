import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { Client } from "pg";
import { Webhook } from "standardwebhooks";

import { DAY_MS } from "../../src/links/time.ts";
import { importTo, exportOf } from "../cli/export-file.ts";
import { runAlone } from "../cli/run.ts";
import { startWithClock } from "../links/wrong-clock.ts";
import { addressOf, scrape } from "../metrics/scrape.ts";
import { freePort } from "../support/free-port.ts";
import { sharePostgres } from "../support/postgres.ts";
import {
  BASE_URL,
  endLink,
  openStoreOf,
  PROGRAM,
  ROOT,
  startService,
  startProgram,
  temporaryFolder,
  untilLogged,
} from "../support/service.ts";
import { ADMIN_TOKEN, OLD_SECRET, operate, type Received, SECRET, startReceiver } from "./receiver.ts";

const LINK = { original_url: "https://example.com/" };
const subjects = (events: readonly Received[]) => events.map(({ subject }) => subject);

test("another process sends the events of a killed one with the same ids", async () => {
  using folder = temporaryFolder();
  let isUp = false;
  await using receiver = startReceiver({ status: () => (isUp ? 204 : 302) });
  const options = { folder: folder.path };
  const killed = await startProgram({ METRICS_PORT: "0", ...receiver.settings }, options);
  for (const custom_code of ["a", "b"]) await killed.shorten({ ...LINK, custom_code });
  await untilLogged(killed, "EVENTS_URL accepts no events");
  const metrics = await scrape(await addressOf(killed));
  expect(metrics.of("curt_events_waiting")).toBeGreaterThan(0);
  expect(metrics.of("curt_events_failures_total")).toBeGreaterThan(0);
  expect(metrics.of('curt_events_total{outcome="sent"}')).toBe(0);
  killed.kill("SIGKILL");
  await killed.exited;
  isUp = true;
  await using service = await startService(receiver.settings, {
    ...options,
    limits: { events: { takeOverMs: 50 } },
  });
  await receiver.until(2);
  expect(subjects(receiver.events)).toEqual(["a", "b"]);
  const [first, ...others] = receiver.requests;
  expect(first?.status).toBe(302);
  const idOf = (request = first) => request?.headers.get("webhook-id");
  const retry = others.find(({ body }) => body === first?.body);
  if (retry !== undefined) expect(idOf(retry)).toBe(idOf());
  expect(first?.body).toContain(receiver.events[0]?.id ?? "none");
  expect(service.logged.join()).not.toContain("error");
});

test("one of several processes sends all events in batches of at most 100, and another takes over when it stops", async () => {
  using folder = temporaryFolder();
  await using receiver = startReceiver();
  await using first = await startService(receiver.settings, { folder: folder.path });
  const codes = (letter: string) => Array.from({ length: 120 }, (_, nth) => `${letter}${nth}`);
  {
    await using second = await startService(receiver.settings, { folder: folder.path });
    await Promise.all(codes("a").map((custom_code) => first.shorten({ ...LINK, custom_code })));
    await Promise.all(codes("b").map((custom_code) => second.shorten({ ...LINK, custom_code })));
    await receiver.until(240);
  }
  await Promise.all(codes("c").map((custom_code) => first.shorten({ ...LINK, custom_code })));
  await receiver.until(360);
  expect(subjects(receiver.events).toSorted()).toEqual(
    [...codes("a"), ...codes("b"), ...codes("c")].toSorted(),
  );
  expect(Math.max(...receiver.requests.map(({ body }) => (JSON.parse(body) as unknown[]).length))).toBe(100);
});

test("the event of a late commit is sent, even after later events", async () => {
  const postgres = await sharePostgres();
  const DATABASE_URL = await postgres.url("late");
  using folder = temporaryFolder();
  await using receiver = startReceiver();
  await using service = await startService({ DATABASE_URL, DATA_DIR: folder.path, ...receiver.settings });
  await service.shorten({ ...LINK, custom_code: "early" });
  const client = new Client({ connectionString: DATABASE_URL });
  await client.connect();
  await client.query("BEGIN; UPDATE links SET disabled = 'spam' WHERE code = 'early'");
  await service.shorten({ ...LINK, custom_code: "later" });
  await receiver.until(2);
  await client.query("COMMIT");
  await client.end();
  await receiver.until(3);
  expect(receiver.events.map(({ type, subject }) => `${type} ${subject}`)).toEqual([
    "link.created early",
    "link.created later",
    "link.disabled early",
  ]);
});

test("neither creates nor a stop wait for an endpoint that doesn't answer", async () => {
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  const { promise: requested, resolve: request } = Promise.withResolvers<void>();
  using server = Bun.serve({
    port: 0,
    async fetch() {
      request();
      await answered;
      return new Response();
    },
  });
  const service = await startService({
    EVENTS_URL: `http://localhost:${server.port}/`,
    EVENTS_SECRET: SECRET,
  });
  await service.shorten(LINK);
  await requested;
  for (let nth = 0; nth < 50; nth++) expect((await service.shorten(LINK)).status).toBe(201);
  await service[Symbol.asyncDispose]();
  answer();
});

test("purging or replacing an ended link sends its link.expired first", async () => {
  await using receiver = startReceiver();
  await using service = await startService({ CODE_HOLD: "0s", ...receiver.settings });
  const replaced = { ...LINK, custom_code: "replaced" };
  await service.shorten(replaced);
  await service.shorten({ ...LINK, custom_code: "purged" });
  // After the service's start, and too late for the regular check of expired links.
  const endsMs = service.nowMs();
  for (const code of ["replaced", "purged"]) await endLink(service, code, endsMs);
  while ((await service.shorten(replaced)).status !== 201) await Bun.sleep(5);
  await using store = await openStoreOf(service);
  expect(await store.purge(endsMs, 10)).toBe(1);
  await receiver.until(7);
  const typesOf = (code: string) =>
    receiver.events.filter(({ subject }) => subject === code).map(({ type }) => type);
  expect(typesOf("replaced")).toEqual(["link.created", "link.changed", "link.expired", "link.created"]);
  expect(typesOf("purged")).toEqual(["link.created", "link.changed", "link.expired"]);
  const expired = receiver.events.find(
    ({ type, subject }) => type === "link.expired" && subject === "replaced",
  );
  expect(expired?.data["created_at"]).toBe(receiver.events[0]?.data["created_at"]);
});

test("an import sends no events", async () => {
  using folder = temporaryFolder();
  const pathOf = (name: string) => join(folder.path, name);
  {
    await using source = await startService({ ADMIN_TOKEN, DATABASE_URL: `sqlite:${pathOf("source.db")}` });
    await source.shorten({ ...LINK, custom_code: "imported" });
    await operate(source, "PUT", "hosts/evil.example", { reason: "malware" });
  }
  const file = await exportOf({ engine: "sqlite", path: pathOf("source.db") });
  await using receiver = startReceiver();
  const DATABASE_URL = `sqlite:${pathOf("curt.db")}`;
  await (await startService({ DATABASE_URL, ...receiver.settings }))[Symbol.asyncDispose]();
  expect(await importTo({ engine: "sqlite", path: pathOf("curt.db") }, file)).toBeTrue();
  await using service = await startService({ DATABASE_URL, ...receiver.settings });
  await Bun.write(pathOf("links.csv"), "code,url\ncsv,https://example.com/\n");
  const imported = await runAlone(["import", pathOf("links.csv")], { DATABASE_URL, PORT: "3000" });
  expect(imported).toMatchObject({ code: 0 });
  expect((await service.fetch("/csv")).status).toBe(302);
  await service.shorten({ ...LINK, custom_code: "new" });
  await receiver.until(1);
  expect(subjects(receiver.events)).toEqual(["new"]);
});

test("events older than a day or beyond the newest 100,000 are dropped, and the log counts them", async () => {
  await using receiver = startReceiver({ status: () => 500 });
  await using service = await startService(receiver.settings);
  {
    using database = new Database(service.file);
    database.run("INSERT INTO events (type, at_ms) VALUES ('host.blocked', 1), ('host.blocked', 2)");
    database.run(`
      WITH RECURSIVE nth (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM nth WHERE n < 100150)
      INSERT INTO events (type, detail) SELECT 'host.blocked', 'evil.example' FROM nth`);
  }
  await untilLogged(service, "events were dropped");
  const line = service.logged.find((one) => one.includes("events were dropped"));
  expect(JSON.parse(line ?? "")).toMatchObject({ level: "warn", dropped: 152 });
  using database = new Database(service.file);
  expect(database.query("SELECT count(*) AS count FROM events").get()).toEqual({ count: 100_000 });
});

test("an endpoint with a backlog gets the newest 100,000 events", async () => {
  await using receiver = startReceiver();
  await using service = await startService(receiver.settings);
  using database = new Database(service.file);
  database.run(`
    WITH RECURSIVE nth (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM nth WHERE n < 100500)
    INSERT INTO events (type, detail) SELECT 'host.blocked', 'evil.example' FROM nth`);
  await receiver.until(3000);
  const waiting = database.query<{ id: string }, []>(
    "SELECT at_ms || '-' || seq AS id FROM events WHERE NOT sent",
  );
  const ids = new Set([...waiting.all(), ...receiver.events].map(({ id }) => id));
  expect(ids.size).toBe(100_000);
});

test("a jump of the clock by two days drops no waiting event", async () => {
  using folder = temporaryFolder();
  let isUp = false;
  await using receiver = startReceiver({ status: () => (isUp ? 204 : 500) });
  const { program, setWall } = await startWithClock(folder.path, receiver.settings);
  await using _ = program;
  await program.shorten(LINK);
  await untilLogged(program, "EVENTS_URL accepts no events");
  setWall(2 * DAY_MS, 0);
  await untilLogged(program, "the clock has jumped");
  const before = receiver.requests.length;
  const isDropped = () => program.logged.some((line) => line.includes("events were dropped"));
  while (receiver.requests.length === before && !isDropped()) await Bun.sleep(20);
  expect(isDropped()).toBeFalse();
  isUp = true;
  await receiver.until(1);
});

test("recording continues after a jump of the clock has stopped it", async () => {
  await using receiver = startReceiver();
  await using service = await startService(receiver.settings);
  using database = new Database(service.file);
  database.run("UPDATE event_sender SET renewed = datetime('now', '-2 days')");
  while (database.query("SELECT 1 FROM event_recording").get() === null) await Bun.sleep(20);
  await service.shorten(LINK);
  await receiver.until(1);
});

test("long events are sent in requests with less than 100,000 characters", async () => {
  let isUp = false;
  await using receiver = startReceiver({ status: () => (isUp ? 204 : 500) });
  await using service = await startService(receiver.settings);
  for (let nth = 0; nth < 30; nth++)
    await service.shorten({ original_url: `https://example.com/${"a".repeat(8000)}` });
  isUp = true;
  await receiver.until(30);
  // The default limit of Express, for example.
  expect(Math.max(...receiver.requests.map(({ body }) => body.length))).toBeLessThan(100_000);
});

describe("webhook-id", () => {
  const idsOf = ({ requests }: ReturnType<typeof startReceiver>) =>
    requests.map(({ headers }) => headers.get("webhook-id"));

  test("differs for events with the same text", async () => {
    await using receiver = startReceiver();
    const settings = { ...receiver.settings, ADMIN_TOKEN, EVENTS_FORMAT: "text" };
    await using service = await startService(settings);
    await service.shorten({ ...LINK, custom_code: "a" });
    for (const action of ["disable", "enable", "disable"])
      await operate(service, "POST", `links/a/${action}`, { reason: "spam" });
    while (receiver.requests.length < 2) await Bun.sleep(5);
    expect(new Set(receiver.requests.map(({ body }) => body)).size).toBe(1);
    expect(new Set(idsOf(receiver)).size).toBe(2);
  });

  test("stays the same for a retry, even if the link has changed and more events wait", async () => {
    let isUp = false;
    await using receiver = startReceiver({ status: () => (isUp ? 204 : 503) });
    await using service = await startService({ ADMIN_TOKEN, ...receiver.settings });
    await service.shorten({ ...LINK, custom_code: "a" });
    await untilLogged(service, "EVENTS_URL accepts no events");
    await operate(service, "POST", "links/a/disable", { reason: "spam" });
    isUp = true;
    await receiver.until(2);
    const [first, ...others] = receiver.requests.filter(({ body }) => body.includes("link.created"));
    const retry = others.find(({ status }) => status === 204);
    expect(retry?.body).not.toBe(first?.body);
    expect(retry?.headers.get("webhook-id")).toBe(first?.headers.get("webhook-id"));
    expect(idsOf(receiver).at(-1)).not.toBe(first?.headers.get("webhook-id"));
  });
});

test("a timeout of the endpoint is logged as TimeoutError", async () => {
  const { promise: stopped, resolve: stop } = Promise.withResolvers<Response>();
  using server = Bun.serve({ port: 0, fetch: () => stopped });
  const settings = { EVENTS_URL: `http://localhost:${server.port}/`, EVENTS_SECRET: SECRET };
  await using service = await startService(settings, { limits: { events: { requestMs: 50 } } });
  await service.shorten(LINK);
  await untilLogged(service, "EVENTS_URL accepts no events");
  expect(service.logged.join()).toContain('"reason":"TimeoutError"');
  stop(new Response());
});

test("a chat room gets one line per alarm, without mentions", async () => {
  const requests: { readonly type: string | null; readonly body: unknown }[] = [];
  using server = Bun.serve({
    port: 0,
    async fetch(request) {
      requests.push({ type: request.headers.get("Content-Type"), body: await request.json() });
      return new Response("ok");
    },
  });
  const settings = {
    ADMIN_TOKEN,
    EVENTS_FORMAT: "text",
    EVENTS_URL: `http://[::1]:${server.port}/hooks/abc`,
  };
  await using service = await startService(settings);
  await service.shorten({ ...LINK, custom_code: "세일" });
  await service.fetch("/api/v1/links/세일/reports", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ reason: "phishing" }),
  });
  await operate(service, "POST", "links/세일/disable", { reason: "phishing" });
  // Chat rooms read <!channel> as a mention of everybody.
  await Bun.write(
    service.file.replace("curt.db", "odd.csv"),
    "code,url\n<!channel> %\u202E?,https://example.com/\n",
  );
  const command = ["import", "--keep-odd", service.file.replace("curt.db", "odd.csv")];
  expect(await runAlone(command, { DATABASE_URL: service.databaseUrl, PORT: "3000" })).toMatchObject({
    code: 0,
  });
  await operate(service, "POST", `links/${encodeURIComponent("<!channel> %\u202E?")}/disable`, {
    reason: "spam",
  });
  while (requests.length < 3) await Bun.sleep(5);
  expect(requests).toEqual([
    { type: "application/json", body: { text: `Reported (phishing): ${BASE_URL}/세일+` } },
    { type: "application/json", body: { text: `Disabled (phishing): ${BASE_URL}/세일+` } },
    {
      type: "application/json",
      body: { text: `Disabled (spam): ${BASE_URL}/%3C!channel%3E%20%25%E2%80%AE%3F+` },
    },
  ]);
});

test("every secret signs events, and the receiver of docs/events.md accepts only signed ones", async () => {
  const [, receiver = ""] =
    /```js\n([^]*?)```/.exec(readFileSync(join(ROOT, "docs/events.md"), "utf8")) ?? [];
  expect(
    receiver
      .trim()
      .split("\n")
      .filter((line) => line !== "").length,
  ).toBeLessThanOrEqual(20);
  using folder = temporaryFolder();
  await Bun.write(join(folder.path, "receiver.mjs"), receiver);
  const port = await freePort();
  await using child = Bun.spawn([process.execPath, join(folder.path, "receiver.mjs")], {
    env: { EVENTS_SECRET: OLD_SECRET, PORT: String(port) },
    stdout: "pipe",
  });
  const address = `http://127.0.0.1:${port}/`;
  const post = (headers: Record<string, string>) =>
    fetch(address, { method: "POST", headers, body: "[]" }).then(
      ({ status }) => status,
      () => 0,
    );
  while ((await post({})) === 0) await Bun.sleep(20);
  expect(await post({})).toBe(401);
  const now = new Date();
  const signed = (secret: string, at: Date) => ({
    "webhook-id": "msg_1",
    "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
    "webhook-signature": new Webhook(secret).sign("msg_1", at, "[]"),
  });
  expect(await post(signed(OLD_SECRET, now))).toBe(204);
  expect(await post(signed(SECRET, now))).toBe(401);
  expect(await post(signed(OLD_SECRET, new Date(now.getTime() - 600_000)))).toBe(401);
  const settings = { EVENTS_URL: address, EVENTS_SECRET: `${SECRET}, ${OLD_SECRET}` };
  await using service = await startService(settings);
  await service.shorten({ ...LINK, custom_code: "signed" });
  for await (const chunk of child.stdout) {
    expect(new TextDecoder().decode(chunk)).toBe("link.created signed\n");
    break;
  }
  child.kill();
});

test("curt events prints recorded events, and --follow prints new ones", async () => {
  await using receiver = startReceiver();
  await using service = await startService(receiver.settings);
  await service.shorten({ ...LINK, custom_code: "printed" });
  await receiver.until(1);
  const settings = { ...receiver.settings, BASE_URL, PORT: "3000", DATABASE_URL: service.databaseUrl };
  const { code, stdout } = await runAlone(["events"], settings);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toEqual(receiver.events[0] ?? {});
  const child = Bun.spawn([process.execPath, PROGRAM, "events", "--follow"], {
    env: { ...process.env, ...settings },
    stdout: "pipe",
  });
  let output = "";
  for await (const chunk of child.stdout) {
    output += new TextDecoder().decode(chunk);
    const lines = output.split("\n").length - 1;
    if (lines === 1) await service.shorten({ ...LINK, custom_code: "followed" });
    if (lines === 2) break;
  }
  child.kill();
  const events = output
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Received);
  expect(subjects(events)).toEqual(["printed", "followed"]);
});
