// The reference without nginx: the same links in a Map on a bare Bun.serve, nothing else.
// Arguments: the port, and a file with "<code> <target>" lines.
import { readLinks } from "./links.ts";

const [port, linksFile = ""] = process.argv.slice(2);
const targets = new Map(readLinks(linksFile));

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(port),
  routes: {
    "/:code": ({ params }) => {
      const target = targets.get(params.code);
      return target === undefined
        ? new Response(null, { status: 404 })
        : new Response(null, { status: 302, headers: { Location: target, "Cache-Control": "no-store" } });
    },
  },
  fetch: () => new Response(null, { status: 204 }),
});
