import { readQrQuery, readQrStyle } from "../../http/api/query.ts";
import type { Asked } from "../../http/call.ts";
import { fileName } from "../../http/download-name.ts";
import { knowsAlready, tagOf } from "../../http/etag.ts";
import { describe, problemAnswer, problemJson } from "../../http/problems.ts";
import { answer, html } from "../../http/responses.ts";
import { queryOf } from "../../http/url.ts";
import type { Clock } from "../../links/clock.ts";
import { hasPassword } from "../../links/link.ts";
import type { Links } from "../../links/links.ts";
import { isProblem } from "../../links/problem.ts";
import { describeInForm } from "../forms.ts";
import { QR_FIELDS, qrPage } from "./page.tsx";
import { qrPng, qrSvg } from "./qr-matrix.ts";
import type { QrStyle } from "./qr-style.ts";

/** The page at /<code>+qr, with a link's QR code in the style of the query. */
export function createQrPage({ links }: { readonly links: Pick<Links, "resolve"> }) {
  return async (call: Asked): Promise<Response> => {
    const { style, problem } = readQrStyle(call.request);
    const link = await links.resolve(call.code);
    if (isProblem(link)) return problemAnswer(call, link);
    const query = new URLSearchParams(queryOf(call.request));
    const form = Object.fromEntries(
      QR_FIELDS.flatMap((field) => {
        const value = query.get(field);
        return value === null ? [] : [[field, value]];
      }),
    );
    const shown = {
      code: link.code,
      shortUrl: call.domain.shortUrl(link.code),
      target: hasPassword(link) ? undefined : link.target,
      style,
      form,
    };
    const { status, headers } = problem === undefined ? { status: 200, headers: {} } : describe(problem);
    return html(
      call,
      status,
      (language) =>
        qrPage(language, {
          ...shown,
          errors: problem === undefined ? {} : describeInForm(problem, QR_FIELDS, language).errors,
        }),
      headers,
    );
  };
}

const DAY_SECONDS = 86_400;

export interface QrOptions {
  readonly links: Pick<Links, "resolve">;
  readonly clock: Pick<Clock, "nowMs">;
  /** Part of the tag, because another version may draw differently. */
  readonly version: string;
}

/** The images of a link's QR code. Links that don't redirect have none: 404 and 410. */
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
