// The floors: the least that a redirect and a durable create cost on Bun. Also the reference without nginx.
// Arguments: the port, a file with "<code> <target>" lines, and a new SQLite file if it creates links.
import { readLinks } from "./links.ts";

/** Curt reads these for a visit. Bun copies all headers once one is read. */
const VISIT_HEADERS = ["user-agent", "sec-fetch-dest", "referer", "accept-language"];
const CODE_BYTES = 5;
const KEY_LENGTH = 22;

const [port = "", linksFile = "", database = ""] = process.argv.slice(2);
const targets = new Map(readLinks(linksFile));
const origin = `http://localhost:${port}`;
const createLink = database === "" ? () => new Response(null, { status: 404 }) : creator(database);

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(port),
  routes: {
    "/:code": ({ params, headers }) => {
      for (const name of VISIT_HEADERS) headers.get(name);
      const target = targets.get(params.code);
      return target === undefined
        ? new Response(null, { status: 404 })
        : new Response(null, { status: 302, headers: { Location: target, "Cache-Control": "no-store" } });
    },
    "/api/v1/shorten": { POST: createLink },
  },
  fetch: () => new Response(null, { status: 204 }),
});

/** As Curt does it: one transaction and one sync, in another thread, for all requests that arrive during the one before. */
function creator(path: string): (request: Request) => Promise<Response> {
  const writer = new Worker(new URL("./bare-writer.ts", import.meta.url));
  let waiting: { row: unknown; resolve(): void }[] = [];
  let committing: typeof waiting = [];
  writer.onmessage = () => {
    for (const { resolve } of committing) resolve();
    committing = [];
    gather(0);
  };
  writer.postMessage(path);

  function gather(before: number): void {
    setImmediate(() => {
      if (committing.length > 0 || waiting.length === 0) return;
      if (waiting.length > before) return gather(waiting.length);
      [committing, waiting] = [waiting, []];
      writer.postMessage(JSON.stringify(committing.map(({ row }) => row)));
    });
  }

  /** The headers of Curt's response; those of one response are set before they are copied. */
  const headers = new Headers({
    "Content-Type": "application/json",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Content-Language": "en",
    Vary: "Accept-Language",
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers":
      "Allow,Content-Language,Curt-Reason,ETag,Idempotent-Replayed,Link,Location,RateLimit,RateLimit-Policy,Request-Id,Retry-After,WWW-Authenticate,X-Poll-Interval",
  });
  const random = Buffer.alloc(CODE_BYTES);
  const keyed = new Bun.CryptoHasher("sha256", "secret");

  return async (request) => {
    request.headers.get("content-type");
    const { original_url } = JSON.parse(await request.text()) as { original_url: string };
    const { href } = new URL(original_url);
    const code = crypto.getRandomValues(random).toString("hex");
    await new Promise<void>((resolve) => {
      waiting.push({ row: [code, original_url, href === original_url ? null : href, Date.now()], resolve });
      if (waiting.length === 1) gather(0);
    });
    const short_url = `${origin}/${code}/`;
    headers.set("Location", short_url);
    const key = keyed.copy().update(code).digest("base64url").slice(0, KEY_LENGTH);
    headers.set("Link", `<${origin}/${code}+#key=${key}>; rel="edit"`);
    headers.set("Request-Id", crypto.randomUUID());
    const data = { short_url, original_url, code, expiration_date: "9999-12-31T00:00:00.000Z" };
    const body = JSON.stringify({ status: "success", message: "URL shortened successfully.", data });
    return new Response(body, { status: 201, headers });
  };
}
