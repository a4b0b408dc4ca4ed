import type { Target } from "../../src/links/target.ts";
import { newLink } from "../stores/links.ts";
import { type ApiResponse, callApi } from "../support/managed-links.ts";
import { openStoreOf, type RunningService } from "../support/service.ts";

export const TOKEN = "only-the-operator-knows-it";

export type Operate = (
  method: string,
  path: string,
  body?: unknown,
  ifMatch?: string,
) => Promise<ApiResponse>;

/** Sends requests to the operator's API below /api/v1/admin/. By default, decisions apply to any state of a link. */
export function operateAs(curt: Pick<RunningService, "fetch">, token = TOKEN): Operate {
  return (method, path, body, ifMatch = "*") =>
    callApi(curt, method, `/api/v1/admin/${path}`, { key: token, body, ifMatch });
}

/** The revision of a link, as the operator's pages send it. */
export async function seenOf(curt: Pick<RunningService, "fetch">, code: string): Promise<string> {
  return (await operateAs(curt)("GET", `links/${code}`)).data.revision;
}

/** Number of other links before and after those of the campaign. */
const OTHERS = 1500;
export const CAMPAIGN = { links: 60, hosts: 8 };

export const campaignHost = (nth: number) =>
  `login${nth % CAMPAIGN.hosts}.bank-${nth % CAMPAIGN.hosts}.example`;

/** Adds links to fake banks, among other links. */
export async function addCampaign(curt: RunningService): Promise<void> {
  await using store = await openStoreOf(curt);
  const add = (code: string, url: string) => newLink(code, { originalUrl: url, target: url as Target });
  const others = (from: string) =>
    Array.from({ length: OTHERS }, (_, nth) =>
      add(`${from}${nth}`, `https://site${nth % 97}.example/page/${nth}`),
    );
  const bad = Array.from({ length: CAMPAIGN.links }, (_, nth) =>
    add(`bad${nth}`, `https://${campaignHost(nth)}/verify-account/${nth}`),
  );
  for (const links of [others("before"), bad, others("after")]) await store.insert(links);
}

export async function report(curt: RunningService, code: string, body: unknown): Promise<void> {
  const { status } = await callApi(curt, "POST", `/api/v1/links/${code}/reports`, { body });
  if (status !== 202) throw new Error(`${code}: ${status}`);
}

/** Waits until a short address has this status. Every process reads decisions several times a second. */
export async function untilAnswered(curt: RunningService, code: string, status: number): Promise<void> {
  while ((await curt.fetch(`/${code}`)).status !== status) await Bun.sleep(10);
}

/** Adds links to one host. */
export async function addMany(curt: RunningService, count: number): Promise<void> {
  await using store = await openStoreOf(curt);
  const links = Array.from({ length: count }, (_, nth) => {
    const url = `https://many.example/${nth}`;
    return newLink(`many${nth}`, { originalUrl: url, target: url as Target });
  });
  await store.insert(links);
}
