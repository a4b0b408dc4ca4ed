import { expect } from "bun:test";

import type { Running } from "../service.ts";

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
