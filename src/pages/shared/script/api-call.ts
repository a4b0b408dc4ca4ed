const { lang } = document.documentElement;

export interface Link {
  readonly short_url: string;
  /** Null if it is told only to those who know the link's password. */
  readonly original_url: string | null;
  readonly created: string;
  /** When its maker last changed where it leads. Null if never. */
  readonly changed: string | null;
  /** Null if the link never ends. */
  readonly expires: string | null;
  readonly state: string;
  readonly visits: number;
}

export interface Answer<T> {
  readonly status: number;
  readonly message: string;
  /** Only if the call succeeded. */
  readonly data?: T;
  /** Only if it failed. */
  readonly reason: string | null;
  /** How long to wait before asking again; 0 where the service does not mind. */
  readonly pollMs: number;
}

export interface ApiRequest extends Omit<RequestInit, "headers"> {
  readonly headers?: Readonly<Record<string, string>>;
}

/** Calls this service's API in the page's language, by default with GET. Rejects if no JSON answer arrives. */
export async function ask<T>(path: string, request: ApiRequest = {}): Promise<Answer<T>> {
  const response = await fetch(path, {
    ...request,
    headers: { "Accept-Language": lang, ...request.headers },
  });
  const { message, data } = (await response.json()) as { message: string; data?: T };
  const { headers } = response;
  const pollMs = Number(headers.get("X-Poll-Interval") ?? headers.get("Retry-After")) * 1000;
  return {
    status: response.status,
    message,
    pollMs,
    reason: headers.get("Curt-Reason"),
    ...(data !== undefined && { data }),
  };
}
