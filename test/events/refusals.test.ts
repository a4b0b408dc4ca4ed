import { describe, expect, test } from "bun:test";

import type { EventRow } from "../../src/events/event-formats.ts";
import { createOutbox } from "../../src/events/outbox.ts";
import { DAY_MS } from "../../src/links/time.ts";
import { runAlone } from "../cli/run.ts";
import {
  BASE_URL,
  type RunningService,
  startService,
  temporaryFolder,
  untilLogged,
} from "../support/service.ts";
import { ENGINES, openUnserved } from "./engines.ts";
import { ADMIN_TOKEN, operate, type Received, startReceiver } from "./receiver.ts";

const LINK = { original_url: "https://example.com/" };
async function runEvents(
  { databaseUrl }: RunningService,
  receiver: ReturnType<typeof startReceiver>,
  ...options: string[]
) {
  const settings = { ...receiver.settings, BASE_URL, PORT: "3000", DATABASE_URL: databaseUrl };
  for (;;) {
    const result = await runAlone(["events", ...options], settings);
    // PostgreSQL on a busy machine.
    if (!result.stderr.includes("does not answer")) return result;
  }
}

describe.each(ENGINES)("refused events in %s", (_, settingsOf) => {
  test("are set aside after five attempts while all others are sent, and can be resent", async () => {
    let status = 503;
    let isRefusing = true;
    await using receiver = startReceiver({
      status: (_nth, body) =>
        status === 204 && isRefusing && body.includes('"type":"link.disabled"') ? 400 : status,
    });
    using folder = temporaryFolder();
    const settings = { ...(await settingsOf()), DATA_DIR: folder.path, ADMIN_TOKEN, ...receiver.settings };
    await using service = await startService(settings, {
      folder: folder.path,
      limits: { events: { firstRetryMs: 1 } },
    });
    const codes = ["a", "b", "c", "d", "e", "f", "g"];
    for (const custom_code of codes.slice(0, 4)) await service.shorten({ ...LINK, custom_code });
    await operate(service, "POST", "links/c/disable", { reason: "spam" });
    await operate(service, "POST", "links/c/enable", {});
    for (const custom_code of codes.slice(4)) await service.shorten({ ...LINK, custom_code });
    await untilLogged(service, "EVENTS_URL accepts no events");
    status = 204;
    await receiver.until(codes.length + 1);

    expect(receiver.events.map(({ type, subject }) => `${type} ${subject}`)).toEqual([
      ...codes.slice(0, 4).map((code) => `link.created ${code}`),
      "link.enabled c",
      ...codes.slice(4).map((code) => `link.created ${code}`),
    ]);
    const attempts = receiver.requests.filter(
      (request) => request.status === 400 && (JSON.parse(request.body) as unknown[]).length === 1,
    );
    const ids = new Set(attempts.map(({ headers }) => headers.get("webhook-id")));
    expect([attempts.length, ids.size]).toEqual([5, 1]);
    const [refused] = JSON.parse(attempts[0]?.body ?? "") as [Received];
    await untilLogged(service, "an event was set aside");
    const line = service.logged.find((one) => one.includes("an event was set aside"));
    expect(JSON.parse(line ?? "")).toMatchObject({ level: "warn", id: refused.id, reason: "status 400" });

    const output = await runEvents(service, receiver, "--refused");
    expect(JSON.parse(output.stdout)).toEqual({ ...refused, data: expect.anything() });
    expect(await runEvents(service, receiver, "--resend")).toMatchObject({ code: 1 });
    isRefusing = false;
    expect(await runEvents(service, receiver, "--resend")).toMatchObject({ code: 0 });
    expect(receiver.events.at(-1)?.id).toBe(refused.id);
    expect(ids).toContain(receiver.requests.at(-1)?.headers.get("webhook-id") ?? null);
    expect(await runEvents(service, receiver, "--refused")).toMatchObject({ code: 0, stdout: "" });
  });

  test("are kept for a week, at most the newest 1,000", async () => {
    using folder = temporaryFolder();
    await using receiver = startReceiver({ status: () => 503 });
    const settings = { ...(await settingsOf()), ...receiver.settings };
    const statements = await openUnserved(folder.path, settings);
    const outbox = createOutbox(statements);
    await statements.run(`
      WITH RECURSIVE nth (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM nth WHERE n < 1002)
      INSERT INTO events (type, detail) SELECT 'host.blocked', 'evil.example' FROM nth`);
    const rows = await outbox.after(0, 2000);
    const seqs = rows.map(({ seq }) => seq);
    const step = {
      owner: "one",
      turn: -1,
      endedByMs: 0,
      dropBeforeMs: 0,
      waiting: 1002,
      sent: [],
      limit: 10,
      chooseBatch: (waiting: readonly EventRow[]) => waiting,
    };
    const { turn = -1 } = (await outbox.readState(0)) ?? {};
    const next = await outbox.step({ ...step, turn, refused: seqs.slice(0, 1001) });
    expect(next?.batch.map(({ seq }) => seq)).toEqual(seqs.slice(1001));
    expect((await outbox.refused()).map(({ seq }) => seq)).toEqual(seqs.slice(1, 1001));
    const atMs = rows[0]?.atMs ?? 0;
    await outbox.forgetRefused(atMs + 6 * DAY_MS);
    expect(await outbox.refused()).toHaveLength(1000);
    await outbox.forgetRefused(atMs + 8 * DAY_MS);
    expect(await outbox.refused()).toEqual([]);
    await statements.close();
  });
});

