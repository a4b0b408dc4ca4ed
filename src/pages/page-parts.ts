import type { ApiParts } from "../api/parts.ts";

/** The parts of a domain that handlers of pages need. */
export interface PageParts extends ApiParts {
  readonly onFault: (error: unknown) => void;
}
