import type { Links } from "../../links/links.ts";
import { type QrStyle, qrPng, qrSvg } from "../../pages/qr.ts";
import { LOAD_NOTHING } from "../answers.ts";
import { readQrQuery } from "../api/query.ts";
import { shortUrl } from "../domain.ts";
import { problemAnswer, problemJson } from "../problems.ts";

export interface QrOptions {
  readonly links: Links;
  readonly baseUrl: string;
}

/** GET of a short address's QR code. A link that leads nowhere has none: 404 and 410, as its address answers. */
export function createQr({ links, baseUrl }: QrOptions) {
  const handler =
    (extension: string, type: string, draw: (address: string, style: QrStyle) => string | Uint8Array) =>
    async (request: Request, spelling: string): Promise<Response> => {
      const { headers } = request;
      const style = readQrQuery(request);
      if (Array.isArray(style)) return problemJson(headers, { kind: "malformed", faults: style });
      const link = await links.resolve(spelling);
      if ("kind" in link) return problemAnswer(request, link);
      const image = draw(shortUrl(baseUrl, link.code), style);
      return new Response(image, {
        headers: {
          "Cache-Control": "public, max-age=86400",
          "Content-Type": type,
          "Content-Disposition": `inline; ${fileName(link.code, extension)}`,
          "Content-Security-Policy": LOAD_NOTHING,
          "Cross-Origin-Resource-Policy": "cross-origin",
          "X-Content-Type-Options": "nosniff",
        },
      });
    };
  return { svg: handler("svg", "image/svg+xml", qrSvg), png: handler("png", "image/png", qrPng) };
}

/** RFC 6266, section 4.3. Of what encodeURIComponent leaves as it is, a code can have *, in a keycap. */
function fileName(code: string, extension: string): string {
  if (/^[\w-]+$/.test(code)) return `filename="${code}.${extension}"`;
  const encoded = encodeURIComponent(code).replaceAll("*", "%2A");
  return `filename="qr.${extension}"; filename*=UTF-8''${encoded}.${extension}`;
}

export type Qr = ReturnType<typeof createQr>;
