import type { EditRequest } from "../links/edit.ts";
import type { FoundLink, Link } from "../links/link.ts";
import type { Links } from "../links/links.ts";
import { isProblem } from "../links/problem.ts";
import type { Call } from "./call.ts";
import type { Limiter } from "./limits/limiter.ts";
import type { HttpProblem } from "./problems.ts";

export interface ManagedLinksOptions {
  readonly links: Pick<Links, "find" | "edit">;
  readonly secret: Pick<Secret, "isManageKey">;
  readonly limiter: Pick<Limiter, "take" | "unknown" | "share">;
}

/** Finds and changes links for whoever has their manage key: on pages and in the API. */
export function createManagedLinks({ links, secret, limiter }: ManagedLinksOptions) {
  return {
    /** Returns the link if the key opens it. Wrong keys count as unknown codes, so that nobody can try many. */
    async unlock(call: Call, key: string): Promise<FoundLink | HttpProblem> {
      const link = await links.find(call.code, "maker");
      if (isProblem(link) || secret.isManageKey(key, link)) return link;
      return (await limiter.unknown(call)) ?? { kind: "key.wrong" };
    },

    /** Counts a new target as a create, because it could as well be a new link. */
    async edit(call: Call, link: FoundLink, wanted: EditRequest): Promise<Link | HttpProblem> {
      const request = limiter.share(call, wanted);
      const isNewTarget = request.originalUrl !== undefined && request.originalUrl !== link.originalUrl;
      if (!isNewTarget) return links.edit(link, request);
      const giveBack = await limiter.take(call, "create", 1);
      if (isProblem(giveBack)) return giveBack;
      let edited: Link | HttpProblem | undefined;
      try {
        edited = await links.edit(link, request);
        return edited;
      } finally {
        if (edited === undefined || isProblem(edited)) giveBack(1);
      }
    },
  };
}
