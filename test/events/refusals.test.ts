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
  test("are set aside while all others are sent, and can be resent", async () => {
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
    expect(attempts).toHaveLength(1);
    const ids = new Set(attempts.map(({ headers }) => headers.get("webhook-id")));
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

  test("are dropped after a day", async () => {
    using folder = temporaryFolder();
    await using receiver = startReceiver({ status: () => 400 });
    const settings = { ...(await settingsOf()), ...receiver.settings };
    const statements = await openUnserved(folder.path, settings);
    const outbox = createOutbox(statements);
    for (const [seq, atMs] of [
      [1, 0],
      [2, 2 * DAY_MS],
    ] as const)
      await statements.run(
        "INSERT INTO refused_events (seq, type, detail, at_ms) VALUES ($1, 'host.blocked', 'evil.example', $2)",
        [seq, atMs],
      );
    expect(await outbox.dropRefused(DAY_MS)).toBe(1);
    expect((await outbox.refused(0, 10)).map(({ seq }) => seq)).toEqual([2]);
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
    const [event] = await outbox.after(0, 10);
    await outbox.step({ ...step, owner: "sender", sent: [1], refused: undefined });
    // Its store failed before it could set the event aside, and it has lost its turn since.
    await outbox.step({ ...step, owner: "late", sent: [], refused: event });
    expect(await outbox.refused(0, 10)).toEqual([]);
    expect((await outbox.after(0, 10)).map(({ seq }) => seq)).toEqual([1]);
    await statements.close();
  });
});

test("temporary failures (408, 409, 410, 425, 429, 500) set no event aside", async () => {
  const statuses = [408, 409, 410, 425, 429, 500];
  await using receiver = startReceiver({ status: (nth) => statuses[nth] ?? 204 });
  await using service = await startService(receiver.settings, { limits: { events: { firstRetryMs: 1 } } });
  await service.shorten(LINK);
  await receiver.until(1);
  expect(receiver.requests.map(({ status }) => status)).toEqual([...statuses, 204]);
});
