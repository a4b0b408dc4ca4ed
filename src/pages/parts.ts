import type { ApiParts } from "../api/parts.ts";

/** What the pages' handlers need of a domain. */
export interface PageParts extends ApiParts {
  readonly onFault: (error: unknown) => void;
}
