import type { ApiViewParts } from "../../api/api-parts.ts";
import type { QrStyle } from "../../api/qr-bounds.ts";
import { imageEntry, qrQuery, readQrStyle } from "../../api/qr-code.ts";
import type { DetachedCall } from "../../http/call.ts";
import { viewEndpoint } from "../../http/endpoint.ts";
import { problemJson } from "../../http/problems.ts";
import { answer, fileName, tagged, tagOf } from "../../http/responses.ts";
import { shownCode } from "../../links/link.ts";
import { isProblem } from "../../links/problem.ts";
import { answerPageProblem } from "../problem/answer.ts";
import { drawPng, drawSvg } from "./qr-matrix.ts";

export const qrSvg = viewEndpoint({
  at: "GET /{code}.svg",
  cost: "work",
  forEveryOrigin: true,
  entry: imageEntry("getQrCodeSvg", "api.qr.svg", "image/svg+xml"),
  view: { parameters: Object.keys(qrQuery.shape), render: showImage("svg", "image/svg+xml", drawSvg) },
});

export const qrPng = viewEndpoint({
  at: "GET /{code}.png",
  cost: "work",
  forEveryOrigin: true,
  entry: imageEntry("getQrCodePng", "api.qr.png", "image/png"),
  view: { parameters: Object.keys(qrQuery.shape), render: showImage("png", "image/png", drawPng) },
});

/** The QR code of a short address. A link that doesn't redirect has none: 404 or 410. */
function showImage(
  extension: string,
  type: string,
  draw: (address: string, style: QrStyle) => string | Uint8Array,
) {
  return ({ links, clock, version, cacheSeconds }: ApiViewParts) =>
    async (call: DetachedCall): Promise<Response> => {
      const { query: style, problem } = readQrStyle(call.request);
      if (problem !== undefined) return problemJson(call, problem);
      const link = await links.resolve(call.code);
      if (isProblem(link)) return answerPageProblem(call, link);
      const secondsLeft = Math.floor((link.endsMs - clock.nowMs()) / 1000);
      const maxAge = Math.min(DAY_SECONDS, secondsLeft);
      const sharedSeconds = Math.min(cacheSeconds, secondsLeft);
      const shared = sharedSeconds > 0 ? `public, s-maxage=${sharedSeconds}` : "private";
      const code = shownCode(link);
      const address = call.domain.shownUrl(code);
      const ETag = tagOf([version, extension, address, style, maxAge]);
      return tagged(call, ETag, () =>
        answer({
          type,
          body: draw(address, style),
          cache: `${shared}, max-age=${maxAge}`,
          headers: {
            "Content-Disposition": fileName("inline", code, "qr", extension),
            "Cross-Origin-Resource-Policy": "cross-origin",
          },
        }),
      );
    };
}

/** How long a browser may keep an image. */
export const DAY_SECONDS = 86_400;
