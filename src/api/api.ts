// The API's handlers, by the thread that they run on. An endpoint that costs more than a few redirects is a view.

import { memoizeByDomain } from "../http/domain.ts";
import { getIndex } from "./api-index.ts";
import { checkCode } from "./check-code.ts";
import { createLinks } from "./create-batch.ts";
import { createLinkRoute, LINK_FORMAT } from "./create-link.ts";
import { createLinkCreation } from "./creation.ts";
import { getLink, getLinkView } from "./get-link.ts";
import { createKeyedLinks } from "./manage-key.ts";
import { describeApi, documentRoute, documentView } from "./openapi.ts";
import type { ApiOptions, ApiViewsOptions } from "./parts.ts";
import { reportLink } from "./report-link.ts";
import { informationView, SHORTEN_FORMAT, shortenRoute } from "./shorten.ts";
import { getStatistics, getStatisticsView } from "./statistics.ts";
import { updateLink } from "./update-link.ts";
import { withdrawLink } from "./withdraw-link.ts";

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

/** Handlers on the views thread. */
export function createApiViews(options: ApiViewsOptions) {
  const describe = memoizeByDomain((domain, language) => describeApi(domain, language, options));
  return {
    /** The OpenAPI document of a domain in a language. */
    describe,
    views: {
      information: informationView(options, describe, documentRoute.path),
      link: getLinkView(options),
      statistics: getStatisticsView(options),
      document: documentView(describe),
    },
  };
}
