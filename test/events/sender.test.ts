import { describe, expect, test } from "bun:test";

import { EventType } from "../../src/config/event-settings.ts";
import { chooseBatch, MAX_BODY, post } from "../../src/events/delivery.ts";
import { type EventRow, toCloudEvent } from "../../src/events/event-formats.ts";
import { createOutbox } from "../../src/events/outbox.ts";
import { createSender } from "../../src/events/sender.ts";
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

const settingsFor = (port: number) =>
  ({
    eventsUrl: `http://127.0.0.1:${port}/events`,
    eventsSecrets: [SECRET.replace("whsec_", "")],
    eventsFormat: "cloudevents",
    eventsTypes: [EventType.hostBlocked],
    baseUrl: BASE_URL,
    domains: [],
  }) as const;

/** Returns a function that sends for about a second. */
async function startSender(statements: Statements, { port }: Receiver) {
  const settings = settingsFor(port);
  const sender = createSender(createOutbox(statements), settings, { takeOverMs: 0, firstRetryMs: 0 });
  await sender.start(Date.now());
  return () => sender.send(Date.now(), true);
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

  test("sends that links expired after a start with a clock far ahead", async () => {
    using folder = temporaryFolder();
    const statements = await openUnserved(folder.path, await settingsOf());
    await using receiver = startReceiver();
    const settings = { ...settingsFor(receiver.port), eventsTypes: [EventType.linkExpired] };
    const sender = createSender(createOutbox(statements), settings, {});
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
});

const rowOf = (seq: number, host: string) =>
  ({ seq, type: "host.blocked", atMs: 1, detail: host, hostReason: null }) as EventRow;

test.each([
  ...[302, 408, 409, 425, 429, 500, 503].map((status) => [status, "temporary"] as const),
  ...[400, 401, 404, 413, 422].map((status) => [status, "refused"] as const),
  [410, "gone"] as const,
])("a response with status %d is a failure of kind %s", async (status, kind) => {
  await using receiver = startReceiver({ status: () => status });
  const failure = await post([rowOf(1, "a.example")], settingsFor(receiver.port), Date.now());
  expect(failure).toEqual({ reason: `status ${status}`, kind });
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
