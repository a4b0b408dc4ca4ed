import { makeAll } from "./batch.ts";
import { type Call, type CallOptions, type ClientOptions, CurtError, isLike, request } from "./request.ts";
import type {
  Availability,
  ExpireDuration,
  Link,
  LinkChange,
  LinkRequest,
  ManagedLink,
  Report,
  ReportRequest,
  ShortLink,
  Statistics,
} from "./types.ts";

export { CurtError, type Failure, type FailureReason } from "./request.ts";
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

export interface KeyOptions extends CallOptions {
  /** The `manage_key` of the link. */
  readonly key?: string | undefined;
}

export interface MadeLink extends ShortLink {
  /** What the link can be changed and ended with. It is told only here; keep it. */
  readonly manage_key: string;
}

const BREAKDOWN = { values: [{ visits: 0 }], other: 0 };
const STATISTICS = {
  code: "",
  from: "",
  to: "",
  tz: "",
  visits: 0,
  bots: 0,
  series: [{ visits: 0 }],
  referrers: BREAKDOWN,
  countries: BREAKDOWN,
};

export type Client = ReturnType<typeof createClient>;

/**
 * A client of one instance. Its calls resolve with what the service tells, and reject with {@link CurtError}. They are
 * tried again if the service cannot be reached or asks for it; a retry makes no second link.
 */
export function createClient(client: ClientOptions) {
  async function ask<T>(call: Call, options: CallOptions): Promise<T> {
    return (await request<T>(client, call, options)).data;
  }

  return {
    /** Makes a link. */
    async shorten(
      url: string,
      { code, expires }: Choices = {},
      options: CallOptions = {},
    ): Promise<MadeLink> {
      const body = { original_url: url, custom_code: code, expire_duration: expires };
      const call = { method: "POST", path: "/api/v1/shorten", body, key: client.token } as const;
      const { data, headers } = await request<ShortLink>(client, call, options);
      const [, manage_key = ""] = /#key=([^>]+)>/.exec(headers.get("link") ?? "") ?? [];
      return { ...data, manage_key };
    },

    /**
     * Makes links, up to 500 with each request. Tells what became of each, in order: the link, or why it was refused. Throws
     * if a request fails as a whole; the links that it told before are made.
     */
    batch: (
      links: Iterable<LinkRequest> | AsyncIterable<LinkRequest>,
      options: CallOptions = {},
    ): AsyncGenerator<ManagedLink | CurtError> => makeAll(client, links, options),

    links: {
      /** Makes a link that may also begin later, end after some visits, or ask for a password. */
      create: (link: LinkRequest, options: CallOptions = {}): Promise<ManagedLink> =>
        ask({ method: "POST", path: "/api/v1/links", body: link, key: client.token }, options),

      /** With its key, also if it is not there for everybody yet, and with a destination that needs a password. */
      get: (code: string, { key, ...options }: KeyOptions = {}): Promise<Link> =>
        ask({ path: pathOf(code), key, isAnswer: (data) => isLike(data, { code: "", visits: 0 }) }, options),

      /** Changes what is given, and nothing else. */
      edit: (
        code: string,
        key: string,
        changes: LinkChange,
        options: CallOptions = {},
      ): Promise<ManagedLink> => ask({ method: "PATCH", path: pathOf(code), body: changes, key }, options),

      /** Ends a link for good. Its code stays taken. */
      async withdraw(code: string, key: string, options: CallOptions = {}): Promise<ManagedLink> {
        try {
          return await ask({ method: "DELETE", path: pathOf(code), key }, options);
        } catch (error) {
          // Perhaps by an attempt of which the answer was lost.
          const isEnded = error instanceof CurtError && error.reason === "link.withdrawn";
          if (isEnded) return ask({ path: pathOf(code), key }, options);
          throw error;
        }
      },

      /** How often a link was visited, and from where. */
      statistics: (
        code: string,
        query: StatisticsQuery = {},
        { key, ...options }: KeyOptions = {},
      ): Promise<Statistics> =>
        ask(
          {
            path: `${pathOf(code)}/stats?${new URLSearchParams(given(query))}`,
            key,
            isAnswer: (data) => isLike(data, STATISTICS),
          },
          options,
        ),

      /** Tells the operator about a harmful link. */
      report: (code: string, report: ReportRequest, options: CallOptions = {}): Promise<Report> =>
        ask({ method: "POST", path: `${pathOf(code)}/reports`, body: report }, options),

      /** Whether a code is free. Rejects with the reason if no link can have it. */
      availability: (code: string, options: CallOptions = {}): Promise<Availability> =>
        ask({ path: `/api/v1/codes/${encodeURIComponent(code)}` }, options),
    },
  };
}

function pathOf(code: string): string {
  return `/api/v1/links/${encodeURIComponent(code)}`;
}

function given(query: StatisticsQuery): [string, string][] {
  return Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
}
