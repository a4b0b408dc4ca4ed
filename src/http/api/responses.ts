import { z } from "@hono/zod-openapi";

import type { MessageKey } from "../../locales/messages.ts";
import { REASON_HEADER, REASONS } from "../problem-reasons.ts";
import { referred } from "./schemas.ts";

// What the responses of the operations have in common. As in schemas.ts, every description is the key of a message.

const text = z.string();

export const jsonContent = <T extends z.ZodType>(schema: T) => ({ "application/json": { schema } });
export const answer = <T extends z.ZodType>(description: MessageKey, schema: T) => ({
  description,
  content: jsonContent(schema),
});

const retryAfter = { "Retry-After": z.int().nonnegative().openapi({ description: "api.retry-after" }) };
/** Sent if the limit is on. */
export const rateLimit = {
  "RateLimit-Policy": text.optional().openapi({
    description: "api.rate-limit-policy",
    example: '"create";q=30;w=60',
  }),
  RateLimit: text.optional().openapi({ description: "api.rate-limit", example: '"create";r=29;t=2' }),
};
export const countedAnswer = <T extends z.ZodType>(description: MessageKey, schema: T) => ({
  ...answer(description, schema),
  headers: z.object(rateLimit),
});

/** The contract fixes its keys, so the reason for programs is a header. */
const problem = z
  .strictObject({ status: z.literal("error"), message: text.openapi({ example: "{taken}" }) })
  .openapi("Problem");
const reason = z.enum(REASONS).openapi("ProblemReason");
const several = text.regex(/^[a-z_.-]+(?:, [a-z_.-]+)+$/);
export const reasons = z.union([reason, several]).openapi("ProblemReasons");

const failure =
  (told: z.ZodType) =>
  (description: MessageKey, headers: z.ZodRawShape = {}) => ({
    ...answer(description, problem),
    headers: z.object({ [REASON_HEADER]: told, ...headers }),
  });
export const failed = failure(referred(reason).openapi({ description: "api.reason" }));
/** What the caller sent is refused, perhaps for several reasons. */
export const refused = failure(referred(reasons).openapi({ description: "api.reasons" }));

const anyProblem = { default: failed("api.problem") };
/** For operations that a limit applies to. */
const limited = { 429: failed("api.limited", { ...retryAfter, ...rateLimit }) };
/** For operations that need the store. */
export const unavailable = { ...limited, 503: failed("api.unavailable", retryAfter), ...anyProblem };
/** For operations without input. A service of an older version answers 404, because it does not have them. */
export const missing = { 404: failed("not-found"), ...limited, ...anyProblem };
