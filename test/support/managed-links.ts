import { expect } from "bun:test";

import type { RunningService } from "./service.ts";

/** The target of created links, and another for changes. */
export const TARGET = "https://example.com/a";
export const OTHER = "https://example.net/b";

export interface ApiResponse {
  readonly status: number;
  readonly reason: string | null;
  readonly message: string;
  /** `data` of the envelope. */
  readonly data: any;
  readonly headers: Headers;
}

export interface ApiCall {
  readonly key?: string | undefined;
  readonly body?: unknown;
  /** `If-Match`. */
  readonly ifMatch?: string | undefined;
  /** Others. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a request to the API, and reads its envelope. */
export async function callApi(
  service: Pick<RunningService, "fetch">,
  method: string,
  path: string,
  { key, body, ifMatch, headers: others }: ApiCall = {},
): Promise<ApiResponse> {
  const response = await service.fetch(path, {
    method,
    headers: {
      ...others,
      ...(key !== undefined && { Authorization: `Bearer ${key}` }),
      ...(ifMatch !== undefined && { "If-Match": ifMatch }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const { status, headers } = response;
  const { message, data } = (await response.json()) as Pick<ApiResponse, "message" | "data">;
  return { status, reason: headers.get("curt-reason"), headers, message, data };
}

export interface ManagedLink {
  readonly code: string;
  /** In the API. */
  readonly path: string;
  readonly key: string;
  readonly data: ApiResponse["data"];
}

let links = 0;

/** Creates a link with a code of its own. */
export async function createManagedLink(
  service: Pick<RunningService, "fetch">,
  body: object = {},
): Promise<ManagedLink> {
  const code = `managed-${++links}`;
  const { status, data } = await callApi(service, "POST", "/api/v1/links", {
    body: { target: TARGET, code, ...body },
  });
  expect(status).toBe(201);
  return { code, path: `/api/v1/links/${code}`, key: data["manage_key"], data };
}

/** Where a link redirects, or the status if it doesn't. */
export async function destinationOf(
  service: Pick<RunningService, "fetch">,
  code: string,
): Promise<string | number> {
  const response = await service.fetch(`/${code}/`);
  await response.bytes();
  return response.headers.get("location") ?? response.status;
}
