import type { ProblemDetail, ProblemReason } from "./types.ts";

export interface ClientOptions {
  /** The address of the instance, such as `https://go.example.com`. */
  readonly baseUrl: string;
  /** The token of an instance that requires one to create links. */
  readonly token?: string | undefined;
  /** The language of messages, as in `Accept-Language`. Browsers send their own. */
  readonly language?: string | undefined;
  /** Timeout of a call with its retries. Each attempt may take a third of it. Default: 30,000. */
  readonly timeoutMs?: number | undefined;
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Overrides the client's. */
  readonly timeoutMs?: number | undefined;
  /**
   * Your own key for a call that creates something. If your program stops before the response arrives, the same call with
   * the same key gets the same response later. By default, each call has a new key, which its retries share.
   */
  readonly idempotencyKey?: string | undefined;
}

export interface Call {
  readonly method?: "GET" | "POST" | "PATCH" | "DELETE";
  /** Including the query. */
  readonly path: string;
  readonly body?: unknown;
  /** The token of the instance, or the key of a link. */
  readonly key?: string | undefined;
  readonly ifMatch?: string | undefined;
  /** Whether the data has the expected form. Default: whether it's an object. */
  readonly isExpected?: ((data: unknown) => boolean) | undefined;
}

export interface Answer<T> {
  readonly data: T;
  readonly headers: Headers;
}

export const TIMEOUT_MS = 30_000;
/** In UTF-16 units. The response to a full batch has about half of it. */
const MAX_RESPONSE_LENGTH = 8 * 1024 * 1024;
export const MAX_ATTEMPTS = 5;
/** The first backoff, for failures without `Retry-After`. Doubled with each attempt. */
const FIRST_WAIT_MS = 200;

/** Sends a call, with retries. Throws {@link CurtError}, or the reason of `signal`. */
export async function request<T>(
  client: ClientOptions,
  call: Call,
  options: CallOptions,
): Promise<Answer<T>> {
  // Browsers refuse to call their fetch as a method of another object.
  const { fetch = globalThis.fetch } = client;
  const url = new URL(call.path, client.baseUrl).href;
  const init = write(client, call, options);
  const { isExpected = isObject } = call;
  const { signal, timeoutMs = client.timeoutMs ?? TIMEOUT_MS } = options;
  const endMs = performance.now() + timeoutMs;
  for (let attempt = 1; ; attempt++) {
    signal?.throwIfAborted();
    // Node only takes integers.
    const limitMs = Math.ceil(Math.min(timeoutMs / 3, endMs - performance.now()));
    const timeLimit = AbortSignal.timeout(Math.max(0, limitMs));
    let failed: CurtError;
    try {
      const response = await fetch(url, {
        ...init,
        signal: signal ? AbortSignal.any([signal, timeLimit]) : timeLimit,
      });
      const answer = parse<T>(await readText(response));
      if (response.ok && answer.status === "success" && isExpected(answer.data))
        return { data: answer.data as T, headers: response.headers };
      failed = refused(`${init.method} ${url}`, response, response.ok ? {} : answer);
    } catch (cause) {
      signal?.throwIfAborted();
      const reason = timeLimit.aborted ? "timeout" : "network";
      const message = reason === "timeout" ? `${url} did not answer in time` : `${url} cannot be reached`;
      failed = new CurtError({ status: 0, reason, message }, { cause });
    }
    const waitMs = failed.retryAfterMs ?? FIRST_WAIT_MS * 2 ** (attempt - 1) * (0.5 + Math.random());
    const isLast = attempt === MAX_ATTEMPTS || performance.now() + waitMs >= endMs;
    if (isLast || !isTransient(failed)) throw failed;
    await wait(waitMs, signal);
  }
}

function write(
  { language }: ClientOptions,
  { method = "GET", body, key, ifMatch }: Call,
  options: CallOptions,
) {
  const headers: Record<string, string> = {};
  if (key !== undefined) headers["Authorization"] = `Bearer ${key}`;
  if (ifMatch !== undefined) headers["If-Match"] = ifMatch;
  if (language !== undefined) headers["Accept-Language"] = language;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  // A string of RFC 9651, as the draft of this header demands.
  if (method === "POST") headers["Idempotency-Key"] = JSON.stringify(options.idempotencyKey ?? newKey());
  // Following a redirect to https would turn a POST into a GET.
  return {
    method,
    // Throws for characters that no header can have, which `fetch` would report as a failed connection.
    headers: Object.fromEntries(new Headers(headers)),
    redirect: "manual" as const,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  };
}

