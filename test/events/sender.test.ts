import { describe, expect, test } from "bun:test";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";

import { EventType } from "../../src/config/event-settings.ts";
import { chooseBatch, MAX_BODY, post } from "../../src/events/delivery.ts";
import { type EventRow, toCloudEvent } from "../../src/events/event-formats.ts";
import { createOutbox } from "../../src/events/outbox.ts";
import { Sender } from "../../src/events/sender.ts";
import { DAY_MS, HOUR_MS } from "../../src/links/time.ts";
import { BASE_URL, temporaryFolder } from "../support/service.ts";
import { ENGINES, openUnserved } from "./engines.ts";
import { SECRET, startReceiver } from "./receiver.ts";

type Receiver = ReturnType<typeof startReceiver>;

type Statements = Awaited<ReturnType<typeof openUnserved>>;

async function addEvents({ run }: Statements, events: Readonly<Record<string, number>>) {
  for (const [host, seq] of Object.entries(events))
    await run("INSERT INTO events (seq, type, detail) VALUES ($1, 'host.blocked', $2)", [seq, host]);
}

async function addLinkEvents({ run }: Statements, events: Readonly<Record<string, EventType>>) {
  for (const [code, type] of Object.entries(events))
    await run("INSERT INTO events (type, code, created_ms) VALUES ($1, $2, 1)", [type, code]);
}

const settingsFor = (port: number) =>
  ({
    eventsUrl: `http://127.0.0.1:${port}/events`,
    eventsSecrets: [SECRET.replace("whsec_", "")],
    eventsFormat: "cloudevents",
    eventsTypes: [EventType.hostBlocked, EventType.linkCreated, EventType.reportOpened],
    baseUrl: BASE_URL,
    domains: [],
  }) as const;

/** Returns a function that sends for about a second. */
async function startSender(statements: Statements, { port }: Receiver) {
  const settings = settingsFor(port);
  const sender = new Sender(createOutbox(statements), settings, { takeOverMs: 0, firstRetryMs: 0 });
  await sender.start(Date.now());
  return (aheadMs = 0) => sender.send(Date.now() + aheadMs, true);
}

const idsOf = ({ requests }: Receiver) => requests.map(({ headers }) => headers.get("webhook-id"));
const hostsOf = ({ requests }: Receiver) =>
  requests.map(({ body }) => (JSON.parse(body) as { subject: string }[]).map(({ subject }) => subject));

