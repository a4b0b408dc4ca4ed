import { expect } from "bun:test";

import type { Running } from "./service.ts";

/** Where made links lead, and where to change them to. */
export const TARGET = "https://example.com/a";
export const OTHER = "https://example.net/b";

export interface Answered {
  readonly status: number;
  readonly reason: string | null;
  readonly message: string;
  /** `data` of the envelope. */
  readonly data: any;
  readonly headers: Headers;
}

export interface Asking {
  readonly key?: string | undefined;
  readonly body?: unknown;
  /** `If-Match`. */
  readonly ifMatch?: string | undefined;
}

/** Asks the API, with a key where one is given. */
export async function ask(
  service: Pick<Running, "fetch">,
  method: string,
  path: string,
  { key, body, ifMatch }: Asking = {},
): Promise<Answered> {
  const { status, headers, ...response } = await answerOf(
    service.fetch(path, {
      method,
      headers: {
        ...(key !== undefined && { Authorization: `Bearer ${key}` }),
        ...(ifMatch !== undefined && { "If-Match": ifMatch }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }),
  );
  return { status, reason: headers.get("curt-reason"), headers, ...response };
}

async function answerOf(asked: Promise<Response>) {
  const response = await asked;
  const { message, data } = (await response.json()) as Pick<Answered, "message" | "data">;
  return { status: response.status, headers: response.headers, message, data };
}

export interface Made {
  readonly code: string;
  /** In the API. */
  readonly path: string;
  readonly key: string;
  readonly data: Answered["data"];
}

let made = 0;

/** Makes a link with a code of its own. */
export async function make(service: Pick<Running, "fetch">, body: object = {}): Promise<Made> {
  const code = `managed-${++made}`;
  const { status, data } = await ask(service, "POST", "/api/v1/links", {
    body: { target: TARGET, code, ...body },
  });
  expect(status).toBe(201);
  return { code, path: `/api/v1/links/${code}`, key: data["manage_key"], data };
}

/** Where a visitor is led, or the status of the answer if nowhere. */
export async function visited(service: Pick<Running, "fetch">, code: string): Promise<string | number> {
  const response = await service.fetch(`/${code}/`);
  await response.bytes();
  return response.headers.get("location") ?? response.status;
}
