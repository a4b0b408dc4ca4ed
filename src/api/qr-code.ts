import { createRoute, z } from "@hono/zod-openapi";

import type { DetachedCall } from "../http/call.ts";
import {
  type Malformed,
  malformed,
  problemAnswer,
  problemJson,
  type RequestRefusal,
} from "../http/problems.ts";
import { fileName, knowsAlready, tagOf, answer } from "../http/responses.ts";
import { contrast } from "../lib/contrast.ts";
import { isProblem } from "../links/problem.ts";
import type { MessageKey } from "../locales/messages.ts";
import { qrPng, qrSvg } from "../pages/qr/qr-matrix.ts";
import { ERROR_CORRECTIONS, MARGINS, MIN_CONTRAST, type QrStyle, SIZES } from "../pages/qr/qr-style.ts";
import type { ApiViewsOptions } from "./api.ts";
import { codeParameter, failure, rateLimit, refusal, storeFailures, string } from "./components.ts";
import { oneOf, readQuery } from "./query.ts";

/** How long a browser may keep an image. */
export const DAY_SECONDS = 86_400;

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

const imageEntry = (type: string) => ({
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
    404: failure("unknown"),
    410: failure("api.ended"),
    ...storeFailures,
  },
});

export const qrSvgRoute = createRoute({
  method: "get",
  path: "/{code}.svg",
  operationId: "getQrCodeSvg",
  summary: "api.qr.svg",
  ...imageEntry("image/svg+xml"),
});
export const qrPngRoute = createRoute({
  method: "get",
  path: "/{code}.png",
  operationId: "getQrCodePng",
  summary: "api.qr.png",
  ...imageEntry("image/png"),
});

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

/** The QR code of a short address, on the views thread. A link that doesn't redirect has none: 404 or 410. */
export function qrCodeViews({ links, clock, version, cacheSeconds }: ApiViewsOptions) {
  const draw =
    (extension: string, type: string, image: (address: string, style: QrStyle) => string | Uint8Array) =>
    async (call: DetachedCall): Promise<Response> => {
      const { query: style, problem } = readQrStyle(call.request);
      if (problem !== undefined) return problemJson(call, problem);
      const link = await links.resolve(call.code);
      if (isProblem(link)) return problemAnswer(call, link);
      const secondsLeft = Math.floor((link.endsMs - clock.nowMs()) / 1000);
      const maxAge = Math.min(DAY_SECONDS, secondsLeft);
      const sharedSeconds = Math.min(cacheSeconds, secondsLeft);
      const shared = sharedSeconds > 0 ? `public, s-maxage=${sharedSeconds}` : "private";
      const address = call.domain.shownUrl(link.code);
      const ETag = tagOf([version, extension, address, style, maxAge]);
      if (knowsAlready(call.headers, ETag)) return answer({ status: 304, headers: { ETag } });
      return answer({
        type,
        body: image(address, style),
        cache: `${shared}, max-age=${maxAge}`,
        headers: {
          ETag,
          "Content-Disposition": fileName("inline", link.code, "qr", extension),
          "Cross-Origin-Resource-Policy": "cross-origin",
        },
      });
    };
  return { svg: draw("svg", "image/svg+xml", qrSvg), png: draw("png", "image/png", qrPng) };
}
