import { z } from "@hono/zod-openapi";

import { REASONS } from "../../../links/link.ts";
import { ANSWERS } from "../../../moderation/reports/case.ts";

const note = z
  .string()
  .nullish()
  .transform((text) => text ?? undefined);
const reason = z.enum(REASONS);

export const noteRequest = z.object({ note });
export const reasonedRequest = z.object({ reason, note });
/** `count` is how many links the operator was told. */
export const countedRequest = z.object({ note, count: z.number().nullish() });
export const countedReasonedRequest = countedRequest.extend({ reason });
/** "nothing" needs no reason. */
export const caseRequest = z.object({ action: z.enum(ANSWERS), reason: reason.nullish(), note });
