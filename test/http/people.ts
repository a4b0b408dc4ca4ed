// Shared by tests of links that belong to people whom a proxy names.
import { expect } from "bun:test";

import { type ApiCall, type ApiResponse, callApi, TARGET } from "../support/managed-links.ts";
import type { RunningService } from "../support/service.ts";

export const HEADER = "Remote-Creator";
/** The settings of a service behind a proxy on this machine that names people. */
export const PROXY = { CREATE_USER_HEADER: HEADER, TRUSTED_PROXIES: "127.0.0.1,::1" };
export const named = (name: string) => ({ [HEADER]: name });

/** Sends a request to the API as a person. */
export function callAs(
  curt: Pick<RunningService, "fetch">,
  name: string,
  method: string,
  path: string,
  { headers, ...call }: ApiCall = {},
): Promise<ApiResponse> {
  return callApi(curt, method, path, { ...call, headers: { ...headers, ...named(name) } });
}

let links = 0;

/** Creates a link as a person, with a code of its own. */
export async function createAs(curt: Pick<RunningService, "fetch">, name: string, body: object = {}) {
  const code = `of-${name}-${++links}`;
  const created = await callAs(curt, name, "POST", "/api/v1/links", {
    body: { target: TARGET, code, ...body },
  });
  expect(created.status).toBe(201);
  return { code, path: `/api/v1/links/${code}`, key: created.data.manage_key as string, data: created.data };
}
