import type { OperatorViewParts } from "../api/admin/operator-endpoint.ts";
import type { ApiViewParts } from "../api/api-parts.ts";
import type { PublicConfig } from "../config/config.ts";
import type { Handler } from "../http/call.ts";
import type { ClientOf } from "../http/client.ts";
import type { Domain } from "../http/domain.ts";
import type { Overload } from "../http/limits/overload.ts";
import type { RequestFigures } from "../http/request-counts.ts";
import type { ChangeReader } from "../links/change-feed.ts";
import type { AccessTokens } from "../moderation/access-tokens.ts";
import type { ReadHistory } from "../moderation/corrections.ts";
import type { ReadDisabledSince } from "../moderation/inspection.ts";
import type { OperatorPageParts } from "../pages/admin/operator-page.ts";
import type { PageParts } from "../pages/page-parts.ts";
import type { LinkCache } from "../redirect/link-cache.ts";
import type { RedirectFigures } from "../redirect/redirect.ts";
import type { Views } from "../views/views.ts";
import type { OpenRecorder } from "../visits/visits.ts";
import type { DomainCore } from "./core.ts";
import type { ReportFault } from "./fault-log.ts";
import type { Health } from "./instance-endpoints.ts";
import type { Fetch } from "./router.ts";

/** The parts that answer the requests of a domain. */
export interface AppParts {
  readonly domain: Domain;
  /** The use cases of the domain. */
  readonly own: DomainCore;
  readonly clientOf: ClientOf;
  readonly recorder: OpenRecorder;
  readonly views: Views;
  readonly overload: Overload;
  readonly linkCache: LinkCache;
  readonly changes: ChangeReader;
  readonly tokens: Readonly<Record<"admin" | "create", AccessTokens>>;
  readonly health: Health;
  readonly redirects: RedirectFigures;
  readonly requests: RequestFigures;
  /** Answers requests that aren't for short addresses, and refuses a Host that is wrong. */
  readonly elsewhere: Fetch;
  readonly onFault: ReportFault;
}

/** All parts that endpoints of a domain may need on the serving thread. Each endpoint names its own. */
export interface PublicParts extends PageParts {
  /** Answers for an address that doesn't exist. */
  readonly notFound: Handler;
}

export type OperatorParts = OperatorPageParts;

/** All parts that views of a domain may need on the views thread. */
export interface ViewParts extends PublicConfig, ApiViewParts, OperatorViewParts {
  readonly disabledSince: ReadDisabledSince;
  readonly history: ReadHistory;
}