describe.each(ENGINES)("a sender in %s", (_, settingsOf) => {
  test("repeats the request of a dead one with the same events and the same id", async () => {
    using folder = temporaryFolder();
    const statements = await openUnserved(folder.path, await settingsOf());
    await using receiver = startReceiver({ status: (nth) => (nth === 0 ? 503 : 204) });
    const sendFirst = await startSender(statements, receiver);
    await addEvents(statements, { "b.example": 2, "c.example": 3 });
    await sendFirst();
    // In PostgreSQL, an event may commit after one with a higher number.
    await addEvents(statements, { "a.example": 1, "d.example": 4 });
    const sendSecond = await startSender(statements, receiver);
    while (receiver.events.length < 4) await sendSecond();
    expect(hostsOf(receiver)).toEqual([
      ["b.example", "c.example"],
      ["b.example", "c.example"],
      ["a.example", "d.example"],
    ]);
    const [first, second, third] = idsOf(receiver);
    expect(second).toBe(first ?? null);
    expect(third).not.toBe(first ?? null);
    await statements.close();
  });

  test("sends and counts an event once, even if the store fails to mark it as sent", async () => {
    using folder = temporaryFolder();
    const statements = await openUnserved(folder.path, await settingsOf());
    await using receiver = startReceiver();
    const send = await startSender(statements, receiver);
    await addEvents(statements, { "a.example": 1, "b.example": 2 });
    await statements.run("ALTER TABLE events ADD CONSTRAINT unmarkable CHECK (NOT sent)");
    expect(await send().catch((error: Error) => error.message)).toContain("unmarkable");
    await statements.run("ALTER TABLE events DROP CONSTRAINT unmarkable");
    expect(await send()).toMatchObject({ sent: 2, waiting: 0 });
    expect(hostsOf(receiver)).toEqual([["a.example", "b.example"]]);
    await statements.close();
  });

  test("sends a report although a stranger's links are refused, and these again later", async () => {
    using folder = temporaryFolder();
    const statements = await openUnserved(folder.path, await settingsOf());
    let isRefusing = true;
    const isRefused = (body: string) => isRefusing && body.includes("evil");
    await using receiver = startReceiver({ status: (_nth, body) => (isRefused(body) ? 403 : 204) });
    const send = await startSender(statements, receiver);
    const evil = Array.from({ length: 6 }, (_none, nth) => `evil${nth}`);
    await addLinkEvents(statements, Object.fromEntries(evil.map((code) => [code, EventType.linkCreated])));
    expect(await send()).toMatchObject({ waiting: 5, refused: 1 });
    await addLinkEvents(statements, { later: EventType.linkCreated, reported: EventType.reportOpened });
    const subjects = () => receiver.events.map(({ subject }) => subject);
    await send();
    // The next request was chosen before the report.
    await send();
    expect(subjects()).toEqual(["reported"]);
    for (let turn = 0; turn < 6; turn++) await send();
    expect(subjects()).toEqual(["reported", "later"]);
    expect(await send()).toMatchObject({ waiting: 0, refused: 6, sent: 2, reason: undefined });
    const before = receiver.requests.length;
    await send(HOUR_MS);
    expect(receiver.requests).toHaveLength(before + 1);
    isRefusing = false;
    await send(HOUR_MS);
    expect(subjects().toSorted()).toEqual([...evil.slice(1), "later", "reported"]);
    // The event that was refused again waits for another hour.
    await send(2 * HOUR_MS);
    expect(subjects().toSorted()).toEqual([...evil, "later", "reported"].toSorted());
    expect(idsOf(receiver).at(-1)).toBe(idsOf(receiver)[1] ?? null);
    await statements.close();
  });

  test("sets one event aside per second while the endpoint refuses everything", async () => {
    using folder = temporaryFolder();
    const statements = await openUnserved(folder.path, await settingsOf());
    let status = 401;
    await using receiver = startReceiver({ status: () => status });
    const send = await startSender(statements, receiver);
    await addEvents(statements, { "a.example": 1, "b.example": 2, "c.example": 3 });
    expect(await send()).toMatchObject({ waiting: 2, refused: 1 });
    expect(hostsOf(receiver)).toEqual([["a.example", "b.example", "c.example"], ["a.example"]]);
    status = 204;
    expect(await send()).toMatchObject({ waiting: 0, refused: 1, sent: 2 });
    await statements.close();
  });

  test("sends that links expired after a start with a clock far ahead", async () => {
    using folder = temporaryFolder();
    const statements = await openUnserved(folder.path, await settingsOf());
    await using receiver = startReceiver();
    const settings = { ...settingsFor(receiver.port), eventsTypes: [EventType.linkExpired] };
    const sender = new Sender(createOutbox(statements), settings, {});
    const nowMs = Date.now();
    await sender.start(nowMs + 365 * DAY_MS);
    await sender.send(nowMs + 365 * DAY_MS, false);
    await statements.run(
      "INSERT INTO links (code, original_url, created_ms, ends_ms) VALUES ('ending', 'https://example.com/', $1, $2)",
      [nowMs, nowMs + 1000],
    );
    await sender.send(nowMs, true);
    expect(receiver.events).toEqual([]);
    await sender.send(nowMs + HOUR_MS, true);
    expect(receiver.events.map(({ subject }) => subject)).toEqual(["ending"]);
    await statements.close();
  });

  test("sends link.expired once for each link with the same end, also if it is purged or replaced", async () => {
    using folder = temporaryFolder();
    const statements = await openUnserved(folder.path, await settingsOf());
    await using receiver = startReceiver();
    const outbox = createOutbox(statements);
    const settings = { ...settingsFor(receiver.port), eventsTypes: [EventType.linkExpired] };
    const sender = new Sender(outbox, settings, { takeOverMs: 0 });
    await sender.start(0);
    await statements.run(`
      WITH RECURSIVE nth (n) AS (SELECT 1001 UNION ALL SELECT n + 1 FROM nth WHERE n < 1502)
      INSERT INTO links (code, original_url, created_ms, ends_ms)
      SELECT CAST(n AS text), 'https://example.com/', 1, 1000 FROM nth`);
    const step = {
      turn: 0,
      endedByMs: 1000,
      dropBeforeMs: 0,
      waiting: 0,
      sent: [],
      refused: undefined,
      limit: 1,
    };
    await outbox.step({ ...step, owner: "first", chooseBatch: (rows) => rows });
    // The first 500 links have their event.
    await statements.run("DELETE FROM links WHERE code IN ('1001', '1500', '1501')");
    await statements.run("UPDATE links SET created_ms = 2, ends_ms = NULL WHERE code IN ('1002', '1499')");
    const nowMs = Date.now();
    // An event may be missing, so bound the turns. Each sends for up to a second.
    for (let turn = 0; turn < 20; turn++) await sender.send(nowMs, true);
    expect(receiver.events.map(({ subject }) => Number(subject)).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 502 }, (_none, nth) => 1001 + nth),
    );
    await statements.close();
  });
});

