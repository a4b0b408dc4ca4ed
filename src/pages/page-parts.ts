import type { ApiParts } from "../api/api-parts.ts";
import type { Edits } from "../links/edit.ts";
import type { Views } from "../views/views.ts";

/** The parts of a domain that handlers of pages need. */
export interface PageParts extends ApiParts {
  readonly edits: Edits;
  /** See `Config`. */
  readonly pathsNeedName: boolean;
  readonly codeHoldMs: number;
  /** The header in which a proxy names people. */
  readonly createUserHeader: string | null;
  readonly views: Pick<Views, "read">;
  readonly onFault: (error: unknown) => void;
}
