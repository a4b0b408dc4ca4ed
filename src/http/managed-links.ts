import type { EditRequest, Right } from "../links/edit.ts";
import type { FoundLink, Link } from "../links/link.ts";
import type { Links } from "../links/links.ts";
import { isProblem } from "../links/problem.ts";
import type { Call } from "./call.ts";
import type { Limiter } from "./limits/limiter.ts";
import type { HttpProblem } from "./problems.ts";
import type { Rights } from "./rights.ts";

export interface ManagedLinksOptions {
  readonly links: Pick<Links, "find" | "edit">;
  readonly rights: Rights;
  readonly limiter: Pick<Limiter, "take" | "unknown" | "sharers">;
}

/** A link, and what the caller may do with it. */
export interface OpenedLink {
  readonly link: FoundLink;
  readonly right: Right;
  /** The caller, if the proxy names one. */
  readonly person: string | undefined;
}

/** Finds and changes links for whoever may change them: on pages and in the API. */
export function createManagedLinks({ links, rights, limiter }: ManagedLinksOptions) {
  return {
    /**
     * Returns the link if the key or the caller's name opens it. A right key needs no name. Wrong keys count as unknown codes, so
     * that nobody can try many. "" is no key.
     */
    async open(call: Call, key: string): Promise<OpenedLink | HttpProblem> {
      const named = rights.personOf(call);
      const person = isProblem(named) ? undefined : named;
      if (key === "" && person === undefined) return isProblem(named) ? named : { kind: "key.missing" };
      const link = await links.find(call.code, "maker");
      if (isProblem(link)) return link;
      const right = rights.rightOf(link, key, person);
      if (right !== undefined) return { link, right, person };
      if (key === "") return { kind: "owner.other" };
      return (await limiter.unknown(call)) ?? { kind: "key.wrong" };
    },

    /** Counts a new target as a create, because it could as well be a new link. */
    async edit(
      call: Call,
      { link, person, right }: OpenedLink,
      wanted: EditRequest,
    ): Promise<Link | FoundLink | HttpProblem> {
      const isReserved = wanted.owner !== undefined || wanted.terms?.password !== undefined;
      if (right !== "maker" && isReserved) return { kind: "owner.other" };
      const hasPassword = typeof wanted.terms?.password === "string";
      const sharers = hasPassword ? limiter.sharers(call) : undefined;
      const request = { ...wanted, person, right, sharers };
      const isNewTarget = request.originalUrl !== undefined && request.originalUrl !== link.originalUrl;
      if (!isNewTarget) return links.edit(link, request);
      const giveBack = await limiter.take(call, "create", 1);
      if (isProblem(giveBack)) return giveBack;
      let edited: Link | FoundLink | HttpProblem | undefined;
      try {
        edited = await links.edit(link, request);
        return edited;
      } finally {
        if (edited === undefined || isProblem(edited)) giveBack(1);
      }
    },
  };
}
