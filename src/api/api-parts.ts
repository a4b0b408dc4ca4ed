import type { CreatorCheck } from "../http/credentials.ts";
import type { Domain } from "../http/domain.ts";
import type { Limiter } from "../http/limits/limiter.ts";
import type { Rights } from "../http/rights.ts";
import type { MonotonicClock, WallClock } from "../links/clock.ts";
import type { LinkKey } from "../links/code.ts";
import type { Links, ReadOwnLinks } from "../links/links.ts";
import type { Secret } from "../links/secret.ts";
import type { Expiry } from "../links/time.ts";
import type { BringBack } from "../moderation/corrections.ts";
import type { Reports } from "../moderation/reports.ts";
import type { VisitLookUps } from "../visits/visits.ts";
import type { ApiDescription } from "./openapi/description.ts";

/** The parts of a domain that handlers of the API need. */
export interface ApiParts {
  readonly links: Links;
  readonly limiter: Limiter;
  readonly reports: Reports;
  readonly visits: Pick<VisitLookUps, "sums">;
  readonly clock: MonotonicClock & WallClock;
  readonly secret: Secret;
  readonly rights: Rights;
  readonly bringBack: BringBack;
  /** The manage keys of all domains. */
  readonly allKeys: Pick<Secret<LinkKey>, "manageKey">;
  readonly refusalToCreate: CreatorCheck;
  readonly isCreateToken: (text: string) => boolean;
}

/** The parts of a domain that views of the API need. */
export interface ApiViewParts {
  readonly links: Pick<Links, "find" | "resolve">;
  readonly visits: VisitLookUps;
  readonly ownLinks: ReadOwnLinks;
  readonly clock: WallClock;
  readonly version: string;
  /** Whether links are only created for those who know the token. */
  readonly needsToken: boolean;
  /** The header in which a proxy names people who need no token. */
  readonly createUserHeader: string | null;
  readonly defaultExpiry: Expiry;
  /** See `Config`. */
  readonly pathsNeedName: boolean;
  /** How long a shared cache may keep a QR code, in seconds. */
  readonly cacheSeconds: number;
  /** The OpenAPI document of a domain in a language. */
  readonly describe: (domain: Domain, language: string) => ApiDescription;
}
