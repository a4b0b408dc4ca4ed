const { lang } = document.documentElement;

export interface Link {
  readonly short_url: string;
  readonly original_url: string;
  readonly created: string;
  readonly expiration_date: string;
  readonly visits: number;
}

export interface Answer<T> {
  readonly status: number;
  readonly message: string;
  /** Only if the call succeeded. */
  readonly data?: T;
  /** How long to wait before asking again; 0 where the service does not mind. */
  readonly pollMs: number;
}

/** Calls this service's API with GET, in the page's language. Rejects if no JSON answer arrives. */
export async function ask<T>(path: string, signal?: AbortSignal): Promise<Answer<T>> {
  const response = await fetch(path, { headers: { "Accept-Language": lang }, signal: signal ?? null });
  const { message, data } = (await response.json()) as { message: string; data?: T };
  const { headers } = response;
  const pollMs = Number(headers.get("X-Poll-Interval") ?? headers.get("Retry-After")) * 1000;
  return { status: response.status, message, pollMs, ...(data !== undefined && { data }) };
}
