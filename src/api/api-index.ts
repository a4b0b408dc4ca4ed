import { createRoute, z } from "@hono/zod-openapi";

import type { Call } from "../http/call.ts";
import { plainFailures, returns, string } from "./components.ts";
import { createLinksRoute } from "./create-batch.ts";
import { createLinkRoute } from "./create-link.ts";
import { envelope, success } from "./envelope.ts";
import { shortenRoute } from "./shorten.ts";

const uri = string.openapi({ format: "uri" });
const index = z
  .object({ shorten: uri, links: uri, batch: uri, openapi: uri, documentation: uri })
  .openapi("Index");

export const indexRoute = createRoute({
  tags: ["Reference"],
  method: "get",
  path: "/api/v1",
  operationId: "getIndex",
  summary: "api.index",
  description: "api.index.description",
  responses: {
    200: returns("api.index.answer", envelope("api.index.answer", index).openapi("IndexResponse"), {
      Link: string.openapi({ description: "api.index.description" }),
    }),
    ...plainFailures,
  },
});

/** The `Link` header is of RFC 8631. */
export function getIndex(call: Call): Response {
  const { origin } = call.domain;
  const data: z.infer<typeof index> = {
    shorten: origin + shortenRoute.path,
    links: origin + createLinkRoute.path,
    batch: origin + createLinksRoute.path,
    openapi: `${origin}${indexRoute.path}/openapi.json`,
    documentation: `${origin}/docs`,
  };
  const Link = `<${data.openapi}>; rel="service-desc", <${data.documentation}>; rel="service-doc"`;
  return success(call, 200, "api.index.answer", data, { Link });
}