describe.each(ENGINES)("an event in %s", (_, settingsOf) => {
  test("isn't set aside once another process has sent it", async () => {
    using folder = temporaryFolder();
    await using receiver = startReceiver({ status: () => 503 });
    const settings = { ...(await settingsOf()), ...receiver.settings };
    const statements = await openUnserved(folder.path, settings);
    const outbox = createOutbox(statements);
    await statements.run("INSERT INTO events (seq, type, detail) VALUES (1, 'host.blocked', 'evil.example')");
    const { turn = -1 } = (await outbox.readState(0)) ?? {};
    const step = {
      turn,
      endedByMs: 0,
      dropBeforeMs: 0,
      waiting: 1,
      limit: 10,
      chooseBatch: (waiting: readonly EventRow[]) => waiting,
    };
    await outbox.step({ ...step, owner: "sender", sent: [1], refused: [] });
    // Its store failed before it could set the event aside, and it has lost its turn since.
    await outbox.step({ ...step, owner: "late", sent: [], refused: [1] });
    expect(await outbox.refused()).toEqual([]);
    expect((await outbox.after(0, 10)).map(({ seq }) => seq)).toEqual([1]);
    await statements.close();
  });
});

test("temporary failures (408, 409, 425, 429, 500) set no event aside", async () => {
  const statuses = [408, 409, 425, 429, 429, 500];
  await using receiver = startReceiver({ status: (nth) => statuses[nth] ?? 204 });
  await using service = await startService(receiver.settings, { limits: { events: { firstRetryMs: 1 } } });
  await service.shorten(LINK);
  await receiver.until(1);
  expect(receiver.requests.map(({ status }) => status)).toEqual([...statuses, 204]);
});

test("410 Gone pauses sending until curt events --resend", async () => {
  using folder = temporaryFolder();
  let status = 410;
  await using receiver = startReceiver({ status: () => status });
  await using program = await startProgram(
    { METRICS_PORT: "0", ...receiver.settings },
    { folder: folder.path },
  );
  const address = await addressOf(program);
  await program.shorten({ ...LINK, custom_code: "a" });
  await untilLogged(program, "EVENTS_URL is gone");
  await scrapeUntil(address, "sending is paused", ({ of }) => of("curt_events_paused") === 1);
  await program.shorten({ ...LINK, custom_code: "b" });
  status = 204;
  // The owner of a paused store keeps taking turns, so that no other process sends to the endpoint.
  const statements = await openStatements(program.database);
  const outbox = createOutbox(statements);
  const turnOf = async () => (await outbox.readState(0))?.turn ?? 0;
  const turn = await turnOf();
  while ((await turnOf()) < turn + 2) await Bun.sleep(50);
  await statements.close();
  expect(receiver.requests).toHaveLength(1);
  expect(await runEvents(program, receiver, "--resend")).toMatchObject({ code: 0 });
  await receiver.until(2);
  await scrapeUntil(address, "sending resumes", ({ of }) => of("curt_events_paused") === 0);
  expect((await scrape(address)).of('curt_events_total{outcome="refused"}')).toBe(0);
});
