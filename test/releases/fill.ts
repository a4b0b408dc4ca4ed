/** A link in a kept store, with its expected state. */
interface KeptLink {
  readonly code: string;
  readonly url: string;
  /** Of a GET. */
  readonly status: number;
  readonly visits: number;
  readonly bots: number;
  /** Its manage key. */
  readonly key?: string;
}

/** The expected contents of a store that a version filled. */
export interface Kept {
  /** In Unix milliseconds. */
  readonly madeMs: number;
  readonly links: readonly KeptLink[];
  /** The key of the request that created `again`. */
  readonly idempotencyKey: string;
  readonly reportedCodes: readonly string[];
  readonly blockedHosts: readonly string[];
}

/** The names of those who fill it, and their tokens. */
export const OPERATOR = "mina";
export const CREATOR = "club";
export const TOKENS = {
  ADMIN_TOKEN: `${OPERATOR}:${"a".repeat(32)}`,
  CREATE_TOKEN: `${CREATOR}:${"c".repeat(32)}`,
};

const BROWSER =
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36";
const BOT = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)";
export const PASSWORD = "open sesame";
const as = (token: string) => ({ Authorization: `Bearer ${token.replace(/.*:/, "")}` });
export const AS_OPERATOR = as(TOKENS.ADMIN_TOKEN);
export const AS_CREATOR = as(TOKENS.CREATE_TOKEN);

/** Creates links of all kinds, visits them, and does what an operator does, in a service with {@link TOKENS}. */
export async function fill(origin: string): Promise<Kept> {
  const links = new Map<string, KeptLink>();
  const madeMs = Date.now();

  async function send(method: string, path: string, body?: object, headers: Record<string, string> = {}) {
    const response = await fetch(`${origin}${path}`, {
      method,
      redirect: "manual",
      headers: { "Content-Type": "application/json", ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (response.status >= 400) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text.startsWith("{") ? (JSON.parse(text) as { data: Record<string, string> }).data : {};
  }
  const operate = (method: string, path: string, body?: object) =>
    send(method, `/api/v1/admin/${path}`, body, { ...AS_OPERATOR, "If-Match": "*" });

  async function createLink(
    custom_code: string | undefined,
    url: string,
    more = {},
    headers = {},
  ): Promise<void> {
    const body = { original_url: url, custom_code, ...more };
    const { code = "" } = await send("POST", "/api/v1/shorten", body, { ...AS_CREATOR, ...headers });
    links.set(code, { code, url, status: 302, visits: 0, bots: 0 });
  }
  async function createManagedLink(code: string, url: string, more = {}): Promise<Record<string, string>> {
    const { manage_key: key = "" } = await send(
      "POST",
      "/api/v1/links",
      { target: url, code, ...more },
      AS_CREATOR,
    );
    links.set(code, { code, url, status: 302, visits: 0, bots: 0, key });
    return { Authorization: `Bearer ${key}` };
  }
  function change(code: string, what: Partial<KeptLink>): void {
    const link = links.get(code);
    if (link !== undefined) links.set(code, { ...link, ...what });
  }
  async function visit(code: string, times: number, agent: string, kind: "visits" | "bots"): Promise<void> {
    for (let nth = 0; nth < times; nth++)
      await send("GET", `/${encodeURIComponent(code)}`, undefined, {
        "User-Agent": agent,
        "Sec-Fetch-Dest": agent === BOT ? "" : "document",
        "Accept-Language": "ko-KR,ko;q=0.9",
        Referer: "https://search.naver.com/",
      });
    change(code, { [kind]: times });
  }

  await createLink("plain", "HTTPS://Example.com/plain?a=b#c");
  await createLink("한글날☕", "https://누리집.example/안내/오시는 길");
  await createLink(undefined, "https://example.com/generated");
  await createLink("ends", "https://example.com/ends", { expire_duration: "1week" });
  await createLink("disabled", "https://example.com/disabled");
  await createLink("deleted", "https://example.com/deleted");
  await createLink("reported", "https://example.com/reported");
  await createLink("blocked", "https://sub.blocked.example/");
  await visit("plain", 3, BROWSER, "visits");
  await visit("plain", 2, BOT, "bots");
  await visit("한글날☕", 1, BROWSER, "visits");
  await visit("disabled", 2, BROWSER, "visits");

  await createManagedLink("limited", "https://example.com/limited", { max_visits: 3 });
  await visit("limited", 1, BROWSER, "visits");
  await createManagedLink("secret", "https://example.com/secret", { password: PASSWORD });
  change("secret", { status: 401 });
  await createManagedLink("passes-on", "https://example.com/passes-on", { forward_query: true });
  const starts = new Date(madeMs + 5 * 3_600_000).toISOString();
  await createManagedLink("later", "https://example.com/later", { starts_at: starts });
  change("later", { status: 404 });
  const asMover = await createManagedLink("moved", "https://example.com/before");
  const url = "https://example.com/after";
  await send("PATCH", "/api/v1/links/moved", { target: url }, asMover);
  change("moved", { url });
  const asWithdrawer = await createManagedLink("withdrawn", "https://example.com/withdrawn");
  await send("DELETE", "/api/v1/links/withdrawn", undefined, asWithdrawer);
  change("withdrawn", { status: 410 });

  await send("POST", "/api/v1/links/reported/reports", { reason: "phishing", note: "가짜 은행" });
  await operate("POST", "links/disabled/disable", { reason: "spam", note: "'seen'" });
  change("disabled", { status: 410 });
  await operate("PUT", "hosts/blocked.example", { reason: "malware" });
  change("blocked", { status: 410 });
  await operate("DELETE", "links/deleted?confirm=deleted");
  change("deleted", { status: 410 });
  const idempotencyKey = "a-key-of-a-program-1234";
  await createLink("again", "https://example.com/again", {}, { "Idempotency-Key": idempotencyKey });

  return {
    madeMs,
    links: [...links.values()],
    idempotencyKey,
    reportedCodes: ["reported"],
    blockedHosts: ["blocked.example"],
  };
}
