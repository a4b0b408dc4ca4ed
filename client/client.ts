import { type CallOptions, type ClientOptions, request } from "./request.ts";
import type {
  Availability,
  ExpireDuration,
  Link,
  Report,
  ReportRequest,
  ShortLink,
  Statistics,
} from "./types.ts";

export { CurtError, type Failure } from "./error.ts";
export type { CallOptions, ClientOptions } from "./request.ts";
export type * from "./types.ts";

export interface Choices {
  /** The code you want. Default: the service makes one. */
  readonly code?: string | null | undefined;
  readonly expires?: ExpireDuration | null | undefined;
}

export interface StatisticsQuery {
  /** The first day, such as `2026-11-21`. */
  readonly from?: string | undefined;
  /** The last day, included. */
  readonly to?: string | undefined;
  readonly interval?: Statistics["interval"] | undefined;
  /** The time zone of days and hours, such as `Asia/Seoul`. */
  readonly tz?: string | undefined;
}

export type Client = ReturnType<typeof createClient>;

/**
 * A client of one instance. Its calls resolve with what the service tells, and reject with {@link CurtError}. They are
 * tried again if the service cannot be reached or asks for it; a retry makes no second link.
 */
export function createClient(client: ClientOptions) {
  const get = <T>(path: string, options: CallOptions) => ask<T>("GET", path, undefined, options);
  async function ask<T>(
    method: "GET" | "POST",
    path: string,
    body: unknown,
    options: CallOptions,
  ): Promise<T> {
    return (await request<T>(client, { method, path, body }, options)).data;
  }

  return {
    /** Makes a link. */
    shorten: (url: string, { code, expires }: Choices = {}, options: CallOptions = {}): Promise<ShortLink> =>
      ask(
        "POST",
        "/api/v1/shorten",
        { original_url: url, custom_code: code, expire_duration: expires },
        options,
      ),

    links: {
      get: (code: string, options: CallOptions = {}): Promise<Link> => get(pathOf(code), options),

      /** How often a link was visited, and from where. */
      statistics: (
        code: string,
        query: StatisticsQuery = {},
        options: CallOptions = {},
      ): Promise<Statistics> => get(`${pathOf(code)}/stats?${new URLSearchParams(given(query))}`, options),

      /** Tells the operator about a harmful link. */
      report: (code: string, report: ReportRequest, options: CallOptions = {}): Promise<Report> =>
        ask("POST", `${pathOf(code)}/reports`, report, options),

      /** Whether a code is free. Rejects with the reason if no link can have it. */
      availability: (code: string, options: CallOptions = {}): Promise<Availability> =>
        get(`/api/v1/codes/${encodeURIComponent(code)}`, options),
    },
  };
}

function pathOf(code: string): string {
  return `/api/v1/links/${encodeURIComponent(code)}`;
}

function given(query: StatisticsQuery): [string, string][] {
  return Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
}
