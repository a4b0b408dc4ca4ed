import type { Domain } from "../http/domain.ts";
import { header } from "../lib/bounds.ts";
import { memoize } from "../lib/memoize.ts";
import type { createApp } from "./routes.ts";

type App = ReturnType<typeof createApp>;

/** Passes each request to the app of its host. Unknown hosts get the first app. */
export function chooseApp(domains: readonly Domain[], apps: readonly App[]): App {
  const [domain, base] = [domains[0], apps[0]];
  if (domain === undefined || base === undefined) throw new Error("Every instance has a domain");
  if (apps.length === 1) return base;
  // Some clients send the host in UTF-8, which Bun decodes as Latin-1.
  const byHost = memoize((host) => {
    const chosen = domain.find(host) ?? domain.find(Buffer.from(host, "latin1").toString());
    return apps[domains.indexOf(chosen ?? domain)] ?? base;
  }, base);
  let lastHost = "";
  let lastApp = base;
  /** Every redirect waits for this. Most have the host of the last request and don't need the map. */
  function appOf({ headers }: Request): App {
    const host = header(headers, "host") ?? "";
    if (host === lastHost) return lastApp;
    lastApp = byHost(host);
    lastHost = host;
    return lastApp;
  }
  return {
    redirect: {
      GET: (request, server) => appOf(request).redirect.GET(request, server),
      HEAD: (request, server) => appOf(request).redirect.HEAD(request, server),
    },
    fetch: (request, server) => appOf(request).fetch(request, server),
    fixed: Object.fromEntries(
      Object.entries(base.fixed).map(([path, serve]) => [
        path,
        (request, server) => (appOf(request).fixed[path] ?? serve)(request, server),
      ]),
    ),
  };
}
