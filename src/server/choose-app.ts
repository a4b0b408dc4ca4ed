import type { Domain } from "../http/domain.ts";
import { answer } from "../http/responses.ts";
import { header } from "../lib/bounds.ts";
import { memoize } from "../lib/memoize.ts";
import type { App } from "./app.ts";

/** Passes each request to the app of its host. Unknown hosts get the first app. */
export function chooseApp(domains: readonly Domain[], apps: readonly App[]): App {
  const [domain, base] = [domains[0], apps[0]];
  if (domain === undefined || base === undefined) throw new Error("Every instance has a domain");
  const byHost = memoize((host) => {
    if (host.includes(",")) return REFUSING;
    // Some clients send the host in UTF-8, which Bun decodes as Latin-1.
    const chosen = domain.find(host) ?? domain.find(Buffer.from(host, "latin1").toString());
    return apps[domains.indexOf(chosen ?? domain)] ?? base;
  }, base);
  let lastHost = "";
  let lastApp = base;
  /** Every redirect waits for this. Most have the host of the last request and don't need the map. */
  function appOf({ headers }: Request): App {
    const host = header(headers, "host", ",") ?? "";
    if (host === lastHost) return lastApp;
    lastApp = byHost(host);
    lastHost = host;
    return lastApp;
  }
  return {
    // With one domain, redirects are the same for every host.
    redirect:
      apps.length === 1
        ? base.redirect
        : {
            GET: (request, server) => appOf(request).redirect.GET(request, server),
            HEAD: (request, server) => appOf(request).redirect.HEAD(request, server),
          },
    fetch: (request, server) => appOf(request).fetch(request, server),
  };
}

const refuse = () => Promise.resolve(answer({ status: 400 }));
/**
 * Refuses a Host that is too long or sent twice (RFC 9112, section 3.2). Bun joins equal headers with a comma, which no
 * host has. A missing Host gets the same empty 400 from Bun.
 */
const REFUSING: App = { redirect: { GET: refuse, HEAD: refuse }, fetch: refuse };
