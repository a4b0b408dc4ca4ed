/** What Chrome 141 on Windows sends with a click on a link, over plain HTTP. */
const CHROME = [
  "Connection: keep-alive",
  "Upgrade-Insecure-Requests: 1",
  "User-Agent: Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36",
  "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7",
  "Referer: http://news.example.com/",
  "Accept-Encoding: gzip, deflate",
  "Accept-Language: ko-KR,ko;q=0.9,en-US;q=0.8,en;q=0.7",
];

/** Everything of a visit behind its path: `GET /<code>/` + this is the request. */
export function visitTail(port: number): string {
  return [" HTTP/1.1", `Host: localhost:${port}`, ...CHROME, "", ""].join("\r\n");
}

/** A create request as a program sends it. `body` is ASCII. */
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
