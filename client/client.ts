import { createAll } from "./batch.ts";
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
  /** The code you want. Default: a generated one. */
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
  /** The key to change or end the link. Save it: no other call returns it. */
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
 * Creates a client of one instance. Its calls resolve with data, and reject with {@link CurtError}. They are retried if
 * the instance can't be reached or asks for it. A retry never creates a second link.
 */
export function createClient(client: ClientOptions) {
  async function send<T>(call: Call, options: CallOptions): Promise<T> {
    return (await request<T>(client, call, options)).data;
  }

  return {
    /** Creates a link. */
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
     * Creates links, up to 500 with each request. Yields the outcome of each, in order: the link, or why it was refused.
     * Throws if a request fails as a whole; the links before that exist.
     */
    batch: (
      links: Iterable<LinkRequest> | AsyncIterable<LinkRequest>,
      options: CallOptions = {},
    ): AsyncGenerator<ManagedLink | CurtError> => createAll(client, links, options),

    links: {
      /** Creates a link that may also start later, end after some visits, or require a password. */
      create: (link: LinkRequest, options: CallOptions = {}): Promise<ManagedLink> =>
        send({ method: "POST", path: "/api/v1/links", body: link, key: client.token }, options),

      /** Reads a link. With its key, even before its start, and with a destination behind a password. */
      get: (code: string, { key, ...options }: KeyOptions = {}): Promise<Link> =>
        send(
          { path: pathOf(code), key, isExpected: (data) => isLike(data, { code: "", visits: 0 }) },
          options,
        ),

      /** Changes the given fields of a link. */
      edit: (
        code: string,
        key: string,
        changes: LinkChange,
        options: CallOptions = {},
      ): Promise<ManagedLink> => send({ method: "PATCH", path: pathOf(code), body: changes, key }, options),

      /** Ends a link permanently. Its code stays taken. */
      async withdraw(code: string, key: string, options: CallOptions = {}): Promise<ManagedLink> {
        try {
          return await send({ method: "DELETE", path: pathOf(code), key }, options);
        } catch (error) {
          // Perhaps by an attempt whose response was lost.
          const isEnded = error instanceof CurtError && error.reason === "link.withdrawn";
          if (isEnded) return send({ path: pathOf(code), key }, options);
          throw error;
        }
      },

      /** Reads how often a link was visited, and from where. */
      statistics: (
        code: string,
        query: StatisticsQuery = {},
        { key, ...options }: KeyOptions = {},
      ): Promise<Statistics> =>
        send(
          {
            path: `${pathOf(code)}/stats?${new URLSearchParams(given(query))}`,
            key,
            isExpected: (data) => isLike(data, STATISTICS),
          },
          options,
        ),

      /** Reports a harmful link to the operator. */
      report: (code: string, report: ReportRequest, options: CallOptions = {}): Promise<Report> =>
        send({ method: "POST", path: `${pathOf(code)}/reports`, body: report }, options),

      /** Says whether a code is free. Rejects with the reason if no link can have it. */
      availability: (code: string, options: CallOptions = {}): Promise<Availability> =>
        send({ path: `/api/v1/codes/${encodeURIComponent(code)}` }, options),
    },
  };
}

function pathOf(code: string): string {
  return `/api/v1/links/${encodeURIComponent(code)}`;
}

function given(query: StatisticsQuery): [string, string][] {
  return Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
}
