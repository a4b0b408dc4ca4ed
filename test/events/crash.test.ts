import { describe, expect, spyOn, test } from "bun:test";

import { readConfig } from "../../src/config/config.ts";
import { openEvents } from "../../src/events/events-thread.ts";
import { createLog } from "../../src/lib/log.ts";
import { createClock } from "../../src/links/clock.ts";
import { BASE_URL, startService, temporaryFolder } from "../support/service.ts";
import { ENGINES } from "./engines.ts";
import { startReceiver } from "./receiver.ts";

const LINK = { original_url: "https://example.com/" };

describe.each(ENGINES)("the thread for events in %s", (_, settingsOf) => {
  test("starts again after a crash, logs it once, and its counters continue", async () => {
    using folder = temporaryFolder();
    await using receiver = startReceiver();
    const settings = { ...(await settingsOf()), DATA_DIR: folder.path };
    await using service = await startService(settings, { folder: folder.path });
    const config = readConfig({
      BASE_URL,
      PORT: "0",
      DATABASE_URL: service.databaseUrl,
      ...receiver.settings,
    });
    const workers: Worker[] = [];
    const NativeWorker = globalThis.Worker;
    using _spy = spyOn(globalThis, "Worker").mockImplementation(((address: URL) => {
      const worker = new NativeWorker(address);
      workers.push(worker);
      return worker;
    }) as never);
    const clock = createClock(Date.now, () => performance.now());
    const faults: unknown[] = [];
    const limits = { takeOverMs: 0 };
    const events = await openEvents(config, createLog("error", process.stdout), clock, limits, (fault) =>
      faults.push(fault),
    );
    const untilSent = async (count: number) => {
      for (let waits = 0; waits < 1000 && events.figures().sent < count; waits++) await Bun.sleep(20);
      return receiver.events.map(({ subject }) => subject);
    };
    await service.shorten({ ...LINK, custom_code: "before" });
    expect(await untilSent(1)).toEqual(["before"]);
    workers[0]?.terminate();
    await service.shorten({ ...LINK, custom_code: "after" });
    expect(await untilSent(2)).toEqual(["before", "after"]);
    expect(events.figures().sent).toBe(2);
    expect(faults.map(String)).toEqual(["ThreadEnded: A worker thread ended: it exited"]);
    workers[1]?.terminate();
    await events.close();
  });
});
