import { originalUrl } from "./links.ts";

/** Headers of Chrome on a computer when it follows a link, over plain HTTP. */
function chrome(userAgent: string, referrer: string | undefined): string[] {
  return [
    "Connection: keep-alive",
    "Upgrade-Insecure-Requests: 1",
    `User-Agent: ${userAgent}`,
    "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7",
    ...(referrer === undefined ? [] : [`Referer: ${referrer}`]),
    "Accept-Encoding: gzip, deflate",
    "Accept-Language: ko-KR,ko;q=0.9,en-US;q=0.8,en;q=0.7",
  ];
}

const NEWEST = 141;
const SYSTEMS = [
  "Windows NT 10.0; Win64; x64",
  "Macintosh; Intel Mac OS X 10_15_7",
  "X11; Linux x86_64",
  "Linux; Android 10; K",
  "X11; CrOS x86_64 14541.0.0",
];
const USUAL_REFERRERS = ["google.com", "facebook.com", "reddit.com", "naver.com", "youtube.com", "bing.com"];

/** Of twenty visits, nine have no referrer, eight well-known ones, and three others. */
function referrerOf(nth: number): string | undefined {
  if (nth === 0) return "http://news.example.com/";
  const kind = nth % 20;
  if (kind < 9) return undefined;
  return kind < 17
    ? `https://www.${USUAL_REFERRERS[nth % USUAL_REFERRERS.length]}/`
    : `https://site-${nth}.example.com/`;
}

/** The rest of a visit after its path: `GET /<code>` + this is the request. Every `nth` is another browser. */
export function visitTail(port: number, nth = 0): string {
  const version = NEWEST - Math.floor(nth / SYSTEMS.length);
  const userAgent = `Mozilla/5.0 (${SYSTEMS[nth % SYSTEMS.length]}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version}.0.0.0 Safari/537.36`;
  return [" HTTP/1.1", `Host: localhost:${port}`, ...chrome(userAgent, referrerOf(nth)), "", ""].join("\r\n");
}

/** A create like that of a program. `body` is ASCII. */
export function createRequest(port: number, body: string): string {
  return [
    "POST /api/v1/shorten HTTP/1.1",
    `Host: localhost:${port}`,
    "User-Agent: curt-bench",
    "Accept: */*",
    "Content-Type: application/json",
    `Content-Length: ${body.length}`,
    "",
    body,
  ].join("\r\n");
}

/** The first links, which more than a third of the mixed requests visit. */
const HOT_LINKS = 1000;
/** Custom codes in scripts that are expensive to normalize; with JSON's escapes, because requests are ASCII. */
const SCRIPTS = ["soak", "\\ud55c\\uae00", "\\u2764", "\\u1112\\u1161\\u11ab"];
const BAD_BODIES = [
  '{"original_url": ',
  "[]",
  "{}",
  '{"original_url": 7}',
  '{"original_url": "javascript:alert(1)"}',
  '{"original_url": "https://example.com/", "custom_code": "a b"}',
  '{"original_url": "https://example.com/", "expire_duration": "1year"}',
];

/** A request and the status that it must get. */
type Exchange = readonly [request: string, status: number];

/** A random mix of all requests that people and programs send. `run` separates the links of different loads. */
export function mixedRequests(port: number, run: string, codes: readonly string[]) {
  const get = (path: string, method = "GET") => browserRequest(method, path, port);
  const create = (body: string) => createRequest(port, body);
  const hot = () => codes[below(HOT_LINKS)] ?? "";
  const cold = () => codes[below(codes.length)] ?? "";
  const custom = (number: number) =>
    `{"original_url":"${originalUrl(run, number)}","custom_code":"${SCRIPTS[number % SCRIPTS.length]}-${run}-${number}","expire_duration":"24h"}`;

  /** The share of each, in percent. */
  const kinds: readonly (readonly [share: number, exchange: (number: number) => Exchange])[] = [
    [35, () => [get(`/${hot()}/`), 302]],
    [25, () => [get(`/${cold()}`), 302]],
    [8, () => [get(`/${cold()}/`, "HEAD"), 302]],
    // No generated code has a vowel.
    [2, () => [get(`/a${below(1e9)}/`, "HEAD"), 404]],
    [12, () => [get(`/a${below(1e9)}/`), 404]],
    [2, () => [get(`/${encodeURIComponent(`없는 주소 ${below(1e9)}`)}/`), 404]],
    [2, (number) => [create(JSON.stringify({ original_url: originalUrl(run, number) })), 201]],
    [1, (number) => [create(custom(number)), 201]],
    [1, () => [create(`{"original_url":"https://example.com/","custom_code":"${hot()}"}`), 409]],
    [4, () => [create(BAD_BODIES[below(BAD_BODIES.length)] ?? ""), 400]],
    [1, () => [get("/api/v1/shorten", "DELETE"), 405]],
    [1, () => [get(`/nothing/here/${below(1e9)}`), 404]],
    [3, () => [get("/"), 200]],
    [1, () => [get("/api/v1/shorten"), 200]],
    [1, () => [get("/api/v1/openapi.json"), 200]],
    [1, () => [get("/readyz"), 200]],
  ];
  const deck = kinds.flatMap(([share, exchange]) => Array.from({ length: share }, () => exchange));
  return (number: number): Exchange => deck[below(deck.length)]?.(number) ?? ["", 0];
}

/** Headers of one of very many browsers with one of very many referrers. */
function browserRequest(method: string, path: string, port: number): string {
  const version = `${below(200)}.0.${below(10_000)}.${below(200)}`;
  const system = ["Windows NT 10.0; Win64; x64", "X11; Linux x86_64", `Linux; Android ${below(16)}; K`][
    below(3)
  ];
  return [
    `${method} ${path} HTTP/1.1`,
    `Host: localhost:${port}`,
    `User-Agent: Mozilla/5.0 (${system}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version} Safari/537.36`,
    `Accept: ${below(2) === 0 ? "*/*" : `text/html;q=0.${below(1000)},*/*;q=0.1`}`,
    `Accept-Language: ${below(2) === 0 ? "ko" : `en;q=0.${below(1000)}`},*;q=0.${below(1000)}`,
    `Referer: https://news${below(100_000)}.example/stories/${below(1e9)}`,
    "",
    "",
  ].join("\r\n");
}

function below(limit: number): number {
  return Math.floor(Math.random() * limit);
}

/** Headers of a browser, and of a program. */
export const BROWSER = [
  "Host: localhost",
  "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8",
  "Accept-Encoding: gzip, deflate",
  "Accept-Language: ko-KR,ko;q=0.9,en-US;q=0.8,en;q=0.7",
  "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0",
];
export const PROGRAM = ["Host: localhost", "Accept: */*", "User-Agent: curt-bench"];

/** A request as text. */
export function request(line: string, headers: readonly string[] = BROWSER, body = ""): string {
  const length = body === "" ? [] : [`Content-Length: ${Buffer.byteLength(body)}`];
  return [`${line} HTTP/1.1`, ...headers, ...length, "", body].join("\r\n");
}
