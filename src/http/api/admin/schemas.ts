import { z } from "@hono/zod-openapi";

import { REASONS } from "../../../links/link.ts";

const note = z
  .string()
  .nullish()
  .transform((text) => text ?? undefined);
const reason = z.enum(REASONS);

export const noteRequest = z.object({ note });
export const reasonedRequest = z.object({ reason, note });
/** `count` is how many links the operator was told. */
export const countedRequest = z.object({ note, count: z.int().nonnegative().nullish() });
export const countedReasonedRequest = countedRequest.extend({ reason });
export const caseRequest = z.discriminatedUnion("action", [
  z.object({ action: z.enum(["disable", "block-host"]), reason, note }),
  z.object({ action: z.literal("nothing"), note }),
]);
