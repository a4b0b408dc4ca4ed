import type { RequestRefusal } from "../http/problem-messages.ts";
import { type Malformed, malformed } from "../http/problems.ts";
import { contrast } from "../lib/contrast.ts";
import type { MessageKey } from "../locales/messages.ts";
import { codeParameter, type Entry, linkFailures, rateLimit, refusal, string } from "./openapi/components.ts";
import { z } from "./openapi/schema.ts";
import { ERROR_CORRECTIONS, MARGINS, MIN_CONTRAST, type QrStyle, SIZES } from "./qr-bounds.ts";
import { oneOf, readQuery } from "./query.ts";

/** The digits alone, six of them. */
const colour = z
  .string()
  .regex(/^#?(?:[\dA-Fa-f]{3}|[\dA-Fa-f]{6})$/)
  .transform((written) => written.replace("#", ""))
  .transform((digits) => (digits.length === 3 ? digits.replaceAll(/./g, "$&$&") : digits));
const within = ({ min, max }: { min: number; max: number }, fallback: number, description: MessageKey) =>
  z
    .string()
    .regex(/^\d+$/)
    .transform(Number)
    .pipe(z.int().min(min).max(max))
    .default(fallback)
    .openapi({ type: "integer", minimum: min, maximum: max, default: fallback, description });
export const qrQuery = z.object({
  size: within(SIZES, 512, "api.qr.size"),
  margin: within(MARGINS, 4, "api.qr.margin"),
  dark: colour.default("000000").openapi({ description: "api.qr.dark" }),
  light: colour.default("ffffff").openapi({ description: "api.qr.light" }),
  ecc: z
    .string()
    .toLowerCase()
    .pipe(z.enum(ERROR_CORRECTIONS))
    .default("q")
    .openapi({ type: "string", enum: [...ERROR_CORRECTIONS], default: "q", description: "api.qr.ecc" }),
});

/** The OpenAPI entry of an image. */
export const imageEntry = (operationId: string, summary: MessageKey, type: string) =>
  ({
    operationId,
    summary,
    tags: ["QR codes"],
    description: "api.qr.description",
    request: { params: codeParameter, query: qrQuery },
    responses: {
      200: {
        description: "api.qr.answer",
        headers: z.object(rateLimit),
        content: { [type]: { schema: string.openapi({ format: "binary" }) } },
      },
      400: refusal("api.parameter.refused"),
      ...linkFailures("api.ended"),
    },
  }) satisfies Entry;

const badColour = (field: string): RequestRefusal => ({ rule: "query.colour", field, example: "1a7f5a" });

/** The style in a query. Refused values have their default and are named in the problem. */
export function readQrStyle(request: Request): { query: QrStyle; problem?: Malformed } {
  const result = readQuery(request, qrQuery, {
    size: (field) => ({ rule: "query.range", field, ...SIZES }),
    margin: (field) => ({ rule: "query.range", field, ...MARGINS }),
    dark: badColour,
    light: badColour,
    ecc: oneOf(ERROR_CORRECTIONS),
  });
  const { dark, light } = result.query;
  return result.problem !== undefined || contrast(dark, light) >= MIN_CONTRAST
    ? result
    : { ...result, problem: malformed({ rule: "qr.contrast", min: MIN_CONTRAST }) };
}
