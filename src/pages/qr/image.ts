import { readQrQuery } from "../../http/api/query.ts";
import type { Asked } from "../../http/call.ts";
import { fileName } from "../../http/download-name.ts";
import { knowsAlready, tagOf } from "../../http/etag.ts";
import { problemAnswer, problemJson } from "../../http/problems.ts";
import { answer } from "../../http/responses.ts";
import type { Clock } from "../../links/clock.ts";
import type { Links } from "../../links/links.ts";
import { isProblem } from "../../links/problem.ts";
import { qrPng, qrSvg } from "./qr-matrix.ts";
import type { QrStyle } from "./qr-style.ts";

const DAY_SECONDS = 86_400;

export interface QrOptions {
  readonly links: Pick<Links, "resolve">;
  readonly clock: Pick<Clock, "nowMs">;
  /** Another one may draw differently. */
  readonly version: string;
}

/** GET of a short address's QR code. A link that leads nowhere has none: 404 and 410, as its address answers. */
export function createQr({ links, clock, version }: QrOptions) {
  const handler =
    (extension: string, type: string, draw: (address: string, style: QrStyle) => string | Uint8Array) =>
    async (call: Asked): Promise<Response> => {
      const style = readQrQuery(call.request);
      if (isProblem(style)) return problemJson(call, style);
      const link = await links.resolve(call.code);
      if (isProblem(link)) return problemAnswer(call, link);
      const maxAge = Math.min(DAY_SECONDS, Math.floor((link.endsMs - clock.nowMs()) / 1000));
      const address = call.domain.shortUrl(link.code);
      const ETag = tagOf([version, extension, address, style, maxAge]);
      if (knowsAlready(call.headers, ETag)) return answer({ status: 304, headers: { ETag } });
      return answer({
        type,
        body: draw(address, style),
        cache: `public, max-age=${maxAge}`,
        headers: {
          ETag,
          "Content-Disposition": fileName("inline", link.code, "qr", extension),
          "Cross-Origin-Resource-Policy": "cross-origin",
        },
      });
    };
  return { svg: handler("svg", "image/svg+xml", qrSvg), png: handler("png", "image/png", qrPng) };
}
