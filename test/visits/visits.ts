import { expect } from "bun:test";

import type { LinkKey } from "../../src/links/code.ts";
import { HOUR_MS } from "../../src/links/time.ts";
import { sendUntilTaken } from "../support/retry.ts";
import { openStoreOf, type RunningService } from "../support/service.ts";
import { slicesOf, type TestVisit } from "./slices.ts";

export const WINDOWS_CHROME =
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36";

/** Visits a link as a person, and expects a redirect. */
export async function visit(
  service: RunningService,
  code: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  const response = await service.fetch(`/${code}/`, {
    headers: { "User-Agent": WINDOWS_CHROME, ...headers },
  });
  if (response.status !== 302) throw new Error(`${code}: ${response.status}`);
}

/** Adds visits of one hour to the store without requests. Default: the hour of the link's creation. */
export async function addVisits(
  service: RunningService,
  code: string,
  visits: readonly Omit<TestVisit, "code" | "createdMs">[],
  atMs?: number,
): Promise<void> {
  await using store = await openStoreOf(service);
  const link = await store.find(code as LinkKey);
  if (link === undefined) throw new Error(`${code} does not exist`);
  const { createdMs } = link;
  const ofLink = visits.map((one) => ({ ...one, code, createdMs }));
  for (const slice of slicesOf({ hour: Math.floor((atMs ?? createdMs) / HOUR_MS), visits: ofLink }))
    await store.add(slice);
}

/** `data` of GET /api/v1/links/{code}. */
export function linkOf(service: RunningService, code: string): Promise<Record<string, unknown>> {
  return dataOf(service, `/api/v1/links/${encodeURIComponent(code)}`);
}

/** `data` of GET /api/v1/links/{code}/stats. */
export function statisticsOf(
  service: RunningService,
  code: string,
  query = "",
): Promise<Record<string, unknown>> {
  return dataOf(service, `/api/v1/links/${encodeURIComponent(code)}/stats${query}`);
}

async function dataOf(service: RunningService, path: string): Promise<Record<string, unknown>> {
  const response = await sendUntilTaken(() => service.fetch(path));
  const { data, message } = (await response.json()) as { data?: Record<string, unknown>; message: string };
  if (data === undefined) throw new Error(`${path}: ${response.status} ${message}`);
  return data;
}

/** Waits for the counts, which reach the store a moment after the visit. */
export async function untilCounted(service: RunningService, code: string, visits: number): Promise<void> {
  const countVisits = async () => Number((await linkOf(service, code))["visits"]);
  while ((await countVisits()) < visits) await Bun.sleep(10);
  expect(await countVisits()).toBe(visits);
}