/** Unlike `crypto.randomUUID`, also works on pages without TLS. */
function newKey(): string {
  return [...crypto.getRandomValues(new Uint32Array(4))].map((part) => part.toString(36)).join("-");
}

interface Envelope<T> {
  readonly status?: string;
  readonly message?: string;
  readonly data?: T;
  readonly errors?: unknown;
}

/** Empty if it's too long, which no response of Curt is. */
async function readText({ body }: Response): Promise<string> {
  const decoder = new TextDecoder();
  const reader = body?.getReader();
  let text = "";
  for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
    text += decoder.decode(part.value, { stream: true });
    if (text.length <= MAX_RESPONSE_LENGTH) continue;
    await reader?.cancel();
    return "";
  }
  return text;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

/** Whether a value has the fields of an example, of the same types. The item of a list is the example of all its items. */
export function isLike(value: unknown, example: unknown): boolean {
  if (Array.isArray(example)) return Array.isArray(value) && value.every((item) => isLike(item, example[0]));
  if (!isObject(example)) return typeof value === typeof example;
  return isObject(value) && Object.entries(example).every(([name, part]) => isLike(value[name], part));
}

/** Empty if it isn't JSON, such as a proxy's own page. */
function parse<T>(text: string): Envelope<T> {
  try {
    return (JSON.parse(text) as Envelope<T> | null) ?? {};
  } catch {
    return {};
  }
}

function refused(what: string, { status, headers }: Response, answer: Envelope<unknown>): CurtError {
  const retryAfter = headers.get("retry-after");
  return new CurtError({
    status,
    reason: headers.get("curt-reason") ?? "",
    message: answer.message ?? `${what}: ${status}, which is no answer of Curt. Is the address right?`,
    retryAfterMs: retryAfter === null ? undefined : delayMs(retryAfter),
    requestId: requestIdOf(headers),
    errors: parseErrors(answer.errors),
  });
}

export function requestIdOf(headers: Headers): string {
  return headers.get("request-id") ?? "";
}

/** Empty for responses that aren't Curt's. */
export function parseErrors(errors: unknown): readonly ProblemDetail[] {
  return isLike(errors, [{ reason: "", message: "" }]) ? (errors as ProblemDetail[]) : [];
}

/** Curt sends seconds, but a proxy may send a date (RFC 9110, section 10.2.3). */
function delayMs(retryAfter: string): number | undefined {
  const ms = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

function isTransient({ status, reason }: CurtError): boolean {
  return [0, 429, 503].includes(status) || (status === 409 && reason === "idempotency.busy");
}

function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", abort, { once: true });
  });
}

/** Later versions of the service may have others. */
export type FailureReason = ProblemReason | "network" | "timeout" | "" | (string & Record<never, never>);

export interface Failure {
  /** The HTTP status; 0 without a response. */
  readonly status: number;
  /**
   * The reason for programs, from `Curt-Reason`, such as `code.taken`; several are separated by `, `. It is `network` or
   * `timeout` without a response, and empty for a response that isn't Curt's, such as a proxy's.
   */
  readonly reason: FailureReason;
  /** The reason for people. */
  readonly message: string;
  /** How long to wait before a retry, if the service says so. */
  readonly retryAfterMs?: number | undefined;
  /** The `Request-Id` of the response, for the operator's logs. Empty without one. */
  readonly requestId?: string | undefined;
  /** Everything that is wrong, by field. Empty if the response lists nothing, as that of `shorten`. */
  readonly errors?: readonly ProblemDetail[] | undefined;
}

/** A call that failed, after its retries. */
export class CurtError extends Error implements Failure {
  /** Node prints the name of the class, which minification would change. */
  static override readonly name = "CurtError";
  override readonly name = "CurtError";
  readonly status: number;
  readonly reason: FailureReason;
  readonly retryAfterMs: number | undefined;
  readonly requestId: string;
  readonly errors: readonly ProblemDetail[];

  constructor(failure: Failure, options?: ErrorOptions) {
    const { status, reason, message, retryAfterMs, requestId = "", errors = [] } = failure;
    super(message, options);
    this.status = status;
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
    this.requestId = requestId;
    this.errors = errors;
  }
}
