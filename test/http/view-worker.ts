// A thread that renders views for tests. The code of the link decides how.
import { performTasks } from "../../src/lib/thread.ts";
import type { RenderedView, ViewCalls, ViewTask } from "../../src/views/task.ts";

let renderings = 0;
let failures = 0;

function render(task: ViewTask): RenderedView | Promise<RenderedView> {
  if (task.code === "crash") setTimeout(() => process.exit(1));
  if (task.code === "crash" || task.code === "never") return new Promise(() => {});
  if (task.code === "fault") throw new Error("planted");
  if (task.code === "fails once" && failures++ === 0) throw new Error("planted");
  // Changes every ten seconds.
  const etag = `"${Math.floor(task.nowMs / 10_000)}"`;
  if (/^(?:tagged|fails once)$/.test(task.code) && task.knownTag.includes(etag))
    return { status: 304, headers: JSON.stringify({ etag }), body: new Uint8Array() };
  renderings++;
  const status = task.code === "missing" ? 404 : 200;
  const headers = JSON.stringify({ "X-Asked": task.headers, ...(task.code === "tagged" && { etag }) });
  return { status, headers, body: new TextEncoder().encode(`${renderings} at ${task.nowMs}`) };
}

performTasks<ViewCalls>({ render, read: () => undefined, close: async () => {} });
