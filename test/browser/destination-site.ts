import { afterAll, beforeAll } from "bun:test";

interface Arrival {
  readonly method: string;
  readonly path: string;
  readonly referrer: string | null;
}

/** One site for the links of a file or of a `describe` to redirect to. It records the requests of browsers. */
export function shareDestination() {
  const arrivals: Arrival[] = [];
  const shared = { port: 0, arrivals };
  let server: ReturnType<typeof Bun.serve>;
  beforeAll(() => {
    server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: respond });
    shared.port = server.port ?? 0;
  });
  afterAll(() => server.stop(true));

  function respond({ method, url, headers }: Request): Response {
    const { pathname } = new URL(url);
    // Browsers request the icon of a page.
    if (pathname === "/favicon.ico") return new Response(null, { status: 204 });
    arrivals.push({ method, path: decodeURI(pathname), referrer: headers.get("referer") });
    // Destinations redirect to other sites as well.
    if (pathname === "/first") return Response.redirect(`http://localhost:${shared.port}/second`);
    return new Response("arrived");
  }
  return shared;
}
