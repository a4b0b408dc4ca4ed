import type { DetachedCall } from "../http/call.ts";
import { json } from "../http/responses.ts";
import { header } from "../lib/bounds.ts";
import { message, type MessageKey, negotiateLanguage } from "../locales/messages.ts";
import { string } from "./openapi/components.ts";
import { z } from "./openapi/schema.ts";

/** The shape of the contract's envelope. Its keys are fixed for created links; other responses may get new keys. */
export const envelope = <T extends z.ZodType>(key: MessageKey, data: T) =>
  z.object({ status: z.literal("success"), message: string.openapi({ example: `{${key}}` }), data });

/** A response in the contract's envelope. */
export function success(
  call: DetachedCall,
  status: number,
  key: MessageKey,
  data: unknown,
  ownHeaders: Readonly<Record<string, string>> = {},
): Response {
  const language = negotiateLanguage(header(call.headers, "accept-language"));
  return json(
    call,
    status,
    { status: "success", message: message(language, key), data },
    language,
    ownHeaders,
  );
}