const rowOf = (seq: number, host: string) =>
  ({ seq, type: "host.blocked", atMs: 1, detail: host, hostReason: null }) as EventRow;

test.each([
  ...[302, 408, 409, 410, 425, 429, 500, 503].map((status) => [status, "temporary"] as const),
  ...[400, 401, 404, 413, 422].map((status) => [status, "refused"] as const),
])("a response with status %d is a failure of kind %s", async (status, kind) => {
  await using receiver = startReceiver({ status: () => status });
  const failure = await post([rowOf(1, "a.example")], settingsFor(receiver.port), Date.now());
  expect(failure).toEqual({ reason: `status ${status}`, kind });
});

test.each([
  ["endless 1xx responses", "HTTP/1.1 103 Early Hints\r\n\r\n", "temporary"],
  [
    "an endless body",
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${"1\r\na\r\n".repeat(99)}`,
    undefined,
  ],
])("%s of the endpoint don't prolong an attempt", async (_, response, kind) => {
  const flood = (socket: Socket) => {
    while (socket.writable && socket.write(response));
  };
  const server = createServer((socket) => {
    socket.on("error", () => {}).on("drain", () => flood(socket));
    socket.once("data", () => flood(socket));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  // Without an end, the test times out.
  const failure = await post([rowOf(1, "a.example")], settingsFor(port), Date.now(), { requestMs: HOUR_MS });
  expect(failure?.kind).toBe(kind as "temporary");
  server.close();
});

test("a compressed body of the endpoint is not decompressed", async () => {
  // Decompressing the body would fail, because it is damaged.
  const headers = { "Content-Encoding": "zstd" };
  using server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => new Response("no zstd", { headers }),
  });
  expect(await post([rowOf(1, "a.example")], settingsFor(server.port ?? 0), Date.now())).toBeUndefined();
});

test("a batch is limited to the longest body", () => {
  const settings = settingsFor(0);
  const bodyOf = (rows: readonly EventRow[]) =>
    JSON.stringify(rows.map((row) => toCloudEvent(row, settings)));
  const rows = Array.from({ length: 9 }, (_, nth) => rowOf(nth, "h".repeat(3000)));
  // The body contains the host twice.
  const last = (MAX_BODY - bodyOf([...rows, rowOf(10, "")]).length) / 2;
  const fitting = [...rows, rowOf(10, "h".repeat(last))];
  expect(bodyOf(fitting)).toHaveLength(MAX_BODY);
  expect(chooseBatch(fitting, settings)).toHaveLength(10);
  expect(chooseBatch([...rows, rowOf(10, "h".repeat(last + 1))], settings)).toHaveLength(9);
});
