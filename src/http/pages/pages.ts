import { message, type MessageKey } from "../../language/messages.ts";
import type { Clock } from "../../links/clock.ts";
import { DURATIONS, type Expiry } from "../../links/expiry.ts";
import type { Link } from "../../links/link.ts";
import type { Links } from "../../links/links.ts";
import { MAX_TARGET_LENGTH } from "../../links/target.ts";
import { DAY_MS } from "../../links/time.ts";
import { type Field, type Home, homePage } from "../../pages/home.tsx";
import { previewPage } from "../../pages/preview.tsx";
import { readStatistics, type StatisticsRequest } from "../../visits/statistics.ts";
import type { VisitStore } from "../../visits/store.ts";
import { FINDABLE, html, prefersHtml } from "../answers.ts";
import { parseForm, readForm } from "../api/body.ts";
import { readTimeZone } from "../api/query.ts";
import { shortUrl } from "../domain.ts";
import {
  describe,
  faultyField,
  type HttpProblem,
  problemAnswer,
  problemJson,
  problemOf,
} from "../problems.ts";
import { queryOf } from "../url.ts";

/** Until a link is this old, its visits are told by the hour. */
const YOUNG_MS = 2 * DAY_MS;

export interface PagesOptions {
  readonly links: Links;
  readonly visits: Pick<VisitStore, "sums" | "days">;
  readonly clock: Clock;
  readonly baseUrl: string;
  readonly defaultExpiry: Expiry;
  readonly onCreated: (link: Link) => void;
  readonly onFault: (error: unknown) => void;
}

/** The pages for people, which work without scripts. */
export function createPages(options: PagesOptions) {
  const { links, visits, clock, baseUrl, defaultExpiry, onCreated, onFault } = options;

  async function create(form: Home["form"]): Promise<Link | HttpProblem> {
    const expiry = DURATIONS.find((duration) => duration === form.expire_duration);
    if (expiry === undefined && form.expire_duration !== "") {
      const rule = { rule: "field.values", field: "expire_duration", values: DURATIONS.join(", ") } as const;
      return { kind: "malformed", faults: [rule] };
    }
    const { original_url: originalUrl, custom_code: customCode } = form;
    try {
      return await links.create({ originalUrl, customCode: customCode || undefined, expiry });
    } catch (error) {
      // Told in the form, where what was typed is not lost.
      onFault(error);
      return problemOf(error);
    }
  }

  return {
    /** Its query fills the form: so do the bookmarklet and what a phone shares. */
    home(request: Request): Response {
      const query = parseForm(queryOf(request)) ?? new URLSearchParams();
      const shared = query.get("original_url") || /https?:\/\/\S+/i.exec(query.get("text") ?? "")?.[0];
      const form = { ...formOf(query), original_url: shared ?? "" };
      return html(
        request,
        200,
        (language) => homePage(language, { baseUrl, defaultExpiry, form, errors: {} }),
        Object.values(form).every((text) => text === "") ? FINDABLE : {},
      );
    },

    /** 303 to the preview (RFC 9110, section 15.4.4), so that reloading it makes nothing twice. */
    async make(request: Request): Promise<Response> {
      const sent = await readForm(request);
      const isUnread = "kind" in sent;
      if (isUnread && !prefersHtml(request.headers.get("accept"))) return problemJson(request.headers, sent);
      const form = formOf(isUnread ? new URLSearchParams() : sent);
      const link = isUnread ? sent : await create(form);
      if ("kind" in link) {
        const { status, headers } = describe(link);
        const offer = offerOf(form.original_url);
        return html(
          request,
          status,
          (language) =>
            homePage(language, { baseUrl, defaultExpiry, form, offer, ...toldInForm(link, form, language) }),
          headers,
        );
      }
      onCreated(link);
      return new Response(null, {
        status: 303,
        headers: { Location: `/${encodeURIComponent(link.code)}+#made`, "Cache-Control": "no-store" },
      });
    },

    async preview(request: Request, spelling: string): Promise<Response> {
      const link = await links.find(spelling);
      if ("kind" in link) return problemAnswer(request, link);
      const { code, target, createdMs, endsMs } = link;
      const nowMs = clock.nowMs();
      const interval = nowMs - createdMs < YOUNG_MS ? "hour" : "day";
      const range: StatisticsRequest = { interval, timeZone: readTimeZone(request) };
      const [sums, statistics] = await Promise.all([
        visits.sums(code, createdMs),
        readStatistics(visits, link, range, nowMs),
      ]);
      // Without dates of the reader's own there is nothing to refuse.
      if ("rule" in statistics) throw new Error(statistics.rule);
      // The hours of today that are still to come are no lack of visits.
      const isToCome = (start: string) => interval === "hour" && Date.parse(start) > nowMs;
      const series = statistics.series.filter(({ start }) => !isToCome(start));
      return html(request, 200, (language) =>
        previewPage(language, {
          code,
          target,
          createdMs,
          endsMs,
          interval,
          statistics: { ...statistics, series },
          shortUrl: shortUrl(baseUrl, code),
          hasEnded: nowMs >= endsMs,
          timeZone: range.timeZone,
          ...sums,
        }),
      );
    },
  };
}

export type Pages = ReturnType<typeof createPages>;

/** As people send it: pasted with space around, or by the button that offers what was meant. */
function formOf(sent: URLSearchParams): Home["form"] {
  const text = (field: Field) => (sent.get(field) ?? "").trim();
  return {
    original_url: sent.get("meant") ?? text("original_url"),
    custom_code: text("custom_code"),
    expire_duration: text("expire_duration"),
  };
}

/** A problem in words: beside the field it is about, or above the form. */
function toldInForm(
  problem: HttpProblem,
  form: Home["form"],
  language: string,
): Pick<Home, "errors" | "notice"> {
  const told = describe(problem).messages.map(
    ({ key, values }) => [key, message(language, key, values)] as const,
  );
  const errors: Partial<Record<Field, string>> = {};
  for (const [key, text] of told) {
    const field = fieldOf(key);
    if (field === undefined) return { errors: {}, notice: text };
    errors[field] = text;
  }
  if (form.original_url === "") errors.original_url = message(language, "home.empty");
  return { errors };
}

/** Which field a message is about. */
function fieldOf(key: MessageKey): Field | undefined {
  if (key === "taken") return "custom_code";
  return key === "field.values" ? "expire_duration" : faultyField(key);
}

/** `naver.com` is what people call https://naver.com; a host that ends in a number is a mistake, or private. */
function offerOf(written: string): string | undefined {
  if (!/^[^\s/?#:@\\]+\.[^\s/?#:@\\.]{2,}(?::\d+)?(?:[/?#]|$)/.test(written)) return undefined;
  const offer = `https://${written}`;
  const url = URL.parse(offer);
  return url !== null && url.href.length <= MAX_TARGET_LENGTH && /\.[^.]*[a-z][^.]*$/.test(url.hostname)
    ? offer
    : undefined;
}
