import type { Call } from "../http/call.ts";
import { endpoint, addressPath } from "../http/endpoint.ts";
import { createLinks } from "./create-batch.ts";
import { createLink } from "./create-link.ts";
import { envelope, success } from "./envelope.ts";
import { type Entry, plainFailures, returns, string } from "./openapi/components.ts";
import { z } from "./openapi/schema.ts";
import { shorten } from "./shorten.ts";

const uri = string.openapi({ format: "uri" });
const index = z
  .object({ shorten: uri, links: uri, batch: uri, openapi: uri, documentation: uri })
  .openapi("Index");

const PATH = "/api/v1";

export const getIndex = endpoint({
  at: `GET ${PATH}`,
  cost: "little",
  entry: {
    tags: ["Reference"],
    operationId: "getIndex",
    summary: "api.index",
    description: "api.index.description",
    responses: {
      200: returns("api.index.answer", envelope("api.index.answer", index).openapi("IndexResponse"), {
        Link: string.openapi({ description: "api.index.description" }),
      }),
      ...plainFailures,
    },
  } satisfies Entry,
  serve: () => showIndex,
});

/** The `Link` header is of RFC 8631. */
function showIndex(call: Call): Response {
  const { origin } = call.domain;
  const data: z.infer<typeof index> = {
    shorten: origin + addressPath(shorten.at),
    links: origin + addressPath(createLink.at),
    batch: origin + addressPath(createLinks.at),
    openapi: `${origin}${PATH}/openapi.json`,
    documentation: `${origin}/docs`,
  };
  const Link = `<${data.openapi}>; rel="service-desc", <${data.documentation}>; rel="service-doc"`;
  return success(call, 200, "api.index.answer", data, { Link });
}
