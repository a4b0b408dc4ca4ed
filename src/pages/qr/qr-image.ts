import type { ApiViewsOptions } from "../../api/parts.ts";
import type { QrStyle } from "../../api/qr-bounds.ts";
import { readQrStyle } from "../../api/qr-code.ts";
import type { DetachedCall } from "../../http/call.ts";
import { problemJson } from "../../http/problems.ts";
import { answer, fileName, knowsAlready, tagOf } from "../../http/responses.ts";
import { isProblem } from "../../links/problem.ts";
import { problemAnswer } from "../problem/answer.ts";
import { qrPng, qrSvg } from "./qr-matrix.ts";

/** The QR code of a short address, on the views thread. A link that doesn't redirect has none: 404 or 410. */
export function createQrImages({ links, clock, version, cacheSeconds }: ApiViewsOptions) {
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

/** How long a browser may keep an image. */
export const DAY_SECONDS = 86_400;
