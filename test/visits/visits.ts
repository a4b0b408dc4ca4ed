import { expect } from "bun:test";

import type { LinkKey } from "../../src/links/code.ts";
import { HOUR_MS } from "../../src/links/time.ts";
import { openStoreOf, type Running } from "../service.ts";
import { slicesOf, type Told } from "./slices.ts";

export const WINDOWS_CHROME =
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36";

/** A person's visit, which leads somewhere. */
export async function visit(
  service: Running,
  code: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  const response = await service.fetch(`/${code}/`, {
    headers: { "User-Agent": WINDOWS_CHROME, ...headers },
  });
  if (response.status !== 302) throw new Error(`${code}: ${response.status}`);
}

/** Visits of one hour, by default that in which their link was made, straight into the store: without a request for each. */
export async function addVisits(
  service: Running,
  code: string,
  visits: readonly Omit<Told, "code" | "createdMs">[],
  atMs?: number,
): Promise<void> {
  await using store = await openStoreOf(service);
  const link = await store.find(code as LinkKey);
  if (link === undefined) throw new Error(`${code} is not there`);
  const { createdMs } = link;
  const told = visits.map((visited) => ({ ...visited, code, createdMs }));
  for (const slice of slicesOf({ hour: Math.floor((atMs ?? createdMs) / HOUR_MS), visits: told }))
    await store.add(slice);
}

/** `data` of GET /api/v1/links/{code}. */
export function linkOf(service: Running, code: string): Promise<Record<string, unknown>> {
  return dataOf(service, `/api/v1/links/${encodeURIComponent(code)}`);
}

/** `data` of GET /api/v1/links/{code}/stats. */
export function statisticsOf(service: Running, code: string, query = ""): Promise<Record<string, unknown>> {
  return dataOf(service, `/api/v1/links/${encodeURIComponent(code)}/stats${query}`);
}

async function dataOf(service: Running, path: string): Promise<Record<string, unknown>> {
  const response = await service.fetch(path);
  const { data, message } = (await response.json()) as { data?: Record<string, unknown>; message: string };
  if (data === undefined) throw new Error(`${path}: ${response.status} ${message}`);
  return data;
}

/** Counts reach the store a moment after the visit. */
export async function untilCounted(service: Running, code: string, visits: number): Promise<void> {
  const counted = async () => Number((await linkOf(service, code))["visits"]);
  while ((await counted()) < visits) await Bun.sleep(10);
  expect(await counted()).toBe(visits);
}
