import { z } from "@hono/zod-openapi";

import type { MessageKey } from "../../locales/messages.ts";
import { MAX_BATCH } from "./batch.ts";
import { linkRequest, managedLink } from "./link-schemas.ts";
import { reasons } from "./responses.ts";
import { envelope, EXAMPLE, referred, shortenRequest, shortLink, text } from "./schemas.ts";

// As in schemas.ts, every description is the key of a message.

const many = <T extends z.ZodType>(one: T) => z.array(referred(one)).min(1).max(MAX_BATCH);
export const shortenRequests = many(shortenRequest).openapi("ShortenRequests");
export const linkRequests = many(linkRequest).openapi("LinkRequests");

/** What would be the answer to one link alone. */
const result = <T extends z.ZodType>(made: MessageKey, data: T) =>
  z.object({
    status_code: z.int().openapi({ description: "api.result.status_code", example: 201 }),
    status: z.enum(["success", "error"]).openapi({ description: "api.result.status", example: "success" }),
    message: text.openapi({ description: "api.result.message", example: `{${made}}` }),
    data: referred(data).optional().openapi({ description: "api.result.data" }),
    reason: referred(reasons).optional().openapi({ description: "api.result.reason", example: undefined }),
    retry_after: z.int().optional().openapi({ description: "api.result.retry_after" }),
  });
const results = <T extends z.ZodType>(one: T) => envelope("batch", z.object({ results: z.array(one) }));
const shortenResult = result("shortened", shortLink).openapi("ShortenResult");
const linkResult = result("link.made", managedLink).openapi("LinkResult");

export const shortenResults = z.object(results(shortenResult)).openapi("ShortenResults");
export const linkResults = z.object(results(linkResult)).openapi("LinkResults");

const { original_url, expire_duration } = EXAMPLE;
/** Without codes: they would be in use as soon as one reader has sent the example. */
export const SHORTEN_EXAMPLES = [{ original_url, expire_duration }, { original_url }];
export const LINK_EXAMPLES = [{ target: original_url, expires: expire_duration }, { target: original_url }];
