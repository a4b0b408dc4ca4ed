import { expectStatus } from "./expected.ts";
import { originalUrl, readLinks } from "./links.ts";
import { pace, type Stream } from "./pace.ts";
import { createRequest, visitTail } from "./requests.ts";
import type { Paced, PacedDone } from "./tasks.ts";

const VISIT_CONNECTIONS = 32;
/** Enough for each create to wait for two syncs of 20 ms and more. */
const CREATE_CONNECTIONS = 32;
const NOTHING = new Uint8Array();

/** Visits at a fixed rate, alone or beside creates at another one. */
export async function paced(task: Paced): Promise<PacedDone> {
  const { port, durationMs, linksFile, visitsPerSecond, createsPerSecond, run } = task;
  const tail = visitTail(port);
  // Made before, as bytes: the less there is to do while measuring, the less of it is measured.
  const requests = readLinks(linksFile).map(([code]) => Buffer.from(`GET /${code}/${tail}`));
  const streams: Stream[] = [
    {
      connections: VISIT_CONNECTIONS,
      perSecond: visitsPerSecond,
      request: (number) => requests[number % requests.length] ?? NOTHING,
      check: (answer) => expectStatus(answer, 302),
    },
  ];
  if (createsPerSecond > 0)
    streams.push({
      connections: CREATE_CONNECTIONS,
      perSecond: createsPerSecond,
      request: (number) =>
        Buffer.from(createRequest(port, JSON.stringify({ original_url: originalUrl(run, number) }))),
      check: (answer) => expectStatus(answer, 201),
    });
  const [visits, creates] = await pace(port, durationMs, streams);
  if (visits === undefined) throw new Error("nothing was measured");
  const answered = visits.requests + (creates?.requests ?? 0);
  return { requests: answered, durationMs, visits, ...(creates !== undefined && { creates }) };
}
