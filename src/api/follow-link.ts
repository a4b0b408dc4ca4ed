import type { Handler } from "../http/call.ts";
import { endpoint } from "../http/endpoint.ts";
import {
  authenticate,
  codeParameter,
  type Entry,
  failure,
  linkFailures,
  string,
} from "./openapi/components.ts";
import { z } from "./openapi/schema.ts";

interface FollowParts {
  /** Answers for an address that doesn't exist. */
  readonly notFound: Handler;
}

/** Only the entry is here: Bun passes short addresses to `redirect/`, which does without schemas. */
export const followLink = endpoint({
  at: "GET /{code}",
  cost: "little",
  entry: {
    tags: ["Links"],
    operationId: "followLink",
    summary: "api.follow",
    description: "api.follow.description",
    request: { params: codeParameter },
    responses: {
      302: {
        description: "api.follow.answer",
        headers: z.object({
          Location: string.openapi({ format: "uri", description: "api.follow.location" }),
        }),
      },
      401: failure("api.password", authenticate("api.password.scheme")),
      ...linkFailures("api.ended"),
    },
  } satisfies Entry,
  // For a path that can't be a code, or that Bun has normalised, such as /x/../code.
  serve: ({ notFound }: FollowParts) => notFound,
});
