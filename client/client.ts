import { createAll } from "./batch.ts";
import { type Call, type CallOptions, type ClientOptions, CurtError, isLike, request } from "./request.ts";
import type {
  Availability,
  Link,
  LinkChange,
  LinkRequest,
  ManagedLink,
  Report,
  ReportRequest,
  ShortenRequest,
  ShortLink,
  Statistics,
} from "./types.ts";

export { CurtError, type Failure, type FailureReason } from "./request.ts";
export type { CallOptions, ClientOptions } from "./request.ts";
export type * from "./types.ts";

export type Choices = Omit<ShortenRequest, "original_url">;

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

export interface ChangeOptions extends CallOptions {
  /**
   * Changes nothing if the link's `etag` is another one: rejects with `precondition.failed`. If a response is lost, its retry
   * does so as well.
   */
  readonly ifMatch?: string | undefined;
}

export type Revision<T> = T & {
  /** The link's revision, for `ifMatch`. */
  readonly etag: string;
};

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

  async function sendForRevision<T>(call: Call, options: CallOptions): Promise<Revision<T>> {
    const { data, headers } = await request<T>(client, call, options);
    return { ...data, etag: headers.get("etag") ?? "" };
  }

  return {
    /** Creates a link. */
    async shorten(url: string, choices: Choices = {}, options: CallOptions = {}): Promise<MadeLink> {
      const body: ShortenRequest = { original_url: url, ...choices };
      const call = { method: "POST", path: "/api/v1/shorten", body, key: client.token } as const;
      const { data, headers } = await request<ShortLink>(client, call, options);
      const [, manage_key = ""] = /#key=([^>]+)>/.exec(headers.get("link") ?? "") ?? [];
      return { ...data, manage_key };
    },

    /** Says whether a code is free. Rejects with the reason if no link can have it. */
    checkCode: (code: string, options: CallOptions = {}): Promise<Availability> =>
      send({ path: pathOf(code, "codes") }, options),

    links: {
      /** Creates a link that may also start later, end after some visits, or require a password. */
      create: (link: LinkRequest, options: CallOptions = {}): Promise<ManagedLink> =>
        send({ method: "POST", path: "/api/v1/links", body: link, key: client.token }, options),

      /**
       * Creates links, up to 500 with each request. Yields the outcome of each, in order: the link, or why it was refused.
       * Throws if a request fails as a whole; the links before that exist.
       */
      createAll: (
        links: Iterable<LinkRequest> | AsyncIterable<LinkRequest>,
        options: CallOptions = {},
      ): AsyncGenerator<ManagedLink | CurtError> => createAll(client, links, options),

      /** Reads a link. With its key, even before its start, and with a destination behind a password. */
      get: (code: string, { key, ...options }: KeyOptions = {}): Promise<Revision<Link>> =>
        sendForRevision(
          { path: pathOf(code), key, isExpected: (data) => isLike(data, { code: "", visits: 0 }) },
          options,
        ),

      /** Changes the given fields of a link. */
      update: (
        code: string,
        key: string,
        changes: LinkChange,
        { ifMatch, ...options }: ChangeOptions = {},
      ): Promise<Revision<ManagedLink>> =>
        sendForRevision({ method: "PATCH", path: pathOf(code), body: changes, key, ifMatch }, options),

      /** Ends a link permanently. Its code stays taken. */
      async withdraw(
        code: string,
        key: string,
        { ifMatch, ...options }: ChangeOptions = {},
      ): Promise<Revision<ManagedLink>> {
        const path = pathOf(code);
        try {
          return await sendForRevision({ method: "DELETE", path, key, ifMatch }, options);
        } catch (error) {
          // Perhaps by an attempt whose response was lost.
          if (!(error instanceof CurtError && error.reason === "link.withdrawn")) throw error;
          return { ...(await sendForRevision<Link>({ path, key }, options)), manage_key: key };
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
    },
  };
}

/** No link has a code of dots only, which would name another path even if encoded once. */
function pathOf(code: string, collection = "links"): string {
  return `/api/v1/${collection}/${encodeURIComponent(code.toWellFormed()).replace(/^\.+$/, "%252E")}`;
}

function given(query: StatisticsQuery): [string, string][] {
  return Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
}
