import { expect, test } from "bun:test";

import { startThread } from "../../src/lib/thread.ts";
import type { ViewCalls, ViewTask } from "../../src/views/task.ts";

test("a task that can't be sent is rejected, and the next one gets its own result", async () => {
  const worker = () => new Worker(new URL("../http/view-worker.ts", import.meta.url));
  const thread = startThread<ViewCalls>(worker, {}, () => {});
  const taskFor = (code: string, data: unknown): ViewTask => ({
    at: "GET /{code}+",
    keyPrefix: "",
    code,
    query: "",
    headers: code,
    knownTag: "",
    data,
    nowMs: 0,
    rulesVersion: 0,
  });
  const first = thread.perform(
    "render",
    taskFor("a", () => "functions can't be copied"),
  );
  const second = thread.perform("render", taskFor("b", undefined));
  const third = thread.perform("render", taskFor("missing", undefined)).catch(() => undefined);
  expect(await first.catch(() => "rejected")).toBe("rejected");
  expect((await second).status).toBe(200);
  thread.terminate();
  await third;
});
