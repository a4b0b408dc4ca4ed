// The API's handlers, by the thread that they run on. An endpoint that costs more than a few redirects is a view.

import { type Domain, memoizeByDomain } from "../http/domain.ts";
import type { Limiter } from "../http/limiter.ts";
import type { Views } from "../http/views.ts";
import type { Clock } from "../links/clock.ts";
import type { Links } from "../links/links.ts";
import type { Secret } from "../links/secret.ts";
import type { Expiry } from "../links/time.ts";
import type { TokenCheck } from "../moderation/access-tokens.ts";
import type { Reports } from "../moderation/reports/reports.ts";
import type { Counts, Visits } from "../visits/visits.ts";
import { getIndex } from "./api-index.ts";
import { checkCode } from "./check-code.ts";
import { createLinks } from "./create-batch.ts";
import { createLinkRoute, LINK_FORMAT } from "./create-link.ts";
import { createLinkCreation } from "./creation.ts";
import { getLink, getLinkView } from "./get-link.ts";
import { createKeyedLinks } from "./manage-key.ts";
import { describeApi, type DescribeOptions, documentRoute, documentView } from "./openapi.ts";
import { qrCodeViews } from "./qr-code.ts";
import { reportLink } from "./report-link.ts";
import { informationView, SHORTEN_FORMAT, shortenRoute } from "./shorten.ts";
import { getStatistics, getStatisticsView } from "./statistics.ts";
import { updateLink } from "./update-link.ts";
import { withdrawLink } from "./withdraw-link.ts";

export interface ApiOptions {
  readonly links: Links;
  readonly limiter: Limiter;
  readonly reports: Reports;
  readonly visits: Pick<Visits, "sums">;
  readonly views: Pick<Views, "ask">;
  readonly clock: Pick<Clock, "nowMs" | "monotonicMs">;
  readonly secret: Secret;
  /** The secret of another domain. */
  readonly secretOf: (domain: Domain) => Secret;
  readonly createToken: string | null;
  readonly mayCreate: TokenCheck;
}

/** Handlers on the serving thread. */
export function createApi(options: ApiOptions) {
  const creation = createLinkCreation(options);
  const keyed = createKeyedLinks(options);
  return {
    index: getIndex,
    shorten: creation.one(SHORTEN_FORMAT, shortenRoute.path),
    createLink: creation.one(LINK_FORMAT, createLinkRoute.path),
    createLinks: createLinks(options, creation),
    checkCode: checkCode(options),
    getLink: getLink(options, keyed),
    updateLink: updateLink(keyed),
    withdrawLink: withdrawLink(options, keyed),
    getStatistics: getStatistics(keyed),
    reportLink: reportLink(options),
  };
}

export interface ApiViewsOptions extends DescribeOptions {
  readonly links: Pick<Links, "find" | "resolve">;
  readonly visits: Counts;
  readonly clock: Pick<Clock, "nowMs">;
  readonly defaultExpiry: Expiry;
  /** How long a shared cache may keep a QR code, in seconds. */
  readonly cacheSeconds: number;
}

/** Handlers on the views thread. */
export function createApiViews(options: ApiViewsOptions) {
  const describe = memoizeByDomain((domain, language) => describeApi(domain, language, options));
  return {
    /** The OpenAPI document of a domain in a language. */
    describe,
    views: {
      ...qrCodeViews(options),
      information: informationView(options, describe, documentRoute.path),
      link: getLinkView(options),
      statistics: getStatisticsView(options),
      document: documentView(describe),
    },
  };
}
